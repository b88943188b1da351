"""Many sources at once: each in its own copy of the graph, by a program that knows of one graph only.

A pass of a loop takes a few microseconds however little it does, and a search in a small graph leaves most of a
machine idle. In k copies of the graph (:func:`frontier.graph.copies.copies`) a run processes k sources at once, as
McLaughlin and Bader (2014) assign one to each block of a GPU, and no operator needs to support several sources. A
large graph is its own only copy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.run.footprint import footprint
from frontier.display.progress import Task
from frontier.errors import FrontierError, GraphError
from frontier.functors.functor import arguments
from frontier.graph.copies import copies
from frontier.graph.several import is_several, vertex_ids
from frontier.program.effects import effects
from frontier.program.loop import Loop
from frontier.program.problem import Problem, scalar, vertex
from frontier.program.schedule import Schedule
from frontier.program.step import captures_of, walk
from frontier.registry import Plan

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from frontier.graph.graph import Graph
    from frontier.memory.base import Memory
    from frontier.program.enactor import Enactor
    from frontier.program.problem import Field
    from frontier.program.step import Step

__all__ = ["SLOTS", "SLOTS_WIDE", "BatchedSources", "choose_sources", "number_of_copies"]

#: Vertices and edge slots of all copies together. On processors what one thread works on, without barriers: with two,
#: graphs of short frontiers got up to five times slower. (On a GPU betweenness from 512 sources of an R-MAT graph of
#: 4,096 vertices takes 213 ms one by one, 23 ms with 2^22, 14 with 2^23 and 9 with 2^24.)
SLOTS, SLOTS_WIDE = (1 << 15) - 1, 1 << 24


#: In copies on processors, unless a direction is given, if lists are short. A pull decided for all copies together then
#: rarely suits each: betweenness of small grids and trees took 1.3 to 1.7 times as long. (Dense graphs gain by pulls.)
PUSH = Schedule(direction="push")


class BatchedSources:
    """Runs a program from many sources, in as many copies of the graph at once as is worth their memory.

    Every source has a *turn*. In turn t the vertices v with ``p.starts[v] == t`` are sources, at most one in each copy.
    The program is a loop over the turns, ``fr.Loop(..., times="turns", count="turn")``. Its first step is a filter over
    all vertices that resets their fields and returns ``p.starts[v] == p.turn``. What the program does in one copy must
    not depend on the other copies; a scalar is one for all of them.

    Parameters
    ----------
    g : Graph
    sources : int, sequence of vertices, Frontier or mask, optional
        See :func:`choose_sources`. A vertex that is given twice has two turns.
    enactor : Enactor subclass
    fields : mapping of str to Field
        Fields of the problem, as on the graph itself: an initial value for each vertex, or edge, is used in every copy.
        The vertex field ``starts`` and the scalars ``turn`` and ``turns`` are added.
    schedule : Schedule, optional
        If it has no direction, runs in copies of a graph with short lists push on a CPU.
    seed : int, optional
        For the draw.

    Attributes
    ----------
    sources : ndarray of int64, shape (k,)
        Vertex ids of the sources.
    copies : int
        Number of copies; 1 if the graph is large. All copies together have fewer than 2**15 vertices and edge slots (on
        a GPU at most 2**24, in at most half of the free memory), and there are no more than the turns need.

    Examples
    --------
    >>> def begin(p, v):
    ...     p.seen[v] = p.starts[v] == p.turn
    ...     return p.starts[v] == p.turn
    >>> def visit(p, dst):
    ...     return fr.atomic_exch(p.seen, dst, 1) == 0
    >>> def add(p, v):
    ...     p.reached_by[v] += p.seen[v]
    >>> class ReachedBy(fr.Enactor):
    ...     loop = fr.Loop(
    ...         fr.Sequence(fr.Filter(begin), fr.Loop(fr.Advance(visit)), over="vertices"),
    ...         fr.Sequence(fr.Compute(add), over="vertices"),
    ...         times="turns",
    ...         count="turn",
    ...     )
    >>> g = fr.from_edges([0, 1], [1, 2], directed=True)
    >>> fields = {"seen": fr.vertex("int64"), "reached_by": fr.vertex("int64")}
    >>> runs = fr.BatchedSources(g, [0, 1], ReachedBy, fields)
    >>> runs.run().reached_by.reshape(runs.copies, 3).sum(axis=0)
    array([1, 2, 2])
    """

    def __init__(
        self,
        g: Graph,
        sources: int | ArrayLike | None,
        enactor: type[Enactor],
        fields: Mapping[str, Field],
        schedule: Schedule | None = None,
        *,
        seed: int | None = None,
    ) -> None:
        if not _takes_turns(enactor.program()):
            raise FrontierError(f"{enactor.__name__} has no loop over turns, fr.Loop(..., times='turns', count='turn')")
        self.graph, self.enactor, self.fields = g, enactor, fields
        self.sources = choose_sources(g, sources, seed)
        self._rounds = _distinct(self.sources)
        most = len(self._rounds[0]) if self._rounds else 0
        self.copies = number_of_copies(g, most, enactor, fields, schedule)
        self.schedule = _schedule_of_copies(g, self.copies, schedule)

    @staticmethod
    def plan(
        g: Graph, sources: int, enactor: type[Enactor], fields: Mapping[str, Field], schedule: Schedule | None = None
    ) -> Plan:
        """Return the plan of a run from this number of sources, for :class:`frontier.registry.PrimitiveEntry`."""
        count = number_of_copies(g, sources, enactor, fields, schedule)
        return Plan(_with_turns(fields), [(enactor, _schedule_of_copies(g, count, schedule))], copies=count)

    @cached_property
    def problem(self) -> Problem:
        """The problem, made on first use; vertex v of copy j is its vertex ``j * n + v``."""
        g, count, memory = self.graph, self.copies, self.graph.placement.memory
        if count > 1:
            g = copies(g, count, _weighted(self.enactor.program(), g))
        return Problem(g, **{name: _repeated(made, count, memory) for name, made in _with_turns(self.fields).items()})

    def run(self) -> Problem:
        """Run the program from all sources; the problem holds the result."""
        p, before = self.problem, 0
        for sources in self._rounds:
            done = partial(self._done, before, len(sources))
            with Task(self.enactor.__name__, unit="sources", ask=done):
                self._run(p, sources)
            before += len(sources)
        return p

    def _done(self, before: int, now: int) -> tuple[int, int]:
        """From how many sources it has run, for progress: those of the turns that are over."""
        turns = max(int(self.problem.scalars["turn"][0]) - 1, 0)
        return before + min(turns * self.copies, now), len(self.sources)

    def _run(self, p: Problem, sources: NDArray[Any]) -> None:
        """Run it from different sources."""
        memory, number = self.graph.placement.memory, np.arange(len(sources))
        copy, turn = number % self.copies, number // self.copies + 1
        if p.turn:  # there was a run before
            p.starts = p.turn = 0
        p.starts[memory.moved(copy * self.graph.num_vertices + sources)] = memory.moved(turn)
        p.turns = turn[-1].item()
        self.enactor(p, self.schedule).run()

    def sum(self, name: str) -> NDArray[Any]:
        """Return the values of a vertex or edge field, summed over the copies, shape (n,) or (m,)."""
        values: NDArray[Any] = getattr(self.problem, name)
        if self.copies > 1:
            xp = self.graph.placement.memory.xp
            values = xp.reshape(values, (self.copies, len(values) // self.copies)).sum(axis=0)
        return values


def choose_sources(g: Graph, sources: int | ArrayLike | None, seed: int | None = None) -> NDArray[Any]:
    """Return the ids of some vertices, as int64 on the host.

    Parameters
    ----------
    g : Graph
    sources : int, sequence of vertices, Frontier or mask, optional
        A number of vertices to draw at random, or the vertices, by label if the graph has labels. All by default.
    seed : int, optional
        For the draw; another draw each time by default.

    Raises
    ------
    GraphError
        If a vertex does not exist.
    """
    n = g.num_vertices
    if sources is None:
        return np.arange(n, dtype=np.int64)
    if isinstance(sources, (int, np.integer)) and not isinstance(sources, bool) and 0 <= sources <= n:
        if seed is not None:
            from frontier.generators.random_numbers import whole

            seed = whole("seed", seed, 0)
        return np.random.default_rng(seed).choice(n, int(sources), replace=False).astype(np.int64)
    if not is_several(sources):
        raise GraphError(f"sources={sources!r}: a number of sources from 0 to {n}, or a list of vertices")
    return vertex_ids(g, sources, "sources")


def number_of_copies(
    g: Graph, sources: int, enactor: type[Enactor], fields: Mapping[str, Field], schedule: Schedule | None = None
) -> int:
    """Return the number of copies for this number of sources; see :class:`BatchedSources`."""
    wide = g.placement.massively_parallel
    room = (SLOTS_WIDE if wide else SLOTS) // max(1, g.num_vertices + g.num_slots)
    most = min(room, sources)
    if most > 1 and wide:
        name = f"bytes of {room} copies for {enactor.__module__}.{enactor.__qualname__}, {schedule}, {_dtypes(fields)}"
        needs = g.cached(name, lambda: footprint(g, _with_turns(fields), [(enactor, schedule)], room))
        each = 2 * needs.fields // room  # at most half of what is free
        most = min(most, g.placement.memory.free(most * each) // each)
    if most < 2:
        return 1
    turns = -(-sources // most)
    return -(-sources // turns)


def _schedule_of_copies(g: Graph, count: int, schedule: Schedule | None) -> Schedule | None:
    """Give the schedule of a run in this number of copies."""
    if count == 1 or g.placement.massively_parallel or not g.traits.short_lists:
        return schedule
    if schedule is None:
        return PUSH
    return schedule if schedule.direction is not None else schedule.replace(direction="push")


def _distinct(sources: NDArray[Any]) -> list[NDArray[Any]]:
    """Divide the sources into parts without duplicates."""
    parts = []
    while len(sources) > 1 and len(np.unique(sources)) < len(sources):
        first = np.sort(np.unique(sources, return_index=True)[1])
        parts.append(sources[first])
        sources = np.delete(sources, first)
    return [*parts, sources] if len(sources) else parts


#: The fields that are added: the turn in which a vertex is a source of its copy; the number of the turn, or of turns.
_STARTS, _NUMBER = vertex("int32"), scalar("int64")


def _with_turns(fields: Mapping[str, Field]) -> dict[str, Field]:
    return {"turn": _NUMBER, **fields, "starts": _STARTS, "turns": _NUMBER}


def _repeated(field: Field, count: int, memory: Memory) -> Field:
    """Repeat the initial values of a field for every copy."""
    if count == 1 or field.plain or field.kind not in ("vertex", "edge") or np.ndim(field.init) == 0:
        return field
    return replace(field, init=memory.xp.tile(memory.moved(field.init), count))


def _dtypes(fields: Mapping[str, Field]) -> str:
    return ", ".join(f"{name}: {field.kind} {field.dtype}" for name, field in fields.items())


def _takes_turns(step: Step) -> bool:
    """Whether a program has a loop over turns; found once."""
    known: bool | None = step.__dict__.get("_takes_turns")
    if known is None:
        loops = [part for part in walk(step) if isinstance(part, Loop)]
        known = step.__dict__["_takes_turns"] = any((x.times, x.count) == ("turns", "turn") for x in loops)
    return known


def _weighted(step: Step, g: Graph) -> bool:
    """Whether a program reads weights, if there are any."""
    if g.weights is None:
        return False
    captures = captures_of(step)
    known: tuple[Any, bool] | None = step.__dict__.get("_weighted")
    if known is None or known[0] is not captures:
        functors = [each for part in walk(step) for each in part.functors()]
        reads = any(
            "weights" in effects(fn).topology or (place != "scalars" and "weight" in arguments(fn, place))
            for fn, place in functors
        )
        known = step.__dict__["_weighted"] = (captures, reads)
    return known[1]
