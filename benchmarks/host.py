"""Time on the host: operators called by themselves, declared loops and a search, on a graph that is no work for anyone.

``python -m benchmarks.host`` gives microseconds a call. ``wall`` is by the host's clock, the median of five repeats;
``loop`` that of the loop functions alone: on a GPU of the kernels, by events in a queue which is kept busy while they
are launched. The rest is the ``host``'s: Python, CuPy, the driver and the wait. ``launches``: calls of loop functions.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import frontier as fr
from benchmarks.devices import Host, open_device
from benchmarks.measurement import Measurement
from frontier.memory import arrays

Case = tuple[Callable[[], Any], Callable[[Any], bool]]  # a call, and whether what it gives is right


def count(p, v):
    """Count the calls."""
    p.x[v] += 1


def even(p, v):
    """Keep every other one."""
    return v % 2 == 0


def visit(p, src, dst):
    """Go everywhere."""
    return True


class Counting(fr.Enactor):
    """As many passes as the scalar ``times`` says."""

    loop = fr.Loop(fr.Compute(count, over="vertices"), times="times")


def cases(g: fr.Graph) -> dict[str, Case]:
    """What is measured."""
    p = fr.Problem(g, x=fr.vertex("int64"), times=fr.scalar("int32", 0))
    f = fr.Frontier(g, [0, 1, 2])
    near = sorted({v for u, v in zip(*map(arrays.to_host, (g.sources, g.targets)), strict=True) if u < 3})
    loops = [Counting(fr.Problem(g, x=fr.vertex("int64"), times=fr.scalar("int32", n))) for n in (0, 1)]
    compute, keep, advance = fr.Compute(count), fr.Filter(even), fr.Advance(visit)
    return {
        "Compute": (lambda: compute(p, f), lambda r: r is f and p.x.tolist() == [int(p.x[0])] * 3 + [0] * 31),
        "Filter": (lambda: keep(p, f), lambda r: sorted(r) == [0, 2]),
        "Advance": (lambda: advance(p, f), lambda r: sorted(r) == near),
        "loop of no passes": (lambda: loops[0].run(), lambda r: not r.x.any()),
        "loop of one pass": (lambda: loops[1].run(), lambda r: bool((r.x == r.x[0]).all() and r.x[0] > 0)),
        "fr.bfs": (lambda: fr.bfs(g, 0), lambda r: bool(fr.verify.bfs(g, r))),
    }


def watched(device: Host, call: Callable[[], Any]) -> tuple[int, float]:
    """How many launches a call takes, and the microseconds within their loop functions."""
    module = importlib.import_module(f"frontier.backends.{device.backend}.execution")
    made = module.CudaExecution if device.backend == "cuda" else module.CpuExecution
    inner, times = made._call, []

    def timed(execution: Any) -> None:
        if device.backend != "cuda":
            times.append(device.timed(lambda: inner(execution)).wall)
            return
        kernel, events = execution._code.run, [device.xp.cuda.Event() for _ in range(2)]
        launch = kernel._launch
        kernel._launch = lambda *given: (device._keep_busy(), events[0].record(), launch(*given), events[1].record())
        inner(execution)
        kernel._launch = launch
        times.append(device.xp.cuda.get_elapsed_time(*events))

    made._call = timed
    call()
    made._call = inner
    return len(times), 1e3 * sum(times)


def measure(device: Host, case: Case, calls: int) -> dict[str, Any]:
    """The row of a case."""
    call, right = case
    correct, walls = right(call()), []  # the first call may compile
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        walls.append((time.perf_counter() - start) / calls * 1e6)
    launches, inside = map(statistics.median, zip(*(watched(device, call) for _ in range(21)), strict=True))
    row = {"wall": statistics.median(walls), "loop": inside, "launches": launches}
    return {**row, "host": row["wall"] - inside, "right": correct and right(call())}


def main() -> None:
    """Measure, print a table, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--calls", type=int, default=2000, help="calls of each of the five repeats")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table as results/ has it")
    arguments = parser.parse_args()
    device, rows = open_device(arguments.backend), {}
    print(f"{'microseconds a call':20} {'wall':>8} {'loop':>8} {'host':>8} {'launches':>9}")
    for name, case in cases(fr.karate().to(device.backend)).items():
        rows[name] = row = measure(device, case, arguments.calls)
        text = " ".join(f"{row[column]:8.1f}" for column in ("wall", "loop", "host"))
        print(f"{name:20} {text} {row['launches']:9g}{'' if row['right'] else '  WRONG'}", flush=True)
    if arguments.json:
        table = [{"call": name, **row} for name, row in rows.items()]
        subject = "Time of calls that do almost no work, microseconds"
        Measurement.now(subject, table, gpu=device.gpu).write(arguments.json)
    raise SystemExit(not all(row["right"] for row in rows.values()))


if __name__ == "__main__":
    main()
