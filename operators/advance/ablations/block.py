"""Push, balance ``block``: a block takes as many vertices as it has threads, and its threads share their edges.

A block stages the beginnings of its vertices' lists and the prefix sum of their degrees in its shared memory; every
thread then finds the vertex of its next edge. It needs no prefix sum of the whole frontier, and the edges of a hub are
all left to one block. This is Gunrock's per-thread fine-grained balance (Wang et al., PPoPP 2016); ``twc`` and
``degree_classes`` consist of the same parts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.cuda.compile.runtime_words import EXAMINED, FREE, TILE
from frontier.lowering.frontier_state import pushed_by
from frontier.lowering.ir import Counter
from frontier.lowering.kernels import Callee, Made
from frontier.operators.advance.cpu import merge_path
from frontier.operators.advance.cuda.edges import Edge, finish
from frontier.operators.shared.phases import elements
from frontier.program.registered import register_balance

if TYPE_CHECKING:
    from frontier.backends.cuda.device.appends import element_at
    from frontier.backends.cuda.device.collectives import (
        block_prefix,
        first_in_warp,
        part_of_warp,
        share_of_block,
        source_in,
        warp_flush,
        warp_put,
    )
    from frontier.backends.cuda.device.machine import block_index, block_size, num_blocks, sync, thread_index
    from frontier.backends.cuda.device.names import IDS, OFFSETS, I, ids_shared, offsets_shared, tracing
    from frontier.backends.cuda.device.reductions import add_up
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.advance import Advance

__all__ = ["collecting", "ending", "list_of", "lower", "own_items", "parts", "sharing", "walking"]


# ---- parts of pushes that collect in warps ---------------------------------------------------------------


def own_items(t):
    """The part of the block's scratch memory in which the thread's warp collects accepted items."""
    return ids_shared(FREE + (OFFSETS + IDS) * TILE + IDS * part_of_warp() * (t >> np.int32(5)))


def list_of(queue, everything, total, offsets, i, many, t):
    """A thread's vertex, and where its list begins and ends."""
    mine = np.int64(0)
    begin = I(0)
    stop = I(0)
    if t < many and i < total:
        mine = element_at(queue, everything, i)
        begin = I(offsets[mine])
        stop = I(offsets[mine + 1])
    return mine, begin, stop


def collecting(visit: Callee, appends: bool, culls: bool, big: bool, mode: int) -> Callable[..., Any]:
    """Return a function that visits one edge per lane and collects what is accepted.

    All lanes call it; those that have an edge, at place ``k`` of the list of ``x``, say so by ``here``.
    """

    def collect(p, C, slot, lists, out, held, fill, here, x, k):
        ok = False
        item = np.int64(0)
        if here:
            ok, item, _ = visit(p, C, slot, lists, out, x, k, np.int64(lists.ends[k]))
        if culls:
            ok = first_in_warp(ok, item)
        if appends:
            fill = warp_put(
                C, slot, big, out.queue, out.scan, mode, out.degrees, out.capacity, held, fill, ok, item
            )
        return fill

    return collect


def ending(appends: bool, big: bool, mode: int) -> Callable[..., Any]:
    """Return a function that appends what a warp still holds at the end of a phase."""

    def end(C, slot, out, held, fill):
        if appends:
            warp_flush(C, slot, big, out.queue, out.scan, mode, out.degrees, out.capacity, held, fill)

    return end


def walking(collect: Callee) -> Callable[..., Any]:
    """Return a function that visits the edges of ``x`` from ``at`` to ``last``, by several warps together.

    A warp begins at its own ``number`` among these edges, and takes 32 of them every ``stride``.
    """

    def walk(p, C, slot, lists, out, held, fill, lane, x, at, last, number, stride):
        at += number
        while at < last:
            k = at + lane
            fill = collect(p, C, slot, lists, out, held, fill, k < last, x, k)
            at += stride
        return fill

    return walk


def sharing(collect: Callee, big: bool) -> Callable[..., Any]:
    """Return a function that shares the edges of the threads' vertices ``mine`` among the threads of the block."""

    def share(p, C, slot, lists, out, held, fill, lane, many, mine, begin, stop):
        t = thread_index()
        bases = offsets_shared(FREE)
        vertices = ids_shared(FREE + OFFSETS * TILE)
        keys = offsets_shared(FREE + (OFFSETS + 2 * IDS) * TILE)
        before, edges = block_prefix(big, I(stop - begin))
        keys[t] = before
        vertices[t] = mine
        bases[t] = begin - before
        sync()
        at = np.int64(t - lane)
        while at < edges:
            k = at + lane
            x = np.int64(0)
            here = k < edges
            if here:
                source = source_in(keys, np.int32(many), k)
                x = np.int64(vertices[source])
                k += bases[source]
            fill = collect(p, C, slot, lists, out, held, fill, here, x, k)
            at += block_size()
        return fill

    return share


def parts(edge: Edge, b: CudaProgram) -> tuple[Made, Made]:
    """Return what a balance consists of that collects in warps: what :func:`collecting` and :func:`ending` make.

    They use the block's scratch memory.
    """
    b.scratch = True
    appends = {name: edge.appends[name] for name in ("appends", "big", "mode")}
    return Made(collecting, {"visit": edge.visit, **edge.appends}), Made(ending, appends)


# ---- the balance -----------------------------------------------------------------------------------------


def pushing(share: Callee, end: Callee) -> Callable[..., Any]:
    """A block takes vertices, one per thread, and its threads share their edges."""

    def phase(p, C, slot, w, W, everything, queue, total, lists, out):
        t = thread_index()
        lane = np.int32(t & np.int32(31))
        held = own_items(t)
        fill = np.int32(0)
        examined = np.int64(0)
        many = share_of_block(total)
        first = block_index() * many
        while first < total:
            mine, begin, stop = list_of(queue, everything, total, lists.offsets, first + t, many, t)
            examined += stop - begin
            fill = share(p, C, slot, lists, out, held, fill, lane, many, mine, begin, stop)
            first += many * num_blocks()
        end(C, slot, out, held, fill)
        if tracing:
            add_up(C, slot, EXAMINED, examined)

    return phase


def lower(step: Advance, b: CudaProgram, source: FrontierState, target: FrontierState, next_scan: str) -> None:
    """Add the phase that pushes along all edges of ``source`` and appends to ``target``."""
    edge = Edge.of(step, b, target, next_scan)
    collect, end = parts(edge, b)
    given = elements(b, source, "vertex") | {"lists": edge.lists, "out": edge.out}
    share = Made(sharing, {"collect": collect, "big": b.big})
    made = b.kernel(f"push_{step.fn.__name__}", pushing, given, share=share, end=end)
    finish(step, b, made, source, target, edge.next_scan, Counter("EXAMINED"), pushed_by("block"))


register_balance("block", "cuda", lower)
register_balance("block", "cpu", merge_path.lower, scanned=True)  # a CPU has no such groups of threads
