"""Compiled kernels that compress ids and bring them back; see :mod:`frontier.graph.packed`."""

from __future__ import annotations

import numpy as np

from frontier.native.jit import jit

BLOCK = 32


@jit
def frame(ids, frames):
    """Find the frame of every block; returns whether one needs more than 32 bits."""
    start = 0
    wide = False
    for b in range(len(frames) // 2):
        least = np.int64(ids[b * BLOCK])
        most = least
        for k in range(b * BLOCK + 1, min(b * BLOCK + BLOCK, len(ids))):
            value = np.int64(ids[k])
            least = min(least, value)
            most = max(most, value)
        bits = 0
        while (most - least) >> bits:
            bits += 1
        wide = wide or bits > 32
        frames[2 * b] = start
        frames[2 * b + 1] = least
        start += bits
    frames[len(frames) - 1] = start
    return wide


@jit
def pack(ids, frames, words):
    """Write the differences from the frames into words that are 0."""
    for b in range(len(frames) // 2):
        start = np.int64(frames[2 * b])
        bits = np.int64(frames[2 * b + 2]) - start
        for i in range(min(BLOCK, len(ids) - b * BLOCK)):
            value = np.uint64(np.int64(ids[b * BLOCK + i]) - np.int64(frames[2 * b + 1]))
            at = start + ((i * bits) >> 5)
            shifted = value << np.uint64((i * bits) & 31)
            words[at] |= np.uint32(shifted & np.uint64(0xFFFFFFFF))
            words[at + 1] |= np.uint32(shifted >> np.uint64(32))


@jit
def unpack(frames, words, ids):
    """Write the ids."""
    for b in range(len(frames) // 2):
        start = np.int64(frames[2 * b])
        bits = np.int64(frames[2 * b + 2]) - start
        mask = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
        for i in range(min(BLOCK, len(ids) - b * BLOCK)):
            at = start + ((i * bits) >> 5)
            both = np.uint64(words[at]) | (np.uint64(words[at + 1]) << np.uint64(32))
            value = (both >> np.uint64((i * bits) & 31)) & mask
            ids[b * BLOCK + i] = np.int64(frames[2 * b + 1]) + np.int64(value)
