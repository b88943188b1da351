"""``frontier warm``: compile the primitives for this machine, so that their first calls do not have to.

Each is run on small graphs of the kinds for which there are programs of their own: directed or not, a larger one, one
of short lists, with weights of int64, float32 and float64. What is compiled is kept in the cache on disk, for all later
processes.
"""

from __future__ import annotations

import argparse
import inspect
import os
import signal
import sys
import traceback
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier import registry
from frontier.cli.common import Commands, Stopwatch, UsageError, dump_json, print_table
from frontier.display.progress import Task
from frontier.errors import FrontierWarning, GraphError, NotConvergedError
from frontier.memory.arrays import to_host
from frontier.native import jit, prebuilt
from frontier.program.schedule import Schedule

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.registry import PrimitiveEntry

__all__ = ["Warmed", "add", "warmed"]

#: Scales of R-MAT graphs and sides of grids. On processors one thread runs the first alone, and several share the
#: others; on GPUs a few lanes take any list of the first, which is too long in the second.
SIZES = ((8, 12), (11, 82))


@dataclass(frozen=True)
class Warmed:
    """What came of one primitive on all graphs, or on one; ``error``: why it failed, or takes none of them."""

    primitive: str
    seconds: float
    compile_seconds: float
    error: str = ""


def add(commands: Commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "warm", help="compile the primitives, so that first calls are fast", description=__doc__
    )
    parser.add_argument("primitives", nargs="*", metavar="PRIMITIVE", help="which (default: all)")
    parser.add_argument("--backend", default="auto", help="cpu, cuda or cuda:N (default: a GPU if there is one)")
    parser.add_argument("--jobs", type=int, metavar="N", help="processes at a time (default: one for each core)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.set_defaults(command=warm)


def warm(arguments: argparse.Namespace) -> int:
    """Compile in processes side by side; print what took how long. The exit status is 1 if something failed."""
    known = registry.primitives()
    for name in arguments.primitives:
        if name not in known:
            raise UsageError(f"warm: there is no primitive {name!r}: {', '.join(known)}")
    jobs = arguments.jobs if arguments.jobs is not None else len(os.sched_getaffinity(0))
    if jobs < 1:
        raise UsageError(f"--jobs must be at least 1, not {jobs}")
    graphs = _graphs(arguments.backend)  # says now what is wrong with the backend, and compiles what makes graphs
    names, watch = arguments.primitives or [*known], Stopwatch()
    with Task("compiling", len(names) * len(graphs), "calls") as task:
        found = warmed(names, arguments.backend, jobs, task=task)
    failed = [each for each in found if each.error]
    if arguments.json:
        dump_json({"seconds": watch.seconds, "jobs": jobs, "primitives": found})
    else:
        rows = [[each.primitive, f"{each.compile_seconds:.1f}"] for each in found if each.compile_seconds > 0.05]
        print_table(("primitive", "s of compiling"), rows or [["none", "0.0"]])
        print(f"\n{len(found) - len(failed)} primitives in {watch.seconds:.1f} s, {jobs} at a time")
    for each in failed:
        print(f"frontier: {each.primitive}: {each.error}", file=sys.stderr)
    return 1 if failed else 0


def warmed(
    names: list[str], backend: str, jobs: int, initialize: Callable[[], None] | None = None, task: Task | None = None
) -> list[Warmed]:
    """Run primitives on every graph that they take, in processes which begin with a call of ``initialize``."""
    calls = [(name, backend, i) for i in range(len(_graphs(backend))) for name in names]
    found: dict[str, list[_Call]] = {name: [] for name in names}
    pool = ProcessPoolExecutor(min(jobs, len(calls)), get_context("spawn"), _begin, (initialize,))
    try:
        pending = {pool.submit(_called, *call): call[0] for call in calls}
        for done, made in enumerate(as_completed(pending), 1):
            error = made.exception()  # of the process
            call = made.result() if error is None else _Call(0.0, 0.0, error=f"{type(error).__name__}: {error}")
            found[pending[made]].append(call)
            if task is not None:
                task.at(done)
    finally:  # also on Ctrl-C
        pool.shutdown(wait=False, cancel_futures=True)
    return sorted((_together(name, parts) for name, parts in found.items()), key=lambda each: -each.compile_seconds)


@dataclass(frozen=True)
class _Call:
    """A primitive on one graph; ``refused``: why it does not take this one."""

    seconds: float
    compile_seconds: float
    refused: str = ""
    error: str = ""


def _together(name: str, calls: list[_Call]) -> Warmed:
    errors = [call.error for call in calls if call.error]
    if all(call.refused for call in calls):
        errors.append(calls[0].refused)
    seconds, compiling = (sum(getattr(call, what) for call in calls) for what in ("seconds", "compile_seconds"))
    return Warmed(name, round(seconds, 3), round(compiling, 3), errors[0] if errors else "")


def _begin(initialize: Callable[[], None] | None) -> None:
    """In a process of its own: all is compiled, for this machine, and nothing is said of that, nor of defaults."""
    import warnings

    os.environ["FRONTIER_QUIET"] = "1"
    warnings.simplefilter("ignore", FrontierWarning)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it
    prebuilt.ignore()
    jit.FEW = jit.ENOUGH = 0
    if initialize is not None:
        initialize()


@cache
def _graphs(backend: str) -> list[Graph]:
    """A graph of each kind for which there are programs of their own."""
    import frontier as fr

    made = [fr.from_edges([0, 0, 1, 2], [1, 2, 3, 3], weights=[1.0, 2.0, 1.0, 2.0], directed=True)]
    for scale, side in SIZES:
        for g, kinds in (
            (_with_hub(fr.rmat(scale, 16, seed=1, weights=(1, 9))), ("int32", "int64", "float32", "float64")),
            (_with_hub(fr.rmat(scale, 16, seed=1, weights=(1, 9), directed=True)), ("int64", "float64")),
            (fr.grid(side, side, weights=(1, 9), seed=1), ("int64", "float64")),
        ):
            weights = to_host(g.weights)
            made += [g.with_weights(None), *(g.with_weights(weights.astype(kind)) for kind in kinds)]
    for g in made[-1], made[1]:  # as graphs are made of arrays
        for given in (None, np.ones(g.num_slots, np.int64), np.ones(g.num_slots)):
            for directed in (False, True):
                fr.from_edges(g.sources, g.targets, given, directed=directed, duplicates="min")
    return [g.to(backend) for g in made]


def _with_hub(g: Graph) -> Graph:
    """The same graph with an edge between its first vertex and each other."""
    import frontier as fr

    src, dst, weights = map(to_host, (g.sources, g.targets, g.weights))
    once = slice(None) if g.directed else src <= dst
    others = np.arange(1, g.num_vertices)
    return fr.from_edges(
        np.append(src[once], 0 * others), np.append(dst[once], others), np.append(weights[once], 0 * others + 1),
        num_vertices=g.num_vertices, directed=g.directed, duplicates="min",
    )  # fmt: skip


def _called(name: str, backend: str, i: int) -> _Call:
    """Run a primitive on a graph, if it takes this."""
    g, entry = _graphs(backend)[i], registry.primitives()[name]
    watch, ran, refused, error = Stopwatch(), False, "", ""
    source, target = to_host(g.out_degree).argsort()[[-1, -2]].tolist()  # of whom a search reaches much
    for options in _options(entry, g, target):
        try:
            entry.function(g, *([source] if entry.takes_source else []), **options)
            g.placement.memory.synchronize()
            ran = True
        except (GraphError, NotConvergedError) as reason:
            refused = str(reason)
        except Exception:  # the others are compiled all the same
            error = f"{g}, {options}: {traceback.format_exc(limit=-3)}"
    seconds, compiling = watch.apart
    return _Call(seconds, compiling, "" if ran else refused, error)


def _options(entry: PrimitiveEntry, g: Graph, target: int) -> list[dict[str, Any]]:
    """The options of the calls: the defaults, with a target, by weights if there are any, on lists sorted by these."""
    found: list[dict[str, Any]] = [{}]
    for argument in entry.arguments:
        if argument.vertex:
            found.append({argument.name: target})
        elif argument.flag == "--weighted" and g.weights is not None:
            found += [{**options, argument.name: True} for options in found]
    if entry.needs_weights and "schedule" in inspect.signature(entry.function).parameters:  # for large graphs
        found += [{**options, "schedule": Schedule(order="by_weight")} for options in found]
    return found
