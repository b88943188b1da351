"""Edges that several processes make, or have, together: what graphs in parts are built from."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from frontier.errors import GraphError
from frontier.graph.topology import Array
from frontier.memory.base import Memory

__all__ = ["Piece", "Shares"]


@dataclass(frozen=True)
class Piece:
    """Some edges: their ends, and the values that go with them."""

    src: Array
    dst: Array
    weights: Array | None = None
    columns: Mapping[str, Array] | None = None

    @property
    def values(self) -> dict[str, Array]:
        """Weights, under the name ``""``, and columns."""
        found = dict(self.columns or {})
        return found if self.weights is None else {"": self.weights, **found}


@dataclass(frozen=True)
class Shares:
    """Edges of a graph, of which every process can make some.

    Attributes
    ----------
    count : int
        Number of edges, or of bytes in which they are written.
    make : callable
        ``make(lo, hi)`` returns the :class:`Piece` of edges lo to hi - 1, or of those that begin in these bytes.
    num_vertices : int or None
        None: the largest id plus one.
    least : int
        Where ``num_vertices`` is None: the least number of vertices.
    name : object
        Equal on all processes that make the same graph.
    alone : bool
        Whether these are the edges of one process, and the others have others. If not, every process could make all.
    both_ways : bool
        Whether edges of an undirected graph occur from both ends, as in its rows, and not once; which is checked.
    check : callable, optional
        Called with the number of edges that there are together; raises an error if that is wrong.
    make_on : callable, optional
        ``make_on(memory, lo, hi)``: what ``make`` returns, made in the memory of a GPU.
    doubts : set of str
        What nobody has said how it is meant, so that there may be warnings: ``"duplicates"`` of different weights, and
        ``"gaps"`` between ids.
    offsets : callable, optional
        Returns where the edges of each vertex begin, and how many edges there are in all, if these are sorted by
        source. Not called after ``done``.
    done : callable, optional
        Frees what making edges needs; called once no more will be made.
    """

    count: int
    make: Callable[[int, int], Piece]
    num_vertices: int | None = None
    alone: bool = False
    least: int = 0
    name: Any = None
    both_ways: bool = False
    check: Callable[[int], None] | None = None
    make_on: Callable[[Memory, int, int], Piece] | None = None
    done: Callable[[], None] | None = None
    offsets: Callable[[], Array] | None = None
    doubts: frozenset[str] = frozenset()

    @classmethod
    def of(cls, whole: Piece, num_vertices: int | None, alone: bool) -> Shares:
        """Edges that are there already."""

        def make(lo: int, hi: int) -> Piece:
            cut = slice(lo, hi)
            columns = {name: column[cut] for name, column in (whole.columns or {}).items()}
            weights = None if whole.weights is None else whole.weights[cut]
            return Piece(whole.src[cut], whole.dst[cut], weights, columns)

        same = () if alone else (whole.src, whole.dst, *whole.values.values())
        plain = (np.ascontiguousarray(array) for array in same if not array.dtype.hasobject)
        sums = [zlib.crc32(array.view(np.uint8).data) for array in plain]
        return cls(len(whole.src), make, num_vertices, alone, name=sums)

    def checked(self, piece: Piece, self_loops: str) -> Piece:
        """Refuse self-loops or leave them out, if that is asked for."""
        if self_loops == "keep":
            return piece
        proper = piece.src != piece.dst
        if proper.all():
            return piece
        if self_loops == "error":
            raise GraphError(f"there is a self-loop of vertex {piece.src[np.argmin(proper)]}")
        values = {name: value[proper] for name, value in piece.values.items()}
        return Piece(piece.src[proper], piece.dst[proper], values.pop("", None), values)
