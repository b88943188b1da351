"""Doubly compressed sparse columns: the lists of a block in which most vertices have no edge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from frontier.errors import GraphError
from frontier.graph.topology import Array, offset_dtype, read_only

__all__ = ["DCSC"]


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class DCSC:
    """Edges in doubly compressed sparse columns (Buluç and Gilbert, 2008); make one with :meth:`from_edges`.

    A column holds the edges of one source. CSR has a pointer for every source, even if it has no edge; here only
    columns that are not empty have one. If a graph is divided in a grid, each edge is in one block, but each source may
    occur in as many blocks as there are rows. So with many parts, most columns of a block are empty.

    Attributes
    ----------
    columns : ndarray, shape (k,)
        The sources that have edges, ascending.
    pointers : ndarray, shape (k + 1,)
        The targets of ``columns[i]`` are ``targets[pointers[i]:pointers[i + 1]]``.
    targets : ndarray, shape (m,)
        The target of each edge, ascending in each column.
    span : range
        The ids that sources may have; CSR would have a pointer for each.
    """

    columns: Array
    pointers: Array
    targets: Array
    span: range

    @classmethod
    def from_edges(cls, sources: Any, targets: Any, span: range) -> DCSC:
        """Sort edges into columns; parallel edges stay.

        Parameters
        ----------
        sources, targets : array_like of int, shape (m,)
            Both ends of each edge, in any order.
        span : range
            The ids that sources may have.

        Raises
        ------
        GraphError
            If there are not as many sources as targets, or a source is outside of the span.
        """
        src, dst = np.asarray(sources), np.asarray(targets)
        if src.shape != dst.shape or src.ndim != 1:
            raise GraphError(f"sources of shape {src.shape}, but targets of shape {dst.shape}")
        if len(src) and (src.min() < span.start or src.max() >= span.stop):
            raise GraphError(f"sources are {src.min()} to {src.max()}, but the span is {span}")
        order = np.lexsort((dst, src))
        columns, counts = np.unique(src[order], return_counts=True)
        pointers = np.zeros(len(columns) + 1, offset_dtype(len(src)))
        np.cumsum(counts, out=pointers[1:])
        return cls(read_only(columns), read_only(pointers), read_only(dst[order]), span)

    def edges(self) -> tuple[Array, Array]:
        """Return the source and the target of each edge, column by column."""
        return np.repeat(self.columns, np.diff(self.pointers)), self.targets

    def neighbours(self, vertex: int) -> Array:
        """Return the targets of a source, found by bisection in :attr:`columns`; none if it has no edge here."""
        if vertex not in self.span:
            raise GraphError(f"vertex {vertex} is not in {self.span}")
        i = int(np.searchsorted(self.columns, vertex))
        if i == len(self.columns) or self.columns[i] != vertex:
            return self.targets[:0]
        return self.targets[self.pointers[i] : self.pointers[i + 1]]

    @property
    def nbytes(self) -> int:
        """Bytes of the three arrays."""
        return self.columns.nbytes + self.pointers.nbytes + self.targets.nbytes

    @property
    def csr_nbytes(self) -> int:
        """Bytes that the same edges take in CSR, which has a pointer for each id of the span, and one more."""
        return (len(self.span) + 1) * self.pointers.itemsize + self.targets.nbytes

    def __repr__(self) -> str:
        return (
            f"DCSC(edges={len(self.targets)}, columns={len(self.columns)} of {len(self.span)}, "
            f"nbytes={self.nbytes}, csr_nbytes={self.csr_nbytes})"
        )
