"""Gather on the CPU: one worker processes a vertex and visits its edges in order, so no atomics are needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.cpu.runtime_words import LINE
from frontier.compile.keys import LAST
from frontier.errors import FrontierError
from frontier.lowering.frontier_state import PULL, PUSH_THREAD
from frontier.lowering.inputs import WorkerArray, WorkerTable
from frontier.lowering.ir import Counter
from frontier.lowering.kernels import Callee
from frontier.lowering.variables import WORKER, pointer
from frontier.operators.elementwise.cpu import columns
from frontier.operators.gather.cpu_mode import counting
from frontier.operators.gather.phases import gathering_edges
from frontier.operators.shared.cpu_walks import over_list, over_part, over_vertices
from frontier.operators.shared.phases import frontier, nearer, walked
from frontier.operators.shared.reductions import MODE

if TYPE_CHECKING:
    from frontier.backends.cpu.atomics import truth
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.gather import Gather

__all__ = ["lower"]

#: Edges from which on a list is long. Each addition of floats takes some cycles and waits for the one before, so along
#: a long list four results grow side by side; for a shorter one the choice costs more than it saves.
LONG = 8


def gathering(
    value: Callee,
    where: Callee,
    renumbered: bool,
    weighted: bool,
    add: Callee,
    identity: float,
    real: bool,
    flag: bool,
    abreast: bool,
) -> Callable[..., Any]:
    """The reduction of the values of a vertex's edges into a field, a bool if ``flag``.

    With ``abreast`` four results of a long list grow side by side, each of every fourth edge.
    """
    vertices, edges = over_vertices(), over_part(where, renumbered, weighted)

    def more(p, C, slot, lists, x, k, result):
        for far, e, weight in edges(p, C, slot, lists, k, k + 1):
            result = add(C, slot, result, value(p, C, slot, x, far, e, weight))
        return result

    def phase(p, C, slot, w, W, everything, queue, total, lists, into):
        for x in vertices(C, slot, w, W, everything, queue, total, lists):
            result = np.float64(identity) if real else np.int64(identity)
            k, end = np.int64(lists.offsets[x]), np.int64(lists.offsets[x + 1])
            if abreast and end - k >= LONG:
                second, third, fourth = np.float64(identity), np.float64(identity), np.float64(identity)
                while k + 4 <= end:
                    result = more(p, C, slot, lists, x, k, result)
                    second = more(p, C, slot, lists, x, k + 1, second)
                    third = more(p, C, slot, lists, x, k + 2, third)
                    fourth = more(p, C, slot, lists, x, k + 3, fourth)
                    k += 4
                result = add(C, slot, add(C, slot, result, second), add(C, slot, third, fourth))
            for far, e, weight in edges(p, C, slot, lists, k, end):
                result = add(C, slot, result, value(p, C, slot, x, far, e, weight))
            into[x] = truth(result) if flag else result

    return phase


def finding(
    value: Callee, where: Callee, renumbered: bool, weighted: bool, op: str
) -> Callable[..., Any]:
    """The far end of a vertex's edge with the least (greatest) value, of several the smallest; -1 without edges."""
    vertices, edges = over_vertices(), over_list(where, renumbered, weighted)
    nearest = nearer(op)

    def phase(p, C, slot, w, W, everything, queue, total, lists, into):
        for x in vertices(C, slot, w, W, everything, queue, total, lists):
            best, result = LAST, LAST
            for far, e, weight in edges(p, C, slot, lists, x):
                best, result = nearest(best, result, value(p, C, slot, x, far, e, weight), far)
            into[x] = result if result != LAST else -1

    return phase


def gathering_rows(
    value: Callee,
    where: Callee,
    renumbered: bool,
    weighted: bool,
    add: Callee,
    identity: float,
    real: bool,
    flag: bool,
) -> Callable[..., Any]:
    """The same for a field with several values: an edge is visited once, and adds to all of them, in ``row``."""
    vertices, edges = over_vertices(), over_list(where, renumbered, weighted)

    def phase(p, C, slot, w, W, everything, queue, total, lists, into, row, width):
        for x in vertices(C, slot, w, W, everything, queue, total, lists):
            for c in range(width):
                row[c] = np.float64(identity) if real else np.int64(identity)
            for far, e, weight in edges(p, C, slot, lists, x):
                for c in range(width):
                    row[c] = add(C, slot, row[c], value(p, C, slot, x, far, e, weight, c))
            for c in range(width):
                into[x * width + c] = truth(row[c]) if flag else row[c]

    return phase


def lower(step: Gather, b: Builder, current: FrontierState) -> None:
    """A phase over pieces of the frontier."""
    if current.kinds != {"vertex"}:
        raise FrontierError("Gather runs over a frontier of vertices")
    b.frontiers.sparse(current)
    given = frontier(b, current, "vertex")
    if step.edges == "in":
        b.needs_in = True
    given["into"] = b.field(step.into)
    given["lists"], constants = gathering_edges(step, b)
    factory: Callable[..., Any] = finding
    if step.op == MODE:
        factory = counting
        size = b.input(f"table_size_{step.edges}", WorkerTable("size", step.edges), "slots of a worker's table")
        first = b.input(f"tables_{step.edges}", WorkerTable("all", step.edges))
        given["table"] = pointer("int64", first + WORKER * (16 * size))
    elif step.rows:
        factory = gathering_rows
        width = b.width(step.into)
        each = -(-width // LINE) * LINE  # whole lines of the cache, which no other worker writes
        given["width"] = columns(b, step.into)
        first = b.input(f"row_{each}", WorkerArray("row", each), "values of each worker's vertex")
        given["row"] = pointer("float64" if constants["real"] else "int64", first + WORKER * (8 * each))
    elif step.reduction is not None:
        factory = gathering
        constants["abreast"] = bool(constants["real"] and step.reduction.runtime)
    b.phase(
        b.kernel(step.fn.__name__, factory, given, **constants),
        walked(PULL if step.edges == "in" else PUSH_THREAD, Counter("EXAMINED")),
        f"gather along {step.edges}-edges: {step.op}",
        [step.fn, step.where],
        [step.into],
        work=b.work_on(current.count, step.fn, edges=True) * max(b.width(step.into), 1),
    )
