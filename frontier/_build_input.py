"""Check what a graph is made from, and bring it into the dtypes that the kernels take."""

from __future__ import annotations

import itertools
import operator
import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from frontier.errors import BackendUnavailableError, GraphError
from frontier.graph import Array

__all__ = ["columns", "end_points", "label_array", "one_dimensional", "vertex_count", "weights_of"]

_NO_NUMBERS = np.empty(0, np.int32)


def one_dimensional(values: Any, what: str) -> Array:
    """Give values as a NumPy array of one dimension."""
    if hasattr(values, "__cuda_array_interface__"):
        raise BackendUnavailableError(
            f"{what} lies on a GPU, and the backend 'cuda' is not part of this release: "
            "copy it to the host first"
        )
    try:
        array = np.asarray(values)
    except ValueError as error:
        array = _objects(values, what, error)
    if array.ndim == 2 and array.dtype.kind != "O" and isinstance(values, list | tuple):
        array = _objects(values, what, None)  # a list of tuples: each is one name
    if array.ndim != 1:
        raise GraphError(f"{what} must have one dimension, not {array.ndim}")
    return array


def _objects(values: Iterable[Any], what: str, error: Exception | None) -> Array:
    items = list(values)
    if error is not None and not all(isinstance(x, str | tuple) for x in items):
        raise GraphError(f"{what} is not an array: {error}") from None
    array = np.empty(len(items), object)
    array[:] = items
    return array


def end_points(src: Any, dst: Any, labels: Any) -> tuple[Array, Array, Array | None]:
    """Give the ids of the ends of all edges, and the labels.

    Ids are both int32 or both int64. ``labels`` is as in ``from_edges``.
    """
    ends = one_dimensional(src, "src"), one_dimensional(dst, "dst")
    if len(ends[0]) != len(ends[1]):
        raise GraphError(
            f"src and dst must have the same length, not {len(ends[0])} and {len(ends[1])}"
        )
    by_name = labels is True
    names = None if labels is None or by_name else label_array(labels)
    if len(ends[0]) == 0 and not by_name:
        return _NO_NUMBERS, _NO_NUMBERS, names
    if by_name or any(end.dtype.kind not in "iufcb" for end in ends):
        return _numbered(*ends, names)
    ids = _whole_numbers(ends[0], "src"), _whole_numbers(ends[1], "dst")
    common = np.result_type(*ids)
    return (
        np.ascontiguousarray(ids[0], dtype=common),
        np.ascontiguousarray(ids[1], dtype=common),
        names,
    )


def _whole_numbers(ids: Array, what: str) -> Array:
    """Ids as int32 or int64."""
    if ids.dtype.kind not in "iu":
        raise GraphError(
            f"vertex ids must be integers, but {what} is {ids.dtype}; convert it, or pass "
            "labels=True to take its values as names"
        )
    if ids.dtype == np.uint64 and len(ids) and ids.max() > np.iinfo(np.int64).max:
        raise GraphError(f"the vertex id {ids.max()} in {what} is beyond int64")
    small = ids.dtype.itemsize < 4 or ids.dtype == np.int32
    return ids.astype(np.int32 if small else np.int64, copy=False)


def _numbered(src: Array, dst: Array, names: Array | None) -> tuple[Array, Array, Array]:
    """Number the vertices by their names, in the order of ``names`` or of appearance."""
    number: dict[Any, int] = {}
    if names is not None:
        number = {name: v for v, name in enumerate(names.tolist())}
    sources, destinations = src.tolist(), dst.tolist()
    known = len(number)
    try:
        for name in itertools.chain.from_iterable(zip(sources, destinations, strict=True)):
            number.setdefault(name, len(number))
    except TypeError as error:
        raise GraphError(f"a vertex name must be hashable: {error}") from None
    found = list(number)
    for name in found[known:]:
        if names is not None:
            raise GraphError(f"an edge names the vertex {name!r}, which is not among the labels")
        if name is None or name != name:
            edge = next(i for i, ends in enumerate(zip(sources, destinations, strict=True))
                        if any(end is name for end in ends))  # fmt: skip
            raise GraphError(f"edge {edge} has no vertex name but {name!r} at one end")
    if names is None:
        names = label_array(found)
    lookup = number.__getitem__
    count = len(sources)
    return (
        np.fromiter(map(lookup, sources), np.int32, count),
        np.fromiter(map(lookup, destinations), np.int32, count),
        names,
    )


