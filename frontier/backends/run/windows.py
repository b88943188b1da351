"""Windows of adjacency lists: ranges of vertices whose lists, side by side, are of about the same size.

A pass over all edges that lie far from the GPU goes window by window: while one is processed in the GPU's own memory,
the next one is on its way. The GPU keeps the last few windows in a ring of buffers of the same size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.graph.packed import AFTER, BLOCK, PackedIds
from frontier.memory.arrays import to_host

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = [
    "ALIGNED", "COLUMNS", "FIRST", "FROM", "LAST", "RING", "START", "STOP", "TO", "window_places", "windows",
    "windows_number",
]  # fmt: skip

#: Edge slots of a window.
SLOTS = 1 << 23

#: Windows begin at a multiple of this many slots, so that copies of them are of whole lines of the cache.
ALIGNED = 64

#: Buffers: for the window that arrives, the one that is processed, and the one before, whose longest lists are
#: processed with it; a power of two.
RING = 4

#: Columns of the table of windows: first vertex, the one after the last, first slot, the one after the last; and of
#: what has the far ends, which are the same slots, or words of compressed lists.
FIRST, LAST, START, STOP, FROM, TO = range(6)
COLUMNS = 6


def windows(g: Graph, edges: str) -> Any:
    """Return the table of windows of out- or in-lists as one array, row by row, where the graph's fields lie."""
    made = g._once(f"windows {edges} {SLOTS}", lambda: g.placement.memory.moved(_table(g, edges).ravel()))
    return made


def windows_number(g: Graph, edges: str) -> int:
    """Return how many windows there are."""
    return len(windows(g, edges)) // COLUMNS - 1


def window_places(g: Graph, edges: str, column: str) -> int:
    """Return how many slots, or words of its far ends (``"ends"``), the largest window has, rounded up."""
    rows = to_host(windows(g, edges)).reshape(-1, COLUMNS)
    first, last = (FROM, TO) if column == "ends" else (START, STOP)
    most = int((rows[:, last] - rows[:, first]).max(initial=1))
    return -(-most // ALIGNED) * ALIGNED


def _table(g: Graph, edges: str) -> np.ndarray:
    """Rows of the table: as many whole lists as fit, at least one. Lists stay whole, so a hub may be a window."""
    offsets = to_host(g.offsets if edges == "out" else g.in_offsets).astype(np.int64)
    # A GPU of several has the lists of some vertices only.
    v, n = g._topology.derived.get("own_vertices", (0, len(offsets) - 1))
    rows = []
    while v < n:
        start = int(offsets[v]) // ALIGNED * ALIGNED
        end = min(max(v + 1, int(np.searchsorted(offsets, start + SLOTS, side="right")) - 1), n)
        rows.append((v, end, start, int(offsets[end])))
        v = end
    rows.append((n, n, int(offsets[-1]), int(offsets[-1])))  # after the last one
    slots = np.array(rows, np.int64).reshape(-1, 4)
    return np.hstack([slots, _places(g, edges, slots[:, START], slots[:, STOP])])


def _places(g: Graph, edges: str, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """Where the far ends of ranges of slots begin and end, in columns."""
    ends = g._topology.ends if edges == "out" or g.symmetric else g._in_lists()[1]
    if isinstance(ends, PackedIds):
        first = to_host(ends.frames)[::2].astype(np.int64)  # of each block; then the number of all words
        start, stop = first[start // BLOCK] // ALIGNED * ALIGNED, first[-(-stop // BLOCK)] + AFTER
    return np.stack([start, stop], axis=1)
