"""How elements and their values travel: in whatever form takes the fewest bytes.

A message is a sequence of sections, each about elements of a range that sender and receiver know: a list of ids, which
count from the begin of the range, a bitmap of it, or nothing if it is the whole range or the elements of the section
before. Values, or rows of them, follow one after another, or one value if all are equal; integers that lie close
together as how much they exceed the least, in fewer bytes. A section that seldom has elements may be *optional*:
without any it takes no bytes, for the section before says whether it follows.

Ids and values may lie on a GPU. They are packed there, so that only the bytes of a message go to the host and back.
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frontier.memory.arrays import namespace_of, to_host
from frontier.memory.host import HOST

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from frontier.memory.base import Memory

__all__ = ["Section", "packed", "unpacked"]

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


def packed(sections: Iterable[Section]) -> bytes:
    """The bytes of a message; none if no section has an element."""
    parts: list[bytes] = []
    before: NDArray[Any] | None = None
    some = False
    for first, length, ids, values, optional in sections:
        count = len(ids)
        if optional:
            if not count:
                continue
            form, how, *number = _HEAD.unpack(parts[-3])
            parts[-3] = _HEAD.pack(form, how | _MORE, *number)
        some = some or count > 0
        form, where = _NONE, b""
        if count:
            if before is not None and len(before) == count and (before is ids or np.array_equal(before, ids)):
                form = _SAME
            elif count == length:
                form = _ALL
            else:
                form, where = _listed(ids, first, length)
            before = ids
        how, what = _BARE, b""
        if values is not None and count:
            how, what = _valued(values)
        parts += [_HEAD.pack(form, how, count >> 32, count & 0xFFFFFFFF), where, what]
    return b"".join(parts) if some else b""


def _listed(ids: NDArray[Any], first: int, length: int) -> tuple[int, bytes]:
    narrow = _id_dtype(length)
    if len(ids) * narrow.itemsize <= -(-length // 8):
        return _LIST, _bytes((ids - first).astype(narrow))
    xp = namespace_of(ids)
    bits = xp.zeros(length, bool)
    bits[ids - first] = True
    return _BITS, _bytes(xp.packbits(bits))


def _bytes(array: NDArray[Any]) -> bytes:
    made: bytes = to_host(array).tobytes()
    return made


def _id_dtype(length: int) -> np.dtype[Any]:
    return np.dtype(np.uint16 if length <= 1 << 16 else np.uint32 if length <= 1 << 32 else np.uint64)


def _valued(values: NDArray[Any]) -> tuple[int, bytes]:
    xp = namespace_of(values)
    values = values.reshape(-1)  # of rows, one after another
    bits = xp.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")  # by which NaNs are equal, 0 and -0 are not
    if len(bits) > 1 and bits[0] == bits[-1] and (bits == bits[0]).all():
        return _ONE, _bytes(values[:1])
    if values.dtype.kind in "iu" and values.itemsize > 1 and len(values) > FEW:
        least = values.dtype.type(values.min().item())
        span = int(values.max()) - int(least)
        if span < 16:
            small = (values - least).astype(np.uint8)
            small = xp.concatenate([small, xp.zeros(1, np.uint8)]) if len(small) % 2 else small
            return _HALVES, least.tobytes() + _bytes(small[::2] << 4 | small[1::2])
        for form, narrow in _NARROW.items():
            if narrow.itemsize < values.itemsize and span < 1 << 8 * narrow.itemsize:
                return form, least.tobytes() + _bytes((values - least).astype(narrow))
    return _EACH, _bytes(values)


def unpacked(
    data: Any, like: Sequence[tuple[int, int, Any, bool]], memory: Memory = HOST
) -> list[tuple[NDArray[Any], Any]]:
    """Read a message.

    Parameters
    ----------
    data : bytes-like
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
    nothing = xp.empty(0, np.int64)

    def none_of(array: Any) -> Any:
        return xp.empty((0, *array.shape[1:]), array.dtype)

    if not len(data):
        return [(nothing, None if array is None else none_of(array)) for _, _, array, _ in like]

    def read(dtype: Any, count: int, at: int) -> Any:
        return memory.moved(np.frombuffer(data, dtype, count, at))

    found: list[tuple[NDArray[Any], Any]] = []
    before, at, more = nothing, 0, 0
    for first, length, array, optional in like:
        if optional and not more:
            found.append((nothing, None if array is None else none_of(array)))
            continue
        form, how, high, low = _HEAD.unpack_from(data, at)
        count, how, more = high << 32 | low, how & ~_MORE, how & _MORE
        at += _HEAD.size
        ids = nothing
        if form == _LIST:
            narrow = _id_dtype(length)
            ids = read(narrow, count, at).astype(np.int64) + first
            at += count * narrow.itemsize
        elif form == _BITS:
            size = -(-length // 8)
            ids = xp.flatnonzero(xp.unpackbits(read(np.uint8, size, at))[:length]) + first
            at += size
        elif form == _ALL:
            ids = xp.arange(first, first + length)
        elif form == _SAME:
            ids = before
        if form != _NONE:
            before = ids
        values = None
        if array is not None:
            row = array.shape[1:]
            values, at = _read_values(data, how, array.dtype, count * math.prod(row), at, memory)
            values = values.reshape(count, *row)
        found.append((ids, values))
    return found


def _read_values(data: Any, how: int, dtype: np.dtype[Any], count: int, at: int, memory: Memory) -> tuple[Any, int]:
    """So many values of a message from a place on, and the place behind them."""
    xp = memory.xp
    if how > _ONE:
        least = np.frombuffer(data, dtype, 1, at)
        at += least.nbytes
        narrow, size = _NARROW[max(how, _BYTES)], -(-count // 2) if how == _HALVES else count
        given = memory.moved(np.frombuffer(data, narrow, size, at))
        at += given.nbytes
        if how == _HALVES:
            given = xp.ravel(xp.stack((given >> 4, given & 15), 1))[:count]
        return given.astype(dtype) + least[0], at
    values = memory.moved(np.frombuffer(data, dtype, 1 if how == _ONE else count, at))
    at += values.nbytes
    return xp.repeat(values, count) if how == _ONE else values, at
