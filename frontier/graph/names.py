"""Number vertices by their names: ids for the ends of edges, and each name once, as the labels of the graph.

Each end is coded first: every edge gets the number of its name among those of that end. Categories come coded already
(:class:`Coded`). Then the names of both ends, which are few, are numbered together, in the order of their first edges.
pandas codes twice as fast as a dictionary. It is used where it is loaded, and loaded where there are many edges.
"""

from __future__ import annotations

import importlib.util
import operator
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


def numbered(src: Coded, dst: Coded, labels: Array | None) -> tuple[Array, Array, Array]:
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
    ends = src, dst
    lacking = [(int(end.codes.argmin()), end.missing) for end in ends if len(end) and end.codes.min() < 0]
    if lacking:
        edge, missing = min(lacking, key=operator.itemgetter(0))
        raise GraphError(f"edge {edge} has {missing!r} for a vertex name")
    firsts = [_firsts(end) for end in ends]
    order = np.argsort(np.concatenate([2 * row + i for i, (_, row) in enumerate(firsts)]))
    found = _joined([end.names[codes] for end, (codes, _) in zip(ends, firsts, strict=True)])[order]
    known = 0 if labels is None else len(labels)
    both = coded(found if labels is None else _joined([labels, found]))
    if labels is not None and len(both.names) > known:
        raise GraphError(f"an edge names the vertex {both.names[known:].tolist()[0]!r}, which is not among the labels")
    ids = np.empty(len(found), np.int32)
    ids[order] = both.codes[known:]
    made = []
    for end, (codes, _), of_end in zip(ends, firsts, np.split(ids, [len(firsts[0][0])]), strict=True):
        table = np.zeros(len(end.names), np.int32)
        table[codes] = of_end
        made.append(table[end.codes])
    return made[0], made[1], both.names


def _firsts(end: Coded) -> tuple[Array, Array]:
    """The codes that occur, and the first row of each."""
    first = np.full(len(end.names), -1, np.int64)
    first[end.codes[::-1]] = np.arange(len(end) - 1, -1, -1)  # the last assignment stays, that of the first row
    used = np.flatnonzero(first >= 0)
    return used, first[used]


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
