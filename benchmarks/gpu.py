"""The primitives on one GPU, every result verified, beside the measured figures of Gunrock and cuGraph.

``python -m benchmarks.gpu --help`` lists the options; README.md beside this file says what is measured.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import asdict
from typing import Any

import frontier as fr
from benchmarks import gpu_graphs, published
from benchmarks.cells import PRIMITIVES, Bench, Call, Row, call_of
from benchmarks.devices import open_device
from benchmarks.journal import Journal
from benchmarks.program import begin, meter_of, parser_of, prepare, run, settle
from benchmarks.protocols import describe

SUBJECT = "Primitives on a GPU, milliseconds"


def main() -> int:
    """Measure, print tables, write JSON; the exit status is 1 if anything failed or was wrong."""
    return run(parse(), "benchmarks.gpu", SUBJECT, measure, summary)


def parse() -> argparse.Namespace:
    """The command line."""
    parser = parser_of(__doc__, gpu_graphs.DEFAULT)
    parser.add_argument("--primitives", default=",".join(PRIMITIVES), help=f"of {','.join(PRIMITIVES)}")
    parser.add_argument("--schedule", default="", metavar="KEY=VALUE,...", help="a fr.Schedule for all of them")
    parser.add_argument("--prepared", action="store_true", help="time calls of what prepare() returns")
    parser.add_argument("--power", action="store_true", help="edges a second and watt too (needs nvidia-ml-py)")
    arguments = parser.parse_args()
    arguments.primitives = arguments.primitives.split(",")
    unknown = set(arguments.primitives) - set(PRIMITIVES)
    if unknown:
        parser.error(f"--primitives: {', '.join(sorted(unknown))}: choose from {', '.join(PRIMITIVES)}")
    return settle(arguments)


def measure(arguments: argparse.Namespace) -> None:
    """All cells that the journal does not have."""
    device = open_device(arguments.backend)
    journal = Journal(arguments.journal, arguments.resume)
    begin(journal, device, arguments)
    schedule = parsed_schedule(arguments.schedule)
    meter = meter_of(device) if arguments.power else None
    for name in arguments.graphs:
        keys = [(name, primitive) for primitive in arguments.primitives]
        if all(journal.has(key) for key in keys):
            continue
        bench = prepare(journal, device, name, arguments)
        if bench is None:
            continue
        print(HEADER, flush=True)
        for key in keys:
            call = call_of(key[1], schedule, arguments.prepared)
            journal.attempt(key, Cell(bench, key[1], call, meter), device, arguments.timeout)
        del bench
        device.free()


class Cell:
    """Work for the journal: measure a primitive, print its line."""

    def __init__(self, bench: Bench, primitive: str, call: Call, meter: Any) -> None:
        self.bench, self.primitive, self.call, self.meter = bench, primitive, call, meter

    def __call__(self) -> dict[str, Any]:
        row = self.bench.measure(self.primitive, self.call, meter=self.meter)
        print(line(row, self.bench.made.graph.num_vertices), flush=True)
        return asdict(row)


def parsed_schedule(text: str) -> fr.Schedule | None:
    """A schedule from ``key=value,...``."""
    if not text:
        return None
    pairs = (part.split("=", 1) for part in text.split(","))
    return fr.Schedule(**{key: _value(value) for key, value in pairs})


def _value(text: str) -> Any:
    if text in ("True", "False"):
        return text == "True"
    try:
        return float(text) if "." in text or "e-" in text else int(text)
    except ValueError:
        return text


# -- tables ----------------------------------------------------------------------------------------


HEADER = (
    f"  {'':9} {'ms':>9} {'least':>8} {'most':>8} {'wall':>9} {'first':>8} {'GTEPS':>8} {'B/vertex':>8}"
    f" {'target':>8} {'x':>5} {'Gunrock':>8} {'x':>6} {'cuGraph':>8} {'x':>6}  verified"
)


def line(row: Row, n: int) -> str:
    """One line, when it is known; PageRank: of one iteration beside Gunrock and the target, of all beside cuGraph."""
    figures = published.H200.get(row.primitive, {}).get(row.graph)
    room = f"{row.peak / n:8.1f}" if not math.isnan(row.peak) and n else f"{'-':>8}"
    text = (
        f"  {row.primitive:9} {row.ms:9.3f} {row.least:8.3f} {row.most:8.3f} {row.wall:9.3f} {row.first:8.0f}"
        f" {row.speeds.get('gteps', math.nan):8.3f} {room}"
    )
    if figures is None:
        text += " " * 47
    else:
        text += f" {_beside(figures.target, row.unit, True)} {_beside(figures.gunrock, row.unit)}"
        text += f" {_beside(figures.cugraph, row.ms)}"
    text += f"  {row.verified}"
    if row.iterations:
        text += f"; {row.iterations} iterations of {row.unit:.3f} ms"
    if not math.isnan(row.watts):
        text += f"; {row.watts:.0f} W, {row.gteps_per_watt:.3f} GTEPS/W"
    return text + (f"\n    {describe(row.speeds)}" if describe(row.speeds) else "")


def _beside(figure: float | None, own: float, target: bool = False) -> str:
    """A figure, and how many times faster Frontier is; of a target how much of it is taken."""
    width = 5 if target else 6
    if figure is None:
        return f"{'-':>8} {'':{width}}"
    return f"{figure:8.3f} {own / figure if target else figure / own:{width}.2f}"


def summary(journal: Journal) -> None:
    """The table of the targets: every primitive on every graph, time over target."""
    rows = {tuple(row["key"]): row for row in journal.rows if row["key"][-1] != "made"}
    names = list(dict.fromkeys(key[0] for key in rows))
    facts = journal.data["facts"]
    order = f"; vertices by {facts['order']}" if facts.get("order") else ""
    print(f"\nmilliseconds, and times the target (figures of one H200; here {facts.get('device', '?')}{order})")
    print(f"{'':10}" + "".join(f"{name:>20}" for name in names))
    for primitive in dict.fromkeys(key[1] for key in rows):
        cells = (_cell(rows.get((name, primitive)), primitive) for name in names)
        print(f"{primitive:10}" + "".join(f"{text:>20}" for text in cells))
    for primitive, name, graph, ms, what in published.ELSEWHERE:
        if rows.get((name, primitive), {}).get("graph") == name:
            print(f"published: {primitive} on {graph}, like {name}: {ms:g} ms ({what})")
    if any(key[0] == published.ENTERPRISE["graph"] for key in rows):
        print("\n".join(published.enterprise(journal.data["facts"])))
    for text in published.stops(rows):
        print(text)


def _cell(row: dict[str, Any] | None, primitive: str) -> str:
    if row is None:
        return "-"
    if "error" in row:
        return "FAILED"
    unit = row["ms"] / row["iterations"] if row["iterations"] else row["ms"]
    figures = published.H200.get(primitive, {}).get(row["graph"])
    mark = "" if figures is None else f" ({unit / figures.target:.2f})"
    return f"{unit:.3f}{mark}{' WRONG' if row['verified'].startswith('WRONG') else ''}"


if __name__ == "__main__":
    sys.exit(main())
