"""What each GPU has of a run: the graph, fields of vertices, and the range of vertices that it owns.

Each has a copy of all fields; the first one has the problem's own arrays. Of a field that is spread, and of which every
GPU touches its own elements only, there is one array for all. Of other fields that are spread the first one has a copy
of its own, too.

A GPU sees the graph twice, with the same arrays but for the offsets: whole, and with the edges of its own vertices
only, out-edges and in-edges. Edges that are spread lie in the memories of their owners; of others each GPU has a copy.
A step that walks along edges runs on the graph of own edges with the whole frontier, so that each edge is walked on one
GPU only, in a push and in a pull.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from frontier.backends.python.hosted import same
from frontier.distributed.devices import spreading
from frontier.distributed.devices.spread_fields import spread_fields
from frontier.distributed.partition.own_rows import own_rows
from frontier.distributed.ranks.local_frontier import owned
from frontier.distributed.ranks.step_problem import StepProblem
from frontier.graph import moving
from frontier.memory import spread
from frontier.memory.placement import Placement, backend_named, placed
from frontier.program.frontiers import Frontier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from frontier.distributed.devices.touches import Touches
    from frontier.graph.graph import Graph
    from frontier.memory.base import Memory
    from frontier.program.problem import Problem

__all__ = ["Replica", "Sorts", "on_one", "replicas_of"]


class Sorts(NamedTuple):
    """Names of fields that are ``shared`` and ``private``, see :class:`Replica`."""

    shared: frozenset[str] = frozenset()
    private: frozenset[str] = frozenset()


class Replica:
    """One GPU's copies of a problem and its graph.

    Attributes
    ----------
    rank : int
    memory : Memory
    whole : Problem
        The fields, on the whole graph.
    rows : Graph
        That with the edges of own vertices only.
    own : dict of str to (int, int)
        The ranges of vertices and of edge slots that this GPU owns, by kind.
    shared : frozenset of str
        Fields of which there is one array for all GPUs.
    private : frozenset of str
        Fields that are spread, and of which each GPU, the first one too, has a whole copy while the program runs.
    """

    def __init__(self, rank: int, whole: Problem, memory: Memory, rows: Graph, own: Any, sorts: Sorts) -> None:
        self.rank, self.memory, self.own = rank, memory, own
        self.shared, self.private = sorts
        self.whole, self.rows = whole, rows

    def prepare(self, p: Problem) -> None:
        """Take over what the next step may read besides fields."""
        for name, value in p.scalars.items():
            self.whole.scalars[name][0] = value[0]
        for name, pile in self.whole.piles.items():
            if len(pile):
                self.whole.piles[name] = Frontier(self.whole.graph, (), pile.kind)

    def owned(self, f: Frontier) -> Frontier:
        """The elements of a frontier on this GPU that it owns."""
        return Frontier._of(f.graph, f.kind, ids=owned(f, self.own[f.kind], self.memory))

    def copied(self, f: Frontier) -> Frontier:
        """A frontier of the problem's graph on this GPU."""
        g = self.whole.graph
        if f.is_all:
            return Frontier.all(g, f.kind)
        with self.memory.using("the ids of a frontier"):
            ids = self.memory.moved(f.ids if f._ids is None else f._ids)
            self.memory.synchronize()
        return Frontier._of(g, f.kind, ids=ids)


def replicas_of(p: Problem, memories: Sequence[Memory], touches: Touches | None = None) -> list[Replica]:
    """What all GPUs have of a problem.

    Without ``touches``, which say what a program does inside one kernel on each, the first has the arrays of the
    problem itself, and the others have copies.
    """
    g = p.graph
    sorts = Sorts() if touches is None else _sorts(p, touches)
    where = ",".join(str(getattr(memory, "index", 0)) for memory in memories)
    kept = g.cached(f"graphs on the GPUs {where}", lambda: _graphs(g, memories))
    made = []
    for rank, (memory, (graphs, own)) in enumerate(zip(memories, kept, strict=True)):
        with memory.using("the fields of a problem"):
            whole = _problem(p, graphs[0], rank == 0, sorts)
            made.append(Replica(rank, whole, memory, graphs[1], own, sorts))
    return made


def members_of(p: Problem, memories: Sequence[Memory]) -> list[StepProblem]:
    """The problems of members of a group that have a GPU each, in its memory; users see the fields of the first."""
    made = []
    for each in replicas_of(p, memories):
        host = same(each.whole, graph=p.graph, piles=dict(p.piles), workspace={}) if each.rank else p
        made.append(StepProblem(host, each.whole.graph.placement, each.whole, each.memory))
    return made


def _sorts(p: Problem, touches: Touches) -> Sorts:
    """Share fields of edges that are spread, for no step changes them, and fields of which all touch their own part."""
    edges = {name for name, field in p.fields.items() if field.kind == "edge" and spread.is_spread(p.arrays[name])}
    spreads = spread_fields(p).spread
    return Sorts(frozenset(edges | (spreads & touches.own_only)), frozenset(spreads - touches.own_only))


def _problem(p: Problem, g: Graph, first: bool, sorts: Sorts) -> Problem:
    piles = {name: Frontier(g, (), pile.kind) for name, pile in p.piles.items()}
    made = same(p, graph=g, piles=piles, workspace={})
    if first and not spread_fields(p).spread & (sorts.shared | sorts.private):
        return made
    # Values come when the run goes on.
    memory = g.placement.memory
    index, xp, arrays = int(getattr(memory, "index", 0)), memory.xp, {}
    for name, array in p.arrays.items():
        if name in sorts.shared:
            arrays[name] = spread.seen_by(array, index)
        elif first and name not in sorts.private:
            arrays[name] = array
        else:
            arrays[name] = xp.empty(array.shape, array.dtype)
    vars(made).update(arrays=arrays)
    if not first:
        vars(made).update(scalars={name: value.copy() for name, value in p.scalars.items()})
        made._lay_pairs()
    return made


def on_one(place: Placement, memory: Memory) -> Placement:
    """The placement of one of several GPUs, which reads edges from where all do."""
    edges = place.edges
    if edges is not None and memory is not place.memory:
        edges = edges.for_gpu(int(getattr(memory, "index", 0)))
    return placed(backend_named("cuda"), memory, edges)


def _graphs(g: Graph, memories: Sequence[Memory]) -> list[Any]:
    starts = spreading.starts_of(g, len(memories))
    made = []
    for rank, memory in enumerate(memories):
        here = _whole(g, on_one(g.placement, memory))
        with memory.using("the graph on several GPUs"):
            first, end = int(starts[rank]), int(starts[rank + 1])
            slots = tuple(int(here.offsets[v]) for v in (first, end))
            made.append(((here, own_rows(here, first, end)), {"vertex": (first, end), "edge": slots}))
    return made


def _whole(g: Graph, there: Placement) -> Graph:
    """The graph on one GPU: the same arrays on the first, a copy on others, which share edges that are spread.

    It is a graph of its own in any case, since workspaces belong to a graph, and have what is the same in all runs.
    """
    here = g
    if g._topology.spread is not None:
        if there.memory is not g.placement.memory:
            here = g._once(f"graph seen by {there}", lambda: spreading.seen(g, there))
    elif not there.shares_arrays_with(g.placement):
        here = moving._origin(g, there) or g._once(f"copy on {there}", lambda: moving._copy(g, there))
    return here._wrap(here._topology, there)
