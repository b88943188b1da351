"""Folders of Parquet files, as Spark, Dask and pandas write them: all are one table, sorted by name.

In folders called ``year=1999``, as Hive has them, the value becomes a column of the edges. What begins with a dot or an
underscore is left out. Several processes read rows of their own, of all files together.
"""

from __future__ import annotations

import itertools
import os
import threading
from bisect import bisect_left, bisect_right
from dataclasses import replace
from typing import NoReturn
from urllib.parse import unquote

import numpy as np

from frontier.errors import GraphError
from frontier.graph.shares import Piece, Shares
from frontier.graph.topology import Array
from frontier.io import parquet
from frontier.io._divisible import Divisible
from frontier.io._edges import Edges
from frontier.io._options import Options
from frontier.io._source import opened

__all__ = ["divisible", "files_in", "read", "refuse"]

#: What Hive calls a folder of a missing value.
_MISSING = "__HIVE_DEFAULT_PARTITION__"


def files_in(folder: str) -> list[str]:
    """The Parquet files in a folder and in those below, by their paths from there on, sorted."""
    found = []
    for place, below, names in os.walk(folder):
        below[:] = [name for name in below if name[:1] not in "._"]
        there = [name for name in names if name.lower().endswith(".parquet") and name[:1] not in "._"]
        found += [os.path.relpath(os.path.join(place, name), folder) for name in there]
    return sorted(found)


def read(folder: str, files: list[str], options: Options) -> Edges:
    """The edges of all files, one after another."""
    parts: list[Edges] = []
    for name in files:
        path = os.path.join(folder, name)
        with opened(path) as file:
            part = parquet.read(path, file, options, doubts=not parts)
        said = _said_by_folders(name)
        part.edges = {**{key: np.full(len(part.src), value) for key, value in said.items()}, **part.edges}
        parts.append(part)
        _check_alike(path, part, parts[0])
    counts = [part.num_vertices for part in parts]
    known = [count for count in counts if count is not None]
    first = parts[0]
    edges = {name: np.concatenate([part.edges[name] for part in parts]) for name in first.edges}
    edges |= {key: _numbers(edges[key]) for key in _said_by_folders(files[0])}
    weights = [part.weights for part in parts if part.weights is not None]
    return replace(
        first, src=np.concatenate([part.src for part in parts]), dst=np.concatenate([part.dst for part in parts]),
        weights=np.concatenate(weights) if weights else None, edges=edges,
        num_vertices=max(known) if len(known) == len(counts) else None,
    )  # fmt: skip


def divisible(folder: str, files: list[str], options: Options) -> Divisible | None:
    """How several processes can read a folder; None if that is so of a file, or if some do not say what others do."""
    found: list[Divisible] = []
    kinds = set()
    for name in files:
        path = os.path.join(folder, name)
        with opened(path) as file:
            each = parquet.divisible(path, file, options, doubts=not found)
        if each is None or each.directed != (found or [each])[0].directed:
            return None  # which is refused, if it is wrong
        found.append(each)
        kinds.add(frozenset(each.shares.make(0, 0).values))
        _close(each.shares)
    if len(kinds) > 1:
        return None
    counts = [each.shares.num_vertices for each in found]
    known = [count for count in counts if count is not None]
    made = _Joined([each.shares for each in found], _columns(files) if options.keeps_columns else {})
    shares = Shares(made.count, made.make, max(known) if len(known) == len(counts) else None, done=made.close)
    return Divisible(shares, found[0].directed)


class _Joined:
    """Edges of several files, one after another, of which each thread has one open at a time."""

    def __init__(self, files: list[Shares], columns: dict[str, Array]) -> None:
        self._files, self._columns, self._mine = files, columns, threading.local()
        self._starts = [0, *itertools.accumulate(each.count for each in files)]
        self.count = self._starts[-1]

    def make(self, lo: int, hi: int) -> Piece:
        """Edges lo to hi - 1."""
        first = max(bisect_right(self._starts, lo, hi=len(self._files)) - 1, 0)
        last = max(bisect_left(self._starts, hi, first + 1), first + 1)
        parts = [self._part(index, lo, hi) for index in range(first, min(last, len(self._files)))]
        if len(parts) == 1:
            return parts[0]
        values = {name: np.concatenate([part.values[name] for part in parts]) for name in parts[0].values}
        src, dst = (np.concatenate([getattr(part, end) for part in parts]) for end in ("src", "dst"))
        return Piece(src, dst, values.pop("", None), values)

    def _part(self, index: int, lo: int, hi: int) -> Piece:
        """Those of them that are in one file."""
        if getattr(self._mine, "index", index) != index:
            _close(self._files[self._mine.index])
        self._mine.index = index
        begin, end = self._starts[index : index + 2]
        piece = self._files[index].make(max(lo - begin, 0), min(hi, end) - begin)
        said = {name: np.full(len(piece.src), values[index]) for name, values in self._columns.items()}
        return Piece(piece.src, piece.dst, piece.weights, {**said, **(piece.columns or {})})

    def close(self) -> None:
        """Let this thread have no file any more."""
        if hasattr(self._mine, "index"):
            _close(self._files[self._mine.index])


def _close(shares: Shares) -> None:
    """Let this thread have a file no more."""
    if shares.done is not None:
        shares.done()


def refuse(line: int | None, expected: str, found: str) -> NoReturn:
    """Refuse a folder."""
    raise GraphError(f"expected {expected}, found {found}")


def _columns(files: list[str]) -> dict[str, Array]:
    """What the names of folders say of each file, by the names of columns."""
    said = [_said_by_folders(name) for name in files]
    return {key: _numbers(np.array([each.get(key, "") for each in said])) for key in said[0]}


def _said_by_folders(name: str) -> dict[str, str]:
    """What the names of its folders say of a file."""
    pairs = (each.partition("=") for each in name.split(os.sep)[:-1] if "=" in each)
    return {unquote(key): "" if value == _MISSING else unquote(value) for key, _, value in pairs}


def _check_alike(path: str, part: Edges, first: Edges) -> None:
    """Refuse a file that has other columns than the first."""
    for what, here, there in (
        ("columns", sorted(part.edges), sorted(first.edges)),
        ("weights", part.weights is not None, first.weights is not None),
        ("directed edges", part.directed, first.directed),
        ("names of vertices", _named(part), _named(first)),
    ):
        if here != there and len(part.src):
            shown = f"{here} here and {there} in the first file" if isinstance(here, list) else "in some files only"
            raise GraphError(f"{path}: expected the same {what} in all files, found {shown}")


def _named(part: Edges) -> bool:
    return part.src.dtype.kind not in "iu"


def _numbers(column: Array) -> Array:
    """Texts as integers, if all are."""
    texts = set(column.tolist()) if column.dtype.kind == "U" else set()
    whole = texts and all(text.isascii() and text.isdigit() and len(text) < 19 for text in texts)
    return column.astype(np.int64) if whole else column
