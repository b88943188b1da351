"""The distance between two vertices, by searching from both of them at once (Pohl, 1971).

    python examples/bidirectional_bfs.py [--backend cpu|python|cuda] [GRAPH]

The search with the smaller frontier goes one level farther, until it reaches a vertex that the other search has
reached. All vertices within the two depths are known by then, so the path over that vertex is a shortest one. GRAPH is
a file that ``fr.read`` knows, read as undirected; the default is a ring with shortcuts.
"""

import argparse

import networkx as nx
import numpy as np

import frontier as fr

FAR = np.iinfo(np.int32).max


def visit(p, src, dst):
    """Claim dst for the current search."""
    return fr.atomic_cas(p.steps, dst, -1, p.steps[src] + 1) == -1


def fresh(p, dst):
    """The target has not been reached by the current search."""
    return p.steps[dst] == -1


def apart(p, v):
    """The length of the path over v, if the other search has reached v, too."""
    return p.steps[v] + p.steps_there[v] if p.steps_there[v] >= 0 else FAR


def one(p, v):
    """1 for each vertex, to count the frontier."""
    return 1


def never(p, v):
    """False, to move the whole frontier to the pile."""
    return False


def larger(p):
    """1 if the other search has the smaller frontier and therefore continues."""
    return 1 if p.size > p.size_there else 0


def met(p):
    """The two searches have met."""
    return p.distance < FAR


class Meet(fr.Enactor):
    """Advance one search at a time; to switch, the two searches exchange all their fields."""

    loop = fr.Loop(
        fr.Advance(visit, where=fresh, unique="claimed"),
        fr.Reduce(apart, "min", into="distance"),
        fr.Reduce(one, "sum", into="size"),
        fr.Split(never, rest="front"),
        fr.Set(turns=larger),
        fr.Loop(
            fr.Swap("front", "front_there"),
            fr.Swap("steps", "steps_there"),
            fr.Swap("size", "size_there"),
            times="turns",
        ),
        take="front",
        until=met,
    )


def distance(g, source, target):
    """The problem: ``distance`` between two vertices of an undirected graph in edges, or FAR."""
    p = fr.Problem(
        g,
        steps=fr.vertex("int32", -1),
        steps_there=fr.vertex("int32", -1),
        front=fr.pile(),
        front_there=fr.pile(),
        size=fr.scalar("int64", 1),
        size_there=fr.scalar("int64", 1),
        turns=fr.scalar("int64"),
        distance=fr.scalar("int32", 0 if source == target else FAR),
    )
    p.steps[source] = p.steps_there[target] = 0
    p.front, p.front_there = fr.Frontier(g, [source]), fr.Frontier(g, [target])
    if source != target:
        Meet(p).run()
    return p


def main(arguments=None):
    """Find the distance between two vertices, check it, and print how much of the graph was searched."""
    parser = argparse.ArgumentParser(description="bidirectional breadth-first search")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = fr.read(options.graph, directed=False) if options.graph else fr.small_world(400, 4, 0.1, seed=1)

    source, target = 0, g.num_vertices // 2
    p = distance(g.to(options.backend), source, target)
    expected = nx.single_source_shortest_path_length(fr.to_networkx(g), source).get(target, FAR)
    assert p.distance == expected
    reached = int(((p.steps >= 0) | (p.steps_there >= 0)).sum())
    print(f"from {source} to {target}: {p.distance} steps; {reached} of {g.num_vertices} vertices reached")
    return p


if __name__ == "__main__":
    main()
