"""Shortest paths in a weighted graph from scratch, with a near and a far pile.

    python examples/sssp.py [--backend cpu|python|cuda] [GRAPH]

GRAPH is a file with edge weights that ``fr.read`` knows; the default is Zachary's karate club with random weights.
"""

import argparse
from types import SimpleNamespace

import numpy as np

import frontier as fr


# begin relax
def relax(p, src, dst, weight):
    """Try to shorten the distance of dst by the path through src; true if that succeeds."""
    new = p.distance[src] + weight
    return new < p.distance[dst] and new < fr.atomic_min(p.distance, dst, new)
# end relax


# begin simple
def simply(g, source):
    """Relax the edges of all vertices whose distance has fallen, until none falls any more."""
    p = fr.Problem(g, distance=fr.vertex("float64", np.inf))
    p.distance[source] = 0.0
    f = fr.Frontier(g, [source])
    edges = 0
    while f:
        edges += int(g.out_degree[f.ids].sum())
        f = fr.advance(p, f, relax)
    print(f"one pile: {edges} edges relaxed")
    return p
# end simple


# begin piles
def near(p, v):
    """Nearer than the limit: v belongs to the near pile."""
    return p.distance[v] < p.limit


def fresh(p, v):
    """Not processed already, under an earlier limit, while it was in the far pile."""
    return p.distance[v] >= p.limit


def distance(p, v):
    """The distance of v."""
    return p.distance[v]


def next_limit(p):
    """The least distance in the far pile, plus the width."""
    return p.lowest + p.width
# end piles


# begin problem
def problem(g, source, width):
    """The fields of a search before it begins: the far pile holds the source."""
    p = fr.Problem(
        g,
        distance=fr.vertex("float64", np.inf),
        limit=fr.scalar("float64", 0.0),
        lowest=fr.scalar("float64", 0.0),
        width=fr.scalar("float64", width),
        far=fr.pile(),
    )
    p.distance[source] = 0.0
    p.far = fr.Frontier(g, [source])
    return p
# end problem


# begin eager
def search_eagerly(g, source, width):
    """Near and far pile as plain Python loops."""
    p = problem(g, source, width)
    edges = 0
    while p.far:
        f = fr.take(p, "far")
        f = fr.filter(p, f, fresh)
        fr.reduce(p, f, distance, "min", into="lowest")
        fr.set(p, limit=next_limit)
        f, _ = fr.split(p, f, near, rest="far")
        while f:
            edges += int(g.out_degree[f.ids].sum())
            f = fr.advance(p, f, relax)
            f, _ = fr.split(p, f, near, rest="far")
    print(f"near and far: {edges} edges relaxed")
    return p
# end eager


# begin declared
class Search(fr.Enactor):
    """The same loops as data."""

    loop = fr.Loop(
        fr.Filter(fresh),
        fr.Reduce(distance, "min", into="lowest"),
        fr.Set(limit=next_limit),
        fr.Split(near, rest="far"),
        fr.Loop(
            fr.Advance(relax),
            fr.Split(near, rest="far"),
        ),
        take="far",
    )


def search(g, source, width):
    """The search as one compiled function."""
    p = problem(g, source, width)
    Search(p).run()
    return p
# end declared


def main(arguments=None):
    """Search in three ways, check the result, and print what was found."""
    parser = argparse.ArgumentParser(description="shortest paths from scratch")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = (fr.read(options.graph) if options.graph else fr.karate(weights=(1, 100), seed=1)).to(options.backend)

    # begin use
    width = float(g.weights.mean())
    simple = simply(g, 0)
    eager = search_eagerly(g, 0, width)
    p = search(g, 0, width)
    assert np.array_equal(simple.distance, p.distance)
    assert np.array_equal(eager.distance, p.distance)

    result = SimpleNamespace(source=0, distance=p.distance, parent=None)
    fr.verify.sssp(g, result).raise_if_failed()
    reached = np.isfinite(p.distance)
    print(f"{np.count_nonzero(reached)} vertices reached, the farthest at {p.distance[reached].max():g}")
    # end use
    return p


if __name__ == "__main__":
    main()
