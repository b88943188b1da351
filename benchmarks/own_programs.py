"""Programs as users write them beside the shipped primitives, in one run on the same graphs and sources.

``python -m benchmarks.own_programs rmat:20 road-NE --backend cpu``. The programs are those of ``examples/`` and of
the documentation. Both are called in turns, some times for each source, and their results are compared; a row gives the
medians over the sources of the shortest call. A copy or an order of lists that a graph keeps is there for both.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np

import frontier as fr
from benchmarks import gpu_graphs, graphs
from benchmarks.ablations import example, ordered, tutorial
from benchmarks.devices import open_device
from benchmarks.measurement import Measurement
from frontier.memory.arrays import to_host

__all__ = ["main"]

PLAIN = fr.Schedule()
#: Iterations of both PageRanks, which stop at none before.
ITERATIONS = 20


class Pair(NamedTuple):
    """A shipped primitive and a user's program: calls of a graph and a source, which give the same array."""

    shipped: Callable[[fr.Graph, int], Any]
    own: Callable[[fr.Graph, int], Any]
    weighted: bool = False
    near: float = 0.0  #: How much results may differ, relatively.


class Ranking(fr.Enactor):
    """The tutorial's PageRank, for so many iterations."""

    loop = fr.Loop(*example("pagerank").Ranking.loop.steps, over="vertices", times=ITERATIONS)


def ranks(g: fr.Graph, source: int) -> Any:
    """The tutorial's PageRank."""
    return Ranking(example("pagerank").problem(g, tolerance=0)).run().rank


def shipped_ranks(g: fr.Graph, source: int) -> Any:
    """The shipped PageRank, from the same ranks; as exact as the tutorial's, since there is no tolerance."""
    start = g.placement.memory.full(g.num_vertices, 1 / g.num_vertices, np.float64)
    try:
        return fr.pagerank(g, tolerance=0, max_iterations=ITERATIONS, start=start).rank
    except fr.NotConvergedError as error:
        return error.result.rank


PAIRS = {
    "breadth-first search": Pair(lambda g, s: fr.bfs(g, s).level, lambda g, s: tutorial(g, s, PLAIN).level),
    "shortest paths, distances": Pair(
        lambda g, s: fr.sssp(g, s, parents=False).distance, lambda g, s: ordered(g, s, PLAIN).distance, weighted=True
    ),
    f"PageRank, {ITERATIONS} iterations": Pair(shipped_ranks, ranks, near=1e-5),
}


def main() -> None:
    """Measure, print a line for each row, and write JSON if that is wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graphs", nargs="+", help="of benchmarks.graphs, or on a GPU of benchmarks.gpu_graphs")
    parser.add_argument("--backend", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--sources", type=int, default=8)
    parser.add_argument("--calls", type=int, default=5)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table as results/ has it")
    given = parser.parse_args()
    rows = [row for name in given.graphs for row in rows_of(name, given)]
    if given.json:
        note = f"Results are equal. Medians over {given.sources} sources of the best of {given.calls} calls."
        Measurement.now("Programs of users beside the shipped ones, milliseconds", rows, note=note).write(given.json)


def rows_of(name: str, given: argparse.Namespace) -> list[dict[str, Any]]:
    """The rows of a graph."""
    if given.backend == "cuda":
        g = gpu_graphs.make(name, open_device("cuda")).graph
    else:
        g = graphs.load(name)
    degrees = np.flatnonzero(to_host(g.out_degree))
    sources = np.random.default_rng(1).choice(degrees, given.sources, replace=False).tolist()
    return [row_of(name, program, g, sources, given.calls) for program, pair in PAIRS.items() if fits(pair, g)]


def fits(pair: Pair, g: fr.Graph) -> bool:
    """Whether a graph has the weights that programs want."""
    return g.weights is not None or not pair.weighted


def row_of(name: str, program: str, g: fr.Graph, sources: list[int], calls: int) -> dict[str, Any]:
    """One row: both programs in turns."""
    pair, found = PAIRS[program], ([], [])
    for call in (pair.shipped, pair.own) * 4:  # what graphs keep for later calls is made in the first ones
        call(g, sources[0])
    for source in sources if not pair.near else sources[:2]:
        best, results = [math.inf, math.inf], [None, None]
        for _ in range(calls):
            for i, call in enumerate((pair.shipped, pair.own)):
                g.placement.memory.synchronize()
                begun = time.perf_counter()
                results[i] = call(g, source)
                g.placement.memory.synchronize()
                best[i] = min(best[i], 1e3 * (time.perf_counter() - begun))
        if not np.allclose(*map(to_host, results), rtol=pair.near, atol=0):
            raise SystemExit(f"{program} on {name} from {source}: results differ")
        for times, least in zip(found, best, strict=True):
            times.append(least)
    shipped, own = map(median, found)
    print(f"{name:12} {program:28} shipped {shipped:9.3f} own {own:9.3f} ms, ratio {own / shipped:5.2f}", flush=True)
    return {"graph": name, "program": program, "shipped": round(shipped, 4), "own": round(own, 4)}


if __name__ == "__main__":
    main()
