"""Which programs several GPUs run faster than one, for ``g.to("cuda:all")``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from frontier.backends.devices.replicas import same
from frontier.backends.ranks.writes import check_writes
from frontier.errors import FunctorError
from frontier.memory.placement import backend_named, placed
from frontier.program.loop import Loop
from frontier.program.step import walk

if TYPE_CHECKING:
    from frontier.program.frontiers import Frontier
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["alone", "worthwhile"]

#: Edge slots from which on passes over all edges are divided. (Two H200: an iteration of PageRank on R-MAT 24, 521
#: million slots, takes 5.6 ms on both and 5.0 on one. Each computes 3.0 ms; 2.6 are what its three steps cost besides.)
LEAST = 1 << 30


def worthwhile(step: Step, p: Problem, gpus: int) -> bool:
    """Whether several GPUs run a program faster than one.

    They do if its passes walk along all edges of a large graph, as an iteration of PageRank does. A search, whose
    passes walk along some of the edges, is faster on one: it stays in one kernel there, and what a pass of several
    costs is more than what they save. A program that cannot be divided runs on one, too.
    """
    if p.graph.num_slots < LEAST or not _sweeps(step):
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
    """Begin to run a step on the first GPU alone, with the problem's own arrays."""
    g = p.graph
    backend = backend_named("cuda")
    made = same(p, graph=g._wrap(g._topology, placed(backend, g.placement.memory)), workspace={})
    return backend.start(step, made, f, schedule)
