"""Breadth-first search from scratch: the level of every vertex, and its parent.

    python examples/bfs.py [--backend cpu|python|cuda] [GRAPH]

GRAPH is a file that ``fr.read`` knows; the default is Zachary's karate club.
"""

import argparse

import numpy as np

import frontier as fr


# begin functors
def begin(p, v):
    """The source is its own parent."""
    p.parent[v] = v
    p.level[v] = 0


def visit(p, src, dst):
    """Claim dst for src: of all edges that lead to dst, exactly one succeeds."""
    if fr.atomic_cas(p.parent, dst, -1, src) == -1:
        p.level[dst] = p.depth
        return True  # dst joins the next frontier
    return False


def unvisited(p, dst):
    """The target has not been claimed yet."""
    return p.parent[dst] == -1
# end functors


# begin problem
def problem(g, source):
    """The fields of a search from one vertex, before it begins."""
    return fr.Problem(
        g,
        level=fr.vertex("int32", -1),
        parent=fr.vertex("int32", -1),
        depth=fr.scalar("int32", 0),
        source=fr.scalar("int32", source),
    )
# end problem


# begin eager
def search_eagerly(g, source):
    """The search as a plain Python loop."""
    p = problem(g, source)
    f = fr.Frontier(g, [source])
    fr.compute(p, f, begin)
    while f:
        p.depth += 1
        f = fr.advance(p, f, visit, where=unvisited, unique="claimed")
        print(f"level {p.depth}: {len(f)} new")
    return p
# end eager


# begin declared
class Search(fr.Enactor):
    """The same loop as data."""

    loop = fr.Sequence(
        fr.Compute(begin, over="source"),
        fr.Loop(
            fr.Advance(visit, where=unvisited, unique="claimed"),
            over="source",
            count="depth",
        ),
    )


def search(g, source):
    """The search as one compiled function."""
    p = problem(g, source)
    Search(p).run()
    return p
# end declared


def main(arguments=None):
    """Search both ways, check the result, and print what was found."""
    parser = argparse.ArgumentParser(description="breadth-first search from scratch")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = (fr.read(options.graph) if options.graph else fr.karate()).to(options.backend)

    # begin use
    eager = search_eagerly(g, 0)
    p = search(g, 0)
    assert np.array_equal(eager.level, p.level)

    fr.verify.bfs(g, p).raise_if_failed()  # looks at p.source, p.level and p.parent
    reached = p.level >= 0
    print(f"{np.count_nonzero(reached)} of {g.num_vertices} vertices reached, the farthest {p.level.max()} steps away")
    # end use
    return p


if __name__ == "__main__":
    main()
