"""Lowering of Scan: the frontier as a bitmap, sums of equal ranges of ids, then the running sums themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from frontier.lowering.registers import ALL, BITS
from frontier.lowering.text import VALUE
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
    parameters = {"n": b.capacity(kind), "bits": _bitmap(b, register, kind)}
    lines, call = element(b, step.fn, kind, parameters, VALUE)
    if real:
        parameters["F"] = "F"
    one = [*lines, *accumulate("sum", call, dtype)]
    body = [
        f"result = {start('sum', dtype)}",
        *_ascending(one),
        "keep_float(F, slot, w, result)" if real else "keep_int(C, slot, w, result)",
    ]
    before = b.variable("before")
    b.phase(b.function(f"sums_{step.fn.__name__}", parameters, body), after=(f"{before} = slot",))

    kept = "kept_float(F, before, other)" if real else "kept_int(C, before, other)"
    body = [
        f"result = {start('sum', dtype)}",
        "for other in range(w):",
        f"    result += {kept}",
        *_ascending(["into[x] = result", *one]),
    ]
    after: tuple[str, ...] = ()
    if step.total is not None:
        # Only now: the functor may read what the scalar was. The slot's sums are cleared by nobody meanwhile.
        total = b.unique("total")
        add = f"    {total} += {kept.replace('before', before)}"
        after = (f"{total} = {start('sum', dtype)}", "for other in range(W):", add, b.assign(step.total, total))
    parameters |= {"into": f"{dtype}_at(a_{step.into})", "before": before}
    b.phase(b.function(f"scan_{step.fn.__name__}", parameters, body), after=after)


def _bitmap(b: Builder, register: Register, kind: str) -> str:
    """Make the frontier's bitmap; a step that makes no frontier has the next queue's memory for it."""
    spare, _ = b.target(replace(register, record=""), kind)
    n = b.capacity(kind)
    with b.when(f"{register.form} != {BITS}"):
        b.phase(f"fill_bits(w, W, uint64_at({spare}), {n}, {register.form} == {ALL})")
        with b.when(f"{register.form} != {ALL}"):
            queue = f"{b.layout.element(kind)}_at({register.queue})"
            b.phase(f"set_bits(w, W, uint64_at({spare}), {queue}, {register.count})")
    return f"uint64_at({register.bits} if {register.form} == {BITS} else {spare})"


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
