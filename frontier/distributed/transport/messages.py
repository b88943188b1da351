"""How elements and their values travel: in whatever form takes the fewest bytes.

A message is a sequence of sections, each about elements of a range that sender and receiver know: a list of ids, which
count from the begin of the range, a bitmap of it, or nothing if it is the whole range or the elements of the section
before. Values, or rows of them, follow one after another, or one value if all are equal; integers that lie close
together as how much they exceed the least, in fewer bytes. A section that seldom has elements may be *optional*:
without any it takes no bytes, for the section before says whether it follows. (Between others that are optional, and of
which a later one has elements, it takes a head.)

First come the heads of all sections, a few bytes that the host reads, then their ids and values. These may lie on a
GPU: they are packed there, and go from GPU to GPU, or to the host and back if nothing else carries them.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frontier.memory.arrays import namespace_of, to_host
from frontier.memory.host import HOST

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from frontier.memory.base import Memory

__all__ = ["NOTHING", "Message", "Section", "packed", "unpacked"]

#: Form of the ids, form of the values, number of elements (its upper bits first).
_HEAD = struct.Struct("<BBHI")

_NONE, _LIST, _BITS, _ALL, _SAME = range(5)
_BARE, _EACH, _ONE, _HALVES, _BYTES, _PAIRS, _WORDS = range(7)

#: Forms of integers that lie close together, after the least one.
_NARROW: dict[int, np.dtype[Any]] = {_BYTES: np.dtype("u1"), _PAIRS: np.dtype("u2"), _WORDS: np.dtype("u4")}

#: Added to the form of the values: an optional section follows.
_MORE = 0x80

#: So few values stay as they are.
FEW = 16


class Section(NamedTuple):
    """Elements of a range, ascending, and a value for each; no values for a set of elements.

    The first section is not optional.
    """

    first: int
    length: int
    ids: NDArray[Any]
    values: NDArray[Any] | None = None
    optional: bool = False


@dataclass(frozen=True)
class Message:
    """What one part tells another.

    Attributes
    ----------
    head : bytes
        The heads of its sections.
    parts : list of arrays of uint8
        Their ids and values, in the memory where they lie.
    """

    head: bytes = b""
    parts: list[Any] = field(default_factory=list)

    def __len__(self) -> int:
        """Bytes of all of it."""
        return len(self.head) + sum(map(len, self.parts))

    def body(self) -> Any:
        """Return ids and values as one array, where they lie."""
        return namespace_of(self.parts[0]).concatenate(self.parts) if self.parts else np.empty(0, np.uint8)

    def whole(self) -> bytes:
        """Return all of it, on the host."""
        if not self.parts or isinstance(self.parts[0], np.ndarray):
            return b"".join([self.head, *self.parts])
        return self.head + memoryview(to_host(self.body()))


NOTHING = Message()


def packed(sections: Iterable[Section]) -> Message:
    """Return a message; nothing if no section has an element."""
    heads: list[bytes] = []
    parts: list[Any] = []
    before: NDArray[Any] | None = None
    some, left_out = False, 0  # optional ones since the last head
    for first, length, ids, values, optional in sections:
        count = len(ids)
        if optional and not count:
            left_out += 1
            continue
        if optional:
            for _ in range(left_out):  # or this one would be taken for the first of them
                heads += [_followed(heads.pop()), _HEAD.pack(_NONE, _BARE, 0, 0)]
            heads.append(_followed(heads.pop()))
        left_out = 0
        some = some or count > 0
        form, how, least = _NONE, _BARE, b""
        if count:
            if before is not None and len(before) == count and (before is ids or np.array_equal(before, ids)):
                form = _SAME
            elif count == length:
                form = _ALL
            else:
                form, where = _listed(ids, first, length)
                parts.append(where)
            before = ids
        if values is not None and count:
            how, least, what = _valued(values)
            parts.append(what)
        heads.append(_HEAD.pack(form, how, count >> 32, count & 0xFFFFFFFF) + least)
    return Message(b"".join(heads), parts) if some else NOTHING


def _followed(head: bytes) -> bytes:
    """The head of a section that an optional one follows."""
    form, how, *number = _HEAD.unpack_from(head)
    return _HEAD.pack(form, how | _MORE, *number) + head[_HEAD.size :]


def _listed(ids: NDArray[Any], first: int, length: int) -> tuple[int, Any]:
    narrow = _id_dtype(length)
    if len(ids) * narrow.itemsize <= -(-length // 8):
        return _LIST, _bytes((ids - first).astype(narrow))
    xp = namespace_of(ids)
    bits = xp.zeros(length, bool)
    bits[ids - first] = True
    return _BITS, xp.packbits(bits)


def _bytes(array: NDArray[Any]) -> Any:
    return namespace_of(array).ascontiguousarray(array).view(np.uint8)


def _id_dtype(length: int) -> np.dtype[Any]:
    return np.dtype(np.uint16 if length <= 1 << 16 else np.uint32 if length <= 1 << 32 else np.uint64)


def _valued(values: NDArray[Any]) -> tuple[int, bytes, Any]:
    """The form of values, the least of them if others count from it, and the bytes."""
    xp = namespace_of(values)
    values = values.reshape(-1)  # of rows, one after another
    bits = xp.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")  # by which NaNs are equal, 0 and -0 are not
    if len(bits) > 1 and bits[0] == bits[-1] and (bits == bits[0]).all():
        return _ONE, b"", _bytes(values[:1])
    if values.dtype.kind in "iu" and values.itemsize > 1 and len(values) > FEW:
        least = values.dtype.type(values.min().item())
        span = int(values.max()) - int(least)
        if span < 16:
            small = (values - least).astype(np.uint8)
            small = xp.concatenate([small, xp.zeros(1, np.uint8)]) if len(small) % 2 else small
            return _HALVES, least.tobytes(), small[::2] << 4 | small[1::2]
        for form, narrow in _NARROW.items():
            if narrow.itemsize < values.itemsize and span < 1 << 8 * narrow.itemsize:
                return form, least.tobytes(), _bytes((values - least).astype(narrow))
    return _EACH, b"", _bytes(values)


@dataclass(frozen=True)
class _Head:
    """What the head of a section says; its count is 0 for one that is not there."""

    form: int = _NONE
    how: int = _BARE
    count: int = 0
    least: Any = None


def _heads(data: Any, like: Sequence[tuple[int, int, Any, bool]]) -> tuple[list[_Head], int]:
    """The heads of a message, and where they end."""
    found, at, more = [], 0, 0
    for _, _, array, optional in like:
        if optional and not more:
            found.append(_Head())
            continue
        form, how, high, low = _HEAD.unpack_from(data, at)
        how, more = how & ~_MORE, how & _MORE
        at += _HEAD.size
        least = None
        if how > _ONE:
            least = np.frombuffer(data, array.dtype, 1, at)[0]
            at += array.dtype.itemsize
        found.append(_Head(form, how, high << 32 | low, least))
    return found, at


class _Body:
    """Ids and values of a message, read one after another."""

    def __init__(self, data: Any, at: int, memory: Memory) -> None:
        self._data, self._at, self._memory = data, at, memory

    def read(self, dtype: np.dtype[Any], count: int) -> Any:
        """Return the next elements in the memory."""
        at, self._at = self._at, self._at + count * dtype.itemsize
        if isinstance(self._data, bytes | bytearray | memoryview):
            return self._memory.moved(np.frombuffer(self._data, dtype, count, at))
        part = self._data[at : self._at]
        return (part if at % dtype.itemsize == 0 else part.copy()).view(dtype)


def unpacked(
    data: Any, like: Sequence[tuple[int, int, Any, bool]], memory: Memory = HOST
) -> list[tuple[NDArray[Any], Any]]:
    """Read a message.

    Parameters
    ----------
    data : bytes-like, or a pair
        All of it on the host; or the heads there, and an array of uint8 in the memory with ids and values.
    like : sequence of (first, length, array or None, optional)
        The sections that it has, with arrays whose elements are as their values.
    memory : Memory
        Where ids and values shall lie.

    Returns
    -------
    list of (ids, values)
        Ids as int64, in ascending order; values are None where there is no array.
    """
    xp = memory.xp
    head, body = data if isinstance(data, tuple) else (data, None)
    if len(head):
        heads, end = _heads(head, like)
        source = _Body(head, end, memory) if body is None else _Body(body, 0, memory)
    else:
        heads, source = [_Head()] * len(like), _Body(b"", 0, memory)
    found: list[tuple[NDArray[Any], Any]] = []
    before = nothing = xp.empty(0, np.int64)
    for each, (first, length, array, _) in zip(heads, like, strict=True):
        ids = nothing
        if each.form == _SAME:
            ids = before
        elif each.form != _NONE:
            before = ids = _read_ids(source, each, first, length, memory)
        values = None
        if array is not None:
            row = array.shape[1:]
            values = _read_values(source, each, array.dtype, each.count * math.prod(row), memory)
            values = values.reshape(each.count, *row)
        found.append((ids, values))
    return found


def _read_ids(source: _Body, head: _Head, first: int, length: int, memory: Memory) -> Any:
    xp = memory.xp
    if head.form == _ALL:
        return xp.arange(first, first + length)
    if head.form == _LIST:
        return source.read(_id_dtype(length), head.count).astype(np.int64) + first
    bits = source.read(np.dtype(np.uint8), -(-length // 8))
    return xp.flatnonzero(xp.unpackbits(bits)[:length]) + first


def _read_values(source: _Body, head: _Head, dtype: np.dtype[Any], count: int, memory: Memory) -> Any:
    xp = memory.xp
    if not count or head.how == _BARE:
        return xp.empty(0, dtype)
    if head.how > _ONE:
        narrow = _NARROW[max(head.how, _BYTES)]
        given = source.read(narrow, -(-count // 2) if head.how == _HALVES else count)
        if head.how == _HALVES:
            given = xp.ravel(xp.stack((given >> 4, given & 15), 1))[:count]
        return given.astype(dtype) + head.least
    values = source.read(dtype, 1 if head.how == _ONE else count)
    return xp.repeat(values, count) if head.how == _ONE else values
