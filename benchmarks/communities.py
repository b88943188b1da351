"""Louvain and Leiden: whether runs agree, and modularity and time beside igraph and networkit.

``python -m benchmarks.communities [GRAPH ...] [--runs 100] [--threads 1,2,4] [--backend cpu] [--json FILE]`` runs each
method so often with float weights full of near ties, on each number of threads in turn, and counts different results:
there must be one. Modularity is the mean over seeds of the graph as it is; time is the median.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import frontier as fr
from benchmarks import graphs
from benchmarks.measurement import Measurement
from frontier.memory.arrays import to_host

METHODS: dict[str, Callable[..., Any]] = {"louvain": fr.louvain, "leiden": fr.leiden}
SEEDS = 10


def with_ties(g: fr.Graph) -> fr.Graph:
    """The graph with few different float weights, whose sums depend on the order in which they are added."""
    src, dst = np.minimum(g.sources, g.targets), np.maximum(g.sources, g.targets)
    drawn = (src.astype(np.int64) * 7919 + dst) % 7
    return g.with_weights(np.array([0.1, 0.2, 0.3, 0.7, 1.1, 1e-3, 1 / 3])[drawn])


def different(call: Callable[[], Any], runs: int, threads: list[int]) -> int:
    """How many different communities there are in so many runs, on several numbers of threads."""
    before, found = fr.num_threads(), set()
    for i in range(runs):
        fr.set_num_threads(threads[i % len(threads)])
        found.add(hashlib.sha256(np.ascontiguousarray(to_host(call().label)).tobytes()).hexdigest())
    fr.set_num_threads(before)
    return len(found)


def timed(call: Callable[[int], Any]) -> tuple[float, float]:
    """The mean modularity and the median of the milliseconds; the call returns modularity by seed."""
    call(0)
    quality, times = [], []
    for seed in range(1, SEEDS + 1):
        begun = time.perf_counter()
        quality.append(call(seed))
        times.append((time.perf_counter() - begun) * 1e3)
    return statistics.mean(quality), statistics.median(times)


def ours(g: fr.Graph, method: str) -> Callable[[int], float]:
    """A call that gives the modularity, by seed."""
    return lambda seed: METHODS[method](g, seed=seed).modularity


def igraphs(g: fr.Graph, method: str) -> Callable[[int], float] | None:
    """The same by igraph, if it is there."""
    try:
        import igraph
    except ImportError:
        return None
    once = g.sources <= g.targets
    made = igraph.Graph(g.num_vertices, np.stack([g.sources[once], g.targets[once]], axis=1))

    def call(seed: int) -> float:
        import random

        random.seed(seed)
        if method == "louvain":
            return float(made.community_multilevel().modularity)
        return float(made.community_leiden("modularity", n_iterations=2).modularity)

    return call


def networkits(g: fr.Graph, method: str) -> Callable[[int], float] | None:
    """The same by networkit, if it is there."""
    try:
        import networkit
    except ImportError:
        return None
    once = g.sources <= g.targets
    made = networkit.GraphFromCoo((g.sources[once], g.targets[once]), n=g.num_vertices)

    def call(seed: int) -> float:
        networkit.setSeed(seed, False)
        kind = networkit.community.PLM(made, True) if method == "louvain" else networkit.community.ParallelLeiden(made)
        return float(networkit.community.Modularity().getQuality(kind.run().getPartition(), made))

    return call


def main() -> None:
    """Print a row for each graph and method."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graphs", nargs="*", default=["karate", "rmat:12"], help=graphs.HELP)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--threads", default="1,2,4", type=lambda text: [*map(int, text.split(","))])
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rows = []
    for name in given.graphs:
        g = graphs.load(name).undirected().with_weights(None)
        there, tied = g.to(given.backend), with_ties(g).to(given.backend)
        for method, find in METHODS.items():
            results = different(lambda: find(tied, seed=7), given.runs, given.threads)  # noqa: B023
            calls = {"frontier": ours(there, method)}
            if given.backend == "cpu":
                calls |= {"igraph": igraphs(g, method), "networkit": networkits(g, method)}
            row: dict[str, Any] = {"graph": name, "method": method, "edges": g.num_edges, "results": results}
            for who, call in calls.items():
                row[f"modularity {who}"], row[f"ms {who}"] = (None, None) if call is None else timed(call)
            rows.append(row)
            shown = {k: f"{v:.4f}" if isinstance(v, float) else v for k, v in row.items()}
            print(*(f"{k} {v}" for k, v in shown.items()), sep="; ", flush=True)
    if given.json:
        note = f"results: how many different ones {given.runs} runs with float weights have; means of {SEEDS} seeds."
        Measurement.now("Communities: modularity, and milliseconds", rows, note=note).write(given.json)


if __name__ == "__main__":
    main()
