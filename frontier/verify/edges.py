"""Process a graph's edges with numpy, a bounded number of them at a time.

Arrays of edges are read by slices only, except in :func:`expand`: so each rank brings the edges of a graph in parts to
itself block by block, and all must do so together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = ["edge_blocks", "edge_name", "expand", "lightest", "one", "spread"]

BLOCK = 1 << 20
"""Edges in a block: temporaries then stay in or near the cache, and small beside the graph."""


def edge_blocks(offsets: NDArray[Any], size: int = BLOCK) -> Iterator[tuple[slice, slice]]:
    """Cut a CSR into runs of whole adjacency lists of about ``size`` edges.

    Yields
    ------
    (slice, slice)
        The vertices of a block, and their edge slots. A longer list is a block of its own.
    """
    n = len(offsets) - 1
    first = 0
    while first < n:
        end = np.searchsorted(offsets, int(offsets[first]) + size, side="right") - 1
        last = min(max(int(end), first + 1), n)
        yield slice(first, last), slice(int(offsets[first]), int(offsets[last]))
        first = last


def spread(values: NDArray[Any], offsets: NDArray[Any], vertices: slice) -> NDArray[Any]:
    """Give every edge slot of ``vertices`` the value of its source: shape (slots,)."""
    return np.repeat(values[vertices], np.diff(offsets[vertices.start : vertices.stop + 1]))


def expand(
    offsets: NDArray[Any], targets: NDArray[Any], frontier: NDArray[Any]
) -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]:
    """Walk the out-edges of some vertices.

    Parameters
    ----------
    offsets, targets
        A CSR of n vertices and m edges.
    frontier : (k,) array of integers
        Vertices, in any order; one may occur twice.

    Yields
    ------
    position : (e,) int64
        For each edge of a block the position of its source in ``frontier``.
    target : (e,) array
        And its far end.
    """
    starts = offsets[frontier].astype(np.int64)
    counts = offsets[frontier + 1].astype(np.int64) - starts
    ends = np.concatenate([[0], np.cumsum(counts)])
    for part, slots in edge_blocks(ends):
        position = np.repeat(np.arange(part.start, part.stop), counts[part])
        slot = np.arange(slots.start, slots.stop) + (starts - ends[:-1])[position]
        yield position, targets[slot]


def edge_name(g: Graph, slot: int) -> tuple[int, int, str]:
    """Return source and target of an edge slot, and how to speak of the edge."""
    u = int(np.searchsorted(g.offsets, slot, side="right")) - 1
    v = int(one(g.targets, slot))
    return u, v, f"edge {u} -> {v} (slot {slot})"


def one(values: NDArray[Any], slot: int) -> Any:
    """Return the entry of an edge slot."""
    return values[slot : slot + 1][0]


def lightest(g: Graph) -> str:
    """Name the edge of the least weight, and its weight, of a graph that has weights and edges."""
    assert g.weights is not None
    least, weight = 0, None
    for _, slots in edge_blocks(g.offsets):
        some = g.weights[slots]
        if some.size and (weight is None or some.min() < weight):
            least, weight = slots.start + int(np.argmin(some)), some.min()
    return f"{edge_name(g, least)[2]} has weight {weight}"
