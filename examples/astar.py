"""A* search: a shortest path to one target, guided by an estimate of the remaining distance.

    python examples/astar.py [--backend cpu|python|cuda] [GRAPH]

On a map, the straight-line distance to the target is never longer than the distance by road. So vertices are processed
in the order of their distance so far plus that estimate, and the search ends when no pending vertex has a sum below the
target's distance. It visits only a part of the map (Hart, Nilsson, Raphael, 1968). GRAPH is a file with edge weights in
a format that ``fr.read`` knows; the default is a map of streets.
"""

import argparse

import numpy as np

import frontier as fr

# begin program

def relax(p, src, dst, weight):
    """Relax an edge, unless no path through it can be shorter than the target's distance."""
    new = p.distance[src] + weight
    if new + p.left[dst] > p.distance[p.target]:
        return False
    return new < p.distance[dst] and new < fr.atomic_min(p.distance, dst, new)


def total(p, v):
    """A lower bound on the length of a path to the target through v."""
    return p.distance[v] + p.left[v]


def visit(p, v):
    """Mark v as visited."""
    p.visits[v] = 1


class AStar(fr.Enactor):
    """Process vertices in the order of this bound."""

    loop = fr.Loop(fr.Compute(visit), fr.Advance(relax), order=fr.by(total, exact=True, delta=1.0), over="source")
# end program


def astar(g, source, target, left):
    """The problem after the search: ``distance`` is right at the target, ``visits`` is 1 at visited vertices.

    ``left`` is an estimate of the distance to the target from each vertex that is never too large, and falls along an
    edge by no more than its weight.
    """
    p = fr.Problem(
        g,
        distance=fr.vertex("float64", np.inf),
        left=fr.vertex("float64", left),
        visits=fr.vertex("int8"),
        source=fr.scalar("int64", source),
        target=fr.scalar("int64", target),
    )
    p.distance[source] = 0
    AStar(p).run()
    return p


def streets(size):
    """A grid of streets with lengths from 1 to 2, two crossings, and an estimate of the distance to the second."""
    g = fr.grid(size, size)
    low, high = np.minimum(g.sources, g.targets), np.maximum(g.sources, g.targets)
    lengths = 1 + (low * 31 + high * 17) % 11 / 10  # the same in both directions
    row, column = np.divmod(np.arange(size * size), size)
    source, target = size * size // 2, size * size // 2 + size // 3
    left = np.abs(row - row[target]) + np.abs(column - column[target])  # no street is shorter than 1
    return g.with_weights(lengths), source, target, left


def main(arguments=None):
    """Search on a map, check the distance, and print how much of it was visited."""
    parser = argparse.ArgumentParser(description="A* search")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    if options.graph:  # of which nothing is known, so the estimate is 0
        g = fr.read(options.graph)
        source, target, left = 0, g.num_vertices - 1, np.zeros(g.num_vertices)
    else:
        g, source, target, left = streets(30)

    p = astar(g.to(options.backend), source, target, left)
    distance, visited = float(p.distance[target]), int(p.visits.sum())
    expected = float(fr.sssp(g.with_weights(g.weights.astype(float)), source).distance[target])
    assert distance == expected or abs(distance - expected) < 1e-6 * expected
    print(f"{distance:.1f} from {source} to {target}, {visited} of {g.num_vertices} vertices visited")
    return p


if __name__ == "__main__":
    main()
