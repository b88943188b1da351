"""Filter, Split, Compute and Reduce on the CPU: a functor is called once for every element.

Workers take chunks of the frontier. They collect the elements to keep in an array of their own, and reserve space for
them in the next queue when the array is full.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.cpu.runtime_words import LOCAL
from frontier.lowering.inputs import Buffer, Number
from frontier.lowering.ir import Assign, Call, Counter, Expr, Value, Var, cast, equal
from frontier.lowering.kernels import Callee, Constant
from frontier.lowering.phases import VALUE
from frontier.lowering.variables import EPOCH, FLOATS, SLOT, WORDS, WORKERS, pointer
from frontier.operators.shared.cpu_walks import over_elements
from frontier.operators.shared.phases import calling, combining, frontier, identity_of, join_of
from frontier.operators.shared.reductions import REDUCTIONS

if TYPE_CHECKING:
    from frontier.backends.cpu.atomics import truth
    from frontier.backends.cpu.intrinsics import exchange
    from frontier.backends.cpu.runtime import (
        flush,
        flush_pile,
        flush_scanned,
        keep_float,
        keep_int,
        kept_float,
        kept_int,
        share,
    )
    from frontier.lowering.builder import Builder, Functor
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.elementwise.compute import Compute
    from frontier.operators.elementwise.filter import Filter
    from frontier.operators.elementwise.reduce import Reduce
    from frontier.operators.elementwise.split import Split
    from frontier.operators.shared.reductions import Reduction

__all__ = [
    "appending", "columns", "ending", "lower_compute", "lower_filter", "lower_reduce", "lower_split",
    "output", "pile", "reduce_by", "setting_aside", "stamps", "total",
]  # fmt: skip

#: Values of an element up to which the compiler knows their number.
UNROLLED = 4

# ---- kernels ---------------------------------------------------------------------------------------------


def stamping() -> Callable[..., Any]:
    """Return a function that stamps an item with a phase's epoch: whether it did not have that before.

    Of several workers at once one is told so; ``plainly``, without an atomic, more than one may be.
    """

    def stamp(stamps, item, epoch, plainly):
        new = stamps[item] != epoch
        if new:
            if plainly:
                stamps[item] = epoch
            else:
                new = exchange(stamps, item, epoch) != epoch
        return new

    return stamp


def appending(scanned: bool, stamped: bool = False) -> Callable[..., Any]:
    """Return a function that adds an item to the worker's own array, which is flushed to the next queue when full.

    With its edge prefix if ``scanned``; only if this phase has not taken it before, if ``stamped``.
    """
    end, stamp = ending(scanned), stamping()

    def put(C, slot, out, fill, edges, item):
        if not stamped or stamp(out.stamps, item, out.epoch, out.plainly):
            out.ids[fill] = item
            if scanned:
                out.prefix[fill] = edges
                edges += np.int64(out.degrees[item + 1]) - np.int64(out.degrees[item])
            fill += 1
            if fill == LOCAL:
                end(C, slot, out, fill, edges)
                fill = 0
                if scanned:
                    edges = 0
        return fill, edges

    return put


def setting_aside() -> Callable[..., Any]:
    """Return a function that adds an item to a pile, by way of the worker's own array, unless the pile holds it.

    Several workers may come upon it at the same time.
    """
    stamp = stamping()

    def put(C, slot, pile, plainly, fill, item):
        if stamp(pile.stamps, item, pile.epoch, plainly):
            pile.ids[fill] = item
            fill += 1
            if fill == LOCAL:
                flush_pile(C, slot, pile.elements, pile.held, pile.ids, fill)
                fill = 0
        return fill

    return put


def ending(scanned: bool) -> Callable[..., Any]:
    """Return a function that appends what the worker's own array holds."""

    def flush_all(C, slot, out, fill, edges):
        if scanned:
            flush_scanned(C, slot, out.queue, out.scan, out.capacity, out.ids, out.prefix, fill, edges)
        else:
            flush(C, slot, out.queue, out.capacity, out.ids, fill)

    return flush_all


def computing(call: Callee, counted: bool = False, rows: bool = False) -> Callable[..., Any]:
    """Every element once; with ``rows`` each of its ``width`` values once.

    ``counted``: the elements are the numbers from 0 on.
    """
    elements = over_elements(counted)

    def phase(p, C, slot, w, W, everything, queue, total, edges, width):
        for x in elements(C, slot, w, W, everything, queue, total):
            if rows:
                for c in range(width):
                    call(p, C, slot, x, c, edges)
            else:
                call(p, C, slot, x, edges)

    return phase


def filtering(keep: Callee, scanned: bool) -> Callable[..., Any]:
    """Appends the elements that are kept."""
    elements, put, end = over_elements(), appending(scanned), ending(scanned)

    def phase(p, C, slot, w, W, everything, queue, total, edges, out):
        fill, before = 0, 0
        for x in elements(C, slot, w, W, everything, queue, total):
            if truth(keep(p, C, slot, x, edges)):
                fill, before = put(C, slot, out, fill, before, x)
        end(C, slot, out, fill, before)

    return phase


