"""Widest paths: paths whose narrowest edge is as wide as possible (also called bottleneck or maximum-capacity paths).

    python examples/widest_path.py [--backend cpu|python|cuda] [GRAPH]

This is Dijkstra's algorithm for shortest paths with the minimum instead of the sum and the maximum instead of the
minimum. Each pass processes the vertices whose path is widest, so an edge is visited once. GRAPH is a file with edge
weights that ``fr.read`` knows; the default is Zachary's karate club with random weights.
"""

import argparse
from heapq import heappop, heappush

import numpy as np

import frontier as fr


def widen(p, src, dst, weight):
    """Try to widen the path to dst by the one through src; true if that succeeds."""
    width = min(p.width[src], weight)
    return width > p.width[dst] and width > fr.atomic_max(p.width, dst, width)


def narrowness(p, v):
    """The key of v: less for wider paths."""
    return -p.width[v]


class Widest(fr.Enactor):
    """Process the vertices whose path is widest: no other path can be wider."""

    loop = fr.Loop(fr.Advance(widen), order=fr.by(narrowness, exact=True), over="source")


def widest(g, source):
    """Width of the widest path from the source to every vertex, 0 if there is none; array of float64."""
    p = fr.Problem(g, width=fr.vertex("float64", 0.0), source=fr.scalar("int64", source))
    p.width[source] = np.inf
    Widest(p).run()
    return p.width


def widest_one_by_one(g, source):
    """The same by Dijkstra's algorithm: the widest remaining vertex is settled next."""
    offsets, targets, weights = g.offsets.tolist(), g.targets.tolist(), g.weights.tolist()
    width, heap = [0.0] * g.num_vertices, [(-np.inf, source)]
    width[source] = np.inf
    while heap:
        known, v = heappop(heap)
        if -known == width[v]:
            for i in range(offsets[v], offsets[v + 1]):
                new = min(width[v], weights[i])
                if new > width[targets[i]]:
                    width[targets[i]] = new
                    heappush(heap, (-new, targets[i]))
    return width


def main(arguments=None):
    """Find the widths, check them, and print the narrowest."""
    parser = argparse.ArgumentParser(description="widest paths")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = fr.read(options.graph) if options.graph else fr.karate(weights=(1, 100), seed=1)

    width = widest(g.to(options.backend), 0)
    assert width.tolist() == widest_one_by_one(g, 0)
    reached = width[width > 0]
    print(f"{len(reached)} vertices reached, the last by paths of width {reached.min():g}")
    return width


if __name__ == "__main__":
    main()
