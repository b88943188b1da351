"""The primitives beside all systems that are at hand, in one run on the same graphs and sources.

``python -m benchmarks.cpu_systems --gap FOLDER --pasgal FOLDER --wasp FOLDER`` needs folders with the programs that
were built from source; one that is not given is left out. So are networkit, igraph and SciPy if they are not installed.
From each source every system computes some times, one system after the other. Results of Frontier are verified, and
what others count of theirs is compared. A row gives medians over the sources of the shortest call.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import frontier as fr
from benchmarks import graphs
from benchmarks.built import BUILT, Built
from benchmarks.measurement import Measurement
from benchmarks.systems import Igraph, Networkit, Scipy, System

__all__ = ["TASKS", "main"]

LIBRARIES: dict[str, type[System]] = {"networkit": Networkit, "igraph": Igraph, "SciPy": Scipy}
RATIO = "best other / Frontier"
#: Milliseconds: a longer call is not repeated, and one that is longer still is made from the first source only.
LONG, LONGEST = 1000, 10_000


@dataclass(frozen=True)
class Task:
    """What systems compute, and the calls of Frontier that do.

    Attributes
    ----------
    primitive : str
        As :mod:`benchmarks.systems` and :mod:`benchmarks.built` name it.
    calls : dict
        For each row a call of a graph and a source, which gives a result.
    verify : callable
        Of a graph and a result; gives a report, true if the result is right.
    numbers : callable
        Of a result; what others may count of a right one.
    close : float
        How far what they count may be from that.
    quality : str
        What the numbers are if they are rows, too, and need not be equal.
    """

    primitive: str
    calls: dict[str, Callable[[fr.Graph, int], Any]]
    verify: Callable[[fr.Graph, Any], Any]
    numbers: Callable[[Any], Sequence[float]]
    close: float = 1e-5
    quality: str = ""


def distances(g: fr.Graph, source: int) -> Any:
    """Distances of float32."""
    return fr.sssp(g, source, dtype="float32", parents=False)


def paths(g: fr.Graph, source: int) -> Any:
    """Distances of int64, with parents."""
    assert g.weights is not None
    return fr.sssp(g.cached("of integers", lambda: g.with_weights(g.weights.astype(np.int32))), source)


def ranks(g: fr.Graph, source: int) -> Any:
    """Ranks to 1e-4."""
    return fr.pagerank(g, tolerance=1e-4)


def plain(g: fr.Graph) -> fr.Graph:
    """The graph without its weights."""
    return g.cached("without weights", lambda: fr.Graph(g.offsets, g.targets, directed=False, check=False))


def by_max(values: Any) -> list[float]:
    """The sum over the maximum, which does not depend on the scale."""
    return [float(values.sum(dtype=np.float64) / (values.max() or 1))]


def reached(distance: Any) -> list[float]:
    """The sum of the distances of vertices that are reached, and their number."""
    far = np.inf if distance.dtype.kind == "f" else np.iinfo(distance.dtype).max
    near = distance[distance < far]
    return [float(near.sum(dtype=np.float64)), len(near)]


def maximal(g: fr.Graph, result: Any) -> bool:
    """Whether partners are each other's, and no edge is left whose ends have none."""
    partner, v = result.partner, np.flatnonzero(result.partner >= 0)
    free = partner < 0
    return bool((partner[partner[v]] == v).all() and not (free[g.sources] & free[g.targets]).any())


