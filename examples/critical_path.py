"""The critical path: when tasks that wait for others can start, and which of them must not be late.

    python examples/critical_path.py [--backend cpu|python|cuda] [GRAPH]

A task starts when all those before it have ended, so the project takes as long as the longest path. Going forward,
round by round, gives the earliest start of every task; going back through the same rounds, the latest start that does
not delay the project. Tasks for which both are the same are critical (Kelley and Walker, 1959). GRAPH is a file that
``fr.read`` knows: tasks are vertices with random durations, and only edges to greater ids are kept. The default is the
construction of a house.
"""

import argparse
from graphlib import TopologicalSorter

import numpy as np

import frontier as fr

#: Each task, the days it takes, and the tasks before it.
HOUSE = {
    "dig": (3, ()),
    "pour": (4, ("dig",)),
    "order windows": (15, ()),
    "walls": (10, ("pour",)),
    "roof": (6, ("walls",)),
    "windows": (2, ("order windows", "walls")),
    "wiring": (5, ("roof",)),
    "pipes": (4, ("roof",)),
    "plaster": (5, ("windows", "wiring", "pipes")),
    "garden": (4, ("pour",)),
    "paint": (3, ("plaster",)),
    "move in": (1, ("paint", "garden")),
}


def free(p, v):
    """Whether a task waits for no other."""
    return p.waits[v] == 0


def finish(p, src, dst):
    """Let dst start after src has ended, and wait for one task less."""
    fr.atomic_max(p.earliest, dst, p.earliest[src] + p.duration[src])
    fr.atomic_add(p.waits, dst, -1)
    return True


def end(p, v):
    """When a task ends that starts as early as possible."""
    return p.earliest[v] + p.duration[v]


def latest(p, dst):
    """When a task that follows must start."""
    return p.latest[dst]


def start(p, v):
    """Start so that v ends before each task that follows must start; if none does, at the end of the project."""
    p.latest[v] = min(p.limit[v], p.days) - p.duration[v]


class CriticalPath(fr.Enactor):
    """Forward with recorded rounds, and back."""

    loop = (
        fr.Sequence(fr.Filter(free), fr.Loop(fr.Advance(finish), fr.Filter(free), record="rounds"), over="vertices"),
        fr.Reduce(end, "max", into="days", over="vertices"),
        fr.Loop(fr.Gather(latest, "min", into="limit", edges="out"), fr.Compute(start), replay="rounds"),
    )


def critical_path(g, duration):
    """The problem: ``earliest`` and ``latest`` start of every task, and ``days``, how long all of them take."""
    p = fr.Problem(
        g,
        duration=fr.vertex("int64", duration),
        waits=fr.vertex("int64", g.in_degree),
        earliest=fr.vertex("int64"),
        limit=fr.vertex("int64"),
        latest=fr.vertex("int64"),
        days=fr.scalar("int64"),
    )
    CriticalPath(p).run()
    if int(p.waits.max()) > 0:
        raise ValueError("tasks wait for each other")
    return p


def critical_path_one_by_one(g, duration):
    """The same, one task after another."""
    before, after = {v: [] for v in range(g.num_vertices)}, {v: [] for v in range(g.num_vertices)}
    for u, v in zip(g.sources.tolist(), g.targets.tolist(), strict=True):
        before[v].append(u)
        after[u].append(v)
    order = list(TopologicalSorter(before).static_order())
    earliest, latest = [0] * len(order), [0] * len(order)
    for v in order:
        earliest[v] = max((earliest[u] + duration[u] for u in before[v]), default=0)
    days = max(earliest[v] + duration[v] for v in order)
    for v in reversed(order):
        latest[v] = min((latest[u] for u in after[v]), default=days) - duration[v]
    return earliest, latest, days


def main(arguments=None):
    """Plan the project, check the plan, and print the critical tasks."""
    parser = argparse.ArgumentParser(description="the critical path of a project")
    parser.add_argument("--backend", default="cpu", help="where it runs, as Graph.to takes it")
    parser.add_argument("graph", nargs="?", metavar="GRAPH")
    options = parser.parse_args(arguments)
    if options.graph:
        g = fr.read(options.graph)
        ahead = g.sources < g.targets
        g = fr.from_edges(g.sources[ahead], g.targets[ahead], num_vertices=g.num_vertices, directed=True)
        duration = np.random.default_rng(1).integers(1, 10, g.num_vertices).tolist()
    else:
        pairs = [(task, name) for name, (_, tasks) in HOUSE.items() for task in tasks]
        g = fr.from_edges(pairs, directed=True)
        duration = [HOUSE[name][0] for name in g]

    p = critical_path(g.to(options.backend), duration)
    earliest, latest = p.earliest.tolist(), p.latest.tolist()
    assert (earliest, latest, p.days) == critical_path_one_by_one(g, duration)
    critical = sorted((v for v in range(g.num_vertices) if earliest[v] == latest[v]), key=earliest.__getitem__)
    print(f"{g.num_vertices} tasks take {p.days} days; critical are", ", ".join(map(str, g.labels_of(critical))))
    return p


if __name__ == "__main__":
    main()
