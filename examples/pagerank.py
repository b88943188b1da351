"""PageRank from scratch: every vertex gathers the contributions of its in-neighbours.

    python examples/pagerank.py [--backend cpu|python|cuda] [GRAPH]

GRAPH is a file that ``fr.read`` knows; the default is Zachary's karate club.
"""

import argparse
from types import SimpleNamespace

import numpy as np

import frontier as fr


# begin functors
def contribute(p, v):
    """Write what v contributes to each out-edge; return the rank of a vertex without out-edges."""
    if p.degree[v] > 0:
        p.contribution[v] = p.rank[v] / p.degree[v]
        return 0.0
    p.contribution[v] = 0.0
    return p.rank[v]


def contribution(p, src):
    """The contribution of an edge."""
    return p.contribution[src]


def update(p, v):
    """Write the new rank of v; return by how much it has changed."""
    new = (1.0 - p.damping + p.damping * p.dangling_sum) / p.n + p.damping * p.received[v]
    change = abs(new - p.rank[v])
    p.rank[v] = new
    return change


def converged(p):
    """The sum of all changes is below the tolerance."""
    return p.error < p.tolerance
# end functors


# begin problem
def problem(g, damping=0.85, tolerance=1e-9):
    """The fields before the first iteration: all ranks are equal."""
    n = g.num_vertices
    return fr.Problem(
        g,
        rank=fr.vertex("float64", 1.0 / n),
        degree=fr.vertex("int64", g.out_degree),
        contribution=fr.vertex("float64"),
        received=fr.vertex("float64"),
        n=fr.scalar("int64", n),
        damping=fr.scalar("float64", damping),
        tolerance=fr.scalar("float64", tolerance),
        dangling_sum=fr.scalar("float64"),
        error=fr.scalar("float64"),
        iterations=fr.scalar("int64"),
    )
# end problem


# begin eager
def rank_eagerly(g):
    """The iteration as a plain Python loop."""
    p = problem(g)
    everyone = fr.Frontier.all(g)
    while True:
        p.iterations += 1
        fr.reduce(p, everyone, contribute, "sum", into="dangling_sum")
        fr.gather(p, everyone, contribution, "sum", into="received")
        fr.reduce(p, everyone, update, "sum", into="error")
        if p.iterations <= 3:
            print(f"iteration {p.iterations}: ranks changed by {p.error:.6f}")
        if p.error < p.tolerance:
            return p
# end eager


# begin declared
class Ranking(fr.Enactor):
    """The same loop as data; at most a thousand passes."""

    loop = fr.Loop(
        fr.Reduce(contribute, "sum", into="dangling_sum"),
        fr.Gather(contribution, "sum", into="received"),
        fr.Reduce(update, "sum", into="error"),
        over="vertices",
        until=converged,
        count="iterations",
        max_steps=1000,
    )


def rank(g):
    """The ranks by one compiled function."""
    p = problem(g)
    Ranking(p).run()
    return p
# end declared


def main(arguments=None):
    """Rank both ways, check the result, and print the highest ranks."""
    parser = argparse.ArgumentParser(description="PageRank from scratch")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = (fr.read(options.graph) if options.graph else fr.karate()).to(options.backend)

    # begin use
    eager = rank_eagerly(g)
    p = rank(g)
    assert np.allclose(eager.rank, p.rank, rtol=0, atol=1e-12)

    result = SimpleNamespace(
        rank=p.rank, damping=p.damping, tolerance=p.tolerance, weighted=False, personalization=None
    )
    fr.verify.pagerank(g, result).raise_if_failed()
    print(f"converged in {p.iterations} iterations")
    for v in np.argsort(-p.rank)[:3]:
        print(f"vertex {v}: {p.rank[v]:.6f}")
    # end use
    return p


if __name__ == "__main__":
    main()
