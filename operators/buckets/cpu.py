"""Buckets on the CPU: one phase that appends to the next queue and to several piles."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from frontier.backends.cpu.runtime_words import LOCAL, PILE_LOCK
from frontier.lowering.ir import Assign, Call, Counter, Value
from frontier.lowering.kernels import Callee, Made
from frontier.lowering.phases import VALUE
from frontier.operators.elementwise.cpu import appending, ending, output, pile
from frontier.operators.shared.cpu_walks import over_elements
from frontier.operators.shared.phases import calling, frontier

if TYPE_CHECKING:
    from frontier.backends.cpu.runtime import flush_bucket
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.buckets import Buckets

__all__ = ["lower"]


def bucketing(
    number: Callee, put_aside: Callee, begin: Callee, end: Callee,
    scanned: bool,
) -> Callable[..., Any]:  # fmt: skip
    """Appends the elements of bucket 0, and the others each to its pile unless this holds it already."""
    elements, put, flush_all = over_elements(), appending(scanned), ending(scanned)

    def phase(p, C, slot, w, W, everything, queue, total, edges, out, piles):
        fill, before = 0, 0
        begin(piles)
        for x in elements(C, slot, w, W, everything, queue, total):
            bucket = number(p, C, slot, x, edges)
            if not bucket >= 1:
                fill, before = put(C, slot, out, fill, before, x)
            else:
                put_aside(C, slot, piles, bucket, x)
        flush_all(C, slot, out, fill, before)
        end(C, slot, piles)

    return phase


# A pile's own array holds the number of its elements in its last place. Each pile has a counter in the slot: the words
# that a single pile's lock and counters use otherwise.


def putting_aside(bucket: int, others: Callee) -> Callable[..., Any]:
    """Return a function that puts an element into the pile of its bucket; beyond the last, into the last."""
    last = others is None

    def put_aside(C, slot, piles, number, x):
        if last or number < bucket + 1:
            pile = piles.first
            if pile.stamps[x] != pile.epoch:
                pile.stamps[x] = pile.epoch
                fill = pile.ids[LOCAL - 1]
                pile.ids[fill] = x
                fill += 1
                if fill == LOCAL - 1:
                    flush_bucket(C, slot + PILE_LOCK + bucket - 1, pile.elements, pile.held, pile.ids, fill)
                    fill = 0
                pile.ids[LOCAL - 1] = fill
        else:
            others(C, slot, piles.others, number, x)

    return put_aside


def beginning(others: Callee) -> Callable[..., Any]:
    """Return a function that empties the worker's own arrays."""
    last = others is None

    def begin(piles):
        piles.first.ids[LOCAL - 1] = 0
        if not last:
            others(piles.others)

    return begin


def flushing(bucket: int, others: Callee) -> Callable[..., Any]:
    """Return a function that appends to the piles what the worker's own arrays hold."""
    last = others is None

    def end(C, slot, piles):
        pile = piles.first
        flush_bucket(C, slot + PILE_LOCK + bucket - 1, pile.elements, pile.held, pile.ids, pile.ids[LOCAL - 1])
        if not last:
            others(C, slot, piles.others)

    return end


def lower(step: Buckets, b: Builder, current: FrontierState) -> None:
    """A phase that finds each element's bucket once; every pile has a counter and a worker's array of its own."""
    next_scan = b.next_scan
    b.frontiers.sparse(current)
    pile_kinds = {b.pile(name) for name in step.piles}
    put_aside, begin, end = None, None, None
    for bucket in range(len(step.piles), 0, -1):
        put_aside = Made(putting_aside, {"bucket": bucket, "others": put_aside})
        begin = Made(beginning, {"others": begin})
        end = Made(flushing, {"bucket": bucket, "others": end})

    def emit(kind: str) -> None:
        if kind not in pile_kinds:
            b.leave("WRONG_KIND")
            return
        given = frontier(b, current, kind)
        number = calling(b, step.fn, kind, given, VALUE)
        given["out"], scanned = output(b, current, kind, next_scan)
        piles: Value = 0
        for bucket, name in reversed(list(enumerate(step.piles, 1))):
            piles = Call("Several", pile(b, name, kind, f"local_pile{bucket}"), piles)
        given["piles"] = piles
        constants = {"number": number, "put_aside": put_aside, "begin": begin, "end": end, "scanned": scanned}
        made = b.kernel(step.fn.__name__, bucketing, given, **constants)
        after = list(b.frontiers.produced(current, kind, next_scan if scanned else ""))
        for bucket, name in enumerate(step.piles, 1):
            held = b.state[f"held:{name}"]
            after.append(Assign(held, held + Counter("PILE_LOCK", bucket - 1)))
        title = "buckets: append elements of bucket 0, and add the others to the piles"
        b.phase(made, after, title, [step.fn], work=b.work_on(current.count, step.fn))

    b.for_kinds(current, emit)
