"""Ghosts: entries of arrays of edges that a rank has of other ranks' edges, for steps that look at them.

Arrays of edges are as long as those of the whole graph on every rank, so a ghost lies at the same slot as with its
owner, and compiled code finds it there. There are two kinds: the *lists* of far ends, which are brought when a step
first runs on an edge that leads there, and the *slots* of all in-edges. Of both, each rank knows what others have of
it. So when fields of edges have changed, their owners send values alone.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from frontier.distributed.transport.rounds import common
from frontier.errors import FrontierMemoryError
from frontier.memory import limits
from frontier.memory.shortage import lacking

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from frontier.distributed.transport.communicators import Communicator
    from frontier.graph.graph import Graph
    from frontier.graph.topology import Array
    from frontier.program.frontiers import Frontier
    from frontier.program.step import Step

__all__ = ["Lists", "Slots"]

#: Entries that a rank sends at a time, and bytes of a page, the least that memory is taken by.
PIECE, PAGE = 1 << 22, 4096

_HINT = 'more ranks on more hosts would help, or g.to("cpu").to("ranks"), with the whole graph on every rank'


class _Ghosts(ABC):
    """Entries that a part has of others' edges; all ranks call everything together.

    Parameters
    ----------
    g : Graph
        The part.
    comm : Communicator
    what : str
        For messages.
    """

    def __init__(self, g: Graph, comm: Communicator, what: str) -> None:
        self._g, self._comm, self._what = g, comm, what
        self._starts: Array = g._topology.ranks.starts
        self._first, self._end = self._starts[comm.rank : comm.rank + 2].tolist()
        #: What this rank has of each other, and what each other has of it, ascending.
        self._asked: list[Array] = []
        self._wanted: list[Array] = []
        #: Arrays of the graph whose ghosts are there, and how often some have come.
        self.names: set[str] = set()
        self.times = 0

    def _have(self, names: Iterable[str]) -> None:
        """Have what has been asked for so far of arrays of the graph."""
        missing = set(names) - self.names
        if missing:
            arrays = self._arrays(missing)
            self._check_room(arrays, self._asked)
            self._bring(arrays, self._asked, self._wanted)
            self.names |= missing
            self.times += 1

    @abstractmethod
    def _slots(self, asked: Array) -> Array:
        """The slots of what a rank has asked for."""

    @abstractmethod
    def _sizes(self, asked: Array) -> Array:
        """How many slots each has."""

    def _bring(self, arrays: Iterable[Array], asked: list[Array], wanted: list[Array]) -> None:
        """Write ghosts that have been asked for to their slots, piece by piece."""
        given = list(arrays)
        writeable = [_writeable(array) for array in given]
        turns = max(self._comm.allgather(1 + sum(int(self._sizes(each).sum()) for each in wanted) // PIECE))
        pieces = [list(self._pieces(each, turns)) for each in asked]
        sent = [list(self._pieces(each, turns)) for each in wanted]
        for turn in range(turns):
            there = [self._slots(each[turn]) for each in sent]
            told = self._comm.alltoall([[array[slots] for array in given] for slots in there])
            for each, values in zip(pieces, told, strict=True):
                slots = self._slots(each[turn])
                for array, part in zip(writeable, values, strict=True):
                    array[slots] = part

    def _pieces(self, asked: Array, turns: int) -> Iterator[Array]:
        """Cut into pieces of about equally many slots, as both sides do."""
        upto = np.cumsum(self._sizes(asked))
        total = int(upto[-1]) if len(upto) else 0
        cuts = np.searchsorted(upto, [total * turn // turns for turn in range(1, turns)]).tolist()
        for begin, end in itertools.pairwise([0, *cuts, len(asked)]):
            yield asked[begin:end]

    def _check_room(self, arrays: Iterable[Array], asked: list[Array]) -> None:
        """Raise FrontierMemoryError on all ranks if they do not fit on one; memory is taken by pages."""
        needed = sum(self._pages(array.itemsize, each) * PAGE for array in arrays for each in asked)
        free, where = limits.free()
        for rank, (its, left, at) in enumerate(self._comm.allgather((needed, free, where))):
            if its * self._comm.neighbours > left:
                raise common(lacking(
                    FrontierMemoryError, its, left // self._comm.neighbours,
                    f"{self._what}, which rank {rank} of {self._comm.size} needs of others", _HINT, at,
                ))  # fmt: skip

    def _pages(self, itemsize: int, asked: Array) -> int:
        slots, sizes = self._begins(asked), self._sizes(asked)
        slots, sizes = slots[sizes > 0], sizes[sizes > 0]
        first, last = slots * itemsize // PAGE, ((slots + sizes) * itemsize - 1) // PAGE
        return int((last - np.maximum(first, np.concatenate(([-1], last[:-1])) + 1) + 1).sum()) if len(slots) else 0

    @abstractmethod
    def _begins(self, asked: Array) -> Array:
        """The first slot of each, ascending."""

    def refresh(self, arrays: list[Array]) -> None:
        """Bring what owners have changed of fields of edges."""
        if self._comm.together:  # threads share these arrays; all must have come here before anyone goes on
            self._comm.allgather(None)
        else:
            self._bring(arrays, self._asked, self._wanted)

    def _arrays(self, names: Iterable[str]) -> list[Array]:
        return [getattr(self._g, name) for name in sorted(names)]


class Lists(_Ghosts):
    """The lists of far ends."""

    def __init__(self, g: Graph, comm: Communicator) -> None:
        super().__init__(g, comm, "the lists of vertices")
        self._has = np.zeros(g.num_vertices, bool)
        self._has[self._first : self._end] = True
        self._asked = [np.empty(0, np.int64)] * comm.size
        self._wanted = list(self._asked)
        #: The far ends of which all ranks have all lists.
        self._complete: set[str] = set()

    def bring(self, names: Iterable[str], step: Step, own: Frontier, everything: bool) -> bool:
        """Have the lists that a step looks at: of the far ends of edges on which it runs.

        Parameters
        ----------
        names : iterable of str
            Arrays of the graph.
        step : Step
        own : Frontier
            This rank's elements.
        everything : bool
            Whether it runs on all elements.

        Returns
        -------
        bool
            Whether lists have come.
        """
        self._have(names)
        if step.far in self._complete:
            return False
        found = np.zeros(self._g.num_vertices, bool)
        found[self._far_ends(step, own)] = True
        found &= ~self._has
        ids = np.flatnonzero(found)
        if everything:
            self._complete |= {step.far} if step.far == "src" else {step.far, "dst", ""}
        if not any(self._comm.allgather(len(ids) > 0)):
            return False
        asked = np.split(ids, np.searchsorted(ids, self._starts[1:-1]))
        arrays = self._arrays(self.names)
        self._check_room(arrays, asked)
        wanted = self._comm.alltoall(asked)
        self._bring(arrays, asked, wanted)
        self._has |= found
        self.times += 1
        self._asked = _merged(self._asked, asked)
        self._wanted = _merged(self._wanted, wanted)
        return True

    def _far_ends(self, step: Step, own: Frontier) -> Array:
        g = self._g
        offsets, ends = (g.in_offsets, g.in_sources) if step.far == "src" else (g.offsets, g.targets)
        found: Array = ends[own.ids if own.kind == "edge" else _ranges(offsets[own.ids], offsets[own.ids + 1])]
        return found

    def _slots(self, asked: Array) -> Array:
        return _ranges(self._g.offsets[asked], self._g.offsets[asked + 1])

    def _begins(self, asked: Array) -> Array:
        begins: Array = self._g.offsets[asked].astype(np.int64)
        return begins

    def _sizes(self, asked: Array) -> Array:
        sizes: Array = self._g.offsets[asked + 1].astype(np.int64) - self._begins(asked)
        return sizes


class Slots(_Ghosts):
    """The slots of the in-edges of a rank's vertices."""

    def __init__(self, g: Graph, comm: Communicator) -> None:
        super().__init__(g, comm, "the edges")
        first, end = (int(g.offsets[at]) for at in (self._first, self._end))
        mine = np.sort(g.in_edges[int(g.in_offsets[self._first]) : int(g.in_offsets[self._end])])
        self._asked = np.split(mine, np.searchsorted(mine, g.offsets[self._starts[1:-1]]))
        owner = np.searchsorted(self._starts[1:], g.targets[first:end], side="right")
        self._wanted = [np.flatnonzero(owner == rank).astype(mine.dtype) + first for rank in range(comm.size)]
        self._asked[comm.rank] = self._wanted[comm.rank] = mine[:0]

    def bring(self, names: Iterable[str]) -> None:
        """Have entries of arrays of the graph."""
        self._have(names)

    def _slots(self, asked: Array) -> Array:
        return asked

    def _begins(self, asked: Array) -> Array:
        return asked.astype(np.int64)

    def _sizes(self, asked: Array) -> Array:
        return np.ones(len(asked), np.int64)


def _writeable(array: Array) -> Array:
    """The same memory, of an array that is read-only for users."""
    made = array.view()
    made.flags.writeable = True
    return made


def _ranges(begins: Array, ends: Array) -> Array:
    """All numbers of some ranges, one after the other."""
    counts = (ends - begins).astype(np.int64)
    return np.arange(int(counts.sum())) + np.repeat(begins - np.cumsum(counts) + counts, counts)


def _merged(before: list[Array], more: list[Array]) -> list[Array]:
    return [np.union1d(one, other) for one, other in zip(before, more, strict=True)]
