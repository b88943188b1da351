"""Check the input of graph construction, convert it to the dtypes of the kernels, and move it to the graph's memory.

``memory`` is where the arrays go; labels, and columns that are not numbers, stay on the host.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from frontier.errors import GraphError, warn
from frontier.graph.kinds import door
from frontier.graph.names import Coded, check_unique, numbered, whole_numbers
from frontier.graph.topology import Array
from frontier.memory.arrays import adopt, is_device, to_host
from frontier.memory.base import Memory
from frontier.memory.host import HOST

__all__ = [
    "check_fits",
    "columns",
    "end_points",
    "label_array",
    "one_dimensional",
    "pairs",
    "vertex_count",
    "vertex_ids",
    "weights_of",
]


# -- arrays ---------------------------------------------------------------------------------


def one_dimensional(values: Any, what: str, memory: Memory = HOST) -> Array:
    """Return values as an array of one dimension: of CuPy if they lie on a GPU and may stay there, else of NumPy."""
    if is_device(values):
        moved: Array = memory.moved(adopt(values, what))
        if moved.ndim != 1:
            raise GraphError(f"{what} must have one dimension, not {moved.ndim}")
        return moved
    # NumPy makes two dimensions of tuples, and strings of a mixture of names and numbers
    if isinstance(values, list | tuple):
        kinds = {*map(type, values)}
        texts = [issubclass(kind, str) for kind in kinds]
        if not all(texts) and (any(texts) or any(issubclass(kind, tuple) for kind in kinds)):
            return np.fromiter(values, object, len(values))
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, OverflowError) as error:
        raise GraphError(f"{what} is not an array of one dimension: {error}") from None
    if array.ndim != 1:
        raise GraphError(f"{what} must have one dimension, not {array.ndim}")
    return array


_PAIRS = (
    "from_edges takes the ends of the edges, from_edges(src, dst), or one list of pairs, or triples with a weight: "
    "from_edges([(0, 1), (1, 2)])"
)


def pairs(edges: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Sources, targets and weights of a list of pairs, or of triples with a weight, or of an edge index."""
    if door(edges) and not isinstance(edges, str):
        raise GraphError(f"from_edges takes the ends of edges, not {type(edges).__name__}: {door(edges)}")
    if getattr(edges, "ndim", 0) == 2 and edges.shape[0] == 2 and _is_edge_index(edges):
        return edges[0], edges[1], weights
    if getattr(edges, "ndim", 0) == 2 and edges.shape[1] in (2, 3):
        columns: list[Any] = [edges[:, i] for i in range(edges.shape[1])]
        if edges.dtype.kind == "f" and (edges[:, :2] == edges[:, :2].astype(np.int64)).all():
            columns[:2] = [column.astype(np.int64) for column in columns[:2]]
    else:
        listed = list(edges) if isinstance(edges, Iterable) and not isinstance(edges, (str, bytes)) else [edges]
        wide = {len(edge) if isinstance(edge, (tuple, list, np.ndarray)) else 0 for edge in listed}
        if wide - {2} and wide != {3}:
            raise GraphError(_PAIRS)
        columns = [list(column) for column in zip(*listed, strict=True)] or [[], []]
    if len(columns) == 2:
        return columns[0], columns[1], weights
    if weights is not None:
        raise GraphError("the weights of the edges are given twice: as the third of each, and by weights=")
    return columns[0], columns[1], columns[2]


def _is_edge_index(edges: Any) -> bool:
    """Whether an array of two rows holds sources and targets, as PyTorch Geometric has them, and not two edges."""
    if edges.shape[1] not in (2, 3) or type(edges).__module__.partition(".")[0] == "torch":
        return True
    what = "edges" if edges.shape[1] == 2 else "edges with weights"
    warn(
        f"an array of shape {tuple(edges.shape)} is read as two {what}, one in each row: from_edges(array[0], array[1])"
        " reads it as sources and targets, and from_edges(array.tolist()) says that edges are meant"
    )
    return False


# -- vertices -------------------------------------------------------------------------------


