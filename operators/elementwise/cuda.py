"""Filter, Split, Compute and Reduce on the GPU: a functor is called once for every element.

A warp takes a chunk of the frontier, up to 32 elements per lane, and appends the accepted elements with one atomic. So
the next queue is written without a scan and without duplicates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.compile.argument_tuples import Queue
from frontier.lowering.ir import Assign, Call, Counter, Value, cast
from frontier.lowering.kernels import Callee, Constant
from frontier.lowering.phases import VALUE
from frontier.lowering.variables import FLOATS, pointer
from frontier.operators.shared.cuda import collecting, keeping, reduce_by
from frontier.operators.shared.phases import calling, elements

if TYPE_CHECKING:
    from frontier.backends.cuda.device.appends import append_chunk, append_pile, chunk, element_at, marked
    from frontier.backends.cuda.device.machine import truth
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.elementwise.compute import Compute
    from frontier.operators.elementwise.filter import Filter
    from frontier.operators.elementwise.reduce import Reduce
    from frontier.operators.elementwise.split import Split

__all__ = [
    "appending", "lower_compute", "lower_filter", "lower_reduce", "lower_split", "pile", "queue_of",
]  # fmt: skip

# ---- kernels ---------------------------------------------------------------------------------------------


def computing(call: Callee, counted: bool = False, width: int = 1, rows: bool = False) -> Callable[..., Any]:
    """Calls the functor for every element; a thread takes every W-th. ``counted``: elements are the numbers from 0.

    With ``rows`` it is called for each of the ``width`` values of an element; neighbouring threads take neighbouring
    values.
    """

    def phase(p, C, slot, w, W, everything, queue, total, edges):
        i = w
        while i < total * width:
            if rows:
                call(p, C, slot, element_at(queue, everything, i // width), i % width, edges)
            else:
                call(p, C, slot, i if counted else element_at(queue, everything, i), edges)
            i += W

    return phase


def filtering(keep: Callee, big: bool, mode: int) -> Callable[..., Any]:
    """Appends the elements that are kept."""

    def phase(p, C, slot, w, W, everything, queue, total, edges, out):
        lane = w & 31
        many = chunk(total, W)
        first = (w - lane) * many
        while first < total:
            accepted = np.uint32(0)
            for u in range(many):
                i = first + 32 * u + lane
                if i < total:
                    x = element_at(queue, everything, i)
                    if truth(keep(p, C, slot, x, edges)):
                        accepted = marked(accepted, u)
            append_chunk(C, slot, big, out.queue, out.scan, mode, out.degrees, queue, everything, first, accepted)
            first += W * many

    return phase


def splitting(keep: Callee, big: bool, mode: int, both: bool) -> Callable[..., Any]:
    """Appends the elements that are kept, or all with ``both``; the others to the pile unless it holds them already."""

    def phase(p, C, slot, w, W, everything, queue, total, edges, out, pile):
        lane = w & 31
        many = chunk(total, W)
        first = (w - lane) * many
        while first < total:
            accepted = np.uint32(0)
            aside = np.uint32(0)
            for u in range(many):
                i = first + 32 * u + lane
                if i < total:
                    x = element_at(queue, everything, i)
                    kept = truth(keep(p, C, slot, x, edges))
                    if both or kept:
                        accepted = marked(accepted, u)
                    if not kept and pile.stamps[x] != pile.epoch:
                        pile.stamps[x] = pile.epoch
                        aside = marked(aside, u)
            append_chunk(C, slot, big, out.queue, out.scan, mode, out.degrees, queue, everything, first, accepted)
            append_pile(C, slot, pile.elements, pile.held, queue, everything, first, aside)
            first += W * many

    return phase


def reducing(
    value: Callee, add: Callee, identity: float, real: bool, op: int, join: Callee, counted: bool = False,
    width: int = 1, rows: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """Every block reduces its share, and keeps the result where all blocks can read it."""
    keep = keeping(op, join, real)

    def phase(p, C, slot, w, W, everything, queue, total, edges, F):
        result = np.float64(identity) if real else np.int64(identity)
        i = w
        while i < total * width:
            if rows:
                x = element_at(queue, everything, i // width)
                result = add(C, slot, result, value(p, C, slot, x, i % width, edges))
            else:
                x = i if counted else element_at(queue, everything, i)
                result = add(C, slot, result, value(p, C, slot, x, edges))
            i += W
        keep(C, F, slot, result)

    return phase


# ---- lowering --------------------------------------------------------------------------------------------


def queue_of(b: CudaProgram, current: FrontierState, kind: str, next_scan: str, **more: Value) -> tuple[Call, str]:
    """The queue to which a phase appends, with ``more`` parts of a :class:`Queue`, and which scan it gets, if any.

    ``next_scan`` is the scan that the next step wants; a queue of edges gets none.
    """
    next_scan = b.written(next_scan) if kind == "vertex" else ""
    queue, scan = b.frontiers.target(current, kind)
    made = Call(
        "Queue",
        pointer(b.layout.element(kind), queue),
        pointer(b.layout.offsets, scan),
        b.frontiers.room_left(current, kind),
        b.lists(next_scan or "out")[0],
        *(more.get(name, 0) for name in Queue._fields[4:]),
    )
    return made, next_scan


def appending(b: CudaProgram, next_scan: str) -> dict[str, Constant]:
    """Constants of appends: whether counts and edges need a word each (``big``), and what is written beside the ids.

    The latter (``mode``) is ``NOTHING``, ``PREFIX`` (the prefix sum of degrees) or ``START`` (where each list begins).
    """
    return {"big": b.big, "mode": b.mode_number(next_scan)}


def pile(b: CudaProgram, name: str, kind: str) -> Call:
    """A pile."""
    return Call(
        "Pile",
        pointer(b.layout.element(kind), b.state[f"pile:{name}"]),
        b.state[f"held:{name}"],
        pointer("int32", b.state[f"stamps:{name}"]),
        cast("int32", b.state[f"epoch:{name}"]),
        0,
    )


def columns(b: CudaProgram, field: str) -> dict[str, Constant]:
    """Constants of a step over the values of a field; of other steps, where it has no name."""
    return {"width": b.width(field) or 1, "rows": bool(field)}


def lower_compute(step: Compute, b: CudaProgram, current: FrontierState) -> None:
    """Add a phase that only calls the functor."""
    if step.counted:
        count: dict[str, Value] = {"total": b.count_over(step.over)}
        call = calling(b, step.fn, "count", count)
        b.phase(b.kernel(step.fn.__name__, computing, count, call=call, counted=True), (), "compute", [step.fn])
        return
    b.frontiers.sparse(current)

    def emit(kind: str) -> None:
        given = elements(b, current, kind)
        call = calling(b, step.fn, kind, given, rows=bool(step.row_field))
        made = b.kernel(step.fn.__name__, computing, given, call=call, **columns(b, step.row_field))
        b.phase(made, (), "compute", [step.fn])

    b.for_kinds(current, emit)


def lower_filter(step: Filter, b: CudaProgram, current: FrontierState) -> None:
    """Add a phase that appends the elements for which the functor is true."""
    after = b.next_scan
    b.frontiers.sparse(current)

    def emit(kind: str) -> None:
        given = elements(b, current, kind)
        keep = calling(b, step.fn, kind, given)
        given["out"], next_scan = queue_of(b, current, kind, after)
        made = b.kernel(step.fn.__name__, filtering, given, keep=keep, **appending(b, next_scan))
        b.phase(made, b.frontiers.produced(current, kind, next_scan), "filter: append elements to keep", [step.fn])

    b.for_kinds(current, emit)


def lower_split(step: Split, b: CudaProgram, current: FrontierState) -> None:
    """Add a phase that appends each element to the next queue or to the pile, unless this has it already."""
    after = b.next_scan
    b.frontiers.sparse(current)
    pile_kind = b.pile(step.rest)

    def emit(kind: str) -> None:
        if kind != pile_kind:
            b.leave("WRONG_KIND")
            return
        given = elements(b, current, kind)
        keep = calling(b, step.fn, kind, given)
        given["out"], next_scan = queue_of(b, current, kind, after)
        given["pile"] = pile(b, step.rest, kind)
        made = b.kernel(step.fn.__name__, splitting, given, keep=keep, both=step.both, **appending(b, next_scan))
        held = b.state[f"held:{step.rest}"]
        nodes = [*b.frontiers.produced(current, kind, next_scan), Assign(held, held + Counter("PILE_COUNT"))]
        b.phase(made, nodes, step.title(), [step.fn])

    b.for_kinds(current, emit)


def lower_reduce(step: Reduce, b: CudaProgram, current: FrontierState) -> None:
    """Add a phase in which every block reduces its share, and a decision that combines the results in order."""
    constants = collecting(b, step.reduction, b.layout.dtype(step.into))

    def emit(kind: str) -> None:
        counted = kind == "count"
        given = {"total": b.count_over(step.over)} if counted else elements(b, current, kind)
        more = columns(b, step.row_field) | constants
        value = calling(b, step.fn, kind, given, VALUE, bool(step.row_field))
        if constants["real"]:
            given["F"] = FLOATS
        made = b.kernel(step.fn.__name__, reducing, given, value=value, counted=counted, **more)
        reduce_by(b, made, step.reduction, step.into, f"reduce: {step.op}", step.fn, constants)

    if step.counted:
        emit("count")
        return
    b.frontiers.sparse(current)
    b.for_kinds(current, emit)
