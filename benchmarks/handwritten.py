"""Three steps of Frontier beside kernels that are written by hand: merge-path push, bitmap pull, gather.

``python -m benchmarks.handwritten`` takes the levels of one search on kron21 and lets both do the same level from the
same state. The kernels are in ``handwritten.cu``. Every result is checked by array operations. Times are of the device,
the median of ``--runs``: by hand between events around calls sent while the device is busy; Frontier's by the trace,
which takes the device's own clock from the beginning of a step to its end, barriers and conversions of the frontier
included. (A call returns to Python after the step, which in a declared loop it does not.)
``push_queue`` makes the next queue only, ``push_scan`` also the prefix sum that the next push needs; ``pull`` takes the
time of making the bitmap of the frontier too, as Frontier's step has to.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import frontier as fr
from benchmarks.cells import Bench
from benchmarks.devices import Array, Cuda, Host, open_device
from benchmarks.gpu_brandes import expand, levels
from benchmarks.journal import Journal
from benchmarks.program import begin, parser_of, prepare, run, settle
from frontier.primitives.bfs import bfs_problem, unvisited, visit

CODE = Path(__file__).with_name("handwritten.cu")
THREADS = 512
#: Levels with fewer than this part of all edges are left out.
PART = 1000

SUBJECT = "Steps beside handwritten kernels, milliseconds"


def main() -> int:
    """Compare, print a table, write JSON; the exit status is 1 if anything failed or was wrong."""
    return run(settle(parser_of(__doc__, ("kron21",)).parse_args()), "benchmarks.handwritten", SUBJECT, measure, report)


def measure(arguments: Any) -> None:
    """All comparisons on all graphs."""
    device = open_device(arguments.backend)
    journal = Journal(arguments.journal, arguments.resume)
    begin(journal, device, arguments)
    kernels = Kernels(device) if isinstance(device, Cuda) else None
    for name in arguments.graphs:
        bench = prepare(journal, device, name, arguments)
        if bench is None:
            continue
        for key, cell in _cells(bench, kernels, arguments.runs or 21):
            journal.attempt((name, *key), cell, device, arguments.timeout)


def _cells(
    bench: Bench, kernels: Kernels | None, runs: int
) -> Iterator[tuple[tuple[str, str], Callable[[], dict[str, Any]]]]:
    xp, g = bench.device.xp, bench.made.fresh()
    print(f"  {'':13}{'':9} {'vertices':>10} {'edges':>12} {'found':>10} {'hand':>8} {'ours':>8} {'ours/hand':>9}")
    level, frontiers = levels(xp, g, bench.sources[0], bench.checker.chunk)
    for depth in range(len(frontiers) - 1):
        state = Level(xp, g, level, frontiers, depth)
        if state.edges >= g.num_slots / PART:
            for name in ("push_queue", "push_scan", "pull"):
                yield (name, f"level {depth}"), Advances(bench.device, kernels, state, name, runs)
    for name in ("gather_float", "gather_double"):
        yield (name, ""), Gathers(bench.device, kernels, g, name, runs)


def report(journal: Journal) -> None:
    """The slowest comparison of each kind."""
    rows = [row for row in journal.rows if row.get("ratio")]
    for name in dict.fromkeys(row["key"][1] for row in rows):
        worst = max((row for row in rows if row["key"][1] == name), key=lambda row: row["ratio"])
        print(f"{name}: {worst['ratio']:.2f} of the time by hand, at most ({' '.join(worst['key'])})")


class Kernels:
    """The module of hand-written kernels."""

    def __init__(self, device: Cuda) -> None:
        self.module = device.cupy.RawModule(code=CODE.read_text(), options=("-std=c++17",))
        self.processors = device.facts()["multiprocessors"]

    def __call__(self, name: str, *arguments: Any, blocks: int = 4) -> None:
        """Launch one, ``blocks`` for each multiprocessor; counts and ids are of 32 bits."""
        given = tuple(np.int32(x) if isinstance(x, int) else x for x in arguments)
        self.module.get_function(name)((self.processors * blocks,), (THREADS,), given)


def row_of(
    name: str, sizes: tuple[int, int, int], hand: tuple[float, list[str]], ours: tuple[float, list[str]]
) -> dict[str, Any]:
    """A row for the journal, and its line."""
    wrong = [f"by hand: {text}" for text in hand[1]] + [f"ours: {text}" for text in ours[1]]
    ratio = ours[0] / hand[0] if hand[0] else 0.0
    verified = "WRONG: " + "; ".join(wrong) if wrong else "right"
    vertices, edges, found = sizes
    text = f"{vertices:10,} {edges:12,} {found:10,} {hand[0]:8.4f} {ours[0]:8.4f} {ratio:9.2f}  {verified}"
    print(f"  {name:22} {text}", flush=True)
    return {
        "vertices": vertices, "edges": edges, "found": found, "hand_ms": hand[0], "ms": ours[0], "ratio": ratio,
        "verified": verified,
    }  # fmt: skip


def median(device: Host, runs: int, prepare: Callable[[], Any], call: Callable[[], Any]) -> tuple[float, Any]:
    """Median of the device's milliseconds, each run from the same state; the last result."""
    prepare()
    call()  # compiles
    times, result = [], None
    for _ in range(runs):
        prepare()
        timed = device.timed(call, ahead=True)
        times.append(timed.device)
        result = timed.result
    return statistics.median(times), result


