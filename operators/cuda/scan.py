"""Scan on the GPU: the frontier as a bitmap, sums of the warps' ranges of ids, then the running sums themselves.

A warp keeps its range in both sweeps, a lane for each of a word's 32 ids, so all that it reads and writes lies
together. The only barrier between the first and the last id is that between the sweeps.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from frontier.lowering.ir import Assign, Choice, Expr, Value, equal
from frontier.lowering.phases import VALUE
from frontier.lowering.registers import ALL, BITS, form
from frontier.lowering.variables import FLOATS, SLOT, pointer
from frontier.operators.cuda.elementwise import combined
from frontier.operators.phases import accumulate, element, indented, start

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.registers import Register
    from frontier.operators.scan import Scan

__all__ = ["lower"]


def lower(step: Scan, b: CudaProgram, register: Register, kind: str) -> None:
    """Two phases over the same bits; who adds what never changes, so the sums are the same in every run."""
    dtype = b.layout.dtype(step.into)
    real = dtype.startswith("float")
    type_, memory = ("float", "F") if real else ("int", "C")
    sums, bits = _memory(b, register, kind)
    parameters: dict[str, Value] = {
        "n": b.capacity(kind),
        "everything": b.everything(register),
        "bits": bits,
        "sums": pointer(f"{type_}64", sums),
    }
    lines, call = element(b, step.fn, kind, parameters, VALUE)
    if real:
        parameters["F"] = FLOATS
    zero = start("sum", dtype)
    value = [*lines, *accumulate("sum", call, dtype)]
    body = [
        f"result = {zero}",
        *_ascending(["if here:", *indented(value)]),
        "keep_sum(sums, first, last, words, result)",
        f"keep_{type_}({memory}, slot, SUM, result)",
    ]
    before = b.variable("before")
    b.phase(
        b.function(f"sums_{step.fn.__name__}", parameters, body),
        [Assign(before, SLOT)],
        "add up each warp's range of the values",
        [step.fn],
    )

    body = [
        f"reached = sum_before({memory}, before, sums, (n + 31) >> 5, {zero}, {type_}64_shared(WARPS))",
        *_ascending(
            [
                f"result = {zero}",
                "if here:",
                *indented(value),
                "upto = running_sum(result, lane)",
                "lower = shuffle_up(upto, 1)",
                "if lane == 0:",
                f"    lower = {zero}",
                "if here:",
                "    into[x] = reached + lower",
                "reached += shuffle(upto, 31)",
            ]
        ),
    ]
    # Only now: the functor may read what the scalar was. The slot's sums are overwritten by nobody meanwhile.
    after = combined(b, before, "sum", step.total, real) if step.total is not None else []
    parameters |= {"into": b.field(step.into), "before": before}
    b.phase(
        b.function(f"scan_{step.fn.__name__}", parameters, body),
        after,
        "write the running sums",
        [step.fn],
        [step.into],
    )


def _memory(b: CudaProgram, register: Register, kind: str) -> tuple[Expr, Expr]:
    """Make the frontier's bitmap unless it is one or everything; address of the warps' sums, and the bitmap.

    Both lie in the memory of the next queue, since this step makes no frontier: 8 bytes for every word but the last,
    then the words. In a record, the present frontier may lie where the next one is to be written.
    """
    spare, _ = b.target(replace(register, record=""), kind)
    n = b.capacity(kind)
    made = pointer("uint32", spare + (((n + 31) >> 5) << 3) - 8)
    with b.when(b.other_than(register, BITS, ALL)):
        b.phase(b.divided("fill_bits", made, n), title="clear a bitmap")
        marks = b.divided("set_bits", made, b.queue(register, kind), register.count)
        b.phase(marks, title="mark the frontier in the bitmap")
    return spare, Choice(equal(register.form, form(BITS)), pointer("uint32", register.bits), made)


def _ascending(body: list[str]) -> list[str]:
    """A loop over the words of a warp's range, in order; ``here`` says whether a lane's element ``x`` is there."""
    return [
        "lane = np.int32(w & 31)",
        "words = (n + 31) >> 5",
        "first, last = warp_share(words)",
        "base = first",
        "while base < last:",
        "    mine = word_at(bits, everything, n, base + lane, last)",
        "    pending = ballot(mine != np.uint32(0))",
        "    while pending != np.uint32(0):",
        "        j = find_first(pending)",
        "        pending = np.uint32(pending & np.uint32(pending - np.uint32(1)))",
        "        word = np.int32(shuffle(np.int32(mine), j))",
        "        x = ((base + j) << 5) + lane",
        "        here = np.int32(np.int32(word >> lane) & np.int32(1)) != np.int32(0)",
        *indented(body, 2),
        "    base += 32",
    ]
