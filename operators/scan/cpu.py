"""Scan on the CPU: the frontier as a bitmap, sums of equal ranges of ids, then the prefix sums themselves.

Each worker processes the same range of ids in both phases.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.lowering.frontier_state import ALL, BITS, form
from frontier.lowering.ir import Assign, Choice, Expr, Value, equal
from frontier.lowering.kernels import Callee
from frontier.lowering.phases import VALUE
from frontier.lowering.variables import FLOATS, SLOT, pointer
from frontier.operators.elementwise.cpu import total
from frontier.operators.shared.phases import calling, reduction

if TYPE_CHECKING:
    from frontier.backends.cpu.runtime import keep_float, keep_int, kept_float, kept_int, share_of_bits
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.scan import Scan

__all__ = ["lower"]


def summing(
    value: Callee, add: Callee, identity: float, real: bool
) -> Callable[..., Any]:
    """Every worker leaves the sum of its range of ids."""

    def phase(p, C, slot, w, W, n, bits, edges, F):
        result = np.float64(identity) if real else np.int64(identity)
        for x in share_of_bits(w, W, bits, n):
            result = add(result, value(p, C, slot, x, edges))
        if real:
            keep_float(F, slot, w, result)
        else:
            keep_int(C, slot, w, result)

    return phase


def scanning(
    value: Callee, add: Callee, identity: float, real: bool
) -> Callable[..., Any]:
    """Each worker begins with the sums of those before it; ``before`` is the slot of the other phase."""

    def phase(p, C, slot, w, W, n, bits, edges, F, into, before):
        result = np.float64(identity) if real else np.int64(identity)
        for other in range(w):
            result += kept_float(F, before, other) if real else kept_int(C, before, other)
        for x in share_of_bits(w, W, bits, n):
            into[x] = result
            result = add(result, value(p, C, slot, x, edges))

    return phase


def lower(step: Scan, b: Builder, current: FrontierState, kind: str) -> None:
    """Two phases over the same bits."""
    dtype = b.layout.dtype(step.into)
    constants = reduction("sum", dtype)
    real = bool(constants["real"])
    given: dict[str, Value] = {"n": b.capacity(kind), "bits": _bitmap(b, current, kind)}
    constants["value"] = calling(b, step.fn, kind, given, VALUE)
    if real:
        given["F"] = FLOATS
    before, work = b.variable("before"), (b.capacity(kind) >> 3) + b.work_on(current.count, step.fn)
    sums = b.kernel(f"sums_{step.fn.__name__}", summing, given, **constants)
    b.phase(sums, [Assign(before, SLOT)], "add up each worker's range of the values", [step.fn], work=work)

    # Only now, because the functor may read the old value of the scalar. The slot's sums have not been cleared yet.
    after = [b.assign(step.total, total(before, "sum", dtype, real))] if step.total is not None else []
    given |= {"into": b.field(step.into), "before": before}
    made = b.kernel(f"scan_{step.fn.__name__}", scanning, given, **constants)
    b.phase(made, after, "write the prefix sums", [step.fn], [step.into], work=work)


def _bitmap(b: Builder, current: FrontierState, kind: str) -> Expr:
    """Make the frontier's bitmap; a step that makes no frontier has the next queue's memory for it."""
    spare, _ = b.frontiers.target(replace(current, record=""), kind)
    n = b.capacity(kind)
    with b.when(b.frontiers.other_than(current, BITS)):
        bits = pointer("uint64", spare)
        fill = b.divided("fill_bits", bits, n, b.frontiers.everything(current))
        b.phase(fill, title="clear a bitmap, or fill it", work=n >> 6)
        with b.when(b.frontiers.other_than(current, ALL)):
            marks = b.divided("set_bits", bits, b.frontiers.queue(current, kind), current.count)
            b.phase(marks, title="mark the frontier in the bitmap", work=current.count)
    return pointer("uint64", Choice(equal(current.form, form(BITS)), current.bits, spare))
