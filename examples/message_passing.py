"""Message passing: two layers of a graph neural network, with 16 features for every vertex (Kipf and Welling, 2017).

    python examples/message_passing.py [--backend cpu|python|cuda] [GRAPH]

In each layer a vertex takes the mean of its own and its neighbours' features, multiplies it by a matrix of weights, and
replaces negative values by 0. Features are a field with 16 values for each vertex. GRAPH is a file that ``fr.read``
knows, read as undirected; the default is Zachary's karate club.
"""

import argparse

import numpy as np

import frontier as fr

WIDTH = 16


def message(p, src, i):
    """Send one feature along an edge."""
    return p.feature[src, i]


def average(p, v, i):
    """Compute the mean of one feature of a vertex and its neighbours, whose features have been added up."""
    p.mean[v, i] = (p.mean[v, i] + p.feature[v, i]) / (1 + fr.degree(p, v))


def transform(p, v, i):
    """Compute one new feature of a vertex from all its means."""
    total = 0.0
    for j in range(WIDTH):
        total += p.mean[v, j] * p.weights[((p.layer - 1) * WIDTH + j) * WIDTH + i]
    p.feature[v, i] = max(total, 0.0)


class Network(fr.Enactor):
    """Process the layers in turn, with one call for each feature of each vertex."""

    loop = fr.Loop(
        fr.Gather(message, "sum", into="mean", over="vertices"),
        fr.Compute(average, over="mean"),
        fr.Compute(transform, over="feature"),
        times="layers",
        count="layer",
    )


def network(g, features, weights):
    """The problem: ``feature`` after all layers, 16 values for each vertex."""
    p = fr.Problem(
        g,
        feature=fr.vertex("float64", features, shape=WIDTH),
        mean=fr.vertex("float64", shape=WIDTH),
        weights=fr.array(weights.ravel()),
        layers=fr.scalar("int64", len(weights)),
        layer=fr.scalar("int64"),
    )
    Network(p).run()
    return p


def main(arguments=None):
    """Pass messages, compare with NumPy's matrices, and print a summary."""
    parser = argparse.ArgumentParser(description="message passing")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = fr.read(options.graph, directed=False) if options.graph else fr.karate()

    random = np.random.default_rng(1)
    features = random.normal(size=(g.num_vertices, WIDTH))
    weights = random.normal(size=(2, WIDTH, WIDTH)) / 4
    p = network(g.to(options.backend), features, weights)

    mean = np.eye(g.num_vertices)
    np.add.at(mean, (g.sources, g.targets), 1)
    mean /= mean.sum(axis=1, keepdims=True)
    expected = features
    for layer in weights:
        expected = np.maximum(mean @ expected @ layer, 0)
    assert np.allclose(p.feature.tolist(), expected)
    print(f"{np.count_nonzero(expected)} of {expected.size} features are positive, the largest is {expected.max():.4f}")
    return p


if __name__ == "__main__":
    main()
