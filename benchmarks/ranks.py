"""Ranks with a GPU each, under mpirun: exchanges inside kernels, by NCCL and through the host, and one GPU, in one run.

``mpirun -n 2 python -m benchmarks.ranks rmat:22`` makes the graph in parts and as a whole with the same seed, and
compares results with those of one GPU, exactly or within rounding.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import frontier as fr
from frontier.distributed.transport import device_arrays
from frontier.distributed.transport.communicators import Processes, world
from frontier.memory import detection
from frontier.memory.arrays import to_host

__all__ = ["main"]

#: Name, call, the field that is compared, and how much it may differ.
PROGRAMS: list[tuple[str, Callable[[fr.Graph], Any], str, float]] = [
    ("bfs", lambda g: fr.bfs(g, _source(g)), "level", 0),
    ("sssp", lambda g: fr.sssp(g, _source(g)), "distance", 0),
    ("pagerank, 10 passes", lambda g: fr.pagerank(g, tolerance=0, max_iterations=10), "rank", 1e-4),
    ("components", fr.connected_components, "label", 0),
]

#: Whether exchanges are inside kernels; if not, whether by NCCL.
WAYS = ((1, 1), (0, 1), (0, 0))


def main() -> None:
    """Print a table on rank 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph", nargs="?", default="rmat:22", help="rmat:SCALE")
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args()
    scale, comm = int(given.graph.partition(":")[2]), world()
    os.environ["FRONTIER_RANKS_WHOLE"] = "0"
    begun = time.perf_counter()
    parts = fr.rmat(scale, 16, seed=5, weights=(1, 64), placement="ranks,cuda")
    made = time.perf_counter() - begun
    one = fr.rmat(scale, 16, seed=5, weights=(1, 64)).to(f"cuda:{comm.local}")
    if comm.rank == 0:
        print(f"{detection.device_name(comm.local)}, {comm.size} ranks, {given.graph}, {one.num_slots:,} edge slots")
        print(f"made in parts in {made:.1f} s; milliseconds, the best of {given.times}")
        print(f"{'':20} {'kernels':>9} {'NCCL':>9} {'host':>9} {'1 GPU':>9}  result")
    for name, call, field, near in PROGRAMS:
        found = [_measured(comm, way, call, parts, field, given.times) for way in WAYS]
        found.append(_measured(comm, WAYS[0], call, one, field, given.times))
        right = all(_alike(each, found[-1][1], near) for _, each in found)
        if comm.rank == 0:
            times = " ".join(f"{seconds * 1e3:9.2f}" for seconds, _ in found)
            print(f"{name:20} {times}  {'right' if right else 'WRONG'}", flush=True)


def _source(g: fr.Graph) -> int:
    return int(np.argmax(to_host(g.out_degree)))


def _measured(
    comm: Processes, way: tuple[int, int], call: Callable[[fr.Graph], Any], g: fr.Graph, field: str, times: int
) -> tuple[float, Any]:
    """Seconds of the slowest rank, and the result as a whole."""
    device_arrays.nccl.cache_clear()
    for name, value in zip(("FRONTIER_RANKS_IN_KERNELS", "FRONTIER_RANKS_NCCL"), way, strict=True):
        os.environ[name] = str(value)
    found = call(g)
    seconds = []
    for _ in range(times):
        comm.allgather(None)
        begun = time.perf_counter()
        found = call(g)
        seconds.append(max(comm.allgather(time.perf_counter() - begun)))
    return min(seconds), to_host(getattr(found, field))


def _alike(found: Any, expected: Any, near: float) -> bool:
    return bool(np.allclose(found, expected, rtol=near, atol=0) if near else np.array_equal(found, expected))


if __name__ == "__main__":
    main()
