"""Which ranks read a vertex: those that have it at the far end of an edge. Only these must know what its owner changes.

Both sides know the list of what one rank has of another, so places in that list travel instead of ids, and nothing at
all besides values where everything in it has changed.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np

from frontier.distributed.ranks.access import reached
from frontier.program.loop import Loop
from frontier.program.step import walk

if TYPE_CHECKING:
    from collections.abc import Collection

    from frontier.distributed.merge import Written
    from frontier.distributed.ranks.plans import Plan, Plans
    from frontier.distributed.transport.communicators import Communicator
    from frontier.graph.graph import Graph
    from frontier.graph.topology import Array
    from frontier.program.problem import Problem
    from frontier.program.step import Step

__all__ = ["Readers", "read_at_ends"]

#: Vertices are told to their readers alone if these are at most so many of all other ranks, on average.
FEW = 0.6


def read_at_ends(
    program: Step, p: Problem, names: Collection[str], turning: Collection[Step], plans: Plans
) -> tuple[frozenset[str], frozenset[str]]:
    """Those of some fields that are touched at far ends of edges and nowhere else, and which edges these are.

    Left out are those whose elements change once, because loops only claim them: all ranks must know these anyway.

    Parameters
    ----------
    program : Step
    p : Problem
    names : collection of str
    turning : collection of Step
        Those that may pull.
    plans : Plans

    Returns
    -------
    names : frozenset of str
    edges : frozenset of {"out", "in"}
    """
    repeated = {
        each.name for loop in walk(program) if isinstance(loop, Loop) for step in walk(loop)
        if step.divides and not step.counted for each in _written(plans.of(step)) if each.combine != "claim"
    }  # fmt: skip
    if repeated.isdisjoint(names):
        return frozenset(), frozenset()
    found = {name: set[str]() for name in names if name in repeated and p.fields[name].kind == "vertex"}
    for step in walk(program):
        if step.divides and not step.counted:
            for name, edges in reached(step, p, step in turning).items():
                if "any" in edges:
                    found.pop(name, None)
                elif name in found:
                    found[name] |= edges
    return frozenset(found), frozenset().union(*found.values())


def _written(plan: Plan) -> list[Written]:
    return [*plan.sent, *plan.own]


class Readers:
    """Who reads this rank's vertices, and what this rank reads of the others'; made by :meth:`of`.

    Attributes
    ----------
    given : list of ndarray
        For every rank, which vertices of this one it reads, ascending.
    taken : list of ndarray
        For every rank, which of its vertices this one reads.
    by : ndarray of bool, shape (ranks, own vertices)
        The same as ``given``.
    few : bool
        Whether that is clearly less than if all ranks were told everything.
    """

    def __init__(self, g: Graph, comm: Communicator, starts: Array, edges: frozenset[str]) -> None:
        first, end = starts[comm.rank : comm.rank + 2].tolist()
        own = slice(int(g.offsets[first]), int(g.offsets[end]))
        degree = np.diff(g.offsets[first : end + 1])
        reads = np.zeros(g.num_vertices, bool)
        if "out" in edges or g.symmetric:
            reads[g.targets[own]] = True
        by = np.array(self._exchanged(comm, np.split(reads, starts[1:-1]), end - first))
        if "in" in edges and not g.symmetric:
            owner = np.searchsorted(starts[1:], g.targets[own], side="right")
            by[owner, np.repeat(np.arange(end - first), degree)] = True
            reads = np.concatenate(self._exchanged(comm, list(by), np.diff(starts).tolist()))
        by[comm.rank] = reads[first:end] = False
        self.by, self._reads, self._starts, self._rank = by, reads, starts, comm.rank
        self.given = [(np.flatnonzero(each) + first).astype(g.id_dtype) for each in by]
        self.taken = [
            (np.flatnonzero(each) + at).astype(g.id_dtype)
            for at, each in zip(starts.tolist(), np.split(reads, starts[1:-1]), strict=False)
        ]
        told = comm.allgather((int(by.sum()), int((by.any(0) | (degree > 0)).sum())))
        others = (comm.size - 1) * sum(each[1] for each in told)
        self.ratio = sum(each[0] for each in told) / max(others, 1)
        self.few = sum(each[0] for each in told) <= FEW * others and comm.size > 1
        if not self.few:  # nobody asks for more
            self.given = self.taken = []
            self.by = self._reads = by[:0].copy()  # no view, which would keep them

    @staticmethod
    def _exchanged(comm: Communicator, marks: list[Array], lengths: int | list[int]) -> list[Array]:
        """Give every rank the marks for it, as bits."""
        told = comm.alltoall([np.packbits(each) for each in marks])
        counts = lengths if isinstance(lengths, list) else [lengths] * comm.size
        return [np.unpackbits(each, count=n).astype(bool) for each, n in zip(told, counts, strict=True)]

    @classmethod
    def of(cls, g: Graph, comm: Communicator, starts: Array, edges: frozenset[str]) -> Readers:
        """Return those of a graph; all ranks call this together."""
        # not by g.cached: of a whole graph, parts that are threads would wait for each other there
        known = g._topology.derived
        key = f"readers {comm.rank} {sorted(edges)} {comm.size} {zlib.crc32(np.ascontiguousarray(starts).data)}"
        if key not in known:
            known[key] = cls(g, comm, starts, edges)
        made: Readers = known[key]
        return made

    def unread(self, rank: int) -> Array:
        """Vertices of this rank that another one does not read."""
        found: Array = np.flatnonzero(~self.by[rank]) + self._starts[self._rank]
        return found

    def not_read(self, rank: int) -> Array:
        """Vertices of another rank that this one does not read."""
        first, end = self._starts[rank : rank + 2].tolist()
        found: Array = np.flatnonzero(~self._reads[first:end]) + first
        return found
