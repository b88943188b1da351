"""The cuda backend: a loop lowered to one cooperative kernel, whose workers are the threads of all blocks.

``program`` and ``printers`` make the text of a kernel, ``compiler`` makes machine code of it, which is kept on disk,
``launch`` runs it, and ``execution`` is one run. ``plain_kernels`` are kernels that are no loops of programs.
``from_disk`` is a run with edges on a disk, a kernel for each step and window; ``disk_windows`` says what these are.

``compile`` is the compiler behind ``compiler``, ``device`` the functions that kernels call, ``simulator`` what runs
kernels without a GPU.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from frontier.backends.base import Backend
from frontier.errors import GraphError
from frontier.memory import detection
from frontier.memory.disk import DISK
from frontier.memory.gpu import GpuMemory, gpu
from frontier.memory.limits import parsed
from frontier.memory.mixed import MixedMemory
from frontier.memory.pinned import PinnedMemory
from frontier.memory.placement import Placement, backend_named, placed, unknown

if TYPE_CHECKING:
    from collections.abc import Callable

    from frontier.backends.cuda.execution import CudaExecution
    from frontier.graph.graph import Graph
    from frontier.lowering.builder import Builder
    from frontier.program.execution import Execution
    from frontier.program.frontiers import Frontier
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["BACKEND", "CudaBackend", "bytes_of_edges", "elsewhere", "share_of"]


class CudaBackend(Backend):
    """Compiles loops for a GPU."""

    name = "cuda"
    massively_parallel = True
    reads_edges_from: tuple[str, ...] = ("host", "disk")
    keeps_pairs = True

    def start(self, step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule) -> Execution:
        """Begin to run a step."""
        edges = p.graph.placement.edges
        if edges is not None and edges.residence == "disk":
            from frontier.backends.cuda.from_disk import DiskExecution

            return DiskExecution(step, p, f, schedule)
        return _execution()(step, p, f, schedule)

    def program(self, step: Step, p: Problem, given: str | None, schedule: ResolvedSchedule) -> Builder:
        """Lower a step, as for the GPU though there be none."""
        from frontier.backends.cuda.execution import program_of

        return program_of(step, p, given, schedule)

    def placement(self, part: str = "") -> Placement:
        """Return the placement of a GPU by its number, of CuPy's current one by default, or of several, or all."""
        if part == "all" or "," in part:
            return backend_named("devices").placement(part)
        if part and not (part.isascii() and part.isdigit()):
            raise unknown(f"{self.name}:{part}")
        return placed(self, gpu(detection.usable(int(part) if part else None)))

    def residing(self, graph: Graph, placement: Placement, edges: str | None, memory: int | str | None) -> Placement:
        """Return the placement of a graph whose edges are in the GPU's memory, the host's, both, or on a disk."""
        own = placement.memory
        assert isinstance(own, GpuMemory)
        return elsewhere(placement, edges, memory, lambda: share_of(graph, own, bytes_of_edges(graph), memory))

    def placement_of(self, local: int) -> Placement:
        """Return the placement of the GPU that a process of this host has, by the number of the process."""
        return placed(self, gpu(detection.of_process(local)))

    def device(self, placement: Placement) -> str:
        """Return the name of the host and the identifier of the GPU."""
        memory = placement.memory
        return detection.identity(memory.index) if isinstance(memory, GpuMemory) else ""

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


#: Bytes for each vertex, and the part of what is free, that edges leave to the fields and queues of programs.
BESIDE, SPARE = 96, 0.1


def elsewhere(
    placement: Placement, edges: str | None, memory: int | str | None, share: Callable[[], float]
) -> Placement:
    """Return a placement on GPUs whose edges lie in another memory; with ``edges="auto"``, a share is on the GPUs."""
    own, backend = placement.memory, placement.backend
    assert isinstance(own, GpuMemory)
    if edges not in (None, "device", "host", "disk", "auto"):
        known = "'device', 'host', 'disk' or 'auto'"
        raise GraphError(f"edges={edges!r} is not possible on {placement.name!r}: choose {known}")
    if memory is not None and edges in ("device", "host", "disk"):
        raise GraphError(f"memory= is for edges='auto', not for edges={edges!r}")
    if edges == "device":
        return placed(backend, own)
    if edges == "disk":
        return placed(backend, own, DISK)
    found = 0.0 if edges == "host" else share()
    if found == 1:
        return placed(backend, own)
    return placed(backend, own, MixedMemory(own.index, found) if found else PinnedMemory(own.index))


def bytes_of_edges(graph: Graph) -> float:
    """Bytes of a graph's edges, with those of the in-edges of a directed graph."""
    top = graph._topology
    each = sum(array.itemsize for array in (graph.weights, *top.edges.values()) if array is not None)
    return float(top.ends.nbytes * (1 if graph.symmetric else 2) + graph.num_slots * each)


def share_of(graph: Graph, memory: GpuMemory, size: float, limit: int | str | None) -> float:
    """Return which part of so many bytes of edges a GPU is to have in its own memory."""
    if limit is None:
        room = int(memory.free() * (1 - SPARE)) - graph.num_vertices * BESIDE
    else:
        room = parsed(limit)
    return min(max(round(room / max(size, 1), 3), 0.0), 1.0)


BACKEND = CudaBackend()


@cache
def _execution() -> type[CudaExecution]:
    """Cached, because importing a name takes half a microsecond each time."""
    from frontier.backends.cuda.execution import CudaExecution

    return CudaExecution
