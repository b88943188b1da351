"""Degree correlation: whether vertices with many neighbours are neighbours of those with many (Newman, 2002).

    python examples/assortativity.py [--backend cpu|python|cuda] [GRAPH]

The average degree of the neighbours is computed for every vertex, and then for all vertices of degree k together. The
assortativity is the correlation of the degrees at both ends of an edge: positive if vertices of high degree are
neighbours of each other, negative if they are neighbours of those of low degree. GRAPH is a file that ``fr.read``
knows, read as undirected; the default is Zachary's karate club.
"""

import argparse

import networkx as nx
import numpy as np

import frontier as fr


def degree_of(p, src):
    """The degree of a neighbour."""
    return p.degree[src]


def average(p, v):
    """Divide the sum of the degrees around v, and add it to the sum of all vertices of this degree."""
    if p.degree[v] > 0:
        p.around[v] = p.sum[v] / p.degree[v]
    fr.atomic_add(p.vertices_of, p.degree[v], 1)
    fr.atomic_add(p.sum_of, p.degree[v], p.sum[v])


def at_end(p, dst):
    """The degree at an end of an edge; each edge has two, one for each direction."""
    return p.degree[dst]


def square(p, dst):
    """Its square."""
    return p.degree[dst] * p.degree[dst]


def product(p, src, dst):
    """The product of the degrees at both ends."""
    return p.degree[src] * p.degree[dst]


class Correlation(fr.Enactor):
    """Average around vertices, then sums over edges."""

    loop = (
        fr.Gather(degree_of, "sum", into="sum", over="vertices"),
        fr.Compute(average, over="vertices"),
        fr.Reduce(at_end, "sum", into="ends", over="edges"),
        fr.Reduce(square, "sum", into="squares", over="edges"),
        fr.Reduce(product, "sum", into="products", over="edges"),
    )


def correlation(g):
    """The problem: the average ``around`` each vertex, ``sum_of`` those of each degree, and sums over edges."""
    degrees = int(g.out_degree.max()) + 1
    p = fr.Problem(
        g,
        degree=fr.vertex("int64", g.out_degree),
        sum=fr.vertex("int64"),
        around=fr.vertex("float64"),
        vertices_of=fr.array(np.zeros(degrees, np.int64)),
        sum_of=fr.array(np.zeros(degrees, np.int64)),
        ends=fr.scalar("int64"),
        squares=fr.scalar("int64"),
        products=fr.scalar("int64"),
    )
    Correlation(p).run()
    return p


def assortativity(p):
    """The correlation of the degrees at both ends of all edges; NaN if all degrees are the same."""
    m = p.graph.num_slots
    variance = m * p.squares - p.ends**2
    return (m * p.products - p.ends**2) / variance if variance else float("nan")


def by_degree(p):
    """The average degree around vertices of each degree above 0 that occurs."""
    counts, sums = p.vertices_of.tolist(), p.sum_of.tolist()
    return {k: sums[k] / (k * counts[k]) for k in range(1, len(counts)) if counts[k]}


def main(arguments=None):
    """Compute averages and correlation, compare them with NetworkX's, and print them."""
    parser = argparse.ArgumentParser(description="degree correlation")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = fr.read(options.graph, directed=False, self_loops="drop") if options.graph else fr.karate()

    p = correlation(g.to(options.backend))
    other = nx.Graph(zip(g.sources.tolist(), g.targets.tolist(), strict=True))
    other.add_nodes_from(range(g.num_vertices))
    expected = nx.average_neighbor_degree(other)
    assert np.allclose(p.around.tolist(), [expected[v] for v in range(g.num_vertices)])
    of = by_degree(p)
    expected = nx.average_degree_connectivity(other)
    assert all(np.isclose(of[k], expected[k]) for k in of)
    coefficient = assortativity(p)
    assert np.isclose(coefficient, nx.degree_assortativity_coefficient(other), equal_nan=True)
    print(f"the assortativity is {coefficient:.3f}; on average,")
    for k in (min(of), max(of)):
        print(f"neighbours of vertices of degree {k} have degree {of[k]:.1f}")
    return p


if __name__ == "__main__":
    main()
