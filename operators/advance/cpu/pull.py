"""Pull: every vertex for which ``where`` holds searches its in-edges for vertices of the frontier.

The frontier is a bitmap. A worker processes 64 vertices at a time and writes their word of the next bitmap without
atomics. ``where`` is evaluated again after every visited edge, so a vertex that needs only one parent stops at the
first one (Beamer, Asanovic, Patterson: Direction-optimizing breadth-first search, SC 2012).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.cpu.runtime_words import COUNT, EDGES, EXAMINED
from frontier.functors.functor import arguments
from frontier.lowering.frontier_state import PULL
from frontier.lowering.ir import Counter, Value
from frontier.lowering.kernels import Callee, Made
from frontier.lowering.variables import pointer
from frontier.operators.advance.pulling import pulled, pulling
from frontier.operators.shared.cpu_walks import over_pieces
from frontier.operators.shared.phases import adjacency, slot_of_edge, walked, weight_of_edge

if TYPE_CHECKING:
    from frontier.backends.cpu.atomics import truth
    from frontier.backends.cpu.intrinsics import fetch_add
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.advance import Advance

__all__ = ["lower"]

#: Fewest and most words of 64 vertices of a piece.
LEAST, MOST = 4, 64


def searching(
    visit: Callee, where: Callee, renumbered: bool, weighted: bool
) -> Callable[..., Any]:
    """Return a function that searches the list of ``x``: was an edge accepted, and how many were examined."""
    asks = where is not None
    slot_at, weight_at = slot_of_edge(renumbered), weight_of_edge(weighted)

    def search(p, C, slot, everything, bits, lists, x):
        accepted = False
        first = np.int64(lists.offsets[x])
        last = np.int64(lists.offsets[x + 1])
        seen = last - first
        for k in range(first, last):
            near = np.int64(lists.ends[k])
            if everything or (bits[near >> 6] >> np.uint64(near & 63)) & np.uint64(1):
                e = slot_at(lists, k)
                weight = weight_at(lists, e)
                if truth(visit(p, C, slot, near, x, e, weight)):
                    accepted = True
                if asks and not truth(where(p, C, slot, x)):
                    seen = k + 1 - first
                    break
        return accepted, seen

    return search


def sweeping(search: Callee, where: Callee, appends: bool) -> Callable[..., Any]:
    """All vertices for which the condition holds, and the bitmap ``made`` of those that accept."""
    every, pieces = where is None, over_pieces(LEAST, MOST)

    def phase(p, C, slot, w, W, everything, bits, n, lists, made, degrees):
        count = np.int64(0)
        edges = np.int64(0)
        examined = np.int64(0)
        for first, end in pieces(C, slot, w, W, (n + 63) >> 6):
            for i in range(first, end):
                word = np.uint64(0)
                for x in range(i << 6, min((i + 1) << 6, n)):
                    if every or truth(where(p, C, slot, x)):
                        accepted, seen = search(p, C, slot, everything, bits, lists, x)
                        examined += seen
                        if appends and accepted:
                            word |= np.uint64(1) << np.uint64(x & 63)
                            count += 1
                            edges += np.int64(degrees[x + 1]) - np.int64(degrees[x])
                if appends:
                    made[i] = word
        fetch_add(C, slot + COUNT, count)
        fetch_add(C, slot + EDGES, edges)
        fetch_add(C, slot + EXAMINED, examined)

    return phase


def lower(step: Advance, b: Builder, source: FrontierState, target: FrontierState) -> None:
    """Add the phases: the frontier as a bitmap, then the sweep over all vertices."""
    b.frontiers.bitmap(source, "uint64", False)
    opposite = "in" if step.edges == "out" else "out"
    lists, constants = adjacency(b, opposite, arguments(step.fn, "edge"))
    given: dict[str, Value] = {
        "everything": b.frontiers.everything(source),
        "bits": pointer("uint64", source.bits),
        "n": b.capacity("vertex"),
        "lists": lists,
    }
    appends = step.output is not None
    if appends:
        given["made"] = pointer("uint64", b.frontiers.next_bits(target))
        given["degrees"] = b.lists(step.edges)[0]
    near = "src" if step.far == "dst" else "dst"
    visit = b.calling(step.fn, "edge", (near, step.far, "edge", "weight"))
    where = b.calling(step.where, step.far, (step.far,)) if step.where is not None else None
    search = Made(searching, {"visit": visit, "where": where, **constants})
    made = b.kernel(f"pull_{step.fn.__name__}", sweeping, given, search=search, where=where, appends=appends)
    after = walked(PULL, Counter("EXAMINED"))
    if appends:
        after += pulled(b, target)
    work = b.work_on(b.capacity("vertex"), step.fn, edges=True)
    b.phase(made, after, pulling(step), [step.fn, step.where], work=work)
