"""Hubs and authorities (HITS; Kleinberg, 1999): good hubs point to good authorities, and vice versa.

    python examples/hits.py [--backend cpu|python|cuda] [GRAPH]

Both values are computed by gathering along the edges in turn in both directions, until they no longer change. GRAPH is
a file that ``fr.read`` knows, read as directed; the default is random.
"""

import argparse

import numpy as np

import frontier as fr


def from_hub(p, src):
    """The hub value of the source of an edge."""
    return p.hub[src]


def from_authority(p, dst):
    """The authority value of the target of an edge."""
    return p.authority[dst]


def authority(p, v):
    """The authority value of v, to be summed."""
    return p.authority[v]


def pointed(p, v):
    """The gathered value of v, to be summed."""
    return p.pointed[v]


def scale(p, v):
    """Scale the authorities to sum 1."""
    p.authority[v] /= p.authorities


def renew(p, v):
    """Write the new value of a hub, scaled to sum 1; return by how much it has changed."""
    new = p.pointed[v] / p.hubs
    change = abs(new - p.hub[v])
    p.hub[v] = new
    return change


def steady(p):
    """The change in this round is below the tolerance."""
    return p.change < p.tolerance


class HITS(fr.Enactor):
    """A power iteration."""

    loop = fr.Loop(
        fr.Gather(from_hub, "sum", into="authority"),
        fr.Reduce(authority, "sum", into="authorities"),
        fr.Compute(scale),
        fr.Gather(from_authority, "sum", into="pointed", edges="out"),
        fr.Reduce(pointed, "sum", into="hubs"),
        fr.Reduce(renew, "sum", into="change"),
        over="vertices",
        until=steady,
        count="rounds",
        max_steps=10_000,
    )


def hits(g, tolerance=1e-12):
    """The problem: ``hub`` and ``authority`` of every vertex, each with sum 1."""
    p = fr.Problem(
        g,
        hub=fr.vertex("float64", 1 / g.num_vertices),
        authority=fr.vertex("float64"),
        pointed=fr.vertex("float64"),
        authorities=fr.scalar("float64"),
        hubs=fr.scalar("float64"),
        change=fr.scalar("float64"),
        tolerance=fr.scalar("float64", tolerance),
        rounds=fr.scalar("int64"),
    )
    HITS(p).run()
    return p


def main(arguments=None):
    """Find the values, compare them with NumPy's singular vectors, and print the best."""
    parser = argparse.ArgumentParser(description="hubs and authorities")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = fr.read(options.graph, directed=True) if options.graph else fr.rmat(6, 6, directed=True, seed=1)

    p = hits(g.to(options.backend))
    matrix = np.zeros((g.num_vertices, g.num_vertices))
    matrix[g.sources, g.targets] = 1
    left, _, right = np.linalg.svd(matrix)
    for name, found, vector in (("hub", p.hub, left[:, 0]), ("authority", p.authority, right[0])):
        assert np.allclose(found.tolist(), vector / vector.sum(), atol=1e-6)
        best = int(np.argmax(found))
        print(f"best {name}: vertex {best}, {found[best]:.4f}")
    return p


if __name__ == "__main__":
    main()
