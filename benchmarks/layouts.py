"""Layouts of graphs of 100,000 vertices: seconds, CPU seconds, and how good they are.

``python -m benchmarks.layouts`` measures second calls, in which everything is compiled. The quality is the rank
correlation of distances in the layout and in the graph, from 30 vertices.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import frontier as fr
from benchmarks.measurement import Measurement

GRAPHS: dict[str, Callable[[], fr.Graph]] = {
    "grid 316 x 316": lambda: fr.grid(316, 316),
    "path": lambda: fr.path(100_000),
    "star": lambda: fr.star(100_000),
    "small world, 10 neighbours, 0.1 far": lambda: fr.small_world(100_000, 10, 0.1, seed=1),
    "R-MAT 17, 16 edges a vertex": lambda: fr.rmat(17, 16, seed=1),
}


def measured(name: str) -> dict[str, Any]:
    """Lay out one of the graphs."""
    g = GRAPHS[name]()
    fr.layout(g, iterations=1)
    before = time.perf_counter(), time.process_time()
    position = fr.layout(g).position
    seconds, cpu = time.perf_counter() - before[0], time.process_time() - before[1]
    return {
        "graph": name, "vertices": g.num_vertices, "edges": g.num_edges, "seconds": round(seconds, 2),
        "CPU seconds": round(cpu, 2), "correlation": round(quality(g, position), 3),
    }  # fmt: skip


def quality(g: fr.Graph, position: Any, sources: int = 30) -> float:
    """The rank correlation of distances, over what is reached from some vertices."""
    chosen = np.random.default_rng(0).choice(np.flatnonzero(g.out_degree), sources, replace=False)
    hops = fr.bfs_many(g, chosen).level
    distance = np.linalg.norm(position[chosen][:, None] - position, axis=2)
    ranks = [_ranks(values[hops > 0]) for values in (hops, distance)]
    return float(np.corrcoef(*ranks)[0, 1])


def _ranks(values: Any) -> Any:
    """The rank of each value; equal ones share the middle of theirs."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count - 1) / 2)[place]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.layouts", description=__doc__.split("\n\n")[0])
    parser.add_argument("--graphs", nargs="*", choices=GRAPHS, default=list(GRAPHS), metavar="NAME")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table as results/ has it")
    given = parser.parse_args()
    rows = []
    for name in given.graphs:
        rows.append(measured(name))
        print(rows[-1], flush=True)
    if given.json:
        note = "Second calls. Correlations are low where most distances in the graph are equal. "
        note += f"{fr.num_threads()} threads; other programs ran beside, so the CPU seconds say more."
        Measurement.now("fr.layout of graphs of 100,000 vertices", rows, note=note).write(given.json)


if __name__ == "__main__":
    main()
