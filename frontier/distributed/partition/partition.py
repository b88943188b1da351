"""The class Partition, and ``fr.partition``, which makes one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from frontier.distributed.partition import blocks as _blocks
from frontier.distributed.partition import cuts
from frontier.distributed.partition import projection as _projection
from frontier.distributed.partition import traffic as _exchange
from frontier.distributed.partition.arguments import integer
from frontier.distributed.partition.blocks import Block
from frontier.distributed.partition.projection import Machine, Projection
from frontier.distributed.partition.traffic import Exchange
from frontier.errors import GraphError
from frontier.graph.graph import Graph
from frontier.graph.topology import Array, read_only
from frontier.memory.arrays import adopt, is_device, namespace_of

__all__ = ["METHODS", "Partition", "partition"]


@dataclass(frozen=True, eq=False, repr=False)
class Partition:
    """A division of a graph's vertices and edges among several parts; made by :func:`frontier.partition`.

    Parts lie in a grid, one column after another: part ``column * rows + row``. Each part owns the vertices of one
    contiguous range of ids, and holds the edges from vertices that its column owns to vertices that its row owns. A 1-D
    partition has one row, so that a part holds all out-edges of its own vertices.

    Attributes
    ----------
    graph : Graph
        The graph that is divided: the one given to :func:`frontier.partition`, or, if ``order`` is not None, that graph
        with its vertices renumbered, or without isolated ones. All ids of vertices are ids of this graph.
    method : str
        How it was divided.
    rows, columns : int
        Shape of the grid.
    starts : ndarray of int64, shape (parts + 1,)
        Part i owns the vertices ``starts[i]`` to ``starts[i + 1] - 1``. A part may own none.
    order : ndarray of int64, shape (n,), or None
        Entry i is the given graph's id of the vertex i of :attr:`graph`; None if the ids are the same.

    Examples
    --------
    >>> parts = fr.partition(fr.grid(4, 4), 2)
    >>> parts.rows, parts.columns, parts.starts
    (1, 2, array([ 0,  8, 16]))
    """

    graph: Graph
    method: str
    rows: int
    columns: int
    starts: Array
    order: Array | None = None

    @property
    def parts(self) -> int:
        """Number of parts."""
        return self.rows * self.columns

    @property
    def ranges(self) -> list[range]:
        """Ids of the vertices that each part owns."""
        return [range(first, stop) for first, stop in itertools.pairwise(self.starts.tolist())]

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
        if not is_device(vertices):
            return self._owner(np.asarray(vertices))
        ids = adopt(vertices, "vertices")
        with nullcontext() if isinstance(ids, np.ndarray) else ids.device:
            return self._owner(ids)

    def _owner(self, ids: Any) -> Any:
        xp = namespace_of(ids)
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
        with self.graph.placement.memory.using("the sizes of a partition"):
            return read_only(_blocks.sizes(self))

    @property
    def imbalance(self) -> float:
        """Most edge slots of a part over the mean; 1.0 if all parts have equally many, or there are no edges."""
        most = int(self.slots.max())
        return most * self.parts / self.graph.num_slots if most else 1.0

    def block(self, part: int) -> Block:
        """Return the edges that a part holds, in host memory; only the adjacency lists of its column are read."""
        if integer(part, "part", 0) >= self.parts:
            raise GraphError(f"part {part}: parts are 0 to {self.parts - 1}")
        with self.graph.placement.memory.using("a block of a partition"):
            return _blocks.block(self, part)

    def blocks(self) -> Iterator[Block]:
        """Yield the edges of each part, one part after another. Each edge slot of the graph is in exactly one."""
        return map(self.block, range(self.parts))

    def exchanged(self, levels: Any, *, payload: int = 0) -> Exchange:
        """Count the bytes that the parts send to each other in a breadth-first search.

        In each level, each owner sends its new vertices to the other parts of its column, which hold edges of these
        (*expand*). Then each part sends the vertices that it has found to their owners, which are in its row (*fold*);
        it sends each vertex at most once in a search. With one row there is nothing to expand, with one column nothing
        to fold. Each message is a list of ids or a bitmap of the owner's vertices, whichever has fewer bytes. A message
        with nothing in it costs nothing. All levels are counted as pushes.

        Parameters
        ----------
        levels : array_like of int, shape (n,)
            Level of each vertex of :attr:`graph`, less than 0 if it is not reached: ``fr.bfs(p.graph, 0).level``.
        payload : int
            Bytes that travel with each vertex that is folded, in addition to its id or bit: 4 for a parent.

        Returns
        -------
        Exchange
            Bytes by level.

        Raises
        ------
        GraphError
            If there is not one integer for each vertex, or ``payload`` is less than 0.
        """
        return _exchange.exchanged(self, levels, integer(payload, "payload", 0))

    def projected(self, task: str = "bfs", *, machine: Machine | None = None, **sizes: Any) -> Projection:
        """Project the time of a search or of an iteration of PageRank with each part on a GPU. This is not measured.

        The formula is that of :func:`frontier.distributed.partition.projection.projected`.

        Parameters
        ----------
        task : {"bfs", "pagerank"}
            What is computed.
        machine : Machine, optional
            The constants. Default: those measured on four H200.
        **sizes
            Other arguments of that function: ``parts`` and ``rows`` for another grid, ``vertices`` and ``slots`` for a
            larger graph, ``levels`` and ``dense`` for another search.

        Returns
        -------
        Projection
            The time and what it consists of.

        Raises
        ------
        GraphError
            As that function does.
        """
        given = {"vertices": self.graph.num_vertices, "slots": self.graph.num_slots, "parts": self.parts} | sizes
        if "parts" not in sizes and "rows" not in sizes:
            given = {"rows": self.rows, "imbalance": self.imbalance} | given
        return _projection.projected(task=task, machine=machine, **given)

    def __repr__(self) -> str:
        grid = f"parts={self.parts}" if self.rows == 1 else f"rows={self.rows}, columns={self.columns}"
        return (
            f"Partition({self.method!r}, {grid}, vertices={self.graph.num_vertices}, "
            f"slots={self.graph.num_slots}, imbalance={self.imbalance:.3f})"
        )


def _edges(g: Graph, parts: int, rows: int) -> Partition:
    return Partition(g, "edges", rows, parts // rows, read_only(cuts.by_slots(g, parts)))


def _vertices(g: Graph, parts: int, rows: int) -> Partition:
    return Partition(g, "vertices", rows, parts // rows, read_only(cuts.by_vertices(g, parts)))


def _hubs(g: Graph, parts: int, rows: int) -> Partition:
    order, starts = cuts.by_hubs(g, parts)
    return Partition(g.reordered(order), "hubs", rows, parts // rows, read_only(starts), read_only(order))


def _grid(g: Graph, parts: int, rows: int) -> Partition:
    return Partition(g, "2d", rows, parts // rows, read_only(cuts.by_slots(g, parts)))


METHODS: dict[str, Callable[[Graph, int, int], Partition]] = {
    "edges": _edges,
    "vertices": _vertices,
    "hubs": _hubs,
    "2d": _grid,
}


def partition(
    g: Graph, parts: int, *, method: str = "edges", rows: int | None = None, isolated: str = "keep"
) -> Partition:
    """Divide a graph among several parts: GPUs, processes, hosts.

    The same graph and arguments always give the same partition.

    Parameters
    ----------
    g : Graph
        The graph.
    parts : int
        Number of parts, at least 1. If there are fewer vertices than parts, some parts own none.
    method : {"edges", "vertices", "hubs", "2d"}
        Which vertices a part owns. ``"edges"``: contiguous ranges that have about equal numbers of edge slots, where a
        vertex counts as one slot more. ``"vertices"``: contiguous ranges of equally many vertices. ``"hubs"``: vertices
        of more than 8 times the mean degree are dealt out in turn, and the others fill the parts up; the vertices are
        renumbered so that each part owns a contiguous range, which ends with its share of the isolated vertices.
        ``"2d"``: as ``"edges"``, in a grid that is as square as possible.
    rows : int, optional
        Rows of the grid, a divisor of ``parts``. Default: 1, or for ``"2d"`` the largest divisor up to the square root
        of ``parts``: 4 of 16 parts, 2 of 8, and 1 of a prime number of parts.
    isolated : {"keep", "drop"}
        What to do with vertices that have no edges, to or from. ``"drop"``: the others are numbered anew without them,
        in their order, before they are divided; see :attr:`Partition.order`, which is None if there are no such
        vertices, unless the method is ``"hubs"``.

    Returns
    -------
    Partition
        Who owns which vertex, and who holds which edge.

    Raises
    ------
    GraphError
        If ``g`` is no graph, there is no such method, ``parts`` is less than 1, ``rows`` does not divide it, or
        isolated vertices shall be dropped from a graph in parts.

    Examples
    --------
    >>> p = fr.partition(fr.karate(), 4)
    >>> p.slots.tolist()
    [44, 34, 35, 43]
    >>> p.owner([0, 33])
    array([0, 3])
    """
    if not isinstance(g, Graph):
        raise GraphError(
            f"partition takes a frontier.Graph, not {type(g).__module__.partition('.')[0]}.{type(g).__name__}: "
            "fr.from_edges, fr.from_networkx make one"
        )
    if method not in METHODS:
        raise GraphError(f"method must be one of {', '.join(map(repr, METHODS))}, not {method!r}")
    count = integer(parts, "parts", 1)
    high = integer(rows, "rows", 1) if rows is not None else cuts.most_square(count) if method == "2d" else 1
    if count % high:
        raise GraphError(f"{count} parts cannot be in {high} rows of equally many")
    if isolated not in ("keep", "drop"):
        raise GraphError(f"isolated must be 'keep' or 'drop', not {isolated!r}")
    with g.placement.memory.using("a partition of a graph"):
        linked = cuts.with_edges(g) if isolated == "drop" else np.ones(1, bool)
        if linked.all():
            return METHODS[method](g, count, high)
        vertices = np.flatnonzero(linked)
        made = METHODS[method](g.induced(linked), count, high)
        return replace(made, order=read_only(vertices if made.order is None else vertices[made.order]))
