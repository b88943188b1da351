"""Building on shipped primitives: other functors in a shipped enactor, its loop inside another, results chained.

    python examples/reuse.py [--backend cpu|python|cuda] [GRAPH]

GRAPH is an undirected graph with weights in a file that ``fr.read`` knows; the default is Zachary's karate club.
"""

import argparse

import numpy as np

import frontier as fr
from frontier.primitives import bfs
from frontier.primitives.cc import Hooking, components_problem, hook


# begin functor
def light_hook(p, src, dst, weight):
    """The shipped functor, for edges that are not too heavy."""
    return weight <= p.heaviest and hook(p, src, dst)


class LightComponents(Hooking):
    """Components by edges up to some weight: another functor in the same loop."""

    loop = Hooking.program().replace({hook: light_hook})


def light_components(g, heaviest):
    """The problem, with a label for each vertex and the number of components."""
    p = components_problem(g, heaviest=fr.scalar("float64", heaviest))
    LightComponents(p).run()
    return p
# end functor


# begin inside
def next_source(p):
    """The source of this pass of the outer loop."""
    return p.turn - 1


def forget(p, v):
    """Reset the fields before the next search."""
    p.level[v] = -1
    p.parent[v] = -1


def start(p, v):
    """The source of the next search."""
    p.level[v] = 0
    p.parent[v] = v


def steps(p, v):
    """The level of v, or 0 if it was not reached."""
    return max(p.level[v], 0)


def keep(p, v):
    """Store the sum of this search."""
    p.total[v] = p.sum


class Farness(fr.Enactor):
    """The sum of the distances from every vertex to all others: the loop of BFS inside another loop."""

    loop = fr.Loop(
        fr.Set(source=next_source, depth=0),
        fr.Compute(forget, over="vertices"),
        fr.Compute(start, over="source"),
        bfs.BFS.loop,
        fr.Reduce(steps, "sum", into="sum", over="vertices"),
        fr.Compute(keep, over="source"),
        times="n",
        count="turn",
    )


def farness(g):
    """Sum of the distances from every vertex, in edges; array of int64."""
    p = fr.Problem(
        g,
        parent=fr.vertex(g.targets.dtype, -1),
        level=fr.vertex("int32", -1),
        depth=fr.scalar("int32"),
        source=fr.scalar(g.targets.dtype),
        total=fr.vertex("int64"),
        sum=fr.scalar("int64"),
        turn=fr.scalar("int64"),
        n=fr.scalar("int64", g.num_vertices),
    )
    Farness(p).run()
    return p.total
# end inside


# begin batched
def begin(p, v):
    """Reset v before the next turn; True if v is a source of this turn."""
    source = p.starts[v] == p.turn
    p.level[v] = 0 if source else -1
    p.parent[v] = v if source else -1
    return source


def add(p, v):
    """Add the level of v in this turn, if it was reached."""
    p.total[v] += max(p.level[v], 0)


class BatchedFarness(fr.Enactor):
    """For every vertex the sum of the distances to it from all sources, many sources at a time."""

    loop = fr.Loop(
        fr.Set(depth=0),
        fr.Sequence(
            fr.Filter(begin),
            fr.Loop(fr.Advance(bfs.visit, where=bfs.unvisited, unique="claimed"), count="depth"),
            over="vertices",
        ),
        fr.Compute(add, over="vertices"),
        times="turns",
        count="turn",
    )


def batched_farness(g):
    """Sum of the distances to every vertex, in steps; array of int64."""
    fields = {
        "parent": fr.vertex(g.targets.dtype, -1),
        "level": fr.vertex("int32", -1),
        "depth": fr.scalar("int32"),
        "total": fr.vertex("int64"),
    }
    batch = fr.BatchedSources(g, None, BatchedFarness, fields)
    batch.run()
    return batch.sum("total")
# end batched


# begin chain
def count(p, v):
    """Count v on its level."""
    if p.level[v] >= 0:
        fr.atomic_add(p.width, p.level[v], 1)


def widths(g):
    """Number of vertices on each level of a search that begins at a vertex of the largest component."""
    components = fr.connected_components(g)
    label = next(iter(components.sizes()))
    search = fr.bfs(g, label)
    p = fr.Problem(
        g,
        level=fr.vertex("int32", search.level),
        width=fr.array(np.zeros(int(search.level.max()) + 1, np.int64)),
    )
    fr.compute(p, fr.Frontier.all(g), count)
    return p.width
# end chain


def main(arguments=None):
    """Run all four, check them, and print a little of each."""
    parser = argparse.ArgumentParser(description="building on shipped primitives")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    g = (fr.read(options.graph) if options.graph else fr.karate(weights=(1, 9), seed=1)).to(options.backend)

    heaviest = np.median(g.weights)
    light = light_components(g, heaviest)
    kept = g.weights <= heaviest
    rest = fr.from_edges(g.sources[kept], g.targets[kept], num_vertices=g.num_vertices)
    fr.verify.connected_components(rest, light).raise_if_failed()
    print(f"{light.count} components by the lighter half of the edges")

    total = farness(g)
    some = [0, g.num_vertices // 2, g.num_vertices - 1]
    assert [total[v] for v in some] == [np.maximum(fr.bfs(g, v).level, 0).sum() for v in some]
    assert (batched_farness(g) == total).all()
    print(f"fewest steps to all others: {total.min()} in all, from vertex {np.argmin(total)}")

    width = widths(g)
    assert width.sum() == max(fr.connected_components(g).sizes().values())
    print(f"vertices on each level: {width.tolist()}")
    return light, total, width


if __name__ == "__main__":
    main()
