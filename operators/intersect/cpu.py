"""Intersect on the CPU: workers take small chunks of the frontier, since the work per edge varies a thousandfold.

Edges of one vertex u usually follow each other in the frontier. A worker then notes, in an array of its own with an
entry for each vertex, where in u's list each neighbour stands, and looks up there what the other lists hold. The array
is never cleared: an entry counts only if it is a place in u's list where this vertex stands, so it may hold anything at
first. Where noting would cost more than it saves, lists are merged, and a list that is much longer is searched in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.lowering.ir import Call
from frontier.lowering.kernels import Callee, Constant
from frontier.lowering.phases import VALUE
from frontier.lowering.variables import FLOATS
from frontier.operators.elementwise.cpu import reduce_by
from frontier.operators.shared.cpu_copies import Copies
from frontier.operators.shared.cpu_walks import over_pieces
from frontier.operators.shared.phases import combining, frontier

if TYPE_CHECKING:
    from frontier.backends.cpu.runtime import first_from, keep_float, keep_int
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.intersect import Intersect

__all__ = ["lower"]

#: Fewest and most edges of a piece.
LEAST, MOST = 16, 256

#: A list this many times longer than the other is searched instead of merged.
SEARCHED = 16


def intersecting(
    value: Callee, add: Callee, identity: float, real: bool, fixed: bool
) -> Callable[..., Any]:
    """Call the functor for every pair of slots with the same target in the two lists of an edge (u, v)."""
    reduces = add is not None
    pieces = over_pieces(LEAST, MOST, fixed)  # for sums of floats it matters which worker adds what

    def worthwhile(everything, queue, i, end, sources, targets, offsets):
        """Whether the lists of the targets of u, here from the i-th edge on, are together as long as u's own."""
        x = i if everything else np.int64(queue[i])
        u = np.int64(sources[x])
        rest = np.int64(offsets[u + 1]) - np.int64(offsets[u])
        while i < end and rest > 0:
            x = i if everything else np.int64(queue[i])
            if np.int64(sources[x]) != u:
                break
            v = np.int64(targets[x])
            rest -= np.int64(offsets[v + 1]) - np.int64(offsets[v])
            i += 1
        return rest <= 0

    def phase(p, C, slot, w, W, everything, queue, total, sources, lists, places, F):
        offsets, targets = lists.offsets, lists.ends
        result = np.float64(identity) if real else np.int64(identity)
        before = np.int64(-1)
        noted = False
        for first, end in pieces(C, slot, w, W, total):
            if not noted:
                before = np.int64(-1)  # of the same vertex there may be more edges in this piece
            for i in range(first, end):
                x = i if everything else np.int64(queue[i])
                u = np.int64(sources[x])
                v = np.int64(targets[x])
                a = np.int64(offsets[u])
                a_end = np.int64(offsets[u + 1])
                b = np.int64(offsets[v])
                b_end = np.int64(offsets[v + 1])
                if u != before:
                    before = u
                    noted = worthwhile(everything, queue, i, end, sources, targets, offsets)
                    if noted:
                        k = a_end
                        while k > a:  # backwards, so that of parallel edges the first place remains
                            k -= 1
                            places[np.int64(targets[k])] = k
                search_a = a_end - a > SEARCHED * (b_end - b)
                search_b = b_end - b > SEARCHED * (a_end - a)
                if noted and not search_b:
                    while b < b_end:
                        common = np.int64(targets[b])
                        k = np.int64(places[common])
                        if a <= k and k < a_end:
                            while k < a_end and np.int64(targets[k]) == common:
                                if reduces:
                                    result = add(C, slot, result, value(p, C, slot, u, v, common, x, k, b))
                                else:
                                    value(p, C, slot, u, v, common, x, k, b)
                                k += 1
                        b += 1
                while a < a_end and b < b_end:
                    common = np.int64(targets[a])
                    other = np.int64(targets[b])
                    if common < other:
                        a = first_from(targets, a + 1, a_end, other) if search_a else a + 1
                    elif other < common:
                        b = first_from(targets, b + 1, b_end, common) if search_b else b + 1
                    else:
                        k = b
                        while k < b_end and np.int64(targets[k]) == common:
                            if reduces:
                                result = add(C, slot, result, value(p, C, slot, u, v, common, x, a, k))
                            else:
                                value(p, C, slot, u, v, common, x, a, k)
                            k += 1
                        # Where u's list has the same far end again, b still stands at the first of v's.
                        a += 1
        if reduces:
            if real:
                keep_float(F, slot, w, result)
            else:
                keep_int(C, slot, w, result)

    return phase


def lower(step: Intersect, b: Builder, current: FrontierState) -> None:
    """A phase that calls the functor, and reduces what it returns if the step does."""
    given = frontier(b, current, "edge")
    given["sources"] = b.sources()
    given["lists"] = Call("Lists", *b.lists("out"), 0, 0)
    given["places"] = b.places()
    ends = ("u", "v", "w", "uv", "uw", "vw")
    reduces = step.op is not None and step.into is not None
    constants: dict[str, Constant] = {"add": None, "identity": 0, "real": False, "fixed": False}
    if step.reduction is not None and step.into is not None:
        dtype = b.layout.dtype(step.into)
        constants = combining(b, step.reduction, dtype)
        constants["fixed"] = constants["real"] or np.dtype(dtype).kind not in step.reduction.exact
        if constants["real"]:
            given["F"] = FLOATS
    value = b.calling(step.fn, "common", ends, VALUE if reduces else "")
    work = b.work_on(current.count, step.fn, edges=True)
    copies = Copies(b, step.fn, current.count, work)
    copies.clear()
    made = b.kernel(
        f"intersect_{step.fn.__name__}", intersecting, given, copies.fields(), value=value, **constants
    )  # fmt: skip
    title = "intersect: find the common neighbours of both ends"
    if step.reduction is not None and step.into is not None:
        reduce_by(b, made, step.reduction, step.into, title, step.fn, work)
    else:
        b.phase(made, (), title, [step.fn], work=work)
    copies.add_up()
