"""Windows of edges on a disk: in which a frontier has elements, what is read of them, and into which buffers."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frontier.backends.run import windows
from frontier.backends.run.file_windows import Part, Ring, merged_pages
from frontier.errors import FrontierMemoryError
from frontier.graph.packed import AFTER, BLOCK, PackedIds
from frontier.lowering.inputs import GraphArray
from frontier.memory import limits, pinned
from frontier.memory.arrays import to_host
from frontier.memory.disk import File, file_of
from frontier.memory.shortage import lacking

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.program.frontiers import Frontier
    from frontier.program.step import Step

__all__ = ["Span", "array_of", "ring_of", "spans", "whole"]

HELP = "g.to('cpu', edges='disk') reads them where they are"

#: Where single lists are read, this many bytes would have been read in sequence in the time of one.
SINGLE = 1 << 16

#: Up to how many lists of a window it is found out which pages have them.
FEW = 1 << 17


def array_of(g: Graph, wanted: GraphArray) -> NDArray[Any]:
    """An array of edges on the host."""
    if wanted.part:
        packed = g._topology.ends if wanted.name == "targets" or g.symmetric else g._in_lists()[1]
        found: NDArray[Any] = to_host(getattr(packed, wanted.part))
    else:
        found = to_host(getattr(g, wanted.name))
    return found


# ---- what is read of a window --------------------------------------------------------------------------------


class Span:
    """The elements of a window on which a step runs, and which slots they want.

    Parameters
    ----------
    g : Graph
    direction : {"out", "in"}
        Of the slots.
    ids : array
        The elements, where fields lie.
    first, stop : int
        Slots from ``first`` up to ``stop`` have all that is wanted.
    lists : tuple of two arrays, optional
        Where the wanted lists begin and end, if they are few.
    """

    def __init__(self, g: Graph, direction: str, ids: Any, first: int, stop: int, lists: Any = None) -> None:
        self._g, self._direction, self.ids = g, direction, ids
        self._first, self._stop, self._lists = first, stop, lists

    def columns(self, wanted: dict[GraphArray, NDArray[Any]]) -> list[Part]:
        """What is to be read of some arrays."""
        return [self._column(name, array) for name, array in wanted.items()]

    def _column(self, name: GraphArray, array: NDArray[Any]) -> Part:
        bounds = np.array([[self._first], [self._stop]], np.int64)
        lists = None if self._lists is None else np.stack([to_host(each) for each in self._lists]).astype(np.int64)
        if name.part == "words":
            bounds = self._words(*bounds)
            lists = None if lists is None else self._words(*lists)
        first, stop = int(bounds[0, 0]), int(bounds[1, 0])
        if lists is not None:
            pages = merged_pages(*lists * array.itemsize)
            read = int((pages[:, 1] - pages[:, 0]).sum()) + len(pages) * SINGLE
            if read < (stop - first) * array.itemsize:
                return Part(name, array, first, stop, pages, _ids_below(self._g, name))
        return Part(name, array, first, stop)

    def _words(self, starts: NDArray[Any], stops: NDArray[Any]) -> NDArray[Any]:
        """Where the words of ranges of slots of compressed lists begin and end."""
        g = self._g
        packed = g._topology.ends if self._direction == "out" or g.symmetric else g._in_lists()[1]
        assert isinstance(packed, PackedIds)
        memory = g.placement.memory
        blocks = np.stack([starts // BLOCK, -(-stops // BLOCK)]).ravel() * 2
        places = to_host(packed.frames[memory.moved(blocks)]).astype(np.int64).reshape(2, -1)
        found: NDArray[Any] = places + np.array([[0], [AFTER]])
        return found


def _ids_below(g: Graph, array: GraphArray) -> int | None:
    """What the ids in an array of edges are below; None if it has something else."""
    if array.part:
        return None
    if array.name in ("targets", "sources", "in_sources"):
        return g.num_vertices
    return g.num_slots if array.name == "in_edges" else None


def spans(g: Graph, step: Any, f: Frontier) -> list[Span]:
    """The windows in which a frontier has elements."""
    memory = g.placement.memory
    xp = memory.xp
    direction = "in" if step.far == "src" else "out"
    rows = _rows(g, direction, f.kind)
    if f.is_all:
        return [
            Span(g, direction, xp.arange(first, last, dtype=f.id_dtype), start, stop)
            for first, last, start, stop in rows.tolist()
        ]
    ids = xp.sort(f.ids)
    cuts = [0, *to_host(xp.searchsorted(ids, memory.moved(rows[:, 1].astype(f.id_dtype)))).tolist()]
    offsets = g.offsets if direction == "out" else g.in_offsets
    made = []
    for begin, end in pairwise(cuts):
        if begin == end:
            continue
        mine = ids[begin:end]
        ends = mine if end - begin <= FEW else mine[:: end - begin - 1]
        lists = (offsets[ends], offsets[ends + 1]) if f.kind == "vertex" else (ends, ends + 1)
        first, stop = int(lists[0][0]), int(lists[1][-1])
        made.append(Span(g, direction, mine, first, stop, lists if end - begin <= FEW else None))
    return made


def _rows(g: Graph, direction: str, kind: str) -> NDArray[Any]:
    """First element, the one after the last, first slot and the one after the last of each window."""
    if kind == "vertex":
        found: NDArray[Any] = to_host(windows.windows(g, direction)).reshape(-1, windows.COLUMNS)[:-1]
        return found[:, [windows.FIRST, windows.LAST, windows.START, windows.STOP]]
    first = np.arange(0, g.num_slots, windows.SLOTS, dtype=np.int64)
    last = np.minimum(first + windows.SLOTS, g.num_slots)
    return np.stack([first, last, first, last], axis=1)


# ---- buffers ---------------------------------------------------------------------------------------------------

_rings: weakref.WeakKeyDictionary[Graph, list[Ring]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


@contextmanager
def ring_of(g: Graph) -> Iterator[Ring]:
    """A ring that nobody else uses; it is kept for later runs on the graph."""
    with _lock:
        free = _rings.setdefault(g, [])
        ring = free.pop() if free else Ring(pinned.buffer)
    yield ring
    with _lock:  # not after an error
        free.append(ring)


#: Arrays that are in the host's memory, by their files, for all GPUs that read these: each with where it begins there.
_whole: weakref.WeakKeyDictionary[File, dict[int, tuple[Ring, int]]] = weakref.WeakKeyDictionary()
_making = threading.RLock()


def whole(g: Graph, name: GraphArray, array: NDArray[Any], step: Step) -> int:
    """Address of all of an array in the host's memory, where it stays as long as the graph, or the array's file."""

    def make() -> tuple[Ring, int]:
        free, where = limits.free()
        if array.nbytes > free:
            what = f"{step!r} needs all edges at once, so all {name} must be in the host's memory"
            raise lacking(FrontierMemoryError, array.nbytes, free, what, HELP, where)
        ring = Ring(pinned.buffer)
        addresses = ring.begin(0, [Part(name, array, 0, len(array))])
        try:
            ring.wait(0)
        finally:
            ring.leave()
        return ring, addresses[name]

    found = file_of(array)
    if found is None:
        address: int = g._once(f"all {name}", make)[1]
        return address
    file, at = found
    with _making:
        known = _whole.setdefault(file, {})
        if at not in known:
            known[at] = make()
        return known[at][1]
