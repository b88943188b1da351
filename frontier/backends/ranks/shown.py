"""What programs under mpirun see of the fields of a problem, and what of these ranks are told at the end of a run.

Every rank has arrays of full length, in which its own elements are right. At the end of a run all ranks are told the
rest of short fields, and of those that the program has looked at as a whole before. Of others, each rank keeps a note
of which of its own elements the others do not know; the next run goes on from there.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.ranks import execution
from frontier.backends.ranks.communicators import world
from frontier.backends.ranks.exchange import stays
from frontier.backends.ranks.fields import FieldInParts, whole
from frontier.errors import FrontierError

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from frontier.graph.graph import Graph
    from frontier.program.problem import Problem

__all__ = ["Shown", "longest_whole"]

#: Values, where FRONTIER_RANKS_WHOLE says nothing.
WHOLE = 1 << 22


def longest_whole() -> int:
    """Return how long a field may be that all ranks are told at the end of a run.

    Raises
    ------
    FrontierError
        FRONTIER_RANKS_WHOLE is not a number of elements.
    """
    text = os.environ.get("FRONTIER_RANKS_WHOLE", "").strip()
    if text and not text.isdecimal():
        raise FrontierError(f"FRONTIER_RANKS_WHOLE={text!r}: a number of elements, or 0 to tell nothing unasked")
    return int(text) if text else WHOLE


class Shown:
    """The fields of one problem, by their arrays, since ``Swap`` exchanges names."""

    def __init__(self) -> None:
        self._comm = world()
        self._made: dict[int, FieldInParts] = {}

    @property
    def longest(self) -> int:
        """How long a field may be that all ranks are told unasked."""
        return longest_whole()

    def of(self, p: Problem, name: str) -> Any:
        """Return what a program sees of a field; those of edges of a graph in parts are each rank's own affair."""
        array, kind = p.arrays[name], p.fields[name].kind
        made = self._made.get(id(array))
        if made is None:
            if stays(p, name):
                return array
            g = p.graph
            made = FieldInParts(f"p.{name}", array, self._comm, lambda: _bounds(g, len(array), kind, self._comm.size))
            self._made[id(array)] = made
        return made

    def known(self, array: NDArray[Any]) -> None:
        """All ranks know all elements of an array."""
        if id(array) in self._made:
            self._made[id(array)].known()

    def in_parts(self, p: Problem) -> dict[str, FieldInParts]:
        """Those that the ranks do not have as a whole."""
        found = {name: self._made.get(id(array)) for name, array in p.arrays.items()}
        return {name: each for name, each in found.items() if each is not None and each.in_parts}

    def given_away(self, p: Problem) -> list[str]:
        """Names of those whose arrays the program may have."""
        found = {name: self._made.get(id(array)) for name, array in p.arrays.items()}
        return [name for name, each in found.items() if each is not None and each.given_away]

    def stay_whole(self, p: Problem, names: Collection[str]) -> None:
        """Let all ranks be told of some fields at the end of each run."""
        for name in names:
            self.of(p, name).stays_whole = True

    def told_to_all(self, p: Problem) -> list[str]:
        """Names of the fields that all ranks are told at the end of a run."""
        most = self.longest
        return [
            name for name, array in p.arrays.items()
            if array.size <= most or (id(array) in self._made and self._made[id(array)].stays_whole)
        ]  # fmt: skip

    def __reduce__(self) -> tuple[Any, ...]:
        """As what a copy of the problem has, whose arrays are copied next."""
        for each in self._made.values():
            whole(each)
        return Shown, ()


def _bounds(g: Graph, length: int, kind: str, size: int) -> NDArray[Any]:
    """First element of every rank, and the number of elements."""
    if kind == "array":
        evenly: NDArray[Any] = length * np.arange(size + 1) // size
        return evenly
    starts = execution._starts(g, size)
    return starts if kind == "vertex" else g.offsets[starts].astype(np.int64)
