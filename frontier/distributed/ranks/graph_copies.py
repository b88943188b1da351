"""Copies of a rank's graphs in the memory where its steps run, made once.

Graphs of one rank share arrays: the whole graph, its part, blocks of a grid. What they share is copied once. Of a graph
in parts, arrays of edges have their full length, and memory for what the rank has.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from frontier.graph.graph import Graph
from frontier.graph.topology import Topology, moved_offsets
from frontier.memory import sparse
from frontier.memory.reserved import written
from frontier.system.forks import renewed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from frontier.memory.placement import Placement

__all__ = ["Copies", "key_of"]

#: What is derived from a graph, and the same wherever it lies.
NUMBERS = ("max_degree", "traits", "num_loops", "min_weight", "max_weight")

#: Parts that are threads of one process share arrays of the graph.
_copying = renewed(threading.Lock())


class Copies:
    """Copies of graphs that a rank has: of ``base``, and of those that are made of it."""

    def __init__(self, base: Graph, placement: Placement) -> None:
        self._base, self._placement, self._memory = base, placement, placement.memory

    def of(self, g: Graph) -> Graph:
        """Return the copy of a graph."""
        base, known = self._base._topology, self.known()
        if g._topology is base and base.divided is None:
            made = g.to(self._placement)
            for name in ("offsets", "targets", "weights"):
                array = getattr(g, name)
                if array is not None:
                    known[key_of(array)] = array, getattr(made, name)
            return made
        return g._once(f"copy on {self._placement}", lambda: self._copied(g, known))

    def known(self) -> dict[Any, tuple[Any, Any]]:
        """Return arrays of the host, and what they are there."""
        derived = self._base._topology.derived
        made: dict[Any, tuple[Any, Any]] = derived.setdefault(f"arrays on {self._placement}", {})
        return made

    def _copied(self, g: Graph, known: dict[Any, tuple[Any, Any]]) -> Graph:
        top = g._topology

        def moved(array: Any) -> Any:
            key = key_of(array)
            with _copying:  # no other part may take an array that is not filled yet
                if key not in known:
                    some = written(array)
                    width = array.nbytes // max(len(array), 1)
                    self._memory.check_room(sum(each.stop - each.start for each in some) * width, "a rank's edges")
                    made = self.like(array, some)
                    for each in some:
                        made[each] = self._memory.moved(array[each])
                    self._memory.synchronize()  # whichever stream reads it next
                    known[key] = array, made
            return known[key][1]

        def begins(offsets: Any) -> Any:
            return moved_offsets(offsets, lambda array, kind: moved(array))

        weights = None if top.weights is None else moved(top.weights)
        made = Topology(begins(top.offsets), moved(top.targets), weights, top.directed, None, {}, {})
        made.divided = top.divided
        if top.divided is not None:
            made.recipes["sources"] = lambda: moved(g.sources)
            if not g.symmetric:  # which in-lists of the host say: targets of others are not there
                made.recipes["in_degree"] = lambda: moved(g.in_degree)
        made.derived.update({name: top.derived[name] for name in NUMBERS if name in top.derived})
        made.recipes["in_lists"] = lambda: (begins(g._in_lists()[0]), moved(g._in_lists()[1]))
        if top.sparse:
            made.recipes["max_degree"] = lambda: g.max_degree
            built = top.derived.get("in_lists")  # by which code knows that in-lists are doubly compressed
            made.derived.update({} if built is None else {"in_lists": (begins(built[0]), moved(built[1]))})
        made.recipes["in_edges"] = lambda: moved(g.in_edges)
        return Graph._wrap(made, self._placement)

    def like(self, array: Any, parts: Sequence[slice]) -> Any:
        """Return an array of zeros there, with memory for some parts."""
        if array.ndim > 1 or (len(parts) == 1 and len(array[parts[0]]) == len(array)):
            return self._memory.xp.zeros(array.shape, array.dtype)
        return sparse.zeros(len(array), array.dtype, parts, self._memory.index)  # type: ignore[attr-defined]


def key_of(array: Any) -> tuple[Any, ...]:
    """Return what tells arrays of the host apart."""
    return array.__array_interface__["data"][0], len(array), array.dtype.str
