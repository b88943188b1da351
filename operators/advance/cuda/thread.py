"""Push, balance ``thread``: a few lanes share the adjacency list of one frontier vertex.

It needs no prefix sum and no shared memory, so a pass costs little more than its chain of dependent loads. A hub keeps
its lanes busy while others wait. If lists are short, every edge has a lane of its own, so that the atomics of functors
overlap, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.cuda.compile.runtime_words import EXAMINED, PILE_COUNT
from frontier.lowering.frontier_state import PUSH_THREAD
from frontier.lowering.inputs import Buffer
from frontier.lowering.ir import Call, Counter, Value, cast
from frontier.lowering.kernels import Callee, Constant, Made
from frontier.lowering.variables import EPOCH, pointer
from frontier.operators.advance.cuda.edges import Edge, deduplication, finish
from frontier.operators.advance.sample import Sample, sample_key, sample_place
from frontier.operators.elementwise.cuda import appending, queue_of
from frontier.operators.shared.phases import elements
from frontier.program.effects import effects

if TYPE_CHECKING:
    from frontier.backends.cuda.device.appends import append, append_start, append_waiting, element_at
    from frontier.backends.cuda.device.collectives import first_in_warp
    from frontier.backends.cuda.device.machine import (
        any_lane,
        ballot,
        exchange,
        fetch_add,
        popcount,
        prefetch,
        shuffle,
        truth,
    )
    from frontier.backends.cuda.device.names import I, tracing
    from frontier.backends.cuda.device.reductions import add_up
    from frontier.backends.cuda.device.runtime import arrive_packed
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.advance import Advance

__all__ = ["far_ends", "lower"]


# ---- kernels ---------------------------------------------------------------------------------------------


def pushing(
    visit: Callee,
    lanes: int,
    put: Callee,
    hold: Callee,
    keep: Callee,
    counts: bool,
    skipped: int,
    at_most: Any,
    fetch: Callee,
) -> Callable[..., Any]:
    """Visits the edges of every vertex by ``lanes`` lanes: at most ``at_most`` edges after the first ``skipped``.

    Vertices for which ``hold`` is true are not expanded but appended to the next frontier (by ``keep``), and counted
    if ``counts``.
    """
    shift, vertices = lanes.bit_length() - 1, 32 // lanes
    holds, bounded, skips, fetches = hold is not None, at_most is not None, skipped > 0, fetch is not None

    def phase(p, C, slot, w, W, everything, queue, total, carried, starts, slots, lists, out, fields):
        lane = np.int32(w & 31)
        part = np.int32(lane & np.int32(lanes - 1))
        seen = np.int64(0)
        next_ = I(-1)
        kept = np.int64(0)
        first = ((w - lane) >> 5) * vertices
        while first < total:
            i = first + (lane >> shift)
            x = np.int64(0)
            k = I(0)
            end = I(0)
            ahead = np.int64(0)
            if i < total:
                x = element_at(queue, everything, i)
                if carried:
                    k = I(starts[i])
                else:
                    k = I(lists.offsets[x])
                if skips:
                    k = I(k + I(skipped))
                # The first far end is read at once, before it is known where the list ends.
                if I(k + I(part)) < slots:
                    ahead = np.int64(lists.ends[I(k + I(part))])
                end = I(lists.offsets[x + 1])
                if bounded:
                    end = I(min(end, I(k + I(at_most))))
                if tracing and part == 0:
                    seen += max(np.int64(end - k), np.int64(0))
                k = I(k + I(part))
            stays = False
            if holds:
                # One lane decides for all lanes of a list. If each asked by itself, they might disagree, as fields
                # change meanwhile, and edges would be lost.
                if part == 0 and i < total:
                    stays = truth(hold(p, C, slot, x))
                if counts:
                    kept += popcount(ballot(stays))
                if shuffle(np.int32(stays), np.int32(lane - part)) != np.int32(0):
                    if tracing and part == 0:
                        seen -= max(np.int64(end - k), np.int64(0))
                    k = end
            while any_lane(k < end or stays):
                ok = False
                item = np.int64(0)
                begun = I(0)
                if holds and stays:
                    ok, begun = keep(out, x)
                    item = x
                elif k < end:
                    ok, item, begun = visit(p, C, slot, lists, out, x, k, ahead)
                put(C, slot, out, ok, item, begun, stays)
                if fetches and ok:
                    next_ = begun
                k = I(k + I(lanes))
                if k < end:
                    ahead = np.int64(lists.ends[k])
                stays = False
            first += (W >> 5) * vertices
        if tracing:
            add_up(C, slot, EXAMINED, seen)
        if counts and kept != 0 and lane == 0:
            fetch_add(C, slot + PILE_COUNT, kept)
        if fetches:
            # While the grid waits, prefetch the fields that the next pass will read. On a road network, a pass is a
            # chain of loads, of which only this one goes to memory: that of fields of vertices two edges away.
            arrive_packed(C, slot)
            if next_ >= I(0) and slots > 0:
                last = np.int64(slots) - 1
                far0 = np.int64(out.following[min(np.int64(next_), last)])
                far1 = np.int64(out.following[min(np.int64(next_) + 1, last)])
                far2 = np.int64(out.following[min(np.int64(next_) + 2, last)])
                far3 = np.int64(out.following[min(np.int64(next_) + 3, last)])
                fetch(fields, out.degrees, far0)
                fetch(fields, out.degrees, far1)
                fetch(fields, out.degrees, far2)
                fetch(fields, out.degrees, far3)

    return phase


def sampling(
    visit: Callee,
    lanes: int,
    put: Callee,
    hold: Callee,
    keep: Callee,
    counts: bool,
    drawn: int,
    key_of: Callee,
    place_of: Callee,
) -> Callable[..., Any]:
    """The same with a random sample of ``drawn`` edges of every vertex: see ``operators/advance/sample.py``."""
    shift, vertices = lanes.bit_length() - 1, 32 // lanes
    holds = hold is not None

    def phase(p, C, slot, w, W, everything, queue, total, lists, out, seed):
        lane = np.int32(w & 31)
        part = np.int32(lane & np.int32(lanes - 1))
        seen = np.int64(0)
        kept = np.int64(0)
        first = ((w - lane) >> 5) * vertices
        while first < total:
            i = first + (lane >> shift)
            x = np.int64(0)
            start = I(0)
            degree = np.int64(0)
            draws = np.int64(0)
            key = np.int64(0)
            if i < total:
                x = element_at(queue, everything, i)
                start = I(lists.offsets[x])
                degree = np.int64(lists.offsets[x + 1]) - start
                draws = np.int64(min(degree, drawn))
                key = np.int64(key_of(p, seed, x))
                if tracing and part == 0:
                    seen += draws
            draw = np.int64(part)
            stays = False
            if holds:
                if part == 0 and i < total:
                    stays = truth(hold(p, C, slot, x))
                if counts:
                    kept += popcount(ballot(stays))
                if shuffle(np.int32(stays), np.int32(lane - part)) != np.int32(0):
                    if tracing and part == 0:
                        seen -= draws
                    draw = draws
            while any_lane(draw < draws or stays):
                ok = False
                item = np.int64(0)
                begun = I(0)
                if holds and stays:
                    ok, begun = keep(out, x)
                    item = x
                elif draw < draws:
                    place = draw
                    if draws < degree:
                        place = np.int64(place_of(p, key, degree, draw))
                    k = I(start + place)
                    ok, item, begun = visit(p, C, slot, lists, out, x, k, np.int64(lists.ends[k]))
                put(C, slot, out, ok, item, begun, stays)
                draw += lanes
                stays = False
            first += (W >> 5) * vertices
        if tracing:
            add_up(C, slot, EXAMINED, seen)
        if counts and kept != 0 and lane == 0:
            fetch_add(C, slot + PILE_COUNT, kept)

    return phase


def putting(
    appends: bool, culls: bool, big: bool, mode: int, carries: bool, waits: bool, deliver: Callee, delivers: bool
) -> Callable[..., Any]:
    """Return what appends the lanes' items; if ``waits``, it counts held vertices in the same word as these.

    If it ``delivers``, ``deliver`` appends them to the frontiers of several GPUs.
    """

    def put(C, slot, out, ok, item, begun, stays):
        if delivers:
            deliver(C, slot, out, ok, item)
        if appends:
            if waits:
                append_waiting(C, slot, out.queue, out.scan, out.capacity, ok, item, begun, stays)
            elif carries:
                append_start(C, slot, out.queue, out.scan, out.capacity, ok, item, begun)
            else:
                if culls:
                    ok = first_in_warp(ok, item)
                append(C, slot, big, out.queue, out.scan, mode, out.degrees, out.capacity, ok, item, not culls)

    return put


def keeping(take: Callee, early: bool, carries: bool) -> Callable[..., Any]:
    """Return what a held vertex is appended by: whether it is to be, and where its list begins."""

    def keep(out, x):
        ok = take(out, x, out.stamps[x] if early else np.int32(0))
        return ok, I(out.degrees[x]) if carries else I(0)

    return keep


def fetching(others: Callee) -> Callable[..., Any]:
    """Return a function that prefetches a vertex's entries in several fields, and its offset."""
    last = others is None

    def fetch(fields, degrees, far):
        if last:
            prefetch(degrees, far)
        else:
            prefetch(fields.first, far)
            others(fields.others, degrees, far)

    return fetch


