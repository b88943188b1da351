"""Results of other systems on a GPU, compared with verified ones of Frontier.

What must be equal is compared number by number; colourings and independent sets are checked by themselves. Ranks may be
as far from the exact ones as they are when a further iteration changes them by 1e-6, betweenness as far as float32 is.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

import frontier as fr
from benchmarks.devices import Array
from benchmarks.gpu_built import Outcome
from benchmarks.gpu_properties import Properties

__all__ = ["compared"]

#: Of ranks in all; of betweenness, as part of the greatest.
RANKS, CENTRALITY = 1e-5, 1e-3
#: How programs write the result of a task, where not as int32.
DTYPES = {"sssp": np.float32, "pagerank": np.float32, "bc": np.float32, "mis": np.uint8}
IN = 0xFE  # as ECL marks the vertices of an independent set


def compared(checker: Properties, outcome: Outcome, right: Any, original: Array | None) -> tuple[str, float | None]:
    """What is wrong with a result of another system, and what of it may differ: colours, vertices, modularity.

    Parameters
    ----------
    right : object
        The result of Frontier; for ranks, an exact one.
    original : array or None
        The ids of the vertices in the order in which the other system has them, if it is not the same.
    """
    if "corners" in outcome.numbers:
        return _some(abs(int(outcome.numbers["corners"]) - 3 * right.count), "triangles at vertices differ"), None
    if "weight" in outcome.numbers:
        return _forest(outcome.numbers, right), None
    xp = checker.xp
    x = xp.asarray(outcome.array(DTYPES.get(outcome.task, np.int32)))
    if len(x) == 2 * checker.n:  # pairs of a label
        x = x[::2]
    if original is not None:
        y = xp.empty_like(x)
        y[original] = x
        x = y
    if outcome.task in ("color", "mis", "louvain"):
        return _free(checker, outcome.task, x)
    return EQUAL[outcome.task](xp, x, right), None


def _some(count: int, what: str) -> str:
    return f"{count:,} {what}" if count else ""


def _forest(numbers: dict[str, float], right: Any) -> str:
    """Weight and number of edges; a weight alone is a sum of float32."""
    edges = abs(int(numbers.get("edges", len(right.edges))) - len(right.edges))
    off = abs(numbers["weight"] - right.weight) / max(right.weight, 1)
    wrong = edges or not off <= (1e-9 if "edges" in numbers else 1e-3)
    return f"weight {numbers['weight']:,}, not {right.weight:,}; {edges:,} edges differ" if wrong else ""


def _levels(xp: Any, x: Array, right: Any) -> str:
    level = xp.where((x < 0) | (x == 2**31 - 1), -1, x)
    return _some(int((level != right.level).sum()), "levels differ")


def _distances(xp: Any, x: Array, right: Any) -> str:
    return _some(int((xp.where(x < 3e38, x, np.inf) != right.distance).sum()), "distances differ")


def _ranks(xp: Any, x: Array, right: Any) -> str:
    off = float(xp.abs(x.astype(np.float64) - right.rank).sum())
    return "" if off <= RANKS else f"ranks are off by {off:.2g} in all"


def _centralities(xp: Any, x: Array, right: Any) -> str:
    """Proportions, as factors differ; that of the source may be no number."""
    x, y = xp.nan_to_num(x.astype(np.float64)), right.centrality
    off = float(xp.abs(x / (float(x.max()) or 1.0) - y / (float(y.max()) or 1.0)).max())
    return "" if off <= CENTRALITY else f"centralities are off by {off:.2g} of the greatest"


def _labels(xp: Any, x: Array, right: Any) -> str:
    differ, distinct = int((x[right.label] != x).sum()), len(xp.unique(x))
    return _some(differ, "labels differ within a component") or _some(abs(distinct - right.count), "components differ")


def _triangles(xp: Any, x: Array, right: Any) -> str:
    return _some(abs(int(x.sum(dtype=np.int64)) - 3 * right.count), "triangles at vertices differ")


EQUAL = {
    "bfs": _levels, "sssp": _distances, "pagerank": _ranks, "bc": _centralities, "cc": _labels, "scc": _labels,
    "triangles": _triangles,
}  # fmt: skip


def _free(checker: Properties, task: str, x: Array) -> tuple[str, float | None]:
    """Sets, colourings and communities."""
    if task == "mis":
        inside = x == IN
        size = int(inside.sum())
        wrong = checker.maximal_independent_set(SimpleNamespace(mask=inside, count=size))
        return "; ".join(wrong), size
    missing = int((x < 0).sum())
    if missing:
        return f"{missing:,} vertices have no label", None
    distinct, label = checker.xp.unique(x, return_inverse=True)
    if task == "louvain":
        g = checker.g
        plain = fr.Graph(g.offsets, g.targets, directed=False, placement=g.placement, check=False)
        return "", float(fr.modularity(plain, label))
    return "; ".join(checker.color(SimpleNamespace(color=label, count=len(distinct)))), len(distinct)
