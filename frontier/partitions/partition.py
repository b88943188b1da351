"""The class Partition, and ``fr.partition``, which makes one."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from frontier.errors import GraphError
from frontier.graph.graph import Graph
from frontier.graph.topology import Array, read_only
from frontier.memory.arrays import namespace_of, to_host
from frontier.partitions import cuts

__all__ = ["METHODS", "Partition", "partition"]


@dataclass(frozen=True, eq=False, repr=False)
class Partition:
    """A division of a graph's vertices and edges among several parts; made by :func:`frontier.partition`.

    Each part owns the vertices of one contiguous range of ids, and holds their out-edges.

    Attributes
    ----------
    graph : Graph
        The graph that is divided.
    method : str
        How it was divided.
    starts : ndarray of int64, shape (parts + 1,)
        Part i owns the vertices ``starts[i]`` to ``starts[i + 1] - 1``. A part may own none.
    """

    graph: Graph = field(repr=False)
    method: str
    starts: Array

    @property
    def parts(self) -> int:
        """Number of parts."""
        return len(self.starts) - 1

    @property
    def ranges(self) -> list[range]:
        """Ids of the vertices that each part owns."""
        bounds = self.starts.tolist()
        return [range(first, stop) for first, stop in itertools.pairwise(bounds)]

    def owner(self, vertices: Any) -> Any:
        """Return the part that owns a vertex.

        Parameters
        ----------
        vertices : int or array_like of int
            Ids of vertices of :attr:`graph`.

        Returns
        -------
        int or ndarray
            The part; one for each vertex if there are several. An array in the memory of a GPU stays there.

        Raises
        ------
        GraphError
            If an id is not one of a vertex.
        """
        xp = namespace_of(vertices) if hasattr(vertices, "__cuda_array_interface__") else np
        ids = xp.asarray(vertices)
        if ids.dtype.kind not in "iu" and ids.size:
            raise GraphError(f"vertices must be integers, not {ids.dtype}")
        wrong = (ids < 0) | (ids >= self.graph.num_vertices)
        if wrong.any():
            raise GraphError(f"vertex {int(ids[wrong].ravel()[0])}: vertices are 0 to {self.graph.num_vertices - 1}")
        found = xp.searchsorted(xp.asarray(self.starts), ids, side="right") - 1
        return int(found) if ids.ndim == 0 else found

    @cached_property
    def slots(self) -> Array:
        """Number of edge slots that each part holds, shape (parts,)."""
        offsets = self.graph.offsets
        where = self.starts if isinstance(offsets, np.ndarray) else self.graph.placement.memory.moved(self.starts)
        return read_only(np.diff(to_host(offsets[where]).astype(np.int64)))

    @property
    def imbalance(self) -> float:
        """Most edge slots of a part over the mean; 1.0 if all parts have equally many, or there are no edges."""
        most = int(self.slots.max())
        return most * self.parts / self.graph.num_slots if most else 1.0

    def __repr__(self) -> str:
        return (
            f"Partition({self.method!r}, parts={self.parts}, vertices={self.graph.num_vertices}, "
            f"slots={self.graph.num_slots}, imbalance={self.imbalance:.3f})"
        )


Method = Callable[[Graph, int], Partition]

METHODS: dict[str, Method] = {
    "edges": lambda graph, parts: Partition(graph, "edges", read_only(cuts.by_slots(graph, parts))),
    "vertices": lambda graph, parts: Partition(graph, "vertices", read_only(cuts.by_vertices(graph, parts))),
}


def partition(g: Graph, parts: int, *, method: str = "edges") -> Partition:
    """Divide a graph among several parts: GPUs, processes, hosts.

    The same graph and arguments always give the same partition.

    Parameters
    ----------
    g : Graph
        The graph.
    parts : int
        Number of parts, at least 1. If there are fewer vertices than parts, some parts own none.
    method : {"edges", "vertices"}
        ``"edges"``: contiguous ranges of vertices that have about equal numbers of edge slots, where a vertex counts as
        one slot more. ``"vertices"``: contiguous ranges of equally many vertices.

    Raises
    ------
    GraphError
        If there is no such method, or ``parts`` is not a positive integer.

    Examples
    --------
    >>> p = fr.partition(fr.karate(), 4)
    >>> p.slots.tolist()
    [44, 34, 35, 43]
    >>> p.owner([0, 33])
    array([0, 3])
    """
    if method not in METHODS:
        raise GraphError(f"method must be one of {', '.join(map(repr, METHODS))}, not {method!r}")
    try:
        count = operator.index(parts)
    except TypeError:
        count = 0
    if count < 1 or isinstance(parts, bool):
        raise GraphError(f"parts must be an integer of at least 1, not {parts!r}")
    return METHODS[method](g, count)
