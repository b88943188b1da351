"""Bring edges to their rows: count them, find their places, and write them there, on all threads if they are many."""

from __future__ import annotations

from typing import Any

import numpy as np

from frontier.graph.build_sort import stretches, workers_for
from frontier.graph.topology import Array
from frontier.native import threads
from frontier.native.jit import sparing

__all__ = ["count", "places", "scatter"]

#: Workers at most: to find places, each reads the rows of all edges.
WORKERS = 8


def count(found: Array, rows: Array) -> None:
    """Count an entry of each of some rows, which may occur many times."""
    kernels = _kernels(len(rows))
    if kernels is None:
        np.add.at(found, rows, 1)
    else:
        _on_threads(len(rows), len(found), lambda lo, hi: kernels.count(rows, lo, hi, found))


def places(cursor: Array, rows: Array) -> Array:
    """Where entries of some rows go: ``cursor`` has the next place of each row, and moves on."""
    kernels = _kernels(len(rows))
    if kernels is None:
        return _few_places(cursor, rows)
    at = np.empty(len(rows), np.int64)
    _on_threads(len(rows), len(cursor), lambda lo, hi: kernels.place(rows, lo, hi, cursor, at))
    return at


def scatter(out: Array, at: Array, values: Array) -> None:
    """Write values to different places of an array that has their dtype."""
    kernels = _kernels(len(at))
    bits = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}.get(values.dtype.itemsize)
    if kernels is None or bits is None or values.dtype.kind not in "biuf" or out.dtype != values.dtype:
        out[at] = values
        return
    into, given = out.view(bits), np.ascontiguousarray(values).view(bits)
    _on_threads(len(at), len(at), lambda lo, hi: kernels.scatter(at, given, lo, hi, into))


def _kernels(number: int) -> Any:
    if sparing(number, "frontier.distributed.ranks.row_kernels"):
        return None
    from frontier.distributed.ranks import row_kernels

    return row_kernels


def _on_threads(entries: int, length: int, call: Any) -> None:
    """Call ``call(lo, hi)`` on parts of a range, one for each worker that so many entries are worth."""
    workers = min(workers_for(entries), WORKERS)
    bounds = stretches(length, workers)
    threads.run(lambda w: call(bounds[w], bounds[w + 1]), workers)


def _few_places(cursor: Array, rows: Array) -> Array:
    keys = (rows.astype(np.int64) << 32) | np.arange(len(rows))
    keys.sort()
    order = keys & 0xFFFFFFFF
    row: Array = np.right_shift(keys, 32, out=keys)
    heads = np.flatnonzero(np.diff(row, prepend=-1))
    counts = np.diff(heads, append=len(row))
    at = np.arange(len(rows))
    at -= np.repeat(heads, counts)
    at += cursor[row]
    cursor[row[heads]] += counts
    row[order] = at  # whose memory is used again
    return row
