"""Conversions from and to SciPy, NetworkX and pandas, which are imported only when needed."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.errors import BackendUnavailableError, GraphError
from frontier.graph.build import check_symmetric, from_edges, is_symmetric
from frontier.graph.graph import Graph
from frontier.graph.moving import on_host
from frontier.graph.topology import Array
from frontier.memory.shortage import telling

if TYPE_CHECKING:
    import networkx
    import pandas
    import scipy.sparse

__all__ = ["from_networkx", "from_pandas", "from_scipy", "to_networkx", "to_pandas", "to_scipy"]


@telling("making a graph")
def from_scipy(matrix: Any, *, directed: bool | None = None, labels: Any = None) -> Graph:
    """Make a graph from a SciPy (or CuPy) sparse matrix or array: entry (i, j) is an edge from i to j.

    Parameters
    ----------
    matrix : sparse matrix or array, shape (n, n)
        Its entries are the weights; bool entries make a graph without weights. Entries stored
        more than once are added up. A stored zero is an edge of weight 0.
    directed : bool, optional
        None (the default): directed unless the matrix is symmetric. False: it must be.
    labels : array_like, shape (n,), optional
        A unique name for each vertex.

    Returns
    -------
    Graph
        On the cpu backend, or on cuda if the matrix is CuPy's; sharing nothing with the matrix.

    Raises
    ------
    GraphError
        It is not a square sparse matrix of real numbers, or not symmetric as asked for.

    Notes
    -----
    Takes time proportional to the number of entries.
    """
    if not hasattr(matrix, "tocoo"):
        raise GraphError(
            f"from_scipy takes a SciPy sparse matrix, not {type(matrix).__name__}; "
            "scipy.sparse.csr_array(A) makes one of a dense array"
        )
    shape = tuple(matrix.shape)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise GraphError(f"the matrix of a graph is square, but this one has the shape {shape}")
    entries = matrix.tocoo()
    weights = None if entries.data.dtype.kind == "b" else entries.data
    graph = from_edges(
        entries.row,
        entries.col,
        weights,
        num_vertices=shape[0],
        directed=True,
        duplicates="sum",
        labels=labels,
    )
    if directed is False:
        check_symmetric(graph)
    if directed or not is_symmetric(graph):
        return graph
    return Graph(
        graph.offsets, graph.targets, graph.weights, directed=False, labels=graph.labels, placement=graph.placement,
        check=False,
    )


@telling("making a graph")
def from_networkx(graph: Any, weight: str | None = "weight", *, duplicates: str = "last") -> Graph:
    """Make a graph from a NetworkX graph.

    Parameters
    ----------
    graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        Its nodes become vertices in their order, and the labels, unless they are 0 to n - 1 in
        that order.
    weight : str or None
        The edge attribute that holds the weight; an edge without it weighs 1, as in NetworkX.
        None: no weights.
    duplicates : str
        What to do with parallel edges of a multigraph, as for :func:`from_edges`.

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
    Takes time proportional to the number of nodes and edges, in Python: some microseconds each.
    """
    if not (hasattr(graph, "is_multigraph") and hasattr(graph, "edges")):
        raise GraphError(f"from_networkx takes a NetworkX graph, not {type(graph).__name__}")
    nodes = list(graph)
    id_of = {node: v for v, node in enumerate(nodes)}
    count = graph.number_of_edges()
    src = np.fromiter((id_of[s] for s, _ in graph.edges()), np.int64, count)
    dst = np.fromiter((id_of[d] for _, d in graph.edges()), np.int64, count)
    weights: Any = None
    if weight is not None:
        # parallel edges come in the order in which they were added, hence duplicates="last"
        weights = [w for _, _, w in graph.edges(data=weight, default=1)]
    plain = all(isinstance(node, int | np.integer) and node == v for v, node in enumerate(nodes))
    return from_edges(
        src,
        dst,
        weights,
        num_vertices=len(nodes),
        directed=graph.is_directed(),
        duplicates=duplicates,
        labels=None if plain else nodes,
    )


@telling("making a graph")
def from_pandas(
    table: Any,
    source: str = "src",
    target: str = "dst",
    weight: str | None = None,
    *,
    columns: Iterable[str] = (),
    directed: bool = False,
    duplicates: str = "first",
    self_loops: str = "keep",
    num_vertices: int | None = None,
    labels: Any = None,
) -> Graph:
    """Make a graph from a pandas table with a row for each edge.

    Parameters
    ----------
    table : pandas.DataFrame
        The edges.
    source, target : str
        The columns that hold the endpoints: ids from 0, or labels, as in :func:`from_edges`.
    weight : str, optional
        The column that holds the weights.
    columns : iterable of str
        Columns to keep as edge data.
    directed, duplicates, self_loops, num_vertices, labels
        As for :func:`from_edges`; with ``labels=True``, integers in the table are labels.

    Raises
    ------
    GraphError
        If the table has no such column, or its content is invalid.

    Notes
    -----
    Takes time proportional to the number of rows; labels are looked up in Python.
    """
    if not (hasattr(table, "columns") and hasattr(table, "itertuples")):
        raise GraphError(f"from_pandas takes a DataFrame, not {type(table).__name__}")
    kept = {name: _column(table, name) for name in columns}
    return from_edges(
        _column(table, source),
        _column(table, target),
        None if weight is None else _column(table, weight),
        num_vertices=num_vertices,
        directed=directed,
        duplicates=duplicates,
        self_loops=self_loops,
        labels=labels,
        edges=kept,
    )


def _column(table: Any, name: str) -> Array:
    """A column of a table as an array."""
    if name not in table.columns:
        raise GraphError(f"the table has no column {name!r}, but {', '.join(map(str, table))}")
    series = table[name]
    if getattr(series, "ndim", 1) != 1:
        raise GraphError(f"the table has several columns {name!r}")
    missing = series.isna().to_numpy()
    if missing.any():
        raise GraphError(f"row {int(missing.argmax())} of the table has no {name!r}")
    values: Array = series.to_numpy()
    return values


def _graph(graph: Any, who: str) -> Graph:
    """The graph to convert, in the host's memory."""
    if type(getattr(graph, "num_slots", None)) is not int:
        raise GraphError(f"{who} takes a Graph, not {type(graph).__name__}")
    return on_host(graph)


