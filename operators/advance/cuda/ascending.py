"""Pushes along lists sorted by weight, up to where ``stop`` holds.

Where calls of the functor do not change what ``stop`` reads of the vertex, it is known at once how much of each list is
visited. A phase finds that for each vertex of the frontier, by steps that double and then by halves, and writes the
prefix sum, so that the balance ``merge_path`` can share these parts of lists evenly. A hub's light edges are divided
among many blocks then. Elsewhere, as in searches of a vertex for its best in-edge, a few lanes share a list, and look
before every step whether they may stop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.cuda.compile.runtime_words import EXAMINED
from frontier.lowering.frontier_state import PUSH_THREAD, QUEUE, form
from frontier.lowering.ir import Counter
from frontier.lowering.kernels import Callee, Constant
from frontier.operators.advance.cuda import merge_path
from frontier.operators.advance.cuda.edges import Edge, finish
from frontier.operators.advance.cuda.thread import put_of
from frontier.operators.elementwise.cuda import queue_of
from frontier.operators.shared.phases import elements, visited
from frontier.program.effects import effects

if TYPE_CHECKING:
    from frontier.backends.cuda.device.appends import append_part, element_at
    from frontier.backends.cuda.device.machine import any_lane, shuffle, truth
    from frontier.backends.cuda.device.names import I, tracing
    from frontier.backends.cuda.device.reductions import add_up
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.advance import Advance

__all__ = ["lower"]

#: Lanes that share a list whose end is not known.
LANES = 8


def measuring(stop: Callee, descends: bool) -> Callable[..., Any]:
    """Appends the vertices that have edges to visit, with the prefix sum of the numbers of these."""

    def phase(p, C, slot, w, W, everything, queue, total, lists, out):
        lane = w & 31
        first = w - lane
        while first < total:
            x = np.int64(0)
            low = np.int64(0)
            i = first + lane
            if i < total:
                x = element_at(queue, everything, i)
                begin = np.int64(lists.offsets[x])
                degree = np.int64(lists.offsets[x + 1]) - begin
                # The first ``low`` edges are visited; that of number low + step - 1 is looked at next.
                step = np.int64(1)
                way = np.int64(1)
                if descends:
                    begin += degree - 1
                    way = np.int64(-1)
                while low + step <= degree and not truth(
                    stop(p, C, slot, x, lists.weights[begin + way * (low + step - 1)])
                ):
                    low += step
                    step += step
                high = min(low + step - 1, degree)
                while low < high:
                    middle = (low + high) >> 1
                    if truth(stop(p, C, slot, x, lists.weights[begin + way * middle])):
                        high = middle
                    else:
                        low = middle + 1
            append_part(C, slot, out.queue, out.scan, out.capacity, low > 0, x, low)
            first += W

    return phase


def walking(visit: Callee, lanes: int, put: Callee, stop: Callee, descends: bool) -> Callable[..., Any]:
    """Visits the edges of every vertex by ``lanes`` lanes, until the last of these must stop."""
    shift, vertices = lanes.bit_length() - 1, 32 // lanes

    def phase(p, C, slot, w, W, everything, queue, total, lists, out):
        lane = np.int32(w & 31)
        part = np.int32(lane & np.int32(lanes - 1))
        last = np.int32(lane | np.int32(lanes - 1))
        seen = np.int64(0)
        first = ((w - lane) >> 5) * vertices
        while first < total:
            i = first + (lane >> shift)
            x = np.int64(0)
            k = I(0)
            left = I(0)
            if i < total:
                x = element_at(queue, everything, i)
                left = I(I(lists.offsets[x + 1]) - I(lists.offsets[x]) - I(part))
                k = I(lists.offsets[x] + I(part))
                if descends:
                    k = I(I(lists.offsets[x + 1]) - I(1) - I(part))
            goes_on = i < total
            while any_lane(goes_on):
                ok = False
                item = np.int64(0)
                begun = I(0)
                light = False
                if goes_on and left > I(0):
                    light = not truth(stop(p, C, slot, x, lists.weights[k]))
                if light:
                    seen += 1
                    ok, item, begun = visit(p, C, slot, lists, out, x, k, np.int64(lists.ends[k]))
                put(C, slot, out, ok, item, begun, False)
                goes_on = shuffle(np.int32(light), last) != np.int32(0) and goes_on
                left = I(left - I(lanes))
                k = I(k - I(lanes)) if descends else I(k + I(lanes))
            first += (W >> 5) * vertices
        if tracing:
            add_up(C, slot, EXAMINED, seen)

    return phase


def lower(step: Advance, b: CudaProgram, source: FrontierState, target: FrontierState, next_scan: str) -> None:
    """Add the phases of an advance with ``stop`` over ``source``, whose results are appended to ``target``."""
    assert step.stop is not None
    stop = b.calling(step.stop, f"{step.near} weight", (step.near, "weight"))
    found: dict[str, Constant] = {"stop": stop, "descends": step.descending}
    if _known_at_once(step) and not b.low_degree and b.written(step.edges):
        merge_path.lower(step, b, _measured(step, b, source, found), target, next_scan)
        return
    edge = Edge.of(step, b, target, next_scan)
    put = put_of(step, b, edge, b.carries(edge.next_scan))
    given = elements(b, source, "vertex") | {"lists": edge.lists, "out": edge.out}
    made = b.kernel(f"push_{step.fn.__name__}", walking, given, visit=edge.visit, lanes=LANES, put=put, **found)
    finish(step, b, made, source, target, edge.next_scan, Counter("EXAMINED"), PUSH_THREAD)


def _known_at_once(step: Advance) -> bool:
    """Whether what ``stop`` reads of a vertex is not changed by calls of the functor at its edges."""
    assert step.stop is not None
    reads, made = effects(step.stop), effects(step.fn)
    if not (reads.exact and made.exact and made.writes_known):
        return False
    return all(step.near not in made.writes.get(name, ()) for name in reads.reads)


def _measured(step: Advance, b: CudaProgram, source: FrontierState, found: dict[str, Constant]) -> FrontierState:
    """Add the phase that finds how much of each list is visited: the vertices that have any, and the prefix sum."""
    made = b.frontiers.new()
    made.kinds = frozenset({"vertex"})
    b.set(made.form, form(QUEUE))
    b.set(made.side, 0)
    given = elements(b, source, "vertex")
    given["lists"] = visited(b, step.edges, (), False, True)[0]
    given["out"], scan = queue_of(b, made, "vertex", step.edges)
    kernel = b.kernel(f"measure_{step.fn.__name__}", measuring, given, **found)
    b.phase(kernel, b.frontiers.produced(made, "vertex", scan), "find the light edges of each vertex", [step.stop])
    return made
