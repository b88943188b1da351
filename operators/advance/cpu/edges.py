"""The code of a push for one edge on the CPU, and the code with which the phases of all balances end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frontier.functors.functor import arguments
from frontier.lowering.frontier_state import HOW
from frontier.lowering.inputs import Derived
from frontier.lowering.ir import Assign, Call, Counter, Expr, Value, either, equal
from frontier.lowering.kernels import Callee, Constant, Made
from frontier.lowering.variables import EPOCH, WORKERS
from frontier.operators.elementwise.cpu import appending, ending, output, pile, setting_aside, stamps
from frontier.operators.shared.phases import slot_of_edge, visited, walked, weight_of_edge

if TYPE_CHECKING:
    from frontier.backends.cpu.atomics import truth
    from frontier.backends.cpu.runtime import flush_pile
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
    keep: Callee = None,
    put_aside: Callee = None,
) -> Callable[..., Any]:
    """Return a function that visits edge ``k`` of ``x`` if the condition holds, and appends what is accepted.

    ``placed``: weights are read by the edge's place, not by its slot, as lists sorted by weight have them. What
    ``keep`` refuses is put aside instead; ``before`` is then how much of that the worker's own array holds.
    """
    every, appends, parts = where is None, put is not None, keep is not None
    slot_at, weight_at = slot_of_edge(renumbered), weight_of_edge(weighted)

    def visit_edge(p, C, slot, lists, out, fill, before, x, k):
        far = np.int64(lists.ends[k])
        e = slot_at(lists, k)
        weight = weight_at(lists, k if placed else e)
        if every or truth(where(p, C, slot, far)):
            if appends:
                if truth(visit(p, C, slot, x, far, e, weight)):
                    if parts and not truth(keep(p, C, slot, far)):
                        before = put_aside(C, slot, out.pile, out.alone, before, far)
                    else:
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


def parted(end: Callee) -> Callable[..., Any]:
    """Return the function called at the end of a phase that puts some of what it accepts aside."""

    def end_both(C, slot, out, fill, before):
        end(C, slot, out, fill, 0)
        flush_pile(C, slot, out.pile.elements, out.pile.held, out.pile.ids, before)

    return end_both


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
    def of(
        cls, step: Advance, b: Builder, target: FrontierState, next_scan: str, source: FrontierState | None = None
    ) -> Edge:
        """Make the parts for one step; ``source`` is given if it may put vertices aside."""
        near = "src" if step.far == "dst" else "dst"
        names = arguments(step.fn, "edge")
        lists, constants = visited(b, step.edges, names, step.output == "edge", step.stop is not None)
        put, end, scanned = None, Made(nothing), False
        out: Value = 0
        if step.output is not None:
            stamped = step.output == "vertex" and step.unique != "claimed"
            more = stamps(b) if stamped else {}
            if step.split is not None:
                next_scan = ""
                more |= _aside(step, step.split.rest, b, source, target)
            out, scanned = output(b, target, step.output, next_scan, **more)
            put, end = Made(appending, {"scanned": scanned, "stamped": stamped}), Made(ending, {"scanned": scanned})
            if step.split is not None:
                end = Made(parted, {"end": end})
        given: dict[str, Constant] = {
            "visit": b.calling(step.fn, "edge", (near, step.far, "edge", "weight")),
            "where": b.calling(step.where, step.far, (step.far,)) if step.where is not None else None,
            "put": put,
            **constants,
            "edge": step.output == "edge",
        }
        if step.keep is not None:
            given |= {"keep": b.calling(step.keep, "vertex", ("v",)), "put_aside": Made(setting_aside)}
        return cls(Made(visiting, given), put, end, lists, out, scanned)


def _aside(
    step: Advance, rest: str, b: Builder, source: FrontierState | None, target: FrontierState
) -> dict[str, Value]:
    """The pile, and with ``unique="cull"`` whether the next frontier has room for all far ends, each as often as it is.

    The pile never holds a vertex twice: it may have to hold all others later, before it is taken.
    """
    assert source is not None
    b.pile(rest)
    made: dict[str, Value] = {"pile": pile(b, rest, "vertex", "local_pile")}
    if step.unique == "cull":
        most = b.input("max_degree", Derived("max_degree", "out"), "the largest degree")
        made["plainly"] = either(equal(WORKERS, 1), source.count * most <= b.frontiers.room_left(target, "vertex"))
    return made


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
    if step.split is not None:
        held = b.state[f"held:{step.split.rest}"]
        after.append(Assign(held, held + Counter("PILE_COUNT")))
    functors = [step.fn, step.where, step.hold, step.stop, step.keep]
    b.phase(made, after, f"push along {step.edges}-edges ({HOW[how][1]})", functors, work=work)
