"""A run on several parts that are threads of one process, or on several GPUs of one, each with fields of its own."""

from __future__ import annotations

import copy
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier import tracing
from frontier.distributed.ranks.changes import stays
from frontier.distributed.ranks.execution import Part, placed
from frontier.distributed.transport.communicators import Ended

if TYPE_CHECKING:
    from frontier.distributed.ranks.step_problem import StepProblem
    from frontier.distributed.transport.communicators import Communicator
    from frontier.memory.placement import Placement
    from frontier.program.frontiers import Frontier
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["Group"]

#: Seconds that parts have to end when one has failed.
GRACE = 5.0


class Group:
    """A run on several parts that are threads of this process, each with fields of its own.

    Parameters
    ----------
    step : Step
    problems : list of StepProblem
        Of each part; the first has the fields that users see.
    f : Frontier or None
    schedule : ResolvedSchedule
    members : list of Communicator
    rows : int
        Of the grid in which the parts lie.
    """

    def __init__(
        self, step: Step, problems: list[StepProblem], f: Frontier | None, schedule: ResolvedSchedule, members: Any,
        rows: int = 1,
    ) -> None:  # fmt: skip
        self._members = members
        traced = tracing.active()
        self._parts = [
            Part(step, each, f, schedule, member, traced, rows)
            for each, member in zip(problems, members, strict=True)
        ]

    @classmethod
    def of(
        cls, step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule, members: Any, inner: Placement,
        rows: int,
    ) -> Group:  # fmt: skip
        """Begin one whose parts have copies of the fields of a problem in the host's memory."""
        problems = [p, *(_copied(p) for _ in members[1:])]
        there = [placed(step, each, member, inner) for each, member in zip(problems, members, strict=True)]
        return cls(step, there, f, schedule, members, rows)

    @property
    def done(self) -> bool:
        """Whether the run has ended."""
        return self._parts[0].done

    @property
    def passes(self) -> int:
        """Passes of all loops begun so far."""
        return self._parts[0].passes

    @property
    def frontier(self) -> Frontier | None:
        """The current frontier."""
        return self._parts[0].frontier

    def proceed(self, passes: int | None = None) -> int:
        """Go on for at most so many passes; how many were begun."""
        failed: dict[int, BaseException] = {}

        def run(part: Part, member: Communicator) -> int:
            try:
                return part.proceed(passes)
            except BaseException as error:
                if part.done and not getattr(error, "of_all_ranks", False):  # else it can go on, as all can
                    member.leave()
                failed[member.rank] = error
                return 0

        if self.done:
            return 0
        for part in self._parts[1:]:
            part.placed.take_over(self._parts[0].placed)
        pairs = list(zip(self._parts, self._members, strict=True))
        threads = [threading.Thread(target=run, args=pair, daemon=True) for pair in pairs[1:]]
        for thread in threads:
            thread.start()
        begun = run(*pairs[0])
        for thread in threads:
            thread.join(GRACE if failed else None)  # one that hangs cannot be ended
        for rank in sorted(failed, key=lambda rank: (isinstance(failed[rank], Ended), rank)):
            raise failed[rank]
        return begun


def _copied(p: Problem) -> Problem:
    """A problem with arrays of its own on the same graph; of those that stay in parts, each part writes its own."""
    made = copy.copy(p)
    vars(made).update(
        arrays={name: array if stays(p, name) else np.empty_like(array) for name, array in p.arrays.items()},
        scalars={name: value.copy() for name, value in p.scalars.items()},
        piles=dict(p.piles), workspace={},
    )  # fmt: skip
    made._lay_pairs()
    return made
