"""A vertex colouring: neighbours have different colours (Jones and Plassmann, 1993).

    python examples/jones_plassmann.py [--backend cpu|python|cuda] [GRAPH]

Every vertex has a fixed random rank. When all its neighbours of higher rank have colours, it takes the least colour
that none of its neighbours has; all vertices for which that is so do it at the same time. The colours around a vertex
are collected in the bits of one number, so degrees must be at most 62. GRAPH is a file that ``fr.read`` knows, read as
undirected; the default is Zachary's karate club.
"""

import argparse

import numpy as np

import frontier as fr


def colour(p, src):
    """The bit of a neighbour's colour; 0 if it has no colour yet."""
    return 1 << p.colour[src] if p.colour[src] >= 0 else 0


def higher(p, src, dst):
    """1 for a neighbour of higher rank, which must be coloured before dst."""
    return 1 if p.rank[src] > p.rank[dst] else 0


def ready(p, v):
    """No neighbour of higher rank is without a colour."""
    return p.waits[v] == 0


def paint(p, v):
    """Give v the least colour that none of its neighbours has."""
    c = 0
    while p.around[v] >> c & 1:
        c += 1
    p.colour[v] = c


def release(p, src, dst):
    """Decrement the number of uncoloured neighbours of higher rank; true if it becomes 0."""
    return p.rank[src] > p.rank[dst] and fr.atomic_add(p.waits, dst, -1) == 1


class Colouring(fr.Enactor):
    """The frontier contains the vertices that can be coloured now."""

    loop = fr.Sequence(
        fr.Gather(higher, "sum", into="waits"),
        fr.Filter(ready),
        fr.Loop(
            fr.Gather(colour, "or", into="around"),
            fr.Compute(paint),
            fr.Advance(release, unique="claimed"),
            count="rounds",
        ),
        over="vertices",
    )


def colouring(g, seed=1):
    """The problem: ``colour`` of every vertex of an undirected graph without self-loops."""
    if int(g.out_degree.max()) > 62:
        raise ValueError("a vertex has more than 62 neighbours")
    p = fr.Problem(
        g,
        rank=fr.vertex("int32", np.random.default_rng(seed).permutation(g.num_vertices)),
        waits=fr.vertex("int32"),
        around=fr.vertex("int64"),
        colour=fr.vertex("int8", -1),
        rounds=fr.scalar("int64"),
    )
    Colouring(p).run()
    return p


def colours_one_by_one(g, rank):
    """The same colouring, one vertex after another, the highest rank first."""
    colours = [-1] * g.num_vertices
    for v in np.argsort(-rank).tolist():
        around = {colours[u] for u in g.targets[g.offsets[v] : g.offsets[v + 1]].tolist()}
        colours[v] = next(c for c in range(g.num_vertices) if c not in around)
    return colours


def main(arguments=None):
    """Find the colours, check them, and print how many vertices have each."""
    parser = argparse.ArgumentParser(description="colouring")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = fr.read(options.graph, directed=False, self_loops="drop") if options.graph else fr.karate()

    p = colouring(g.to(options.backend))
    rank = np.random.default_rng(1).permutation(g.num_vertices)
    assert p.colour.tolist() == colours_one_by_one(g, rank)
    print(f"{p.colour.max() + 1} colours in {p.rounds} rounds")
    return p


if __name__ == "__main__":
    main()
