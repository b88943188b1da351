"""From and to NetworkX."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.display.tables import library
from frontier.errors import GraphError, warn
from frontier.graph.build import from_edges
from frontier.graph.convert_common import edge_slots, graph_on_host, kind_of_value
from frontier.graph.doubts import warn_of_duplicates
from frontier.graph.graph import Graph
from frontier.graph.kinds import door
from frontier.graph.networkx_arrays import Adjacency, array_of, column_of, values_of
from frontier.graph.topology import Array
from frontier.memory.shortage import telling

if TYPE_CHECKING:
    import networkx

__all__ = ["from_networkx", "plain_from_networkx", "to_networkx"]


@telling("making a graph")
def from_networkx(
    graph: Any,
    weight: str | None = "weight",
    *,
    attributes: bool | Iterable[str] = False,
    duplicates: str | None = None,
) -> Graph:
    """Make a graph from a NetworkX graph.

    Parameters
    ----------
    graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        Its nodes become vertices in their order, and the labels, unless they are 0 to n - 1 in
        that order.
    weight : str or None
        The edge attribute that holds the weight; an edge without it weighs 1, as in NetworkX.
        None: no weights.
    attributes : bool or iterable of str
        The other attributes of nodes and edges that become columns: all (True), none, or those of these names. A column
        has the dtype int64, float64 or bool if all its values are Python numbers of that type; else it holds objects,
        None where an attribute is missing. Attributes that are left out are named by a warning, unless names are given.
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
        It is not a NetworkX graph, a weight is not a real number, or there is no attribute of a name that is given.

    Notes
    -----
    Takes time proportional to the number of nodes and edges, in Python: about half a microsecond each.
    :func:`to_networkx` is the inverse.

    Examples
    --------
    >>> import networkx as nx
    >>> source = nx.Graph()
    >>> source.add_node("ann", age=31)
    >>> source.add_edge("ann", "bob", weight=2, since=1999)
    >>> g = fr.from_networkx(source, attributes=True)
    >>> g.vertices["age"].tolist(), g.edges["since"].tolist()
    ([31, None], [1999, 1999])
    """
    if not (hasattr(graph, "is_multigraph") and hasattr(graph, "edges")):
        way = door(graph) or "fr.from_edges takes the ends of edges"
        raise GraphError(f"from_networkx takes a NetworkX graph, not {kind_of_value(graph)}: {way}")
    read = Adjacency(graph)
    of_nodes = [data for _, data in graph.nodes(data=True)]
    there = [dict.fromkeys(chain.from_iterable(of_nodes)), dict.fromkeys(chain.from_iterable(read.data))]
    there[1].pop(weight if weight is not None or attributes else "weight", None)
    if attributes is False:
        if left_out := _left_out(*there):
            warn(left_out)
        return _made(read, weight, duplicates)
    if attributes is not True:
        there = _chosen(attributes, *there)
    vertices = {name: column_of(values_of(of_nodes, name, None)) for name in there[0]}
    edges = {name: column_of(read.values(name, None)) for name in there[1]}
    return _made(read, weight, duplicates, vertices, edges)


def _left_out(of_nodes: Iterable[Any], of_edges: Iterable[Any]) -> str:
    """What to say of the attributes that are left out; empty if there are none."""
    said = []
    if of_nodes:
        said.append(f"of nodes {', '.join(map(repr, of_nodes))}")
    if of_edges:
        said.append(
            f"of edges {', '.join(map(repr, of_edges))} (weight={next(iter(of_edges))!r} takes it for the weights)"
        )
    ways = "; attributes=True makes columns of them"
    return f"from_networkx leaves out attributes: {', and '.join(said)}{ways}" if said else ""


def _chosen(names: Iterable[str], *there: dict[str, None]) -> list[dict[str, None]]:
    """The attributes of nodes and of edges that have these names."""
    if isinstance(names, str) or not hasattr(names, "__iter__"):
        raise GraphError(f"attributes= is True, False or names such as ['age'], not {names!r}")
    wanted = dict.fromkeys(names)
    for name in wanted:
        if not any(name in known for known in there):
            known = ", ".join(map(repr, {**there[0], **there[1]})) or "none but the weight"
            raise GraphError(f"there is no attribute {name!r}: there is {known}")
    return [{name: None for name in wanted if name in known} for known in there]


def plain_from_networkx(graph: Any, weight: str | None = "weight", duplicates: str | None = None) -> Graph:
    """Do the work of :func:`from_networkx`, without a word of attributes."""
    return _made(Adjacency(graph), weight, duplicates)


def _made(
    read: Adjacency,
    weight: str | None,
    duplicates: str | None,
    vertices: Mapping[str, Array] | None = None,
    edges: Mapping[str, Array] | None = None,
) -> Graph:
    weights = None if weight is None else array_of(read.values(weight, 1))
    if duplicates is None and weights is not None and read.multi:
        _warn_of_parallel(read, weights)
    src, dst = read.ends
    return from_edges(
        src, dst, weights, num_vertices=len(read.nodes), directed=read.directed, duplicates=duplicates or "last",
        labels=None if read.plain else read.nodes, vertices=vertices, edges=edges,
    )  # fmt: skip


def _warn_of_parallel(read: Adjacency, weights: Any) -> None:
    """Warn if parallel edges of a multigraph have different weights."""
    src, dst = read.ends
    for i in np.flatnonzero((src[1:] == src[:-1]) & (dst[1:] == dst[:-1])).tolist():
        if weights[i] != weights[i + 1]:
            warn_of_duplicates(read.nodes[src[i]], read.nodes[dst[i]], None, "last")
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
        are attributes of their name, without the entries of objects that are None.

    Raises
    ------
    BackendUnavailableError
        NetworkX is not installed.

    Examples
    --------
    >>> fr.to_networkx(fr.from_edges(["ann"], ["bob"], [2.0])).edges(data=True)
    EdgeDataView([('ann', 'bob', {'weight': 2.0})])
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
    """Columns as one mapping for each entry; None among objects is no attribute."""
    if not columns:
        return ({} for _ in range(count))
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    if any(column.dtype.kind == "O" for column in columns.values()):
        return ({name: value for name, value in zip(columns, row, strict=True) if value is not None} for row in rows)
    return (dict(zip(columns, row, strict=True)) for row in rows)
