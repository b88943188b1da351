"""The class LocalFrontier: a frontier of which each part has the elements that it owns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.distributed.ranks.changes import distinct
from frontier.memory.arrays import namespace_of
from frontier.program.frontiers import Frontier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from frontier.graph.graph import Graph
    from frontier.memory.base import Memory
    from frontier.program.step import Step

__all__ = ["LocalFrontier", "ascending", "owned"]


class LocalFrontier(Frontier):
    """A part's own elements of a frontier, and how many it has on all parts together, which is its length."""

    __slots__ = ("maker", "spread", "total")

    total: int
    #: The step that has made it.
    maker: Step | None
    #: In a grid, the elements of all parts of this one's row or column, if they have told each other.
    spread: dict[str, Frontier]

    @classmethod
    def of(cls, graph: Graph, kind: str, ids: NDArray[Any], total: int) -> LocalFrontier:
        """Return the portion with these elements, ascending."""
        made = cls.__new__(cls)
        made.graph, made.kind, made._all, made._mask = graph, kind, False, None
        made._ids = ids.astype(made.id_dtype, copy=False)
        made.total, made.maker, made.spread = total, None, {}
        return made

    def __len__(self) -> int:
        return self.total


def ascending(parts: list[NDArray[Any]], first: int, length: int) -> NDArray[Any]:
    """The set of all elements in some arrays of ids of a range, at least one array, ascending."""
    some = [part for part in parts if len(part)]
    xp = namespace_of(parts[0])
    if len(some) <= 1:
        ids = some[0] if some else parts[0]
        if len(ids) < 2 or (ids[1:] > ids[:-1]).all():  # as they nearly always are
            return ids.astype(np.int64, copy=False)
    if sum(map(len, some)) * 16 < length:
        return distinct(xp.concatenate(some)).astype(np.int64, copy=False)
    marks = xp.zeros(length, bool)
    for ids in some:
        marks[ids - first] = True
    found: NDArray[Any] = xp.flatnonzero(marks) + first
    return found


def owned(f: Frontier, bounds: Sequence[int], memory: Memory) -> Any:
    """Return the elements of a frontier that a member owns, who owns a range; they lie in its memory."""
    first, end = bounds
    if f.is_all:
        return memory.xp.arange(first, end, dtype=f.id_dtype)
    ids = f.ids
    return ids[(ids >= first) & (ids < end)]
