"""What programs under mpirun see of the fields of a problem, and what of these ranks are told at the end of a run.

Every rank has arrays of full length; where its own elements are as long as they are not written there, say
:mod:`frontier.distributed.ranks.field_storage`. At the end of a run all ranks are told the rest of short fields, and of
those that the program has looked at as a whole before. Of others, each rank keeps a note of which of its own elements
the others do not know; the next run goes on from there.
"""

from __future__ import annotations

import zlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.distributed.ranks import field_storage, walk
from frontier.distributed.ranks.changes import stays
from frontier.distributed.ranks.edge_fields import EdgesInParts, PartFields
from frontier.distributed.ranks.fields import FieldInParts, whole
from frontier.distributed.transport.communicators import world
from frontier.memory.arrays import matching
from frontier.memory.reserved import reserved
from frontier.system.environment import integer

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from numpy.typing import NDArray

    from frontier.graph.graph import Graph
    from frontier.program.pairs import Pair
    from frontier.program.problem import Field, Problem

__all__ = ["VisibleFields", "longest_whole"]

#: Values, where FRONTIER_RANKS_WHOLE says nothing.
WHOLE = 1 << 22

#: Elements of a checksum at a time.
BLOCK = 1 << 16


def longest_whole() -> int:
    """Return how long a field may be that all ranks are told at the end of a run.

    Raises
    ------
    FrontierError
        FRONTIER_RANKS_WHOLE is not a number of elements.
    """
    return integer("FRONTIER_RANKS_WHOLE", "a number of elements, or 0 to tell nothing unasked", WHOLE)