def splitting(keep: Callee, scanned: bool, both: bool) -> Callable[..., Any]:
    """Appends the elements that are kept, or all with ``both``; the others to the pile unless it holds them already."""
    elements, put, end = over_elements(), appending(scanned), ending(scanned)

    def phase(p, C, slot, w, W, everything, queue, total, edges, out, pile):
        fill, before, aside = 0, 0, 0
        for x in elements(C, slot, w, W, everything, queue, total):
            kept = truth(keep(p, C, slot, x, edges))
            if both or kept:
                fill, before = put(C, slot, out, fill, before, x)
            if not kept and pile.stamps[x] != pile.epoch:
                pile.stamps[x] = pile.epoch
                pile.ids[aside] = x
                aside += 1
                if aside == LOCAL:
                    flush_pile(C, slot, pile.elements, pile.held, pile.ids, aside)
                    aside = 0
        end(C, slot, out, fill, before)
        flush_pile(C, slot, pile.elements, pile.held, pile.ids, aside)

    return phase


def reducing(
    value: Callee, add: Callee, identity: float, real: bool, counted: bool = False, rows: bool = False
) -> Callable[..., Any]:
    """Every worker reduces its share, and leaves the result for the others."""

    def phase(p, C, slot, w, W, everything, queue, total, edges, width, F):
        first, last = share(total, w, W)
        result = np.float64(identity) if real else np.int64(identity)
        for i in range(first, last):
            x = i if counted or everything else np.int64(queue[i])
            if rows:
                for c in range(width):
                    result = add(C, slot, result, value(p, C, slot, x, c, edges))
            else:
                result = add(C, slot, result, value(p, C, slot, x, edges))
        if real:
            keep_float(F, slot, w, result)
        else:
            keep_int(C, slot, w, result)

    return phase


def bringing(join: Callee, identity: float, real: bool) -> Callable[..., Any]:
    """The first worker combines what all have left in the phase before, whose slot is ``before``."""

    def phase(p, C, slot, w, W, before, F):
        if w == 0:
            result = np.float64(identity) if real else np.int64(identity)
            for other in range(W):
                kept = kept_float(F, before, other) if real else kept_int(C, before, other)
                result = join(C, slot, result, kept)
            if real:
                keep_float(F, slot, 0, result)
            else:
                keep_int(C, slot, 0, result)

    return phase


# ---- lowering --------------------------------------------------------------------------------------------


def output(
    b: Builder, current: FrontierState, kind: str, next_scan: str, stamps: Value = 0, epoch: Value = 0,
    plainly: Value = 0, alone: Value = 0, pile: Value = 0,
) -> tuple[Call, bool]:
    """Where a phase appends its next queue; whether it makes the scan too."""
    queue, scan = b.frontiers.target(current, kind)
    scanned = kind == "vertex" and next_scan != ""
    made = Call(
        "Out",
        pointer(b.layout.element(kind), queue),
        pointer(b.layout.offsets, scan) if scanned else 0,
        b.frontiers.room_left(current, kind),
        b.local_array("local_ids"),
        b.local_array("local_prefix") if scanned else 0,
        b.lists(next_scan)[0] if scanned else 0,
        stamps,
        epoch,
        plainly,
        alone,
        pile,
    )
    return made, scanned


def stamps(b: Builder) -> dict[str, Value]:
    """The stamps by which a phase takes each vertex once, and whether plain stores do: a single worker has no rival."""
    array, alone = b.array("stamps", Buffer("vertex_stamps"), "int32"), equal(WORKERS, 1)
    return {"stamps": array, "epoch": cast("int32", EPOCH), "plainly": alone, "alone": alone}


def columns(b: Builder, field: str) -> Value:
    """The number of values of each element in a field, as a kernel on the CPU gets it.

    A loop of constant length would be unrolled, and not vectorized then: 16 values took twice the time.
    """
    width = b.width(field)
    return width if width <= UNROLLED else b.input(f"width_{width}", Number(width), "values of an element")


def lower_compute(step: Compute, b: Builder, current: FrontierState) -> None:
    """A phase that only calls the functor."""
    if step.counted:
        count: dict[str, Value] = {"total": b.count_over(step.over)}
        call = calling(b, step.fn, "count", count)
        made = b.kernel(step.fn.__name__, computing, count, call=call, counted=True)
        b.phase(made, (), "compute", [step.fn], work=b.work_on(count["total"], step.fn))
        return
    b.frontiers.sparse(current)

    def emit(kind: str) -> None:
        given = frontier(b, current, kind)
        rows = bool(step.row_field)
        call = calling(b, step.fn, kind, given, rows=rows)
        if rows:
            given["width"] = columns(b, step.row_field)
        made = b.kernel(step.fn.__name__, computing, given, call=call, rows=rows)
        work = b.work_on(current.count, step.fn) * max(b.width(step.row_field), 1)
        b.phase(made, (), "compute", [step.fn], work=work)

    b.for_kinds(current, emit)


