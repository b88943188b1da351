"""A folder of Parquet files in one process, and on two workers of Dask and of Ray on this machine.

``python -m benchmarks.cluster`` writes the edges of an R-MAT graph to a temporary folder and prints the seconds that
reading, PageRank and components take: the least of a few calls, of which the first compiles. The results on workers are
compared with those of one process. Then a worker is killed during a run; ``lost`` is the time until the error. A
library that is not installed is left out with a line.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import frontier as fr
from benchmarks.measurement import Measurement

WORKERS = 2
#: Seconds into a run at which a worker is killed.
DELAY = 1.0
#: A cluster, and what kills its last worker.
Started = tuple[fr.Cluster, Callable[[], None]]


def write(folder: str, scale: int, edge_factor: int, files: int = 16) -> int:
    """Write the edges of a graph in random order, and return how many there are."""
    import pyarrow
    import pyarrow.parquet

    g = fr.rmat(scale, edge_factor, seed=1, directed=True)
    src, dst = np.asarray(g.sources), np.asarray(g.targets)
    for number, rows in enumerate(np.array_split(np.random.default_rng(1).permutation(len(src)), files)):
        table = pyarrow.table({"src": src[rows], "dst": dst[rows]})
        pyarrow.parquet.write_table(table, f"{folder}/part-{number:02}.parquet")
    return len(src)


@contextmanager
def on_dask() -> Iterator[Started]:
    """Workers of Dask."""
    import distributed

    with (
        distributed.LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None) as workers,
        distributed.Client(workers) as client,
        fr.cluster(client) as c,
    ):
        processes = client.run(os.getpid)
        yield c, lambda: os.kill(processes[max(processes)], signal.SIGKILL)


@contextmanager
def on_ray() -> Iterator[Started]:
    """Actors of Ray; here it is a rank that is killed."""
    import ray

    ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False)
    with fr.cluster(ray, WORKERS) as c:
        yield c, lambda: os.kill(c.processes[-1], signal.SIGKILL)
    ray.shutdown()


def least(call: Callable[[], Any], runs: int) -> tuple[Any, float]:
    """The last result of some calls, and the least seconds of one."""
    seconds = []
    for _ in range(runs):
        begun = time.perf_counter()
        found = call()
        seconds.append(time.perf_counter() - begun)
    return found, min(seconds)


def measured(read: Callable[..., fr.Graph], folder: str, runs: int) -> tuple[fr.Graph, list[Any], dict[str, Any]]:
    """The graph, the results, and the seconds of each."""
    g, reading = least(lambda: read(folder, directed=True), runs)
    ranks, ranking = least(lambda: fr.pagerank(g), runs)
    parts, searching = least(lambda: fr.connected_components(g), runs)
    return g, [np.asarray(ranks.rank), np.asarray(parts.label)], {
        "read": reading, "PageRank": ranking, "components": searching,
    }  # fmt: skip


def searches(g: fr.Graph) -> None:
    """Run until a worker is lost."""
    while True:
        fr.bfs(g, 0)


def seconds_to_error(c: fr.Cluster, kill: Callable[[], None], g: fr.Graph) -> float:
    """Kill a worker during a run, and return the seconds until the error."""
    timer = threading.Timer(DELAY, kill)
    begun = time.perf_counter()
    timer.start()
    try:
        c.run(searches, g)
    except fr.RanksError as error:
        print(f"  {error}")
        return time.perf_counter() - begun - DELAY
    raise SystemExit("a worker was killed, and the run has ended without an error")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.cluster", description=__doc__.split("\n\n")[0])
    parser.add_argument("--scale", type=int, default=20)
    parser.add_argument("--edge-factor", type=int, default=11)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table as results/ has it")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        edges = write(folder, given.scale, given.edge_factor)
        _, expected, seconds = measured(fr.read, folder, given.runs)
        rows: list[dict[str, Any]] = [{"workers": "one process", "start": None, **seconds, "lost": None}]
        print(rows[-1])
        for library, module, start in (("Dask", "distributed", on_dask), ("Ray", "ray", on_ray)):
            if importlib.util.find_spec(module) is None:
                print(f"{module} is not installed: its row is left out", file=sys.stderr)
                continue
            begun = time.perf_counter()
            with start() as (c, kill):
                starting = time.perf_counter() - begun
                g, found, seconds = measured(c.read, folder, given.runs)
                if not (np.allclose(found[0], expected[0], rtol=1e-9) and np.array_equal(found[1], expected[1])):
                    raise SystemExit(f"{library}: the results differ from those of one process")
                lost = seconds_to_error(c, kill, g)
            rows.append({"workers": f"{WORKERS} of {library}", "start": starting, **seconds, "lost": lost})
            print(rows[-1])
    if given.json:
        note = (
            f"{edges:,} edges of R-MAT {given.scale} in 16 files; the least of {given.runs} calls. One process uses "
            "all cores, each rank its share. start: cluster and ranks; lost: from the end of a worker to the error. "
            "Ranks read each row twice, to count and to build."
        )
        Measurement.now("A folder of Parquet files on workers of a cluster, seconds", rows, note=note).write(given.json)


if __name__ == "__main__":
    main()
