"""The graph that functions of the backend are given: arrays of a NetworkX graph, and Frontier graphs made of them."""

from __future__ import annotations

import weakref
from collections.abc import Hashable, Iterable, Iterator
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np

import frontier as fr
from frontier.graph.networkx_arrays import Adjacency, array_of
from frontier.graph.topology import Array
from frontier.memory.arrays import to_host
from frontier.nx_backend.settings import setting

__all__ = ["ConvertedGraph", "convert", "host"]

#: The classes of graphs whose dictionaries are read; subclasses may have other rules of their own.
CLASSES = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)

#: The key of a mark in ``G.__networkx_cache__``, which NetworkX empties whenever the graph changes.
_MARK = "frontier"


def convert(graph: Any) -> ConvertedGraph:
    """Convert a graph, or return what it was converted to before, if it has not changed since."""
    if isinstance(graph, ConvertedGraph):
        return graph
    if type(graph) not in CLASSES:
        raise NotImplementedError(f"{type(graph).__name__} is a subclass of NetworkX's graphs, with rules of its own")
    cache = getattr(graph, "__networkx_cache__", None)
    if cache and nx.config.cache_converted_graphs:
        for found in cache.get("backends", {}).get("frontier", {}).values():
            if isinstance(found, ConvertedGraph):
                return found
    return ConvertedGraph(graph)


def host(array: Any) -> Array:
    """An array of a result, in the host's memory."""
    return np.asarray(to_host(array))


