"""NumPy archives that others write: sparse matrices of SciPy, and graphs as ``edge_index``."""

from __future__ import annotations

from typing import Any

from frontier.display.tables import library
from frontier.errors import BackendUnavailableError, GraphError
from frontier.graph.convert_sparse import from_scipy
from frontier.graph.topology import Array
from frontier.io._edges import Edges

__all__ = ["count_of", "flag_of", "of_others"]

#: Format of a matrix of ``scipy.sparse.save_npz`` -> the arrays of which SciPy makes one.
_MATRICES = {
    "csr": ("data", "indices", "indptr"), "csc": ("data", "indices", "indptr"), "bsr": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"), "dia": ("data", "offsets"),
}  # fmt: skip


def of_others(path: str, arrays: dict[str, Array]) -> Edges | dict[str, Any]:
    """The edges in the arrays of an archive, or the arguments of ``from_csr``."""
    if {"format", "shape", "data"} <= set(arrays):
        return _of_matrix(path, arrays)
    if "edge_index" in arrays:
        return _of_index(path, arrays)
    found = ", ".join(sorted(arrays)) or "nothing"
    what = "the arrays offsets and targets, src and dst, edge_index, or those of scipy.sparse.save_npz"
    raise GraphError(f"{path}: expected {what}, found {found}")


def _of_index(path: str, arrays: dict[str, Array]) -> Edges:
    """Edges as graph neural networks have them: two rows, of sources and of targets."""
    index, weights = arrays["edge_index"], arrays.get("edge_weight")
    if index.ndim != 2 or len(index) != 2 or index.dtype.kind not in "iu":
        raise GraphError(f"{path}: expected two rows of integers as edge_index, found {_kind(index)}")
    if weights is not None and weights.shape != index.shape[1:]:
        raise GraphError(f"{path}: expected {index.shape[1]} numbers as edge_weight, found {_kind(weights)}")
    count, directed = count_of(path, arrays, "num_nodes"), flag_of(path, arrays, "directed")
    return Edges(index[0], index[1], weights, count, directed)


def _of_matrix(path: str, arrays: dict[str, Array]) -> dict[str, Any]:
    """The graph of a matrix that SciPy has written."""
    name = arrays["format"].item() if arrays["format"].ndim == 0 else None
    format = name.decode("latin-1") if isinstance(name, bytes) else str(name)
    needed = _MATRICES.get(format, ())
    if not needed or not set(needed) <= set(arrays):
        found = f"the format {format!r}, {', '.join(sorted(arrays))}"
        raise GraphError(f"{path}: expected the arrays of a sparse matrix of SciPy, found {found}")
    try:
        sparse = library("scipy.sparse", "SciPy")
    except BackendUnavailableError:
        raise GraphError(f"{path}: matrices of SciPy need it: pip install scipy") from None
    data, *places = (arrays[each] for each in needed)
    try:
        given = (data, (places[0], places[1])) if format == "coo" else (data, *places)
        matrix = getattr(sparse, f"{format}_array")(given, shape=tuple(arrays["shape"].tolist()))
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)  # or compiled code might follow wrong indices
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise GraphError(f"{path}: expected a sparse matrix of SciPy, found damage: {error}") from None
    graph = from_scipy(matrix)
    kept = ("offsets", "targets", "weights", "directed", "labels", "vertices", "edges")
    return {each: getattr(graph, each) for each in kept}


def count_of(path: str, arrays: dict[str, Array], name: str) -> int | None:
    """A number of vertices; None if it is not there."""
    count = arrays.get(name)
    if count is not None and (count.ndim != 0 or count.dtype.kind not in "iu"):
        raise GraphError(f"{path}: expected one integer as {name}, found {_kind(count)}")
    return None if count is None else int(count)


def flag_of(path: str, arrays: dict[str, Array], name: str) -> bool:
    """True or False; True if it is not there."""
    if name not in arrays:
        return True
    flag = arrays[name]
    if flag.ndim != 0 or flag.dtype.kind not in "biu":
        raise GraphError(f"{path}: expected True or False as {name}, found {_kind(flag)}")
    return bool(flag)


def _kind(array: Array) -> str:
    return f"{array.dtype} of shape {array.shape}"