TASKS = (
    Task("bfs", {"BFS": fr.bfs}, fr.verify.bfs, lambda r: [(r.level >= 0).sum()]),
    Task(
        "sssp",
        {"SSSP, float32, distances": distances, "SSSP, int64 with parents": paths},
        fr.verify.sssp,
        lambda r: reached(r.distance),
    ),
    Task("pagerank_1e_4", {"PageRank to 1e-4": ranks}, fr.verify.pagerank, lambda r: by_max(r.rank), 1e-2),
    Task(
        "in_place",
        {"PageRank to 1e-4, others: ranks of the same iteration": ranks},
        fr.verify.pagerank,
        lambda r: by_max(r.rank),
        0.1,
    ),
    Task(
        "cc",
        {"connected components": lambda g, s: fr.connected_components(g)},
        fr.verify.connected_components,
        lambda r: [r.count],
    ),
    Task(
        "bc",
        {"betweenness, one source": lambda g, s: fr.betweenness(g, sources=[s])},
        fr.verify.betweenness,
        lambda r: by_max(r.centrality),
    ),
    Task(
        "louvain",
        {"Louvain": lambda g, s: fr.louvain(plain(g))},
        lambda g, r: fr.verify.louvain(plain(g), r),
        lambda r: [r.modularity],
        quality="modularity",
    ),
    Task(
        "leiden",
        {"Leiden": lambda g, s: fr.leiden(plain(g))},
        lambda g, r: fr.verify.leiden(plain(g), r),
        lambda r: [r.modularity],
        quality="modularity",
    ),
    Task(
        "matching",
        {"maximal matching": lambda g, s: fr.maximal_matching(g)},
        maximal,
        lambda r: [r.count],
        quality="edges",
    ),
    Task("bridges", {"bridges": lambda g, s: fr.bridges(g)}, lambda g, r: True, lambda r: [r.count]),
)


def library(system: System, primitive: str, source: int, calls: int) -> tuple[float, float]:
    """The milliseconds of the shortest call of a library, and what it counts of the result."""
    times: list[float] = []
    while len(times) < calls and max(times, default=0) < LONG:
        begun = time.perf_counter()
        check = getattr(system, primitive)(source)
        times.append(1000 * (time.perf_counter() - begun))
    return min(times), float(check())


def ours(task: Task, name: str, g: fr.Graph, source: int, calls: int) -> tuple[float, Any, bool]:
    """The milliseconds of the shortest call of Frontier, its result, and whether that is right."""
    times = []
    for _ in range(calls):
        begun = time.perf_counter()
        result = task.calls[name](g, source)
        times.append(1000 * (time.perf_counter() - begun))
    return min(times), result, bool(task.verify(g, result))


def theirs(system: System | Built, primitive: str, source: int, calls: int) -> tuple[float, float | None]:
    """The milliseconds of the shortest call of another system, and what it counts of the result."""
    if isinstance(system, Built):
        return system.run(primitive, source)
    return library(system, primitive, source, calls)


def knows(system: System | Built, primitive: str) -> bool:
    """Whether a system has a primitive."""
    return primitive in system.programs if isinstance(system, Built) else hasattr(system, primitive)


def measured(
    task: Task, g: fr.Graph, systems: dict[str, System | Built], given: argparse.Namespace
) -> Iterator[tuple[dict[str, Any], set[str]]]:
    """The rows of a task on a graph, and which systems were wrong."""
    others = {name: system for name, system in systems.items() if knows(system, task.primitive)}
    times: dict[str, list[float]] = {name: [] for name in (*task.calls, *others)}
    counts: dict[str, list[float]] = {name: [] for name in (*task.calls, *others)}
    wrong = set()
    sources = graphs.sources(g, given.sources, given.seed)
    for call in task.calls.values():
        for _ in range(given.warm):
            call(g, sources[0])
    for source in sources:
        found: dict[str, float | None] = {}
        for name, system in others.items():
            if max(times[name], default=0) < LONGEST:
                least, found[name] = theirs(system, task.primitive, source, given.calls)
                times[name].append(least)
        for name in task.calls:
            least, result, right = ours(task, name, g, source, given.calls)
            times[name].append(least)
            numbers = task.numbers(result)
            counts[name].append(float(numbers[0]))
            wrong |= set() if right else {"Frontier"}
        for name, count in found.items():
            counts[name] += [] if count is None else [count]
            near = count is None or task.quality or any(abs(count - x) <= task.close * abs(x) for x in numbers)
            wrong |= set() if near else {name}
    best = min((median(times[name]) for name in others), default=float("nan"))
    for title in task.calls:
        row = {"call": title, "Frontier": median(times[title]), **{name: median(times[name]) for name in others}}
        yield {**row, RATIO: best / row["Frontier"]}, wrong
        if task.quality:
            row = {"call": f"{title}, {task.quality}", "Frontier": median(counts[title])}
            yield {**row, **{name: median(counts[name]) for name in others if counts[name]}}, wrong


