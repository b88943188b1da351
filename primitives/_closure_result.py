"""The result of :func:`frontier.transitive_closure`: bits of components, and what they say of vertices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.memory.arrays import matching, to_host
from frontier.memory.host import HOST

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["ClosureResult"]

#: Entries of a matrix that are unpacked at a time.
_PIECE = 1 << 24


@dataclass(frozen=True)
class ClosureResult:
    """Result of :func:`transitive_closure`.

    Attributes
    ----------
    component : ndarray of int64, shape (n,)
        The row, and the column, of each vertex.
    rows : ndarray of int64, shape (c, w)
        Bit b of ``rows[i, k]`` says whether component i reaches component 64 k + b; its own bit is always set.
    size : ndarray of int64, shape (c,)
        Number of vertices of each component.
    cyclic : ndarray of bool, shape (c,)
        Whether there is a cycle in it: more than one vertex, or a self-loop.
    counts : ndarray of int64, shape (n,)
        How many vertices each vertex reaches.
    pairs : int
        How many pairs of vertices are in the closure.
    itself : ndarray of bool, shape (n,)
        Whether a vertex counts as reaching itself.
    """

    component: NDArray[Any]
    rows: NDArray[Any]
    size: NDArray[Any]
    cyclic: NDArray[Any]
    counts: NDArray[Any]
    pairs: int
    itself: NDArray[Any]

    def reaches(self, u: ArrayLike, v: ArrayLike) -> Any:
        """Whether u reaches v; arrays of vertices give an array.

        Raises
        ------
        IndexError
            If there is no such vertex.
        """
        u, v = np.asarray(to_host(u)), np.asarray(to_host(v))
        self._check(u, v)
        u, v = np.broadcast_arrays(u, v)
        i, k = (to_host(self.component[matching(ids.ravel(), self.component)]).reshape(ids.shape) for ids in (u, v))
        at = matching(i.ravel() * self.rows.shape[1] + (k.ravel() >> 6), self.rows)
        words = to_host(self.rows.ravel()[at]).reshape(i.shape)
        found = ((words >> (k & 63)) & 1).astype(bool)
        same, cyclic = i == k, to_host(self.cyclic)[i]
        own = to_host(self.itself)[u]
        found = np.where(u == v, own, np.where(same, cyclic, found))
        return bool(found) if found.ndim == 0 else found

    def row(self, v: int) -> NDArray[Any]:
        """Return the vertices that v reaches, in ascending order.

        Raises
        ------
        IndexError
            If there is no such vertex.
        """
        one = np.asarray([v])
        self._check(one)
        return np.flatnonzero(self._of(one)[0])

    def pairs_in_pieces(self) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Yield all pairs as arrays of sources and of targets, in order, some sources at a time."""
        n = len(self.component)
        step = max(_PIECE // max(n, 1), 1)
        for first in range(0, n, step):
            sources, targets = np.nonzero(self._of(np.arange(first, min(first + step, n))))
            yield sources + first, targets

    def to_dense(self) -> NDArray[np.bool_]:
        """Return the closure as a matrix of n times n entries.

        Raises
        ------
        FrontierMemoryError
            If it does not fit into memory.
        """
        n = len(self.component)
        HOST.check_room(n * n, "the closure as a matrix")
        made = np.empty((n, n), np.bool_)
        step = max(_PIECE // max(n, 1), 1)
        for first in range(0, n, step):
            made[first : first + step] = self._of(np.arange(first, min(first + step, n)))
        return made

    def _check(self, *vertices: NDArray[Any]) -> None:
        n = len(self.component)
        if any(ids.size and (ids.min() < 0 or ids.max() >= n) for ids in vertices):
            raise IndexError(f"vertices are numbered from 0 to {n - 1}")

    def _of(self, vertices: NDArray[Any]) -> NDArray[np.bool_]:
        """Rows of some vertices, unpacked."""
        component, cyclic = to_host(self.component), to_host(self.cyclic)
        rows = component[vertices]
        words = np.ascontiguousarray(to_host(self.rows[matching(rows, self.rows)]))
        bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, : len(cyclic)].astype(bool)
        bits[np.arange(len(rows)), rows] = cyclic[rows]
        made: NDArray[np.bool_] = bits[:, component]
        made[np.arange(len(vertices)), vertices] = to_host(self.itself)[vertices]
        return made