def traced(runs: int, prepare: Callable[[], Any], call: Callable[[], Any]) -> tuple[float, Any]:
    """The same of a step, by the device's clock."""
    times, result = [], None
    for i in range(runs + 1):
        prepare()
        with fr.trace() as t:
            result = call()
        if i:  # the first compiles
            times.append(t.seconds * 1e3)
    return statistics.median(times), result


# -- one level of a search -------------------------------------------------------------------------


class Level:
    """The state of a search before the step from ``depth`` to the next level."""

    def __init__(self, xp: Any, g: fr.Graph, level: Array, frontiers: list[Array], depth: int) -> None:
        self.xp, self.g, self.depth = xp, g, depth
        self.queue = xp.sort(frontiers[depth]).astype(np.int32)
        self.new = xp.sort(frontiers[depth + 1]).astype(np.int32)
        degrees = (g.offsets[self.queue + 1] - g.offsets[self.queue]).astype(np.int64)
        ends = xp.cumsum(degrees)
        self.scan, self.edges = (ends - degrees).astype(np.int32), int(ends[-1])
        self.level = xp.where(level <= depth, level, -1).astype(np.int32)
        self.parent = xp.where(self.level >= 0, 0, -1).astype(np.int32)

    def wrong(self, queue: Array, level: Array, parent: Array) -> list[str]:
        """What is wrong with the vertices found, their levels, and their parents."""
        xp, found = self.xp, []
        if len(queue) != len(self.new) or not bool((xp.sort(queue) == self.new).all()):
            found.append(f"{len(queue):,} vertices found, {len(self.new):,} there are, or they are others")
        expected = self.level.copy()
        expected[self.new] = self.depth + 1
        if not bool((level == expected).all()):
            found.append("levels differ")
        child = xp.zeros(len(level), dtype=bool)
        for src, dst in expand(xp, self.g, self.queue, 1 << 25):
            child[dst[parent[dst] == src]] = True
        if not bool(child[self.new].all()):
            found.append("parents are no neighbours in the frontier")
        return found


