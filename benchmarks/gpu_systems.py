"""The primitives beside other systems on one GPU, in one run on the same graphs and sources.

``--ecl``, ``--gunrock``, ``--doublegraph`` and ``--blest`` name folders with the programs ``ecl``, ``gunrock``,
``doublegraph`` and ``blest``, built of ``gpu_programs/`` and the sources of these systems; one that is not given is
left out. Of each graph the others compute all that they can, then Frontier. Its results of the first source are
verified, and those of the others compared with them: what is wrong, or took too long, has no time. A row gives medians
over the sources, of the fastest variant that a system has.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import frontier as fr
from benchmarks import gpu_graphs, gpu_properties
from benchmarks.devices import Array, Host, open_device
from benchmarks.gpu_built import SYSTEMS, Outcome, run, write
from benchmarks.gpu_compared import compared
from benchmarks.graphs import Missing
from benchmarks.measurement import Measurement
from frontier.memory.arrays import to_host

__all__ = ["TASKS", "main"]

KINDS = ("Frontier", "Frontier, prepared")
RATIOS = ("best other / Frontier", "best other / prepared")
NOTES = "variants; what is not counted"
#: Graphs that systems with a long preparation take.
SMALL = ("kron21", "road-NE")


@dataclass(frozen=True)
class Task:
    """What is computed.

    Attributes
    ----------
    call : callable
        Of a primitive or a prepared one, what is given first, and a source.
    sourced, weighted : bool
        Whether it has a source, and wants weights.
    quality : str
        What of results may differ, and is a row too.
    """

    title: str
    function: Any
    call: Callable[[Any, tuple[Any, ...], int], Any] = lambda f, first, source: f(*first)
    sourced: bool = False
    weighted: bool = False
    quality: str = ""


TASKS = {
    "bfs": Task("BFS", fr.bfs, lambda f, first, source: f(*first, source), True),
    "sssp": Task("SSSP, float32", fr.sssp, lambda f, first, source: f(*first, source, dtype="float32"), True, True),
    "pagerank": Task("PageRank to 1e-6", fr.pagerank, lambda f, first, source: f(*first, tolerance=1e-6)),
    "cc": Task("connected components", fr.connected_components),
    "bc": Task("betweenness, one source", fr.betweenness, lambda f, first, source: f(*first, sources=[source]), True),
    "color": Task("colouring", fr.color, quality="colours"),
    "mis": Task("independent set", fr.maximal_independent_set, quality="vertices"),
    "mst": Task("spanning forest", fr.minimum_spanning_forest, weighted=True),
    "triangles": Task("triangles", fr.triangles),
    "louvain": Task("Louvain", fr.louvain, quality="modularity"),
    "scc": Task("strong components", fr.strongly_connected_components),
}


class Bench:
    """A graph, what is known of it, and its files.

    Parameters
    ----------
    files : Path
        An empty folder.
    """

    def __init__(self, name: str, device: Host, files: Path, given: argparse.Namespace) -> None:
        self.name, self.device, self.files, self.given = name, device, files, given
        self.made = gpu_graphs.make(name, device)
        self.graph = self.made.graph
        self.sources = gpu_graphs.sources(device.xp, self.graph, given.sources, given.seed)
        self.checker = gpu_properties.Properties(device.xp, self.graph)
        self.original: Array | None = None  # ids of the vertices when they are sorted

    @cached_property
    def directed(self) -> fr.Graph:
        """The edges in the direction in which they are generated."""
        offsets, targets = gpu_graphs.as_generated(self.name, self.device)
        return fr.Graph(offsets, targets, directed=True, placement=self.graph.placement, check=False)

    def fresh(self, name: str) -> fr.Graph:
        """A graph for a task that nothing has been derived for yet."""
        g, directed = (self.directed, True) if name == "scc" else (self.graph, False)
        weights = g.weights if TASKS[name].weighted else None
        return fr.Graph(g.offsets, g.targets, weights, directed=directed, placement=g.placement, check=False)

    # -- other systems ---------------------------------------------------------------------

    def others(self, system: str, program: Path) -> list[Outcome]:
        """What a system computes."""
        known, given = SYSTEMS[system], self.given
        tasks = [task for task in given.only if task in known.tasks]
        plans = [(order, [task for task in tasks if task != "scc"]) for order in known.orders]
        plans.append(("directed", [task for task in tasks if task == "scc"]))
        limits = (given.calls, 20.0, given.long) if known.slow else (given.calls, given.seconds, given.limit)
        found: list[Outcome] = []
        for order, wanted in plans:
            if wanted and given.left() > 0:
                sources, word = self.written(order), "sorted" if order == "sorted" else "plain"
                kept = str(program.with_name(f"{self.name}.order"))  # by BLEST
                found += run(program, self.files / order, word, wanted, sources, *limits, BLEST_ORDER=kept)
        for outcome in found:
            said = outcome.error or f"{outcome.ms:.4g} ms"
            print(f"  {system}, {outcome.task} {outcome.variant}: {said}", flush=True)
        return found

    def written(self, order: str) -> list[int]:
        """Write the graph in an order, if that has not been done; the sources in that order."""
        folder = self.files / order
        if order != "sorted":
            if not folder.exists():
                write(self.directed if order == "directed" else self.graph, folder)
            return self.sources
        g = self.graph.reordered("degree")
        self.original = g.vertices["original"]
        write(g, folder)
        self.device.free()
        new = np.argsort(to_host(self.original))
        return [int(new[source]) for source in self.sources]

    # -- Frontier --------------------------------------------------------------------------

    def ours(self, name: str, prepared: bool) -> tuple[float, Any, list[str]]:
        """The milliseconds of Frontier, its result from the first source, and what is wrong with it."""
        task, g, given = TASKS[name], self.fresh(name), self.given
        function, first = (task.function.prepare(g), ()) if prepared else (task.function, (g,))
        for _ in range(2):
            task.call(function, first, self.sources[0])
        times: list[float] = []
        begun = time.perf_counter()
        for source in self.sources if task.sourced else self.sources[:1]:
            spent = time.perf_counter() - begun
            if times and spent > given.seconds:
                break
            if task.sourced:
                task.call(function, first, source)
            calls = given.calls if spent < given.seconds / 2 else 1
            times.append(median(self.timed(task, function, first, source) for _ in range(calls)))
        result = task.call(function, first, self.sources[0])
        self.device.wait()
        return median(times), result, self.check(name, result)

    def timed(self, task: Task, function: Any, first: tuple[Any, ...], source: int) -> float:
        """The milliseconds of a call by events on the device."""
        return self.device.timed(lambda: task.call(function, first, source)).device

    def check(self, name: str, r: Any) -> list[str]:
        """What is wrong with a result of the first source."""
        if name == "scc":
            return gpu_properties.strong(self.device.xp, self.directed.offsets, self.directed.targets, r)
        if name == "triangles":
            return self.checker.triangles(r, fr.triangles(self.fresh(name), per_vertex=True).per_vertex)
        if TASKS[name].sourced or name in ("pagerank", "cc"):
            return self.checker.check(name, r, self.sources[0])
        wrong: list[str] = getattr(self.checker, TASKS[name].function.__name__)(r)
        return wrong

    # -- the table -------------------------------------------------------------------------

    def rows(self, name: str, found: dict[str, list[Outcome]]) -> Iterator[dict[str, Any]]:
        """The rows of a task."""
        task, notes, best = TASKS[name], [], float("inf")
        right: Any = None
        row: dict[str, Any] = {"graph": self.name, "call": task.title}
        other: dict[str, Any] = {"graph": self.name, "call": f"{task.title}, {task.quality}"}
        for kind in KINDS:
            row[kind], right, wrong = self.ours(name, kind != "Frontier")
            notes += [f"{kind} WRONG: {text}" for text in wrong]
        if task.quality:
            other["Frontier"] = float(right.modularity if name == "louvain" else right.count)
        if name == "pagerank":
            right = fr.pagerank(self.fresh(name), tolerance=1e-10)
        for system, outcome in ((s, t) for s, each in found.items() for t in sorted(each, key=lambda t: t.ms)):
            if outcome.task != name:
                continue
            original = self.original if "sorted" in outcome.file.parts else None
            failed = outcome.error or "" if outcome.times else outcome.error or "no time"
            wrong_there, quality = (failed, None) if failed else compared(self.checker, outcome, right, original)
            if wrong_there:
                notes.append(f"{system} {outcome.variant}: {wrong_there}"[:160])
            elif system not in row:
                row[system], other[system] = outcome.ms, quality
                notes.append(f"{system} {outcome.variant}")
                best = min(best, outcome.ms)
        if best < float("inf"):
            row.update({ratio: best / row[kind] for ratio, kind in zip(RATIOS, KINDS, strict=True)})
        yield {**row, NOTES: "; ".join(notes)}
        if task.quality:
            yield other


def measure(name: str, device: Host, given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The rows of a graph."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as files:
        bench = Bench(name, device, Path(files), given)
        print(f"{bench.made}; {given.left():.0f} s left", flush=True)
        found: dict[str, list[Outcome]] = {}
        for system, program in given.programs.items():
            device.free()
            if not SYSTEMS[system].slow or name in given.small:
                found[system] = bench.others(system, program)
        for task in given.only:
            device.free()
            try:
                if given.left() <= 0:
                    raise TimeoutError("no time left")
                yield from bench.rows(task, found)
            except Exception as error:  # the other rows are wanted all the same
                text = f"Frontier FAILED: {type(error).__name__}: {error}"[:300]
                yield {"graph": name, "call": TASKS[task].title, NOTES: text}


def parse(words: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in SYSTEMS:
        parser.add_argument(f"--{name.lower()}", type=Path, metavar="FOLDER", help=f"with the program of {name}")
    names = ["kron21", "road-NE", "grid4096", "urand23", "rmat24"]
    parser.add_argument("--graphs", nargs="+", default=names, metavar="GRAPH", help=gpu_graphs.HELP)
    parser.add_argument("--only", nargs="+", default=list(TASKS), choices=TASKS, metavar="TASK", help=", ".join(TASKS))
    parser.add_argument("--small", nargs="*", default=SMALL, metavar="GRAPH", help="those that BLEST may prepare")
    parser.add_argument("--sources", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1, help="of the sources")
    parser.add_argument("--calls", type=int, default=3, help="without a source, and of Frontier from each")
    parser.add_argument("--seconds", type=float, default=3.0, help="for the calls of a system, of a task; one at least")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds without a word until a program is ended")
    parser.add_argument("--long", type=float, default=150.0, help="the same of slow preparations")
    parser.add_argument("--total", type=float, default=3600.0, help="seconds after which nothing more is begun")
    parser.add_argument("--backend", choices=("cuda", "cpu"), default="cuda", help="cpu: NumPy, to try the program out")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table as results/ has it")
    given = parser.parse_args(words)
    until = time.monotonic() + given.total
    given.left = lambda: until - time.monotonic()
    folders = {name: getattr(given, name.lower()) for name in SYSTEMS}
    given.programs = {name: path.resolve() / name.lower() for name, path in folders.items() if path}
    return given


def main(words: list[str] | None = None) -> int:
    """Measure and print a table; the exit status is 1 if a result of Frontier was wrong or missing."""
    given = parse(words)
    device = open_device(given.backend)
    table: list[dict[str, Any]] = []
    columns = dict.fromkeys(("graph", "call", *KINDS, *given.programs, *RATIOS, NOTES))
    note = (
        f"One run: medians over {given.sources} sources, of {given.calls} calls without one; fewer if they take longer "
        f"than {given.seconds:g} s. By events: of Frontier and doubleGraph around calls, of ECL, Gunrock and BLEST as "
        "they measure themselves, without allocations and preparation. Frontier's searches and doubleGraph's shortest "
        "paths give parents too, the others numbers only. doubleGraph and Gunrock count triangles at each vertex, "
        "Frontier all of them. Gunrock's PageRank stops by the largest change; the loosest limit that was right counts."
    )
    for name in given.graphs:
        try:
            for row in measure(name, device, given):
                shown = (f"{key} {value:.4g}" if isinstance(value, float) else f"{value}" for key, value in row.items())
                print(f"  {', '.join(shown)}", flush=True)
                table.append({**columns, **row})
                if given.json:
                    subject = "Frontier beside other systems on one GPU, milliseconds"
                    Measurement.now(subject, table, gpu=device.gpu, note=note).write(given.json)
        except Missing as missing:
            print(f"left out: {missing}")
    return int(any(word in (row[NOTES] or "") for row in table for word in ("WRONG", "FAILED")))


if __name__ == "__main__":
    sys.exit(main())
