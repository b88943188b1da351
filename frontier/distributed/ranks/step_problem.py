"""The class StepProblem: a part's problem in the memory where its steps run, which may not be that which users see.

Graphs on ranks, fields and results lie in the host's memory, whatever runs the parts, so that a program is the same
with GPUs and without. Where a part runs on a GPU, fields and graphs are copied there, and frontiers refer to the copy.
Before a run, and where it goes on after a pause, fields are brought there; when it ends or pauses, back. Each of
several GPUs of one process has fields of its own, where its steps run; the first has those that users see.
"""

from __future__ import annotations

import copy
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from frontier.backends.python.hosted import fetching, same
from frontier.backends.python.view import View
from frontier.distributed.partition.own_rows import own_rows
from frontier.distributed.ranks.changes import stays
from frontier.distributed.ranks.graph_copies import Copies, key_of
from frontier.memory import sparse
from frontier.memory.arrays import to_host
from frontier.memory.host import HOST
from frontier.memory.reserved import written
from frontier.program.frontiers import Frontier

if TYPE_CHECKING:
    from collections.abc import Iterable

    from frontier.graph.graph import Graph
    from frontier.memory.base import Memory
    from frontier.memory.placement import Placement
    from frontier.program.problem import Problem

__all__ = ["StepProblem"]