def label_array(labels: Any) -> Array:
    """Give labels as an array and refuse duplicates."""
    array = one_dimensional(labels, "labels")
    if isinstance(labels, list | tuple) and array.dtype.kind in "US":
        # NumPy turns a mixture of names and numbers into strings
        if not all(isinstance(x, str | bytes | np.str_ | np.bytes_) for x in labels):
            array = _objects(labels, "labels", None)
    seen: set[Any] = set()
    try:
        for v, label in enumerate(array.tolist()):
            if label in seen:
                raise GraphError(f"labels must be unique, but {label!r} comes again at vertex {v}")
            seen.add(label)
    except TypeError as error:
        raise GraphError(f"a label must be hashable: {error}") from None
    return array


def vertex_count(src: Array, dst: Array, given: Any, labels: Array | None) -> int:
    """Give the number of vertices; check that every id is in range."""
    if given is not None:
        try:
            given = operator.index(given)
        except TypeError:
            raise GraphError(f"num_vertices must be an integer, not {given!r}") from None
        if given < 0:
            raise GraphError(f"num_vertices must not be negative, but is {given}")
        if labels is not None and len(labels) != given:
            raise GraphError(f"there are {len(labels)} labels for num_vertices={given}")
    elif labels is not None:
        given = len(labels)
    largest = -1
    for ids, what in ((src, "src"), (dst, "dst")):
        if len(ids) == 0:
            continue
        if ids.min() < 0:
            edge = int(np.argmax(ids < 0))
            raise GraphError(f"vertex ids start at 0, but {what}[{edge}] is {ids[edge]}")
        largest = max(largest, int(ids.max()))
        if given is not None and largest >= given:
            edge = int(np.argmax(ids >= given))
            raise GraphError(
                f"{what}[{edge}] is {ids[edge]}, but there are only {given} vertices"
                + (f": 0 to {given - 1}" if given else "")
            )
    count = int(largest + 1 if given is None else given)
    _check_fits(count)
    return count


def _check_fits(num_vertices: int) -> None:
    """Refuse ids that are no numbering: offsets alone would not fit into memory."""
    if num_vertices < 2**31 or not hasattr(os, "sysconf"):
        return
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    needed = 16 * num_vertices
    if needed > memory:
        raise GraphError(
            f"ids up to {num_vertices - 1} mean {num_vertices} vertices, whose offsets alone take "
            f"{needed / 2**30:,.0f} GiB to build of {memory / 2**30:,.0f} GiB here; if the ids are "
            "names, pass labels=True to number the vertices that occur"
        )


def weights_of(weights: Any, count: int, what: str = "edges") -> Array:
    """Give weights as a contiguous array of a number dtype without NaN."""
    array = one_dimensional(weights, "weights")
    if len(array) != count:
        raise GraphError(f"there are {len(array)} weights for {count} {what}")
    if len(array) == 0 and array.dtype.kind not in "iuf":
        array = array.astype(np.float64)
    if array.dtype.kind == "O":
        array = _numbers(array)
    if array.dtype.kind not in "iuf":
        raise GraphError(f"weights must be real numbers, not {array.dtype}")
    dtype = array.dtype.newbyteorder("=")
    if array.dtype.kind == "f":
        dtype = np.dtype({2: np.float32, 4: np.float32}.get(array.itemsize, np.float64))
    array = np.ascontiguousarray(array, dtype=dtype)
    if array.dtype.kind == "f" and len(array) and np.isnan(array.min()):
        raise GraphError(f"weight {int(np.argmax(np.isnan(array)))} is NaN")
    return array


def _numbers(array: Array) -> Array:
    for i, weight in enumerate(array.tolist()):
        if isinstance(weight, str) or not hasattr(weight, "__float__"):
            raise GraphError(f"weights must be real numbers, but weight {i} is {weight!r}")
    return array.astype(np.float64)


def columns(given: Mapping[str, Any] | None, count: int, kind: str) -> dict[str, Array]:
    """Check columns of vertex or edge data."""
    checked: dict[str, Array] = {}
    for name, values in (given or {}).items():
        if not isinstance(name, str):
            raise GraphError(f"the name of a column must be a string, not {name!r}")
        column = one_dimensional(values, f"the {kind} column {name!r}")
        if len(column) != count:
            several = "vertices" if kind == "vertex" else "edges"
            raise GraphError(
                f"the {kind} column {name!r} has {len(column)} entries for {count} {several}"
            )
        checked[name] = column
    return checked
