"""Push, balance ``merge_path``: blocks take equal ranges of the frontier's *edges*.

The prefix sum of the frontier's degrees numbers its edges consecutively. A block takes a tile of them, finds the
vertices of these edges by sorted search, and stages the vertices in shared memory, where every thread finds the source
of its own edge. So the edges of a hub are divided among many blocks. Accepted elements are collected in shared memory
and appended with one atomic for the whole block. After Davidson et al. (IPDPS 2014) and Gunrock's LB.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.cuda.runtime_words import FREE, TILE
from frontier.lowering.frontier_state import PUSH
from frontier.lowering.ir import Choice, Value
from frontier.lowering.kernels import Callee
from frontier.lowering.variables import pointer
from frontier.operators.advance.cuda.edges import Edge, finish

if TYPE_CHECKING:
    from frontier.backends.cuda.appends import element_at, empty_buffer, flush, put
    from frontier.backends.cuda.collectives import first_in_warp
    from frontier.backends.cuda.machine import block_index, block_size, num_blocks, sync, thread_index
    from frontier.backends.cuda.names import IDS, OFFSETS, I, ids_shared, int32_shared, offsets_shared
    from frontier.backends.cuda.program import CudaProgram
    from frontier.backends.cuda.queues import source_in, tile_size, tile_sources
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.advance import Advance

__all__ = ["lower"]


def pushing(visit: Callee, appends: bool, culls: bool, big: bool, mode: int) -> Callable[..., Any]:
    """All edges of the queue of ``count`` vertices, which are ``total``; ``scan`` has the edges before each vertex."""

    def phase(p, C, slot, w, W, everything, queue, scan, count, total, lists, out):
        bases = offsets_shared(FREE)
        vertices = ids_shared(FREE + OFFSETS * TILE)
        buffer = ids_shared(FREE + (OFFSETS + IDS) * TILE)
        keys = int32_shared(FREE + (OFFSETS + 2 * IDS) * TILE)
        t = thread_index()
        empty_buffer()
        tile = tile_size(total)
        first = block_index() * tile
        while first < total:
            last = min(first + tile, total)
            low, high = tile_sources(scan, count, first, last)
            while low < high:
                # The tile's sources; a tile that has more (they have no edges) takes several turns.
                many = min(high - low, TILE)
                j = np.int64(t)
                while j < many:
                    x = element_at(queue, everything, low + j)
                    begun = np.int64(scan[low + j])
                    keys[j] = max(begun - first, 0)
                    vertices[j] = x
                    bases[j] = lists.offsets[x] - begun
                    j += block_size()
                at = first
                stop = last
                if low + many < high:
                    stop = min(last, np.int64(scan[low + many]))
                at = max(first, np.int64(scan[low]))
                sync()
                while at < stop:
                    # Every thread visits one edge.
                    ok = False
                    item = np.int64(0)
                    position = I(at + t)
                    if position < stop:
                        source = source_in(keys, many, np.int32(position - first))
                        k = I(bases[source] + position)
                        x = np.int64(vertices[source])
                        ok, item, _ = visit(p, C, slot, lists, out, x, k, np.int64(lists.ends[k]))
                    if appends:
                        if culls:
                            ok = first_in_warp(ok, item)
                        put(buffer, ok, item)
                    at += block_size()
                low += many
                sync()
            if appends:
                flush(C, slot, big, out.queue, out.scan, mode, out.degrees, out.capacity, buffer, not culls)
            first += tile * num_blocks()

    return phase


def lower(step: Advance, b: CudaProgram, source: FrontierState, target: FrontierState, next_scan: str) -> None:
    """Add the phase that pushes along all edges of ``source`` and appends to ``target``."""
    edge = Edge.of(step, b, target, next_scan)
    b.scratch = True
    everything = b.everything(source)
    given: dict[str, Value] = {
        "everything": everything,
        "queue": b.queue(source, "vertex"),
        "scan": Choice(everything, b.lists(step.edges)[0], pointer(b.layout.offsets, b.scan_of(source))),
        "count": source.count,
        "total": source.edges,
        "lists": edge.lists,
        "out": edge.out,
    }
    made = b.kernel(f"push_{step.fn.__name__}", pushing, given, visit=edge.visit, **edge.appends)
    finish(step, b, made, source, target, edge.next_scan, source.edges, PUSH)
