"""The class Record: the frontiers that a loop keeps, pass by pass, for a replay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.errors import FrontierError
from frontier.memory.arrays import is_device, namespace_of

if TYPE_CHECKING:
    from frontier.program.frontiers import Frontier

__all__ = ["Record"]


class Record:
    """Frontiers of which no two have an element in common.

    Recorded elements are marked, so that a pass looks at its own elements only, and not at those of the passes before.

    Attributes
    ----------
    passes : list of Frontier
        The frontier of each pass; another list once the record begins anew.
    """

    def __init__(self, name: str) -> None:
        self.passes: list[Frontier] = []
        self._name = name
        #: By kind, whether each element is recorded.
        self._marks: dict[str, Any] = {}

    def begin(self) -> None:
        """Begin anew, with no pass. A replay of the record that was before goes on with that."""
        for f in self.passes:
            self._marks[f.kind][f.ids] = False
        self.passes = []

    def add(self, f: Frontier) -> None:
        """Add the frontier of a pass; raise FrontierError if one of its elements is recorded already."""
        ids = f.ids
        marks = self._marks.get(f.kind)
        if marks is None:
            marks = self._marks[f.kind] = _no_marks(f)
        again = ids[marks[ids]]
        if len(again):
            raise FrontierError(f"record={self._name!r}: {f.kind} {self._first(f.kind, again)} occurs in two passes")
        marks[ids] = True
        self.passes.append(f)

    def _first(self, kind: str, again: Any) -> int:
        """Of elements that are recorded, the least one of the earliest pass."""
        xp = namespace_of(again)
        found = (xp.intersect1d(f.ids, again) for f in self.passes if f.kind == kind)
        return next(int(common[0]) for common in found if len(common))


def _no_marks(f: Frontier) -> Any:
    """Marks for all elements that a frontier of this kind could have, where its ids lie."""
    memory = f.graph.placement.memory
    with memory.using("the marks of a record"):
        if is_device(f.ids):
            return memory.full(f.capacity, False, np.bool_)
        return np.zeros(f.capacity, np.bool_)  # a rank has memory only for pages with elements that it marks
