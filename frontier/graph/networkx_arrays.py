"""The dictionaries of a NetworkX graph as arrays: what ``fr.from_networkx`` and the backend for NetworkX read."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property
from itertools import chain, compress
from operator import itemgetter
from typing import Any

import numpy as np

from frontier.graph.topology import Array

__all__ = ["Adjacency", "array_of", "column_of", "values_of"]

#: Nodes that are integers are looked up in a table, if that has at most so many entries for each of them.
_SPREAD = 4


class Adjacency:
    """The nodes and edges of a NetworkX graph, read by chains over its dictionaries, without Python code for each edge.

    Node ``nodes[v]`` is vertex v. An *entry* is a neighbour in the adjacency dictionary of a node; edges of undirected
    graphs are in those of both ends, and are taken from the end that comes first.

    Parameters
    ----------
    graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        Subclasses and views, too.

    Attributes
    ----------
    nodes : list
    plain : bool
        Whether nodes are the integers 0 to n - 1 in that order.
    directed, multi : bool
    degrees : ndarray, shape (n,)
        Entries of each node.
    targets : ndarray of int64
        The neighbour of each entry.
    """

    def __init__(self, graph: Any) -> None:
        self.directed, self.multi = bool(graph.is_directed()), bool(graph.is_multigraph())
        self.nodes: list[Any] = list(graph)
        kinds = {*map(type, self.nodes)}
        numbers = all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds)
        self.plain = numbers and self.nodes == [*range(len(self.nodes))]
        by_node = dict(graph.adjacency())  # in another order, perhaps, where the graph is a view
        self._lists: list[Any] = [*map(by_node.__getitem__, self.nodes)]
        if any(type(neighbours) is not dict for neighbours in self._lists):
            # a view, whose neighbours may count more than there are: those of which all edges are hidden
            self._lists = [_plain(neighbours, self.multi) for neighbours in self._lists]
        self.degrees = np.fromiter(map(len, self._lists), np.int64, len(self._lists))
        self.targets = self._targets(kinds == {int})

    def _targets(self, integers: bool) -> Array:
        count = int(self.degrees.sum())
        ends: Iterable[Any] = chain.from_iterable(self._lists)
        if self.plain:
            return np.fromiter(ends, np.int64, count)
        if integers and min(self.nodes) >= 0 and max(self.nodes) < _SPREAD * len(self.nodes):
            table = np.empty(max(self.nodes) + 1, np.int64)
            table[self.nodes] = np.arange(len(self.nodes))
            return table[np.fromiter(ends, np.int64, count)]
        return np.fromiter(map(self.vertex_of.__getitem__, ends), np.int64, count)

    @cached_property
    def vertex_of(self) -> dict[Any, int]:
        """The vertex of each node."""
        return {node: v for v, node in enumerate(self.nodes)}

    @cached_property
    def sources(self) -> Array:
        """The node of each entry."""
        return np.repeat(np.arange(len(self.nodes)), self.degrees)

    @cached_property
    def once(self) -> Array | None:
        """Which entries are taken; None for all."""
        return None if self.directed else self.sources <= self.targets

    @cached_property
    def _taken(self) -> list[Any]:
        """What dictionaries say of the entries that are taken: attributes, or those of each key of a multigraph."""
        found = chain.from_iterable(neighbours.values() for neighbours in self._lists)
        return list(found if self.once is None else compress(found, self.once.tolist()))

    @cached_property
    def parallel(self) -> Array | None:
        """Of a multigraph: how many edges each entry that is taken stands for."""
        return np.fromiter(map(len, self._taken), np.int64, len(self._taken)) if self.multi else None

    @cached_property
    def data(self) -> list[dict[Any, Any]]:
        """The attributes of each edge."""
        return [*chain.from_iterable(keys.values() for keys in self._taken)] if self.multi else self._taken

    @cached_property
    def ends(self) -> tuple[Array, Array]:
        """Source and target of each edge; parallel ones come one after the other."""
        ends = self.sources, self.targets
        if self.once is not None:
            ends = ends[0][self.once], ends[1][self.once]
        if self.parallel is not None:
            ends = np.repeat(ends[0], self.parallel), np.repeat(ends[1], self.parallel)
        return ends

    @property
    def keys(self) -> list[Any]:
        """The key of each edge of a multigraph."""
        return list(chain.from_iterable(self._taken))

    def values(self, name: Hashable, default: Any) -> list[Any]:
        """An attribute of each edge."""
        return values_of(self.data, name, default)


def _plain(neighbours: Any, multi: bool) -> dict[Any, Any]:
    """The neighbours that a view shows, as dictionaries."""
    return {node: dict(edges.items()) if multi else edges for node, edges in neighbours.items()}


def values_of(data: list[dict[Any, Any]], name: Hashable, default: Any) -> list[Any]:
    """An attribute from each of many dictionaries."""
    try:
        return [*map(itemgetter(name), data)]  # twice as fast as asking each whether it has it
    except KeyError:
        return [attributes.get(name, default) for attributes in data]


def array_of(values: list[Any]) -> Any:
    """Python integers that fit int64, or floats, as an array; whatever else there is stays a list."""
    for kind, dtype in ((float, np.float64), (int, np.int64)):
        if {*map(type, values)} == {kind}:
            try:
                return np.fromiter(values, dtype, len(values))
            except OverflowError:
                break
    return values


def column_of(values: list[Any]) -> Array:
    """Attributes as a column: integers, floats or bools, if all are of the same type, else objects."""
    kinds = {*map(type, values)}
    for kind, dtype in ((bool, np.bool_), (float, np.float64), (int, np.int64)):
        if kinds == {kind}:
            try:
                return np.fromiter(values, dtype, len(values))
            except OverflowError:
                break
    return np.fromiter(values, object, len(values))
