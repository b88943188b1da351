"""A run on several parts that are threads of one process, each with its own copy of the problem."""

from __future__ import annotations

import copy
import threading
from typing import TYPE_CHECKING, Any

from frontier.backends.ranks.exchange import stays
from frontier.backends.ranks.execution import Part

if TYPE_CHECKING:
    from frontier.backends.ranks.communicators import Communicator
    from frontier.program.frontiers import Frontier
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["Group"]


class Group:
    """A run on several parts that are threads of this process, each with its own copy of the problem."""

    def __init__(
        self, step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule, members: Any, inner: str
    ) -> None:
        problems = [p, *(_copied(p) for _ in members[1:])]
        self._members = members
        self._parts = [Part(step, each, f, schedule, m, inner) for each, m in zip(problems, members, strict=True)]

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
        failed: list[BaseException] = []

        def others(part: Part, member: Communicator) -> None:
            try:
                part.proceed(passes)
            except BaseException as error:  # all parts that fail say so; the first one's is raised
                failed.append(error)
                member.leave()

        pairs = list(zip(self._parts[1:], self._members[1:], strict=True))
        threads = [threading.Thread(target=others, args=pair, daemon=True) for pair in pairs]
        for thread in threads:
            thread.start()
        try:
            begun = self._parts[0].proceed(passes)
        except BaseException:
            self._members[0].leave()
            raise
        finally:
            for thread in threads:
                thread.join()
        if failed:
            raise failed[0]
        return begun


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
