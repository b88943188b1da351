"""The primitives beyond the five classics on one GPU, every result verified, beside targets and other systems.

``python -m benchmarks.gpu_catalogue [--graph kron21 ...] [--only color ...] [--seconds 600]`` measures those with a
target on the graphs of :mod:`benchmarks.gpu_graphs`, then closures of random graphs, then the others on R-MAT 20. A row
is the median of warm calls by the host's clock, until the device has nothing to do; the first call, which compiles and
derives what a graph keeps, is shown apart. Rows that no longer fit into the time are named.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import frontier as fr
from benchmarks import gpu_graphs, gpu_properties, gpu_rest, published
from benchmarks.devices import Host, open_device
from benchmarks.journal import Journal, supervise
from benchmarks.program import temporary

#: In the order in which they are measured.
TARGETED = (
    "maximal_independent_set", "color", "core_numbers", "triangles", "scc", "minimum_spanning_forest", "louvain",
)  # fmt: skip
CLOSURES = ("dense1024", "random32768", "random65536")
REST = "rmat:20"


class Given:
    """A graph of a name as each primitive wants it."""

    def __init__(self, name: str, device: Host) -> None:
        self.name, self.device = name, device
        self.made = gpu_graphs.make(name, device)

    def fresh(self, primitive: str) -> fr.Graph:
        """A graph that nothing has been derived for yet; directed or with weights where the primitive needs that."""
        g = self.made.graph
        if primitive == "scc":
            offsets, targets = self.directed
            return fr.Graph(offsets, targets, directed=True, placement=g.placement, check=False)
        weights = g.weights if primitive == "minimum_spanning_forest" else None
        return fr.Graph(g.offsets, g.targets, weights, directed=False, placement=g.placement, check=False)

    @cached_property
    def directed(self) -> tuple[Any, Any]:
        """Rows of the edges in the direction in which they are generated."""
        return gpu_graphs.as_generated(self.name, self.device)

    @cached_property
    def checker(self) -> gpu_properties.Properties:
        """What checks results."""
        return gpu_properties.Properties(self.device.xp, self.made.graph)

    def check(self, primitive: str, g: fr.Graph, result: Any) -> list[str]:
        """What is wrong with a result."""
        if primitive == "scc":
            return gpu_properties.strong(self.device.xp, g.offsets, g.targets, result)
        if primitive == "triangles":
            return self.checker.triangles(result, fr.triangles(g, per_vertex=True).per_vertex)
        wrong: list[str] = getattr(self.checker, primitive)(result)
        return wrong


CALLS: dict[str, Callable[[fr.Graph], Any]] = {
    "maximal_independent_set": lambda g: fr.maximal_independent_set(g),
    "color": lambda g: fr.color(g),
    "core_numbers": lambda g: fr.core_numbers(g),
    "triangles": lambda g: fr.triangles(g),
    "scc": lambda g: fr.strongly_connected_components(g),
    "minimum_spanning_forest": lambda g: fr.minimum_spanning_forest(g),
    "louvain": lambda g: fr.louvain(g),
}


class Bench:
    """Rows in a journal, until the time is up."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.device = _open(arguments.backend)
        self.journal = Journal(arguments.journal, arguments.resume or arguments.child)
        facts = self.journal.data["facts"]
        if not facts:
            facts = {**self.device.facts(), "until": time.time() + arguments.seconds}
            print(f"{facts['device']}; {facts['date']}, commit {facts['commit']}", flush=True)
            print(HEADER, flush=True)
        elif arguments.resume and not arguments.child:
            facts["until"] = time.time() + arguments.seconds
        self.until = facts["until"]
        self.journal.data["facts"] = facts
        self.journal.save()

    def wants(self, key: tuple[str, str]) -> bool:
        """Whether a row is asked for and not there yet; False, and a row that says so, if the time is up."""
        only = self.arguments.only
        if (only and key[1].split(":")[0] not in only) or self.journal.has(key):
            return False
        if time.time() < self.until:
            return True
        self.journal.add(key, skipped=True)
        return False

    def row(self, key: tuple[str, str], make: Callable[[], Any], call: Callable[[Any], Any], check: Any) -> None:
        """Measure and verify one; what goes wrong is a line, and the others go on."""

        def work() -> dict[str, Any]:
            g = make()
            row, result = timed(self.device, lambda: call(g), self.arguments.runs, self.arguments.cell_seconds)
            row["told"] = told(result)
            wrong, began = check(g, result) if self.arguments.verify else [], time.perf_counter()
            row["verified"] = "WRONG: " + "; ".join(wrong) if wrong else "yes" if self.arguments.verify else "-"
            row["check_seconds"] = time.perf_counter() - began
            print(line(key, row), flush=True)
            return row

        left = max(self.until - time.time(), 10)
        self.journal.attempt(key, work, self.device, min(self.arguments.timeout, left + 60))
        self.device.free()

    def measure(self) -> None:
        """All rows."""
        for name in self.arguments.graph:
            keys = [(name, primitive) for primitive in TARGETED]
            wanted = [key for key in keys if self.wants(key)]
            given = self.graph(name) if wanted else None
            for key in wanted if given else []:
                if self.wants(key):
                    self.targeted(key, given)
            del given
            self.device.free()
        for name in self.arguments.closures:
            for method in ("auto", "warshall", "squaring") if name.startswith("dense") else ("auto", "warshall"):
                self.closure((name, f"closure:{method}"), method)
            if name.startswith("dense"):
                self.serial((name, "closure:serial"))
        cases = gpu_rest.cases() if self.arguments.rest else {}
        wanted = [(self.arguments.rest, name) for name in cases if self.wants((self.arguments.rest, name))]
        graphs = gpu_rest.Graphs(self.arguments.rest, self.device) if wanted else None
        for key in wanted:
            if graphs is not None and self.wants(key):
                self.other(key, cases[key[1]], graphs)

    def targeted(self, key: tuple[str, str], given: Any) -> None:
        """One of those with a target."""
        primitive = key[1]
        self.row(key, lambda: given.fresh(primitive), CALLS[primitive], lambda g, r: given.check(primitive, g, r))

    def closure(self, key: tuple[str, str], method: str) -> None:
        """A transitive closure."""
        if not self.wants(key):
            return
        xp = self.device.xp
        self.row(
            key, lambda: random_directed(key[0], self.device),
            lambda g: fr.transitive_closure(g, method=method), lambda g, r: gpu_properties.closure(xp, g, r),
        )  # fmt: skip

    def serial(self, key: tuple[str, str]) -> None:
        """What the published method takes on one thread of the processor."""

        def check(g: fr.Graph, found: Any) -> list[str]:
            same = np.array_equal(fr.transitive_closure(g, reflexive=True).to_dense(), found)
            return [] if same else ["another closure"]

        if self.wants(key):
            g = random_directed(key[0], Host())
            self.row(key, lambda: g, gpu_rest.squared_serially, check)

    def other(self, key: tuple[str, str], case: gpu_rest.Case, graphs: gpu_rest.Graphs) -> None:
        """One of the rest, compared with the cpu backend."""
        self.row(key, lambda: graphs.there(case.graph), case.call, lambda g, r: graphs.check(case, r))

    def graph(self, name: str) -> Given | None:
        """A graph; None, with a row that says why, where it cannot be made."""
        kept: list[Given] = []

        def work() -> dict[str, Any]:
            kept.append(Given(name, self.device))
            print(kept[0].made, flush=True)
            return {}

        key = (name, "made")
        self.journal.data["rows"] = [row for row in self.journal.rows if tuple(row["key"]) != key]
        self.journal.attempt(key, work, self.device, self.arguments.timeout)
        return kept[0] if kept else None


