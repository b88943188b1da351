"""Offsets of lists most of which are empty: doubly compressed, with a directory of those that are not.

Compressed sparse rows have an offset for every vertex. Where few vertices have edges, as in a block of a grid, *doubly
compressed* lists (Buluç and Gilbert, 2008) keep the offsets of non-empty lists only, the *pointers*. For any vertex,
``offsets[v]`` is the pointer of the first non-empty list from ``v`` on, so what is needed is how many such lists come
before ``v``. A directory says that (Jacobson, 1989). Its words are of 32 vertices each: they have a bit for each vertex
with edges, and above these bits the number of lists that come before those of the word. So an offset is found by two
loads, without a search, and the directory takes 2 bits for each vertex that may have edges.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frontier.memory.arrays import namespace_of

__all__ = ["PARTS", "SparseOffsets"]

#: What compiled code takes of offsets, in this order.
PARTS = ("words", "pointers", "first", "length")

#: Vertices of a word of the directory (log2).
BITS = 5

_U64 = np.uint64


class SparseOffsets:
    """Offsets of all vertices, which look like an array; make them with :meth:`of`. See the module's description.

    Parameters
    ----------
    words : ndarray of uint64, shape (length // 32 + 1,)
        The directory of the vertices ``first`` to ``first + length``.
    pointers : ndarray, shape (k + 1,)
        Where each of the k lists that are not empty begins; then the number of all slots.
    first, length : int
        Other vertices have no edges.
    vertices : int
        Number of all vertices.
    """

    __slots__ = ("first", "length", "pointers", "vertices", "words")

    def __init__(self, words: Any, pointers: Any, first: int, length: int, vertices: int) -> None:
        self.words, self.pointers = words, pointers
        self.first, self.length, self.vertices = first, length, vertices

    @classmethod
    def of(cls, columns: NDArray[Any], pointers: NDArray[Any], span: range, vertices: int) -> SparseOffsets:
        """Make offsets of the vertices that have edges, ascending, and where their lists begin.

        Parameters
        ----------
        columns : ndarray of int, shape (k,)
        pointers : ndarray of int, shape (k + 1,)
        span : range
            All columns are in it.
        vertices : int
        """
        length = len(span)
        places = columns - span.start
        bits = np.zeros((length // 32 + 1) * 32, bool)
        bits[places] = True
        words = np.packbits(bits, bitorder="little").view("<u4").astype(_U64)
        before = np.searchsorted(places, np.arange(0, len(bits), 32))
        words |= before.astype(_U64) << _U64(32)
        return cls(words, pointers, span.start, length, vertices)

    @staticmethod
    def bytes_of(columns: int, length: int, itemsize: int) -> int:
        """Return the bytes of offsets with so many non-empty lists, among the vertices of a span of a length."""
        return (length // 32 + 1) * 8 + (columns + 1) * itemsize

    # ---- as an array -------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.vertices + 1

    @property
    def shape(self) -> tuple[int]:
        """As that of an array with an entry for each vertex, and one more."""
        return (len(self),)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the pointers."""
        made: np.dtype[Any] = self.pointers.dtype
        return made

    @property
    def itemsize(self) -> int:
        """Bytes of a pointer."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of the directory and the pointers."""
        return int(self.words.nbytes + self.pointers.nbytes)

    def __getitem__(self, vertices: Any) -> Any:
        """The offsets of a vertex, of an array of vertices, or of a slice."""
        if isinstance(vertices, slice):
            return self[namespace_of(self.words).arange(*vertices.indices(len(self)))]
        if np.ndim(vertices):
            return self.pointers[self._before(vertices)[0]]
        vertex = range(len(self))[vertices]  # which may be counted from the end, or there is none
        place = min(max(vertex - self.first, 0), self.length)
        word = int(self.words[place >> BITS])
        return self.pointers[(word >> 32) + (word & (1 << (place & 31)) - 1).bit_count()]

    def lists(self, vertices: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return where the lists of some vertices begin, and how long they are."""
        before, full = self._before(vertices)
        begins = self.pointers[before]
        return begins, self.pointers[before + full] - begins

    def _before(self, vertices: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """How many non-empty lists come before that of each of some vertices; and whether its own is not empty."""
        xp = namespace_of(self.words)
        places = xp.clip(vertices.astype(np.int64) - self.first, 0, self.length)
        word = self.words[places >> BITS]
        place = (places & 31).astype(_U64)
        below = (word & ((_U64(1) << place) - _U64(1))).astype(np.uint32)
        full = (word >> place).astype(np.int64) & (vertices >= self.first)
        return (word >> _U64(32)).astype(np.int64) + _bits(below), full

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        found = np.zeros(len(self), self.dtype if dtype is None else dtype)
        columns = self.columns
        found[columns + 1] = self.lengths
        np.cumsum(found, out=found)
        return found

    # ---- parts -------------------------------------------------------------------------------------------------

    @property
    def columns(self) -> NDArray[Any]:
        """The vertices that have edges, ascending."""
        bits = np.unpackbits(self.words.astype("<u4").view(np.uint8), bitorder="little")
        return np.flatnonzero(bits) + self.first

    @property
    def lengths(self) -> NDArray[Any]:
        """Number of edges of each of :attr:`columns`."""
        return np.diff(self.pointers)

    @property
    def longest(self) -> int:
        """Number of edges of the vertex that has most; 0 without edges."""
        return int(self.lengths.max()) if len(self.pointers) > 1 else 0

    def copied(self, move: Callable[[Any, str], Any]) -> SparseOffsets:
        """Return a copy whose arrays are where ``move`` puts them; it takes an array and its kind."""
        words, pointers = (move(array, "offsets") for array in (self.words, self.pointers))
        return SparseOffsets(words, pointers, self.first, self.length, self.vertices)

    def __reduce__(self) -> tuple[Any, ...]:
        return SparseOffsets, (self.words, self.pointers, self.first, self.length, self.vertices)


def _bits(words: NDArray[Any]) -> NDArray[Any]:
    """How many bits of each word of 32 are set; NumPy has a function for it from 2.0 on, CuPy has none."""
    if isinstance(words, np.ndarray) and hasattr(np, "bitwise_count"):
        found: NDArray[Any] = np.bitwise_count(words)
        return found.astype(np.int64)
    words = words - (words >> 1 & 0x55555555)
    words = (words & 0x33333333) + (words >> 2 & 0x33333333)
    words = (words + (words >> 4)) & 0x0F0F0F0F
    return (words * np.uint32(0x01010101) >> 24).astype(np.int64)
