"""The host's walk through a program whose steps are divided among the members of a group.

Members are the GPUs of a process, or parts, of which a process has one or several. Each has a copy of the problem, and
a backend that runs steps on it. Loops, conditions and scalars are the same for all, so that all decide alike. A step
that may be divided runs on each member's own elements. Then members bring together what they have changed, in their
order (:mod:`frontier.distributed.merge`). Other steps run as a whole.

A subclass says what its members have, and how they hand it to each other.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from frontier import tracing
from frontier.backends.python.interpreter import Context
from frontier.program.frontiers import Frontier
from frontier.program.step import captures_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from frontier.distributed.merge import Change
    from frontier.memory.base import Memory
    from frontier.memory.placement import Computing
    from frontier.program.problem import Problem
    from frontier.program.step import Operator, Step

__all__ = ["DividedWalk", "MemberRun", "Outcome", "merge_scalars", "owned"]


class DividedWalk(Context, ABC):
    """The interpreter's walk, with steps divided among members."""

    def _one(self, step: Operator, f: Any) -> Any:
        if step.divides and isinstance(f, Frontier):
            return self._divided(step, f)
        if all(place == "scalars" for _, place in step.functors()):
            return self._on_host(step, f)
        return self._whole(step, f)

    @abstractmethod
    def _divided(self, step: Operator, f: Frontier) -> Frontier:
        """Run a step on the members' own elements, and bring together what it has changed: the next frontier."""

    @abstractmethod
    def _whole(self, step: Operator, f: Any) -> Any:
        """Run a step that is not divided."""

    def _on_host(self, step: Operator, f: Any) -> Any:
        """Run a step that looks at no elements: it sets scalars, or exchanges fields."""
        return step.interpret(self, f)


class MemberRun:
    """One member's run of a step on its copy of the problem.

    Attributes
    ----------
    execution : Execution
    preparing, computing : float
        Seconds that it took to begin, and to run.

    ``acting`` are the member's rank and the number of the pass, for traces.
    """

    def __init__(
        self, backend: Computing, step: Step, p: Problem, f: Frontier | None, schedule: Any, acting: tuple[int, int]
    ) -> None:
        captures_of(step)  # which backends that compile expect to be known
        self._acting, self.computing, begun = acting, 0.0, time.perf_counter()
        with self._traced():
            self.execution: Any = backend.start(step, p, f, schedule)
        self.preparing = time.perf_counter() - begun

    def finish(self) -> Any:
        """Run it to its end; the next frontier."""
        begun = time.perf_counter()
        with self._traced():
            while not self.execution.done:
                self.execution.proceed()
        self.computing = time.perf_counter() - begun
        return self.execution.frontier

    def _traced(self) -> AbstractContextManager[None]:
        return tracing.acting_as(*self._acting) if tracing.active() else nullcontext()


@dataclass
class Outcome:
    """What a step has done on one member.

    Attributes
    ----------
    frontier : Frontier or None
        The next one; None if the step passes its own through.
    piles : dict
        Those that it fills.
    scalars : list
        Those into which it reduces.
    changed : dict of str to Change
        Of fields that are merged: the elements that have changed, and their values.
    owned : dict of str to Change
        Of fields that only owners write: elements of the member, and their values.
    """

    frontier: Any
    piles: dict[str, Frontier] = field(default_factory=dict)
    scalars: list[Any] = field(default_factory=list)
    changed: dict[str, Change] = field(default_factory=dict)
    owned: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, p: Problem, step: Step, frontier: Frontier | None, changed: dict[str, Change]) -> Outcome:
        """Return that of a step which has run on a member's copy of a problem."""
        scalars = [p.scalars[name].copy() for name, _ in step.partial()]
        return cls(frontier, {name: p.piles[name] for name in step.fills()}, scalars, changed)


def merge_scalars(p: Problem, step: Step, told: Sequence[Sequence[Any]], plain: Callable[..., Any]) -> None:
    """Set the scalars into which a step reduces to what all members have got, each in the order of scalars.

    ``plain`` makes functions of registered reductions callable.
    """
    for at, (name, reduction) in enumerate(step.partial()):
        scalar = p.scalars[name]
        scalar[0] = reduction.merged([each[at][0] for each in told], scalar.dtype, plain)


def owned(f: Frontier, bounds: Sequence[int], memory: Memory) -> Any:
    """Return the elements of a frontier that a member owns, who owns a range; they lie in its memory."""
    first, end = bounds
    if f.is_all:
        return memory.xp.arange(first, end, dtype=f.id_dtype)
    ids = f.ids
    return ids[(ids >= first) & (ids < end)]
