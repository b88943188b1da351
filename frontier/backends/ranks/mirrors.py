"""The class Mirrors: which elements of fields only their owners know, and how the others learn of them.

Every part has arrays of full length, but is responsible for its own elements. What it changes there is noted, and told
to the others when they are going to touch the field elsewhere than at their own elements, or when somebody needs the
field as a whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.ranks.exchange import stays
from frontier.backends.ranks.messages import Section, packed, unpacked
from frontier.backends.ranks.portion import Portion, ascending
from frontier.backends.ranks.rounds import Note
from frontier.program.frontiers import Frontier

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from frontier.backends.ranks.rounds import Rounds
    from frontier.program.problem import Problem

__all__ = ["Mirrors"]


class Mirrors:
    """What a part knows of the elements of others.

    Parameters
    ----------
    p : Problem
    rounds : Rounds
    starts : ndarray
        First vertex of every part, and the number of vertices.
    """

    def __init__(self, p: Problem, rounds: Rounds, starts: NDArray[Any]) -> None:
        self._p, self._rounds = p, rounds
        self._rank, self.parts = rounds.comm.rank, rounds.comm.size
        #: An edge belongs to the owner of its source.
        self._bounds: dict[str, NDArray[Any]] = {"vertex": starts, "edge": p.graph.offsets[starts].astype(np.int64)}
        #: By identity of arrays, because Swap exchanges names: own elements that the others have not been told of;
        #: None: all. All parts have the same arrays here.
        self._untold: dict[int, list[NDArray[Any]] | None] = {}

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

    def own(self, f: Frontier) -> Frontier:
        """The elements of a frontier that this part owns."""
        g = self._p.graph  # f may be of the graph of all
        if isinstance(f, Portion):
            return Frontier._of(g, f.kind, ids=f._ids)
        first, end = self._bounds[f.kind][self._rank : self._rank + 2].tolist()
        if f.is_all:
            ids = np.arange(first, end, dtype=f.id_dtype)
        else:
            ids = f.ids[(f.ids >= first) & (f.ids < end)]
        return Frontier._of(g, f.kind, ids=ids)

    # ---- what the others have not been told of ---------------------------------------------------------------

    def changed(self, name: str, ids: NDArray[Any] | None) -> None:
        """Note that a part has changed some of its own elements of a field; None: perhaps any."""
        if stays(self._p, name):
            return
        array = self._p.arrays[name]
        before = self._untold.setdefault(id(array), [])
        if ids is None:
            self._untold[id(array)] = None
        elif before is not None and len(ids):
            before.append(ids)
            first, end = self.bounds_of(name)[self._rank : self._rank + 2].tolist()
            if sum(map(len, before)) > 2 * (end - first):  # many times the same
                before[:] = [ascending(before, first, end - first)]

    def untold(self, names: Collection[str]) -> list[str]:
        """Those of some fields of which others do not know everything."""
        return [name for name, array in self._p.arrays.items() if name in names and id(array) in self._untold]

    def told(self, names: Sequence[str]) -> list[Section]:
        """What others must be told about fields."""
        made = []
        for name in names:
            array, bounds = self._p.arrays[name], self.bounds_of(name)
            first, end = bounds[self._rank : self._rank + 2].tolist()
            parts = self._untold[id(array)]
            if parts is None:
                made.append(Section(first, end - first, np.arange(first, end), array[first:end]))
                continue
            ids = ascending(parts, first, end - first) if parts else np.empty(0, np.int64)
            made.append(Section(first, end - first, ids, array[ids]))
        return made

    def take(self, names: Sequence[str], kinds: Sequence[str], messages: list[Any]) -> list[Frontier]:
        """Bring in what the others have told about fields; before those come portions of frontiers.

        Parameters
        ----------
        names : sequence of str
        kinds : sequence of str
            Of the frontiers' elements.
        messages : list of bytes-like
            Of all parts.

        Returns
        -------
        list of Frontier
            The whole ones.
        """
        found: list[list[Any]] = [[] for _ in kinds]
        for rank, message in enumerate(messages):
            if rank == self._rank and not kinds:
                continue
            like: list[tuple[int, int, Any]] = [(*self._range(self._bounds[kind], rank), None) for kind in kinds]
            like += [(*self._range(self.bounds_of(name), rank), self._p.arrays[name].dtype) for name in names]
            sections = unpacked(message, like)
            for parts, (ids, _) in zip(found, sections[: len(found)], strict=True):
                parts.append(ids)
            if rank != self._rank:
                for name, (ids, values) in zip(names, sections[len(found) :], strict=True):
                    self._p.arrays[name][ids] = values
        for name in names:
            del self._untold[id(self._p.arrays[name])]
        g = self._p.graph
        whole = []
        for kind, parts in zip(kinds, found, strict=True):
            ids = np.concatenate(parts)
            dtype = g.targets.dtype if kind == "vertex" else g.offsets.dtype
            whole.append(Frontier._of(g, kind, ids=ids.astype(dtype, copy=False)))
        return whole

    @staticmethod
    def _range(bounds: NDArray[Any], rank: int) -> tuple[int, int]:
        first, end = bounds[rank : rank + 2].tolist()
        return first, end - first

    # ---- making things whole ---------------------------------------------------------------------------------

    def complete(self, names: Collection[str], portions: Sequence[Portion] = ()) -> list[Frontier]:
        """Let all parts know all elements of some fields and frontiers."""
        fields = self.untold(names)
        if not fields and not portions:
            return []
        message = packed([*self.sections(portions), *self.told(fields)])
        _, messages = self._rounds.share(Note(), message)
        return self.take(fields, [f.kind for f in portions], messages)

    def sections(self, portions: Sequence[Frontier]) -> list[Section]:
        """Own elements of frontiers, for the others."""
        return [
            Section(*self._range(self._bounds[f.kind], self._rank), f.ids.astype(np.int64, copy=False))
            for f in portions
        ]
