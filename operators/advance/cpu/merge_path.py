"""Push, balance ``merge_path``: workers take equal ranges of the frontier's *edges*.

The prefix sum of the frontier's degrees numbers its edges consecutively. An idle worker takes the next range of edges
and finds by binary search the vertex with whose edges it begins; the range may end within another vertex's list. So the
edges of a hub are divided among workers. After Davidson et al. (IPDPS 2014) and Gunrock's LB. The prefix sum is
computed while the frontier is appended.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.lowering.frontier_state import PUSH
from frontier.lowering.ir import Value
from frontier.lowering.kernels import Callee
from frontier.operators.advance.cpu.edges import Edge, finish
from frontier.operators.shared.cpu_walks import over_pieces

if TYPE_CHECKING:
    from frontier.backends.cpu.runtime import source_at
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.advance import Advance

__all__ = ["lower"]

#: Fewest and most edges of a piece: with fewer, dividing the work costs more than it saves.
LEAST, MOST = 256, 16384


def pushing(visit: Callee, end: Callee) -> Callable[..., Any]:
    """All edges of the queue of ``count`` vertices, which are ``total``; ``scan`` has the edges before each vertex."""
    pieces = over_pieces(LEAST, MOST)

    def phase(p, C, slot, w, W, everything, queue, scan, count, total, lists, out):
        fill, before = 0, 0
        for at, stop in pieces(C, slot, w, W, total):
            i = source_at(scan, count, at)
            while at < stop:
                x = i if everything else np.int64(queue[i])
                k_first = np.int64(lists.offsets[x]) + at - np.int64(scan[i])
                k_last = min(np.int64(lists.offsets[x + 1]), k_first + stop - at)
                for k in range(k_first, k_last):
                    fill, before = visit(p, C, slot, lists, out, fill, before, x, k)
                at += k_last - k_first
                i += 1
        end(C, slot, out, fill, before)

    return phase


def lower(step: Advance, b: Builder, source: FrontierState, target: FrontierState, next_scan: str) -> None:
    """Add the phase that pushes along all edges of ``source`` and appends to ``target``."""
    edge = Edge.of(step, b, target, next_scan)
    everything = b.frontiers.everything(source)
    given: dict[str, Value] = {
        "everything": everything,
        "queue": b.frontiers.queue(source, "vertex"),
        "scan": b.edges_before(everything, step.edges, b.frontiers.scan_of(source)),
        "count": source.count,
        "total": source.edges,
        "lists": edge.lists,
        "out": edge.out,
    }
    work = source.count + b.work_on(source.edges, step.fn)
    made = b.kernel(f"push_{step.fn.__name__}", pushing, given, visit=edge.visit, end=edge.end)
    finish(step, b, made, target, next_scan, edge.scanned, source.edges, PUSH, work)