def timed(device: Host, call: Callable[[], Any], runs: int, seconds: float) -> tuple[dict[str, Any], Any]:
    """The first call, and the median of warm ones as long as there is time."""
    first = device.timed(call)
    result = first.result
    walls: list[float] = []
    del first.__dict__["result"]
    began = time.perf_counter()
    while len(walls) < runs and (not walls or time.perf_counter() - began < seconds):
        del result
        again = device.timed(call)
        result = again.result
        walls.append(again.wall)
        del again
    walls.sort()
    middle = walls[len(walls) // 2]
    return {"ms": middle, "least": walls[0], "most": walls[-1], "first": first.wall, "runs": len(walls)}, result


def told(result: Any) -> dict[str, Any]:
    """The numbers of a result: counts, colours, modularities."""
    names = ("count", "degeneracy", "weight", "modularity", "levels", "pairs", "iterations", "value", "diameter")
    return {name: getattr(result, name) for name in names if isinstance(getattr(result, name, None), (int, float))}


def random_directed(name: str, device: Host) -> fr.Graph:
    """Random directed edges: half of all pairs (dense), or two for each vertex (random)."""
    n = int("".join(c for c in name if c.isdigit()))
    draw = np.random.default_rng(1)
    if name.startswith("dense"):
        src, dst = np.nonzero(draw.random((n, n)) < 0.5)
    else:
        src, dst = draw.integers(0, n, (2, 2 * n))
    made = fr.from_edges(src, dst, num_vertices=n, directed=True)
    return made.to(device.backend)


# -- tables ----------------------------------------------------------------------------------------

HEADER = (
    f"{'graph':12} {'primitive':26} {'ms':>10} {'least':>10} {'most':>10} {'first':>9} {'target':>8} {'x':>6}"
    f" {'best':>8}  verified"
)


def line(key: tuple[str, str], row: dict[str, Any]) -> str:
    """One line; x is how much of the target is taken."""
    name, primitive = key
    target, best = published.FURTHER.get(primitive.split(":")[0], {}).get(name, (None, None))
    text = f"{name:12} {primitive:26} {row['ms']:10.3f} {row['least']:10.3f} {row['most']:10.3f} {row['first']:9.0f}"
    text += f" {target:8g} {row['ms'] / target:6.2f}" if target else f" {'-':>8} {'':6}"
    text += f" {best:8g}" if best else f" {'-':>8}"
    text += f"  {row['verified']}"
    for what, number in row["told"].items():
        text += f"; {what} {number:,.4f}" if isinstance(number, float) else f"; {what} {number:,}"
    if primitive == "color" and name in published.COLOURS:
        text += f" (ECL {published.COLOURS[name]})"
    if primitive == "louvain" and name in published.MODULARITY:
        text += f" (nu-Louvain {published.MODULARITY[name]})"
    return text


def report(journal: Journal) -> int:
    """The rows again as a short table, then what is missing; 1 if anything failed or was wrong."""
    print(f"\n{HEADER}")
    bad = False
    for row in journal.rows:
        key, name = tuple(row["key"]), " ".join(row["key"])
        if "ms" in row:
            bad |= row["verified"].startswith("WRONG")
            print(line(key, row))
        elif "error" in row:
            bad = True
            print(f"FAILED {name}: {row['error'][:300]}")
    skipped = [" ".join(row["key"]) for row in journal.rows if row.get("skipped")]
    if skipped:
        print(f"no time for: {', '.join(skipped)}")
    return int(bad)


def _open(backend: str) -> Host:
    """The device; ``simulator`` is the cuda backend on NumPy arrays, with NUMBA_ENABLE_CUDASIM=1."""
    if backend != "simulator":
        return open_device(backend)
    device = Host()
    device.backend = "cuda"
    return device


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graph", nargs="*", default=["kron21", "rmat24", "urand23", "grid4096"], metavar="GRAPH",
                        help=gpu_graphs.HELP)  # fmt: skip
    parser.add_argument("--closures", nargs="*", default=list(CLOSURES), metavar="GRAPH", help=", ".join(CLOSURES))
    parser.add_argument("--rest", default=REST, help=f"graph for the primitives without a target (default: {REST})")
    parser.add_argument("--only", nargs="+", metavar="PRIMITIVE", help="as they are printed; closure for closures")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=540.0, help="for everything; what no longer fits is named")
    parser.add_argument("--cell-seconds", type=float, default=10.0, help="for the warm calls of a row; one at least")
    parser.add_argument("--timeout", type=float, default=180.0, help="seconds after which a row is given up")
    parser.add_argument("--verify", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--backend", choices=("cuda", "cpu", "simulator"), default="cuda")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table as results/ has it")
    parser.add_argument("--journal", type=Path, metavar="FILE", help="all that is known of a row, after each of them")
    parser.add_argument("--resume", action="store_true", help="leave out the rows that FILE has")
    parser.add_argument("--here", action="store_true", help="in this process, for a debugger or a profiler")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.journal = arguments.journal or temporary()
    return arguments


def main() -> int:
    """Measure in children, one after another while they die, and report."""
    arguments = parse()
    if not (arguments.resume or arguments.child):
        arguments.journal.unlink(missing_ok=True)
    if arguments.child or arguments.here:
        Bench(arguments).measure()
        if arguments.child:
            return 0
    else:
        supervise("benchmarks.gpu_catalogue", sys.argv[1:], arguments.journal)
    if not arguments.journal.exists():
        return 1
    journal = Journal(arguments.journal, keep=True)
    code = report(journal)
    print(arguments.journal)
    journal.write("Further primitives, milliseconds", arguments.json)
    return code


if __name__ == "__main__":
    sys.exit(main())
