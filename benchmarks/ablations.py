"""What each choice of a schedule is worth: one table for each question, every result verified.

``python -m benchmarks.ablations --groups balance,switch --graphs kron21 road-NE``. A variant whose schedule this
version does not know is left out, with the reason. Beside a time stands that time over the group's first variant's.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import frontier as fr
from benchmarks.cells import Bench, Call, call_of
from benchmarks.devices import open_device
from benchmarks.journal import Journal, Key
from benchmarks.program import begin, parser_of, prepare, run, settle
from frontier.errors import FrontierError
from frontier.primitives.bfs import bfs_problem

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
BALANCES = ("thread", "block", "twc", "merge_path", "degree_classes")
POWER_LAW = ("kron21", "rmat24", "urand23")
LONG = ("grid4096", "road-NE")


@dataclass(frozen=True)
class Variant:
    """A schedule by its arguments, and a program if it is not the shipped primitive."""

    label: str
    schedule: dict[str, Any] = field(default_factory=dict)
    program: Callable[[fr.Graph, int, fr.Schedule], Any] | None = None

    def call(self, primitive: str) -> Call:
        """The call to time; FrontierError or TypeError where the schedule is not known."""
        schedule, program = fr.Schedule(**self.schedule), self.program
        if program is None:
            return call_of(primitive, schedule)
        return lambda g, source: program(g, source, schedule)


@dataclass(frozen=True)
class Group:
    """Variants that answer one question."""

    question: str
    graphs: tuple[str, ...]
    variants: tuple[Variant, ...]
    primitives: tuple[str, ...] = ("bfs",)
    note: str = ""


# -- programs of our own ---------------------------------------------------------------------------


def mark(p, src, dst):  # type: ignore[no-untyped-def]
    """Without atomics: several may mark dst in one step, and all write the same level."""
    if p.level[dst] == -1:
        p.level[dst] = p.depth
        p.parent[dst] = src
        return True
    return False


def unmarked(p, dst):  # type: ignore[no-untyped-def]
    """Not reached by an earlier step."""
    return p.level[dst] == -1


class Exact(fr.Enactor):
    """A search whose duplicates the step removes."""

    loop = fr.Loop(fr.Advance(mark, where=unmarked, unique="exact"), over="source", count="depth")


class Culled(fr.Enactor):
    """The same, where some duplicates may stay."""

    loop = fr.Loop(fr.Advance(mark, where=unmarked, unique="cull"), over="source", count="depth")


def _search(kind: type[fr.Enactor]) -> Callable[[fr.Graph, int, fr.Schedule], Any]:
    def search(g: fr.Graph, source: int, schedule: fr.Schedule) -> Any:
        p = bfs_problem(g, source)
        kind(p, schedule).run()
        return p

    return search


@cache
def example(name: str) -> Any:
    """A module of the examples."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tutorial(g: fr.Graph, source: int, schedule: fr.Schedule) -> Any:
    """The declared search of examples/bfs.py."""
    module = example("bfs")
    p = module.problem(g, source)
    module.Search(p, schedule).run()
    return p


def relax(p, src, dst, weight):  # type: ignore[no-untyped-def]
    """Offer dst a shorter way through src."""
    new = p.distance[src] + weight
    return new < p.distance[dst] and new < fr.atomic_min(p.distance, dst, new)


class Ordered(fr.Enactor):
    """Shortest paths as the documentation has them."""

    loop = fr.Loop(fr.Advance(relax), order=fr.by("distance", delta="auto"), over="source")


def ordered(g: fr.Graph, source: int, schedule: fr.Schedule) -> Any:
    """The loop that is typed in from the documentation."""
    p = fr.Problem(g, distance=fr.vertex("float64", math.inf, combine="min"), source=fr.scalar("int64", source))
    p.distance[source] = 0
    Ordered(p, schedule).run()
    return SimpleNamespace(source=source, distance=p.distance, parent=None)


def distances(g: fr.Graph, source: int, schedule: fr.Schedule) -> Any:
    """The shipped search for distances alone."""
    return fr.sssp(g, source, parents=False, schedule=schedule)


