"""Two colours: whether neighbours can always have different ones, and if not, a cycle of odd length.

    python examples/bipartite_check.py [--backend cpu|python|cuda] [GRAPH]

A search in every component gives even levels one colour and odd levels the other. If an edge connects two vertices of
one level, the paths from both back to the vertex where they meet form, with the edge, a cycle of odd length, and no two
colours suffice. GRAPH is a file that ``fr.read`` knows, read as undirected; the default is Zachary's karate club.
"""

import argparse

import frontier as fr


def first(p, v):
    """Begin at one vertex of each component, the one with the smallest id."""
    if p.component[v] != v:
        return False
    p.level[v] = 0
    return True


def unseen(p, dst):
    """Whether the search has not found dst yet."""
    return p.level[dst] == -1


def visit(p, src, dst):
    """Set the level of dst; true for one of the calls that do."""
    return fr.atomic_cas(p.level, dst, -1, p.depth) == -1


def level_of(p, src):
    """The parent of a vertex is a neighbour of least level."""
    return p.level[src]


def conflict(p, src, dst, edge):
    """An edge within one level gives its slot; others one that is too large."""
    return edge if p.level[src] == p.level[dst] else p.none


class Levels(fr.Enactor):
    """Search all components at once; then find parents, and an edge within a level."""

    loop = (
        fr.Sequence(
            fr.Filter(first),
            fr.Loop(fr.Advance(visit, where=unseen, unique="claimed"), count="depth"),
            over="vertices",
        ),
        fr.Gather(level_of, "argmin", into="parent", over="vertices"),
        fr.Reduce(conflict, "min", into="odd", over="edges"),
    )


def levels(g):
    """The problem: ``level`` and ``parent`` of every vertex, and ``odd``, an edge within one level, or ``none``."""
    p = fr.Problem(
        g,
        component=fr.vertex("int64", fr.connected_components(g).label),
        level=fr.vertex("int64", -1),
        parent=fr.vertex("int64", -1),
        depth=fr.scalar("int64"),
        none=fr.scalar("int64", g.num_slots),
        odd=fr.scalar("int64", g.num_slots),
    )
    Levels(p).run()
    return p


def odd_cycle(g, p):
    """The vertices of a cycle of odd length, in order; None if there is none."""
    if p.odd >= p.none:
        return None
    parent = p.parent.tolist()
    one, other = [int(g.sources[p.odd])], [int(g.targets[p.odd])]
    while one[-1] != other[-1]:
        one.append(parent[one[-1]])
        other.append(parent[other[-1]])
    return one[::-1] + other[:-1]


def main(arguments=None):
    """Colour the graph or find a cycle, check that, and print it."""
    parser = argparse.ArgumentParser(description="whether a graph is bipartite")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = fr.read(options.graph, directed=False) if options.graph else fr.karate()

    p = levels(g.to(options.backend))
    cycle = odd_cycle(g, p)
    edges = set(zip(g.sources.tolist(), g.targets.tolist(), strict=True))
    if cycle is None:
        colour = [level % 2 for level in p.level.tolist()]
        assert all(colour[u] != colour[v] for u, v in edges)
        print(f"two colours suffice: {colour.count(0)} vertices have one, {colour.count(1)} the other")
    else:
        assert len(cycle) % 2 == len(set(cycle)) % 2 == 1
        assert all(edge in edges for edge in zip(cycle, cycle[1:] + cycle[:1], strict=True))
        print("two colours do not suffice, because of the cycle", *g.labels_of(cycle))
    return p


if __name__ == "__main__":
    main()
