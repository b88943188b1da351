"""Build the rows of a graph by array operations, on a GPU or for few edges: sorting, duplicates, in-edges.

Every function takes ``xp``, the module of its arrays: CuPy or NumPy. Edges are sorted as 64-bit keys, with the source
in the upper and the target in the lower bits. The sort is CuPy's radix sort, which needs as much memory again;
temporary arrays are freed as soon as possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from frontier.errors import GraphError
from frontier.graph.topology import Array, id_dtype, offset_dtype

__all__ = [
    "Rows", "argsort", "bytes_for", "contracted", "count", "counts", "narrowed", "sorted_rows", "spread", "transposed",
    "widened",
]  # fmt: skip

_STRETCH = 1 << 28  # slots worked on at a time: CuPy's prefix sum needs a copy, its scatter counts in 32 bits


@dataclass
class Rows:
    """Sorted rows; ``order`` holds the number that each slot's edge had in the input.

    ``differ`` are the ends of an edge whose duplicates had different weights, if that was asked for and there is one.
    """

    offsets: Array
    targets: Array
    weights: Array | None = None
    order: Array | None = None
    differ: tuple[int, int] | None = None


def bytes_for(num_edges: int, both: bool, carry: bool) -> int:
    """Bytes that sorting takes in addition to its input; ``carry``: weights or columns go with the edges."""
    return num_edges * (2 if both else 1) * (40 if carry else 16)


# -- from edges to rows -----------------------------------------------------------------------------


def sorted_rows(
    xp: Any,
    src: Array,
    dst: Array,
    num_vertices: int,
    *,
    duplicates: str = "keep",
    both: bool = False,
    drop_loops: bool = False,
    weights: Array | None = None,
    need_order: bool = False,
    num_sources: int | None = None,
    watch: bool = False,
) -> Rows:
    """Sort edges by source and target, and resolve duplicates; as ``_build_sort.sorted_rows``."""
    num_sources = num_vertices if num_sources is None else num_sources
    bits = max(1, (num_vertices - 1).bit_length())
    if 2 * bits > 63:
        raise GraphError(
            f"graphs of more than 2**31 vertices are not built on a GPU, and this has {num_vertices}: give the edges "
            "in the host's memory"
        )
    if weights is None and not need_order:
        keys = _plain_keys(xp, src, dst, bits, duplicates, both, drop_loops)
        return Rows(*_rows(xp, keys, bits, num_vertices, num_sources))
    differ: list[tuple[int, int]] = []
    keys, order, carried = _resolved(
        xp, src, dst, bits, duplicates, both, drop_loops, weights, differ if watch else None
    )
    if both:
        keys, places = _with_reverse(xp, keys, bits)
        order, carried = order[places], None if carried is None else carried[places]
        del places
    return Rows(*_rows(xp, keys, bits, num_vertices, num_sources), carried, order, *differ)


def contracted(
    xp: Any,
    sources: Array,
    targets: Array,
    weights: Array,
    group: Array,
    count: int,
    *,
    once: bool,
    loops: bool,
) -> Rows:
    """Rows of the graph between groups of vertices, with the sums of integer weights.

    ``once``: slots hold both directions of each edge, of which a self-loop of a group takes one. ``loops``: whether
    there are any.
    """
    bits = max(1, (count - 1).bit_length())
    src, dst = group[sources], group[targets]
    kept = src < dst if once else src != dst  # of both directions, which have the same sums, one is sorted
    if loops and once:
        kept |= (src == dst) & (sources <= targets)
    elif loops:
        kept[...] = True
    slots = xp.flatnonzero(kept)
    keys = _keys(src[slots], dst[slots], bits)
    del src, dst, kept
    order = argsort(xp, keys)
    keys, slots = keys[order], slots[order]
    del order
    heads = _heads(xp, keys)
    totals = _sums(xp, weights[slots], heads) if len(keys) else weights[:0]
    keys = keys[heads]
    if once:
        keys, places = _with_reverse(xp, keys, bits)
        totals = totals[places]
    return Rows(*_rows(xp, keys, bits, count, count), totals)


def _keys(src: Array, dst: Array, bits: int) -> Array:
    keys = src.astype(np.int64)
    keys <<= bits
    keys |= dst
    return keys


def _plain_keys(
    xp: Any, src: Array, dst: Array, bits: int, duplicates: str, both: bool, drop_loops: bool
) -> Array:
    """Sorted keys of edges that carry nothing."""
    keys = _keys(src, dst, bits)
    if both or drop_loops:
        proper = src != dst
        back = _keys(dst, src, bits)[proper] if both else keys[:0]
        keys = xp.concatenate((keys[proper] if drop_loops else keys, back))
        del proper, back
    keys.sort()
    if duplicates == "keep":
        return keys
    heads = _heads(xp, keys)
    if duplicates == "error":
        _refuse_duplicates(keys, heads, bits)
    return keys[heads]


def _resolved(
    xp: Any,
    src: Array,
    dst: Array,
    bits: int,
    duplicates: str,
    both: bool,
    drop_loops: bool,
    weights: Array | None,
    differ: list[tuple[int, int]] | None,
) -> tuple[Array, Array, Array | None]:
    """Keys in order, the number of each one's edge, and its weight; an undirected edge once, from its smaller end.

    To ``differ`` are added the ends of the first edge whose duplicates have different weights.
    """
    keys = _keys(xp.minimum(src, dst), xp.maximum(src, dst), bits) if both else _keys(src, dst, bits)
    order = xp.flatnonzero(src != dst) if drop_loops else xp.arange(len(keys))
    if weights is not None and duplicates in ("min", "max"):
        # equals in the order of their weights, then as they were given
        wide = widened(weights[order])
        assert wide is not None
        if duplicates == "max":
            wide = -wide if wide.dtype.kind == "f" else ~wide
        order = order[argsort(xp, wide)]
        del wide
    order = order[argsort(xp, keys[order])]
    keys = keys[order]
    if duplicates == "keep":
        return keys, order, None if weights is None else weights[order]
    heads = _heads(xp, keys)
    if duplicates == "error":
        _refuse_duplicates(keys, heads, bits)
    if weights is not None and duplicates == "sum":
        totals = narrowed(_sums(xp, weights[order], heads), weights.dtype)
        return keys[heads], order[heads], totals
    if differ is not None and weights is not None and not heads.all():
        ordered = weights[order]
        unequal = ordered[1:] != ordered[:-1]
        del ordered
        unequal &= ~heads[1:]
        if unequal.any():
            differ.append(divmod(int(keys[1:][unequal.argmax()]), 1 << bits))
        del unequal
    if duplicates == "last":
        heads[:-1] = heads[1:].copy()
        heads[-1:] = True
    order = order[heads]
    return keys[heads], order, None if weights is None else weights[order]


def _with_reverse(xp: Any, keys: Array, bits: int) -> tuple[Array, Array]:
    """Keys of both directions of edges, in order, and the place of each in ``keys``."""
    ends, starts = keys & ((1 << bits) - 1), keys >> bits
    proper = xp.flatnonzero(starts != ends)
    back = _keys(ends[proper], starts[proper], bits)
    del ends, starts
    places = xp.concatenate((xp.arange(len(keys)), proper))
    keys = xp.concatenate((keys, back))
    del proper, back
    order = argsort(xp, keys)
    return keys[order], places[order]


def argsort(xp: Any, keys: Array) -> Array:
    """Order of keys, equals as they come."""
    # CuPy's argsort always is stable, and not every version of it takes the word
    order: Array = np.argsort(keys, kind="stable") if xp is np else keys.argsort()
    return order


def _heads(xp: Any, keys: Array) -> Array:
    """Which of sorted keys are the first of their kind."""
    heads: Array = xp.ones(len(keys), np.bool_)
    xp.not_equal(keys[1:], keys[:-1], out=heads[1:])
    return heads


def _refuse_duplicates(keys: Array, heads: Array, bits: int) -> None:
    if heads.all():
        return
    raise repeated(*divmod(int(keys[heads.argmin()]), 1 << bits))


def repeated(source: int, target: int) -> GraphError:
    """Return the error that an edge is given more than once."""
    return GraphError(
        f"the edge ({source}, {target}) is given more than once; duplicates='first', 'last', 'min', "
        "'max', 'sum' or 'keep' says what is to become of it"
    )


def _sums(xp: Any, weights: Array, heads: Array) -> Array:
    """Sum of each group of weights, pair by pair, so that it is always the same; groups begin at ``heads``."""
    wide = widened(weights)
    assert wide is not None
    if wide.dtype.kind == "f":
        return _add_up(xp, wide, heads)
    if float(abs(wide.astype(np.float64)).sum()) < 2**62:  # integers wrap round, so differences of sums are exact
        ends = xp.flatnonzero(heads[1:])
        upto = xp.cumsum(wide)
        apart: Array = xp.concatenate((upto[ends], upto[-1:]))
        apart[1:] -= apart[:-1].copy()
        return apart
    about = _add_up(xp, wide.astype(np.float64), heads)
    totals = _add_up(xp, wide, heads)
    if (abs(about - totals) > 1e18).any():  # they wrapped round
        raise GraphError("the weights of duplicate edges add up to more than int64 holds")
    return totals


def _add_up(xp: Any, values: Array, heads: Array) -> Array:
    """Sum of each group of ``values``, which are used up."""
    starts = xp.flatnonzero(heads)
    group = xp.cumsum(heads, dtype=np.int64) - 1
    rank = xp.arange(len(values)) - starts[group]
    while len(values) > len(starts):
        second = xp.flatnonzero(rank & 1)
        values[second - 1] += values[second]
        even = rank & 1 == 0
        values, rank = values[even], rank[even] >> 1
    return values


def _rows(xp: Any, keys: Array, bits: int, num_vertices: int, num_sources: int) -> tuple[Array, Array]:
    """Offsets and targets of sorted keys, which are used up."""
    if len(keys) == 0:
        return xp.zeros(num_sources + 1, np.int32), xp.empty(0, id_dtype(num_vertices))
    firsts = xp.arange(num_sources + 1, dtype=np.int64)
    firsts <<= bits
    offsets = xp.searchsorted(keys, firsts).astype(offset_dtype(len(keys)))
    keys &= (1 << bits) - 1
    return offsets, keys.astype(id_dtype(num_vertices))


def widened(weights: Array | None) -> Array | None:
    """Weights as int64 or float64, so that few kernels serve all dtypes."""
    if weights is None:
        return None
    if weights.dtype.kind == "f":
        return weights.astype(np.float64)
    if weights.dtype == np.uint64 and len(weights) and weights.max() > np.iinfo(np.int64).max:
        raise GraphError("weights beyond int64 cannot be compared or added up: pass floats")
    return weights.astype(np.int64)


def narrowed(sums: Array, dtype: Any) -> Array:
    """Sums in the weights' own dtype, if they fit."""
    if dtype.kind != "f" and len(sums):
        info = np.iinfo(dtype)
        if sums.min() < info.min or sums.max() > info.max:
            raise GraphError(
                f"the weights of duplicate edges add up to {sums.max()}, which {dtype} cannot hold: pass int64 weights"
            )
    return sums.astype(dtype, copy=False)


