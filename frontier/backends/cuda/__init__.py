"""The cuda backend: a loop lowered to one cooperative kernel, whose workers are the threads of all blocks.

``intrinsics`` and ``atomics`` are what numba-cuda lacks, ``machine`` chooses between them and their stand-ins in the
``simulator``; ``runtime`` has the functions that every kernel calls (barrier, appends, scans), ``program`` the text
of a kernel, ``compiler`` makes and caches machine code, ``launch`` runs it, ``execution`` carries its state.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from frontier.backends.cuda.execution import CudaExecution
    from frontier.frontiers import Frontier
    from frontier.problem import Problem
    from frontier.schedule import Schedule
    from frontier.step import Step

__all__ = ["start"]


def start(step: Step, p: Problem, f: Frontier | None, schedule: Schedule) -> CudaExecution:
    """Begin to run a step."""
    return _execution()(step, p, f, schedule)


@cache
def _execution() -> type[CudaExecution]:
    """Kept, for to import a name takes half a microsecond each time."""
    from frontier.backends.cuda.execution import CudaExecution

    return CudaExecution
