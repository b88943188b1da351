"""Streams on the GPU: a pass over all lists, whose edges lie in the host's memory, window by window.

A quarter of the blocks, the *copiers*, copies the next window to a buffer in the GPU's memory, in order and in whole
lines of the cache. The link is busy all the time, and reads nothing twice. Meanwhile the other blocks process the
window before, from its buffer. (Windows and a ring of buffers as in GFlow; there the host sends them, here the running
kernel takes them, so nothing returns to the host between passes.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.windows import COLUMNS, FIRST, FROM, LAST, RING, START, STOP, TO
from frontier.lowering.ir import Call, Choice, Expr, Item, Value, both, no
from frontier.lowering.variables import SLOT, WORDS, WORKER, WORKERS, pointer

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram

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

    Attributes
    ----------
    number : Expr
        How many windows there are.
    at : Var
        The window that is processed; from 0 on.
    """

    def __init__(self, b: CudaProgram, edges: str, renumbered: bool, weighted: bool) -> None:
        self._b, self._edges = b, edges
        self._table = b.array(f"windows_{edges}", f"windows {edges}", "int64")
        self.number = b.input(f"windows_number_{edges}", f"windows_number {edges}", "windows")
        self.at = b.variable("window", "window")
        ids, offsets = b.layout.ids, b.layout.offsets
        ends = "targets" if edges == "out" else "in_sources"
        if b.layout.frames is None:
            self._columns = {"ends": (ids, f"g_{ends}", ends)}
        else:
            self._columns = {"ends": ("uint32", f"g_{ends}_words", f"{ends} words")}
            self._frames = b.input(f"g_{ends}_frames", f"{ends} frames")
        if renumbered:
            b.in_edges()
            self._columns["in_edges"] = (offsets, "g_in_edges", "in_edges")
        elif weighted:
            assert b.layout.weights is not None
            b.weights()
            self._columns["weights"] = (b.layout.weights, "g_weights", "weights")
        self._far = b.weights() if weighted and renumbered else None

    def row(self, window: Expr, column: int) -> Expr:
        """An entry of the table of windows."""
        return Item(self._table, window * COLUMNS + column)

    def vertices(self) -> dict[str, Value]:
        """Parameters for the vertices of the window that is processed: none after the last one, and for copiers."""
        going = both(self.at < self.number, no(copies()))
        return {
            "everything": True,
            "queue": pointer(self._b.layout.ids, 0),  # there is none
            "start": Choice(going, self.row(self.at, FIRST), 0),
            "total": Choice(going, self.row(self.at, LAST), 0),
        }

    def lists(self, behind: int = 0) -> Call:
        """The lists of the window that is processed, or of one before it, in its buffer; others are not there."""
        window = Call("max", self.at - behind, 0)
        offsets, _ = self._b.lists(self._edges)
        held = {name: self._shifted(name, window) for name in self._columns}
        weights = self._far if self._far is not None else held.get("weights", 0)
        return Call("Lists", offsets, held["ends"], held.get("in_edges", 0), weights)

    def _buffer(self, name: str, window: Expr) -> Expr:
        """Address of the buffer for a column of a window."""
        dtype, _, _ = self._columns[name]
        key = f"stream_{self._edges}_{name}"
        begin = self._b.input(key, f"stream {self._edges} {np.dtype(dtype).itemsize} {name}", f"buffers of {name}")
        ends = "ends" if name == "ends" else "others"
        role = f"stream_slots {self._edges} {np.dtype(dtype).itemsize} {ends}"
        size = self._b.input(f"stream_slots_{self._edges}_{ends}", role, "places of a buffer")
        return begin + (window & (RING - 1)) * (size * np.dtype(dtype).itemsize)

    def _shifted(self, name: str, window: Expr) -> Expr:
        """The buffer as an array in which each slot of the window has its usual index."""
        dtype, _, _ = self._columns[name]
        first = self.row(window, FROM if name == "ends" else START)
        address = self._buffer(name, window) - first * np.dtype(dtype).itemsize
        frames = self._b.layout.frames
        if name == "ends" and frames is not None:
            return Call(f"packed_{frames}_at", self._frames, address)
        return pointer(dtype, address)

    def copies(self, window: Expr, alone: bool = False) -> list[Call]:
        """Calls that copy a window, if there is one of this number; by all blocks if ``alone``."""
        return [self._copy(name, window, alone) for name in self._columns]

    def _copy(self, name: str, window: Expr, alone: bool) -> Call:
        dtype, key, role = self._columns[name]
        size = np.dtype(dtype).itemsize
        begin, end = (FROM, TO) if name == "ends" else (START, STOP)
        first = self.row(window, begin) * size
        words = self.row(window, end) * size - first + 7
        address = self._b.input(key, role)
        mine = window < self.number if alone else both(window < self.number, copies())
        given: dict[str, Value] = {
            "source": pointer("int64", address),
            "address": address,
            "first": Choice(window < self.number, first, 0) >> 3,
            "count": Choice(mine, words, 0) >> 3,
            "buffer": pointer("int64", self._buffer(name, window)),
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