@telling("to_scipy")
def to_scipy(graph: Graph) -> scipy.sparse.csr_array:
    """Return the adjacency matrix of a graph.

    Parameters
    ----------
    graph : Graph
        Of any kind.

    Returns
    -------
    scipy.sparse.csr_array, shape (n, n)
        Entry (i, j) is the weight of the edge from i to j; 1.0 where the graph has no weights.
        Parallel edges are separate entries, which SciPy takes as their sum. A copy.

    Raises
    ------
    BackendUnavailableError
        SciPy is not installed.
    """
    sparse = _library("scipy.sparse", "SciPy")
    graph = _graph(graph, "to_scipy")
    n, weights = graph.num_vertices, graph.weights
    data = np.ones(graph.num_slots) if weights is None else weights
    with graph._topology.reading():
        return sparse.csr_array((data, graph.targets, graph.offsets), shape=(n, n), copy=True)


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
    nx = _library("networkx", "NetworkX")
    graph = _graph(graph, "to_networkx")
    with graph._topology.reading():
        return _in_networkx(nx, graph)


def _in_networkx(nx: Any, graph: Graph) -> networkx.Graph:
    slots = _edge_slots(graph)
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


@telling("to_pandas")
def to_pandas(graph: Graph) -> pandas.DataFrame:
    """Return a table with a row for each edge; an undirected edge has one row.

    Parameters
    ----------
    graph : Graph
        Of any kind.

    Returns
    -------
    pandas.DataFrame
        Columns ``src``, ``dst`` (labels, or ids), ``weight`` if there are weights, and those of
        edge data.

    Raises
    ------
    BackendUnavailableError
        pandas is not installed.
    """
    pd = _library("pandas", "pandas")
    graph = _graph(graph, "to_pandas")
    with graph._topology.reading():
        slots = _edge_slots(graph)
        src, dst = graph.sources[slots], graph.targets[slots]
        if graph.labels is not None:
            src, dst = graph.labels[src], graph.labels[dst]
        data = {"src": src, "dst": dst}
        if graph.weights is not None:
            data["weight"] = graph.weights[slots]
        return pd.DataFrame(data | {name: column[slots] for name, column in graph.edges.items()})


def _edge_slots(graph: Graph) -> Array:
    """The slots that show each edge once."""
    if graph.directed:
        return np.arange(graph.num_slots)
    return np.flatnonzero(graph.sources <= graph.targets)


def _library(module: str, name: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise BackendUnavailableError(
            f'this needs {name}, which is not installed: pip install "frontier-gpu[io]"'
        ) from None
