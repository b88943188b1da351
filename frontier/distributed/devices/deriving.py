"""What is derived from edges that are spread over several GPUs, made by all of them: sources, in-edges, self-loops."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.graph.build_arrays import sorted_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from frontier.distributed.devices.spreading import Spread
    from frontier.graph.topology import Topology

__all__ = ["in_edges", "num_loops", "sources", "stretches", "transposed"]

#: Slots that a GPU looks at in one go where it makes what is derived from edges.
CHUNK = 1 << 26


def stretches(first: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut a range of slots into pieces of which temporary arrays are small."""
    return itertools.pairwise([*range(first, end, CHUNK), end] if end > first else [])


def _own_sources(top: Topology, how: Spread, part: int) -> Any:
    """Yield pieces of a part's slots, each with the sources of its edges."""
    memory = how.memories[part]
    first, end = how.starts[part : part + 2].tolist()
    begins, xp = memory.moved(top.offsets[first : end + 1]), memory.xp
    for low, high in stretches(*how.bounds[part : part + 2].tolist()):
        rows = xp.searchsorted(begins, xp.arange(low, high, dtype=begins.dtype), side="right")
        yield low, high, (rows + (first - 1)).astype(top.id_dtype)


def sources(top: Topology, how: Spread) -> Any:
    """Source of each edge slot."""
    made = how.empty(top.id_dtype)

    def fill(part: int) -> None:
        here = how.here(made, part)
        for low, high, rows in _own_sources(top, how, part):
            here[low:high] = rows

    how.each(fill)
    return made


def num_loops(top: Topology, how: Spread) -> int:
    """Number of self-loops."""

    def count(part: int) -> int:
        targets = how.here(top.ends, part)
        return sum(int((rows == targets[low:high]).sum()) for low, high, rows in _own_sources(top, how, part))

    return sum(how.each(count))


def in_edges(top: Topology, how: Spread) -> Any:
    """Edge slot of each in-edge; the lists that come with them are kept too."""
    offsets, sources, slots = transposed(top, how, True)
    if top.directed:
        top.once("in_lists", lambda: (offsets, sources), how.memories[0].synchronize)
    return slots


def transposed(top: Topology, how: Spread, permutation: bool) -> tuple[Any, Any, Any]:
    """In-offsets, in-sources and, if asked for, the edge slot of each in-edge.

    Each GPU reads the targets of all edges, and takes those edges that lead to its own vertices.
    """
    n, m = len(top.offsets) - 1, top.num_slots

    def mine(part: int) -> tuple[Any, Any, Any]:
        memory, targets = how.memories[part], how.here(top.ends, part)
        first, end = how.starts[part : part + 2].tolist()
        offsets, xp = memory.moved(top.offsets), memory.xp
        ends, slots = [targets[:0]], [offsets[:0]]
        for low, high in stretches(0, m):
            piece = targets[low:high]
            at = xp.flatnonzero((piece >= first) & (piece < end))
            ends.append(piece[at] - first)
            slots.append((at + low).astype(offsets.dtype))
        near, places = xp.concatenate(ends), xp.concatenate(slots)
        del ends, slots
        far = (xp.searchsorted(offsets, places, side="right") - 1).astype(top.id_dtype)
        kept = places if permutation else None
        del places
        rows = sorted_rows(xp, near, far, n, need_order=permutation, num_sources=end - first)
        return rows.offsets, rows.targets, None if kept is None else kept[rows.order]

    found = how.each(mine)
    first = how.memories[0]
    bounds = np.zeros(len(found) + 1, np.int64)
    np.cumsum([len(sources) for _, sources, _ in found], out=bounds[1:])
    with first.using("the in-edges of a graph"):
        offsets = first.xp.zeros(n + 1, top.offsets.dtype)
        for part, (begins, _, _) in enumerate(found):
            low, high = how.starts[part : part + 2].tolist()
            offsets[low + 1 : high + 1] = first.moved(begins[1:]).astype(offsets.dtype) + int(bounds[part])
        first.synchronize()

    def gathered(values: list[Any], dtype: Any) -> Any:
        made = how.empty(dtype, bounds)

        def put(part: int) -> None:
            how.here(made, part)[int(bounds[part]) : int(bounds[part + 1])] = values[part]

        how.each(put)
        return made

    sources = gathered([each[1] for each in found], top.id_dtype)
    return offsets, sources, gathered([each[2] for each in found], top.offsets.dtype) if permutation else None
