"""Strongly connected components by the forward-backward algorithm (Fleischer et al., 2000; McLendon et al., 2005).

    python examples/scc.py [--backend cpu|python|cuda] [GRAPH]

The component of a pivot is the intersection of the vertices that it reaches and those that reach it. The remaining
vertices fall into three parts, and every component lies within one of them. The parts are processed at the same time,
each with its own pivot. A vertex without an edge from, or to, its own part is a component by itself and is trimmed.
GRAPH is a file that ``fr.read`` knows, read as directed; the default is random.
"""

import argparse

import numpy as np
from scipy.sparse.csgraph import connected_components

import frontier as fr


def tied(p, src, dst):
    """Whether the endpoints of an edge are in the same part."""
    return src != dst and p.part[src] == p.part[dst]


def trim(p, v):
    """Trim vertices without in-edges or out-edges in their part: each is a component of its own."""
    if p.entered[v] and p.left[v]:
        return True
    p.component[v] = v
    p.part[v] = -1 - v
    return False


def propose(p, v):
    """The pivot of a part is its vertex with the highest id."""
    fr.atomic_max(p.pivot, p.part[v], v)


def begin(p, v):
    """Mark pivots as reached in both directions."""
    reached = 1 if p.pivot[p.part[v]] == v else 0
    p.ahead[v] = reached
    p.behind[v] = reached


def forward(p, src, dst):
    """Mark vertices that the pivot reaches within its part."""
    return p.ahead[src] == 1 and p.part[src] == p.part[dst] and fr.atomic_cas(p.ahead, dst, 0, 1) == 0


def backward(p, src, dst):
    """Mark vertices that reach the pivot within its part."""
    return p.behind[dst] == 1 and p.part[src] == p.part[dst] and fr.atomic_cas(p.behind, src, 0, 1) == 0


def settle(p, v):
    """Assign v to the pivot's component if marked in both directions; else to one of three new parts of the pivot."""
    pivot = p.pivot[p.part[v]]
    if p.ahead[v] and p.behind[v]:
        p.component[v] = pivot
        p.part[v] = -1 - v
        return False
    p.part[v] = 3 * pivot + 2 * p.ahead[v] + p.behind[v]
    return True


class Components(fr.Enactor):
    """Repeat rounds on the remaining vertices; searches start with all of them, but only pivots are marked at first."""

    loop = fr.Loop(
        fr.Gather(tied, "any", into="entered"),
        fr.Gather(tied, "any", into="left", edges="out"),
        fr.Filter(trim),
        fr.Compute(propose),
        fr.Compute(begin),
        fr.Loop(fr.Advance(forward, unique="claimed"), over="vertices"),
        fr.Loop(fr.Advance(backward, unique="claimed", edges="in"), over="vertices"),
        fr.Filter(settle),
        over="vertices",
        count="rounds",
    )


def components(g):
    """The problem: ``component`` is some vertex of the component, for every vertex."""
    n = g.num_vertices
    p = fr.Problem(
        g,
        component=fr.vertex("int64", -1),
        part=fr.vertex("int64", 3 * n),
        pivot=fr.array(np.full(3 * n + 1, -1)),
        entered=fr.vertex("bool"),
        left=fr.vertex("bool"),
        ahead=fr.vertex("int32"),
        behind=fr.vertex("int32"),
        rounds=fr.scalar("int64"),
    )
    Components(p).run()
    return p


def main(arguments=None):
    """Find the components, compare them with SciPy's, and print their sizes."""
    parser = argparse.ArgumentParser(description="strongly connected components")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    random = fr.urand(6, 2, directed=True, seed=1)
    g = fr.read(options.graph, directed=True) if options.graph else random

    p = components(g.to(options.backend))
    _, expected = connected_components(fr.to_scipy(g), connection="strong")
    pairs = set(zip(p.component.tolist(), expected.tolist(), strict=True))
    assert len(pairs) == len(set(expected.tolist())) == len(set(p.component.tolist()))
    sizes = sorted(np.bincount(expected).tolist(), reverse=True)
    print(f"{len(sizes)} components in {p.rounds} rounds; the largest have {sizes[:3]} vertices")
    return p


if __name__ == "__main__":
    main()
