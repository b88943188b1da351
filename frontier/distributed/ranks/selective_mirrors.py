"""The class SelectiveMirrors: mirrors of which readers alone are told what changes often.

All parts are told the first times, because most elements of most programs change once or twice, and at the end all must
know everything anyway. The rest is told of what has changed since when somebody needs the field as a whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.distributed.ranks.grid import ALL
from frontier.distributed.ranks.local_frontier import ascending
from frontier.distributed.ranks.mirrors import Mirrors
from frontier.distributed.transport.messages import NOTHING, Section, packed, unpacked
from frontier.distributed.transport.rounds import Note

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from frontier.distributed.ranks.local_frontier import LocalFrontier
    from frontier.distributed.ranks.mirrors import Names, Portions
    from frontier.distributed.ranks.readers import Readers
    from frontier.program.frontiers import Frontier

__all__ = ["READERS", "SelectiveMirrors"]

#: The audience that has an element at the far end of an edge, and, of elements that all have been told of by now, those
#: that are not in it.
READERS, _REST = "readers", "the rest"

#: All are told so many times what an element has become.
TIMES = 3


class SelectiveMirrors(Mirrors):
    """What a part knows of the elements of others, and who must be told what this one knows."""

    _readers: Readers | None = None

    def select(self, names: frozenset[str], readers: Readers) -> None:
        """Tell readers alone what changes often of some fields."""
        self._near, self._readers = names, readers
        moved = self._memory.moved
        self._by = moved(readers.by)
        self._given, self._taken = [*map(moved, readers.given)], [*map(moved, readers.taken)]
        #: By identity of arrays: how often all were told of each own element, and of which readers alone know more.
        self._times: dict[int, NDArray[np.uint8]] = {}
        self._rest: dict[int, list[NDArray[Any]]] = {}

    def untold(self, names: Collection[str], audience: str = ALL) -> list[str]:
        """Those of some fields of which an audience does not know everything."""
        if self._readers is None:
            return super().untold(names, audience)
        known = self._untold[ALL].keys() | (self._rest.keys() if audience == ALL else set())
        return [name for name, array in self._p.arrays.items() if name in names and id(array) in known]

    def touching(self, names: Collection[str], portions: Sequence[LocalFrontier] = ()) -> list[Frontier]:
        """Let all parts know of some fields what a step may touch, and frontiers."""
        if self._readers is None:
            return super().touching(names, portions)
        fields = {ALL: self.untold(set(names) - self._near), READERS: self.untold(self._near & set(names), READERS)}
        if not any(fields.values()) and not portions:
            return []
        return self.tell(Note(), fields, {ALL: portions})[1][ALL]

    def tell(self, note: Note, names: Names, portions: Portions) -> tuple[list[Note], dict[str, list[Frontier]]]:
        """Tell all, or readers, about fields, and all about portions of frontiers; all parts call this together."""
        forms = [
            (name, audience if id(self._p.arrays[name]) not in self._rest or audience == READERS else _REST)
            for audience, some in names.items() for name in some
        ] if self._readers is not None else []  # fmt: skip
        if all(form == ALL for _, form in forms):
            changed = {name: self._changed(name) for name, _ in forms if name in self._near}
            told = super().tell(note, {ALL: names.get(ALL, [])}, portions)
            for name, each in changed.items():
                self._noted(name, ALL, False, each)
            return told
        self._write_rest(names)
        changed = {name: self._changed(name) for name, _ in forms}
        note.changed = sum(len(often) for _, often in changed.values())
        alike = not note.changed and all(form != _REST for _, form in forms)  # all are told the same
        messages = [NOTHING] * self.parts
        for rank in range(self.parts if note.error is None else 0):
            if rank and alike:
                messages[rank] = messages[0]
                continue
            sections = [self._portion(f) for f in portions.get(ALL, ())]
            for name, form in forms:
                sections += self._sections(rank, name, form, *changed[name])
            messages[rank] = packed(sections)
        notes, came = self._rounds.alltoall(note, messages)
        found: dict[str, list[list[Any]]] = {audience: [[] for _ in some] for audience, some in portions.items()}
        for rank, message in enumerate(came):
            if rank == self._rank:
                self._take(rank, ALL, message, {}, portions, found)
            else:
                self._take_forms(rank, message, forms, portions.get(ALL, ()), found.get(ALL, []))
        often = any(each.changed for each in notes)
        for name, form in forms:
            self._noted(name, form, often, changed[name])
            self._untold[ALL].pop(id(self._p.arrays[name]), None)
        return notes, {audience: self._whole(portions[audience], parts) for audience, parts in found.items()}

    def leave(self) -> None:
        """Leave what others have not been told for when somebody asks, or for the next run."""
        super().leave()
        if self._readers is not None:
            self._rest.clear()

    def _left(self, name: str) -> NDArray[Any]:
        """Own elements of a field that not all others know."""
        rest = self._rest.get(id(self._p.arrays[name]), []) if self._readers is not None else []
        return ascending([self._ids(name), *rest], *self._range(self.bounds_of(name), self._rank))

    # ---- what has changed ------------------------------------------------------------------------------------

    def _changed(self, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """The same: those that have seldom changed, and those that have changed often."""
        ids, times = self._ids(name), self._times.get(id(self._p.arrays[name]))
        if times is None:
            return ids, ids[:0]
        often = times[ids - self.bounds_of(name)[self._rank]] >= TIMES
        return ids[~often], ids[often]

    def _noted(
        self, name: str, form: str, often: bool, changed: tuple[NDArray[Any], NDArray[Any]]
    ) -> None:  # fmt: skip
        """Note what others have been told; ``often``: whether elements of some part have changed often."""
        at = id(self._p.arrays[name])
        if name in self._near:
            first, length = self._range(self.bounds_of(name), self._rank)
            if form == READERS and often:
                rest = self._rest.setdefault(at, [])
                rest.append(changed[1])
                if sum(map(len, rest)) > 2 * length:
                    rest[:] = [ascending(rest, first, length)]
            self._times.setdefault(at, self._memory.xp.zeros(length, np.uint8))[changed[0] - first] += 1
        if form != READERS:
            self._rest.pop(at, None)

    # ---- messages --------------------------------------------------------------------------------------------

    def _sections(
        self, rank: int, name: str, form: str, seldom: NDArray[Any], often: NDArray[Any]
    ) -> Iterator[Section]:  # fmt: skip
        """What a rank is told about a field, of which elements have changed seldom, or often."""
        assert self._readers is not None
        (first, length), array = self._range(self.bounds_of(name), self._rank), self._p.arrays[name]
        if form == ALL:
            ids = self._ids(name)
            yield Section(first, length, ids, array[ids])
            return
        by, given, xp = self._by[rank], self._given[rank], self._memory.xp
        if form == READERS:
            yield Section(first, length, seldom, array[seldom])
            whole = len(often) == length
            places = xp.arange(len(given)) if whole else xp.searchsorted(given, often[by[often - first]])
            yield Section(0, len(given), places, array[given[places]], True)
            return
        ids, others = self._ids(name), self._memory.moved(self._readers.unread(rank))
        rest = ascending([*self._rest[id(array)], ids], first, length)
        places = xp.searchsorted(given, ids[by[ids - first]])
        farther = xp.searchsorted(others, rest[~by[rest - first]])
        yield Section(0, len(given), places, array[given[places]])
        yield Section(0, len(others), farther, array[others[farther]], True)

    def _take_forms(
        self, rank: int, message: Any, forms: list[tuple[str, str]], portions: Sequence[Frontier],
        found: list[list[Any]],
    ) -> None:  # fmt: skip
        """Bring in what a part has told; ``found`` are the elements of frontiers so far."""
        like: list[tuple[int, int, Any, bool]] = [
            (*self._range(self._bounds[f.kind], rank), None, False) for f in portions
        ]
        into: list[tuple[Any, Any]] = []  # the field of each section, and the vertices whose places it has
        for name, form in forms:
            array, own = self._p.arrays[name], self._range(self.bounds_of(name), rank)
            for at, where in enumerate(self._lists(rank, form)):
                like.append((*(own if where is None else (0, len(where))), array, at > 0))
                into.append((array, where))
        sections = unpacked(message, like, self._memory)
        for parts, (ids, _) in zip(found, sections, strict=False):
            parts.append(ids)
        for (array, where), (ids, values) in zip(into, sections[len(found) :], strict=True):
            array[ids if where is None else where[ids]] = values

    def _lists(self, rank: int, form: str) -> list[Any]:
        """Of which vertices a rank sends places, section by section; None: it sends ids."""
        if form == ALL:
            return [None]
        assert self._readers is not None
        taken = self._taken[rank]
        return [None, taken] if form == READERS else [taken, self._memory.moved(self._readers.not_read(rank))]
