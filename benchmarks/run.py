"""The primitives on a few graphs, beside SciPy, networkit and igraph where they are installed.

``python -m benchmarks.run --help`` lists the options; README.md beside this file says what is measured.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import frontier as fr
from benchmarks import graphs
from benchmarks.measurement import Measurement, machine
from benchmarks.systems import SYSTEMS, Frontier, System

PRIMITIVES = ("bfs", "sssp", "pagerank_1e_4", "pagerank_1e_6", "cc", "bc")
# How far the number that a system reports may be from Frontier's; the tolerance of PageRank, elsewhere rounding.
CLOSE = {"pagerank_1e_4": 1e-2, "pagerank_1e_6": 1e-3}


@dataclass
class Row:
    """One system's time for one primitive on one graph, in milliseconds."""

    graph: str
    primitive: str
    system: str
    first: float
    median: float
    least: float
    most: float
    gteps: float
    agrees: bool
    ratio: float = math.nan  # of this median to Frontier's


def main() -> int:
    """Measure, print a table, write JSON; the exit status is 1 if any result was wrong."""
    arguments = parse()
    found = {name: SYSTEMS[name].version() for name in arguments.systems}
    print(f"{machine()}; {arguments.threads} threads")
    print("; ".join(f"{name} {version or 'is not installed'}" for name, version in found.items()), flush=True)
    chosen = [SYSTEMS[name] for name, version in found.items() if version]
    rows: list[Row] = []
    for name in arguments.graphs:
        try:
            g = graphs.load(name)
        except graphs.Missing as missing:
            print(f"\nleft out: {missing}")
            continue
        print(f"\n{name}: {g.num_vertices:,} vertices, {g.num_slots:,} edge slots", flush=True)
        for row in measure_graph(name, g, chosen, arguments):
            rows.append(row)
            print_row(row)
    if arguments.json and rows:
        versions = ", ".join(f"{name} {version}" for name, version in found.items() if version)
        note = f"{arguments.threads} threads; {arguments.runs} sources by seed {arguments.seed}; {versions}."
        subject, table = "Primitives beside other systems, milliseconds", [asdict(row) for row in rows]
        Measurement.now(subject, table, note=note).write(arguments.json)
    return 0 if all(row.agrees for row in rows) else 1


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", nargs="+", default=graphs.DEFAULT, metavar="GRAPH", help=graphs.HELP)
    parser.add_argument("--primitives", nargs="+", default=PRIMITIVES, choices=PRIMITIVES, metavar="PRIMITIVE")
    parser.add_argument("--systems", nargs="+", default=tuple(SYSTEMS), choices=tuple(SYSTEMS), metavar="SYSTEM")
    parser.add_argument("--runs", type=int, default=8, help="timed calls, each from another source")
    parser.add_argument("--threads", type=int, default=fr.num_threads(), help="of each system")
    parser.add_argument("--seed", type=int, default=1, help="of the sources")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table as results/ has it")
    return parser.parse_args()


def measure_graph(
    name: str, g: fr.Graph, chosen: list[type[System]], arguments: argparse.Namespace
) -> Iterator[Row]:
    """Every primitive by every system; one system's copy of the graph at a time."""
    sources = graphs.sources(g, arguments.runs, arguments.seed)
    reached = [graphs.edges_reached(g, source) for source in sources]
    expected: dict[str, list[float]] = {}
    medians: dict[str, float] = {}
    for kind in chosen:
        start = time.perf_counter()
        system = kind(g, arguments.threads)
        print(f"  {kind.name}: graph converted in {time.perf_counter() - start:.2f} s", flush=True)
        for primitive in arguments.primitives:
            if not hasattr(system, primitive):
                continue
            row, numbers = measure(system, primitive, sources)
            edges = reached if primitive in ("bfs", "sssp", "bc") else [g.num_slots]
            row.gteps = statistics.median(edges) / row.median / 1e6
            row.graph = name
            row.agrees &= _close(numbers, expected.setdefault(primitive, numbers), CLOSE.get(primitive, 1e-5))
            if kind is Frontier:
                medians[primitive] = row.median
            row.ratio = row.median / medians.get(primitive, math.nan)
            yield row


def measure(system: System, primitive: str, sources: list[int]) -> tuple[Row, list[float]]:
    """One primitive from every source; also the number that tells whether each result is right."""
    call = getattr(system, primitive)
    first, check = _timed(call, sources[0])
    agrees = True
    if isinstance(system, Frontier):
        agrees = bool(system.last())
    seconds, numbers = [], []
    for source in sources:
        elapsed, check = _timed(call, source)
        seconds.append(elapsed)
        numbers.append(float(check()))
    times = [x * 1e3 for x in (first, statistics.median(seconds), min(seconds), max(seconds))]
    return Row("", primitive, system.name, *times, gteps=0.0, agrees=agrees), numbers


def _timed(call: Any, source: int) -> tuple[float, Any]:
    start = time.perf_counter()
    check = call(source)
    return time.perf_counter() - start, check


def _close(numbers: list[float], expected: list[float], tolerance: float) -> bool:
    return all(math.isclose(a, b, rel_tol=tolerance) for a, b in zip(numbers, expected, strict=True))


def print_row(row: Row) -> None:
    """One line of the table, when it is known."""
    ratio = "" if math.isnan(row.ratio) else f"{row.ratio:6.2f} x"
    print(
        f"  {row.primitive:14} {row.system:10} {row.median:10.2f} ms  ({row.least:.2f} to {row.most:.2f}; "
        f"first {row.first:.1f})  {row.gteps:7.3f} GTEPS {ratio}{'' if row.agrees else '  WRONG'}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
