"""Conversions from and to SciPy, NetworkX and pandas, which are imported only when needed."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.errors import BackendUnavailableError, GraphError, warn
from frontier.graph.build import check_symmetric, from_edges, is_symmetric
from frontier.graph.build_input import door
from frontier.graph.doubts import warn_of_duplicates
from frontier.graph.graph import Graph
from frontier.graph.meanings import counts_rows, said_by
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
            f"from_scipy takes a SciPy sparse matrix, not {_kind(matrix)}; "
            + (door(matrix) or "scipy.sparse.csr_array(A) makes one of a dense array")
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
    Takes time proportional to the number of nodes and edges, in Python: some microseconds each.
    """
    if not (hasattr(graph, "is_multigraph") and hasattr(graph, "edges")):
        way = door(graph) or "fr.from_edges takes the ends of edges"
        raise GraphError(f"from_networkx takes a NetworkX graph, not {_kind(graph)}: {way}")
    left_out = _left_out(graph, weight)
    if left_out:
        warn(left_out)
    return networkx_graph(graph, weight, duplicates)


def _left_out(graph: Any, weight: str | None) -> str:
    """What to say of the attributes that are left out; empty if there are none."""
    of_nodes = {name: None for _, data in graph.nodes(data=True) for name in data}
    of_edges = {name: None for _, _, data in graph.edges(data=True) for name in data}
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


def networkx_graph(graph: Any, weight: str | None = "weight", duplicates: str | None = None) -> Graph:
    """Do the work of :func:`from_networkx`, without a word of attributes."""
    nodes = list(graph)
    id_of = {node: v for v, node in enumerate(nodes)}
    count = graph.number_of_edges()
    src = np.fromiter((id_of[s] for s, _ in graph.edges()), np.int64, count)
    dst = np.fromiter((id_of[d] for _, d in graph.edges()), np.int64, count)
    weights: Any = None
    if weight is not None:
        # parallel edges come in the order in which they were added, hence duplicates="last"
        weights = [w for _, _, w in graph.edges(data=weight, default=1)]
    if duplicates is None and weights is not None and graph.is_multigraph():
        _warn_of_parallel(graph, weights)
    plain = all(isinstance(node, int | np.integer) and node == v for v, node in enumerate(nodes))
    return from_edges(
        src,
        dst,
        weights,
        num_vertices=len(nodes),
        directed=graph.is_directed(),
        duplicates=duplicates or "last",
        labels=None if plain else nodes,
    )


def _warn_of_parallel(graph: Any, weights: list[Any]) -> None:
    """Warn if parallel edges of a multigraph have different weights."""
    first: dict[Any, Any] = {}
    for (s, d), weight in zip(graph.edges(), weights, strict=True):
        ends = (s, d) if graph.is_directed() or (d, s) not in first else (d, s)
        if first.setdefault(ends, weight) != weight:
            warn_of_duplicates(s, d, None, "last")
            return


@telling("making a graph")
def from_pandas(
    table: Any,
    source: str = "src",
    target: str = "dst",
    weight: str | None = None,
    *,
    columns: Iterable[str] | None = None,
    directed: bool | None = None,
    duplicates: str | None = None,
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
    columns : iterable of str, optional
        Columns to keep as edge data. Default: none, with a warning if there are others than those above.
    directed : bool, optional
        Default: what a column ``Type`` says in which there is ``Directed`` or ``Undirected`` for each edge, as Gephi
        writes it; else False.
    duplicates, self_loops, num_vertices, labels
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
        way = door(table) or "fr.from_edges takes the ends of edges"
        if hasattr(table, "to_pandas"):
            way = "its method .to_pandas() makes one"
        raise GraphError(f"from_pandas takes a DataFrame of pandas, not {_kind(table)}: {way}")
    kept = {name: _column(table, name) for name in columns or ()}
    kinds = next((name for name in table.columns if str(name).lower() == "type"), None)
    says = None if kinds is None or directed is not None else said_by(table[kinds].tolist())
    if columns is None:
        known = {source, target, weight, None if says is None else kinds}
        others = [name for name in table.columns if name not in known and not counts_rows(str(name))]
        if others:
            warn(
                f"from_pandas leaves out the columns {', '.join(map(repr, others))}: columns={others} keeps them as "
                f"data of edges, weight={others[0]!r} takes one for weights, and columns=[] says that this is meant"
            )
    return from_edges(
        _column(table, source),
        _column(table, target),
        None if weight is None else _column(table, weight),
        num_vertices=num_vertices,
        directed=bool(says if directed is None else directed),
        duplicates=duplicates,
        self_loops=self_loops,
        labels=labels,
        edges=kept,
    )


def _kind(value: Any) -> str:
    """The type of a value, with its package."""
    module, name = type(value).__module__.partition(".")[0], type(value).__name__
    return name if module == "builtins" else f"{module}.{name}"


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
        package = module.partition(".")[0]
        raise BackendUnavailableError(f"this needs {name}, which is not installed: pip install {package}") from None
