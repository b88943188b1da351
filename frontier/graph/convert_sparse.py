"""From and to sparse matrices of SciPy and CuPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.display.tables import library
from frontier.errors import GraphError
from frontier.graph.build import from_csr, from_edges
from frontier.graph.convert_common import graph_on_host, kind_of_value, undirected_if_symmetric
from frontier.graph.graph import Graph
from frontier.graph.kinds import door
from frontier.memory.arrays import is_device
from frontier.memory.shortage import telling

if TYPE_CHECKING:
    import scipy.sparse

__all__ = ["from_scipy", "to_scipy"]


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
        On the cpu backend, or on cuda if the matrix is CuPy's. It shares the arrays of a SciPy matrix in canonical CSR
        format, sorted and without duplicates, whose indices are int32: do not write to them afterwards.

    Raises
    ------
    GraphError
        It is not a square sparse matrix of real numbers, or not symmetric as asked for.

    Notes
    -----
    Takes time proportional to the number of entries.

    Examples
    --------
    >>> import scipy.sparse
    >>> fr.from_scipy(scipy.sparse.csr_array([[0, 2.5], [0, 0]]))
    <Graph: directed, 2 vertices, 1 edges, float64 weights; cpu>
    """
    if not hasattr(matrix, "tocoo"):
        raise GraphError(
            f"from_scipy takes a SciPy sparse matrix, not {kind_of_value(matrix)}; "
            + (door(matrix) or "scipy.sparse.csr_array(A) makes one of a dense array")
        )
    shape = tuple(matrix.shape)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise GraphError(f"the matrix of a graph is square, but this one has the shape {shape}")
    if matrix.format == "csr" and not is_device(matrix.indptr) and matrix.has_canonical_format:
        weights = None if matrix.data.dtype.kind == "b" else matrix.data
        made = from_csr(matrix.indptr, matrix.indices, weights, directed=True, labels=labels)
        return undirected_if_symmetric(made, directed)
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
    return undirected_if_symmetric(graph, directed)


@telling("to_scipy")
def to_scipy(graph: Graph, *, copy: bool = True) -> scipy.sparse.csr_array:
    """Return the adjacency matrix of a graph.

    Parameters
    ----------
    graph : Graph
        Of any kind.
    copy : bool
        False: share the arrays of the graph, which cannot be written to.

    Returns
    -------
    scipy.sparse.csr_array, shape (n, n)
        Entry (i, j) is the weight of the edge from i to j; 1.0 where the graph has no weights.
        Parallel edges are separate entries, which SciPy takes as their sum.

    Raises
    ------
    BackendUnavailableError
        SciPy is not installed.

    Examples
    --------
    >>> fr.to_scipy(fr.path(3)).toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    sparse = library("scipy.sparse", "SciPy")
    graph = graph_on_host(graph, "to_scipy")
    n, weights = graph.num_vertices, graph.weights
    data = np.ones(graph.num_slots) if weights is None else weights
    with graph._topology.reading():
        return sparse.csr_array((data, graph.targets, graph.offsets), shape=(n, n), copy=copy)
