"""The primitives beside the programs of the GAP Benchmark Suite, in one run on the same graphs and sources.

``python -m benchmarks.gap --gap FOLDER`` needs the folder with the programs that ``make`` of the suite has built. For
each source a process of GAP and then Frontier run a call some times; the results of Frontier are verified. A row gives
medians over the sources of the shortest call. Names of the graphs are those of ``benchmarks.run``.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np

import frontier as fr
from benchmarks import graphs
from benchmarks.measurement import Measurement

__all__ = ["main"]

#: PageRank as GAP stops it, with more iterations than any graph here needs, each printed.
PAGERANK = ("-t1e-4", "-i1000", "-l")


@dataclass(frozen=True)
class Call:
    """A call of Frontier, and the program of GAP that does the same.

    Attributes
    ----------
    program : str
    run : callable
        Of a graph and a source; gives a result.
    verify : callable
        Of a graph and a result; gives a report, true if the result is right.
    options : tuple of str
        Of the program, besides the graph and the source.
    weighted, iterates : bool
        Whether the program reads weights; whether the time of an iteration is a row, too.
    """

    program: str
    run: Callable[[fr.Graph, int], Any]
    verify: Callable[[fr.Graph, Any], Any]
    options: tuple[str, ...] = ()
    weighted: bool = False
    iterates: bool = False


def distances(g: fr.Graph, source: int) -> Any:
    """Distances of float32."""
    return fr.sssp(g, source, dtype="float32", parents=False)


def paths(g: fr.Graph, source: int) -> Any:
    """Distances of int64, with parents."""
    assert g.weights is not None
    return fr.sssp(g.cached("of integers", lambda: g.with_weights(g.weights.astype(np.int32))), source)


def ranks(g: fr.Graph, source: int) -> Any:
    """Ranks to 1e-4."""
    return fr.pagerank(g, tolerance=1e-4)


CALLS = {
    "BFS": Call("bfs", fr.bfs, fr.verify.bfs),
    "SSSP, float32, distances": Call("sssp", distances, fr.verify.sssp, weighted=True),
    "SSSP, int64 with parents": Call("sssp", paths, fr.verify.sssp, weighted=True),
    "PageRank to 1e-4": Call("pr_spmv", ranks, fr.verify.pagerank, PAGERANK, iterates=True),
    "PageRank to 1e-4, GAP: ranks of the same iteration": Call("pr", ranks, fr.verify.pagerank, PAGERANK),
    "connected components": Call("cc", lambda g, s: fr.connected_components(g), fr.verify.connected_components),
    "betweenness, one source": Call("bc", lambda g, s: fr.betweenness(g, sources=[s]), fr.verify.betweenness, ("-i1",)),
}


class Times(NamedTuple):
    """The milliseconds of the shortest call, and its iterations."""

    least: float
    iterations: int


def write(g: fr.Graph, folder: Path) -> None:
    """Write ``graph.sg`` and, with weights, ``graph.wsg``, as GAP's converter does for graphs that are symmetric."""
    assert g.weights is not None
    pairs = np.empty((g.num_slots, 2), np.int32)
    pairs[:, 0], pairs[:, 1] = g.targets, g.weights
    for suffix, lists in (("sg", g.targets.astype(np.int32)), ("wsg", pairs)):
        with (folder / f"graph.{suffix}").open("wb") as file:
            file.write(bytes(1))  # not directed
            np.array([g.num_slots, g.num_vertices], np.int64).tofile(file)
            g.offsets.astype(np.int64).tofile(file)
            lists.tofile(file)