# -- from rows to what is derived of them -----------------------------------------------------------


def spread(xp: Any, offsets: Array, dtype: Any) -> Array:
    """Return the source of each edge slot."""
    m, begins = int(offsets[-1]), offsets[1:]
    made: Array = xp.zeros(m, dtype)
    for first in range(0, m, _STRETCH):
        part = made[first : first + _STRETCH]
        low, high = xp.searchsorted(begins, xp.asarray([first, first + len(part)], begins.dtype)).tolist()
        count(xp, part, begins[low:high] - first)
        part[...] = xp.cumsum(part, dtype=dtype)
        if first:
            part += made[first - 1]
    return made


def counts(xp: Any, ids: Array, length: int, dtype: Any) -> Array:
    """Return how often each id occurs."""
    if xp is np:  # in a twentieth of the time
        return np.bincount(ids, minlength=length).astype(dtype, copy=False)
    made: Array = xp.zeros(length, dtype)
    for first in range(0, len(ids), _STRETCH):
        count(xp, made, ids[first : first + _STRETCH])
    return made


def count(xp: Any, made: Array, ids: Array) -> None:
    """Add how often each id occurs."""
    if len(ids):
        # the GPU adds to unsigned integers only, where they have 64 bits
        xp.add.at(made.view(np.uint64) if made.itemsize == 8 else made, ids, 1)


def transposed(xp: Any, offsets: Array, targets: Array, permutation: bool) -> tuple[Array, Array, Array | None]:
    """Return in-offsets, in-sources and, if asked for, the edge slot of each in-edge."""
    n = len(offsets) - 1
    in_offsets = xp.zeros(n + 1, offsets.dtype)
    in_offsets[1:] = xp.cumsum(counts(xp, targets, n, offsets.dtype), dtype=offsets.dtype)
    sources = spread(xp, offsets, targets.dtype)
    bits = max(1, (n - 1).bit_length())
    if permutation or 2 * bits > 63:
        slots = argsort(xp, targets)
        return in_offsets, sources[slots], slots.astype(offsets.dtype)
    keys = _keys(targets, sources, bits)
    del sources
    keys.sort()
    keys &= (1 << bits) - 1
    return in_offsets, keys.astype(targets.dtype), None
