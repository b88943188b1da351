"""Lowering of Advance: which phases run, and the choice between push and pull.

The phases are in ``cpu/`` and ``cuda/``: ``kernels(b, "advance")`` is that of these folders that the program's backend
has. For a push its function ``push``, in ``balance.py``, chooses among the balances.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.functors.functor import arguments
from frontier.lowering.frontier_state import QUEUE, form
from frontier.lowering.inputs import HasInLists
from frontier.lowering.ir import Resume, equal, no
from frontier.operators.advance import lists as _lists  # noqa: F401 - inputs of programs
from frontier.operators.advance.switch import beamer
from frontier.operators.shared.kernels import kernels
from frontier.program.registered import registered_switch

if TYPE_CHECKING:
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.advance import Advance

__all__ = ["lower"]


def lower(step: Advance, b: Builder, current: FrontierState) -> None:
    """Add the phases of an advance over vertices, or over the far ends of edges.

    The phases read the frontier ``source`` and write to ``current``. Both are the same state, unless the frontier has
    edges: then ``source`` is the set of their far ends.
    """
    next_scan, before = b.next_scan, current.kinds  # next_scan: the prefix sum of degrees that the next step wants

    def emit(kind: str) -> None:
        source = current if kind == "vertex" else _far_ends(step, b, current)
        if step.edges == "in":
            b.needs_in = True
        if step.part is not None or step.hold is not None or step.stop is not None or step.keep is not None:
            with b.locally(step, current):
                b.frontiers.sparse(source)
                kernels(b, "advance").part(step, b, source, current, next_scan)
        elif not step.may_pull(b.schedule) or (b.low_degree and b.schedule.direction == "auto"):
            _push(step, b, source, current, next_scan)
        elif b.schedule.direction == "pull":
            _pull(step, b, source, current)
        else:
            _choose(step, b, source, current, next_scan)
        current.kinds = before

    b.for_kinds(current, emit)


def _push(step: Advance, b: Builder, source: FrontierState, target: FrontierState, next_scan: str) -> None:
    """Push by the schedule's balance."""
    kernels(b, "advance").push(step, b, source, target, next_scan)


def _pull(step: Advance, b: Builder, source: FrontierState, target: FrontierState) -> None:
    if step.edges == "out":
        numbers = _needs_edges(step, b)
        has = b.input("has_in_edges" if numbers else "has_in", HasInLists(numbers), "has_in_edges")
        b.add(Resume())  # once the lists are there
        with b.when(equal(has, 0)):
            b.leave("NEED_IN_EDGES")
    with b.locally(step, target, "pull"):
        kernels(b, "advance").pull(step, b, source, target)


def _needs_edges(step: Advance, b: Builder) -> bool:
    """Whether the out-edge slots of in-edges are needed."""
    names = arguments(step.fn, "edge")
    return step.edges == "out" and ("edge" in names or ("weight" in names and not b.layout.mirrored))


def _choose(step: Advance, b: Builder, source: FrontierState, target: FrontierState, next_scan: str) -> None:
    """Push or pull, as the schedule's rule decides in every pass."""
    pulls = (registered_switch(b.schedule.switch) or beamer)(step, b, source)
    with b.when(no(pulls)) as branch:
        _push(step, b, source, target, next_scan)
    with b.otherwise(branch), b.defer():
        _pull(step, b, source, target)


def _far_ends(step: Advance, b: Builder, current: FrontierState) -> FrontierState:
    """The set of the far ends of a frontier of edges, in a frontier of its own."""
    made = b.frontiers.new()
    made.kinds = frozenset({"vertex"})
    b.set(made.form, form(QUEUE))
    b.set(made.side, 0)
    kernels(b, "advance").far_ends(step, b, current, made)
    return made


