"""What the GPU of a rank has of a graph and a problem, and which graphs and programs its kernels take.

It is what a GPU of several of one process has: the whole graph, as far as the rank has it, the same with the edges of
its own vertices only, and fields. Of a directed graph that is made in parts, a rank has the out-edges of its vertices;
before a program first runs that may walk along in-edges, ranks send each other those. Kernels fetch nothing else of
other ranks' edges: what belongs to an edge, its weight and fields, is with the owner of its source only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from frontier.backends.python.hosted import same
from frontier.backends.run.interrupts import deferred
from frontier.distributed.devices.touches import OneKernelError
from frontier.distributed.partition.own_rows import own_rows
from frontier.distributed.ranks.changes import stays
from frontier.distributed.ranks.field_storage import visible
from frontier.distributed.ranks.in_edges import number_in_edges
from frontier.distributed.ranks.remote_reads import names_of, needs
from frontier.distributed.transport.rounds import common, met
from frontier.program.effects import effects
from frontier.program.field_store import FieldStore
from frontier.program.frontiers import Frontier
from frontier.program.step import scheduled, walk

if TYPE_CHECKING:
    from frontier.distributed.ranks.graph_copies import Copies
    from frontier.distributed.transport.communicators import Communicator
    from frontier.graph.graph import Graph
    from frontier.memory.base import Memory
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["bring_in_lists", "check", "graphs_there", "problem_there", "wants_in_lists"]


def check(p: Problem, starts: Any) -> None:
    """Raise OneKernelError for graphs whose parts the kernels do not take."""
    g = p.graph
    if not g.num_vertices or (starts[1:-1] % 32).any():
        raise OneKernelError("ranges of vertices that are not whole words of a bitmap")
    if g._topology.packed:
        raise OneKernelError("compressed lists")


# ---- in-lists --------------------------------------------------------------------------------------------


def wants_in_lists(step: Step, p: Problem, schedule: ResolvedSchedule) -> bool:
    """Whether ranks must send each other in-edges before a program runs.

    Raises
    ------
    OneKernelError
        If a step needs edges of other ranks, or of its in-edges more than their sources.
    """
    g = p.graph
    if g._topology.divided is None:
        return False
    for each in walk(step):
        found = needs(each, p)
        if found.lists or found.slots or found.numbered:
            raise OneKernelError("edges of a graph in parts that other ranks have")
    inwards = {each for each, given in scheduled(step, schedule) if each.far == "src" or each.may_pull(given)}
    if any(_takes_edges(each, p) for each in inwards):
        raise OneKernelError("what belongs to in-edges of a graph in parts, which other ranks have")
    return bool(inwards) and not g.symmetric


def _takes_edges(step: Step, p: Problem) -> bool:
    """Whether a step takes of in-edges what lies at their slots, or looks up edges, or gives edges.

    On a symmetric graph a weight is also at the slot of the edge back, which the rank has.
    """
    touched = [effects(fn) for fn, _ in step.functors()]
    fields = {name for each in touched for name in each.fields if name in p.fields and p.fields[name].kind == "edge"}
    given = names_of(step) & ({"edge"} if p.graph.symmetric else {"edge", "weight"})
    return bool(fields or given) or any(each.topology for each in touched) or getattr(step, "output", None) == "edge"


def bring_in_lists(g: Graph, comm: Communicator) -> None:
    """Let a rank's part of a graph have the in-lists of its vertices; all ranks call this together.

    Raises
    ------
    KeyboardInterrupt
        On all ranks, after that, if Ctrl-C was pressed at some of them meanwhile.
    """
    name = "numbered in-edges"
    if all(met(comm, "looks for in-edges", f"cached {name}" in g._topology.derived)):
        return
    with deferred(patient=True) as pending:
        g._topology.derived.pop(f"cached {name}", None)
        g.cached(name, lambda: number_in_edges(g, comm))
        pressed = comm.allgather(pending.pressed)
        pending.pressed = False
    if any(pressed):
        raise common(KeyboardInterrupt())


# ---- on the GPU ------------------------------------------------------------------------------------------


def graphs_there(g: Graph, starts: Any, rank: int) -> Any:
    """The graph on a rank's GPU, and the same with the edges of the rank's own vertices; what it owns, by kind."""

    def made() -> Any:
        here = g._wrap(g._topology, g.placement)  # workspaces belong to it
        first, end = int(starts[rank]), int(starts[rank + 1])
        slots = tuple(int(here.offsets[v]) for v in (first, end))
        return (here, own_rows(here, first, end)), {"vertex": (first, end), "edge": slots}

    return g.cached(f"in one kernel, rank {rank} of {len(starts) - 1}", made)


def problem_there(p: Problem, g: Graph, copies: Copies) -> Problem:
    """The problem on the GPU, whose fields come when the run goes on; scalars are the host's.

    Fields that an earlier run has left on the GPU have the same arrays.
    """
    memory = g.placement.memory
    arrays = {name: _array_for(p, array, memory) for name, array in p.arrays.items() if not stays(p, name)}
    for name in p.arrays.keys() - arrays.keys():
        arrays[name] = copies.like(p.arrays[name], [p.graph._topology.ranks.slots_of(p.graph)])
    piles = {name: Frontier(g, (), pile.kind) for name, pile in p.piles.items()}
    here = {name: arrays[name] for name in p.arrays}
    made = same(p, graph=g, piles=piles, workspace={}, _store=FieldStore(), arrays=here)
    made._lay_pairs()
    return made


def _array_for(p: Problem, array: Any, memory: Memory) -> Any:
    """An array on the GPU for a field."""
    shown = visible(p)
    field = None if shown is None else shown.field(array)
    if field is not None and field.away is not None and field.away.memory is memory:
        return field.away.array
    return memory.xp.empty(array.shape, array.dtype)
