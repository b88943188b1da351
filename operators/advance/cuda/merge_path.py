"""Push, balance ``merge_path``: blocks take equal ranges of the frontier's *edges*.

The prefix sum of the frontier's degrees numbers its edges consecutively. A block takes a tile of them, finds the
vertices of these edges by sorted search, and stages the vertices in shared memory, where every thread finds the source
of its own edge. So the edges of a hub are divided among many blocks. Accepted elements are collected in shared memory
and appended with one atomic for the whole block. After Davidson et al. (IPDPS 2014) and Gunrock's LB.

``pushing`` is the kernel, ``lower`` says what it is called with. Names imported under ``TYPE_CHECKING`` are those of
the generated module: the operations of the GPU in ``machine``, and constants of the program, such as the bytes of an id
(``IDS``), in ``names``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.cuda.compile.runtime_words import FREE, HELD, HISTORY, TILE, WORDS
from frontier.lowering.frontier_state import PUSH
from frontier.lowering.ir import Value
from frontier.lowering.kernels import Callee, Constant, Made
from frontier.operators.advance.cuda.edges import Edge, deduplication, finish, is_hit

if TYPE_CHECKING:
    from frontier.backends.cuda.device.appends import element_at, empty_buffer, flush, put
    from frontier.backends.cuda.device.collectives import first_in_warp, source_in
    from frontier.backends.cuda.device.machine import (
        ballot,
        block_index,
        block_size,
        num_blocks,
        popcount,
        sync,
        sync_warp,
        thread_index,
    )
    from frontier.backends.cuda.device.names import (
        IDS,
        OFFSETS,
        I,
        ids_shared,
        int32_shared,
        int64_shared,
        offsets_shared,
    )
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.advance import Advance

__all__ = ["lower"]


# ---- kernels ---------------------------------------------------------------------------------------------


def tile_size(total):
    """Edges of a tile: so many that every block gets one, in whole rounds of its threads, but at most ``TILE``."""
    T = np.int64(block_size())
    blocks = np.int64(num_blocks())
    each = (total + blocks - 1) // blocks
    return min(max((each + T - 1) // T * T, T), max(TILE // T * T, T))


def tile_sources(scan, count, first, last):
    """The range of the queue's entries (first, and one beyond the last) that have edges in a tile. All threads call it.

    Two warps search, each for one end of it, comparing 32 places at a time.
    """
    t = thread_index()
    found = int64_shared(WORDS + 8)
    if t < np.int32(64):
        lane = np.int32(t & np.int32(31))
        key = first if t < np.int32(32) else last - 1
        low = np.int64(0)
        high = np.int64(count)
        while high - low > 1:
            stride = (high - low + 31) >> 5
            at = low + lane * stride
            before = False
            if at < high:
                before = np.int64(scan[at]) <= key
            low += (popcount(ballot(before)) - 1) * stride
            high = min(low + stride, high)
        if lane == np.int32(0):
            found[t >> np.int32(5)] = low
    sync()
    return found[0], found[1] + 1


def sifting(visit: Callee) -> Callable[..., Any]:
    """Return a function by which a warp holds edges to vertices that are not claimed, and visits 32 of them at a time.

    Most edges of a large push lead to vertices that are claimed. If each were visited at once, a few lanes of a warp
    would wait for the memory of fields, and the others for these. (A search of R-MAT 26 on four H100s takes up to 7
    percent less time.) A lane has the edge at place ``k`` in the list of ``x``, if it has any (``here``). ``held`` is
    how many edges the warp holds, which is returned. All lanes call it.
    """

    def sift(p, C, slot, lists, out, xs, ks, held, here, x, k):
        lane = np.int32(thread_index() & np.int32(31))
        wanted = False
        if here:
            wanted = not is_hit(out.claimed, np.int64(lists.ends[k]))
        lanes = ballot(wanted)
        if wanted:
            earlier = np.uint32(lanes & np.uint32(np.uint32(np.uint32(1) << np.uint32(lane)) - np.uint32(1)))
            xs[held + popcount(earlier)] = x
            ks[held + popcount(earlier)] = k
        held = np.int32(held + popcount(lanes))
        sync_warp()
        if held >= np.int32(32):
            held = np.int32(held - np.int32(32))
            k = I(ks[held + lane])
            visit(p, C, slot, lists, out, np.int64(xs[held + lane]), k, np.int64(lists.ends[k]))
            sync_warp()
        return held

    return sift


def pushing(
    visit: Callee,
    appends: bool,
    culls: bool,
    big: bool,
    mode: int,
    descends: bool = False,
    deliver: Callee = None,
    delivers: bool = False,
    sift: Callee = None,
    sifts: bool = False,
) -> Callable[..., Any]:
    """Visits all ``total`` edges of a queue of ``count`` vertices; ``scan[i]`` is the number of edges before vertex i.

    Parameters
    ----------
    visit : function
        Visits one edge: what :func:`frontier.operators.advance.cuda.edges.visiting` returns.
    appends, culls, big, mode
        Of :class:`frontier.operators.advance.cuda.edges.Edge`: whether and how accepted items are appended.
    descends
        Whether lists are walked from their end.
    deliver, delivers
        On several GPUs: what appends accepted items to the frontiers of other GPUs, and whether it does.
    sift, sifts
        There, too: what :func:`sifting` returns, and whether edges are sifted before they are visited.
    """

    # p: the problem. C and slot: the counters, and where those of this phase begin. w of W: this thread's number.
    # everything: the frontier is all vertices, and queue is not read. lists, out: see visiting.
    def phase(p, C, slot, w, W, everything, queue, scan, count, total, lists, out):
        # The block's scratch memory, from FREE on, holds four arrays of TILE entries. Three have an entry for each of
        # the tile's sources: bases (where its list begins minus the number of edges before it in the frontier, so that
        # adding the number of an edge gives the edge's place; where it descends, the list's last place plus that
        # number), vertices (its id), and keys (the number of its first edge within the tile). The fourth is the buffer
        # for accepted items.
        bases = offsets_shared(FREE)
        vertices = ids_shared(FREE + OFFSETS * TILE)
        buffer = ids_shared(FREE + (OFFSETS + IDS) * TILE)
        keys = int32_shared(FREE + (OFFSETS + 2 * IDS) * TILE)
        t = thread_index()
        if sifts:  # after it, 64 edges are held for each warp
            warp = np.int64(t >> np.int32(5)) * 64
            ks = offsets_shared(FREE + (OFFSETS + 2 * IDS + 4) * TILE + IDS * HISTORY + OFFSETS * warp)
            xs = ids_shared(FREE + (OFFSETS + 2 * IDS + 4) * TILE + IDS * HISTORY + OFFSETS * HELD + IDS * warp)
            held = np.int32(0)
        empty_buffer()
        tile = tile_size(total)
        first = block_index() * tile
        while first < total:
            # This tile has the edges from first to last, which belong to the queue's entries from low to high.
            last = min(first + tile, total)
            low, high = tile_sources(scan, count, first, last)
            while low < high:
                # Stage the tile's sources. If there are more than fit (some have no edges), take several turns.
                many = min(high - low, TILE)
                j = np.int64(t)
                while j < many:
                    x = element_at(queue, everything, low + j)
                    begun = np.int64(scan[low + j])
                    keys[j] = max(begun - first, 0)
                    vertices[j] = x
                    bases[j] = lists.offsets[x + 1] - 1 + begun if descends else lists.offsets[x] - begun
                    j += block_size()
                at = first
                stop = last
                if low + many < high:
                    stop = min(last, np.int64(scan[low + many]))
                at = max(first, np.int64(scan[low]))
                sync()
                while at < stop:
                    # Every thread visits one edge: its number in the frontier is position, its place in the lists k.
                    ok = False
                    item = np.int64(0)
                    position = I(at + t)
                    x = np.int64(0)
                    k = I(0)
                    if position < stop:
                        source = source_in(keys, many, np.int32(position - first))
                        k = I(bases[source] - position) if descends else I(bases[source] + position)
                        x = np.int64(vertices[source])
                        if not sifts:
                            ok, item, _ = visit(p, C, slot, lists, out, x, k, np.int64(lists.ends[k]))
                    if sifts:
                        held = sift(p, C, slot, lists, out, xs, ks, held, position < stop, x, k)
                    if delivers:
                        deliver(C, slot, out, ok, item)
                    if appends:
                        if culls:
                            ok = first_in_warp(ok, item)  # of equal items, one is enough
                        put(buffer, ok, item)  # which has room: each edge of a tile gives at most one item
                    at += block_size()
                low += many
                sync()
            if appends:
                flush(C, slot, big, out.queue, out.scan, mode, out.degrees, out.capacity, buffer, not culls)
            first += tile * num_blocks()
        if sifts:
            lane = np.int32(t & np.int32(31))
            if lane < held:
                k = I(ks[lane])
                visit(p, C, slot, lists, out, np.int64(xs[lane]), k, np.int64(lists.ends[k]))

    return phase


# ---- lowering --------------------------------------------------------------------------------------------


def lower(step: Advance, b: CudaProgram, source: FrontierState, target: FrontierState, next_scan: str) -> None:
    """Add the phase that pushes along all edges of ``source`` and appends to ``target``.

    Called after ``b.frontiers.scanned(source, ...)``, so ``source`` has the prefix sum, and its ``edges`` their number.
    The arguments are those of :func:`frontier.operators.advance.cuda.balance.push`.
    """
    edge = Edge.of(step, b, target, next_scan)
    b.scratch = True  # the kernel uses the block's scratch memory
    everything = b.frontiers.everything(source)
    # The kernel's own parameters by name. Where the frontier is everything, the graph's offsets are the prefix sum.
    given: dict[str, Value] = {
        "everything": everything,
        "queue": b.frontiers.queue(source, "vertex"),
        "scan": b.edges_before(everything, step.edges, b.frontiers.scan_of(source)),
        "count": source.count,
        "total": source.edges,
        "lists": edge.lists,
        "out": edge.out,
    }
    # The kernel is pushing(visit=..., appends=..., ...), made when the program is compiled, and gets these arguments.
    more: dict[str, Constant] = dict(edge.appends) | ({"descends": True} if step.descending else {})
    if b.acceptance is not None and deduplication(step, b) == "direct":
        more |= {"deliver": b.acceptance.deliver(step), "delivers": True}
    if deduplication(step, b) == "told":
        more |= {"sift": Made(sifting, {"visit": edge.visit}), "sifts": True}
        b.sifts = True
    made = b.kernel(f"push_{step.fn.__name__}", pushing, given, visit=edge.visit, **more)
    finish(step, b, made, source, target, edge.next_scan, source.edges, PUSH)
