"""Lowering of Intersect: small pieces of the frontier, for one edge may be a thousand times the work of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.lowering.ir import Node
from frontier.lowering.phases import VALUE
from frontier.lowering.variables import FLOATS
from frontier.operators.cpu.elementwise import FROM_QUEUE, combined
from frontier.operators.phases import accumulate, frontier, indented, start

if TYPE_CHECKING:
    from frontier.lowering.builder import Builder
    from frontier.lowering.registers import Register
    from frontier.operators.intersect import Intersect

__all__ = ["lower"]

#: Fewest and most edges of a piece.
LEAST, MOST = 16, 256

#: A list so many times longer than the other is searched instead of walked.
SEARCHED = 16

#: The pairs of slots ``a`` of u's list and ``b`` of v's with equal far ends. Where u's list has the same far end
#: again, ``b`` still stands at the first of v's.
LISTS = [
    "u = np.int64(sources[x])",
    "v = np.int64(targets[x])",
    "a = np.int64(offsets[u])",
    "a_end = np.int64(offsets[u + 1])",
    "b = np.int64(offsets[v])",
    "b_end = np.int64(offsets[v + 1])",
    f"search_a = a_end - a > {SEARCHED} * (b_end - b)",
    f"search_b = b_end - b > {SEARCHED} * (a_end - a)",
]


def lower(step: Intersect, b: Builder, register: Register) -> None:
    """A phase that calls the functor, and reduces what it returns if the step does."""
    parameters = frontier(b, register, "edge")
    parameters["sources"] = b.sources()
    parameters["offsets"], parameters["targets"] = b.lists("out")
    ends = {"u": "u", "v": "v", "w": "common", "uv": "x", "uw": "a", "vw": "k"}
    one = [b.call(step.fn, "common", ends, VALUE if step.op is not None else "")]
    before, last, real = [], [], False
    after: list[Node] = []
    if step.op is not None and step.into is not None:
        dtype = b.layout.dtype(step.into)
        real = dtype.startswith("float") and step.op not in ("any", "all")
        one = accumulate(step.op, one[0], dtype)
        before = [f"result = {start(step.op, dtype)}"]
        last = ["keep_float(F, slot, w, result)" if real else "keep_int(C, slot, w, result)"]
        after = combined(b, step.op, step.into, real)
        if real:
            parameters["F"] = FLOATS
    body = [
        *before,
        f"size = piece(total, W, {LEAST}, {MOST})",
        "first = w * size",
        "while first < total:",
        "    for i in range(first, min(first + size, total)):",
        *indented([FROM_QUEUE, *LISTS, *_pairs(one)], 2),
        # Sums of floats depend on who adds what: that must be the same in every run.
        "    first += W * size" if real else "    first = next_piece(C, slot, W, size)",
        *last,
    ]
    made = b.function(f"intersect_{step.fn.__name__}", parameters, body)
    b.phase(made, after, "intersect: find the common neighbours of both ends", [step.fn])


def _pairs(one: list[str]) -> list[str]:
    """Lines that walk both lists and do something for every pair."""
    return [
        "while a < a_end and b < b_end:",
        "    common = np.int64(targets[a])",
        "    other = np.int64(targets[b])",
        "    if common < other:",
        "        a = first_from(targets, a + 1, a_end, other) if search_a else a + 1",
        "    elif other < common:",
        "        b = first_from(targets, b + 1, b_end, common) if search_b else b + 1",
        "    else:",
        "        k = b",
        "        while k < b_end and np.int64(targets[k]) == common:",
        *indented(one, 3),
        "            k += 1",
        "        a += 1",
    ]
