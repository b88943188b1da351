"""Several threads while other processes have the cores: how much slower they are than one thread.

``python -m benchmarks.busy`` starts processes that do nothing but compute (``--busy 4``), runs each primitive with one,
two and four threads in turns of a second, and prints the mean milliseconds of a call and, in brackets, how many times
that of one thread. (A process that has waited for others is preferred to them for a while, so in shorter turns each
number of threads would pay for the one before.) ``--busy 0`` measures on free cores. All results are verified, and
those of all numbers of threads are compared.
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import frontier as fr
from benchmarks.measurement import Measurement

Case = tuple[fr.Graph, Callable[[fr.Graph], np.ndarray], Callable[[fr.Graph, np.ndarray], bool]]


def hub(g: fr.Graph) -> int:
    """The vertex with the most edges."""
    return int(np.argmax(np.diff(g.offsets)))


def levels(source: Callable[[fr.Graph], int]) -> tuple[Any, Any]:
    """A breadth-first search."""
    return lambda g: fr.bfs(g, source(g)).level, lambda g, level: bool(fr.verify.bfs(g, fr.bfs(g, source(g))))


def cases() -> dict[str, Case]:
    """What is measured: a graph, a call that gives an array, and whether that is right."""
    first = levels(lambda g: 0)
    rmat = {scale: fr.rmat(scale, 16, seed=1) for scale in (14, 15, 16)}
    found: dict[str, Case] = {
        "bfs, path of 20,000": (fr.path(20_000), first[0], lambda g, level: bool((level == np.arange(20_000)).all())),
        "bfs, grid of 300 x 300": (fr.grid(300, 300), *first),
    }
    for scale, g in rmat.items():
        found[f"bfs, R-MAT {scale}"] = (g, *levels(hub))
    found["sssp, grid of 200 x 200"] = (
        fr.grid(200, 200, weights=(1, 100), seed=1),
        lambda g: fr.sssp(g, 0).distance,
        lambda g, distance: bool(fr.verify.sssp(g, fr.sssp(g, 0))),
    )
    found["pagerank, R-MAT 14"] = (
        rmat[14],
        lambda g: fr.pagerank(g).rank,
        lambda g, rank: bool(fr.verify.pagerank(g, fr.pagerank(g))),
    )
    found["diameter, grid of 120 x 120"] = (
        fr.grid(120, 120),
        lambda g: np.array([fr.diameter(g).diameter]),
        lambda g, length: length[0] == 238,
    )
    found["components, R-MAT 14"] = (
        rmat[14],
        lambda g: fr.connected_components(g).label,
        lambda g, label: bool(fr.verify.connected_components(g, fr.connected_components(g))),
    )
    return found


@contextmanager
def beside(count: int) -> Iterator[None]:
    """So many busy processes."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def measured(case: Case, counts: list[int], seconds: float, turn: float) -> dict[int, list[float]]:
    """Milliseconds of calls with each number of threads, in turns."""
    g, call, right = case
    times: dict[int, list[float]] = {count: [] for count in counts}
    expected = None
    for count in counts:
        fr.set_num_threads(count)
        found = call(g)
        expected = found if expected is None else expected
        if not np.allclose(found, expected, rtol=1e-6, atol=0) or not right(g, found):
            raise SystemExit(f"wrong with {count} threads")
    begun = time.monotonic()
    while time.monotonic() - begun < seconds:
        for count in random.sample(counts, len(counts)):
            fr.set_num_threads(count)
            end = time.monotonic() + turn
            while time.monotonic() < end:
                start = time.perf_counter()
                call(g)
                times[count].append((time.perf_counter() - start) * 1e3)
    return times


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.busy", description=__doc__.split("\n\n")[0])
    parser.add_argument("--busy", type=int, default=4, help="processes beside")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--seconds", type=float, default=12, help="of each row")
    parser.add_argument("--turn", type=float, default=1, help="seconds with one number of threads")
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table as results/ has it")
    given = parser.parse_args()
    rows = {}
    print(f"| {given.busy} processes beside | " + " | ".join(map(str, given.threads)) + " |")
    print("|---" * (1 + len(given.threads)) + "|")
    for name, case in cases().items():
        if given.only not in name:
            continue
        with beside(given.busy):
            times = measured(case, given.threads, given.seconds, given.turn)
        means = {count: statistics.fmean(each) for count, each in times.items()}
        one = means[given.threads[0]]
        cells = [f"{mean:.2f} ({mean / one:.2f})" for mean in means.values()]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
        rows[name] = means
    if given.json and rows:
        table = [{"call": name, **{f"{n} threads": x for n, x in means.items()}} for name, means in rows.items()]
        subject = f"Calls while {given.busy} processes compute beside them, mean, milliseconds"
        Measurement.now(subject, table).write(given.json)


if __name__ == "__main__":
    main()
