"""``frontier bench``: how fast the primitives are on this machine, with results verified.

The graph is made and moved before the clock starts. The first call, which may compile, is listed separately, and then
the median over the sources, which all have degree 1 or more and are the same for every primitive. GTEPS is the number
of directed edges with a reached source, divided by the time, in 10**9 per second.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from frontier import registry
from frontier.cli import graphs
from frontier.cli.common import Commands, Stopwatch, UsageError, dump_json, print_table
from frontier.cli.run import add_running_arguments, place
from frontier.display.progress import Task
from frontier.memory.arrays import to_host
from frontier.program.taking import at_graph

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.registry import PrimitiveEntry

__all__ = ["add"]

GRAPHS = ("rmat:16", "grid:500x500")
PRIMITIVES = ("bc", "bfs", "cc", "pagerank", "sssp")
HEADER = ("graph", "primitive", "compile ms", "first ms", "median ms", "min ms", "max ms", "GTEPS", "verified")


def add(commands: Commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "bench", help="how fast the primitives are on this machine", description=__doc__
    )
    parser.add_argument(
        "primitives", nargs="*", metavar="PRIMITIVE", help=f"which (default: {', '.join(PRIMITIVES)})"
    )
    parser.add_argument(
        "--graph",
        action="append",
        dest="graphs",
        metavar="GRAPH",
        help=f"{graphs.HELP}; may be given again (default: {' and '.join(GRAPHS)})",
    )
    graphs.add_reading_arguments(parser)
    parser.add_argument(
        "--runs", type=int, default=8, metavar="N", help="timed runs of each (default: %(default)s)"
    )
    add_running_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.set_defaults(command=bench)


def bench(arguments: argparse.Namespace) -> int:
    """Measure, and print one row for each graph and primitive."""
    entries = _entries(arguments.primitives)
    if arguments.runs < 1:
        raise UsageError(f"--runs must be at least 1, not {arguments.runs}")
    rows, backend = [], ""
    for name in arguments.graphs or GRAPHS:
        arguments.graph = name
        weighted = any(entry.needs_weights for entry in entries)
        graph, backend = place(graphs.load(arguments, needs_weights=weighted), arguments)
        sources = pick_sources(graph, arguments.runs, arguments.seed)
        for entry in entries:
            with Task(f"{entry.name} on {name}"):
                rows.append({"graph": name, **measure(entry, graph, sources)})
    if arguments.json:
        dump_json({"backend": backend, "runs": arguments.runs, "rows": rows})
    else:
        print(f"backend {backend}; {arguments.runs} runs each\n")
        print_table(HEADER, [list(row.values()) for row in rows])
    return 0


def _entries(names: list[str]) -> list[PrimitiveEntry]:
    known = registry.primitives()
    for name in names:
        if name not in known:
            raise UsageError(f"bench: there is no primitive {name!r}: {', '.join(known)}")
    return [known[name] for name in names or PRIMITIVES]


def pick_sources(graph: Graph, count: int, seed: int) -> list[int]:
    """Sources with an out-edge, drawn by ``seed``; more than once each if there are too few."""
    import numpy as np

    candidates = np.flatnonzero(to_host(graph.out_degree))
    if len(candidates) == 0:
        raise UsageError("bench: the graph has no edges")
    chosen = np.random.default_rng(seed).choice(candidates, count, replace=len(candidates) < count)
    return [int(v) for v in chosen]


def measure(entry: PrimitiveEntry, graph: Graph, sources: list[int]) -> Mapping[str, Any]:
    """Time a primitive once for each source; verify the first result."""
    options = dict(entry.bench_options)
    watch = Stopwatch()
    result = _call(entry, graph, sources[0], options)
    first, compiling = watch.apart
    verify = entry.verifier()
    if verify is not None:
        verify(graph, result).raise_if_failed()
    seconds, speeds = [], []
    for source in sources:
        watch = Stopwatch()
        result = _call(entry, graph, source, options)
        seconds.append(watch.seconds)
        report = at_graph(entry.report)(graph, result) if entry.report else {}
        speeds.append(report.get("slots", graph.num_slots) / seconds[-1] / 1e9)
    return {
        "primitive": entry.name,
        "compile_ms": compiling * 1e3,
        "first_ms": first * 1e3,
        "median_ms": statistics.median(seconds) * 1e3,
        "min_ms": min(seconds) * 1e3,
        "max_ms": max(seconds) * 1e3,
        "gteps": statistics.median(speeds),
        "verified": verify is not None,
    }


def _call(entry: PrimitiveEntry, graph: Graph, source: int, options: dict[str, Any]) -> Any:
    positional = [source] if entry.takes_source else []
    result = entry.function(graph, *positional, **options)
    graph.placement.memory.synchronize()
    return result