def by_width(width: float) -> Callable[[fr.Graph, int, fr.Schedule], Any]:
    """The same with a first width of the limit."""
    return lambda g, source, schedule: fr.sssp(g, source, parents=False, delta=width, schedule=schedule)


# -- the table -------------------------------------------------------------------------------------


_TS = {"queue": "scan", "balance": "block"}
_WB = {"queue": "scan", "balance": "degree_classes"}
GROUPS = {
    "balance": Group(
        "how a push shares its edges",
        (*POWER_LAW, *LONG),
        (
            Variant("auto", {"direction": "push"}),
            *(Variant(name, {"direction": "push", "balance": name}) for name in BALANCES),
        ),
    ),
    "switch": Group(
        "when a search turns to pull",
        (*POWER_LAW, "road-NE"),
        (
            Variant("beamer"),
            Variant("beamer, alpha 4", {"alpha": 4.0}),
            Variant("beamer, alpha 60", {"alpha": 60.0}),
            Variant("beamer, beta 72", {"beta": 72.0}),
            Variant("gunrock", {"switch": "gunrock"}),
            Variant("gunrock .01 .1", {"switch": "gunrock", "do_a": 0.01, "do_b": 0.1}),
            Variant("gunrock 1 1e-4", {"switch": "gunrock", "do_a": 1.0, "do_b": 1e-4}),
            Variant("hubs", {"switch": "hubs"}),
            Variant("push only", {"direction": "push"}),
            Variant("pull only", {"direction": "pull"}),
        ),
    ),
    "enterprise": Group(
        "Enterprise's techniques one by one, as in its figure 13, but from another baseline",
        ("Kron-20-512", "kron21", "rmat24"),
        (
            Variant("queue, block", {"queue": "append", "balance": "block"}),
            Variant("TS", _TS),
            Variant("TS+WB", _WB),
            Variant("TS+WB+HC", {**_WB, "switch": "hubs", "hub_cache": True}),
            Variant("WB, appended", {"queue": "append", "balance": "degree_classes"}),
            Variant("HC without cache", {**_WB, "switch": "hubs", "hub_cache": False}),
            Variant("defaults"),
        ),
        note="Enterprise's BL has no queue: a status array, and a block of threads for each vertex. There is no such "
        "schedule here. In its place stands a queue made by appending, whose vertices' edges the threads of a block "
        "share; so what TS gains on it cannot be compared with the 2 to 37.5 times that Enterprise reports.",
    ),
    "fuse": Group(
        "one function for the loop, or a return to Python after every step",
        ("kron21", *LONG),
        (Variant("fused"), Variant("unfused", {"fuse": False})),
        ("bfs", "sssp", "bc"),
    ),
    "duplicates": Group(
        "what removes duplicates",
        ("kron21", "urand23", "road-NE"),
        (
            Variant("claimed (fr.bfs)", {"direction": "push"}),
            Variant("exact, claim", {"direction": "push", "dedup": "claim"}, _search(Exact)),
            Variant("exact, bitmap", {"direction": "push", "dedup": "bitmap"}, _search(Exact)),
            Variant("culling", {"direction": "push"}, _search(Culled)),
            Variant("exact, both ways", {}, _search(Exact)),
            Variant("culling, both ways", {}, _search(Culled)),
        ),
    ),
    "tutorial": Group(
        "a user's functor in a declared loop beside the shipped primitive",
        (*POWER_LAW, *LONG),
        (
            Variant("fr.bfs"),
            Variant("tutorial", {}, tutorial),
            Variant("fr.bfs, push", {"direction": "push"}),
            Variant("tutorial, push", {"direction": "push"}, tutorial),
        ),
    ),
    "order": Group(
        "an ordered loop typed in beside the shipped primitive, and how the order is kept",
        (*POWER_LAW, *LONG),
        (
            Variant("fr.sssp, distances", {}, distances),
            Variant("typed in", {}, ordered),
            Variant("near and far", {"order": "near_far"}, distances),
            Variant("sliding", {"order": "sliding"}, distances),
            *(Variant(f"first width {width}", {}, by_width(width)) for width in (4, 8, 16, 32)),
        ),
        ("sssp",),
    ),
}

