"""The result of :func:`frontier.transitive_closure`: bits of components, and what they say of vertices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.errors import GraphError
from frontier.memory.arrays import to_host
from frontier.memory.host import HOST
from frontier.primitives._arguments import check_number
from frontier.primitives._closure_pairs import PIECE, pairs
from frontier.results import Result

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from frontier.memory.placement import Placement

__all__ = ["ClosureResult"]

#: Entries of a matrix that are unpacked at a time.
_PIECE = 1 << 24


@dataclass(frozen=True, eq=False, repr=False)
class ClosureResult(Result, rows="other"):
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
    placement : Placement
        Where the closure lies.
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
    placement: Placement = field(repr=False)

    def __repr__(self) -> str:
        n, k = len(self.component), len(self.sources)
        rows = "" if k == n else f", rows of {k:,} sources"
        return f"ClosureResult({n:,} vertices{rows}, pairs={self.pairs}, method={self.method!r})"

    def table_columns(self, rows: slice) -> dict[str, tuple[NDArray[Any], bool]]:
        """A row for each pair: ``source`` reaches ``target``."""
        most = self.pairs if rows.stop is None else min(rows.stop, self.pairs)
        HOST.check_room(16 * most, "the pairs of a closure as a table")
        found, count = [], 0
        for piece in self.pairs_in_pieces():
            if count >= most:
                break
            found.append([to_host(ends) for ends in piece])
            count += len(piece[0])
        ends = zip(*found, strict=True) if found else ([np.empty(0, np.int32)],) * 2
        source, target = (np.concatenate(pieces)[:most] for pieces in ends)
        return {"source": (source, True), "target": (target, True)}

    def reaches(self, u: ArrayLike, v: ArrayLike) -> Any:
        """Whether u reaches v; arrays of vertices give an array.

        If the graph has labels, vertices are labels; otherwise ids.

        Raises
        ------
        IndexError
            If there is no such vertex, or u has no row.
        """
        u, v = np.broadcast_arrays(self._ids(u), self._ids(v))
        memory = self.placement.memory
        with memory.using("what reaches what"):
            a, b = memory.moved(u.ravel()), memory.moved(v.ravel())
            row, k = self._row_of(self.component[a], a), self.component[b]
            bits = self.rows[row, k >> 6] >> (k & 63) & 1
            found = to_host(memory.xp.where(a == b, self.itself[a], bits != 0)).reshape(u.shape)
        return bool(found) if found.ndim == 0 else found

    def row(self, v: int) -> NDArray[Any]:
        """Return the ids of the vertices that v reaches, in ascending order; v is given as in :meth:`reaches`.

        Raises
        ------
        IndexError
            If there is no such vertex, or it has no row.
        """
        return np.flatnonzero(self._of(self.placement.memory.moved(self._ids([v])))[0])

    def pairs_in_pieces(self, size: int = PIECE) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Yield all pairs as arrays of sources and of targets, some sources at a time.

        Sources come in their order, the targets of each in ascending order.

        Parameters
        ----------
        size : int
            Pairs in a piece at most, unless a single source has more; by default 16,777,216.

        Yields
        ------
        sources, targets : ndarray of int32, shape (at most size,)
            Arrays of CuPy if the closure lies on a GPU, of int64 if there are 2**31 vertices or more.

        Raises
        ------
        GraphError
            If ``size`` is less than 1.
        FrontierMemoryError
            If a piece does not fit into memory.

        Notes
        -----
        O(k n / 64) work for k sources, and O(1) for each pair, on all processors. Beside a piece, memory for bits of
        some sources: 4 MiB on the host, 600 MB on a GPU, or for one source if that is more.
        """
        check_number("size", size, lambda x: x >= 1 and x == int(x), "1 or more")
        return pairs(self, self.placement, int(size))

    def to_dense(self) -> NDArray[np.bool_]:
        """Return the closure as a matrix, with a row for each source and a column for each vertex.

        Raises
        ------
        FrontierMemoryError
            If it does not fit into memory.
        """
        shape = len(self.sources), len(self.component)
        HOST.check_room(shape[0] * shape[1], "the closure as a matrix")
        made, step = np.empty(shape, np.bool_), max(_PIECE // max(shape[1], 1), 1)
        for first in range(0, shape[0], step):
            made[first : first + step] = self._of(self.sources[first : first + step])
        return made

    def _ids(self, vertices: Any) -> NDArray[Any]:
        """The ids of vertices, in an array of the same shape."""
        labelled = self.knows_names and self.names.labels is not None
        given = np.asarray(to_host(vertices), object if labelled else None)  # floats do not hold all labels
        if labelled:
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

    def _row_of(self, components: Any, vertices: Any) -> Any:
        """The rows of the components of some vertices."""
        if self.place is None:
            return components
        rows = self.place[components]
        if bool((rows < 0).any()):
            vertex = int(vertices[(rows < 0).argmax()])
            who = repr(self.names.of([vertex])[0]) if self.knows_names else vertex
            raise IndexError(f"vertex {who} has no row: it is not among the sources")
        return rows

    def _of(self, vertices: Any) -> NDArray[np.bool_]:
        """Rows of some vertices, unpacked where the closure lies."""
        memory = self.placement.memory
        with memory.using("rows of a closure"):
            row = self._row_of(self.component[vertices], vertices)
            found = memory.xp.take(self.rows.view(np.uint8)[row], self.component >> 3, axis=1)
            found >>= (self.component & 7).astype(np.uint8)
            found &= 1
            found[memory.xp.arange(len(vertices)), vertices] = self.itself[vertices]
            made: NDArray[np.bool_] = to_host(found).view(np.bool_)
            return made
