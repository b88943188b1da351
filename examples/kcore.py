"""The k-core decomposition, as an example of an algorithm of your own: fifteen lines of functors and loop.

    python examples/kcore.py [--backend cpu|python|cuda] [GRAPH]

The core number of a vertex is the largest k for which it belongs to a subgraph in which every vertex has k neighbours.
Peeling computes it: remove the vertices of least degree, and those whose degree falls to it meanwhile; their core
number is that degree; continue with the rest. GRAPH is a file that ``fr.read`` knows; the default is an R-MAT graph.
"""

import argparse
from heapq import heapify, heappop, heappush

import numpy as np

import frontier as fr


# begin program
def highest(p):
    """The current k: the largest of the least degrees so far."""
    return max(p.k, p.least)


def settle(p, v):
    """Remove v; its core number is the current k."""
    p.core[v] = p.k


def standing(p, dst):
    """The target has not been removed yet."""
    return p.core[dst] == -1


def loosen(p, dst):
    """Lower the degree of dst by one; true, because its key has changed."""
    fr.atomic_add(p.degree, dst, -1)
    return True


class Cores(fr.Enactor):
    """Remove the vertices of least degree, pass after pass."""

    loop = fr.Loop(
        fr.Set(k=highest),
        fr.Compute(settle),
        fr.Advance(loosen, where=standing),
        order=fr.by("degree", exact=True, into="least"),
        over="vertices",
    )
# end program


# begin call
def cores(g):
    """Core number of every vertex of an undirected graph; array of int64."""
    p = fr.Problem(
        g,
        degree=fr.vertex("int64", g.out_degree),
        core=fr.vertex("int64", -1),
        k=fr.scalar("int64"),
        least=fr.scalar("int64"),
    )
    Cores(p).run()
    return p.core
# end call


def cores_one_by_one(g):
    """The same by taking away one vertex at a time, the least degree first."""
    degrees, offsets, targets = g.out_degree.tolist(), g.offsets.tolist(), g.targets.tolist()
    heap = [(degree, v) for v, degree in enumerate(degrees)]
    heapify(heap)
    core, k = [-1] * g.num_vertices, 0
    while heap:
        least, v = heappop(heap)
        if core[v] != -1 or least > degrees[v]:
            continue
        k = max(k, least)
        core[v] = k
        for u in targets[offsets[v] : offsets[v + 1]]:
            if core[u] == -1:
                degrees[u] -= 1
                heappush(heap, (degrees[u], u))
    return core


def main(arguments=None):
    """Find the cores, check them, and print how many vertices each has."""
    parser = argparse.ArgumentParser(description="k-core decomposition")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = fr.read(options.graph, directed=False, self_loops="drop") if options.graph else fr.rmat(7, 8, seed=1)
    g = g.to(options.backend)

    core = cores(g)
    assert core.tolist() == cores_one_by_one(g)
    for k, count in zip(*np.unique(core, return_counts=True), strict=True):
        print(f"core number {k}: {count} vertices")
    return core


if __name__ == "__main__":
    main()
