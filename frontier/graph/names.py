"""Number vertices by their names: ids for the ends of edges, and each name once, as the labels of the graph.

Both ends stand in one column, row 2i the source of edge i and row 2i + 1 its target. It is coded: each row gets the
number of its name. Categories come coded already (:class:`Coded`). Codes become ids in the order of the first edges.
pandas codes twice as fast as a dictionary. It is used where it is loaded, and loaded where there are many edges.
"""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from frontier.errors import GraphError
from frontier.graph.topology import Array

__all__ = ["Coded", "check_unique", "coded", "numbered", "whole_numbers"]

#: Names from which on pandas is loaded to code them: that takes as long as a dictionary does for so many.
MANY = 1 << 21


@dataclass(frozen=True, eq=False)
class Coded:
    """A column of names: that of row i is ``names[codes[i]]``, and no name occurs twice in ``names``.

    The code -1 stands for a cell without a name, ``missing``, such as None or NaN.
    """

    codes: Array
    names: Array
    missing: Any = None

    def __len__(self) -> int:
        return len(self.codes)


def whole_numbers(values: list[int]) -> Array:
    """Return integers as int64 or uint64 if that holds all of them, else as objects."""
    low, high = min(values, default=0), max(values, default=0)
    fits = [kind for kind in (np.int64, np.uint64) if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max]
    return np.array(values, fits[0] if fits else object)


def coded(values: Array) -> Coded:
    """Code a column of names, in the order in which they come."""
    try:
        if (pandas := _pandas(len(values))) is not None and values.dtype.kind in "OUiu":
            codes, names = pandas.factorize(values.astype(object) if values.dtype.kind == "U" else values)
            return Coded(codes, names, values[codes.argmin()] if len(values) else None)
        listed = values.tolist()
        number = {name: i for i, name in enumerate(dict.fromkeys(listed))}
    except TypeError as error:
        raise GraphError(f"a vertex name must be hashable: {error}") from None
    codes, names = np.fromiter(map(number.__getitem__, listed), np.int64, len(listed)), np.fromiter(number, object)
    if {*map(type, number)} <= {str, int} or not any(missing := [*map(_is_missing, number)]):
        return Coded(codes, names)
    return Coded(np.where(np.array(missing)[codes], -1, codes), names, names[missing.index(True)])


def _pandas(count: int) -> Any:
    """The module pandas, if it is there and worth its loading for so many names."""
    if count >= MANY and importlib.util.find_spec("pandas") is not None:
        return importlib.import_module("pandas")
    return sys.modules.get("pandas")


def _is_missing(name: Any) -> bool:
    """Whether a name is None, NaN or another value that stands for none."""
    if name is None:
        return True
    try:
        return bool(name != name)
    except TypeError:  # pandas.NA
        return True


def numbered(src: Array | Coded, dst: Array | Coded, labels: Array | None) -> tuple[Array, Array, Array]:
    """Number the vertices by their names, in the order of ``labels`` or of the edges that name them first.

    Returns
    -------
    src, dst : ndarray of int32, shape (k,)
    names : ndarray
        Each name once.

    Raises
    ------
    GraphError
        If an edge has no name for a vertex, or one that is not among the labels.
    """
    both = _in_one_column(src, dst)
    if len(both) and both.codes.min() < 0:
        raise GraphError(f"edge {int(both.codes.argmin()) // 2} has {both.missing!r} for a vertex name")
    first = np.full(len(both.names), len(both), np.int64)
    first[both.codes[::-1]] = np.arange(len(both) - 1, -1, -1)  # the last assignment stays, that of the first row
    used = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(both))]
    names = both.names[used]
    table = np.zeros(len(both.names), np.int32)
    if labels is None:
        table[used] = np.arange(len(used))
    else:
        number = {label: v for v, label in enumerate(labels.tolist())}
        for code, name in zip(used.tolist(), names.tolist(), strict=True):
            if name not in number:
                raise GraphError(f"an edge names the vertex {name!r}, which is not among the labels")
            table[code] = number[name]
    ids = table[both.codes].reshape(-1, 2)
    return np.ascontiguousarray(ids[:, 0]), np.ascontiguousarray(ids[:, 1]), names if labels is None else labels


def _in_one_column(src: Array | Coded, dst: Array | Coded) -> Coded:
    """Both ends in one column, coded."""
    if not (isinstance(src, Coded) or isinstance(dst, Coded)):
        return coded(_alternating(src, dst))
    ends = [end if isinstance(end, Coded) else coded(end) for end in (src, dst)]
    if ends[0].names is ends[1].names:
        return Coded(_alternating(*(end.codes for end in ends)), ends[0].names, ends[0].missing)
    every = coded(_joined([end.names for end in ends]))
    codes, cut = [], len(ends[0].names)
    for end, these in zip(ends, (every.codes[:cut], every.codes[cut:]), strict=True):
        codes.append(np.append(these, -1)[end.codes])  # -1 stays, as the last
    lacking = next((end.missing for end, each in zip(ends, codes, strict=True) if len(each) and each.min() < 0), None)
    return Coded(_alternating(*codes), every.names, lacking)


def _alternating(src: Array, dst: Array) -> Array:
    """The values of two columns in turn; no name becomes another by it."""
    if src.dtype == dst.dtype or {src.dtype.kind, dst.dtype.kind} == {"U"}:
        made = np.empty(2 * len(src), object if src.dtype.kind == "U" else src.dtype)
        made[::2], made[1::2] = src, dst
        return made
    return np.fromiter((name for pair in zip(src.tolist(), dst.tolist(), strict=True) for name in pair), object)


def _joined(names: list[Array]) -> Array:
    """Names of several columns in one; no name becomes another by it."""
    same = names[0].dtype == names[1].dtype
    return np.concatenate(names if same else [np.fromiter(each.tolist(), object) for each in names])


def check_unique(labels: list[Any]) -> None:
    """Refuse labels of which two are the same.

    Raises
    ------
    GraphError
        If they are, or if one cannot be looked up.
    """
    try:
        if len(set(labels)) == len(labels):
            return
    except TypeError as error:
        raise GraphError(f"a label must be hashable: {error}") from None
    seen: set[Any] = set()
    for v, label in enumerate(labels):
        if label in seen:
            raise GraphError(f"labels must be unique, but {label!r} comes again at vertex {v}")
        seen.add(label)
