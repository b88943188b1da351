"""Random walks: any number of them, all at the same time.

    python examples/random_walks.py [--backend cpu|python|cuda] [GRAPH]

A walk repeatedly goes from a vertex to one of its neighbours, each equally likely (as in DeepWalk: Perozzi, Al-Rfou and
Skiena, 2014). In the long run the probability of being at a vertex is proportional to its degree. GRAPH is a file that
``fr.read`` knows, read as undirected; the default is Zachary's karate club.
"""

import argparse
from itertools import pairwise

import numpy as np

import frontier as fr

LENGTH = 20


def start(p, i):
    """Start walk i; the starts are all vertices in turn."""
    p.path[i * LENGTH] = i % p.n


def walk(p, i):
    """Move walk i by one step; at a vertex without neighbours it stays."""
    v = p.path[i * LENGTH + p.step - 1]
    if fr.degree(p, v) > 0:
        k = fr.hash(fr.hash(p.seed + i) + p.step) % fr.degree(p, v)
        v = fr.target(p, fr.neighbours(p, v).start + k)
    p.path[i * LENGTH + p.step] = v


class Walks(fr.Enactor):
    """All walks take each step at the same time."""

    loop = (
        fr.Compute(start, over="walks"),
        fr.Loop(fr.Compute(walk, over="walks"), times=LENGTH - 1, count="step"),
    )


def walks(g, number, seed=1):
    """The problem: walk i is in ``path[i * LENGTH : (i + 1) * LENGTH]``."""
    p = fr.Problem(
        g,
        path=fr.array(np.zeros(number * LENGTH, np.int64)),
        walks=fr.scalar("int64", number),
        step=fr.scalar("int64"),
        seed=fr.scalar("int64", seed),
        n=fr.scalar("int64", g.num_vertices),
    )
    Walks(p).run()
    return p


def main(arguments=None):
    """Walk, check the paths, and print where the walks are most often."""
    parser = argparse.ArgumentParser(description="random walks")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = fr.read(options.graph, directed=False) if options.graph else fr.karate()

    p = walks(g.to(options.backend), number=20 * g.num_vertices)
    paths = np.array(p.path.tolist()).reshape(-1, LENGTH)
    edges = set(zip(g.sources.tolist(), g.targets.tolist(), strict=True))
    alone = g.out_degree == 0
    assert all((u, v) in edges or alone[u] for path in paths.tolist() for u, v in pairwise(path))

    visits = np.bincount(paths[:, LENGTH // 2 :].ravel(), minlength=g.num_vertices) / paths[:, LENGTH // 2 :].size
    share = g.out_degree / g.num_slots
    if not options.graph:  # connected, and with odd cycles
        assert np.allclose(visits, share, atol=0.01)
    for v in np.argsort(-visits, kind="stable")[:3]:
        print(f"vertex {v}: {visits[v]:.1%} of all visits, {share[v]:.1%} of all edge ends")
    return p


if __name__ == "__main__":
    main()