def listing(big: bool, mode: int) -> Callable[..., Any]:
    """Appends the far ends of a frontier of edges, each once."""

    def phase(p, C, slot, w, W, everything, queue, total, ends, out):
        lane = w & 31
        first = w - lane
        while first < total:
            ok = False
            item = np.int64(0)
            i = first + lane
            if i < total:
                item = np.int64(ends[element_at(queue, everything, i)])
                ok = out.stamps[item] != out.epoch and exchange(out.stamps, item, out.epoch) != out.epoch
            append(C, slot, big, out.queue, out.scan, mode, out.degrees, out.capacity, ok, item, True)
            first += W

    return phase


# ---- lowering --------------------------------------------------------------------------------------------


def lower(step: Advance, b: CudaProgram, source: FrontierState, target: FrontierState, next_scan: str) -> None:
    """Add the phase that pushes along (a part of) the edges of every vertex of ``source``."""
    edge = Edge.of(step, b, target, next_scan)
    next_scan = edge.next_scan
    carries, early = b.carries(next_scan), bool(edge.visit.constants["early"])
    b.holds = step.held is not None and carries and not b.decides and b.build.packs
    given = elements(b, source, "vertex") | {"lists": edge.lists, "out": edge.out}
    keep = Made(keeping, {"take": edge.take, "early": early, "carries": carries}) if edge.take is not None else None
    constants: dict[str, Constant] = {
        "visit": edge.visit,
        "lanes": _lanes(step, b),
        "put": put_of(step, b, edge, carries),
        "hold": b.calling(step.hold, "vertex", ("v",)) if step.hold is not None else None,
        "keep": keep if step.hold is not None else None,
        "counts": step.held is not None and not b.holds,
    }
    name = f"push_{step.fn.__name__}"
    if isinstance(step.part, Sample):
        given["seed"] = step.part.given(b)
        constants |= {"drawn": step.part.size, "key_of": b.helper(sample_key), "place_of": b.helper(sample_place)}
        made = b.kernel(name, sampling, given, **constants)
    else:
        given["carried"] = b.carried(source, step.edges)
        given["starts"] = pointer(b.layout.offsets, b.frontiers.scan_of(source))
        given["slots"] = b.capacity("edge")
        first, last = step.part or (0, None)
        constants |= {"skipped": first, "at_most": None if last is None else max(last - first, 0), "fetch": None}
        if carries and not b.decides:
            constants["fetch"], given["fields"] = _ahead(step, b)
            b.arrived = True
        made = b.kernel(name, pushing, given, **constants)
    finish(step, b, made, source, target, next_scan, Counter("EXAMINED"), PUSH_THREAD)
    b.arrived = b.holds = False