def end_points(src: Any, dst: Any, labels: Any, memory: Memory = HOST) -> tuple[Array, Array, Array | None]:
    """Return the ids of the ends of all edges, and the labels.

    Ids are both int32 or both int64. ``labels`` is as in ``from_edges``.
    """
    by_name = labels is True
    where = HOST if by_name else memory  # names are looked up on the host
    ends = [_end(end, what, where, by_name) for end, what in ((src, "src"), (dst, "dst"))]
    if len(ends[0]) != len(ends[1]):
        raise GraphError(f"src and dst must have the same length, not {len(ends[0])} and {len(ends[1])}")
    names = None if labels is None or by_name else label_array(labels)
    if by_name or any(len(end) and (isinstance(end, Coded) or end.dtype.kind not in "iufcb") for end in ends):
        src, dst, found = numbered(_named(ends[0]), _named(ends[1]), names)
        return memory.moved(src), memory.moved(dst), _names(found.tolist(), "labels") if names is None else names
    ids = [vertex_ids(end, what, memory) for end, what in zip(ends, ("src", "dst"), strict=True)]
    common = np.result_type(ids[0].dtype, ids[1].dtype)
    return ids[0].astype(common, copy=False), ids[1].astype(common, copy=False), names


def _end(values: Any, what: str, memory: Memory, by_name: bool) -> Array | Coded:
    """Ids or names of the ends of edges; a column of categories stays as it is, unless they are ids."""
    if not isinstance(values, Coded):
        return _plain(_names(values, what, memory), by_name)
    if len(values) and (by_name or values.names.dtype.kind not in "iu"):
        return values
    found: Array = values.names[values.codes] if len(values) else np.empty(0, np.int64)
    return found


def _named(end: Array | Coded) -> Array | Coded:
    return end if isinstance(end, Coded) else to_host(end)


def _names(values: Any, what: str, memory: Memory = HOST) -> Array:
    """Return ids or names as an array of one dimension, in which integers of any size are as they were given."""
    if isinstance(values, list) and what != "labels" and {*map(type, values)} == {str}:
        return np.fromiter(values, object, len(values))  # a fifth of the time that an array of characters takes
    array = one_dimensional(values, what, memory)
    # of integers that no dtype holds together NumPy makes floats, and several integers become one
    if array.dtype.kind == "f" and isinstance(values, list | tuple) and not any(isinstance(x, _FLOATS) for x in values):
        return whole_numbers([operator.index(x) for x in values])
    return array


_FLOATS = float, np.floating


def _plain(array: Array, by_name: bool) -> Array:
    """Integers that come as objects, as integers; names may be of any size."""
    whole = array.dtype.kind == "O" and all(isinstance(x, int | np.integer) for x in array)
    try:
        return array.astype(np.int64) if whole else array
    except OverflowError:
        if by_name:
            return array
        raise GraphError("a vertex id is beyond int64; labels=True takes ids for names") from None


def vertex_ids(values: Any, what: str, memory: Memory = HOST) -> Array:
    """Return vertex ids as a contiguous array of int32 or int64."""
    ids = one_dimensional(values, what, memory)
    if len(ids) == 0:
        found: Array = memory.full(0, 0, np.int32)
        return found
    if ids.dtype.kind not in "iu":
        raise GraphError(
            f"vertex ids must be integers, but {what} is {ids.dtype}; convert it"
            + (", or pass labels=True to take its values as names" if what != "targets" else "")
        )
    if ids.dtype == np.uint64 and ids.max() > np.iinfo(np.int64).max:
        raise GraphError(f"the vertex id {ids.max()} in {what} is beyond int64")
    small = np.can_cast(ids.dtype, np.int32)
    dtype = np.int32 if small else np.int64
    made: Array = memory.xp.ascontiguousarray(memory.moved(ids), dtype)
    return made


def label_array(labels: Any) -> Array:
    """Return labels as an array of the graph's own, and refuse duplicates."""
    array = _names(labels, "labels").copy()  # from a GPU too: labels are the host's
    check_unique(array.tolist())
    return array


