"""Programs on one GPU and on several of one process, in one run, with results compared.

``python -m benchmarks.several_gpus rmat:24 grid:2048`` prints the median over some sources, of each the best of some
calls, from Python until all GPUs are done. ``--phases`` says where programs spend their time, see
:mod:`benchmarks.gpus_phases`; then times contain what the clocks and reading them take.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

import frontier as fr
from benchmarks.gpus_phases import clocked
from frontier.memory.arrays import to_host

__all__ = ["main"]

#: Name, call for a source, the field that is compared, how much it may differ, and whether sources matter.
PROGRAMS: dict[str, tuple[Callable[[fr.Graph, int], Any], str, float, bool]] = {
    "bfs": (fr.bfs, "level", 0, True),
    "sssp": (fr.sssp, "distance", 0, True),
    "pagerank": (lambda g, _: fr.pagerank(g), "rank", 1e-4, False),
    "components": (lambda g, _: fr.connected_components(g), "label", 0, False),
    "hooking": (lambda g, _: fr.connected_components(g, method="hooking"), "label", 0, False),
    "betweenness": (lambda g, s: fr.betweenness(g, sources=[s]), "centrality", 1e-4, True),
}
WEIGHTED = ("sssp",)


def main(words: Sequence[str] | None = None) -> None:
    """Print a table for each graph."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graphs", nargs="*", default=["rmat:22"], help="rmat:SCALE, with 16 edges each, or grid:SIDE")
    parser.add_argument("--devices", default="0,1", help="numbers of the GPUs")
    parser.add_argument("--programs", nargs="*", default=["bfs"], choices=sorted(PROGRAMS))
    parser.add_argument("--sources", type=int, default=8)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--phases", action="store_true", help="say where each program spends its time")
    given = parser.parse_args(words)
    weighted = [name for name in given.programs if name in WEIGHTED]
    with clocked() if given.phases else nullcontext() as runs:
        for name in given.graphs:
            for programs in ([each for each in given.programs if each not in weighted], weighted):
                if programs:
                    _table(name, programs, given, runs)


def _table(name: str, programs: Sequence[str], given: argparse.Namespace, runs: list[list[str]] | None) -> None:
    """Print the rows of some programs for a graph, with weights if these need them."""
    places = ("cuda", f"cuda:{given.devices}")
    one, several = (_graph(name, place, programs[0] in WEIGHTED) for place in places)
    size = f"{one.num_vertices:,} vertices, {one.num_slots:,} slots"
    print(f"{name}: {size}; milliseconds on one GPU, and on {given.devices}")
    for program in programs:
        print(_row(program, one, several, given.sources, given.times), flush=True)
        if runs is not None:
            runs.clear()
            PROGRAMS[program][0](several, _sources(one, 1)[0])
            print(*itertools.chain(*runs), sep="\n", flush=True)


def _graph(name: str, place: str, weighted: bool) -> fr.Graph:
    """An R-MAT graph that is made where it is to be, or a grid, which is copied there."""
    kind, _, size = name.partition(":")
    weights = (1, 64) if weighted else None
    if kind == "grid":
        return fr.grid(int(size), int(size), weights=weights).to(place)
    return fr.rmat(int(size), 16, seed=1, weights=weights, placement=place)


def _sources(g: fr.Graph, many: int) -> list[int]:
    reached = np.flatnonzero(to_host(g.out_degree))
    return [int(v) for v in np.random.default_rng(3).choice(reached, many, replace=False)]


def _row(program: str, one: fr.Graph, several: fr.Graph, sources: int, times: int) -> str:
    call, field, near, differ = PROGRAMS[program]
    took: tuple[list[float], list[float]] = [], []
    right = True
    for source in _sources(one, sources if differ else 1):
        found = []
        for g, each in zip((one, several), took, strict=True):
            seconds, result = _best(call, g, source, times)
            each.append(seconds * 1e3)
            found.append(to_host(getattr(result, field)))
        right &= bool(np.allclose(*found, rtol=near, atol=near * 1e-6) if near else np.array_equal(*found))
    alone, together = map(statistics.median, took)
    return f"{program:12} {alone:9.2f} {together:9.2f}  {alone / together:5.2f}x  {'equal' if right else 'WRONG'}"


def _best(call: Callable[[fr.Graph, int], Any], g: fr.Graph, source: int, times: int) -> tuple[float, Any]:
    """Seconds of the fastest call, and the result of the last; calls return when all GPUs are done."""
    result = call(g, source)
    seconds = []
    for _ in range(times):
        g.placement.memory.synchronize()
        begun = time.perf_counter()
        result = call(g, source)
        g.placement.memory.synchronize()
        seconds.append(time.perf_counter() - begun)
    return min(seconds), result


if __name__ == "__main__":
    main()
