"""A run on several parts that are threads of one process, each with its own copy of the problem."""

from __future__ import annotations

import copy
import threading
from typing import TYPE_CHECKING, Any

from frontier import tracing
from frontier.distributed.ranks.changes import stays
from frontier.distributed.ranks.execution import Part
from frontier.distributed.transport.communicators import Ended

if TYPE_CHECKING:
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
    """A run on several parts that are threads of this process, each with its own copy of the problem."""

    def __init__(
        self, step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule, members: Any,
        inner: Placement, rows: int,
    ) -> None:  # fmt: skip
        problems = [p, *(_copied(p) for _ in members[1:])]
        self._members, self._begun = members, False
        traced = tracing.active()
        self._parts = [
            Part(step, each, f, schedule, member, inner, traced, rows)
            for each, member in zip(problems, members, strict=True)
        ]

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

        if self._begun:
            for part in self._parts[1:]:
                _copy(self._parts[0].problem, part.problem)
        self._begun = True
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


def _copy(p: Problem, other: Problem) -> None:
    """Bring what the host has changed between two passes to another part."""
    for name, array in p.arrays.items():
        if other.arrays[name] is not array:  # of those that stay in parts, there is one
            other.arrays[name][...] = array
    for name, value in p.scalars.items():
        other.scalars[name][...] = value
    other.piles.update(p.piles)


def _copied(p: Problem) -> Problem:
    """A problem with arrays of its own on the same graph; of those that stay in parts, each part writes its own."""
    made = copy.copy(p)
    vars(made).update(
        arrays={name: array if stays(p, name) else array.copy() for name, array in p.arrays.items()},
        scalars={name: value.copy() for name, value in p.scalars.items()},
        piles=dict(p.piles), workspace={},
    )  # fmt: skip
    made._lay_pairs()
    return made
