"""Verifying a layout: every vertex has a place of its own, and components do not lie on each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frontier.memory.arrays import to_host
from frontier.verify.components import weak_components
from frontier.verify.report import Checks, Report, examine, fail, field

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = ["layout"]

#: Pairs of components that are compared at once.
PAIRS = 1 << 20


def layout(g: Graph, result: Any) -> Report:
    """Check a layout.

    Parameters
    ----------
    g : Graph
        n vertices; the direction of edges does not matter.
    result : LayoutResult
        ``position``: (n, 2) or (n, 3) floats.

    Returns
    -------
    Report
        True if the result passed; see its ``raise_if_failed()``.

    Notes
    -----
    Positions are finite and differ, and the discs (balls) around the bounding boxes of components do not meet. Whether
    it is good to look at is not checked. O((n + m) log n) time, and O(k^2) at worst for k components.

    Examples
    --------
    >>> g = fr.karate()
    >>> fr.verify.layout(g, fr.layout(g)).passed
    True
    """
    return examine("layout", _properties, g, result, ("position",))


def _properties(g: Graph, result: Any, checks: Checks) -> None:
    position = to_host(field(result, "position"))
    if position.shape not in ((g.num_vertices, 2), (g.num_vertices, 3)):
        fail(f"position has shape {position.shape}, expected ({g.num_vertices}, 2) or ({g.num_vertices}, 3)")
    if position.dtype.kind != "f":
        fail(f"position has dtype {position.dtype}, expected floats")

    checks.begin("positions are finite")
    wrong = ~np.isfinite(position).all(axis=1)
    if wrong.any():
        v = int(np.argmax(wrong))
        fail(f"position[{v}] is {position[v].tolist()}")

    checks.begin("no two vertices are at the same place")
    order = np.lexsort(position.T)
    equal = (position[order[1:]] == position[order[:-1]]).all(axis=1)
    if equal.any():
        k = int(np.argmax(equal))
        u, v = sorted(map(int, order[k : k + 2]))
        fail(f"position[{u}] and position[{v}] are both {position[v].tolist()}")

    checks.begin("components do not lie on each other")
    vertex, component = np.unique(weak_components(g), return_inverse=True)
    if not len(vertex):
        return
    centre, radius = _discs(position, component)
    for a, b in _candidates(centre[:, 0] - radius, centre[:, 0] + radius):
        near = np.sqrt(np.square(centre[a] - centre[b]).sum(axis=1)) <= radius[a] + radius[b]
        if near.any():
            k = int(np.argmax(near))
            fail(f"the components of {vertex[a[k]]} and {vertex[b[k]]} do")


def _discs(position: NDArray[Any], component: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the centre of each component's bounding box, and the distance of its farthest vertex from there."""
    order = np.argsort(component, kind="stable")
    first = np.flatnonzero(np.diff(component[order], prepend=-1))
    low, high = (each.reduceat(position[order], first) for each in (np.minimum, np.maximum))
    centre = (low + high) / 2
    distance = np.sqrt(np.square(position - centre[component]).sum(axis=1))
    return centre, np.maximum.reduceat(distance[order], first)


def _candidates(low: NDArray[Any], high: NDArray[Any]) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Yield the pairs of intervals that overlap, many at a time."""
    order = np.argsort(low, kind="stable")
    after = np.searchsorted(low[order], high[order], side="right") - np.arange(1, len(low) + 1)
    total = np.concatenate(([0], np.cumsum(after)))
    for begin in range(0, int(total[-1]), PAIRS):
        pair = np.arange(begin, min(begin + PAIRS, int(total[-1])))
        one = np.searchsorted(total, pair, side="right") - 1
        yield order[one], order[one + 1 + pair - total[one]]
