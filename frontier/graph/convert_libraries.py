"""From graphs of igraph, rustworkx, networkit, graph-tool, python-graphblas and PyTorch Geometric, and to the last."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from frontier.display.tables import library
from frontier.errors import GraphError, warn
from frontier.graph.build import from_edges
from frontier.graph.convert_common import graph_on_host, kind_of_value, undirected_if_symmetric
from frontier.graph.graph import Graph
from frontier.graph.kinds import KINDS, door
from frontier.graph.topology import Array
from frontier.memory.shortage import telling

__all__ = [
    "from_graph_tool", "from_graphblas", "from_igraph", "from_networkit", "from_pyg", "from_rustworkx", "to_pyg",
]  # fmt: skip


def _check(value: Any, function: str) -> None:
    """Refuse what is not of the kind that a function takes."""
    kind = next(kind for kind in KINDS if kind.function == function)
    if not kind.is_one(value):
        way = door(value) or "fr.from_edges takes the ends of edges"
        raise GraphError(f"{function} takes a {kind.name}, not {kind_of_value(value)}: {way}")


@telling("making a graph")
def from_igraph(graph: Any, weight: str | None = "weight", *, duplicates: str | None = None) -> Graph:
    """Make a graph from a graph of igraph.

    Parameters
    ----------
    graph : igraph.Graph
        Vertices keep their numbers; their attribute ``name``, if there is one, becomes their labels.
    weight : str or None
        The edge attribute that holds the weights; None: no weights. A graph without this attribute has none.
    duplicates : str, optional
        What to do with parallel edges, as for :func:`from_edges`.

    Returns
    -------
    Graph
        Directed if the other is.

    Raises
    ------
    GraphError
        It is no graph of igraph, or a weight is not a real number.

    Notes
    -----
    Takes time proportional to the number of edges; igraph makes a tuple of each.

    Examples
    --------
    >>> import igraph
    >>> fr.from_igraph(igraph.Graph([(0, 1), (1, 2)]))
    <Graph: undirected, 3 vertices, 2 edges (4 slots); cpu>
    """
    _check(graph, "from_igraph")
    count = graph.ecount()
    ends = np.fromiter(itertools.chain.from_iterable(graph.get_edgelist()), np.int64, 2 * count)
    return from_edges(
        ends[::2],
        ends[1::2],
        graph.es[weight] if weight is not None and weight in graph.es.attributes() else None,
        num_vertices=graph.vcount(),
        directed=graph.is_directed(),
        duplicates=duplicates,
        labels=graph.vs["name"] if "name" in graph.vs.attributes() else None,
    )


@telling("making a graph")
def from_rustworkx(graph: Any, *, duplicates: str | None = None, labels: bool = True) -> Graph:
    """Make a graph from a graph of rustworkx.

    Parameters
    ----------
    graph : rustworkx.PyGraph or PyDiGraph
        If the data of all edges are numbers, they are the weights. Vertices are numbered in the order of their indices.
    duplicates : str, optional
        What to do with parallel edges, as for :func:`from_edges`.
    labels : bool
        Whether the data of vertices become their labels, if they are text or numbers and no two are equal.

    Returns
    -------
    Graph
        Directed if the other is.

    Raises
    ------
    GraphError
        It is no graph of rustworkx.

    Examples
    --------
    >>> import rustworkx
    >>> graph = rustworkx.PyGraph()
    >>> nodes = graph.add_nodes_from(["ann", "bob", "cid"])
    >>> edges = graph.add_edges_from([(0, 1, 0.5), (1, 2, 2.0)])
    >>> fr.from_rustworkx(graph).neighbors("bob")
    ['ann', 'cid']
    """
    _check(graph, "from_rustworkx")
    indices = np.asarray(graph.node_indices(), np.int64)
    ends = np.asarray(graph.edge_list(), np.int64).reshape(-1, 2)
    if len(indices) and int(indices[-1]) != len(indices) - 1:  # some have been removed
        ends = np.searchsorted(indices, ends)
    data = graph.edges()
    weights = data if data and all(isinstance(x, int | float) for x in data) else None
    if weights is None and any(x is not None for x in data):
        warn("from_rustworkx leaves out the data of edges, which are no numbers")
    names = graph.nodes()
    named = labels and bool(names) and all(isinstance(x, str | int) for x in names) and len({*names}) == len(names)
    return from_edges(
        ends[:, 0],
        ends[:, 1],
        weights,
        num_vertices=len(indices),
        directed=type(graph).__name__ == "PyDiGraph",
        duplicates=duplicates,
        labels=names if named and names != [*range(len(names))] else None,
    )


@telling("making a graph")
def from_networkit(graph: Any, *, duplicates: str | None = None) -> Graph:
    """Make a graph from a graph of networkit.

    Parameters
    ----------
    graph : networkit.Graph
        Vertices keep their numbers; those that have been removed have no edges here.
    duplicates : str, optional
        What to do with parallel edges, as for :func:`from_edges`.

    Returns
    -------
    Graph
        Directed, and with weights, if the other is.

    Raises
    ------
    GraphError
        It is no graph of networkit.

    Examples
    --------
    >>> import networkit
    >>> graph = networkit.Graph(3)
    >>> added = graph.addEdge(0, 1), graph.addEdge(1, 2)
    >>> fr.from_networkit(graph)
    <Graph: undirected, 3 vertices, 2 edges (4 slots); cpu>
    """
    _check(graph, "from_networkit")
    count, bound = graph.numberOfEdges(), graph.upperNodeIdBound()
    if graph.isWeighted():
        edges = np.fromiter(
            itertools.chain.from_iterable(graph.iterEdgesWeights()), np.float64, 3 * count
        ).reshape(-1, 3)
        return from_edges(
            edges[:, 0].astype(np.int64), edges[:, 1].astype(np.int64), edges[:, 2], num_vertices=bound,
            directed=graph.isDirected(), duplicates=duplicates,
        )  # fmt: skip
    ends = np.fromiter(itertools.chain.from_iterable(graph.iterEdges()), np.int64, 2 * count).reshape(-1, 2)
    return from_edges(
        ends[:, 0], ends[:, 1], num_vertices=bound, directed=graph.isDirected(), duplicates=duplicates
    )


@telling("making a graph")
def from_graph_tool(graph: Any, weight: str | None = "weight", *, duplicates: str | None = None) -> Graph:
    """Make a graph from a graph of graph-tool.

    Parameters
    ----------
    graph : graph_tool.Graph
        Vertices keep their numbers.
    weight : str or None
        The internal edge property that holds the weights; None: no weights. A graph without it has none.
    duplicates : str, optional
        What to do with parallel edges, as for :func:`from_edges`.

    Returns
    -------
    Graph
        Directed if the other is.

    Raises
    ------
    GraphError
        It is no graph of graph-tool.

    Examples
    --------
    >>> import graph_tool  # doctest: +SKIP
    >>> fr.from_graph_tool(graph_tool.Graph([(0, 1), (1, 2)], directed=False))  # doctest: +SKIP
    """
    _check(graph, "from_graph_tool")
    given = graph.edge_properties.get(weight) if weight is not None else None
    rows = graph.get_edges([] if given is None else [given])
    ends = rows[:, :2].astype(np.int64)
    return from_edges(
        ends[:, 0], ends[:, 1], None if given is None else rows[:, 2], num_vertices=graph.num_vertices(),
        directed=graph.is_directed(), duplicates=duplicates,
    )  # fmt: skip


@telling("making a graph")
def from_graphblas(matrix: Any, *, directed: bool | None = None) -> Graph:
    """Make a graph from a matrix of python-graphblas: entry (i, j) is an edge from i to j.

    Parameters
    ----------
    matrix : graphblas.Matrix, shape (n, n)
        Its entries are the weights; bool entries make a graph without weights.
    directed : bool, optional
        None (the default): directed unless the matrix is symmetric. False: it must be.

    Raises
    ------
    GraphError
        It is not a square matrix, or not symmetric as asked for.

    Examples
    --------
    >>> import graphblas as gb
    >>> fr.from_graphblas(gb.Matrix.from_coo([0, 1], [1, 2], [0.5, 2.0], nrows=3, ncols=3))
    <Graph: directed, 3 vertices, 2 edges, float64 weights; cpu>
    """
    _check(matrix, "from_graphblas")
    rows, columns = int(matrix.nrows), int(matrix.ncols)
    if rows != columns:
        raise GraphError(f"the matrix of a graph is square, but this one has the shape {(rows, columns)}")
    src, dst, values = matrix.to_coo()
    made = from_edges(
        src.astype(np.int64), dst.astype(np.int64), None if values.dtype.kind == "b" else values, num_vertices=rows,
        directed=True,
    )  # fmt: skip
    return undirected_if_symmetric(made, directed)


@telling("making a graph")
def from_pyg(data: Any, weight: str | None = None, *, directed: bool | None = None) -> Graph:
    """Make a graph from a graph of PyTorch Geometric.

    Parameters
    ----------
    data : torch_geometric.data.Data
        Its ``edge_index`` has a column for each edge; undirected graphs hold both directions of each.
    weight : str, optional
        The attribute that holds a weight for each edge. Default: ``edge_weight``, or ``edge_attr`` if that has one
        number for each edge.
    directed : bool, optional
        None (the default): directed unless every edge has its reverse with the same weight. False: it must.

    Returns
    -------
    Graph
        Where the tensors lie: on a GPU if they do. Features stay in ``data``; vertices keep their numbers, so they are
        fields as they are: ``fr.Problem(g, x=fr.vertex("float32", data.x[:, 0]))``.

    Raises
    ------
    GraphError
        It has no ``edge_index``, or no such attribute.

    Examples
    --------
    >>> import torch, torch_geometric.data  # doctest: +SKIP
    >>> edges = torch.tensor([[0, 1], [1, 2]])  # doctest: +SKIP
    >>> fr.from_pyg(torch_geometric.data.Data(edge_index=edges, num_nodes=3))  # doctest: +SKIP
    <Graph: directed, 3 vertices, 2 edges, no weights; cpu>
    """
    _check(data, "from_pyg")
    if weight is not None and getattr(data, weight, None) is None:
        raise GraphError(f"weight={weight!r}: the graph has no such attribute")
    found = [getattr(data, name, None) for name in ([weight] if weight is not None else ["edge_weight", "edge_attr"])]
    weights = next((each for each in found if each is not None and each.numel() == data.edge_index.shape[1]), None)
    made = from_edges(
        data.edge_index[0], data.edge_index[1], None if weights is None else weights.reshape(-1),
        num_vertices=int(data.num_nodes), directed=True, duplicates="first",
    )  # fmt: skip
    return undirected_if_symmetric(made, directed)


@telling("to_pyg")
def to_pyg(graph: Graph) -> Any:
    """Return a graph of PyTorch Geometric with the same edges; an undirected edge stands in it both ways.

    Parameters
    ----------
    graph : Graph
        Of any kind.

    Returns
    -------
    torch_geometric.data.Data
        With ``edge_index`` of int64, ``edge_weight`` if there are weights, and columns of numbers under their names.

    Raises
    ------
    BackendUnavailableError
        PyTorch Geometric is not installed.

    Examples
    --------
    >>> fr.to_pyg(fr.path(3)).edge_index  # doctest: +SKIP
    tensor([[0, 1, 1, 2],
            [1, 0, 2, 1]])
    """
    torch, pyg = library("torch", "PyTorch"), library("torch_geometric.data", "PyTorch Geometric")
    graph = graph_on_host(graph, "to_pyg")
    with graph._topology.reading():
        index = np.stack([graph.sources, graph.targets]).astype(np.int64, copy=False)
    numbers = {name: column for name, column in (*graph.vertices.items(), *graph.edges.items()) if _fits(column)}
    if graph.weights is not None:
        numbers["edge_weight"] = graph.weights
    tensors = {name: torch.from_numpy(column.copy()) for name, column in numbers.items()}
    return pyg.Data(edge_index=torch.from_numpy(index), num_nodes=graph.num_vertices, **tensors)


def _fits(column: Array) -> bool:
    return column.dtype.kind in "iufb"
