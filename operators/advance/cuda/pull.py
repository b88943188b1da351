"""Pull on the GPU: every vertex for which ``where`` holds searches its in-edges for vertices of the frontier.

The frontier is a bitmap. A warp processes the 32 vertices of one word of it, one per lane and four neighbours at a
time; the votes of its lanes are the word of the next bitmap, which is stored without atomics. ``where`` is evaluated
again after every visited edge, so a vertex that needs only one parent stops at the first one. What remains of long
lists is processed by the whole warp. (Beamer, Asanovic, Patterson: Direction-optimizing breadth-first search, SC 2012.)

Where the edges lie in the host's memory, the two neighbours of highest degree of every vertex are in the GPU's
(``heads.py``). They are visited first, so that most searches end before the list is read.

With ``hub_cache=True`` a block looks for the frontier's hubs first: see ``hub_cache.py``. With ``queue="scan"``, pulls
that follow a pull process fewer vertices: see ``shrink.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.cuda.compile.runtime_words import EXAMINED, FREE, NOTHING, PILE_COUNT
from frontier.functors.functor import arguments
from frontier.lowering.frontier_state import PULL
from frontier.lowering.inputs import Derived
from frontier.lowering.ir import Counter, Value
from frontier.lowering.kernels import Callee, Constant, Made
from frontier.lowering.variables import pointer
from frontier.operators.advance.cuda.edges import is_hit
from frontier.operators.advance.cuda.hub_cache import TABLE, fill_hubs, hub_cache, hubs_among
from frontier.operators.advance.cuda.shrink import Waiting, waiting
from frontier.operators.advance.pulling import pulled, pulling
from frontier.operators.shared.phases import adjacency, slot_of_edge, walked, weight_of_edge

if TYPE_CHECKING:
    from frontier.backends.cuda.device.collectives import part_of_warp, warp_flush, warp_put
    from frontier.backends.cuda.device.machine import (
        any_lane,
        ballot,
        fetch_or,
        find_first,
        shuffle,
        sync_warp,
        thread_index,
        truth,
    )
    from frontier.backends.cuda.device.names import IDS, I, ids_shared, tracing
    from frontier.backends.cuda.device.reductions import add_found, add_up
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.advance import Advance

__all__ = ["lower"]

#: How many edges of a list its lane visits alone, before the warp goes on. Where edges lie in the host's memory, a lane
#: reads whole lists of so few, and the warp all others: lanes that read 16 bytes each of lines of their own get 9 GB/s
#: over the link, a warp that reads a line 35.
ALONE, ALONE_FAR = 64, 16


# ---- kernels ---------------------------------------------------------------------------------------------


def hits_of(bits, near0, near1, near2, near3, real):
    """Bits of those of four neighbours that are in the frontier; ``real`` has the bits of those that exist."""
    hits = np.uint32(0)
    hit0 = is_hit(bits, near0)
    hit1 = is_hit(bits, near1)
    hit2 = is_hit(bits, near2)
    hit3 = is_hit(bits, near3)
    if hit0:
        hits = np.uint32(hits | np.uint32(1))
    if hit1:
        hits = np.uint32(hits | np.uint32(2))
    if hit2:
        hits = np.uint32(hits | np.uint32(4))
    if hit3:
        hits = np.uint32(hits | np.uint32(8))
    return np.uint32(hits & real)


def visiting(visit: Callee, where: Callee, renumbered: bool, weighted: bool) -> Callable[..., Any]:
    """Return a function that visits the edge at place ``k`` from ``near`` to ``x``.

    It returns whether the functor accepted, and whether ``x`` goes on searching.
    """
    asks = where is not None
    slot_at, weight_at = slot_of_edge(renumbered), weight_of_edge(weighted)

    def visit_edge(p, C, slot, lists, near, x, k):
        e = slot_at(lists, k)
        weight = weight_at(lists, e)
        accepted = truth(visit(p, C, slot, near, x, e, weight))
        goes_on = True
        if asks:
            goes_on = truth(where(p, C, slot, x))
        return accepted, goes_on

    return visit_edge


def place_in(lists, x, near):
    """The first place of a far end in the list of ``x``, whose far ends ascend."""
    low = I(lists.offsets[x])
    high = I(lists.offsets[x + 1])
    while low < high:
        middle = I(low + I((high - low) >> 1))
        if np.int64(lists.ends[middle]) < near:
            low = I(middle + I(1))
        else:
            high = middle
    return low


def searching(visit: Callee, where: Callee, cached: bool, headed: bool, alone: int, whole: bool) -> Callable[..., Any]:
    """Return a function by which a warp searches the lists of its lanes' vertices ``x`` (n or more means none).

    A lane reads ``alone`` edges of its list before the warp does; if ``whole``, none of a list that has more.
    It returns, to each lane, whether the vertex accepted an edge from the frontier, where its list begins and ends, and
    how many edges were examined. If ``headed``, the two neighbours in ``heads`` are visited before the list is read.
    """
    every = where is None

    def search(p, C, slot, everything, bits, lists, heads, table, lane, x, n):
        # A lane walks the beginning of its vertex's list, four edges at a time.
        accepted = False
        going = False
        k = I(0)
        end = I(0)
        if x < n and (every or truth(where(p, C, slot, x))):
            k = I(lists.offsets[x])
            end = I(lists.offsets[x + 1])
            going = True
        begun = k
        seen0 = I(-1)
        seen1 = I(-1)
        if headed and going:
            # What a head's visit leaves to do is rare, so only then it is looked up where in the list the head is.
            near = np.int64(heads[2 * x])
            if near >= 0 and (everything or is_hit(bits, near)):
                accepted, going = visit(p, C, slot, lists, near, x, k)
                if going:
                    seen0 = place_in(lists, x, near)
            if going:
                near = np.int64(heads[2 * x + 1])
                if near >= 0 and (everything or is_hit(bits, near)):
                    took, going = visit(p, C, slot, lists, near, x, k)
                    if took:
                        accepted = True
                    if going:
                        seen1 = place_in(lists, x, near)
        cap = min(end, I(k + I(alone)))
        if whole and end > cap:
            cap = k
        while k < cap and going:
            known = np.uint32(15)
            near0 = np.int64(lists.ends[min(I(k + I(0)), I(cap - I(1)))])
            near1 = np.int64(lists.ends[min(I(k + I(1)), I(cap - I(1)))])
            near2 = np.int64(lists.ends[min(I(k + I(2)), I(cap - I(1)))])
            near3 = np.int64(lists.ends[min(I(k + I(3)), I(cap - I(1)))])
            left = I(cap - k)
            real = np.uint32(15)
            if left < I(4):
                real = np.uint32((1 << left) - 1)
            hits = real
            if not everything:
                if cached:
                    hits = hubs_among(table, near0, near1, near2, near3, real)
                    known = hits
                    if hits == np.uint32(0):
                        hits = hits_of(bits, near0, near1, near2, near3, real)
                        known = np.uint32(15)
                else:
                    hits = hits_of(bits, near0, near1, near2, near3, real)
            if headed:
                if seen0 >= k and seen0 < I(k + I(4)):
                    hits = np.uint32(hits & np.uint32(~np.uint32(1 << (seen0 - k))))
                if seen1 >= k and seen1 < I(k + I(4)):
                    hits = np.uint32(hits & np.uint32(~np.uint32(1 << (seen1 - k))))
            while hits != np.uint32(0) and going:
                j = find_first(hits)
                hits = np.uint32(hits & np.uint32(hits - np.uint32(1)))
                near = near0
                if j == 1:
                    near = near1
                if j == 2:
                    near = near2
                if j == 3:
                    near = near3
                took, going = visit(p, C, slot, lists, near, x, I(k + I(j)))
                if took:
                    accepted = True
                # What the table did not hold is looked up if the search goes on.
                if cached and hits == np.uint32(0) and going and known != np.uint32(15):
                    hits = np.uint32(hits_of(bits, near0, near1, near2, near3, real) & np.uint32(~known))
                    known = np.uint32(15)
            k = I(k + I(4))
        k = min(k, cap)
        examined = np.int64(k - begun)
        # The warp walks what is left of its vertices' long lists.
        pending = ballot(going and k < end)
        while pending != np.uint32(0):
            leader = find_first(pending)
            pending = np.uint32(pending & np.uint32(pending - np.uint32(1)))
            vertex = np.int64(shuffle(x, leader))
            e = I(I(shuffle(k, leader)) + I(lane))
            last = I(shuffle(end, leader))
            known0 = I(shuffle(seen0, leader)) if headed else I(-1)
            known1 = I(shuffle(seen1, leader)) if headed else I(-1)
            found = False
            goes_on = True
            more = True
            while more:
                if e < last:
                    near = np.int64(lists.ends[e])
                    examined += 1
                    if (everything or is_hit(bits, near)) and e != known0 and e != known1:
                        took, goes_on = visit(p, C, slot, lists, near, vertex, e)
                        if took:
                            found = True
                e = I(e + I(32))
                more = not any_lane(not goes_on) and any_lane(e < last)
            found = any_lane(found)
            if lane == leader and found:
                accepted = True
        return accepted, begun, end, examined

    return search


def sweeping(
    search: Callee, where: Callee, again: bool, notes: bool, cached: bool, appends: bool, big: bool, ranged: bool
) -> Callable[..., Any]:
    """A warp takes 32 vertices at a time: those of a word of the bitmap, or (``again``) of the queue that waits.

    Accepted vertices get their bits in the next bitmap ``made``: a whole word is stored, or (``again``) single bits are
    set. If ``notes``, vertices that still wait are recorded in ``waiting``. If ``ranged``, vertices from ``total`` on,
    with which a word begins, are taken, up to ``n``.
    """
    taken = TABLE if cached else 0

    def phase(p, C, slot, w, W, everything, bits, n, lists, heads, made, degrees, queue, total, waiting, hubs, many):
        table = ids_shared(FREE) if cached else 0
        if cached:
            fill_hubs(table, hubs, many, bits, everything)
        lane = np.int32(w & 31)
        count = np.int64(0)
        edges = np.int64(0)
        examined = np.int64(0)
        fill = np.int32(0)
        held = ids_shared(FREE + IDS * (taken + part_of_warp() * (thread_index() >> np.int32(5)))) if notes else 0
        at = w - lane if again else (w - lane) >> 5
        if ranged:
            at += (total + 31) >> 5
        stop = total if again else (n + 31) >> 5
        while at < stop:
            if again:
                x = n
                if at + lane < total:
                    x = np.int64(queue[at + lane])
            else:
                x = (at << 5) + lane
            accepted, begun, end, seen = search(p, C, slot, everything, bits, lists, heads, table, lane, x, n)
            examined += seen
            if appends:
                if again:
                    if accepted:
                        fetch_or(made, x >> 5, np.uint32(np.uint32(1) << np.uint32(x & 31)))
                else:
                    votes = ballot(accepted)
                    if lane == 0:
                        made[at] = votes
                if accepted:
                    count += 1
                    edges += np.int64(degrees[x + 1]) - np.int64(degrees[x])
            if notes:
                # These appends count in the word PILE_COUNT, as if a slot began there: no pull uses it otherwise.
                sync_warp()  # as other lanes may have visited x
                waits = False
                if begun < end:
                    waits = truth(where(p, C, slot, x))
                fill = warp_put(
                    C, slot + PILE_COUNT, False, waiting, waiting, NOTHING, lists.offsets, n, held, fill, waits, x
                )
            at += W if again else W >> 5
        if notes:
            warp_flush(C, slot + PILE_COUNT, False, waiting, waiting, NOTHING, lists.offsets, n, held, fill)
        if appends:
            add_found(C, slot, big, count, edges)
        if tracing:
            add_up(C, slot, EXAMINED, examined)

    return phase


# ---- lowering --------------------------------------------------------------------------------------------


def lower(step: Advance, b: CudaProgram, source: FrontierState, target: FrontierState) -> None:
    """Add the phases: make the frontier a bitmap, then sweep over all vertices, or over those that still wait."""
    b.frontiers.bitmap(source, "uint32")
    queue = waiting(step, b)
    if queue is None:
        _search(step, b, source, target)
        return
    with b.when(queue.valid) as branch:
        made = pointer("uint32", b.frontiers.next_bits(target))
        b.phase(b.divided("fill_bits", made, b.capacity("vertex")), title="clear the next bitmap")
        _search(step, b, source, target, queue, again=True)
    with b.otherwise(branch):
        _search(step, b, source, target, queue)


def _alone(b: CudaProgram) -> dict[str, Constant]:
    """What a lane reads alone, as constants of ``searching``."""
    far = b.build.streams
    return {"alone": ALONE_FAR if far else ALONE, "whole": far}


def _search(
    step: Advance,
    b: CudaProgram,
    source: FrontierState,
    target: FrontierState,
    queue: Waiting | None = None,
    again: bool = False,
) -> None:
    """Add the phase in which vertices search for the frontier: all, or (``again``) those recorded in ``queue``."""
    direction = "in" if step.edges == "out" else "out"
    lists, loads = adjacency(b, direction, arguments(step.fn, "edge"))
    given: dict[str, Value] = {
        "everything": b.frontiers.everything(source),
        "bits": pointer("uint32", source.bits),
        "n": b.capacity("vertex"),
        "lists": lists,
    }
    # A head is a vertex, not an edge of it.
    headed = b.build.streams and step.where is not None and not {"edge", "weight"} & {*arguments(step.fn, "edge")}
    if headed:
        import frontier.operators.advance.heads  # noqa: F401 - which registers them, and is a program itself

        given["heads"] = b.array(f"heads_{direction}", Derived("heads", direction), b.layout.ids)
    appends, notes = step.output is not None, queue is not None
    if appends:
        given["made"] = pointer("uint32", b.frontiers.next_bits(target))
        given["degrees"] = b.lists(step.edges)[0]
    if queue is not None:
        given |= queue.parameters(again)
    cache = hub_cache(step, b)
    given |= cache
    cached = bool(cache)
    b.scratch = b.scratch or cached or notes
    near = "src" if step.far == "dst" else "dst"
    where: Constant = b.calling(step.where, step.far, (step.far,)) if step.where is not None else None
    visit = Made(
        visiting, {"visit": b.calling(step.fn, "edge", (near, step.far, "edge", "weight")), "where": where, **loads}
    )
    own = b.frontiers.own_range("vertex")
    constants: dict[str, Constant] = {
        "search": Made(searching, {"visit": visit, "where": where, "cached": cached, "headed": headed, **_alone(b)}),
        "where": where,
        "again": again,
        "notes": notes,
        "cached": cached,
        "appends": appends,
        "big": b.big,
        "ranged": own is not None,
    }
    if own is not None:
        given["total"], given["n"] = own
    after = walked(PULL, Counter("EXAMINED"))
    if appends:
        after += pulled(b, target)
    if queue is not None:
        after += queue.after(again)
    made = b.kernel(f"pull_{'again_' * again}{step.fn.__name__}", sweeping, given, **constants)
    b.phase(made, after, pulling(step) + ", only for those that still wait" * again, [step.fn, step.where])
