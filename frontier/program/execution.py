"""The class Execution: one run of a step (usually a loop) on a problem, by the backend of its graph.

An execution can stop at any pass boundary and be resumed. An eager call is an execution of one step that is run to its
end at once.
"""

from __future__ import annotations

import contextlib
import copy
from typing import TYPE_CHECKING, Any, Protocol, cast

from frontier.errors import FrontierError, FunctorError
from frontier.memory.disk import reading
from frontier.memory.placement import Computing, Placement, backend_of
from frontier.memory.reuse import kept_by
from frontier.memory.shortage import explained
from frontier.program.effects import effects
from frontier.program.frontiers import Frontier
from frontier.program.layout import Layout
from frontier.program.loop import Loop
from frontier.program.numbering import copy_for, remark, renumbered
from frontier.program.order import expansion
from frontier.program.problem import SIZES, scalar
from frontier.program.schedule import ResolvedSchedule, Schedule
from frontier.program.step import captures_of, check_weights, walk
from frontier.program.taking import Elements, check_problem, frontier_of
from frontier.system.forks import busy

if TYPE_CHECKING:
    from frontier.program.problem import Problem
    from frontier.program.step import Step

__all__ = ["Execution", "explain", "lowered", "run", "start"]


class Execution(Protocol):
    """A run that may be stopped at pass boundaries."""

    @property
    def done(self) -> bool:
        """Whether it has come to its end."""

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
        f = _frontier(p, f)
    elif _needs_frontier(step):
        raise FrontierError(step.lacks())
    if schedule is not None and not isinstance(schedule, Schedule):
        raise _no_schedule(schedule)
    given = _DEFAULT if schedule is None else schedule.resolved()
    kept = kept_by()
    if kept is not None and (again := kept.run_again(step, p, f, given)) is not None:
        repeated: Execution = again
        return repeated
    made = copy_for(step, p, f, given, kept is not None and kept.has(p))
    asked, backend = step, p.graph.placement.backend
    files = p.graph._topology.files() if p.graph.placement.edges is not None else ()
    with busy():
        if not backend.takes_order and _has_order(step):
            step = expansion[0](step, p, given, True)
        _check(step, p)
        with reading(files):
            begun: Execution | None = None
            if made is not None:
                begun = renumbered(step, lambda p, f: backend.start(step, p, f, given), p, f, made)
            if begun is None:
                begun = backend.start(step, p, f, given)
    if kept is not None:
        kept.keep_run(asked, p, f, given, begun)
    return begun


def _has_order(step: Step) -> bool:
    """Whether a program has loops with an order; asked once."""
    known: bool | None = step.__dict__.get("_has_order")
    if known is None:
        known = any(isinstance(part, Loop) and part.order is not None for part in walk(step))
        step.__dict__["_has_order"] = known
    return known


def explain(
    step: Step,
    p: Problem,
    f: Elements | None = None,
    schedule: Schedule | None = None,
    backend: Placement | str | None = None,
) -> str:
    """The program that a step becomes, as pseudo-code; nothing is run or compiled.

    Parameters
    ----------
    step : Step
    p : Problem
    f : Frontier, optional
        As for :func:`start`. Where it is needed and not given, vertices are expected.
    schedule : Schedule, optional
    backend : str or Placement, optional
        Whose program; by default that of the graph's backend.

    Raises
    ------
    FrontierError
        If the step does not suit the problem, or the backend makes no programs.
    """
    kind = None
    if f is not None:
        f = _frontier(p, f)
        kind = f.kind
    elif _needs_frontier(step):
        kind = "vertex"
    if schedule is not None and not isinstance(schedule, Schedule):
        raise _no_schedule(schedule)
    chosen = p.graph.placement.backend if backend is None else backend_of(backend)
    given = _DEFAULT if schedule is None else schedule.resolved()
    numbering = remark(step, p, f, given)
    p = _stand_in(p, chosen)
    asked, step = step, _without_order(step, p, given)
    _check(step, p)
    text: str = chosen.program(step, p, kind, given).explained()
    if numbering:
        text = f"# {numbering}\n{text}"
    if _has_order(asked):
        text = "".join(f"# {remark}\n" for remark in expansion[1](asked, p, given)) + text
    if chosen.interprets:
        text = f"# The {chosen.name} backend takes the steps one by one; compiled, they become:\n#\n{text}"
    return text


def lowered(step: Step, p: Problem, schedule: Schedule | None, backend: Computing) -> Any:
    """The program that a backend makes of a step, which is not checked; fields need no arrays.

    Parameters
    ----------
    step : Step
        One that needs no frontier to start with.
    p : Problem
    schedule : Schedule, optional
    backend : Backend
    """
    given = _DEFAULT if schedule is None else schedule.resolved()
    return backend.program(_without_order(step, p, given), p, None, given)


def _without_order(step: Step, p: Problem, schedule: ResolvedSchedule) -> Step:
    """The step as backends lower it; what its loops with an order need is added to the problem."""
    made: Step = expansion[0](step, p, schedule) if _has_order(step) else step
    return made


def _stand_in(p: Problem, backend: Computing) -> Problem:
    """The problem as a backend would have it, with the same arrays; what is added to it or set, the other is spared."""
    made = copy.copy(p)
    there = p.graph.placement
    stores = {name: dict(store) for name, store in vars(p).items() if isinstance(store, dict)}
    stores["scalars"] = {name: value.copy() for name, value in p.scalars.items()}
    graph = p.graph.to(Placement(backend, there.memory, there.edges))
    vars(made).update(stores, graph=graph, workspace={})
    return made


def _frontier(p: Problem, f: Elements) -> Frontier:
    """Convert an argument to a frontier, and check that it belongs to the problem's graph."""
    if not isinstance(f, Frontier):
        f = frontier_of(p, f)
        assert isinstance(f, Frontier)
    f.check(p.graph)
    return f


def _no_schedule(given: object) -> FrontierError:
    return FrontierError(f"schedule={given!r}: make one with fr.Schedule, as fr.Schedule(direction='push')")


def _needs_frontier(step: Step) -> bool:
    """Whether a step needs one to start with; cached, because it visits all inner steps."""
    known: bool | None = step.__dict__.get("_needs_frontier")
    if known is None:
        known = step.__dict__["_needs_frontier"] = step.needs_frontier()
    return known


def _check(step: Step, p: Problem) -> None:
    """Check a step once for all problems that are alike, as long as its functors take the same from outside."""
    captures = captures_of(step)
    for name in _sizes(step, captures):
        if name not in p.fields:  # a field of that name goes first
            p._add({name: scalar("int64", getattr(p.graph, name))})
    layout = Layout.of(p)
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


def _sizes(step: Step, captures: Any) -> tuple[str, ...]:
    """Sizes of the graph that functors of a step read; found once, as long as they take the same from outside."""
    known: Any = step.__dict__.get("_sizes")
    if known is None or known[0] is not captures:
        named: set[str] = set()
        for part in walk(step):
            for fn, _ in part.functors():
                with contextlib.suppress(FunctorError):  # which the check says
                    named |= set() if captures.refused else effects(fn).fields
        known = step.__dict__["_sizes"] = (captures, tuple(name for name in SIZES if name in named))
    found: tuple[str, ...] = known[1]
    return found


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
        return cast(Frontier, execution.frontier)
    except MemoryError as error:
        raise explained(error, f"running {step!r}") from None
