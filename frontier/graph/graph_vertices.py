"""The vertices of a graph by name: their ids, neighbours and degrees, and values by label."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from frontier.errors import GraphError
from frontier.graph.graph_arrays import GraphArrays
from frontier.graph.labels import VertexNames, checked_id
from frontier.memory.arrays import to_host

__all__ = ["GraphVertices"]


class GraphVertices(GraphArrays):
    """The part of :class:`frontier.Graph` that knows vertices by their labels, or by their ids if there are none."""

    __slots__ = ()

    def vertex_id(self, vertex: Any) -> int:
        """Return the id of a vertex, given its label, or its id if the graph has no labels.

        Parameters
        ----------
        vertex : object
            A label if the graph has labels; else an integer from 0 to n - 1.

        Raises
        ------
        GraphError
            If there is no such vertex.

        Examples
        --------
        >>> fr.from_edges(["ann"], ["bob"]).vertex_id("bob")
        1
        """
        return self.names.find(vertex)

    @property
    def names(self) -> VertexNames:
        """The names of the vertices, labels or ids, as results use them."""
        return self._once("names", lambda: VertexNames(self.labels, self.num_vertices))

    def __len__(self) -> int:
        """Number of vertices."""
        return self.num_vertices

    def __bool__(self) -> bool:
        """True, also without vertices: a graph is there."""
        return True

    def __iter__(self) -> Iterator[Any]:
        """The names of the vertices: labels, or ids if there are none."""
        return iter(self.names.column().tolist())

    def __contains__(self, vertex: Any) -> bool:
        """Whether there is a vertex of this name."""
        return vertex in self.names

    def neighbors(self, vertex: Any) -> list[Any]:
        """Return the vertices to which an edge leads from a vertex, by their names, in the order of ids.

        Those from which an edge leads to it are ``g.reverse().neighbors(vertex)``.

        Parameters
        ----------
        vertex : object
            A label if the graph has labels, else an id.

        Raises
        ------
        GraphError
            If there is no such vertex.

        Notes
        -----
        For looking at a graph; functors use :func:`frontier.neighbours`.

        Examples
        --------
        >>> fr.from_edges(["ann", "ann"], ["bob", "cid"]).neighbors("ann")
        ['bob', 'cid']
        """
        v = self.vertex_id(vertex)
        lo, hi = to_host(self.offsets[v : v + 2]).tolist()
        return self.names.of(to_host(self.targets[lo:hi]))

    def degree(self, vertex: Any) -> int:
        """Return the number of edges at a vertex: of a directed graph those in and out; a self-loop counts twice.

        Parameters
        ----------
        vertex : object
            A label if the graph has labels, else an id.

        Raises
        ------
        GraphError
            If there is no such vertex.

        Notes
        -----
        ``g.out_degree`` and ``g.in_degree`` are arrays for all vertices.

        Examples
        --------
        >>> fr.from_edges(["ann", "ann"], ["bob", "ann"]).degree("ann")
        3
        """
        v = self.vertex_id(vertex)
        if self.directed:
            return int(self.out_degree[v]) + int(self.in_degree[v])
        lo, hi = to_host(self.offsets[v : v + 2]).tolist()
        return int(hi - lo + (to_host(self.targets[lo:hi]) == v).sum())

    def by_label(self, values: Any) -> dict[Any, Any]:
        """Return a result by label: ``g.by_label(fr.bfs(g, "a").level)["b"]``.

        Parameters
        ----------
        values : array-like, shape (n,)
            Entry v belongs to vertex v.

        Returns
        -------
        dict
            From label (or id, if the graph has no labels) to value.

        Raises
        ------
        GraphError
            If there is not one value for each vertex.

        Examples
        --------
        >>> g = fr.from_edges(["ann"], ["bob"])
        >>> g.by_label(g.out_degree)
        {'ann': 1, 'bob': 1}
        """
        array = to_host(values)
        if array.shape != (self.num_vertices,):
            raise GraphError(f"values of shape {array.shape}, but there are {self.num_vertices} vertices")
        return dict(zip(self.names.column().tolist(), array.tolist(), strict=True))

    def labels_of(self, vertices: Any) -> list[Any]:
        """Return the labels of vertices, None for each that is -1: ``g.labels_of(fr.bfs(g, "a").parent)``.

        Parameters
        ----------
        vertices : array-like of int
            Ids, or -1, as results have them; ``g.labels[-1]`` would be the last label.

        Returns
        -------
        list
            Labels, or ids if the graph has no labels.

        Raises
        ------
        GraphError
            If there is no such vertex.

        Examples
        --------
        >>> fr.from_edges(["ann"], ["bob"]).labels_of([1, -1])
        ['bob', None]
        """
        ids = np.asarray(to_host(vertices))
        if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
            raise GraphError(f"labels_of takes a list of ids, not {ids.dtype} of shape {ids.shape}")
        wrong = (ids < -1) | (ids >= self.num_vertices)
        if wrong.any():
            checked_id(ids[wrong][0], self.num_vertices)  # which says what is wrong
        return self.names.of(ids)
