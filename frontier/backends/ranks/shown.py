"""What programs under mpirun see of the fields of a problem, and what of these ranks are told at the end of a run.

Every rank has arrays of full length, in which its own elements are right. At the end of a run all ranks are told the
rest of short fields, and of those that the program has looked at as a whole before. Of others, each rank keeps a note
of which of its own elements the others do not know; the next run goes on from there.
"""

from __future__ import annotations

import os
import zlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.ranks import execution
from frontier.backends.ranks.communicators import world
from frontier.backends.ranks.exchange import stays
from frontier.backends.ranks.fields import FieldInParts, whole
from frontier.errors import FrontierError
from frontier.memory.reserved import reserved

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from numpy.typing import NDArray

    from frontier.graph.graph import Graph
    from frontier.program.problem import Field, Problem

__all__ = ["Shown", "longest_whole"]

#: Values, where FRONTIER_RANKS_WHOLE says nothing.
WHOLE = 1 << 22

#: Bytes from which on a field begins with this rank's elements alone; elements of a checksum at a time.
LEAST, BLOCK = 1 << 20, 1 << 16


def longest_whole() -> int:
    """Return how long a field may be that all ranks are told at the end of a run.

    Raises
    ------
    FrontierError
        FRONTIER_RANKS_WHOLE is not a number of elements.
    """
    text = os.environ.get("FRONTIER_RANKS_WHOLE", "").strip()
    if text and not text.isdecimal():
        raise FrontierError(f"FRONTIER_RANKS_WHOLE={text!r}: a number of elements, or 0 to tell nothing unasked")
    return int(text) if text else WHOLE


class Shown:
    """The fields of one problem, by their arrays, since ``Swap`` exchanges names."""

    def __init__(self) -> None:
        self._comm = world()
        self._made: dict[int, FieldInParts] = {}

    @property
    def longest(self) -> int:
        """How long a field may be that all ranks are told unasked."""
        return longest_whole()

    def of(self, p: Problem, name: str) -> Any:
        """Return what a program sees of a field; those of edges of a graph in parts are each rank's own affair."""
        array, kind = p.arrays[name], p.fields[name].kind
        made = self._made.get(id(array))
        if made is None:
            if stays(p, name):
                return array
            g = p.graph
            made = FieldInParts(f"p.{name}", array, self._comm, lambda: _bounds(g, len(array), kind, self._comm.size))
            self._made[id(array)] = made
        return made

    def begun(self, g: Graph, name: str, field: Field) -> NDArray[Any]:
        """Return a field of vertices that begins with one value.

        If it is long, other ranks' elements are not written, and take no memory, until somebody needs them.
        """
        size, (length, dtype) = self._comm.size, (g.num_vertices, field.dtype)
        assert dtype is not None
        if size == 1 or length * dtype.itemsize < LEAST:
            return np.full(length, field.init, dtype)
        array: NDArray[Any] = reserved(length, dtype)
        made = FieldInParts(f"p.{name}", array, self._comm, lambda: _bounds(g, length, "vertex", size))
        made.own[:] = field.init
        made.lacks = dtype.type(field.init)
        self._made[id(array)] = made
        return array

    def write_rest(self, p: Problem, names: Iterable[str]) -> None:
        """Write of some fields what this rank has not written, because a program needs all elements."""
        for name in names:
            made = self._made.get(id(p.arrays[name]))
            if made is not None:
                made.write_rest()

    def checksum(self, array: NDArray[Any]) -> int:
        """Return the checksum of an array as if everything were written."""
        made = self._made.get(id(array))
        if made is None or made.lacks is None:
            return zlib.crc32(np.ascontiguousarray(array).data)
        before, after = made.first, len(array) - made.first - len(made.own)
        value, own = made.lacks.tobytes(), made.own
        bits = f"u{len(value)}"  # so that NaN equals itself
        if (own.view(bits) == np.frombuffer(value, bits)).all():
            return _of_one_value(value, len(array))
        found = _going_on(value, before, 0)
        return _going_on(value, after, zlib.crc32(own.data, found))

    def rest_of(self, array: NDArray[Any]) -> Any:
        """What all elements of an array are that are not this rank's, if these are not written; None: they are."""
        made = self._made.get(id(array))
        return None if made is None else made.lacks

    def known(self, array: NDArray[Any], written: bool = False) -> None:
        """All ranks know all elements of an array, and may have written them all."""
        made = self._made.get(id(array))
        if made is not None:
            made.known()
            made.lacks = None if written else made.lacks

    def in_parts(self, p: Problem) -> dict[str, FieldInParts]:
        """Those that the ranks do not have as a whole."""
        found = {name: self._made.get(id(array)) for name, array in p.arrays.items()}
        return {name: each for name, each in found.items() if each is not None and each.in_parts}

    def given_away(self, p: Problem) -> list[str]:
        """Names of those whose arrays the program may have."""
        found = {name: self._made.get(id(array)) for name, array in p.arrays.items()}
        return [name for name, each in found.items() if each is not None and each.given_away]

    def stay_whole(self, p: Problem, names: Collection[str]) -> None:
        """Let all ranks be told of some fields at the end of each run."""
        for name in names:
            self.of(p, name).stays_whole = True

    def told_to_all(self, p: Problem) -> list[str]:
        """Names of the fields that all ranks are told at the end of a run."""
        most = self.longest
        return [
            name for name, array in p.arrays.items()
            if array.size <= most or (id(array) in self._made and self._made[id(array)].stays_whole)
        ]  # fmt: skip

    def __reduce__(self) -> tuple[Any, ...]:
        """As what a copy of the problem has, whose arrays are copied next."""
        for each in self._made.values():
            whole(each)
        return Shown, ()


@lru_cache(maxsize=64)
def _of_one_value(value: bytes, length: int) -> int:
    """The checksum of an array of one value; problems of the same kind have the same ones."""
    return _going_on(value, length, 0)


def _going_on(value: bytes, length: int, found: int) -> int:
    """A checksum that goes on with an array of one value."""
    same = memoryview(value * min(BLOCK, length))
    for piece in _pieces(length):
        found = zlib.crc32(same[: piece * len(value)], found)
    return found


def _pieces(length: int) -> Iterator[int]:
    """Lengths of at most a block, which add up to a length."""
    while length > 0:
        yield min(length, BLOCK)
        length -= BLOCK


def _bounds(g: Graph, length: int, kind: str, size: int) -> NDArray[Any]:
    """First element of every rank, and the number of elements."""
    if kind == "array":
        evenly: NDArray[Any] = length * np.arange(size + 1) // size
        return evenly
    starts = execution._starts(g, size)
    return starts if kind == "vertex" else g.offsets[starts].astype(np.int64)