class Advances:
    """One level by a hand-written kernel and by Frontier's step."""

    def __init__(self, device: Host, kernels: Kernels | None, state: Level, name: str, runs: int) -> None:
        self.device, self.kernels, self.state, self.name, self.runs = device, kernels, state, name, runs

    def __call__(self) -> dict[str, Any]:
        state = self.state
        sizes = (len(state.queue), state.edges, len(state.new))
        hand = self._by_hand(self.kernels) if self.kernels else (0.0, [])
        return row_of(f"{self.name} {state.depth}", sizes, hand, self._ours())

    def _by_hand(self, kernels: Kernels) -> tuple[float, list[str]]:
        state, xp, g = self.state, self.state.xp, self.state.g
        n, depth, edges = g.num_vertices, state.depth + 1, state.edges
        if g.num_slots >= 2**31:
            raise ValueError("the kernels take offsets of 32 bits")
        parent, level = state.parent.copy(), state.level.copy()
        total = xp.zeros(1, dtype=np.uint64)
        queue, scan = xp.empty(n, dtype=np.int32), xp.empty(n, dtype=np.int32)
        bits = [xp.zeros((n + 31) // 32, dtype=np.uint32) for _ in range(2)]

        def prepare() -> None:
            parent[:] = state.parent
            level[:] = state.level
            total.fill(0)
            bits[0].fill(0)

        def push() -> None:
            kernels(
                self.name, g.offsets, g.targets, state.queue, state.scan, len(state.queue), edges, parent, level,
                depth, queue, scan, total, blocks=3,
            )  # fmt: skip

        def pull() -> None:
            kernels("to_bitmap", state.queue, len(state.queue), bits[0])
            kernels("pull", g.offsets, g.targets, bits[0], n, parent, level, depth, bits[1], total)

        time, _ = median(self.device, self.runs, prepare, pull if self.name == "pull" else push)
        count, walked = int(total[0]) & 0xFFFFFFFF, int(total[0]) >> 32
        found = unpacked(xp, bits[1], n) if self.name == "pull" else queue[:count]
        wrong = state.wrong(found, level, parent)
        degrees = (g.offsets[found + 1] - g.offsets[found]).astype(np.int64)
        if len(found) != count or (self.name != "push_queue" and int(degrees.sum()) != walked):
            wrong.append(f"counted {count:,} vertices with {walked:,} edges")
        if self.name == "push_scan" and not bool((scan[:count] == xp.cumsum(degrees) - degrees).all()):
            wrong.append("the prefix sum is not that of the queue")
        return time, wrong

    def _ours(self) -> tuple[float, list[str]]:
        state = self.state
        p = bfs_problem(state.g, 0)
        p.depth = state.depth + 1
        push = fr.Schedule(direction="push", balance="merge_path")
        how = fr.Schedule(direction="pull") if self.name == "pull" else push
        step = fr.Advance(visit, where=unvisited, unique="claimed", schedule=how)
        frontier = fr.Frontier(state.g, state.queue)

        def prepare() -> None:
            p.parent[:] = state.parent
            p.level[:] = state.level

        time, found = traced(self.runs, prepare, lambda: step(p, frontier))
        return time, state.wrong(found.ids, p.level, p.parent)


def unpacked(xp: Any, words: Array, n: int) -> Array:
    """The ids of the bits that are set."""
    ids = xp.arange(n, dtype=np.int32)
    return ids[(words[ids >> 5] >> (ids & 31).astype(np.uint32) & np.uint32(1)) == 1]


# -- gather ----------------------------------------------------------------------------------------


def neighbour(p, src):  # type: ignore[no-untyped-def]
    """What lies at the other end."""
    return p.value[src]


class Gathers:
    """Sums over the neighbours of every vertex, by a hand-written kernel and by Frontier's step."""

    def __init__(self, device: Host, kernels: Kernels | None, g: fr.Graph, name: str, runs: int) -> None:
        self.device, self.kernels, self.g, self.name, self.runs = device, kernels, g, name, runs

    def __call__(self) -> dict[str, Any]:
        xp, g, n = self.device.xp, self.g, self.g.num_vertices
        dtype = np.dtype(np.float32 if self.name == "gather_float" else np.float64)
        value = (xp.arange(n, dtype=np.int64) * 2654435761 % 1009 / 1009.0).astype(dtype)
        expected = xp.zeros(n, dtype=np.float64)
        for src, dst in expand(xp, g, xp.arange(n, dtype=np.int64), 1 << 25):
            expected += xp.bincount(dst, weights=value[src].astype(np.float64), minlength=n)

        def wrong(result: Array) -> list[str]:
            off = xp.abs(result - expected) > (1e-4 if dtype.itemsize == 4 else 1e-9) * (1 + expected)
            return [f"{int(off.sum()):,} sums differ"] if bool(off.any()) else []

        hand: tuple[float, list[str]] = (0.0, [])
        kernels = self.kernels
        if kernels:
            sums = xp.empty(n, dtype=dtype)
            time, _ = median(
                self.device, self.runs, lambda: sums.fill(0),
                lambda: kernels(self.name, g.offsets, g.targets, value, n, sums),
            )  # fmt: skip
            hand = time, wrong(sums)
        p = fr.Problem(g, value=fr.vertex(str(dtype), value), sum=fr.vertex(str(dtype), combine="sum"))
        step = fr.Gather(neighbour, "sum", into="sum", over="vertices")
        time, _ = traced(self.runs, lambda: None, lambda: step(p, fr.Frontier(g, [0])))
        return row_of(self.name, (n, g.num_slots, n), hand, (time, wrong(p.sum)))


if __name__ == "__main__":
    sys.exit(main())
