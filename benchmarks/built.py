"""Programs of other systems that were built from their sources: GAP, PASGAL and Wasp.

A system takes a folder and a graph when it is made, and writes the graph in files of its own. ``run`` starts a process
that computes a primitive from a source some times. Graphs are symmetric, and weights are integers.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import frontier as fr

__all__ = ["BUILT", "Built"]

#: Seconds after which a process is ended: searches of Wasp sometimes do not end.
LIMIT = 20


class Built:
    """A system that was built in a folder, with a graph.

    Parameters
    ----------
    programs : Path
        Where its programs are.
    g : Graph
        With weights.
    files : Path
        A folder for files of the graph.
    threads, calls : int
        How many threads a process has, and how often it computes.
    widths : iterable of int
        Widths of buckets that it may use for shortest paths.
    """

    name: ClassVar[str]
    #: The program of each primitive.
    programs: ClassVar[dict[str, str]]
    #: What is printed for each call, with the seconds.
    seconds: ClassVar[str]
    #: What is printed of a result: how many vertices are reached, or how many components there are.
    counted: ClassVar[str] = r"(?:Tree has|Tree reaches|There are) (\d+) (?:nodes|components)"

    def __init__(
        self, programs: Path, g: fr.Graph, files: Path, threads: int, calls: int, widths: Iterable[int]
    ) -> None:
        self.folder, self.files, self.calls, self.widths = programs.resolve(), files, calls, tuple(widths)
        self.environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "PARLAY_NUM_THREADS": str(threads)}
        self.write(g)

    def write(self, g: fr.Graph) -> None:
        """Write the graph."""
        raise NotImplementedError

    def options(self, primitive: str, source: int) -> Iterator[list[str]]:
        """The options of each way to run a program; the fastest counts."""
        raise NotImplementedError

    def run(self, primitive: str, source: int) -> tuple[float, int | None]:
        """The milliseconds of the shortest call, and what was counted of the result, if it was."""
        found = [self._run(primitive, words) for words in self.options(primitive, source)]
        return min(found, key=lambda each: each[0])

    def _run(self, primitive: str, options: list[str]) -> tuple[float, int | None]:
        words = [str(self.folder / self.programs[primitive]), *options]
        given: dict[str, Any] = {"env": self.environment, "cwd": self.files, "stdout": subprocess.PIPE, "text": True}
        try:
            printed = subprocess.run(words, check=True, timeout=LIMIT, **given).stdout
        except subprocess.TimeoutExpired:
            return float("inf"), None
        times = [float(text) for text in re.findall(self.seconds, printed, re.MULTILINE)]
        counted = re.search(self.counted, printed)
        return 1000 * min(times), int(counted[1]) if counted else None


class Gap(Built):
    """The GAP Benchmark Suite; its parents of a search and its distances of integers."""

    name = "GAP"
    programs: ClassVar = {
        "bfs": "bfs", "sssp": "sssp", "pagerank_1e_4": "pr_spmv", "in_place": "pr", "cc": "cc", "bc": "bc"
    }  # fmt: skip
    seconds = r"^Trial Time: +([\d.]+)$"

    def write(self, g: fr.Graph) -> None:
        """Write ``graph.sg`` and ``graph.wsg``, as its converter does for graphs that are symmetric."""
        write_serialized(g, self.files)

    def options(self, primitive: str, source: int) -> Iterator[list[str]]:
        """Those of the suite: PageRank with more iterations than any graph here needs."""
        start = [f"-r{source}"] if primitive in ("bfs", "sssp", "bc") else []
        counts = ["-a"] if primitive in ("bfs", "sssp", "cc") else []
        more = {"bc": ["-i1"], "pagerank_1e_4": ["-t1e-4", "-i1000"], "in_place": ["-t1e-4", "-i1000"]}
        words = [f"-n{self.calls}", *start, *counts, *more.get(primitive, [])]
        if primitive != "sssp":
            yield ["-fgraph.sg", *words]
            return
        for width in self.widths:
            yield ["-fgraph.wsg", *words, f"-d{width}"]


class Wasp(Built):
    """Wasp's distances of integers."""

    name = "Wasp"
    programs: ClassVar = {"sssp": "sssp-int32"}
    seconds = r"^External Trial Time: +([\d.]+)$"

    def write(self, g: fr.Graph) -> None:
        """Write ``graph.wsg``, if GAP has not."""
        if not (self.files / "graph.wsg").exists():
            write_serialized(g, self.files)

    def options(self, primitive: str, source: int) -> Iterator[list[str]]:
        """A process for each width."""
        for width in self.widths:
            yield ["-f", "graph.wsg", "-n", str(self.calls), "-r", str(source), "-d", str(width), "-a"]


class Pasgal(Built):
    """PASGAL's levels and distances of integers; it makes five calls, whatever is asked for."""

    name = "PASGAL"
    programs: ClassVar = {"bfs": "BFS/bfs", "sssp": "SSSP/sssp"}
    seconds = r"^Round \d+: ([\d.]+)$"

    def write(self, g: fr.Graph) -> None:
        """Write ``graph.bin`` and, with weights, ``graph.adj``."""
        assert g.weights is not None
        n, slots = g.num_vertices, g.num_slots
        with (self.files / "graph.bin").open("wb") as file:
            np.array([n, slots, 24 + 8 * (n + 1) + 4 * slots], np.int64).tofile(file)
            g.offsets.astype(np.int64).tofile(file)
            g.targets.astype(np.int32).tofile(file)
        with (self.files / "graph.adj").open("w") as file:
            file.write(f"WeightedAdjacencyGraph\n{n}\n{slots}\n")
            for numbers in (g.offsets[:-1], g.targets, g.weights.astype(np.int64)):
                file.write("\n".join(map(str, numbers.tolist())) + "\n")

    def options(self, primitive: str, source: int) -> Iterator[list[str]]:
        """Shortest paths by rho stepping as it comes, and by steps of the largest width."""
        if primitive == "bfs":
            yield ["-i", "graph.bin", "-s", "-r", str(source)]
            return
        words = ["-i", "graph.adj", "-s", "-r", str(source)]
        yield words
        yield [*words, "-a", "delta-stepping", "-p", str(max(self.widths))]


def write_serialized(g: fr.Graph, folder: Path) -> None:
    """Write the files of GAP."""
    assert g.weights is not None
    pairs = np.empty((g.num_slots, 2), np.int32)
    pairs[:, 0], pairs[:, 1] = g.targets, g.weights
    for suffix, lists in (("sg", g.targets.astype(np.int32)), ("wsg", pairs)):
        with (folder / f"graph.{suffix}").open("wb") as file:
            file.write(bytes(1))  # not directed
            np.array([g.num_slots, g.num_vertices], np.int64).tofile(file)
            g.offsets.astype(np.int64).tofile(file)
            lists.tofile(file)


BUILT: dict[str, type[Built]] = {kind.name: kind for kind in (Gap, Pasgal, Wasp)}
