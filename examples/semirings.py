"""Four programs that are a product of the graph's matrix and a vector, over four semirings.

    python examples/semirings.py [--backend cpu|python|cuda] [GRAPH]

Shortest paths (Bellman and Ford) add weights and keep the least sum; widest paths take the narrowest edge of a path and
the widest path; reachability asks whether there is a path; and the walk of PageRank adds what every vertex receives.
GRAPH is a file with edge weights that ``fr.read`` knows; the default is Zachary's karate club with random weights.
"""

import argparse

import numpy as np

import frontier as fr

DAMPING, ROUNDS = 0.85, 30


class Shortest(fr.Enactor):
    """An edge relaxes the distance of its target, until none can."""

    loop = fr.Loop(fr.Advance(**fr.relax("min_plus", "distance")), over="source")


class Widest(fr.Enactor):
    """The same with the narrowest edge of a path, and the widest path."""

    loop = fr.Loop(fr.Advance(**fr.relax("max_min", "width")), over="source")


class Reached(fr.Enactor):
    """The same without weights: a vertex is reached from one that is."""

    loop = fr.Loop(fr.Advance(**fr.relax("or_first", "reached")), over="source")


def damp(p, v):
    """The surfer follows an edge or begins anew."""
    p.rank[v] = (1 - DAMPING) / p.n + DAMPING * p.received[v]


class Walk(fr.Enactor):
    """The walk of PageRank: every vertex adds up its in-neighbours' ranks, times the chance of the edge."""

    loop = fr.Loop(
        fr.Gather(**fr.semiring("plus_times", "rank", weight="chance"), into="received"),
        fr.Compute(damp),
        over="vertices",
        times=ROUNDS,
    )


def paths(g, source):
    """Distances from the source, widths of the widest paths, and which vertices it reaches."""
    p = fr.Problem(
        g,
        distance=fr.vertex("float64", np.inf),
        width=fr.vertex("float64", 0.0),
        reached=fr.vertex("int32"),
        source=fr.scalar("int64", source),
    )
    p.distance[source], p.width[source], p.reached[source] = 0, np.inf, 1
    for enactor in (Shortest, Widest, Reached):
        enactor(p).run()
    return p.distance, p.width, p.reached


def ranks(g, chance):
    """PageRank by ROUNDS products; what vertices without out-edges have is lost."""
    n = g.num_vertices
    p = fr.Problem(
        g,
        rank=fr.vertex("float64", 1 / n),
        received=fr.vertex("float64"),
        chance=fr.edge("float64", chance),
        n=fr.scalar("int64", n),
    )
    Walk(p).run()
    return p.rank


def paths_one_by_one(g, source):
    """The same by NumPy: every edge, as often as there are vertices."""
    src, dst, weight = g.sources, g.targets, g.weights
    distance, width = np.full(g.num_vertices, np.inf), np.zeros(g.num_vertices)
    distance[source], width[source] = 0, np.inf
    for _ in range(g.num_vertices):
        np.minimum.at(distance, dst, distance[src] + weight)
        np.maximum.at(width, dst, np.minimum(width[src], weight))
    return distance, width


def main(arguments=None):
    """Run the four programs, check them, and print what they found."""
    parser = argparse.ArgumentParser(description="products over semirings")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = fr.read(options.graph) if options.graph else fr.karate(weights=(1, 100), seed=1)
    there = g.to(options.backend)

    distance, width, reached = paths(there, 0)
    expected = paths_one_by_one(g, 0)
    assert np.allclose(distance.tolist(), expected[0])
    assert width.tolist() == expected[1].tolist()
    assert [bool(each) for each in reached.tolist()] == np.isfinite(expected[0]).tolist()

    chance = g.weights / np.bincount(g.sources, g.weights, g.num_vertices)[g.sources]
    rank, expected = ranks(there, chance), np.full(g.num_vertices, 1 / g.num_vertices)
    for _ in range(ROUNDS):
        received = np.bincount(g.targets, chance * expected[g.sources], g.num_vertices)
        expected = (1 - DAMPING) / g.num_vertices + DAMPING * received
    assert np.allclose(rank.tolist(), expected, rtol=1e-9)

    far = distance[np.isfinite(distance)].max()
    print(f"{int(reached.sum())} vertices reached, the farthest at distance {far:g}")
    print(f"the narrowest of the widest paths has width {width[width > 0].min():g}")
    print(f"vertex {int(rank.argmax())} has the highest rank, {float(rank.max()):.4f}")
    return distance


if __name__ == "__main__":
    main()
