"""Push, balance ``thread``: workers take chunks of the frontier's *vertices*.

It needs no prefix sum, so it suits lists of bounded length, as in road networks or with ``part=``. The edges of a hub
are all processed by one worker.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.cpu.runtime_words import EXAMINED, PILE_COUNT
from frontier.functors.functor import arguments
from frontier.lowering.frontier_state import PUSH_THREAD
from frontier.lowering.ir import Counter
from frontier.lowering.kernels import Callee, Constant, Made
from frontier.lowering.variables import EPOCH
from frontier.operators.advance.cpu.edges import Edge, finish
from frontier.operators.advance.sample import Sample, sample_key, sample_place
from frontier.operators.elementwise.cpu import appending, ending, output, stamps
from frontier.operators.shared.cpu_walks import LEAST, MOST, over_elements, over_pieces
from frontier.operators.shared.phases import frontier

if TYPE_CHECKING:
    from frontier.backends.cpu.atomics import truth
    from frontier.backends.cpu.intrinsics import fetch_add, prefetch
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.advance import Advance

__all__ = ["far_ends", "lower"]

#: Of how many vertices after the one at hand a push has asked for the lists. With short lists, most of the time goes to
#: waiting for these. (road-NE takes 37.2, 36.7 and 39.1 ms with 8, 16 and 32, and 43.7 without.)
AHEAD = 16


def pushing(
    visit: Callee,
    end: Callee,
    hold: Callee,
    put: Callee,
    places: Callee,
    look: Callee,
) -> Callable[..., Any]:
    """The edges at some ``places`` of every vertex's list.

    Vertices for which ``hold`` is true are counted, and put into the next frontier instead.
    """
    holds, pieces = hold is not None, over_pieces(LEAST, MOST)

    def phase(p, C, slot, w, W, everything, queue, total, lists, out, seed):
        fill, before = 0, 0
        seen = np.int64(0)
        held = np.int64(0)
        for first, last in pieces(C, slot, w, W, total):
            for i in range(first, last):
                x = i if everything else np.int64(queue[i])
                if not everything and i + AHEAD < total:
                    look(lists, np.int64(queue[i + AHEAD]))
                if holds and truth(hold(p, C, slot, x)):
                    held += 1
                    fill, before = put(C, slot, out, fill, before, x)
                else:
                    for k in places(p, C, slot, lists, seed, x):
                        fill, before = visit(p, C, slot, lists, out, fill, before, x, k)
                        seen += 1
        end(C, slot, out, fill, before)
        fetch_add(C, slot + EXAMINED, seen)
        if holds:
            fetch_add(C, slot + PILE_COUNT, held)

    return phase


def looking(weighted: bool) -> Callable[..., Any]:
    """Return a function that asks for the memory of the first edges of a vertex, whose turn comes soon."""

    def look(lists, x):
        k = np.int64(lists.offsets[x])
        prefetch(lists.ends, k)
        if weighted:
            prefetch(lists.weights, k)

    return look


def slicing(skipped: int, at_most: Any) -> Callable[..., Any]:
    """Return a walk over the places from the one of number ``skipped`` on, ``at_most`` so many."""
    bounded = at_most is not None

    def places(p, C, slot, lists, seed, x):
        first = np.int64(lists.offsets[x]) + skipped
        last = np.int64(lists.offsets[x + 1])
        if bounded:
            last = min(last, first + at_most)
        for k in range(first, last):  # noqa: UP028 - the translator has no ``yield from``
            yield k

    return places


def sampling(drawn: int, key_of: Callee, place_of: Callee) -> Callable[..., Any]:
    """Return a walk over ``drawn`` places, which follow from the seed: see :mod:`frontier.operators.advance.sample`."""

    def places(p, C, slot, lists, seed, x):
        first = np.int64(lists.offsets[x])
        degree = np.int64(lists.offsets[x + 1]) - first
        key = key_of(p, seed, x)
        draws = min(degree, np.int64(drawn))
        for draw in range(draws):
            yield first + (draw if draws == degree else place_of(p, key, degree, draw))

    return places


def ascending(stop: Callee) -> Callable[..., Any]:
    """Return a walk over the places of a list that is sorted by weight, up to where ``stop`` holds."""

    def places(p, C, slot, lists, seed, x):
        for k in range(np.int64(lists.offsets[x]), np.int64(lists.offsets[x + 1])):
            if truth(stop(p, C, slot, x, lists.weights[k])):
                break
            yield k

    return places


def descending(stop: Callee) -> Callable[..., Any]:
    """The same from its end: one loop for both ways takes shortest paths 4 % longer."""

    def places(p, C, slot, lists, seed, x):
        first = np.int64(lists.offsets[x])
        last = np.int64(lists.offsets[x + 1]) - 1
        for i in range(last + 1 - first):
            k = last - i  # the translator knows no steps of ranges
            if truth(stop(p, C, slot, x, lists.weights[k])):
                break
            yield k

    return places


def listing(scanned: bool) -> Callable[..., Any]:
    """The far ends of edges, each once."""
    elements, put, end = over_elements(), appending(scanned, stamped=True), ending(scanned)

    def phase(p, C, slot, w, W, everything, queue, total, ends, out):
        fill, before = 0, 0
        for x in elements(C, slot, w, W, everything, queue, total):
            fill, before = put(C, slot, out, fill, before, np.int64(ends[x]))
        end(C, slot, out, fill, before)

    return phase


def lower(step: Advance, b: Builder, source: FrontierState, target: FrontierState, next_scan: str) -> None:
    """Add the phase that pushes along (a part of) the edges of every vertex of ``source``."""
    edge = Edge.of(step, b, target, next_scan, source)
    given = frontier(b, source, "vertex") | {"lists": edge.lists, "out": edge.out}
    if isinstance(step.part, Sample):
        given["seed"] = step.part.given(b)
        drawn = {"key_of": b.helper(sample_key), "place_of": b.helper(sample_place)}
        places = Made(sampling, {"drawn": step.part.size, **drawn})
    elif step.stop is not None:
        stop = b.calling(step.stop, f"{step.near} weight", (step.near, "weight"))
        places = Made(descending if step.descending else ascending, {"stop": stop})
    else:
        first, last = step.part or (0, None)
        places = Made(slicing, {"skipped": first, "at_most": None if last is None else max(last - first, 0)})
    hold = b.calling(step.hold, "vertex", ("v",)) if step.hold is not None else None
    look = Made(looking, {"weighted": "weight" in arguments(step.fn, "edge")})
    constants: dict[str, Constant] = {"visit": edge.visit, "end": edge.end, "hold": hold, "put": edge.put}
    made = b.kernel(f"part_{step.fn.__name__}", pushing, given, **constants, places=places, look=look)
    work = b.work_on(source.count, step.fn, edges=True)
    finish(step, b, made, target, next_scan, edge.scanned, Counter("EXAMINED"), PUSH_THREAD, work)


def far_ends(step: Advance, b: Builder, edges: FrontierState, vertices: FrontierState) -> None:
    """Add the phase that makes the set of the far ends of some edges."""
    given = frontier(b, edges, "edge")
    # The far end of an edge is the same whichever way it is walked from here on.
    given["ends"] = b.lists("out")[1] if step.edges == "out" else b.sources()
    next_scan = "" if step.part else step.edges
    given["out"], scanned = output(b, vertices, "vertex", next_scan, **stamps(b))
    b.set(EPOCH, EPOCH + 1)
    made = b.kernel("far_ends", listing, given, scanned=scanned)
    b.phase(made, b.frontiers.produced(vertices, "vertex", next_scan), "list the far ends", work=edges.count)
