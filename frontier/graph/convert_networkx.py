"""From and to NetworkX."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, compress
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.errors import GraphError, warn
from frontier.graph.build import from_edges
from frontier.graph.convert_common import edge_slots, graph_on_host, kind_of_value
from frontier.graph.doubts import warn_of_duplicates
from frontier.graph.graph import Graph
from frontier.graph.kinds import door
from frontier.graph.topology import Array
from frontier.memory.shortage import telling
from frontier.tables import library

if TYPE_CHECKING:
    import networkx

__all__ = ["from_networkx", "plain_from_networkx", "to_networkx"]


@telling("making a graph")
def from_networkx(graph: Any, weight: str | None = "weight", *, duplicates: str | None = None) -> Graph:
    """Make a graph from a NetworkX graph.

    Other attributes than the weight are left out, with a warning.

    Parameters
    ----------
    graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        Its nodes become vertices in their order, and the labels, unless they are 0 to n - 1 in
        that order.
    weight : str or None
        The edge attribute that holds the weight; an edge without it weighs 1, as in NetworkX.
        None: no weights.
    duplicates : str, optional
        What to do with parallel edges of a multigraph, as for :func:`from_edges`. Default: keep the last, with a
        warning if weights of parallel edges differ.

    Returns
    -------
    Graph
        On the cpu backend, directed if the NetworkX graph is.

    Raises
    ------
    GraphError
        It is not a NetworkX graph, or a weight is not a real number.

    Notes
    -----
    Takes time proportional to the number of nodes and edges, in Python: up to a microsecond each.
    """
    if not (hasattr(graph, "is_multigraph") and hasattr(graph, "edges")):
        way = door(graph) or "fr.from_edges takes the ends of edges"
        raise GraphError(f"from_networkx takes a NetworkX graph, not {kind_of_value(graph)}: {way}")
    left_out = _left_out(graph, weight)
    if left_out:
        warn(left_out)
    return plain_from_networkx(graph, weight, duplicates)


def _left_out(graph: Any, weight: str | None) -> str:
    """What to say of the attributes that are left out; empty if there are none."""
    of_nodes = dict.fromkeys(chain.from_iterable(data for _, data in graph.nodes(data=True)))
    of_edges = dict.fromkeys(chain.from_iterable(_edge_data(graph)))
    of_edges.pop("weight" if weight is None else weight, None)
    said = []
    if of_nodes:
        first = next(iter(of_nodes))
        said.append(
            f"of nodes {', '.join(map(repr, of_nodes))} (g.with_columns(vertices={{{first!r}: "
            f"[x for _, x in graph.nodes(data={first!r})]}}) adds it)"
        )
    if of_edges:
        said.append(
            f"of edges {', '.join(map(repr, of_edges))} (weight={next(iter(of_edges))!r} takes it for the weights)"
        )
    return f"from_networkx leaves out attributes: {', and '.join(said)}" if said else ""


def _edge_data(graph: Any) -> Iterator[dict[Any, Any]]:
    """The dictionaries of attributes of all edges, in the order of adjacency lists."""
    data = chain.from_iterable(neighbours.values() for _, neighbours in graph.adjacency())
    return chain.from_iterable(each.values() for each in data) if graph.is_multigraph() else data


def plain_from_networkx(graph: Any, weight: str | None = "weight", duplicates: str | None = None) -> Graph:
    """Do the work of :func:`from_networkx`, without a word of attributes."""
    nodes = list(graph)
    numbers = all(issubclass(kind, int | np.integer) and kind is not bool for kind in {*map(type, nodes)})
    plain = numbers and nodes == [*range(len(nodes))]
    make = _of_multigraph if graph.is_multigraph() else _of_adjacency
    src, dst, weights = make(graph, nodes, plain, weight)
    if duplicates is None and weights is not None and graph.is_multigraph():
        _warn_of_parallel(graph, weights)
    return from_edges(
        src, dst, weights, num_vertices=len(nodes), directed=graph.is_directed(), duplicates=duplicates or "last",
        labels=None if plain else nodes,
    )  # fmt: skip


def _of_adjacency(graph: Any, nodes: list[Any], plain: bool, weight: str | None) -> tuple[Array, Array, Any]:
    """Ends and weights of a graph without parallel edges: its dictionaries, one after another, without a tuple each."""
    lists = [neighbours for _, neighbours in graph.adjacency()]
    sizes = np.fromiter(map(len, lists), np.int64, len(lists))
    count = int(sizes.sum())
    targets: Any = chain.from_iterable(lists)
    if not plain:
        targets = map({node: v for v, node in enumerate(nodes)}.__getitem__, targets)
    src, dst = np.repeat(np.arange(len(nodes)), sizes), np.fromiter(targets, np.int64, count)
    weights: Any = None
    if weight is not None:
        weights = [data.get(weight, 1) for data in chain.from_iterable(each.values() for each in lists)]
    if graph.is_directed():
        return src, dst, weights
    once = src <= dst  # an edge is in the lists of both ends
    return src[once], dst[once], None if weights is None else list(compress(weights, once.tolist()))


def _of_multigraph(graph: Any, nodes: list[Any], plain: bool, weight: str | None) -> tuple[Array, Array, Any]:
    """Ends and weights of edges of which some may be parallel, in the order in which they were added."""
    id_of = {node: v for v, node in enumerate(nodes)}
    count = graph.number_of_edges()
    src = np.fromiter((id_of[s] for s, _ in graph.edges()), np.int64, count)
    dst = np.fromiter((id_of[d] for _, d in graph.edges()), np.int64, count)
    return src, dst, None if weight is None else [w for _, _, w in graph.edges(data=weight, default=1)]


def _warn_of_parallel(graph: Any, weights: list[Any]) -> None:
    """Warn if parallel edges of a multigraph have different weights."""
    first: dict[Any, Any] = {}
    for (s, d), weight in zip(graph.edges(), weights, strict=True):
        ends = (s, d) if graph.is_directed() or (d, s) not in first else (d, s)
        if first.setdefault(ends, weight) != weight:
            warn_of_duplicates(s, d, None, "last")
            return


@telling("to_networkx")
def to_networkx(graph: Graph) -> networkx.Graph:
    """Return a NetworkX graph with the same vertices, edges and columns.

    Parameters
    ----------
    graph : Graph
        Of any kind.

    Returns
    -------
    networkx.Graph or DiGraph, or MultiGraph or MultiDiGraph if there are parallel edges
        Nodes are the labels, or the ids. Weights are the edge attribute ``"weight"``; columns
        are attributes of their name.

    Raises
    ------
    BackendUnavailableError
        NetworkX is not installed.
    """
    nx = library("networkx", "NetworkX")
    graph = graph_on_host(graph, "to_networkx")
    with graph._topology.reading():
        return _in_networkx(nx, graph)


def _in_networkx(nx: Any, graph: Graph) -> networkx.Graph:
    slots = edge_slots(graph)
    src, dst = graph.sources[slots], graph.targets[slots]
    kinds = [[nx.Graph, nx.DiGraph], [nx.MultiGraph, nx.MultiDiGraph]]
    parallel = bool(np.any((src[1:] == src[:-1]) & (dst[1:] == dst[:-1])))
    result = kinds[parallel][graph.directed]()
    names = range(graph.num_vertices) if graph.labels is None else graph.labels.tolist()
    result.add_nodes_from(zip(names, _attributes(graph.vertices, graph.num_vertices), strict=True))
    data = {name: column[slots] for name, column in graph.edges.items()}
    if graph.weights is not None:
        data["weight"] = graph.weights[slots]
    result.add_edges_from(
        (names[s], names[d], attributes)
        for s, d, attributes in zip(src.tolist(), dst.tolist(), _attributes(data, len(src)), strict=True)
    )
    return result


def _attributes(columns: Any, count: int) -> Iterable[dict[str, Any]]:
    """Columns as one mapping for each entry."""
    if not columns:
        return ({} for _ in range(count))
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return (dict(zip(columns, row, strict=True)) for row in rows)
