"""Scan on the GPU: the frontier as a bitmap, sums of the warps' ranges of ids, then the running sums themselves.

A warp keeps its range in both sweeps, a lane for each of a word's 32 ids, so all that it reads and writes lies
together. The only barrier between the first and the last id is that between the sweeps.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from frontier.lowering.registers import ALL, BITS
from frontier.lowering.text import VALUE
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
    parameters = {
        "n": b.capacity(kind),
        "everything": f"{register.form} == {ALL}",
        "bits": bits,
        "sums": f"{type_}64_at({sums})",
    }
    lines, call = element(b, step.fn, kind, parameters, VALUE)
    if real:
        parameters["F"] = "F"
    zero = start("sum", dtype)
    value = [*lines, *accumulate("sum", call, dtype)]
    body = [
        f"result = {zero}",
        *_ascending(["if here:", *indented(value)]),
        "keep_sum(sums, first, last, words, result)",
        f"keep_{type_}({memory}, slot, SUM, result)",
    ]
    before = b.variable("before")
    b.phase(b.function(f"sums_{step.fn.__name__}", parameters, body), after=(f"{before} = slot",))

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
    after: tuple[str, ...] = ()
    if step.total is not None:
        # Only now: the functor may read what the scalar was. The slot's sums are overwritten by nobody meanwhile.
        after = (b.assign(step.total, f"combined_{type_}({memory}, {before}, SUM, {zero})"),)
    parameters |= {"into": f"{dtype}_at(a_{step.into})", "before": before}
    b.phase(b.function(f"scan_{step.fn.__name__}", parameters, body), after=after)


def _memory(b: CudaProgram, register: Register, kind: str) -> tuple[str, str]:
    """Make the frontier's bitmap unless it is one or everything; address of the warps' sums, text of the bitmap.

    Both lie in the memory of the next queue, since this step makes no frontier: 8 bytes for every word but the last,
    then the words. In a record, the present frontier may lie where the next one is to be written.
    """
    spare, _ = b.target(replace(register, record=""), kind)
    n = b.capacity(kind)
    made = f"uint32_at({spare} + ((({n} + 31) >> 5) << 3) - 8)"
    with b.when(f"{register.form} != {BITS} and {register.form} != {ALL}"):
        b.phase(f"fill_bits(w, W, {made}, {n})")
        b.phase(f"set_bits(w, W, {made}, {b.layout.element(kind)}_at({register.queue}), {register.count})")
    return spare, f"uint32_at({register.bits}) if {register.form} == {BITS} else {made}"


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
