"""Lowering of Scan: the frontier as a bitmap, sums of equal ranges of ids, then the running sums themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from frontier.lowering.ir import Assign, Choice, Expr, Value, equal
from frontier.lowering.phases import VALUE
from frontier.lowering.registers import ALL, BITS, form
from frontier.lowering.variables import FLOATS, SLOT, pointer
from frontier.operators.cpu.elementwise import total
from frontier.operators.phases import accumulate, element, indented, start

if TYPE_CHECKING:
    from frontier.lowering.builder import Builder
    from frontier.lowering.registers import Register
    from frontier.operators.scan import Scan

__all__ = ["lower"]


def lower(step: Scan, b: Builder, register: Register, kind: str) -> None:
    """Two phases over the same bits; each worker keeps its range of ids, so a sum continues where the other ended."""
    dtype = b.layout.dtype(step.into)
    real = dtype.startswith("float")
    parameters: dict[str, Value] = {"n": b.capacity(kind), "bits": _bitmap(b, register, kind)}
    lines, call = element(b, step.fn, kind, parameters, VALUE)
    if real:
        parameters["F"] = FLOATS
    one = [*lines, *accumulate("sum", call, dtype)]
    body = [
        f"result = {start('sum', dtype)}",
        *_ascending(one),
        "keep_float(F, slot, w, result)" if real else "keep_int(C, slot, w, result)",
    ]
    before = b.variable("before")
    b.phase(
        b.function(f"sums_{step.fn.__name__}", parameters, body),
        [Assign(before, SLOT)],
        "add up each worker's range of the values",
        [step.fn],
    )

    kept = "kept_float(F, before, other)" if real else "kept_int(C, before, other)"
    body = [
        f"result = {start('sum', dtype)}",
        "for other in range(w):",
        f"    result += {kept}",
        *_ascending(["into[x] = result", *one]),
    ]
    # Only now: the functor may read what the scalar was. The slot's sums are cleared by nobody meanwhile.
    after = [b.assign(step.total, total(before, "sum", dtype, real))] if step.total is not None else []
    parameters |= {"into": b.field(step.into), "before": before}
    b.phase(
        b.function(f"scan_{step.fn.__name__}", parameters, body),
        after,
        "write the running sums",
        [step.fn],
        [step.into],
    )


def _bitmap(b: Builder, register: Register, kind: str) -> Expr:
    """Make the frontier's bitmap; a step that makes no frontier has the next queue's memory for it."""
    spare, _ = b.target(replace(register, record=""), kind)
    n = b.capacity(kind)
    with b.when(b.other_than(register, BITS)):
        bits = pointer("uint64", spare)
        b.phase(b.divided("fill_bits", bits, n, b.everything(register)), title="clear a bitmap, or fill it")
        with b.when(b.other_than(register, ALL)):
            marks = b.divided("set_bits", bits, b.queue(register, kind), register.count)
            b.phase(marks, title="mark the frontier in the bitmap")
    return pointer("uint64", Choice(equal(register.form, form(BITS)), register.bits, spare))


def _ascending(body: list[str]) -> list[str]:
    """A loop over the elements ``x`` of a worker's range of ids, in order."""
    return [
        "first, last = share((n + 63) >> 6, w, W)",
        "for i in range(first, last):",
        "    word = bits[i]",
        "    while word != 0:",
        "        x = (i << 6) + np.int64(trailing_zeros(word))",
        "        word &= word - np.uint64(1)",
        *indented(body, 2),
    ]
