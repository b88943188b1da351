"""Which programs several GPUs run faster than one, for ``g.to("cuda:all")``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from frontier.backends.python.hosted import same
from frontier.distributed.ranks.write_set import check_writes
from frontier.errors import FunctorError
from frontier.memory.placement import backend_named, placed
from frontier.program.loop import Loop
from frontier.program.step import walk

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.graph.topology import Topology
    from frontier.memory.base import Memory
    from frontier.program.frontiers import Frontier
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["alone", "worthwhile"]

#: Edge slots from which on passes over all edges are divided. (Two H200: an iteration of PageRank on R-MAT 24, 521
#: million slots, takes 5.6 ms on both and 5.0 on one. Each computes 3.0 ms; 2.6 are what its three steps cost besides.)
LEAST = 1 << 30

#: The same for edges in the host's memory. (A link of 50 GB/s brings the ids of so many slots in 5 ms.)
FAR_LEAST = 1 << 26

#: Bytes for each vertex that a copy of all edges leaves to fields and queues.
BESIDE = 96


def worthwhile(step: Step, p: Problem, gpus: int) -> bool:
    """Whether several GPUs run a program faster than one.

    They do if its passes walk along all edges of a large graph, as an iteration of PageRank does. A search, whose
    passes walk along some of the edges, is faster on one: it stays in one kernel there, and what a pass of several
    costs is more than what they save. A program that cannot be divided runs on one, too. So does none if one GPU has no
    room for the graph. Where edges lie in the host's memory, two GPUs have two links to it; a disk is as fast for one.
    Compressed lists are those of one GPU.
    """
    edges = p.graph.placement.edges
    if p.graph._topology.packed or (edges is not None and edges.residence == "disk"):
        return False
    if p.graph.num_slots < (LEAST if edges is None else FAR_LEAST) or not (_sweeps(step) or _whole(p.graph) is None):
        return False
    try:
        check_writes(step, p)
    except FunctorError:
        return False
    return gpus > 1


def _sweeps(step: Step) -> bool:
    """Whether the loops of a program begin with all elements of the graph."""
    loops = [part for part in walk(step) if isinstance(part, Loop)]
    return bool(loops) and all(loop.over in ("vertices", "edges") or loop.times is not None for loop in loops)


def alone(step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule) -> Any:
    """Begin to run a step on the first GPU alone, with the problem's own arrays.

    It gets a copy of all edges, unless it has no room for them: then it reads those of the others where they are.
    """
    g = p.graph
    backend = backend_named("cuda")
    top = _whole(g) or g._topology
    made = same(p, graph=g._wrap(top, placed(backend, g.placement.memory, g.placement.edges)), workspace={})
    return backend.start(step, made, f, schedule)


def _copy(memory: Memory, array: Any) -> Any:
    """A copy of an array that may be spread, by a kernel."""
    made = memory.xp.empty(len(array), array.dtype)
    made[...] = array
    return made


def _whole(g: Graph) -> Topology | None:
    """The arrays of a graph, all of which the first GPU reads; None if they have no room there."""
    top, memory = g._topology, g.placement.memory
    if top.spread is None or g.placement.edges is not None:
        return top

    def copied() -> list[Topology | None]:
        needed = sum(array.nbytes for kind, array in top.arrays() if kind == "edges")
        in_lists = 0 if g.symmetric else top.offsets.nbytes + top.ends.nbytes
        if needed + in_lists + BESIDE * g.num_vertices > memory.free():
            return [None]
        with memory.using("all edges of a graph, for a program that one GPU runs"):
            made = top.copied(lambda array, kind: _copy(memory, array) if kind == "edges" else array)
            memory.synchronize()
        return [made]

    found: list[Topology | None] = g._once("whole on the first GPU", copied)
    return found[0]
