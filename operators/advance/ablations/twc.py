"""Push, balance ``twc`` (thread, warp, CTA): lists of three sizes, processed by the block, by a warp, or by threads.

A block takes as many vertices as it has threads. Threads whose vertex has at least as many edges as the block has
threads vote for a leader, and all threads process the leader's list. Then warps process lists of more than 32 edges
among their own vertices. The rest is divided as by ``block``. This is Merrill's and Gunrock's per-warp-and-CTA balance
(Wang et al., PPoPP 2016).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.cuda.compile.runtime_words import EXAMINED
from frontier.lowering.frontier_state import pushed_by
from frontier.lowering.ir import Counter
from frontier.lowering.kernels import Callee, Made
from frontier.operators.advance.ablations.block import list_of, own_items, parts, sharing, walking
from frontier.operators.advance.cpu import merge_path
from frontier.operators.advance.cuda.edges import Edge, finish
from frontier.operators.shared.phases import elements
from frontier.program.registered import register_balance

if TYPE_CHECKING:
    from frontier.backends.cuda.device.collectives import FOUND, LEADER, share_of_block
    from frontier.backends.cuda.device.machine import (
        ballot,
        block_index,
        block_size,
        find_first,
        num_blocks,
        shuffle,
        sync,
        sync_or,
        thread_index,
    )
    from frontier.backends.cuda.device.names import I, int32_shared, int64_shared, tracing
    from frontier.backends.cuda.device.reductions import add_up
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.advance import Advance

__all__ = ["lower"]

#: A list of more edges is processed by a warp.
WARP = 32


def pushing(walk: Callee, share: Callee, end: Callee) -> Callable[..., Any]:
    """A block takes vertices, one per thread, and processes their lists by size: by ``walk`` and by ``share``."""

    def phase(p, C, slot, w, W, everything, queue, total, lists, out):
        t = thread_index()
        lane = np.int32(t & np.int32(31))
        held = own_items(t)
        fill = np.int32(0)
        examined = np.int64(0)
        leader = int32_shared(LEADER)
        found = int64_shared(FOUND)
        many = share_of_block(total)
        first = block_index() * many
        while first < total:
            mine, begin, stop = list_of(queue, everything, total, lists.offsets, first + t, many, t)
            examined += stop - begin
            while sync_or(I(stop - begin) >= I(block_size())):
                # Threads with the longest lists want to lead; the last of them to write here does.
                if I(stop - begin) >= I(block_size()):
                    leader[0] = t
                sync()
                if leader[0] == t and I(stop - begin) >= I(block_size()):
                    found[0] = mine
                    found[1] = begin
                    found[2] = stop
                    stop = begin
                sync()
                x = found[0]
                at = found[1]
                last = found[2]
                fill = walk(p, C, slot, lists, out, held, fill, lane, x, at, last, t - lane, block_size())
            pending = ballot(I(stop - begin) > I(WARP))
            while pending != np.uint32(0):
                # A warp walks the long lists of its lanes, one after another.
                chosen = find_first(pending)
                pending = np.uint32(pending & np.uint32(pending - np.uint32(1)))
                x = np.int64(shuffle(mine, chosen))
                at = np.int64(shuffle(begin, chosen))
                last = np.int64(shuffle(stop, chosen))
                fill = walk(p, C, slot, lists, out, held, fill, lane, x, at, last, 0, 32)
            if I(stop - begin) > I(WARP):
                stop = begin
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
    walk, share = Made(walking, {"collect": collect}), Made(sharing, {"collect": collect, "big": b.big})
    made = b.kernel(f"push_{step.fn.__name__}", pushing, given, walk=walk, share=share, end=end)
    finish(step, b, made, source, target, edge.next_scan, Counter("EXAMINED"), pushed_by("twc"))


register_balance("twc", "cuda", lower)
register_balance("twc", "cpu", merge_path.lower, scanned=True)  # a CPU has no such groups of threads
