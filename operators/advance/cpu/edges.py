"""The code of a push for one edge on the CPU, and the code with which the phases of all balances end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frontier.functors.functor import arguments
from frontier.lowering.frontier_state import HOW
from frontier.lowering.inputs import Buffer
from frontier.lowering.ir import Call, Counter, Expr, Value, cast
from frontier.lowering.kernels import Callee, Constant, Made
from frontier.lowering.variables import EPOCH
from frontier.operators.elementwise.cpu import appending, ending, output
from frontier.operators.shared.phases import slot_of_edge, visited, walked, weight_of_edge

if TYPE_CHECKING:
    from frontier.backends.cpu.atomics import truth
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.advance import Advance

__all__ = ["Edge", "finish", "nothing", "visiting"]


def visiting(
    visit: Callee,
    where: Callee,
    put: Callee,
    renumbered: bool,
    weighted: bool,
    placed: bool,
    edge: bool,
) -> Callable[..., Any]:
    """Return a function that visits edge ``k`` of ``x`` if the condition holds, and appends what is accepted.

    ``placed``: weights are read by the edge's place, not by its slot, as lists sorted by weight have them.
    """
    every, appends = where is None, put is not None
    slot_at, weight_at = slot_of_edge(renumbered), weight_of_edge(weighted)

    def visit_edge(p, C, slot, lists, out, fill, before, x, k):
        far = np.int64(lists.ends[k])
        e = slot_at(lists, k)
        weight = weight_at(lists, k if placed else e)
        if every or truth(where(p, C, slot, far)):
            if appends:
                if truth(visit(p, C, slot, x, far, e, weight)):
                    fill, before = put(C, slot, out, fill, before, e if edge else far)
            else:
                visit(p, C, slot, x, far, e, weight)
        return fill, before

    return visit_edge


def nothing() -> Callable[..., Any]:
    """Return the function called at the end of a phase that appends nothing."""

    def end(C, slot, out, fill, before):
        pass

    return end


class Edge(NamedTuple):
    """The parts that all phases of a push share.

    Attributes
    ----------
    visit, put, end : Made
        What visits an edge; appends an item, once; appends what is left.
    lists, out : Call
        Parameters.
    scanned : bool
        Whether the next queue gets a scan.
    """

    visit: Made
    put: Made | None
    end: Made
    lists: Call
    out: Value
    scanned: bool

    @classmethod
    def of(cls, step: Advance, b: Builder, target: FrontierState, next_scan: str) -> Edge:
        """Make the parts for one step."""
        near = "src" if step.far == "dst" else "dst"
        names = arguments(step.fn, "edge")
        lists, constants = visited(b, step.edges, names, step.output == "edge", step.stop is not None)
        put, end, scanned = None, Made(nothing), False
        out: Value = 0
        if step.output is not None:
            stamped = step.output == "vertex" and step.unique != "claimed"
            stamps = (b.array("stamps", Buffer("vertex_stamps"), "int32"), cast("int32", EPOCH)) if stamped else ()
            out, scanned = output(b, target, step.output, next_scan, *stamps)
            put, end = Made(appending, {"scanned": scanned, "stamped": stamped}), Made(ending, {"scanned": scanned})
        given: dict[str, Constant] = {
            "visit": b.calling(step.fn, "edge", (near, step.far, "edge", "weight")),
            "where": b.calling(step.where, step.far, (step.far,)) if step.where is not None else None,
            "put": put,
            **constants,
            "edge": step.output == "edge",
        }
        return cls(Made(visiting, given), put, end, lists, out, scanned)


def finish(
    step: Advance, b: Builder, made: Call, target: FrontierState, next_scan: str, scanned: bool, seen: Expr, how: int,
    work: Expr | None = None,
) -> None:  # fmt: skip
    """The phase itself: stamps of its own, then what it has produced and held.

    ``seen``, the number of edges visited, and ``how``, as on a GPU, are for the trace. ``source.edges`` is that number
    only for a balance that is registered as ``scanned``; others count in their kernels: ``Counter("EXAMINED")``.
    """
    if step.output == "vertex" and step.unique != "claimed":
        b.set(EPOCH, EPOCH + 1)
    after = walked(how, seen)
    if step.output is not None:
        after += b.frontiers.produced(target, step.output, next_scan if scanned else "")
    if step.held is not None:
        after.append(b.assign(step.held, Counter("PILE_COUNT")))
    functors = [step.fn, step.where, step.hold, step.stop]
    b.phase(made, after, f"push along {step.edges}-edges ({HOW[how][1]})", functors, work=work)
