"""Programs of other systems on a GPU, built of ``gpu_programs/``: ECL, Gunrock, doubleGraph and BLEST.

:func:`write` puts the arrays of a graph into a folder, and :func:`run` starts a program there. A program that dies, or
says nothing for too long, costs the task that it was at: it is started again for those behind.
"""

from __future__ import annotations

import os
import queue
import subprocess
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import frontier as fr
from frontier.memory.arrays import to_host

__all__ = ["SYSTEMS", "Outcome", "System", "run", "write"]


@dataclass(frozen=True)
class System:
    """What a program knows.

    Attributes
    ----------
    tasks : tuple of str
        As the programs name them.
    orders : tuple of str
        In which orders of the vertices it wants a graph: ``plain``, or ``sorted`` by falling degree, too.
    slow : bool
        Whether it prepares a graph for long, so that it wants more time and takes small graphs only.
    """

    tasks: tuple[str, ...]
    orders: tuple[str, ...] = ("plain",)
    slow: bool = False


SYSTEMS = {
    "ECL": System(("cc", "color", "mis", "mst", "scc")),
    "Gunrock": System(("bfs", "sssp", "pagerank", "bc", "color", "triangles", "mst")),
    "doubleGraph": System(
        ("bfs", "sssp", "pagerank", "cc", "bc", "mst", "scc", "triangles", "louvain"), ("plain", "sorted")
    ),
    "BLEST": System(("bfs",), slow=True),
}


@dataclass
class Outcome:
    """What a program has printed of a variant of a task."""

    task: str
    variant: str
    file: Path
    times: list[float] = field(default_factory=list)
    numbers: dict[str, float] = field(default_factory=dict)
    error: str = ""

    @property
    def ms(self) -> float:
        """The median over the calls; infinite if there is none."""
        return median(self.times) if self.times else float("inf")

    def array(self, dtype: Any) -> np.ndarray[Any, Any]:
        """The result of the first source; the file is read once and removed."""
        found = np.fromfile(self.file, dtype)
        self.file.unlink()
        return found


def write(g: fr.Graph, folder: Path) -> None:
    """Write offsets, targets and weights, if there are any."""
    folder.mkdir()
    to_host(g.offsets).astype(np.int32, copy=False).tofile(folder / "offsets")
    to_host(g.targets).astype(np.int32, copy=False).tofile(folder / "targets")
    if g.weights is not None:
        to_host(g.weights).astype(np.float32, copy=False).tofile(folder / "weights")


def run(
    program: Path, folder: Path, order: str, tasks: Sequence[str], sources: Sequence[int],
    calls: int, seconds: float, limit: float, **more: str,
) -> list[Outcome]:  # fmt: skip
    """What a program tells of some tasks, about a graph in a folder; results lie in a folder there, by its name.

    Parameters
    ----------
    calls : int
        Of what has no source.
    seconds : float
        After which no further call of a variant begins.
    limit : float
        Seconds without a word after which the program is ended.
    **more : str
        Variables of the environment.
    """
    results = folder / program.name
    results.mkdir(exist_ok=True)
    found: list[Outcome] = []
    left = list(tasks)
    while left:
        words = [str(program), str(folder), order, str(calls), str(seconds), ",".join(left), *map(str, sources)]
        before, done, last = len(found), False, deque[str](maxlen=4)
        for line in _lines(words, results, limit, more):
            kind, *rest = line.split(maxsplit=2) or [""]
            if kind == "begin":
                found.append(Outcome(rest[0], rest[1], results / f"{rest[0]}-{rest[1]}"))
            elif kind == "time":
                found[-1].times.append(float(rest[0]))
            elif kind == "number":
                found[-1].numbers[rest[0]] = float(rest[1])
            elif kind == "done":
                done = True
            elif kind != "end":
                last.append(line)
        if done:
            return found
        reason = "; ".join(last) or "it ended"
        if len(found) == before:  # it has not even begun
            return [*found, *(Outcome(task, "", results, error=reason) for task in left)]
        found[-1].error = reason
        found[-1].times.clear()
        left = left[left.index(found[-1].task) + 1 :]
    return found


def _lines(words: list[str], folder: Path, limit: float, more: dict[str, str]) -> Iterator[str]:
    """The lines that a process prints; the last one says so if it was ended or has failed."""
    given: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "errors": "replace"}
    try:
        process = subprocess.Popen(words, cwd=folder, env={**os.environ, **more}, **given)
    except OSError as error:
        yield f"not started: {error}"
        return
    lines: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        for line in process.stdout or ():
            lines.put(line.rstrip("\n"))
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    try:
        while (line := lines.get(timeout=limit)) is not None:
            yield line
        if process.wait(timeout=limit):
            yield f"exit status {process.returncode}"
    except (queue.Empty, subprocess.TimeoutExpired):
        yield f"no answer for {limit:g} seconds"
    finally:
        process.kill()
        with suppress(subprocess.TimeoutExpired):  # a long kernel goes on for a while
            process.wait(timeout=60.0)