def put_of(step: Advance, b: CudaProgram, edge: Edge, carries: bool) -> Made:
    """What appends the items of a step."""
    at_owners = b.acceptance if deduplication(step, b) == "direct" else None
    more = {"deliver": at_owners.deliver(step) if at_owners else None, "delivers": at_owners is not None}
    return Made(putting, {**edge.appends, "carries": carries, "waits": b.holds, **more})


def _ahead(step: Advance, b: CudaProgram) -> tuple[Made, Value]:
    """Return a function that prefetches what the functors will read of far ends, and the fields that it is given."""
    found = [effects(fn) for fn in (step.fn, step.where) if fn is not None]
    touched = {name for each in found for some in (each.reads, each.writes) for name in some if step.far in some[name]}
    fields = [name for name, kind, _ in b.layout.fields if kind == "vertex" and name in touched]
    made = Made(fetching, {"others": None})
    given: Value = 0
    for name in reversed(fields):
        made = Made(fetching, {"others": made})
        given = Call("Several", b.memory(name), given)
    return made, given


def _lanes(step: Advance, b: CudaProgram) -> int:
    """How many lanes share a list: fewer where only a part of it is visited."""
    if isinstance(step.part, Sample):
        length = step.part.size
    elif step.part is not None and step.part[1] is not None:
        length = max(step.part[1] - step.part[0], 1)
    else:
        return b.build.lanes
    return min(b.build.lanes, 1 << (length - 1).bit_length())


def far_ends(step: Advance, b: CudaProgram, edges: FrontierState, vertices: FrontierState) -> None:
    """Add the phase that makes the set of the far ends of some edges."""
    given = elements(b, edges, "edge")
    # The far end of an edge is the same whichever way it is walked from here on.
    given["ends"] = b.lists("out")[1] if step.edges == "out" else b.sources()
    marks = b.array("stamps", Buffer("vertex_stamps"), "int32")
    stamps: dict[str, Value] = {"stamps": marks, "epoch": cast("int32", EPOCH)}
    given["out"], next_scan = queue_of(b, vertices, "vertex", "" if step.part else step.edges, **stamps)
    b.set(EPOCH, EPOCH + 1)
    made = b.kernel("far_ends", listing, given, **appending(b, next_scan))
    b.phase(made, b.frontiers.produced(vertices, "vertex", next_scan), "list the far ends")
