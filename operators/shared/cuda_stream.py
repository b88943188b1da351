"""Streams on the GPU: a pass over lists, whose edges lie in the host's memory, window by window.

A quarter of the blocks, the *copiers*, copies the next window to a buffer in the GPU's memory, in order and in whole
lines of the cache. The link is busy all the time, and reads nothing twice. Meanwhile the other blocks process the
window before, from its buffer. (Windows and a ring of buffers as in GFlow; there the host sends them, here the running
kernel takes them, so nothing returns to the host between passes.) Of a frontier in the order of ids, each window has a
range of elements; windows that have none are passed over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.run.windows import COLUMNS, FIRST, FROM, LAST, RING, START, STOP, TO
from frontier.lowering.inputs import GraphArray, WindowBuffer, Windows
from frontier.lowering.ir import Assign, Call, Choice, Expr, Item, Node, Value, both, expression, no
from frontier.lowering.variables import SLOT, WORDS, WORKER, WORKERS, pointer

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.frontier_state import FrontierState

__all__ = ["Stream", "apart", "copies"]

#: Of how many blocks one copies. (On an H100 the link is busy with an eighth of the blocks; with a quarter, it is also
#: while these wait for others.)
ONE_IN = 4

#: Bytes of a line of the cache.
LINE = 128


def copying(ahead: bool) -> Callable[..., Any]:
    """Copy ``count`` words of 8 bytes, from ``first`` on, to a buffer."""

    def phase(p, C, slot, w, W, source, address, first, count, buffer):
        # Threads begin where a line of the cache does, so that each warp reads two whole lines.
        i = w - (((address >> 3) + first) & 15)
        while i < count:
            a = np.int64(0)
            b = np.int64(0)
            c = np.int64(0)
            d = np.int64(0)
            if i >= 0:
                a = source[first + i]
            if i + W < count:
                b = source[first + i + W]
            if i + 2 * W < count:
                c = source[first + i + 2 * W]
            if i + 3 * W < count:
                d = source[first + i + 3 * W]
            if i >= 0:
                buffer[i] = a
            if i + W < count:
                buffer[i + W] = b
            if i + 2 * W < count:
                buffer[i + 2 * W] = c
            if i + 3 * W < count:
                buffer[i + 3 * W] = d
            i += 4 * W

    return phase


class Stream:
    """The windows of one direction's lists, as a program sees them.

    Parameters
    ----------
    b : CudaProgram
    edges : {"out", "in"}
    renumbered, weighted : bool
        Whether the slots of in-edges, and the weights, go along; weights of renumbered edges are read where they are.

    current : FrontierState
        The frontier.

    Attributes
    ----------
    number : Expr
        How many windows there are.
    everything : Var
        Whether all vertices are processed that have windows, and not a frontier in the order of ids.
    at, before, following : Var
        The window that is processed; the one before; and the next one that has elements, or ``number``.
    turn : Var
        How many windows were processed before.
    size : int
        Bytes of a slot.
    """

    def __init__(self, b: CudaProgram, edges: str, renumbered: bool, weighted: bool, current: FrontierState) -> None:
        self._b, self._edges, self._current = b, edges, current
        self._table = b.array(f"windows_{edges}", Windows("table", edges), "int64")
        self.number = b.input(f"windows_number_{edges}", Windows("number", edges), "windows")
        self.everything = b.variable("everything", "everything")
        self.at, self.before = b.variable("window", "window"), b.variable("window_before", "window_before")
        self.following = b.variable("window_after", "window_after")
        self.turn = b.variable("turn", "turn")
        #: Elements of the window, as places in the frontier, and the place after the frontier's last.
        self._first, self._last = b.variable("first", "first"), b.variable("last", "last")
        self._end = b.variable("end", "end")
        ids, offsets = b.layout.ids, b.layout.offsets
        ends = "targets" if edges == "out" else "in_sources"
        if b.layout.frames is None:
            self._columns = {"ends": (ids, f"g_{ends}", GraphArray(ends))}
        else:
            self._columns = {"ends": ("uint32", f"g_{ends}_words", GraphArray(ends, "words"))}
            self._frames = b.input(f"g_{ends}_frames", GraphArray(ends, "frames"))
        if renumbered:
            b.in_edges()
            self._columns["in_edges"] = (offsets, "g_in_edges", GraphArray("in_edges"))
        elif weighted:
            assert b.layout.weights is not None
            b.weights()
            self._columns["weights"] = (b.layout.weights, "g_weights", GraphArray("weights"))
        self._far = b.weights() if weighted and renumbered else None
        self.size = sum(np.dtype(dtype).itemsize for dtype, _, _ in self._columns.values())

    def row(self, window: Expr, column: int) -> Expr:
        """An entry of the table of windows."""
        return Item(self._table, window * COLUMNS + column)

    def costs(self) -> tuple[Value, ...]:
        """What windows cost, as arguments of ``gain_of_windows``: the table, and bytes of places of it."""
        ends = np.dtype(self._columns["ends"][0]).itemsize
        return self._table, COLUMNS, self.number, ends, self.size - ends

    def begin(self) -> list[Node]:
        """Nodes that find the first window; ``everything`` is set already."""
        first, end = self.row(expression(0), FIRST), self.row(self.number, FIRST)
        return [
            Assign(self.turn, expression(0)),
            Assign(self._end, Choice(self.everything > 0, end, self._current.count)),
            Assign(self._last, Choice(self.everything > 0, first, 0)),
            Assign(self.following, self._window()),
            Assign(self.at, self.following),
            *self._moved(),
        ]

    def go_on(self) -> list[Node]:
        """Nodes after a window has been processed."""
        return [Assign(self.turn, self.turn + 1), *self._moved()]

    def _moved(self) -> list[Node]:
        past = Call("place_of", self._all(), self._queue(), self._first, self._end, self.row(self.at, LAST))
        return [
            Assign(self.before, self.at),
            Assign(self.at, self.following),
            Assign(self._first, self._last),
            Assign(self._last, past),
            Assign(self.following, self._window()),
        ]

    def _window(self) -> Expr:
        """The window in which the elements after those of the present one begin."""
        table, queue = (self._table, COLUMNS, self.number), self._queue()
        return Call("window_of", *table, self._all(), queue, self._last, self._end)

    def _all(self) -> Value:
        """Whether all vertices are processed; a constant if that is known."""
        return True if self._current.whole else self.everything > 0

    def _queue(self) -> Expr:
        whole = self._current.whole
        return pointer(self._b.layout.ids, 0) if whole else self._b.frontiers.queue(self._current, "vertex")

    def vertices(self) -> dict[str, Value]:
        """Parameters for the vertices of the window that is processed: none after the last one, and for copiers."""
        going = both(self.at < self.number, no(copies()))
        return {
            "everything": self._all(),
            "queue": self._queue(),
            "start": Choice(going, self._first, 0),
            "total": Choice(going, self._last, 0),
        }

    def brought(self) -> Expr:
        """How many slots the window has."""
        return self.row(self.at, STOP) - self.row(self.at, START)

    def lists(self, behind: int = 0) -> Call:
        """The lists of the window that is processed, or of the one before it, in its buffer; others are not there."""
        window = self.before if behind else self.at
        offsets, _ = self._b.lists(self._edges)
        held = {name: self._shifted(name, window, -behind) for name in self._columns}
        weights = self._far if self._far is not None else held.get("weights", 0)
        return Call("Lists", offsets, held["ends"], held.get("in_edges", 0), weights)

    def _buffer(self, name: str, ahead: int) -> Expr:
        """Address of the buffer for a column of the window that is processed, or of one so many further."""
        itemsize = np.dtype(self._columns[name][0]).itemsize
        key = f"stream_{self._edges}_{name}"
        begin = self._b.input(key, WindowBuffer("buffers", self._edges, itemsize, name), f"buffers of {name}")
        ends = "ends" if name == "ends" else "others"
        places = WindowBuffer("places", self._edges, itemsize, ends)
        size = self._b.input(f"stream_slots_{self._edges}_{ends}", places, "places of a buffer")
        return begin + ((self.turn + ahead) & (RING - 1)) * (size * itemsize)

    def _shifted(self, name: str, window: Expr, ahead: int) -> Expr:
        """The buffer as an array in which each slot of the window has its usual index."""
        dtype, _, _ = self._columns[name]
        first = self.row(window, FROM if name == "ends" else START)
        address = self._buffer(name, ahead) - first * np.dtype(dtype).itemsize
        frames = self._b.layout.frames
        if name == "ends" and frames is not None:
            return Call(f"packed_{frames}_at", self._frames, address)
        return pointer(dtype, address)

    def copies(self, alone: bool = False) -> list[Call]:
        """Calls that copy the following window, if there is one; if ``alone``, the present one, by all blocks."""
        window, ahead = (self.at, 0) if alone else (self.following, 1)
        return [self._copy(name, window, ahead, alone) for name in self._columns]

    def _copy(self, name: str, window: Expr, ahead: int, alone: bool) -> Call:
        dtype, key, array = self._columns[name]
        size = np.dtype(dtype).itemsize
        begin, end = (FROM, TO) if name == "ends" else (START, STOP)
        first = self.row(window, begin) * size
        words = self.row(window, end) * size - first + 7
        address = self._b.input(key, array)
        mine = window < self.number if alone else both(window < self.number, copies())
        given: dict[str, Value] = {
            "source": pointer("int64", address),
            "address": address,
            "first": Choice(window < self.number, first, 0) >> 3,
            "count": Choice(mine, words, 0) >> 3,
            "buffer": pointer("int64", self._buffer(name, ahead)),
        }
        made = self._b.kernel(f"copy_{name}", copying, given, ahead=not alone)
        return made if alone else apart(made)


def apart(call: Call) -> Call:
    """A phase's call in which blocks that copy, and the others, are numbered by themselves.

    All blocks call it, since their threads may meet in it; parameters say that there is nothing to do for some.
    """
    assert call.arguments[1:5] == (WORDS, SLOT, WORKER, WORKERS)
    workers = Call("worker_apart", ONE_IN), Call("workers_apart", ONE_IN)
    return Call(call.function, *call.arguments[:3], *workers, *call.arguments[5:])


def copies() -> Expr:
    """Whether a block copies."""
    return Call("copies", ONE_IN)