def theirs(call: Call, source: int, folder: Path, given: argparse.Namespace) -> Times:
    """What a process of GAP measures; of shortest paths with the better width of buckets."""
    graph = folder / ("graph.wsg" if call.weighted else "graph.sg")
    start = [f"-r{source}"] if call.program in ("bfs", "sssp", "bc") else []
    words = [given.gap / call.program, f"-f{graph}", f"-n{given.calls}", *call.options, *start]
    found = []
    for width in given.deltas if call.weighted else [None]:
        own = [*words, f"-d{width}"] if width else words
        environment = {**os.environ, "OMP_NUM_THREADS": str(given.threads)}
        out = subprocess.run(own, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
        seconds = [float(text) for text in re.findall(r"^Trial Time: +([\d.]+)$", out, re.MULTILINE)]
        rounds = re.findall(r"^ +(\d+) +[\d.]+$", out, re.MULTILINE) if call.iterates else []
        found.append(Times(1000 * min(seconds), len(rounds) // given.calls or 1))
    return min(found)


def ours(call: Call, g: fr.Graph, source: int, given: argparse.Namespace) -> tuple[Times, bool]:
    """What Frontier takes, and whether the result is right."""
    times = []
    for _ in range(given.calls):
        begun = time.perf_counter()
        result = call.run(g, source)
        times.append(1000 * (time.perf_counter() - begun))
    return Times(min(times), result.iterations if call.iterates else 1), bool(call.verify(g, result))


def measured(g: fr.Graph, folder: Path, given: argparse.Namespace) -> Iterator[tuple[dict[str, Any], bool]]:
    """The rows of a graph, and whether all results were right."""
    sources = graphs.sources(g, given.sources, given.seed)
    for name, call in CALLS.items():
        if given.only and not any(text in name for text in given.only):
            continue
        pairs, right = [], True
        for _ in range(given.warm):
            call.run(g, sources[0])
        for source in sources:
            other = theirs(call, source, folder, given)
            this, verified = ours(call, g, source, given)
            pairs.append((this, other))
            right &= verified
        figures = {name: [[times.least for times in pair] for pair in pairs]}
        if call.iterates:
            figures[f"{name}, an iteration"] = [[t.least / t.iterations for t in pair] for pair in pairs]
        for title, each in figures.items():
            this, other = (round(median(column), 2) for column in zip(*each, strict=True))
            yield {"call": title, "Frontier": this, "GAP": other}, right


def parse(words: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gap", type=Path, required=True, metavar="FOLDER", help="with the programs of GAP")
    parser.add_argument("--graphs", nargs="+", default=["rmat:20", "urand:20", "road-NE"], help=graphs.HELP)
    parser.add_argument("--only", nargs="+", default=[], metavar="TEXT", help="calls whose name has such a text")
    parser.add_argument("--sources", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1, help="of the sources")
    parser.add_argument("--calls", type=int, default=3, help="of either, from each source")
    parser.add_argument("--warm", type=int, default=5, help="calls of Frontier before, which compile and prepare")
    parser.add_argument("--threads", type=int, default=fr.num_threads(), help="of each system")
    parser.add_argument("--deltas", type=int, nargs="+", default=[8, 256], help="widths of buckets that GAP may use")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table as results/ has it")
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> int:
    """Measure and print a table; the exit status is 1 if a result was wrong."""
    given = parse(words)
    fr.set_num_threads(given.threads)
    rows, fine = [], True
    print(f"{'milliseconds':66s} {'Frontier':>9s} {'GAP':>9s} {'ratio':>6s}")
    for graph in given.graphs:
        try:
            g = graphs.load(graph)
        except graphs.Missing as missing:
            print(f"left out: {missing}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            write(g, Path(folder))
            for row, right in measured(g, Path(folder), given):
                rows.append({"graph": graph, **row})
                fine &= right
                this, other, wrong = row["Frontier"], row["GAP"], "" if right else "  WRONG"
                print(f"{graph:9s} {row['call']:56s} {this:9.2f} {other:9.2f} {other / this:6.2f}{wrong}", flush=True)
    if given.json and rows:
        note = (
            f"{given.threads} threads. One run, the systems in turn: medians over {given.sources} sources of the best "
            f"of {given.calls} calls. Copies that Frontier makes after some calls were there. "
            f"GAP: distances of integers, the better delta of {', '.join(map(str, given.deltas))}."
        )
        Measurement.now("Frontier beside the GAP Benchmark Suite, milliseconds", rows, note=note).write(given.json)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
