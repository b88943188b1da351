"""The cuda backend: a loop lowered to one cooperative kernel, whose workers are the threads of all blocks.

``intrinsics`` and ``atomics`` are what numba-cuda lacks, ``machine`` chooses between them and their stand-ins in the
``simulator``; ``runtime`` has the functions that every kernel calls (barrier, appends, scans), ``program`` the text
of a kernel, ``compiler`` makes and caches machine code, ``launch`` runs it, ``execution`` carries its state.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from frontier.backends.base import Backend
from frontier.memory import detection
from frontier.memory.gpu import GpuMemory, gpu
from frontier.memory.placement import Placement, placed, unknown

if TYPE_CHECKING:
    from frontier.backends.cuda.execution import CudaExecution
    from frontier.graph.graph import Graph
    from frontier.lowering.loops import Program
    from frontier.program.frontiers import Frontier
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["BACKEND", "CudaBackend"]


class CudaBackend(Backend):
    """Compiles loops for a GPU."""

    name = "cuda"
    massively_parallel = True
    keeps_pairs = True

    def start(self, step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule) -> CudaExecution:
        """Begin to run a step."""
        return _execution()(step, p, f, schedule)

    def program(self, step: Step, p: Problem, given: str | None, schedule: ResolvedSchedule) -> Program:
        """Lower a step, as for the GPU though there be none."""
        from frontier.backends.cuda.execution import program_of

        return program_of(step, p, given, schedule)

    def placement(self, part: str = "") -> Placement:
        """Return the placement of a GPU by its number, of CuPy's current one by default."""
        if part and not (part.isascii() and part.isdigit()):
            raise unknown(f"{self.name}:{part}")
        return placed(self, gpu(detection.usable(int(part) if part else None)))

    def missing(self) -> str:
        """Say what GPUs lack here to be used."""
        return detection.missing()

    def describe(self, placement: Placement) -> str:
        """Return the name of the GPU."""
        memory = placement.memory
        return detection.device_name(memory.index) if isinstance(memory, GpuMemory) else ""

    def may_pull(self, g: Graph) -> bool:
        """Whether lists are not all short: where they are, every pass pushes."""
        return super().may_pull(g) and not g.traits.short_lists


BACKEND = CudaBackend()


@cache
def _execution() -> type[CudaExecution]:
    """Cached, because importing a name takes half a microsecond each time."""
    from frontier.backends.cuda.execution import CudaExecution

    return CudaExecution
