"""The edges of a Graph500 graph: drawn as by :func:`frontier.rmat`, with scrambled vertex ids and random weights.

Edge i is a function of the scale, the seed and i alone, so any range of edges can be made by itself. This is why
vertices are renumbered by a bijection that is computed for each id, and not by an array of all, as in
:func:`frontier.rmat`. Edges are drawn independently of each other, so their order is random already.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from frontier.generators.arrays import later
from frontier.generators.random_numbers import check_room, draws, generating, keys, on_threads, uniform, whole
from frontier.graph.topology import Array
from frontier.graph500.edges import BLOCK, EdgeList
from frontier.memory.shortage import telling

__all__ = ["MOST", "generate", "scramble"]

#: The largest scale.
MOST = 40

#: Probabilities of three quadrants of the adjacency matrix; the fourth has the rest, 0.05.
A, B, C = 0.57, 0.19, 0.19

#: Rounds of the bijection: after two, every bit of an id depends on every other.
ROUNDS = 3


@telling("making the edges of a Graph500 graph")
def generate(scale: int, edgefactor: int = 16, *, seed: int = 1, lo: int = 0, hi: int | None = None) -> EdgeList:
    """Make the edges of a graph, or a range of them.

    Parameters
    ----------
    scale : int
        There are 2**scale vertices.
    edgefactor : int
        Edges for each vertex.
    seed : int
        The same seed gives the same edges, on any number of threads.
    lo, hi : int
        Make edges lo to hi - 1 only, of ``edgefactor * 2**scale``.

    Raises
    ------
    GraphError
        If an argument is out of range.
    """
    scale = whole("scale", scale, 1, MOST)
    total = whole("edgefactor", edgefactor, 1) << scale
    hi = whole("hi", total if hi is None else hi, 0, total)
    lo = whole("lo", lo, 0, hi)
    count = hi - lo
    check_room(0, count)
    ends, names, weights = keys(seed)
    src, dst, weight = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.float32)
    kernels = generating(count)
    start = later(ends, lo * ((scale + 1) // 2))  # each number that is drawn decides two bits of an edge's ends
    thresholds = [np.uint64(p * 2**32) for p in (A, A + B, A + B + C)]
    constants = draws(names, 2 * ROUNDS)

    def make(begin: int, end: int) -> None:
        kernels.rmat(start, begin, end, scale, *thresholds, src, dst)
        for at in range(begin, end, BLOCK):
            block = slice(at, min(at + BLOCK, end))
            src[block] = scramble(src[block], scale, constants)
            dst[block] = scramble(dst[block], scale, constants)

    on_threads(make, count)
    for at in range(0, count, 16 * BLOCK):
        stop = min(at + 16 * BLOCK, count)
        weight[at:stop] = _weights(later(weights, lo + at), stop - at)
    return EdgeList(src, dst, weight, lo)


def scramble(ids: Array, scale: int, constants: Array) -> Array:
    """Renumber vertices: a bijection of the numbers of ``scale`` bits, given by random constants.

    A product with an odd number carries every bit to those above it, and the shift carries the upper bits to the lower.
    """
    mask, half = np.uint64((1 << scale) - 1), np.uint64((scale + 1) // 2)
    x = ids.astype(np.uint64)
    for factor, summand in constants.reshape(ROUNDS, 2):
        x *= factor | np.uint64(1)
        x += summand
        x &= mask
        x ^= x >> half
    return x.view(np.int64)


def _weights(key: Any, count: int) -> Array:
    """Uniform in [0, 1), as float32.

    Drawn with 53 bits and then rounded. With 24 bits, all of the same distance, one weight in 2**24 would be 0, and a
    large graph would have edges of no length.
    """
    return np.minimum(uniform(key, count).astype(np.float32), np.float32(1 - 2**-24))
