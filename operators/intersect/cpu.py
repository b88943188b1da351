"""Intersect on the CPU: workers take small chunks of the frontier, since the work per edge varies a thousandfold."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.lowering.ir import Call
from frontier.lowering.kernels import Callee, Constant
from frontier.lowering.phases import VALUE
from frontier.lowering.variables import FLOATS
from frontier.operators.elementwise.cpu import reduce_by
from frontier.operators.shared.phases import combining, frontier

if TYPE_CHECKING:
    from frontier.backends.cpu.runtime import first_from, keep_float, keep_int, next_piece, piece
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
    """Merge both lists of an edge (u, v); call the functor for every pair of slots with the same target."""
    reduces = add is not None

    def phase(p, C, slot, w, W, everything, queue, total, sources, lists, F):
        offsets, targets = lists.offsets, lists.ends
        result = np.float64(identity) if real else np.int64(identity)
        size = piece(total, W, LEAST, MOST)
        first = w * size
        while first < total:
            for i in range(first, min(first + size, total)):
                x = i if everything else np.int64(queue[i])
                u = np.int64(sources[x])
                v = np.int64(targets[x])
                a = np.int64(offsets[u])
                a_end = np.int64(offsets[u + 1])
                b = np.int64(offsets[v])
                b_end = np.int64(offsets[v + 1])
                search_a = a_end - a > SEARCHED * (b_end - b)
                search_b = b_end - b > SEARCHED * (a_end - a)
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
            if fixed:  # sums of floats depend on which worker adds what: that must be the same in every run
                first += W * size
            else:
                first = next_piece(C, slot, W, size)
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
    made = b.kernel(f"intersect_{step.fn.__name__}", intersecting, given, value=value, **constants)
    title = "intersect: find the common neighbours of both ends"
    if step.reduction is not None and step.into is not None:
        reduce_by(b, made, step.reduction, step.into, title, step.fn)
    else:
        b.phase(made, (), title, [step.fn])
