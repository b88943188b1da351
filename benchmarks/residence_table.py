"""The table of ``benchmarks.residence``, and how an iteration of PageRank is measured."""

from __future__ import annotations

import statistics
import time
from typing import Any

import numpy as np

import frontier as fr
from benchmarks.devices import Host
from frontier.memory.arrays import to_host

ITERATIONS = 5


class Table:
    """Lines that are printed as they come, and kept for JSON."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        print(f"{'part':6} {'what':42} {'ms':>10} {'MB':>9} {'GB/s':>7}  {'':}", flush=True)

    def add(self, part: str, what: str, ms: float, size: float = 0, note: str = "") -> None:
        """One line; ``size`` is in bytes."""
        rate = size / ms / 1e6 if size and ms else 0.0
        self.rows.append({"part": part, "what": what, "ms": ms, "bytes": size, "GB/s": rate, "note": note})
        shown = (f"{size / 1e6:.0f}", f"{rate:.1f}") if size else ("", "")
        print(f"{part:6} {what:42} {ms:10.3f} {shown[0]:>9} {shown[1]:>7}  {note}", flush=True)


def edge_bytes(g: fr.Graph) -> int:
    """Bytes of the far ends, plain or compressed."""
    return int(g._topology.ends.nbytes)


def iteration(g: fr.Graph, device: Host) -> tuple[float, Any]:
    """Milliseconds of one iteration of PageRank, and the ranks after the first ones."""

    def run(times: int) -> float:
        start = time.perf_counter()
        fr.pagerank(g, tolerance=0, max_iterations=times)
        device.wait()
        return (time.perf_counter() - start) * 1e3

    rank = to_host(ranks(g, ITERATIONS))
    run(1 + ITERATIONS)
    each = [(run(1 + ITERATIONS) - run(1)) / ITERATIONS for _ in range(3)]
    return statistics.median(each), rank


def ranks(g: fr.Graph, times: int) -> Any:
    """PageRank after so many iterations."""
    return fr.pagerank(g, tolerance=0, max_iterations=times).rank


def checked(found: Any, expected: Any, rtol: float = 1e-5) -> str:
    """What is said of a result: nothing is right that is not the same."""
    if np.allclose(to_host(found), to_host(expected), rtol=rtol, atol=1e-12):
        return "equal"
    return "WRONG"