class ConvertedGraph:
    """A NetworkX graph as arrays. Vertex v is the node ``nodes[v]``.

    Frontier graphs are made of it by :meth:`graph`, and are kept, as are weights. The graph of NetworkX must not
    change while this is used; changes by its methods are noticed.

    Parameters
    ----------
    graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        A view, too, such as ``G.subgraph(nodes)``.
    """

    __networkx_backend__ = "frontier"

    def __init__(self, graph: Any) -> None:
        self.read = Adjacency(graph)
        self.nodes = self.read.nodes
        self._made: dict[Any, Any] = {}
        cache = getattr(graph, "__networkx_cache__", None)
        if hasattr(graph, "_graph") or type(graph._adj) is not dict:
            # a view: changes of the graph behind it empty another cache than its own
            graph.__networkx_cache__ = None
            self._graph: Any = graph
            self._mark = None
        else:
            self._kept = type(graph), graph._node, graph._adj, getattr(graph, "_pred", None), graph.graph
            self._graph = weakref.ref(graph)  # which has this one in its cache, and would wait for the collector
            self._mark = None if cache is None else cache.setdefault(_MARK, object())

    # -- as NetworkX sees it ---------------------------------------------------------------

    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        return self.read.directed

    def is_multigraph(self) -> bool:
        """Whether edges may be parallel."""
        return self.read.multi

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.nodes)

    def __contains__(self, node: Any) -> bool:
        try:
            return node in self._vertices
        except TypeError:  # not hashable
            return False

    def number_of_nodes(self) -> int:
        """Return the number of nodes."""
        return len(self.nodes)

    order = number_of_nodes

    def number_of_edges(self) -> int:
        """Return the number of edges."""
        return len(self.read.ends[0])

    def __repr__(self) -> str:
        kind = ("Multi" if self.read.multi else "") + ("DiGraph" if self.read.directed else "Graph")
        return f"<{kind} of {len(self):,} nodes, converted for Frontier>"

    def to_networkx(self) -> Any:
        """Return the graph that was converted, or one with the same dictionaries where that is gone.

        Raises
        ------
        RuntimeError
            It has changed since.
        """
        graph = self._graph() if isinstance(self._graph, weakref.ref) else self._graph
        if graph is None:
            return self._again()
        if self._mark is not None and (graph.__networkx_cache__ or {}).get(_MARK) is not self._mark:
            raise RuntimeError("the NetworkX graph has changed since it was converted: convert it again")
        return graph

    def _again(self) -> Any:
        kind, node, adj, pred, attributes = self._kept
        graph = kind()
        graph.graph, graph._node, graph._adj = attributes, node, adj
        if pred is not None:
            graph._pred = pred
        self._graph = graph
        self._mark = None
        return graph

    # -- nodes and vertices ----------------------------------------------------------------

    @property
    def _vertices(self) -> Any:
        return range(len(self.nodes)) if self.read.plain else self.read.vertex_of

    def vertex(self, node: Any) -> int:
        """The vertex of a node that is in the graph."""
        return int(node) if self.read.plain else self.read.vertex_of[node]

    def vertices(self, nodes: Iterable[Any]) -> list[int]:
        """The vertices of nodes; others are left out."""
        return [self.vertex(node) for node in nodes if node in self]

    def names(self, vertices: Array) -> list[Any]:
        """The nodes of vertices."""
        ids: list[Any] = np.asarray(vertices).tolist()
        return ids if self.read.plain else [*map(self.nodes.__getitem__, ids)]

    # -- edges -----------------------------------------------------------------------------

    @cached_property
    def has_loops(self) -> bool:
        """Whether an edge joins a node with itself."""
        return bool((self.read.sources == self.read.targets).any())

    def weights(self, name: Hashable, default: Any = 1) -> Array:
        """The numbers that an attribute gives to edges.

        Raises
        ------
        NotImplementedError
            If they are no numbers, or NaN.
        """
        key = ("weights", name, default)
        if key not in self._made:
            if "data" not in self.read.__dict__:
                self.to_networkx()  # whose dictionaries must not have changed
            self._made[key] = _numbers(array_of(self.read.values(name, default)), name)
        found: Array = self._made[key]
        return found

    def graph(
        self,
        weight: Hashable | None = None,
        *,
        parallel: str = "first",
        default: Any = 1,
        reverse: bool = False,
        negate: bool = False,
        loops: str = "keep",
        ones: bool = False,
    ) -> fr.Graph:
        """Return a Frontier graph, which is made once.

        Parameters
        ----------
        weight : str, optional
            The attribute that gives weights; an edge without it weighs ``default``.
        parallel : {"first", "min", "sum", "keep"}
            What becomes of parallel edges.
        reverse : bool
            Whether edges of a directed graph lead the other way.
        negate : bool
            Whether weights change their sign.
        loops : {"keep", "drop"}
            What becomes of edges from a node to itself.
        ones : bool
            Without ``weight``: whether edges weigh 1, so that parallel ones weigh more together.
        """
        reverse = reverse and self.read.directed
        parallel = parallel if self.read.multi else "first"
        key = (weight, parallel, default, reverse, negate, loops, ones, setting("device"))
        if key not in self._made and weight is None and not ones and parallel == "first" and not self.read.directed:
            self._made[key] = self._as_it_stands(loops).to(key[-1])
        if key not in self._made:
            src, dst = self.read.ends
            weights = self.weights(weight, default) if weight is not None else np.ones(len(src), int) if ones else None
            if weights is not None and negate:
                weights = -weights
            made = fr.from_edges(
                *((dst, src) if reverse else (src, dst)), weights, num_vertices=len(self), directed=self.read.directed,
                duplicates=parallel, self_loops=loops,
            )  # fmt: skip
            self._made[key] = made.to(key[-1])
        found: fr.Graph = self._made[key]
        return found

    def _as_it_stands(self, loops: str) -> fr.Graph:
        """An undirected graph of the entries of both ends, which saves a quarter of the time of one end's."""
        made = fr.from_edges(
            self.read.sources, self.read.targets, num_vertices=len(self), directed=True, duplicates="keep",
            self_loops=loops,
        )  # fmt: skip
        return fr.Graph(made.offsets, made.targets, directed=False, check=False)


def _numbers(values: Any, name: Hashable) -> Array:
    """Weights as an array of integers or floats."""
    array: Array = np.asarray(values) if len(values) else np.zeros(0, np.int64)
    if array.dtype.kind == "b":
        return array.astype(np.int64)
    if array.dtype.kind not in "iuf":
        raise NotImplementedError(f"values of {name!r} are no numbers, or some have too many digits")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise NotImplementedError(f"a value of {name!r} is NaN")
    return array