def lower_filter(step: Filter, b: Builder, current: FrontierState) -> None:
    """A phase that appends the elements for which the functor is true."""
    next_scan = b.next_scan
    b.frontiers.sparse(current)

    def emit(kind: str) -> None:
        given = frontier(b, current, kind)
        keep = calling(b, step.fn, kind, given)
        given["out"], scanned = output(b, current, kind, next_scan)
        made = b.kernel(step.fn.__name__, filtering, given, keep=keep, scanned=scanned)
        after = b.frontiers.produced(current, kind, next_scan if scanned else "")
        work = b.work_on(current.count, step.fn)
        b.phase(made, after, "filter: append elements to keep", [step.fn], work=work)

    b.for_kinds(current, emit)


def lower_split(step: Split, b: Builder, current: FrontierState) -> None:
    """A phase with two appends: to the next queue, and to the pile unless it holds the element already."""
    next_scan = b.next_scan
    b.frontiers.sparse(current)
    pile_kind = b.pile(step.rest)

    def emit(kind: str) -> None:
        if kind != pile_kind:
            b.leave("WRONG_KIND")
            return
        given = frontier(b, current, kind)
        keep = calling(b, step.fn, kind, given)
        given["out"], scanned = output(b, current, kind, next_scan)
        given["pile"] = pile(b, step.rest, kind, "local_pile")
        made = b.kernel(step.fn.__name__, splitting, given, keep=keep, scanned=scanned, both=step.both)
        held = b.state[f"held:{step.rest}"]
        more = Assign(held, held + Counter("PILE_COUNT"))
        after = [*b.frontiers.produced(current, kind, next_scan if scanned else ""), more]
        b.phase(made, after, step.title(), [step.fn], work=b.work_on(current.count, step.fn))

    b.for_kinds(current, emit)


def pile(b: Builder, name: str, kind: str, own: str) -> Call:
    """A pile, and the worker's own array for it."""
    return Call(
        "Pile",
        pointer(b.layout.element(kind), b.state[f"pile:{name}"]),
        b.state[f"held:{name}"],
        pointer("int32", b.state[f"stamps:{name}"]),
        b.state[f"epoch:{name}"],
        b.local_array(own),
    )


def lower_reduce(step: Reduce, b: Builder, current: FrontierState) -> None:
    """A phase in which every worker reduces its share, and a decision that combines the shares in order."""
    constants = combining(b, step.reduction, b.layout.dtype(step.into))

    def emit(kind: str) -> None:
        counted = kind == "count"
        given = {"total": b.count_over(step.over)} if counted else frontier(b, current, kind)
        rows = bool(step.row_field)
        value = calling(b, step.fn, kind, given, VALUE, rows)
        if rows:
            given["width"] = columns(b, step.row_field)
        if constants["real"]:
            given["F"] = FLOATS
        made = b.kernel(step.fn.__name__, reducing, given, value=value, counted=counted, rows=rows, **constants)
        work = b.work_on(given["total"], step.fn) * max(b.width(step.row_field), 1)
        reduce_by(b, made, step.reduction, step.into, f"reduce: {step.op}", step.fn, work)

    if step.counted:
        emit("count")
        return
    b.frontiers.sparse(current)
    b.for_kinds(current, emit)


def reduce_by(b: Builder, call: Call, made: Reduction, into: str, title: str, fn: Functor, work: Expr) -> None:
    """Add a phase in which workers keep results, and bring these together in the order of workers, into a scalar."""
    dtype = b.layout.dtype(into)
    real = made.real(np.dtype(dtype))
    if made.runtime:
        b.phase(call, [b.assign(into, total(SLOT, made.name, dtype, real))], title, [fn], work=work)
        return
    before = b.variable("before")
    b.phase(call, [Assign(before, SLOT)], title, [fn], work=work)
    # A user's function may raise: in a phase the workers learn of it, and leave together.
    given: dict[str, Value] = {"before": before, "F": FLOATS if real else 0}
    constants: dict[str, Constant] = {
        "join": join_of(b, made, dtype), "identity": made.start(np.dtype(dtype)).item(), "real": real,
    }  # fmt: skip
    joined = b.kernel(f"combine_{made.combine.__name__}", bringing, given, **constants)
    function, memory = ("kept_float", FLOATS) if real else ("kept_int", WORDS)
    after, title = [b.assign(into, Call(function, memory, SLOT, 0))], f"combine the {b.sharers}' results: {made.name}"
    b.phase(joined, after, title, work=work)


def total(slot: Var, op: str, dtype: str, real: bool) -> Call:
    """Combine the workers' results of a phase."""
    function, memory = ("combined_float", FLOATS) if real else ("combined_int", WORDS)
    return Call(function, memory, slot, WORKERS, Var(REDUCTIONS[op].runtime), identity_of(op, dtype))
