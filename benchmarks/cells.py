"""One cell of a table: a primitive on a graph, timed and verified as a protocol says."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import frontier as fr
from benchmarks.devices import Host
from benchmarks.gpu_graphs import Made, sources
from benchmarks.gpu_verify import Checker
from benchmarks.protocols import Protocol

PRIMITIVES = ("bfs", "sssp", "pagerank", "bc", "cc")
WITHOUT_SOURCE = ("pagerank", "cc")
#: PageRank stops here, as in the measured figures.
TOLERANCE = 1e-6
#: Of distances: as Gunrock and cuGraph compute them.
DTYPE = "float32"
Call = Callable[[fr.Graph, int], Any]


@dataclass
class Row:
    """What was measured; milliseconds by events on the device, except ``wall`` and ``first``."""

    graph: str
    primitive: str
    ms: float
    least: float
    most: float
    wall: float
    first: float
    sources: int
    verified: str
    variant: str = ""
    iterations: int = 0
    peak: float = math.nan  # bytes beyond the graph
    speeds: dict[str, float] = field(default_factory=dict)
    watts: float = math.nan
    gteps_per_watt: float = math.nan
    each: list[float] = field(default_factory=list)

    @property
    def unit(self) -> float:
        """The milliseconds that are compared: of one iteration, where there are several."""
        return self.ms / self.iterations if self.iterations else self.ms


class Bench:
    """A graph and how to measure on it.

    Parameters
    ----------
    seconds : float
        About how long the timed calls of a cell may take: then fewer runs, then fewer sources. The same again for
        verifying.
    """

    def __init__(
        self, device: Host, made: Made, protocol: Protocol, seed: int, seconds: float = 20.0, verify: bool = True
    ) -> None:
        self.device, self.made, self.protocol = device, made, protocol
        self.seconds, self.verify = seconds, verify
        self.checker = Checker(device.xp, made.graph)
        self.sources = sources(device.xp, made.graph, protocol.sources, seed)

    def measure(self, primitive: str, call: Call, variant: str = "", meter: Any = None) -> Row:
        """Time a call for every source, and verify what comes out."""
        device, protocol = self.device, self.protocol
        g = self.made.fresh()
        device.free()
        starts = self.sources[:8] if primitive in WITHOUT_SOURCE else self.sources
        begin = time.perf_counter()
        peak = device.peak(lambda: call(g, starts[0]))[1]
        first = (time.perf_counter() - begin) * 1e3
        if primitive in WITHOUT_SOURCE and not protocol.warm:
            call(g, starts[0])
        times: list[float] = []
        walls: list[float] = []
        edges: list[float] = []
        if primitive not in WITHOUT_SOURCE:
            self.checker.components()  # once for a graph; not within the time of a cell
        verdict = Verdict(self, primitive)
        began, iterations = time.perf_counter(), 0
        for source in starts:
            spent = time.perf_counter() - began - verdict.seconds
            if times and spent > 2 * self.seconds:
                break
            if protocol.warm:
                call(g, source)
            runs = [
                device.timed(lambda source=source: call(g, source))  # type: ignore[misc]
                for _ in range(1 if spent > self.seconds else protocol.runs)
            ]
            runs.sort(key=lambda run: run.device)
            middle = runs[len(runs) // 2]
            times.append(middle.device)
            walls.append(middle.wall)
            iterations = getattr(middle.result, "iterations", 0)
            verdict.on(middle.result, source)
            edges.append(self.edges(primitive, source, iterations))
            del runs, middle
        row = Row(
            self.made.name, primitive, protocol.time(times), min(times), max(times), protocol.time(walls), first,
            len(times), str(verdict), variant, iterations, peak, protocol.teps(edges, times), each=times,
        )  # fmt: skip
        if meter is not None:
            self._power(row, meter, lambda source: call(g, source), starts, edges)
        return row

    def edges(self, primitive: str, source: int, iterations: int) -> float:
        """Edges that count for edges a second."""
        made = self.made
        if primitive in WITHOUT_SOURCE:
            return float(made.graph.num_slots * max(iterations, 1))
        if not self.protocol.input_edges:
            return float(self.checker.reached(source))
        if made.input_degree is None:
            return self.checker.reached(source) / 2
        return float(self.checker.reached(source, made.input_degree))

    def _power(self, row: Row, meter: Any, call: Callable[[int], Any], starts: list[int], edges: list[float]) -> None:
        """Edges a second and watt, over a longer time."""
        starts = starts[: len(edges)]

        def work() -> None:
            for source in starts:
                call(source)
            self.device.wait()

        work()
        watts, times, elapsed = meter.watts(work, 3.0)
        row.watts, row.gteps_per_watt = watts, sum(edges) * times / elapsed / watts / 1e9


class Verdict:
    """Checks results while there is time; says in words what came of it."""

    def __init__(self, bench: Bench, primitive: str) -> None:
        self.bench, self.primitive = bench, primitive
        self.seconds, self.checked, self.all = 0.0, 0, 0
        self.wrong: list[str] = []

    def on(self, result: Any, source: int) -> None:
        """Check one result."""
        self.all += 1
        if not self.bench.verify or self.seconds > self.bench.seconds:
            return
        begin = time.perf_counter()
        found = self.bench.checker.check(self.primitive, result, source)
        self.wrong += [f"source {source}: {text}" for text in found]
        self.checked += 1
        self.bench.device.free()
        self.seconds += time.perf_counter() - begin

    def __str__(self) -> str:
        if self.wrong:
            return "WRONG: " + "; ".join(self.wrong[:3])
        return f"{self.checked} of {self.all}"


def call_of(primitive: str, schedule: fr.Schedule | None = None, prepared: bool = False) -> Call:
    """The shipped primitive as a call with a source; ``prepared`` for a graph when it is first called with that."""
    known: dict[fr.Graph, Any] = {}

    def of(function: Any, g: fr.Graph, *given: Any, **options: Any) -> Any:
        if not prepared:
            return function(g, *given, schedule=schedule, **options)
        if g not in known:
            known.clear()
            known[g] = function.prepare(g, schedule=schedule)
        return known[g](*given, **options)

    calls: dict[str, Call] = {
        "bfs": lambda g, source: of(fr.bfs, g, source),
        "sssp": lambda g, source: of(fr.sssp, g, source, dtype=DTYPE),
        "pagerank": lambda g, source: of(fr.pagerank, g, tolerance=TOLERANCE),
        "bc": lambda g, source: of(fr.betweenness, g, sources=[source]),
        "cc": lambda g, source: of(fr.connected_components, g),
    }
    return calls[primitive]