class VisibleFields(PartFields):
    """The fields of one problem, by their arrays, since ``Swap`` exchanges names."""

    def __init__(self) -> None:
        self._comm = world()
        self._made: dict[int, FieldInParts] = {}
        self._edges: dict[int, EdgesInParts] = {}  # of a graph in parts
        self._run = 0

    def begin_run(self, number: int) -> None:
        """Note which run the values of all fields are from now on; all ranks count alike."""
        self._run = number
        for each in self._made.values():
            each.run = number

    @property
    def longest(self) -> int:
        """How long a field may be that all ranks are told unasked."""
        return longest_whole()

    def of(self, p: Problem, name: str) -> Any:
        """Return what a program sees of a field; of those of edges of a graph in parts each rank keeps its own."""
        array, kind = p.arrays[name], p.fields[name].kind
        made = self._made.get(id(array))
        if made is None:
            if stays(p, name):
                if id(array) not in self._edges:
                    self._edges[id(array)] = EdgesInParts(p.graph._topology.ranks, f"p.{name}", array)
                return self._edges[id(array)]
            g = p.graph
            made = FieldInParts(f"p.{name}", array, self._comm, lambda: _bounds(g, len(array), kind, self._comm.size))
            made.late, made.run = kind == "vertex", self._run
            self._made[id(array)] = made
        return made

    def make(self, g: Graph, name: str, made: Field, pairs: Collection[Pair]) -> Any:
        """Return the array of a field."""
        if made.plain and made.kind == "vertex" and made.copy and not made.width:
            return self._begun(g, name, made)
        return super().make(g, name, made, pairs)

    def seen(self, p: Problem, name: str) -> Any:
        """Return what users see of a field."""
        return self.of(p, name)

    def assign(self, p: Problem, name: str, value: Any) -> None:
        """Let all elements of a field be a number, or have values."""
        array = p.arrays[name]
        value, made = matching(value, array), self._made.get(id(array))
        if made is not None:
            made.assign(value)
        elif id(array) in self._edges:
            self._edges[id(array)][...] = value
        else:
            array[...] = value

    def _begun(self, g: Graph, name: str, field: Field) -> NDArray[Any]:
        """Return a field of vertices that begins with one value.

        If it is long, its elements are not written, and take no memory, until somebody needs them.
        """
        size, (length, dtype) = self._comm.size, (g.num_vertices, field.dtype)
        assert dtype is not None
        value = dtype.type(field.init)
        long = size > 1 and length * dtype.itemsize >= field_storage.LEAST
        array: NDArray[Any] = reserved(length, dtype) if long else np.full(length, value, dtype)
        made = FieldInParts(f"p.{name}", array, self._comm, lambda: _bounds(g, length, "vertex", size))
        if long:
            made.begin(value, zeros=True)
        made.changed, made.token, made.late = False, (value.tobytes(),), True
        self._made[id(array)] = made
        return array

    def side_by_side(self, g: Graph, before: tuple[Any, Any]) -> tuple[Any, Any]:
        """Return two arrays in each other's gaps, in the place of two others, and with their elements."""
        length = 2 * len(before[0])
        long = any(field is not None and field.fresh for field in map(self.field, before))
        words: NDArray[Any] = reserved(length, np.int32) if long else np.zeros(length, np.int32)
        made = words[1::2].view(before[0].dtype), words[::2].view(before[1].dtype)
        for old, new in zip(before, made, strict=True):
            field = self._made.pop(id(old), None)
            if field is None or not field.fresh:
                new[...] = old
            if field is not None:
                field.moved(new)
                self._made[id(new)] = field
        return made

    def settle(self, p: Problem) -> None:
        """Let all arrays of a problem have this rank's elements, because a program uses them on the host."""
        for each in self._fields(p).values():
            each.settle()

    def write_rest(self, p: Problem, names: Iterable[str]) -> None:
        """Write of some fields what this rank has not written, because a program needs all elements."""
        for name in names:
            made = self._made.get(id(p.arrays[name]))
            if made is not None:
                made.write_rest()

    def checksum(self, array: NDArray[Any]) -> int:
        """Return the checksum of an array as if everything were written."""
        made = self._made.get(id(array))
        if made is not None and any(made.given(slice(None))):
            made.write_rest()
        if made is None or made.lacks is None:
            return zlib.crc32(np.ascontiguousarray(array if made is None else made.settled()).data)
        value, length = made.lacks.tobytes(), len(array)
        if made.fresh:
            return _of_one_value(value, length)
        bits, range_ = f"u{len(value)}", made.range()  # so that NaN equals itself
        own = np.ascontiguousarray(made.settled()[range_])
        if (own.view(bits) == np.frombuffer(value, bits)).all():
            return _of_one_value(value, length)
        found = _going_on(value, range_.start, 0)
        return _going_on(value, length - range_.stop, zlib.crc32(own.data, found))

    def description(self, p: Problem, name: str) -> tuple[Any, ...]:
        """Return what all ranks have alike of a field, whatever its values are."""
        made = self.of(p, name)
        return made.shape, str(made.dtype)

    def done(self, p: Problem) -> dict[str, Any]:
        """Return what the program has done to fields since ranks have compared what they have; None: perhaps anything.

        Ranks may have done different things: a rank may look at its own elements alone.
        """
        whole = {name: each for name, each in self._fields(p).items() if not each.in_parts}
        return {name: None if each.seen else each.token for name, each in whole.items()}

    def compared(self, p: Problem) -> None:
        """All ranks have the same, and a program that runs next makes the same of it."""
        for each in self._fields(p).values():
            each.compared()

    def field(self, array: NDArray[Any]) -> FieldInParts | None:
        """Return what a program sees of an array, if there is such an object."""
        return self._made.get(id(array))

    def _fields(self, p: Problem) -> dict[str, FieldInParts]:
        found = {name: self._made.get(id(array)) for name, array in p.arrays.items()}
        return {name: each for name, each in found.items() if each is not None}

    def known(self, array: NDArray[Any]) -> None:
        """All ranks know all elements of an array."""
        made = self._made.get(id(array))
        if made is not None:
            made.known()

    def in_parts(self, p: Problem) -> dict[str, FieldInParts]:
        """Those that the ranks do not have as a whole."""
        return {name: each for name, each in self._fields(p).items() if each.in_parts}

    def given_away(self, p: Problem) -> list[str]:
        """Names of those whose arrays the program may have."""
        return [name for name, each in self._fields(p).items() if each.given_away]

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
        for each in sorted(self._made.values(), key=lambda made: made.label):  # ranks may have looked in another order
            whole(each)
        return VisibleFields, ()


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
    starts = walk.starts_of(g, size)
    return starts if kind == "vertex" else g.offsets[starts].astype(np.int64)
