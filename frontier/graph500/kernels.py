"""Kernels on the edges of a list that is nowhere: a thread makes an edge when it needs it, as the generator does.

So GPUs make any range of the list, and check a result against it, without reading a list from memory. What is drawn
for an edge, and what is checked, is as in :mod:`frontier.graph500.generator` and :mod:`frontier.graph500.validation`.

Every kernel goes over the edges ``lo`` to ``hi - 1``. ``table`` is the address of the numbers of :func:`table_of`: the
seeds of ends and of weights, then a factor and a summand for each round of scrambling.
"""

from __future__ import annotations

import numpy as np

from frontier.backends.cuda.device.machine import (
    POINTERS,
    block_index,
    block_size,
    device,
    fetch_add,
    fetch_min,
    num_blocks,
    thread_index,
)
from frontier.graph500 import generator, validation

i64, u64, f32, f64 = np.int64, np.uint64, np.float32, np.float64
bool_at, int32_at, int64_at, uint64_at = (POINTERS[name] for name in ("bool", "int32", "int64", "uint64"))
float32_at = POINTERS["float32"]

_GOLDEN, _MUL_1, _MUL_2 = u64(0x9E3779B97F4A7C15), u64(0xBF58476D1CE4E5B9), u64(0x94D049BB133111EB)
_S1, _S11, _S27, _S30, _S31, _S32 = u64(1), u64(11), u64(27), u64(30), u64(31), u64(32)
_HALF = u64(0xFFFFFFFF)
_A, _AB, _ABC = (
    u64(p * 2**32) for p in (generator.A, generator.A + generator.B, generator.A + generator.B + generator.C)
)
_ROUNDS, _OUTSIDE = generator.ROUNDS, validation.OUTSIDE
_UNIT, _MOST = 1.0 / (1 << 53), f32(1 - 2**-24)
_MORE, _LESS = 1 + validation.TOLERANCE, 1 - validation.TOLERANCE

# ---- an edge ---------------------------------------------------------------------------------------------


@device
def first_of(lo):
    """The first edge of this thread."""
    return i64(lo) + i64(block_index()) * i64(block_size()) + i64(thread_index())


@device
def stride():
    """From one edge of a thread to its next."""
    return i64(num_blocks()) * i64(block_size())


@device
def drawn(seed, i):
    """The i-th number of a sequence; see :mod:`frontier.generators.kernels`."""
    x = seed + (u64(i) + _S1) * _GOLDEN
    x = (x ^ (x >> _S30)) * _MUL_1
    x = (x ^ (x >> _S27)) * _MUL_2
    return x ^ (x >> _S31)


@device
def scrambled(number, scale, T):
    """The id of a vertex."""
    mask = (_S1 << u64(scale)) - _S1
    half = u64((scale + 1) // 2)
    x = u64(number)
    for each in range(_ROUNDS):
        x = (x * T[2 + 2 * each] + T[3 + 2 * each]) & mask
        x = x ^ (x >> half)
    return i64(x)


@device
def ends(i, scale, T):
    """The two ends of an edge."""
    s = u64(0)
    d = u64(0)
    draws = (scale + 1) // 2
    for k in range(draws):
        bits = drawn(T[0], i * draws + k)
        for half in range(2):
            if 2 * k + half < scale:
                r = bits & _HALF
                bits = bits >> _S32
                low = r >= _AB  # the lower half of the matrix
                right = (r >= _A) ^ low ^ (r >= _ABC)
                s = (s << _S1) | u64(low)
                d = (d << _S1) | u64(right)
    return scrambled(s, scale, T), scrambled(d, scale, T)


@device
def weight_of(i, T):
    """The weight of an edge."""
    return min(f32(f64(drawn(T[1], i) >> _S11) * _UNIT), _MOST)


# ---- kernels ---------------------------------------------------------------------------------------------


@device
def make_edges(lo, hi, scale, table, sources, targets, weights):
    """Write edges to arrays."""
    T, src, dst, weight = uint64_at(table), int64_at(sources), int64_at(targets), float32_at(weights)
    i = first_of(lo)
    while i < hi:
        u, v = ends(i, scale, T)
        src[i - lo] = u
        dst[i - lo] = v
        weight[i - lo] = weight_of(i, T)
        i = i + stride()


@device
def mark_neighbors(lo, hi, scale, table, marks):
    """Mark the ends of edges that are no self-loops."""
    T, found = uint64_at(table), bool_at(marks)
    i = first_of(lo)
    while i < hi:
        u, v = ends(i, scale, T)
        if u != v:
            found[u] = True
            found[v] = True
        i = i + stride()


@device
def check_levels(lo, hi, scale, table, tree, marks, counts):
    """Check the rules on edges for a BFS.

    ``tree`` has the level and the parent of each vertex, side by side, since one access to memory brings both. The
    first edge that breaks a rule goes to the first of ``counts``, the number of edges in the component to the second.
    """
    T, pairs, joined, found = uint64_at(table), int32_at(tree), bool_at(marks), int64_at(counts)
    inside = i64(0)
    i = first_of(lo)
    while i < hi:
        u, v = ends(i, scale, T)
        here, there = i64(pairs[2 * u]), i64(pairs[2 * v])
        if here > there + 1 or there > here + 1:
            fetch_min(found, 0, i)
        if i64(pairs[2 * v + 1]) == u:
            joined[v] = True
        if i64(pairs[2 * u + 1]) == v:
            joined[u] = True
        if here != _OUTSIDE:
            inside = inside + 1
        i = i + stride()
    fetch_add(found, 1, inside)


@device
def check_distances(lo, hi, scale, table, tree, marks, counts):
    """Check the rules on edges for an SSSP; ``tree`` has distances where that of a BFS has levels."""
    T, pairs, joined, found = uint64_at(table), int32_at(tree), bool_at(marks), int64_at(counts)
    far = float32_at(tree)
    inside = i64(0)
    i = first_of(lo)
    while i < hi:
        u, v = ends(i, scale, T)
        here, there, weight = f64(far[2 * u]), f64(far[2 * v]), f64(weight_of(i, T))
        through, back = here + weight, there + weight  # to v through u, and to u through v
        if there > through * _MORE or here > back * _MORE:
            fetch_min(found, 0, i)
        if i64(pairs[2 * v + 1]) == u and there >= through * _LESS:
            joined[v] = True
        if i64(pairs[2 * u + 1]) == v and here >= back * _LESS:
            joined[u] = True
        if here < np.inf:
            inside = inside + 1
        i = i + stride()
    fetch_add(found, 1, inside)