SUBJECT = "The effect of single choices of a schedule, milliseconds"


def main() -> int:
    """Measure, print tables, write JSON; the exit status is 1 if anything failed or was wrong."""
    parser = parser_of(__doc__, ())
    parser.add_argument("--groups", default=",".join(GROUPS), help=f"of {','.join(GROUPS)}")
    arguments = settle(parser.parse_args())
    arguments.groups = arguments.groups.split(",")
    unknown = set(arguments.groups) - set(GROUPS)
    if unknown:
        parser.error(f"--groups: {', '.join(sorted(unknown))}: choose from {', '.join(GROUPS)}")
    return run(arguments, "benchmarks.ablations", SUBJECT, measure, report)


def measure(arguments: argparse.Namespace) -> None:
    """All variants that the journal does not have; each graph is made once."""
    device = open_device(arguments.backend)
    journal = Journal(arguments.journal, arguments.resume)
    begin(journal, device, arguments)
    groups = [GROUPS[name] for name in arguments.groups]
    named = dict.fromkeys(name for group in groups for name in group.graphs)
    for name in arguments.graphs or named:
        cells = [
            ((name, of, primitive, variant.label), variant)
            for of in arguments.groups
            if arguments.graphs or name in GROUPS[of].graphs
            for primitive in GROUPS[of].primitives
            for variant in GROUPS[of].variants
        ]
        if all(journal.has(key) for key, _ in cells):
            continue
        bench = prepare(journal, device, name, arguments)
        if bench is None:
            continue
        for key, variant in cells:
            journal.attempt(key, Cell(bench, key, variant), device, arguments.timeout)
        del bench
        device.free()


class Cell:
    """Work for the journal: one variant, and its line."""

    def __init__(self, bench: Bench, key: Key, variant: Variant) -> None:
        self.bench, self.key, self.variant = bench, key, variant

    def __call__(self) -> dict[str, Any]:
        _, group, primitive, label = self.key
        try:
            call = self.variant.call(primitive)
        except (FrontierError, TypeError) as error:
            print(f"  {group:11} {primitive:5} {label:20} not there: {error}", flush=True)
            return {"absent": str(error)}
        row = self.bench.measure(primitive, call, label)
        speed = row.speeds["gteps"]
        print(f"  {group:11} {primitive:5} {label:20} {row.ms:10.3f} ms {speed:9.3f} GTEPS  {row.verified}", flush=True)
        return asdict(row)


def report(journal: Journal) -> None:
    """A table for each group: graphs across, variants down, times and ratios to the first variant."""
    rows = {tuple(row["key"]): row for row in journal.rows if len(row["key"]) == 4}
    for name, group in GROUPS.items():
        for primitive in group.primitives:
            graphs = list(dict.fromkeys(key[0] for key in rows if key[1:3] == (name, primitive)))
            if not graphs:
                continue
            print(f"\n{name}, {primitive}: {group.question}; milliseconds, over the first")
            print(f"{'':20}" + "".join(f"{graph:>22}" for graph in graphs))
            for variant in group.variants:
                cells = (_cell(rows, graph, name, primitive, variant.label, group) for graph in graphs)
                print(f"{variant.label:20}" + "".join(f"{text:>22}" for text in cells))
            if group.note:
                print(group.note)


def _cell(rows: dict[Key, dict[str, Any]], graph: str, name: str, primitive: str, label: str, group: Group) -> str:
    row = rows.get((graph, name, primitive, label), {"absent": ""})
    first = rows.get((graph, name, primitive, group.variants[0].label), {})
    if "absent" in row:
        return "not there" if row["absent"] else "-"
    if "error" in row:
        return "FAILED"
    ratio = f" ({row['ms'] / first['ms']:.2f})" if "ms" in first else ""
    return f"{row['ms']:.3f}{ratio}{' WRONG' if row['verified'].startswith('WRONG') else ''}"


if __name__ == "__main__":
    sys.exit(main())
