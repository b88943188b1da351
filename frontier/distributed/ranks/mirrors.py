"""The class Mirrors: which elements of fields only their owners know, and how the others learn of them.

Every part has arrays of full length, but is responsible for its own elements. What it changes there is noted, and told
to the others when they are going to touch the field elsewhere than at their own elements, or when somebody needs the
field as a whole. In a grid, those of its row and of its column are told of what concerns them, and the rest later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.distributed.ranks.changes import stays
from frontier.distributed.ranks.field_storage import visible
from frontier.distributed.ranks.grid import ALL, COLUMN, ROW
from frontier.distributed.ranks.local_frontier import LocalFrontier, ascending, owned
from frontier.distributed.transport.messages import NOTHING, Section, packed, unpacked
from frontier.distributed.transport.rounds import Note
from frontier.memory.arrays import to_host
from frontier.program.frontiers import Frontier

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from frontier.distributed.merge import Written
    from frontier.distributed.ranks.grid import Grid
    from frontier.distributed.ranks.step_problem import StepProblem
    from frontier.distributed.transport.rounds import Rounds

    #: Fields, and portions of frontiers, by the audience that is told of them.
    Names = Mapping[str, Sequence[str]]
    Portions = Mapping[str, Sequence[Frontier]]

__all__ = ["Mirrors"]


class Mirrors:
    """What a part knows of the elements of others.

    Parameters
    ----------
    placed : StepProblem
        The problem where steps run, and where users see it.
    rounds : Rounds
    starts : ndarray
        First vertex of every part, and the number of vertices.
    grid : Grid, optional
        In which the parts lie.
    """

    def __init__(self, placed: StepProblem, rounds: Rounds, starts: NDArray[Any], grid: Grid | None = None) -> None:
        self._host, self._p, self._rounds, self._grid = placed.host, placed.problem, rounds, grid
        self._rank, self.parts = rounds.comm.rank, rounds.comm.size
        self._memory = self._p.graph.placement.memory
        slots = to_host(self._p.graph.offsets[self._memory.moved(starts)])
        #: An edge belongs to the owner of its source.
        self._bounds: dict[str, NDArray[Any]] = {"vertex": starts, "edge": slots.astype(np.int64)}
        #: For each audience, by identity of arrays, because Swap exchanges names: own elements of which it has not been
        #: told; None: all. All parts have the same arrays here.
        self._untold: dict[str, dict[int, list[NDArray[Any]] | None]] = {
            audience: {} for audience in ((ALL,) if grid is None else (ALL, ROW, COLUMN))
        }

    # ---- who owns what ---------------------------------------------------------------------------------------

    def bounds(self, kind: str) -> NDArray[Any]:
        """First vertex or edge slot of every part, and the number of them."""
        return self._bounds[kind]

    def bounds_of(self, name: str) -> NDArray[Any]:
        """The same for the elements of a field; an ``fr.array`` is shared out evenly."""
        kind = self._p.fields[name].kind
        if kind in self._bounds:
            return self._bounds[kind]
        evenly: NDArray[Any] = len(self._p.arrays[name]) * np.arange(self.parts + 1) // self.parts
        return evenly

    def others(self, each: Written) -> list[slice]:
        """The elements of a field to which a step adds, and of which this part is not told."""
        bounds = self.bounds_of(each.name).tolist()
        if ALL in each.added or self._grid is None:
            return [slice(0, bounds[self._rank]), slice(bounds[self._rank + 1], bounds[-1])]
        ranks = {rank for audience in each.added for rank in self._grid.members[audience]} - {self._rank}
        return [slice(bounds[rank], bounds[rank + 1]) for rank in sorted(ranks)]

    def own(self, f: Frontier) -> Frontier:
        """The elements of a frontier that this part owns."""
        g = self._p.graph  # f may be of the graph of all
        if isinstance(f, LocalFrontier):
            return Frontier._of(g, f.kind, ids=f._ids)
        bounds = self._bounds[f.kind][self._rank : self._rank + 2].tolist()
        return Frontier._of(g, f.kind, ids=owned(f, bounds, self._memory))

    # ---- what the others have not been told of ---------------------------------------------------------------

    def changed(self, name: str, ids: NDArray[Any] | None) -> None:
        """Note that a part has changed some of its own elements of a field; None: perhaps any."""
        if stays(self._p, name):
            return
        array = self._p.arrays[name]
        for untold in self._untold.values():
            before = untold.setdefault(id(array), [])
            if ids is None:
                untold[id(array)] = None
            elif before is not None and len(ids):
                before.append(ids)
                first, end = self.bounds_of(name)[self._rank : self._rank + 2].tolist()
                if sum(map(len, before)) > 2 * (end - first):  # many times the same
                    before[:] = [ascending(before, first, end - first)]

    def untold(self, names: Collection[str], audience: str = ALL) -> list[str]:
        """Those of some fields of which an audience does not know everything."""
        untold = self._untold[audience]
        return [name for name, array in self._p.arrays.items() if name in names and id(array) in untold]

    def _told(self, names: Sequence[str], audience: str) -> Iterator[Section]:
        """What an audience must be told about fields."""
        for name in names:
            array, ids = self._p.arrays[name], self._ids(name, audience)
            first, length = self._range(self.bounds_of(name), self._rank)
            yield Section(first, length, ids, array[first : first + length] if len(ids) == length else array[ids])

    def _ids(self, name: str, audience: str = ALL) -> NDArray[Any]:
        """Own elements of a field that have changed since an audience was told."""
        first, length = self._range(self.bounds_of(name), self._rank)
        parts = self._untold[audience].get(id(self._p.arrays[name]), [])
        if parts is None:
            whole: NDArray[Any] = self._memory.xp.arange(first, first + length)
            return whole
        return ascending(parts, first, length) if parts else self._memory.xp.empty(0, np.int64)

    def _forget(self, told: Names) -> None:
        """Who was told of fields knows them now."""
        for audience, names in told.items():
            for untold in self._untold.values() if audience == ALL else [self._untold[audience]]:
                for name in names:
                    untold.pop(id(self._p.arrays[name]), None)

    # ---- telling others --------------------------------------------------------------------------------------

    def tell(self, note: Note, names: Names, portions: Portions) -> tuple[list[Note], dict[str, list[Frontier]]]:
        """Tell audiences about fields, and portions of frontiers; all parts call this together.

        Returns
        -------
        list of Note
            What all have noted.
        dict of str to list of Frontier
            For each audience the frontiers with the elements of all its parts.
        """
        self._write_rest(names)
        about = [ALL] * self.parts if self._grid is None else self._grid.audiences
        given = {
            audience: NOTHING if note.error else packed(self._message(audience, names, portions))
            for audience in set(about)
        }
        if self._grid is None:
            notes, came = self._rounds.allgather(note, given[ALL])
        else:
            messages = [NOTHING if rank == self._rank else given[audience] for rank, audience in enumerate(about)]
            notes, came = self._rounds.alltoall(note, messages)
        found: dict[str, list[list[Any]]] = {audience: [[] for _ in some] for audience, some in portions.items()}
        for rank, message in enumerate(came):
            self._take(rank, about[rank], message, names, portions, found)
        self._forget(names)
        return notes, {audience: self._whole(portions[audience], parts) for audience, parts in found.items()}

    def _write_rest(self, told: Names) -> None:
        """Write what is not written of fields before others tell what they have changed of them."""
        shown = visible(self._host)
        if shown is not None:
            shown.write_rest(self._host, {name for names in told.values() for name in names})

    def _message(self, audience: str, names: Names, portions: Portions) -> Iterator[Section]:
        """What a part is told that is in this part's row, its column, or neither."""
        for each in (ALL, audience) if audience != ALL else (ALL,):
            yield from map(self._portion, portions.get(each, ()))
            yield from self._told(names.get(each, ()), audience)

    def _portion(self, f: Frontier) -> Section:
        return Section(*self._range(self._bounds[f.kind], self._rank), f.ids.astype(np.int64, copy=False))

    def _take(
        self, rank: int, audience: str, message: Any, names: Names, portions: Portions,
        found: dict[str, list[list[Any]]],
    ) -> None:  # fmt: skip
        """Bring in what a part has told; ``found`` are the elements of frontiers so far."""
        if rank == self._rank:
            for each, some in portions.items():
                for parts, f in zip(found[each], some, strict=True):
                    parts.append(f.ids)
            return
        groups = (ALL, audience) if audience != ALL else (ALL,)
        like: list[tuple[int, int, Any, bool]] = []
        for each in groups:
            like += [(*self._range(self._bounds[f.kind], rank), None, False) for f in portions.get(each, ())]
            of_names = names.get(each, ())
            like += [(*self._range(self.bounds_of(name), rank), self._p.arrays[name], False) for name in of_names]
        sections = iter(unpacked(message, like, self._memory))
        for each in groups:
            for parts in found.get(each, ()):
                parts.append(next(sections)[0])
            for name in names.get(each, ()):
                ids, values = next(sections)
                self._p.arrays[name][ids] = values

    def _whole(self, portions: Sequence[Frontier], found: list[list[Any]]) -> list[Frontier]:
        g, whole = self._p.graph, []
        for f, parts in zip(portions, found, strict=True):
            dtype = g.id_dtype if f.kind == "vertex" else g.offsets.dtype
            ids = self._memory.xp.concatenate(parts)
            whole.append(Frontier._of(g, f.kind, ids=ids.astype(dtype, copy=False)))
        return whole

    @staticmethod
    def _range(bounds: NDArray[Any], rank: int) -> tuple[int, int]:
        first, end = bounds[rank : rank + 2].tolist()
        return first, end - first

    # ---- from run to run -------------------------------------------------------------------------------------

    def results(self) -> list[str]:
        """Names of the fields that all parts are told at the end of a run."""
        shown = visible(self._host)
        return list(self._p.arrays) if shown is None else shown.told_to_all(self._host)

    def take_up(self) -> None:
        """Go on from what earlier runs have left in parts, and from what the host has done since."""
        shown = visible(self._host)
        for name, each in shown.in_parts(self._host).items() if shown is not None else ():
            ids = self._memory.moved(each.untold())
            for untold in self._untold.values():
                before = untold.setdefault(id(self._p.arrays[name]), [])
                if before is not None:
                    before.append(ids)

    def leave(self) -> None:
        """Leave what others have not been told until somebody asks, or for the next run."""
        shown = visible(self._host)
        if shown is None:
            return
        for array in self._host.arrays.values():
            shown.known(array)
        for name in self.untold(self._p.arrays):
            shown.of(self._host, name).leave(to_host(self._left(name)))
        for untold in self._untold.values():
            untold.clear()

    def _left(self, name: str) -> NDArray[Any]:
        """Own elements of a field that not all others know."""
        return self._ids(name)

    # ---- making things whole ---------------------------------------------------------------------------------

    def complete(self, names: Collection[str], portions: Sequence[LocalFrontier] = ()) -> list[Frontier]:
        """Let all parts know all elements of some fields and frontiers."""
        fields = self.untold(names)
        if not fields and not portions:
            return []
        return self.tell(Note(), {ALL: fields}, {ALL: portions})[1][ALL]

    def touching(self, names: Collection[str], portions: Sequence[LocalFrontier] = ()) -> list[Frontier]:
        """Let all parts know of some fields what a step may touch, and frontiers."""
        return self.complete(names, portions)

    def current(self, names: dict[str, frozenset[str]], f: Frontier, audience: str) -> Frontier:
        """Let parts know what a step in a grid touches, and the frontier of all parts of a row or column.

        Parameters
        ----------
        names : dict of str to set of str
            The fields that it touches, by audience.
        f : Frontier
        audience : str
            Who has edges of its vertices.
        """
        fields = {each: self.untold(some, each) for each, some in names.items()}
        asked = isinstance(f, LocalFrontier) and audience not in f.spread
        if asked or any(fields.values()):
            whole = self.tell(Note(), fields, {audience: [f] if asked else []})[1]
            if isinstance(f, LocalFrontier) and asked:
                f.spread[audience] = whole[audience][0]
        return f.spread[audience] if isinstance(f, LocalFrontier) else self._of_members(f, audience)

    def _of_members(self, f: Frontier, audience: str) -> Frontier:
        """The elements of a frontier that the parts of this one's row or column own."""
        assert self._grid is not None
        starts, memory = self._bounds["vertex"], self._memory
        if f.is_all:
            ranges = (np.arange(*starts[rank : rank + 2], dtype=f.id_dtype) for rank in self._grid.members[audience])
            ids = memory.moved(np.concatenate(list(ranges)))
        else:
            marks = np.zeros(self.parts, bool)
            marks[list(self._grid.members[audience])] = True
            there, ends = memory.moved(marks), memory.moved(starts[1:].astype(f.ids.dtype))
            ids = memory.xp.sort(f.ids[there[memory.xp.searchsorted(ends, f.ids, side="right")]])
        return Frontier._of(self._p.graph, "vertex", ids=ids)