def opened(g: fr.Graph, files: Path, given: argparse.Namespace) -> dict[str, System | Built]:
    """The other systems that are there, each with the graph."""
    folders = {name: getattr(given, name.lower()) for name in BUILT}
    return {
        **{
            name: kind(folders[name], g, files, given.threads, given.calls, given.widths)
            for name, kind in BUILT.items()
            if folders[name]
        },
        **{name: kind(g, given.threads) for name, kind in LIBRARIES.items() if kind.version()},
    }


def parse(words: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in BUILT:
        parser.add_argument(f"--{name.lower()}", type=Path, metavar="FOLDER", help=f"with the programs of {name}")
    names = ["rmat:20", "urand:20", "road-NE", "web-cnr-2000", "grid:2048x2048"]
    parser.add_argument("--graphs", nargs="+", default=names, help=graphs.HELP)
    primitives = [task.primitive for task in TASKS]
    parser.add_argument("--only", nargs="+", default=primitives[:6], choices=primitives, metavar="PRIMITIVE")
    parser.add_argument("--sources", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1, help="of the sources")
    parser.add_argument("--calls", type=int, default=3, help="of each system, from each source")
    parser.add_argument("--warm", type=int, default=5, help="calls of Frontier before, which compile and prepare")
    parser.add_argument("--threads", type=int, default=fr.num_threads(), help="of each system")
    parser.add_argument("--widths", type=int, nargs="+", default=[2, 8, 32, 256], help="of buckets that others may use")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table as results/ has it")
    return parser.parse_args(words)


def printed(graph: str, row: dict[str, Any], wrong: set[str]) -> None:
    """Print a row when it is known."""
    cells = "".join(f" {name} {value:.4g}" for name, value in row.items() if name != "call")
    print(f"{graph}, {row['call']}:{cells}{f'  WRONG: {sorted(wrong)}' if wrong else ''}", flush=True)


def main(words: list[str] | None = None) -> int:
    """Measure and print a table; the exit status is 1 if a result was wrong."""
    given = parse(words)
    fr.set_num_threads(given.threads)
    table, fine = [], True
    for graph in given.graphs:
        try:
            g = graphs.load(graph)
        except graphs.Missing as missing:
            print(f"left out: {missing}")
            continue
        with tempfile.TemporaryDirectory() as files:
            systems = opened(g, Path(files), given)
            for task in TASKS:
                for row, wrong in measured(task, g, systems, given) if task.primitive in given.only else ():
                    printed(graph, row, wrong)
                    columns = dict.fromkeys(("Frontier", *systems, RATIO))
                    table.append({"graph": graphs.title(graph), "call": "", **columns, **row})
                    fine &= not wrong
    if given.json and table:
        versions = ", ".join(f"{name} {kind.version()}" for name, kind in LIBRARIES.items() if kind.version())
        note = (
            f"{given.threads} threads. One run, the systems in turn: medians over {given.sources} sources of the best "
            f"of {given.calls} calls, of one if it takes longer than a second. Copies that Frontier makes after some "
            f"calls were there. GAP, PASGAL, Wasp: distances of integers, the best of the widths "
            f"{', '.join(map(str, given.widths))} (PASGAL: the last, or rho stepping). {versions}."
        )
        Measurement.now("Frontier beside other systems, milliseconds", table, note=note).write(given.json)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
