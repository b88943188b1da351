"""The cpu backend: a loop lowered to the text of one function, translated to LLVM, run by our own threads.

numba compiles functors and the entry of a loop; ``translate`` makes the rest from text, by
:mod:`frontier.compile.translation`. ``intrinsics``, ``atomics`` and ``narrow`` are what numba lacks, ``guards`` calls
functors that may raise, and ``printing`` is their ``print``. ``runtime`` holds the functions that every loop function
calls (appends, scans), ``teams`` those by which threads share a phase, and ``runtime_words`` the sizes that the host
knows, too; ``helpers`` are the threads, each with a ``mailbox``. ``printer`` makes the text, ``compiler`` machine code,
``code`` finds and keeps it, ``execution`` runs a loop function and carries its state.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from frontier.backends.base import Backend

if TYPE_CHECKING:
    from frontier.backends.cpu.execution import CpuExecution
    from frontier.lowering.builder import Builder
    from frontier.memory.placement import Placement
    from frontier.program.frontiers import Frontier
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["BACKEND", "CpuBackend"]


class CpuBackend(Backend):
    """Compiles loops for the threads of the processor."""

    name = "cpu"
    reads_edges_from: tuple[str, ...] = ("disk",)
    keeps_pairs = True

    def start(self, step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule) -> CpuExecution:
        """Begin to run a step. numba is imported only where something has to be compiled."""
        return _execution()(step, p, f, schedule)

    def program(self, step: Step, p: Problem, given: str | None, schedule: ResolvedSchedule) -> Builder:
        """Lower a step."""
        from frontier.backends.cpu.execution import program_of, suited

        return program_of(step, p, given, suited(schedule, p.graph))

    def describe(self, placement: Placement) -> str:
        """Say how many threads there are."""
        from frontier.native import threads

        count = threads.num_threads()
        return f"{count} thread" + ("s" if count > 1 else "")


BACKEND = CpuBackend()


@cache
def _execution() -> type[CpuExecution]:
    """Cached, because importing a name takes half a microsecond each time."""
    from frontier.backends.cpu.execution import CpuExecution

    return CpuExecution
