"""How often, from which sources, and what becomes of the times: of this project, of Enterprise, of Graph500."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Protocol:
    """How one cell is measured.

    Attributes
    ----------
    sources : int
        How many.
    runs : int
        Timed calls for each source; their median counts.
    warm : bool
        Whether a call from each source goes before its timed ones.
    input_edges : bool
        Whether edges a second are of undirected input edges, loops and duplicates too; else of the graph's directed
        edges.
    kept : bool
        Whether random graphs keep their loops and duplicates.
    """

    name: str
    sources: int
    runs: int
    warm: bool
    input_edges: bool = False
    kept: bool = False

    def time(self, times: Sequence[float]) -> float:
        """One time from those of the sources."""
        return statistics.median(times) if self.name == "targets" else statistics.fmean(times)

    def teps(self, edges: Sequence[float], milliseconds: Sequence[float]) -> dict[str, float]:
        """Billions of edges a second: one number as ``gteps``, and what else the protocol asks for."""
        speeds = [m / t / 1e6 for m, t in zip(edges, milliseconds, strict=True)]
        if self.name == "enterprise":
            return {"gteps": statistics.fmean(speeds)}
        if self.name != "graph500":
            return {"gteps": statistics.median(speeds)}
        quarters = statistics.quantiles(speeds, n=4, method="inclusive") if len(speeds) > 1 else speeds * 3
        names = ("gteps_first_quartile", "gteps_median", "gteps_third_quartile")
        return {
            "gteps": statistics.harmonic_mean(speeds) if min(speeds) > 0 else 0.0,
            "gteps_least": min(speeds),
            **dict(zip(names, quarters, strict=True)),
            "gteps_most": max(speeds),
            "gteps_deviation": _harmonic_deviation(speeds),
            "milliseconds_deviation": statistics.stdev(milliseconds) if len(milliseconds) > 1 else 0.0,
        }


def _harmonic_deviation(speeds: Sequence[float]) -> float:
    """Standard deviation of a harmonic mean, as the specification of Graph500 has it."""
    count = len(speeds)
    if count < 2 or min(speeds) <= 0:
        return 0.0
    inverse = [1 / x for x in speeds]
    return statistics.stdev(inverse) / math.sqrt(count - 1) * statistics.harmonic_mean(speeds) ** 2


PROTOCOLS: dict[str, Protocol] = {
    "targets": Protocol("targets", 8, 3, True),
    "enterprise": Protocol("enterprise", 64, 1, False, kept=True),
    "graph500": Protocol("graph500", 64, 1, False, input_edges=True),
}


def describe(speeds: dict[str, Any]) -> str:
    """The quartiles in a few words, where there are any."""
    if "gteps_median" not in speeds:
        return ""
    names = ("gteps_least", "gteps_first_quartile", "gteps_median", "gteps_third_quartile", "gteps_most")
    return "GTEPS least, quartiles, most: " + ", ".join(f"{speeds[name]:.3f}" for name in names)
