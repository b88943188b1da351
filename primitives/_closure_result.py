"""The result of :func:`frontier.transitive_closure`: bits of components, and what they say of vertices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.errors import GraphError
from frontier.memory.arrays import matching, to_host
from frontier.memory.host import HOST

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from frontier.graph.labels import LabelIndex

__all__ = ["ClosureResult"]

#: Entries of a matrix that are unpacked at a time.
_PIECE = 1 << 24


@dataclass(frozen=True)
class ClosureResult:
    """Result of :func:`transitive_closure`.

    Attributes
    ----------
    component : ndarray of int64, shape (n,)
        The component of each vertex, which is its column. With a method for matrices, every vertex is one.
    rows : ndarray of int64, shape (r, w)
        Bit b of ``rows[i, k]`` says whether the i-th component that has a row reaches component 64 k + b; the bit of
        the component itself is always set.
    size : ndarray of int64, shape (c,)
        Number of vertices of each component.
    cyclic : ndarray of bool, shape (c,)
        Whether there is a cycle in it: more than one vertex, or a self-loop.
    counts : ndarray of int64, shape (k,)
        How many vertices each source reaches.
    pairs : int
        How many pairs of a source and a vertex that it reaches there are.
    itself : ndarray of bool, shape (n,)
        Whether a vertex counts as reaching itself.
    sources : ndarray, shape (k,)
        The vertices of which rows were asked for; by default all.
    place : ndarray of int64, shape (c,), or None
        The row of each component, -1 if it has none; None if row i is that of component i.
    method : {"condensation", "warshall", "squaring"}
        How rows were made.
    names : object, or None
        Index of the graph's labels, used by :meth:`reaches` and :meth:`row`; None if the graph has no labels.
    """

    component: NDArray[Any]
    rows: NDArray[Any]
    size: NDArray[Any]
    cyclic: NDArray[Any]
    counts: NDArray[Any]
    pairs: int
    itself: NDArray[Any]
    sources: NDArray[Any]
    place: NDArray[Any] | None
    method: str
    names: LabelIndex | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        n, k = len(self.component), len(self.sources)
        rows = "" if k == n else f", rows of {k:,} sources"
        return f"ClosureResult({n:,} vertices{rows}, pairs={self.pairs}, method={self.method!r})"

    def reaches(self, u: ArrayLike, v: ArrayLike) -> Any:
        """Whether u reaches v; arrays of vertices give an array.

        If the graph has labels, vertices are labels, or ids if no label is a number.

        Raises
        ------
        IndexError
            If there is no such vertex, or u has no row.
        """
        u, v = self._ids(u), self._ids(v)
        u, v = np.broadcast_arrays(u, v)
        i, k = (to_host(self.component[matching(ids.ravel(), self.component)]).reshape(ids.shape) for ids in (u, v))
        row = self._row_of(i.ravel(), u.ravel())
        at = matching(row * self.rows.shape[1] + (k.ravel() >> 6), self.rows)
        words = to_host(self.rows.ravel()[at]).reshape(i.shape)
        found = ((words >> (k & 63)) & 1).astype(bool)
        same, cyclic = i == k, to_host(self.cyclic)[i]
        own = to_host(self.itself)[u]
        found = np.where(u == v, own, np.where(same, cyclic, found))
        return bool(found) if found.ndim == 0 else found

    def row(self, v: int) -> NDArray[Any]:
        """Return the ids of the vertices that v reaches, in ascending order; v is given as in :meth:`reaches`.

        Raises
        ------
        IndexError
            If there is no such vertex, or it has no row.
        """
        return np.flatnonzero(self._of(self._ids([v]))[0])

    def pairs_in_pieces(self) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Yield all pairs as arrays of sources and of targets, in order, some sources at a time."""
        for sources, bits in self._pieces():
            which, targets = np.nonzero(bits)
            yield sources[which], targets

    def to_dense(self) -> NDArray[np.bool_]:
        """Return the closure as a matrix, with a row for each source and a column for each vertex.

        Raises
        ------
        FrontierMemoryError
            If it does not fit into memory.
        """
        shape = len(self.sources), len(self.component)
        HOST.check_room(shape[0] * shape[1], "the closure as a matrix")
        made, first = np.empty(shape, np.bool_), 0
        for sources, bits in self._pieces():
            made[first : first + len(sources)] = bits
            first += len(sources)
        return made

    def _pieces(self) -> Iterator[tuple[NDArray[Any], NDArray[np.bool_]]]:
        """Some sources at a time, and their rows, unpacked."""
        sources = to_host(self.sources)
        step = max(_PIECE // max(len(self.component), 1), 1)
        for first in range(0, len(sources), step):
            some = sources[first : first + step]
            yield some, self._of(some)

    def _ids(self, vertices: Any) -> NDArray[Any]:
        """The ids of vertices, in an array of the same shape."""
        given = np.asarray(to_host(vertices))
        if self.names is not None:
            try:
                found = [self.names.find(vertex) for vertex in given.ravel().tolist()]
            except GraphError as error:
                raise IndexError(str(error)) from None
            return np.array(found, np.int64).reshape(given.shape)
        n = len(self.component)
        if given.size and given.dtype.kind not in "iu":
            raise IndexError(f"vertices are numbered from 0 to {n - 1}, not {given.dtype}")
        if given.size and (given.min() < 0 or given.max() >= n):
            raise IndexError(f"vertices are numbered from 0 to {n - 1}")
        return given.astype(np.int64)

    def _row_of(self, components: NDArray[Any], vertices: NDArray[Any]) -> NDArray[Any]:
        """The rows of the components of some vertices."""
        if self.place is None:
            return components
        rows: NDArray[Any] = to_host(self.place)[components]
        if (rows < 0).any():
            raise IndexError(f"vertex {vertices[(rows < 0).argmax()]} has no row: it is not among the sources")
        return rows

    def _of(self, vertices: NDArray[Any]) -> NDArray[np.bool_]:
        """Rows of some vertices, unpacked."""
        component, cyclic = to_host(self.component), to_host(self.cyclic)
        own = component[vertices]
        row = self._row_of(own, vertices)
        words = np.ascontiguousarray(to_host(self.rows[matching(row, self.rows)]))
        bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, : len(cyclic)].astype(bool)
        bits[np.arange(len(row)), own] = cyclic[own]
        made: NDArray[np.bool_] = bits[:, component]
        made[np.arange(len(vertices)), vertices] = to_host(self.itself)[vertices]
        return made
