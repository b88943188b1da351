"""The python backend: interprets a loop, and calls functors as they are.

It is the reference and the oracle of the tests; the debugger, because breakpoints and print work in functors; and the
checker of indices, of ``unique="claimed"`` promises, of the disjointness of records, and of overflow.

``interpreter`` walks through a program, and ``hosted`` through one whose steps run on a GPU one by one. ``view`` is the
problem as functors see it, ``arithmetic`` their numbers, and ``record`` the frontiers that a loop keeps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.backends.base import Backend
from frontier.memory.placement import backend_named

if TYPE_CHECKING:
    from frontier.backends.python.interpreter import Interpretation
    from frontier.lowering.builder import Builder
    from frontier.program.frontiers import Frontier
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["BACKEND", "PythonBackend"]


class PythonBackend(Backend):
    """Interprets steps, on the host."""

    name = "python"
    interprets = True
    reads_edges_from: tuple[str, ...] = ("disk",)
    takes_order = True

    def start(self, step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule) -> Interpretation:
        """Begin to run a step."""
        from frontier.backends.python.interpreter import start

        return start(step, p, f, schedule)

    def program(self, step: Step, p: Problem, given: str | None, schedule: ResolvedSchedule) -> Builder:
        """Lower a step as the cpu backend does: this one makes no program of it."""
        made: Builder = backend_named("cpu").program(step, p, given, schedule)
        return made


BACKEND = PythonBackend()
