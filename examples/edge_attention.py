"""Attention along edges: a layer of a graph attention network, with 4 heads (Velickovic et al., 2018).

    python examples/edge_attention.py [--backend cpu|python|cuda] [GRAPH]

An edge has a score for each head, computed from features of both ends. The scores of the in-edges of a vertex become
weights by a softmax, and with these weights the vertex adds up the features of its neighbours. Scores and weights are a
field with 4 values for each edge. GRAPH is a file that ``fr.read`` knows, read as undirected; the default is Zachary's
karate club.
"""

import argparse
import math

import numpy as np

import frontier as fr

HEADS, EACH = 4, 3
WIDTH = HEADS * EACH


def score(p, src, dst, edge, i):
    """Compute the score of an edge for head i: a leaky ReLU of what both ends contribute."""
    total = p.give[src, i] + p.take[dst, i]
    p.attention[edge, i] = total if total > 0 else 0.2 * total


def attention_of(p, edge, i):
    """The score, and later the weight, of an edge for head i."""
    return p.attention[edge, i]


def exponential(p, dst, edge, i):
    """Take the exponential of a score, after subtracting the highest at this vertex so that it does not overflow."""
    p.attention[edge, i] = math.exp(p.attention[edge, i] - p.highest[dst, i])


def share(p, dst, edge, i):
    """Divide by the sum at this vertex."""
    p.attention[edge, i] /= p.total[dst, i]


def message(p, src, edge, i):
    """Send one feature along an edge, times the weight of its head."""
    return p.attention[edge, i // EACH] * p.feature[src, i]


class Attention(fr.Enactor):
    """A softmax over the in-edges of each vertex, for each head, and then one weighted sum."""

    loop = (
        fr.Compute(score, over="attention"),
        fr.Gather(attention_of, "max", into="highest", over="vertices"),
        fr.Compute(exponential, over="attention"),
        fr.Gather(attention_of, "sum", into="total", over="vertices"),
        fr.Compute(share, over="attention"),
        fr.Gather(message, "sum", into="out", over="vertices"),
    )


def attend(g, features, give, take):
    """The problem: ``out`` has the new features, ``attention`` the weights, 4 for each edge."""
    heads = features.reshape(-1, HEADS, EACH)
    p = fr.Problem(
        g,
        feature=fr.vertex("float64", features, shape=WIDTH),
        give=fr.vertex("float64", (heads * give).sum(axis=2), shape=HEADS),
        take=fr.vertex("float64", (heads * take).sum(axis=2), shape=HEADS),
        attention=fr.edge("float64", shape=HEADS),
        highest=fr.vertex("float64", shape=HEADS),
        total=fr.vertex("float64", shape=HEADS),
        out=fr.vertex("float64", shape=WIDTH),
    )
    Attention(p).run()
    return p


def expected(g, features, give, take):
    """The same by NumPy, with a square matrix for each head."""
    count = np.zeros((g.num_vertices, g.num_vertices))
    np.add.at(count, (g.targets, g.sources), 1)
    made = []
    for own, a, b in zip(features.reshape(-1, HEADS, EACH).transpose(1, 0, 2), give, take, strict=True):
        scores = (own @ a)[None, :] + (own @ b)[:, None]
        weights = count * np.exp(np.where(scores > 0, scores, 0.2 * scores))
        made.append(weights @ own / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300))
    return np.concatenate(made, axis=1)


def main(arguments=None):
    """Compute a layer, compare it with NumPy's, and print a summary."""
    parser = argparse.ArgumentParser(description="attention along edges")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = fr.read(options.graph, directed=False) if options.graph else fr.karate()

    random = np.random.default_rng(1)
    features = random.normal(size=(g.num_vertices, WIDTH))
    give, take = random.normal(size=(2, HEADS, EACH))
    p = attend(g.to(options.backend), features, give, take)

    right = expected(g, features, give, take)
    assert np.allclose(p.out.tolist(), right)
    weights = np.array(p.attention.tolist())
    print(f"{np.count_nonzero(weights > 0.5)} of {weights.size} weights are above one half")
    return p


if __name__ == "__main__":
    main()
