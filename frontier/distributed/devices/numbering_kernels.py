"""Kernels that write results by the ids that vertices were given; see :mod:`frontier.distributed.devices.numbering`.

They go over the ids ``lo`` to ``hi - 1``. ``vertices`` has the vertex of each id, or -1.
"""

from __future__ import annotations

import numpy as np

from frontier.backends.cuda.device.machine import POINTERS, block_index, block_size, device, num_blocks, thread_index

i64, f32 = np.int64, np.float32
int32_at, float32_at = POINTERS["int32"], POINTERS["float32"]


@device
def restore_vertices(lo, hi, vertices, ids, found, made):
    """Results that are vertices themselves, whose ids are ``ids``; or -1, where there is none."""
    of, name, source, there = int32_at(vertices), int32_at(ids), int32_at(found), int32_at(made)
    i = i64(lo) + i64(block_index()) * i64(block_size()) + i64(thread_index())
    while i < hi:
        v, result = i64(of[i]), np.int32(-1)
        if v >= 0:
            other = i64(source[v])
            if other >= 0:
                result = name[other]
        there[i] = result
        i = i + i64(num_blocks()) * i64(block_size())


@device
def restore_values(lo, hi, vertices, found, made):
    """Distances; infinite at ids without a vertex."""
    of, source, there = int32_at(vertices), float32_at(found), float32_at(made)
    i = i64(lo) + i64(block_index()) * i64(block_size()) + i64(thread_index())
    while i < hi:
        v, result = i64(of[i]), f32(np.inf)
        if v >= 0:
            result = source[v]
        there[i] = result
        i = i + i64(num_blocks()) * i64(block_size())
