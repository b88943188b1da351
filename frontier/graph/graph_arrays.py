"""What a graph is made of: its size and kind, its arrays, and what is derived from them on first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from frontier.graph import derived as _derived
from frontier.graph.packed import PackedIds
from frontier.graph.topology import Array, Topology, plain
from frontier.graph.traits import Traits
from frontier.memory.placement import Placement
from frontier.memory.reuse import anew

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = ["GraphArrays"]

Value = TypeVar("Value")


class GraphArrays:
    """The part of :class:`frontier.Graph` on which its other bases stand: arrays, and what is derived from them."""

    __slots__ = ("__weakref__", "_placement", "_topology")

    _placement: Placement
    _topology: Topology

    @property
    def _graph(self) -> Graph:
        """The graph itself, for functions that take one: a base class has no objects of its own."""
        return cast("Graph", self)

    # -- size and kind ---------------------------------------------------------------------

    @property
    def num_vertices(self) -> int:
        """Number of vertices, n."""
        return len(self._topology.offsets) - 1

    @property
    def num_edges(self) -> int:
        """Number of edges; an edge that is stored in both directions, as in an undirected graph, counts once."""
        if self.directed:
            return self.num_slots
        return (self.num_slots + self._once("num_loops", lambda: _derived.num_loops(self._graph))) // 2

    @property
    def num_slots(self) -> int:
        """Number of edge slots, m, the length of ``targets``: an undirected edge has two, a self-loop one."""
        return self._topology.num_slots

    @property
    def directed(self) -> bool:
        """Whether an edge goes one way only."""
        return self._topology.directed

    @property
    def symmetric(self) -> bool:
        """Whether every edge is known to have a reverse edge with the same weight."""
        return not self._topology.directed

    @property
    def placement(self) -> Placement:
        """Where the arrays of this graph lie, and which backend computes on them."""
        return self._placement

    @property
    def backend(self) -> str:
        """The placement as a string, such as ``"cpu"`` or ``"cuda:1"``."""
        return self._placement.name

    # -- arrays ----------------------------------------------------------------------------

    @property
    def offsets(self) -> Array:
        """Where each vertex's edge slots begin, shape (n + 1,)."""
        return self._topology.offsets

    @property
    def targets(self) -> Array:
        """Target of each edge slot, shape (m,), ascending within each adjacency list.

        If lists are :meth:`compressed`, the array is made anew, in O(m), whenever nobody has it any more.
        """
        return self._topology.targets

    @property
    def id_dtype(self) -> np.dtype[Any]:
        """Dtype of vertex ids: int32, or int64 from 2**31 vertices on."""
        return self._topology.id_dtype

    @property
    def weights(self) -> Array | None:
        """Weight of each edge slot, shape (m,), or None."""
        return self._topology.weights

    @property
    def labels(self) -> Array | None:
        """Name of each vertex, shape (n,), or None."""
        return self._topology.labels

    @property
    def vertices(self) -> Mapping[str, Array]:
        """Columns of vertex data by name, each of shape (n,)."""
        return MappingProxyType(self._topology.vertices)

    @property
    def edges(self) -> Mapping[str, Array]:
        """Columns of edge data by name, each of shape (m,), in slot order."""
        return MappingProxyType(self._topology.edges)

    @property
    def sources(self) -> Array:
        """Source of each edge slot, shape (m,); built when first used."""
        return self._once("sources", lambda: _derived.sources(self._graph))

    @property
    def out_degree(self) -> Array:
        """Number of edge slots of each vertex, shape (n,)."""
        return self._once("out_degree", lambda: _derived.out_degree(self._graph))

    @property
    def out_weight(self) -> Array | None:
        """Sum of the weights of each vertex's edge slots, shape (n,), float64; None if there are no weights."""
        return None if self.weights is None else self._once("out_weight", lambda: _derived.out_weight(self._graph))

    @property
    def max_degree(self) -> int:
        """Largest number of edge slots of a vertex; 0 if there is no vertex."""
        return self._once("max_degree", lambda: _derived.max_degree(self._graph))

    @property
    def in_degree(self) -> Array:
        """Number of in-edges of each vertex, shape (n,)."""
        if self.symmetric:
            return self.out_degree
        return self._once("in_degree", lambda: _derived.in_degree(self._graph))

    @property
    def in_offsets(self) -> Array:
        """Where each vertex's in-edges begin, shape (n + 1,); ``offsets`` if the graph is symmetric."""
        return self.offsets if self.symmetric else self._in_lists()[0]

    @property
    def in_sources(self) -> Array:
        """Source of each in-edge, shape (m,), ascending in each list.

        The same array as ``targets`` if the graph is symmetric.
        """
        return self.targets if self.symmetric else plain(self._in_lists()[1])

    @property
    def in_edges(self) -> Array:
        """Edge slot of each in-edge, shape (m,), in the offsets' dtype.

        Built only when used: ``weights[in_edges]`` are the weights of the in-edges.
        """
        return self._once("in_edges", lambda: _derived.in_edges(self._graph))

    @property
    def min_weight(self) -> Any:
        """Smallest weight; None if there is no weight."""
        return self._once("min_weight", lambda: _derived.smallest(self.weights))

    @property
    def max_weight(self) -> Any:
        """Largest weight; None if there is no weight."""
        return self._once("max_weight", lambda: _derived.largest(self.weights))

    @property
    def traits(self) -> Traits:
        """Properties of the graph, computed once: degrees, and whether it is symmetric.

        Use them to choose between variants of a program: ``Few if g.traits.short_lists else Many``.
        """
        return self._once(
            "traits", lambda: Traits.of(self.num_vertices, self.num_slots, self.max_degree, self.symmetric)
        )

    def cached(self, name: str, make: Callable[[], Value]) -> Value:
        """Return a value derived from the graph. It is computed on first use and kept as long as the graph's arrays.

        Parameters
        ----------
        name : str
            The key of the value; include the name of your module in it.
        make : callable
            Computes the value. It must depend only on the graph, because graphs that share the same arrays share the
            value. It is called once, even if several threads need the value, and may use other cached values. A NumPy
            array becomes read-only.

        Examples
        --------
        >>> g = fr.karate()
        >>> g.cached("mine.leaves", lambda: int((g.out_degree == 1).sum()))
        1
        """
        return self._once(f"cached {name}", make)

    def _in_lists(self) -> tuple[Array, Array | PackedIds]:
        return self._once("in_lists", lambda: _derived.in_lists(self._graph))

    def _once(self, name: str, make: Callable[[], Value]) -> Value:
        """Return a derived value, made when it is first asked for."""
        found: Value | None = self._topology.derived.get(name)
        if found is None:
            memory = self._placement.memory
            with anew(), memory.using(f"the {name.replace('_', ' ')} of a graph"):
                found = self._topology.once(name, make, memory.synchronize)
        return found