class StepProblem:
    """A problem where its steps run; :meth:`of` gives it.

    Parameters
    ----------
    host : Problem
        The part's problem, as users see it.
    placement : Placement
        What runs its steps, and where.
    problem : Problem
        The same with all fields and the graph in the memory in which steps run; ``host`` itself if that is the host's.
    shown : Memory
        Where the fields of ``host`` lie.
    """

    def __init__(self, host: Problem, placement: Placement, problem: Problem, shown: Memory = HOST) -> None:
        self.host, self.placement, self.problem = host, placement, problem
        self._memory, self._shown, self._copies = placement.memory, shown, Copies(host.graph, placement)
        self._given: tuple[Frontier | None, Frontier | None] = None, None
        self._piles: dict[str, tuple[Frontier, Frontier]] = {}

    @classmethod
    def of(cls, p: Problem, placement: Placement) -> StepProblem:
        """Return that of a problem, always the same one as long as the problem has the same fields."""
        made: StepProblem | None = p.workspace.get(("step problem", placement))
        if made is None:
            made = cls(p, placement, p)
            if placement.memory is not HOST:
                made._copy()
            p.workspace["step problem", placement] = made
        return made

    def _copy(self) -> None:
        p = self.host
        with self.using():
            self._memory.check_room(sum(map(self._size, p.arrays)), "the fields of a rank")
            self.problem = copy.copy(p)  # with the same scalars, which lie on the host everywhere
            vars(self.problem).update(
                graph=self._copies.of(p.graph), piles={}, workspace={},
                arrays={name: self._copies.like(array, [self._own(name)]) for name, array in p.arrays.items()},
            )  # fmt: skip
            self.problem._lay_pairs()
            self._memory.synchronize()  # parts that are threads go on in streams of their own, if they have any

    def using(self) -> AbstractContextManager[None]:
        """Return a context manager for computations there."""
        return nullcontext() if self._memory is HOST else self._memory.using("the part of a rank")

    # ---- graphs and problems ---------------------------------------------------------------------------------

    def on(self, made: Problem) -> Problem:
        """A problem with the host's fields on another graph, as the same with the fields that are there."""
        if self.problem is self.host:
            return made
        if made is self.host:
            return self.problem
        found: Problem | None = self.problem.workspace.get(("on", id(made.graph)))
        if found is None:
            found = copy.copy(self.problem)  # with the same dicts of arrays, scalars and piles
            vars(found).update(graph=self._copies.of(made.graph), workspace={"made of": made.graph})
            self.problem.workspace["on", id(made.graph)] = found
        return found

    def rows(self, first: int, end: int) -> Problem:
        """The problem there on the graph that has the edges of some vertices only."""
        p = self.problem
        made: Problem | None = p.workspace.get("rows")
        if made is None:
            graph = p.graph.cached(f"rows of {first} to {end}", lambda: own_rows(p.graph, first, end))
            made = p.workspace["rows"] = same(p, graph=graph, workspace={})
        return made

    def _size(self, name: str) -> int:
        """Bytes that a field takes there: of rows, all of them."""
        array = self.host.arrays[name]
        size: int = (array if array.ndim > 1 else array[self._own(name)]).nbytes
        return size

    def view(self) -> View:
        """What a functor sees that the host calls once."""
        return View(self.host) if self.problem is self.host else fetching(self.host, self.problem.arrays)

    def take_over(self, other: StepProblem) -> None:
        """Take over another member's values, which the host may have changed between two passes."""
        p, own, memory = other.host, self.host, self._shown
        other._shown.synchronize()  # whoever has written them
        with memory.using("the fields of a problem"):
            for name, array in p.arrays.items():
                if own.arrays[name] is not array:  # of those that stay in parts, or are spread, there is one
                    own.arrays[name][...] = memory.moved(array)
            memory.synchronize()
        for name, value in p.scalars.items():
            own.scalars[name][...] = value
        own.piles.update(p.piles)

    # ---- what changes ----------------------------------------------------------------------------------------

    def bring(self, names: Iterable[str] | None = None, whole: bool = False) -> None:
        """Bring some fields there, all by default: the entries that this part has, or the whole."""
        p, q = self.host, self.problem
        if q.arrays is p.arrays:
            return
        for name in p.arrays if names is None else names:
            if whole:
                self._bring_written(p.arrays[name], q.arrays[name])
                continue
            own = self._own(name)
            q.arrays[name][own] = self._memory.moved(p.arrays[name][own])

    def bring_back(self, names: Iterable[str] | None = None) -> None:
        """Bring some fields back, all by default."""
        p, q = self.host, self.problem
        if q.arrays is p.arrays:
            return
        for name in q.arrays if names is None else names:
            own = self._own(name)
            p.arrays[name][own] = to_host(q.arrays[name][own])

    def bring_piles(self) -> None:
        """Bring piles there, unless they are still what was brought back."""
        p, q = self.host, self.problem
        if q is p:
            return
        for name, pile in p.piles.items():
            before, made = self._piles.get(name, (None, None))
            q.piles[name] = made if pile is before and made is not None else self._moved(pile)

    def bring_piles_back(self) -> None:
        """Bring piles back, when all parts know all their elements."""
        p, q = self.host, self.problem
        if q is p:
            return
        for name, pile in q.piles.items():
            p.piles[name] = _of(p.graph, pile, self._shown.moved)
            self._piles[name] = p.piles[name], pile

    def bring_ghosts(self, ghosts: Any) -> None:
        """Bring entries of arrays of the graph that have come from other ranks, unless they are there."""
        if self.problem is self.host:
            return
        derived, key = self.problem.graph._topology.derived, f"cached {type(ghosts).__name__}"
        if derived.get(key) != ghosts.times:
            g, known = self.host.graph, self._copies.known()
            for array in (getattr(g, name) for name in ghosts.names):
                if key_of(array) in known:
                    self._bring_written(array, known[key_of(array)][1])
            derived[key] = ghosts.times

    def _bring_written(self, array: Any, there: Any) -> None:
        some = written(array)
        sparse.grow(there, some)
        for each in some:
            there[each] = self._memory.moved(array[each])

    def _own(self, name: str) -> slice:
        """The entries of a field that this part has."""
        g = self.host.graph
        return g._topology.ranks.slots_of(g) if stays(self.host, name) else slice(None)

    def frontier(self, f: Frontier | None) -> Frontier | None:
        """The frontier with which a run begins, as a frontier there."""
        if f is None or self.problem is self.host:
            return f
        self._given = f, self._moved(f)
        return self._given[1]

    def _moved(self, f: Frontier) -> Frontier:
        return _of(self.problem.graph, f, self._memory.moved)

    def frontier_back(self, f: Frontier | None) -> Frontier | None:
        """A frontier there as one of the host's graph."""
        if f is None or self.problem is self.host:
            return f
        return self._given[0] if f is self._given[1] else _of(self.host.graph, f, self._shown.moved)


def _of(g: Graph, f: Frontier, moved: Any) -> Frontier:
    return Frontier.all(g, f.kind) if f.is_all else Frontier._of(g, f.kind, ids=moved(f.ids))
