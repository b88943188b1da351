"""Device functions of gathers: lanes of a warp, or threads of a block, find the least pair that any of them has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from frontier.backends.cuda.device.machine import block_size, find_first, shuffle_down, sync, thread_index

__all__ = ["block_least", "lanes_least", "nearer_of", "next_lane", "warp_least"]

i32, u32, i64 = np.int32, np.uint32, np.int64


def next_lane(pending, otherwise):
    """The first lane in a ballot (``otherwise``, if that is empty), and the ballot without it."""
    if pending == u32(0):
        return i32(otherwise), pending
    return find_first(pending), u32(pending & u32(pending - u32(1)))


def nearer_of(best, result, other, end):
    """The pair with the lower key; of equal keys, that with the lower result."""
    if other < best or (other == best and end < result):
        return other, end
    return best, result


def lanes_least(best, result, lanes):
    """In each group of ``lanes`` lanes, the least result among those with the least key; the first lane gets it."""
    d = i32(lanes >> 1)
    while d > i32(0):
        best, result = nearer_of(best, result, i64(shuffle_down(best, d)), i64(shuffle_down(result, d)))
        d = i32(d >> i32(1))
    return best, result


def warp_least(best, result):
    """The same in a warp; lane 0 gets it."""
    for d in (16, 8, 4, 2, 1):
        best, result = nearer_of(best, result, i64(shuffle_down(best, d)), i64(shuffle_down(result, d)))
    return best, result


def block_least(best, result, keys, results):
    """The same in a block; thread 0 gets it. All threads call it."""
    t = thread_index()
    best, result = warp_least(best, result)
    sync()
    if (t & i32(31)) == i32(0):
        keys[t >> i32(5)] = best
        results[t >> i32(5)] = result
    sync()
    if t == i32(0):
        for i in range(1, block_size() >> i32(5)):
            best, result = nearer_of(best, result, keys[i], results[i])
    return best, result
