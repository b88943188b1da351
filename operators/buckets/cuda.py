"""Buckets on the GPU: one phase in which a warp appends to the next queue and to several piles."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.cuda.compile.runtime_words import PILE_COUNT
from frontier.lowering.ir import Assign, Call, Choice, Counter, Value
from frontier.lowering.kernels import Callee, Constant, Made
from frontier.lowering.phases import VALUE
from frontier.operators.elementwise.cuda import appending, pile, queue_of
from frontier.operators.shared.phases import calling, frontier

if TYPE_CHECKING:
    from frontier.backends.cuda.device.appends import append_chunk, append_pile, chunk, element_at, marked
    from frontier.backends.cuda.device.runtime import BUCKETS
    from frontier.backends.cuda.program import CudaProgram
    from frontier.compile.argument_tuples import Several
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.buckets import Buckets

__all__ = ["lower"]


def bucketing(
    number: Callee, none: Callee, mark: Callee, append: Callee, big: bool, mode: int
) -> Callable[..., Any]:
    """Appends the elements of bucket 0 to the queue, and each other one to its pile unless that has it already.

    For each pile, a lane keeps a mask of its elements that go there.
    """

    def phase(p, C, slot, w, W, everything, queue, total, edges, out, piles):
        lane = w & 31
        many = chunk(total, W)
        first = (w - lane) * many
        while first < total:
            accepted = np.uint32(0)
            aside = none()
            for u in range(many):
                i = first + 32 * u + lane
                if i < total:
                    x = element_at(queue, everything, i)
                    bucket = number(p, C, slot, x, edges)
                    if not bucket >= 1:
                        accepted = marked(accepted, u)
                    else:
                        aside = mark(piles, aside, bucket, x, u)
            append_chunk(C, slot, big, out.queue, out.scan, mode, out.degrees, queue, everything, first, accepted)
            append(C, slot, piles, queue, everything, first, aside)
            first += W * many

    return phase


def nothing(others: Callee) -> Callable[..., Any]:
    """Return a function that gives empty masks."""
    last = others is None

    def none():
        if last:
            return Several(np.uint32(0), 0)
        return Several(np.uint32(0), others())

    return none


def marking(bucket: int, others: Callee) -> Callable[..., Any]:
    """Return a function that marks an element for the pile of its bucket, unless that pile contains it already."""
    last = others is None

    def mark(piles, masks, number, x, u):
        if last or number < bucket + 1:
            pile = piles.first
            mask = masks.first
            if pile.stamps[x] != pile.epoch:
                pile.stamps[x] = pile.epoch
                mask = marked(mask, u)
            return Several(mask, masks.others)
        return Several(masks.first, others(piles.others, masks.others, number, x, u))

    return mark


def putting_aside(bucket: int, others: Callee) -> Callable[..., Any]:
    """Return a function that appends marked elements to the piles; each has a counter, read after the barrier."""
    last = others is None

    def append(C, slot, piles, queue, everything, first, masks):
        counter = slot + BUCKETS + bucket - 1 - PILE_COUNT
        append_pile(C, counter, piles.first.elements, piles.first.held, queue, everything, first, masks.first)
        if not last:
            others(C, slot, piles.others, queue, everything, first, masks.others)

    return append


def lower(step: Buckets, b: CudaProgram, current: FrontierState) -> None:
    """Add the phase, which computes the bucket of each element once."""
    after = b.next_scan
    b.frontiers.sparse(current)
    pile_kinds = {b.pile(name) for name in step.piles}
    none, mark, append = None, None, None
    for bucket in range(len(step.piles), 0, -1):
        none = Made(nothing, {"others": none})
        mark = Made(marking, {"bucket": bucket, "others": mark})
        append = Made(putting_aside, {"bucket": bucket, "others": append})

    def emit(kind: str) -> None:
        if kind not in pile_kinds:
            b.leave("WRONG_KIND")
            return
        given = frontier(b, current, kind)
        number = calling(b, step.fn, kind, given, VALUE)
        given["out"], next_scan = queue_of(b, current, kind, after)
        piles: Value = 0
        for name in reversed(step.piles):
            piles = Call("Several", pile(b, name, kind), piles)
        given["piles"] = piles
        given = {name: _chosen(b, name, value) for name, value in given.items()}
        constants: dict[str, Constant] = {"number": number, "none": none, "mark": mark, "append": append}
        made = b.kernel(step.fn.__name__, bucketing, given, **constants, **appending(b, next_scan))
        counts = b.frontiers.produced(current, kind, next_scan)
        for bucket, name in enumerate(step.piles, 1):
            held = b.state[f"held:{name}"]
            counts.append(Assign(held, held + Counter("BUCKETS", bucket - 1)))
        b.phase(made, counts, "buckets: append elements of bucket 0, and add the others to the piles", [step.fn])

    b.for_kinds(current, emit)


def _chosen(b: CudaProgram, name: str, value: Value) -> Value:
    """An argument without a choice in it: numba compiles a call of so many arguments only if none of them branches."""
    if not isinstance(value, Call):
        return value
    if isinstance(value.arguments[0], Choice):
        address = b.variable(name)
        b.set(address, value.arguments[0])
        return Call(value.function, address)
    return Call(value.function, *(_chosen(b, name, each) for each in value.arguments))
