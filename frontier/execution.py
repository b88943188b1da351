"""Execution: one run of a step (usually a loop) on a problem, by the backend of its graph.

An execution can stop at any pass boundary and go on; an eager call is an execution of one step
that is run to its end at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from frontier.errors import FrontierError
from frontier.frontiers import Frontier
from frontier.loop import Loop
from frontier.lowering.layout import Layout
from frontier.memory.shortage import explained
from frontier.order import expansion
from frontier.schedule import ResolvedSchedule, Schedule
from frontier.step import captures_of, check_weights, walk
from frontier.taking import Elements, check_problem, frontier_of

if TYPE_CHECKING:
    from frontier.problem import Problem
    from frontier.step import Step

__all__ = ["Execution", "run", "start"]


class Execution(Protocol):
    """A run that may be stopped at pass boundaries."""

    done: bool

    @property
    def passes(self) -> int:
        """Passes of all loops begun so far."""

    @property
    def frontier(self) -> Frontier | None:
        """The current frontier; after the end, what the step gave. None where the step has none."""

    def proceed(self, passes: int | None = None) -> int:
        """Go on for at most so many passes (to the end by default); how many were begun.

        Ctrl-C raises KeyboardInterrupt at a pass boundary and leaves the execution resumable.
        """


def start(
    step: Step, p: Problem, f: Elements | None = None, schedule: Schedule | None = None
) -> Execution:
    """Begin to run a step on a problem.

    Parameters
    ----------
    step : Step
    p : Problem
    f : Frontier, optional
        The current frontier, or a list of ids or a mask; needed unless the step has its own.
    schedule : Schedule, optional

    Raises
    ------
    FrontierError
        If the step does not suit the problem, or the frontier is of another graph.
    """
    if f is not None:
        if not isinstance(f, Frontier):
            f = frontier_of(p, f)
            assert isinstance(f, Frontier)
        f.check(p.graph)
    elif _needs_frontier(step):
        raise FrontierError(step.lacks())
    if schedule is not None and not isinstance(schedule, Schedule):
        raise FrontierError(f"schedule={schedule!r}: make one with fr.Schedule, as fr.Schedule(direction='push')")
    given = _DEFAULT if schedule is None else schedule.resolved()
    backend = p.graph.placement.backend
    if not backend.interprets and _has_order(step):
        step = expansion[0](step, p, given)
    _check(step, p)
    begun: Execution = backend.start(step, p, f, given)
    return begun


def _has_order(step: Step) -> bool:
    """Whether a program has loops with an order; asked once."""
    known: bool | None = step.__dict__.get("_has_order")
    if known is None:
        known = any(isinstance(part, Loop) and part.order is not None for part in walk(step))
        step.__dict__["_has_order"] = known
    return known


def _needs_frontier(step: Step) -> bool:
    """Whether a step needs one to start with; asked once, for it goes through the steps inside it."""
    known: bool | None = step.__dict__.get("_needs_frontier")
    if known is None:
        known = step.__dict__["_needs_frontier"] = step.needs_frontier()
    return known


def _check(step: Step, p: Problem) -> None:
    """Check a step once for all problems that are alike, as long as its functors take the same from outside."""
    captures, layout = captures_of(step), Layout.of(p)
    interprets = p.graph.placement.backend.interprets
    known = step.__dict__.setdefault("_checked_to_interpret" if interprets else "_checked", {})
    if known.get(layout) is captures:
        return
    lasting = True
    for part in walk(step):
        part.check(p)
        check_weights(p, part)
        lasting = lasting and not part.measures
    if lasting or not any(kind == "array" for _, kind, _ in layout.fields):
        known[layout] = captures


_DEFAULT = ResolvedSchedule()


def run(step: Step, p: Problem, f: Elements | None = None, schedule: Schedule | None = None) -> Frontier:
    """Run a step on a problem to its end: the next frontier (``f`` itself where it is unchanged).

    An equal step that ran on the problem before is taken instead, for its compiled code is known.
    """
    check_problem(p, step)
    step = p.workspace.setdefault(("step", step.key()), step)
    try:
        execution = start(step, p, f, schedule)
        while not execution.done:
            execution.proceed()
        found: Any = execution.frontier
        return found  # type: ignore[no-any-return]
    except MemoryError as error:
        raise explained(error, f"running {step!r}") from None
