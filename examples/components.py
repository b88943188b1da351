"""Connected components from scratch, over a frontier of edges: hooking and pointer jumping.

    python examples/components.py [--backend cpu|python|cuda] [GRAPH]

GRAPH is a file that ``fr.read`` knows; the default consists of a few random trees and rings.
"""

import argparse

import numpy as np

import frontier as fr


# begin functors
def alone(p, v):
    """Make every vertex a tree of its own."""
    p.label[v] = v


def hook(p, src, dst):
    """Attach the root with the higher id to the lower one; keep the edge until its endpoints agree."""
    a = p.label[src]
    b = p.label[dst]
    if a == b:
        return False
    fr.atomic_min(p.label, max(a, b), min(a, b))
    return True


def jump(p, v):
    """Point to the parent's parent; keep v until it points to a root."""
    parent = p.label[v]
    above = p.label[parent]
    if parent == above:
        return False
    p.label[v] = above
    return True


def is_root(p, v):
    """1 for the root of a tree: there is one in each component."""
    return 1 if p.label[v] == v else 0
# end functors


# begin problem
def problem(g):
    """The fields: a label for each vertex, and the number of components."""
    return fr.Problem(g, label=fr.vertex("int32"), count=fr.scalar("int64"))
# end problem


# begin eager
def components_eagerly(g):
    """Hooking and pointer jumping as plain Python loops."""
    p = problem(g)
    vertices = fr.Frontier.all(g)
    edges = fr.Frontier.all(g, kind="edge")
    fr.compute(p, vertices, alone)
    while edges:
        print(f"{len(edges)} edges between different trees, or not looked at yet")
        edges = fr.filter(p, edges, hook)
        f = vertices
        while f:
            f = fr.filter(p, f, jump)
    fr.reduce(p, vertices, is_root, "sum", into="count")
    return p
# end eager


# begin declared
class Components(fr.Enactor):
    """The same as data: three steps, one after another."""

    loop = (
        fr.Compute(alone, over="vertices"),
        fr.Loop(
            fr.Filter(hook),
            fr.Loop(fr.Filter(jump), over="vertices"),
            over="edges",
        ),
        fr.Reduce(is_root, "sum", into="count", over="vertices"),
    )


def components(g):
    """The components by one compiled function."""
    p = problem(g)
    Components(p).run()
    return p
# end declared


# begin graph
def pieces(seed=1):
    """A few trees and rings with shuffled vertex ids."""
    random = np.random.default_rng(seed)
    ends, first = [], 0
    for size in (40, 25, 12, 5, 2, 1):
        for v in range(1, size):
            ends.append((first + v, first + random.integers(v)))
        if size > 2:
            ends.append((first, first + size - 1))
        first += size
    src, dst = random.permutation(first)[np.array(ends)].T
    return fr.from_edges(src, dst, num_vertices=first)
# end graph


def main(arguments=None):
    """Find the components both ways, check them, and print their sizes."""
    parser = argparse.ArgumentParser(description="connected components from scratch")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = (fr.read(options.graph) if options.graph else pieces()).to(options.backend)

    # begin use
    eager = components_eagerly(g)
    p = components(g)
    assert np.array_equal(eager.label, p.label)

    fr.verify.connected_components(g, p).raise_if_failed()  # looks at p.label and p.count
    sizes = np.unique(p.label, return_counts=True)[1]
    print(f"{p.count} components; the largest have {sorted(sizes.tolist(), reverse=True)[:5]} vertices")
    # end use
    return p


if __name__ == "__main__":
    main()