def vertex_count(ends: Mapping[str, Array], given: Any, labels: Array | None, memory: Memory = HOST) -> int:
    """Return the number of vertices; check that every id is in range."""
    if given is not None:
        try:
            given = operator.index(given)
        except TypeError:
            raise GraphError(f"num_vertices must be an integer, not {given!r}") from None
        if given < 0:
            raise GraphError(f"num_vertices must not be negative, but is {given}")
        if labels is not None and len(labels) != given:
            raise GraphError(f"there are {len(labels)} labels for {given} vertices")
    elif labels is not None:
        given = len(labels)
    largest = -1
    for what, ids in ends.items():
        if len(ids) == 0:
            continue
        if ids.min() < 0:
            edge = int(np.argmax(ids < 0))
            raise GraphError(f"vertex ids start at 0, but {what}[{edge}] is {ids[edge]}")
        largest = max(largest, int(ids.max()))
        if given is not None and largest >= given:
            edge = int(np.argmax(ids >= given))
            raise GraphError(
                f"{what}[{edge}] is {ids[edge]}, but "
                + (f"vertices are 0 to {given - 1}" if given else "there are no vertices")
            )
    count = int(largest + 1 if given is None else given)
    check_fits(count, memory)
    return count


def check_fits(
    num_vertices: int, memory: Memory = HOST, hint: str = "pass labels=True to number the vertices that occur"
) -> None:
    """Refuse ids that are no numbering: offsets alone would not fit into memory."""
    needed = 16 * num_vertices
    if needed < 1 << 28:  # to ask what is free takes a while
        return
    free = memory.free()
    if needed > free:
        raise GraphError(
            f"ids up to {num_vertices - 1} mean {num_vertices} vertices, whose offsets alone take "
            f"{needed / 2**30:,.0f} GiB to build, and {free / 2**30:,.0f} GiB are free; if the ids are "
            f"names, {hint}"
        )


# -- weights and columns --------------------------------------------------------------------


def weights_of(
    weights: Any, count: int, what: str = "edges", copy: bool = False, memory: Memory = HOST, first: int = 0
) -> Array:
    """Return weights as a contiguous array of a number dtype without NaN; errors count from ``first``."""
    array = one_dimensional(weights, "weights", memory)
    if len(array) != count:
        raise GraphError(f"there are {len(array)} weights for {count} {what}")
    if len(array) == 0 and array.dtype.kind not in "iuf":
        array = array.astype(np.float64)
    if array.dtype.kind == "O":
        array = _numbers(array)
    if array.dtype.kind not in "iuf":
        raise GraphError(f"weights must be real numbers, not {array.dtype}")
    dtype = array.dtype.newbyteorder("=")
    if array.dtype.kind == "f":  # numba has no float16 and no long double
        dtype = np.dtype({2: np.float32, 4: np.float32}.get(array.itemsize, np.float64))
    made: Array = memory.moved(array.astype(dtype, order="C", copy=copy))
    if made.dtype.kind == "f" and len(made) and np.isnan(made.min()):
        raise GraphError(f"weight {first + int(np.argmax(np.isnan(made)))} is NaN")
    return made


def _numbers(array: Array) -> Array:
    for i, weight in enumerate(array.tolist()):
        if isinstance(weight, str) or not hasattr(weight, "__float__"):
            raise GraphError(f"weights must be real numbers, but weight {i} is {weight!r}")
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:  # an array, or an integer of hundreds of digits
        raise GraphError(f"weights must be real numbers: {error}") from None


def no_column(name: str, kind: str, known: Mapping[str, Any]) -> str:
    """Say that a graph has no such column."""
    there = f"there is {', '.join(map(repr, known))}" if known else f"the graph has no {kind} columns"
    return f"there is no {kind} column {name!r}: {there}"


def columns(
    given: Mapping[str, Any] | None,
    count: int,
    kind: str,
    copy: bool = False,
    memory: Memory = HOST,
    several: str | None = None,
) -> dict[str, Array]:
    """Check columns of vertex or edge data; ``several`` says in messages what there are so many of."""
    several = several or ("vertices" if kind == "vertex" else "edges")
    checked: dict[str, Array] = {}
    if given is not None and not hasattr(given, "items"):
        raise GraphError(f"columns are given as a dict of arrays by their names, as {{'time': [...]}}, not {given!r}")
    for name, values in (given or {}).items():
        if not isinstance(name, str):
            raise GraphError(f"the name of a column must be a string, not {name!r}")
        column = one_dimensional(values, f"the {kind} column {name!r}", memory)
        if len(column) != count:
            raise GraphError(f"the {kind} column {name!r} has {len(column)} entries for {count} {several}")
        checked[name] = memory.moved(column, copy)
    return checked
