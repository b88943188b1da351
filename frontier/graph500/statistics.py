"""Statistics over the searches, by the formulas of the specification."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Rates", "Summary", "rates", "summary"]


@dataclass(frozen=True)
class Summary:
    """Quartiles, mean and standard deviation; their names are those of the output, before ``_time`` and so on."""

    min: float
    firstquartile: float
    median: float
    thirdquartile: float
    max: float
    mean: float
    stddev: float


@dataclass(frozen=True)
class Rates:
    """Quartiles of edges per second, and their harmonic mean with its standard deviation."""

    min: float
    firstquartile: float
    median: float
    thirdquartile: float
    max: float
    harmonic_mean: float
    harmonic_stddev: float


def summary(values: Sequence[float]) -> Summary:
    """Summarize one value or more. Of a single one, the deviation is 0."""
    x, last = sorted(values), len(values) - 1
    mean = math.fsum(x) / len(x)
    squares = math.fsum((value - mean) ** 2 for value in x)
    return Summary(
        min=x[0],
        firstquartile=(x[last // 4] + x[len(x) // 4]) / 2,
        median=(x[last // 2] + x[len(x) // 2]) / 2,
        thirdquartile=(x[last - last // 4] + x[last - len(x) // 4]) / 2,
        max=x[-1],
        mean=mean,
        stddev=math.sqrt(squares / max(last, 1)),
    )


def rates(edges: Sequence[int], seconds: Sequence[float]) -> Rates:
    """Edges per second of searches, of which each has a number of edges and a time.

    The standard deviation of the harmonic mean is that of Norris (The Standard Errors of the Geometric and Harmonic
    Means and Their Application to Index Numbers, Annals of Mathematical Statistics 11, 1940).
    """
    inverse = summary([t / m for m, t in zip(edges, seconds, strict=True)])
    return Rates(
        min=1 / inverse.max,
        firstquartile=1 / inverse.thirdquartile,
        median=1 / inverse.median,
        thirdquartile=1 / inverse.firstquartile,
        max=1 / inverse.min,
        harmonic_mean=1 / inverse.mean,
        harmonic_stddev=inverse.stddev / (inverse.mean**2 * math.sqrt(max(len(edges) - 1, 1))),
    )
