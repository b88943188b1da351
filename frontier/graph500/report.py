"""What was measured, as the reference code prints it, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from frontier.graph500.statistics import Rates, Summary, rates, summary

__all__ = ["Held", "Outcome", "Search"]


@dataclass(frozen=True)
class Search:
    """One search that has passed validation; times are in seconds."""

    root: int
    seconds: float
    edges: int  # of the list, in the component of the root
    validation_seconds: float

    @property
    def teps(self) -> float:
        """Edges per second."""
        return self.edges / self.seconds


@dataclass(frozen=True)
class Held:
    """What a run has taken of the memory of GPUs.

    Attributes
    ----------
    list_lies : {"device", "host"}
        Where the list of edges lay while the graph was built.
    bytes_a_vertex, bytes_an_edge : float
        Of the graph, on all GPUs together: for each vertex, and for each edge of the list.
    peak : list of int
        For each GPU, the most bytes that were in use after any step, with what CuPy keeps to use again.
    """

    list_lies: str
    bytes_a_vertex: float
    bytes_an_edge: float
    peak: list[int]


@dataclass(frozen=True)
class Outcome:
    """All that a run of the benchmark has measured; times are in seconds."""

    scale: int
    edgefactor: int
    seed: int
    backend: str
    generation: float
    construction: float
    searches: dict[str, list[Search]] = field(default_factory=dict)  # by kernel: "bfs" and "sssp"
    processes: int = 1
    gpus: int = 0
    held: Held | None = None

    def lines(self) -> Iterator[str]:
        """The lines of the output, in the format of version 3 of the reference code."""
        first = next(iter(self.searches.values()))
        yield _line("SCALE", self.scale)
        yield _line("edgefactor", self.edgefactor)
        yield _line("NBFS", len(first))
        yield _line("graph_generation", self.generation)
        yield _line("num_mpi_processes", self.processes)
        yield _line("construction_time", self.construction)
        found = self.statistics()
        for kernel in self.searches:
            yield from _lines(found[f"{kernel}_time"], "time", kernel)
        yield from _lines(found["nedge"], "nedge", digits=11)
        for kernel in self.searches:
            yield from _lines(found[f"{kernel}_TEPS"], "TEPS", kernel)
        for kernel in self.searches:
            yield from _lines(found[f"{kernel}_validate"], "validate", kernel)

    def statistics(self) -> dict[str, Summary | Rates]:
        """Statistics over the searches: ``nedge``, and ``time``, ``TEPS`` and ``validate`` of each kernel."""
        found: dict[str, Summary | Rates] = {}
        for kernel, made in self.searches.items():
            edges, seconds = [each.edges for each in made], [each.seconds for each in made]
            found["nedge"] = summary(edges)  # the same for all kernels
            found[f"{kernel}_time"] = summary(seconds)
            found[f"{kernel}_TEPS"] = rates(edges, seconds)
            found[f"{kernel}_validate"] = summary([each.validation_seconds for each in made])
        return found

    def as_json(self) -> dict[str, Any]:
        """Everything: what was asked for, every search, and the statistics."""
        found = self.statistics()
        made = {**asdict(self), "statistics": {name: asdict(each) for name, each in found.items()}}
        if self.gpus:
            speeds = {name.removesuffix("_TEPS"): each for name, each in found.items() if isinstance(each, Rates)}
            made["GTEPS_a_GPU"] = {name: each.harmonic_mean / 1e9 / self.gpus for name, each in speeds.items()}
        return made


def _lines(found: Summary | Rates, what: str, kernel: str = "", digits: int = 6) -> Iterator[str]:
    for name, value in asdict(found).items():
        mark = "!  " if name == "harmonic_mean" else ""
        yield _line(f"{kernel:<4} {name}_{what}".strip(), value, mark, digits)


def _line(name: str, value: float, mark: str = "", digits: int = 6) -> str:
    text = str(value) if isinstance(value, int) else f"{value:.{digits}g}"
    return f"{name + ':':<{32 - len(mark)}}{mark}{text}"
