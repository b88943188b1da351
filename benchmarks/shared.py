"""One prepared graph, opened by many processes of a host: what each of them adds to the memory that is in use.

``python -m benchmarks.shared [--scale 20] [--processes 16] [--json FILE]`` writes an R-MAT graph to a folder, lets each
process open it and search it, and reads its shares of memory when all have: *Pss* counts a page that k processes share
as a k-th for each. Linux only.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import frontier as fr
from benchmarks.measurement import Measurement
from frontier.memory.arrays import to_host


def memory() -> dict[str, float]:
    """Mebibytes of this process: resident, its part of what is shared, and what it has for itself."""
    lines = Path("/proc/self/smaps_rollup").read_text("utf-8").splitlines()[1:]
    kib = {name: int(rest.split()[0]) for name, rest in (line.split(":", 1) for line in lines)}
    return {name: round(kib[name] / 1024, 1) for name in ("Rss", "Pss", "Private_Dirty")}


def worker(path: str, source: int, ready: Any, results: Any) -> None:
    """Open the graph, search it, and say what memory that takes once all have."""
    fr.set_num_threads(1)
    begun = time.perf_counter()
    g = fr.open(path)
    opened = time.perf_counter()
    level = to_host(fr.bfs(g, source).level)
    searched = time.perf_counter()
    ready.wait()
    results.put((opened - begun, searched - opened, memory(), int(np.count_nonzero(level >= 0))))
    ready.wait()


def measured(path: str, processes: int) -> dict[str, Any]:
    """A row: seconds of the slowest process, and the memory of all together."""
    context = multiprocessing.get_context("spawn")
    ready, results = context.Barrier(processes), context.Queue()
    started = [context.Process(target=worker, args=(path, 0, ready, results)) for _ in range(processes)]
    for process in started:
        process.start()
    found = [results.get() for _ in started]
    for process in started:
        process.join()
    if len({reached for *_, reached in found}) != 1:
        raise AssertionError("processes have found different numbers of vertices")
    row: dict[str, Any] = {"processes": processes}
    row["open (s)"], row["search (s)"] = (round(max(each[i] for each in found), 2) for i in (0, 1))
    for name, what in (("Rss", "resident, largest (MiB)"), ("Private_Dirty", "own, largest (MiB)")):
        row[what] = max(each[2][name] for each in found)
    return row | {"all together (MiB)": round(sum(each[2]["Pss"] for each in found))}


def main() -> None:
    """Print a row for one process and one for many."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=int, default=20)
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/graph.frontier"
        fr.write(fr.rmat(given.scale, seed=1), path)
        size = sum(each.stat().st_size for each in Path(path).iterdir()) / 2**20
        rows = [measured(path, count) for count in (1, given.processes)]
    for row in rows:
        print(row)
    if given.json:
        subject = f"A graph of {size:.0f} MiB that several processes open and search: seconds and memory"
        Measurement.now(subject, rows).write(given.json)


if __name__ == "__main__":
    main()
