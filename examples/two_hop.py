"""The number of vertices exactly two edges away from each vertex, by searches from 63 vertices at a time.

    python examples/two_hop.py [--backend cpu|python|cuda] [GRAPH]

Each of 63 sources has one bit in a number of every vertex, so one pass over the edges advances all 63 searches (as in
MS-BFS: Then et al., VLDB 2015). In an undirected graph v is two edges from u if u is from v, so the bits that arrive at
v are counted there. GRAPH is a file that ``fr.read`` knows, read as undirected; the default is Zachary's karate club.
"""

import argparse

import numpy as np

import frontier as fr

BITS = 63


def own(p, v):
    """Set the bit of a vertex of this batch; other vertices have none."""
    place = v - (p.batch - 1) * BITS
    p.here[v] = 1 << place if 0 <= place < BITS else 0


def here(p, src):
    """The bits that move along an edge in the first step."""
    return p.here[src]


def near(p, src):
    """The bits that move along an edge in the second step."""
    return p.near[src]


def count(p, v):
    """Count the bits that arrive in two steps, but not in fewer."""
    bits = p.far[v] & ~p.near[v] & ~p.here[v]
    while bits:
        bits &= bits - 1
        p.two[v] += 1


class TwoHops(fr.Enactor):
    """Process one batch of sources after another."""

    loop = fr.Loop(
        fr.Compute(own, over="vertices"),
        fr.Gather(here, "or", into="near", over="vertices"),
        fr.Gather(near, "or", into="far", over="vertices"),
        fr.Compute(count, over="vertices"),
        times="batches",
        count="batch",
    )


def two_hops(g):
    """Number of vertices two steps away from each, in an undirected graph; array of int64."""
    p = fr.Problem(
        g,
        here=fr.vertex("int64"),
        near=fr.vertex("int64"),
        far=fr.vertex("int64"),
        two=fr.vertex("int64"),
        batch=fr.scalar("int64"),
        batches=fr.scalar("int64", -(-g.num_vertices // BITS)),
    )
    TwoHops(p).run()
    return p.two


def two_hops_one_by_one(g):
    """The same with sets."""
    around = [set(g.targets[g.offsets[v] : g.offsets[v + 1]].tolist()) for v in range(g.num_vertices)]
    return [len(set().union(*(around[u] for u in around[v])) - around[v] - {v}) for v in range(g.num_vertices)]


def main(arguments=None):
    """Count, check the counts, and print the largest."""
    parser = argparse.ArgumentParser(description="numbers of vertices two steps away")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = fr.read(options.graph, directed=False) if options.graph else fr.karate()

    two = two_hops(g.to(options.backend))
    assert two.tolist() == two_hops_one_by_one(g)
    most = int(np.argmax(two))
    print(f"vertex {most} has {two[most]} vertices two steps away, the mean is {float(two.mean()):.2f}")
    return two


if __name__ == "__main__":
    main()
