"""Scan on the GPU: the frontier as a bitmap, sums of the warps' ranges of ids, then the prefix sums themselves.

A warp processes the same range in both phases, with one lane for each of the 32 ids of a word, so that its reads and
writes are coalesced. The only barrier is that between the phases.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.cuda.compile.runtime_words import SUM, WARPS
from frontier.lowering.frontier_state import ALL, BITS, form
from frontier.lowering.ir import Assign, Choice, Expr, Value, equal
from frontier.lowering.kernels import Callee
from frontier.lowering.phases import VALUE
from frontier.lowering.variables import FLOATS, SLOT, pointer
from frontier.operators.scan.cuda_sums import keep_sum, running_sum, sum_before, warp_share, word_at
from frontier.operators.shared.cuda import combined
from frontier.operators.shared.phases import calling, reduction

if TYPE_CHECKING:
    from frontier.backends.cuda.device.machine import ballot, find_first, shuffle, shuffle_up
    from frontier.backends.cuda.device.names import float64_shared, int64_shared
    from frontier.backends.cuda.device.reductions import keep_float, keep_int
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.scan import Scan

__all__ = ["lower"]

# Both phases go over the words of a warp's range in order. ``here``: whether the lane's id ``x`` is in the frontier.


def summing(value: Callee, add: Callee, identity: float, real: bool) -> Callable[..., Any]:
    """First phase: every warp stores the sum of its range of ids, and every block that of its warps."""

    def phase(p, C, slot, w, W, n, everything, bits, sums, edges, F):
        result = np.float64(identity) if real else np.int64(identity)
        lane = np.int32(w & 31)
        words = (n + 31) >> 5
        first, last = warp_share(words)
        base = first
        while base < last:
            mine = word_at(bits, everything, n, base + lane, last)
            pending = ballot(mine != np.uint32(0))
            while pending != np.uint32(0):
                j = find_first(pending)
                pending = np.uint32(pending & np.uint32(pending - np.uint32(1)))
                word = np.int32(shuffle(np.int32(mine), j))
                x = ((base + j) << 5) + lane
                here = np.int32(np.int32(word >> lane) & np.int32(1)) != np.int32(0)
                if here:
                    result = add(result, value(p, C, slot, x, edges))
            base += 32
        keep_sum(sums, first, last, words, result)
        if real:
            keep_float(F, slot, SUM, result)
        else:
            keep_int(C, slot, SUM, result)

    return phase


def scanning(value: Callee, add: Callee, identity: float, real: bool) -> Callable[..., Any]:
    """Second phase: each warp starts with the sum of all warps before it; ``before`` is the slot of the first phase."""

    def phase(p, C, slot, w, W, n, everything, bits, sums, edges, F, into, before):
        if real:
            reached = sum_before(F, before, sums, (n + 31) >> 5, np.float64(identity), float64_shared(WARPS))
        else:
            reached = sum_before(C, before, sums, (n + 31) >> 5, np.int64(identity), int64_shared(WARPS))
        lane = np.int32(w & 31)
        words = (n + 31) >> 5
        first, last = warp_share(words)
        base = first
        while base < last:
            mine = word_at(bits, everything, n, base + lane, last)
            pending = ballot(mine != np.uint32(0))
            while pending != np.uint32(0):
                j = find_first(pending)
                pending = np.uint32(pending & np.uint32(pending - np.uint32(1)))
                word = np.int32(shuffle(np.int32(mine), j))
                x = ((base + j) << 5) + lane
                here = np.int32(np.int32(word >> lane) & np.int32(1)) != np.int32(0)
                result = np.float64(identity) if real else np.int64(identity)
                if here:
                    result = add(result, value(p, C, slot, x, edges))
                upto = running_sum(result, lane)
                lower = shuffle_up(upto, 1)
                if lane == 0:
                    lower = np.float64(identity) if real else np.int64(identity)
                if here:
                    into[x] = reached + lower
                reached += shuffle(upto, 31)
            base += 32

    return phase


def lower(step: Scan, b: CudaProgram, current: FrontierState, kind: str) -> None:
    """Add two phases over the same bits; a warp adds the same values in every run, so the sums are reproducible."""
    dtype = b.layout.dtype(step.into)
    constants = reduction("sum", dtype)
    real = bool(constants["real"])
    sums, bits = _memory(b, current, kind)
    given: dict[str, Value] = {
        "n": b.capacity(kind),
        "everything": b.frontiers.everything(current),
        "bits": bits,
        "sums": pointer("float64" if real else "int64", sums),
    }
    constants["value"] = calling(b, step.fn, kind, given, VALUE)
    if real:
        given["F"] = FLOATS
    before = b.variable("before")
    made = b.kernel(f"sums_{step.fn.__name__}", summing, given, **constants)
    b.phase(made, [Assign(before, SLOT)], "add up each warp's range of the values", [step.fn])

    # Only now, because the functor may read the old value of the scalar. The slot's sums have not been overwritten.
    after = combined(b, before, "sum", step.total, real) if step.total is not None else []
    given |= {"into": b.field(step.into), "before": before}
    made = b.kernel(f"scan_{step.fn.__name__}", scanning, given, **constants)
    b.phase(made, after, "write the prefix sums", [step.fn], [step.into])


def _memory(b: CudaProgram, current: FrontierState, kind: str) -> tuple[Expr, Expr]:
    """Make the frontier a bitmap unless it is one or is everything; the address of the warps' sums, and the bitmap.

    Both lie in the memory of the next queue, which is free, since this step makes no frontier: first 8 bytes for every
    word but the last, then the words. In a record, the present frontier may lie where the next one would be written.
    """
    spare, _ = b.frontiers.target(replace(current, record=""), kind)
    n = b.capacity(kind)
    made = pointer("uint32", spare + (((n + 31) >> 5) << 3) - 8)
    with b.when(b.frontiers.other_than(current, BITS, ALL)):
        b.phase(b.divided("fill_bits", made, n), title="clear a bitmap")
        marks = b.divided("set_bits", made, b.frontiers.queue(current, kind), current.count)
        b.phase(marks, title="mark the frontier in the bitmap")
    return spare, Choice(equal(current.form, form(BITS)), pointer("uint32", current.bits), made)
