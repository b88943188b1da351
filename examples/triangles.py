"""Triangles and clustering coefficients, by an intersection over all edges.

    python examples/triangles.py [--backend cpu|python|cuda] [GRAPH]

A triangle is three vertices with an edge between any two. The clustering coefficient of a vertex is the fraction of the
pairs of its neighbours that have an edge between them. GRAPH is a file that ``fr.read`` knows; the default is a ring of
neighbourhoods with some shortcuts.
"""

import argparse
from itertools import combinations

import numpy as np

import frontier as fr


# begin program
def upward(p, src, dst):
    """Keep each edge in one of its two directions."""
    return src < dst


def triangle(p, u, v, w):
    """Count each triangle once, at its lowest edge, for its three corners."""
    if w < v:
        return 0
    fr.atomic_add(p.corners, u, 1)
    fr.atomic_add(p.corners, v, 1)
    fr.atomic_add(p.corners, w, 1)
    return 1


def pairs(p, v):
    """Compute the clustering coefficient: the fraction of pairs of neighbours with an edge between them."""
    p.clustering[v] = 2 * p.corners[v] / (p.degree[v] * (p.degree[v] - 1)) if p.degree[v] > 1 else 0.0


class Triangles(fr.Enactor):
    """Count triangles, then compute clustering coefficients."""

    loop = (
        fr.Sequence(fr.Filter(upward), fr.Intersect(triangle, "sum", into="triangles"), over="edges"),
        fr.Compute(pairs, over="vertices"),
    )
# end program


def triangles(g):
    """The triangles of an undirected graph, and the clustering coefficient of every vertex."""
    p = fr.Problem(
        g,
        corners=fr.vertex("int64"),
        clustering=fr.vertex("float64"),
        degree=fr.vertex("int64", g.out_degree),
        triangles=fr.scalar("int64"),
    )
    Triangles(p).run()
    return p


def triangles_by_pairs(g):
    """The same, pair by pair of every vertex's neighbours."""
    lists = [set(g.targets[g.offsets[v] : g.offsets[v + 1]].tolist()) for v in range(g.num_vertices)]
    return [sum(a in lists[b] for a, b in combinations(neighbours, 2)) for neighbours in lists]


def main(arguments=None):
    """Count the triangles, check them, and print a summary."""
    parser = argparse.ArgumentParser(description="triangles and clustering coefficients")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    ring = fr.small_world(200, 6, 0.1, seed=1)
    g = fr.read(options.graph, directed=False, self_loops="drop") if options.graph else ring
    p = triangles(g.to(options.backend))

    assert p.corners.tolist() == triangles_by_pairs(g)
    assert p.corners.sum() == 3 * p.triangles
    most = int(np.argmax(p.corners))
    print(f"{p.triangles} triangles; the mean clustering coefficient is {p.clustering.mean():.3f}")
    print(f"vertex {most} is a corner of {p.corners[most]}")
    return p


if __name__ == "__main__":
    main()
