"""How elements and their values travel: in whatever form takes the fewest bytes.

A message is a sequence of sections, each about elements of a range that sender and receiver know: a list of ids, which
count from the begin of the range, a bitmap of it, or nothing if it is the whole range or the elements of the section
before. Values follow one after another, or once if all are equal.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["Section", "packed", "unpacked"]

#: Form of the ids, form of the values, number of elements (its upper bits first).
_HEAD = struct.Struct("<BBHI")

_NONE, _LIST, _BITS, _ALL, _SAME = range(5)
_BARE, _EACH, _ONE = range(3)


class Section(NamedTuple):
    """Elements of a range, ascending, and a value for each; no values for a set of elements."""

    first: int
    length: int
    ids: NDArray[Any]
    values: NDArray[Any] | None = None


def packed(sections: Iterable[Section]) -> bytes:
    """The bytes of a message; none if no section has an element."""
    parts: list[bytes] = []
    before: NDArray[Any] | None = None
    some = False
    for first, length, ids, values in sections:
        count = len(ids)
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
        return _LIST, (ids - first).astype(narrow).tobytes()
    bits = np.zeros(length, bool)
    bits[ids - first] = True
    return _BITS, np.packbits(bits).tobytes()


def _id_dtype(length: int) -> np.dtype[Any]:
    return np.dtype(np.uint16 if length <= 1 << 16 else np.uint32 if length <= 1 << 32 else np.uint64)


def _valued(values: NDArray[Any]) -> tuple[int, bytes]:
    bits = np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")  # by which NaNs are equal, 0 and -0 are not
    if len(bits) > 1 and bits[0] == bits[-1] and (bits == bits[0]).all():
        return _ONE, values[:1].tobytes()
    return _EACH, values.tobytes()


def unpacked(data: Any, like: Sequence[tuple[int, int, Any]]) -> list[tuple[NDArray[Any], Any]]:
    """Read a message.

    Parameters
    ----------
    data : bytes-like
    like : sequence of (first, length, dtype or None)
        The sections that it has.

    Returns
    -------
    list of (ids, values)
        Ids as int64, in ascending order; values are None where there is no dtype.
    """
    nothing = np.empty(0, np.int64)
    if not len(data):
        return [(nothing, None if dtype is None else np.empty(0, dtype)) for _, _, dtype in like]
    found: list[tuple[NDArray[Any], Any]] = []
    before, at = nothing, 0
    for first, length, dtype in like:
        form, how, high, low = _HEAD.unpack_from(data, at)
        count = high << 32 | low
        at += _HEAD.size
        ids = nothing
        if form == _LIST:
            narrow = _id_dtype(length)
            ids = np.frombuffer(data, narrow, count, at).astype(np.int64) + first
            at += count * narrow.itemsize
        elif form == _BITS:
            size = -(-length // 8)
            ids = np.flatnonzero(np.unpackbits(np.frombuffer(data, np.uint8, size, at), count=length)) + first
            at += size
        elif form == _ALL:
            ids = np.arange(first, first + length)
        elif form == _SAME:
            ids = before
        if form != _NONE:
            before = ids
        values = None
        if dtype is not None:
            given = 1 if how == _ONE else count
            values = np.frombuffer(data, dtype, given, at)
            at += values.nbytes
            if how == _ONE:
                values = np.repeat(values, count)
        found.append((ids, values))
    return found
