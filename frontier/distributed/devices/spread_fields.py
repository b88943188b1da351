"""The class SpreadFields: fields of vertices of which each of several GPUs has the elements of its own vertices."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.memory import spread
from frontier.memory.arrays import is_device
from frontier.program.field_store import FieldStore, length_of, refuse_adopting
from frontier.program.values import fits, plain

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.program.pairs import Pair
    from frontier.program.problem import Field, Problem

__all__ = ["SpreadFields", "spread_fields"]


class SpreadFields(FieldStore):
    """The fields of a problem on a graph whose edges are spread.

    Attributes
    ----------
    spread : set of str
        Fields of vertices of which each GPU has a part.
    fresh : set of str
        Those of them that have one value, which nobody has seen since they were made.
    unfilled : set of str
        Those of them whose memory does not have that value yet.
    """

    in_one_memory = False

    def __init__(self) -> None:
        self.spread: set[str] = set()
        self.fresh: set[str] = set()
        self.unfilled: set[str] = set()

    def bytes_in_memory(self, g: Graph, fields: Mapping[str, Field], pairs: Collection[Pair]) -> list[int]:
        """Sizes of the fields of vertices that the first GPU has as a whole."""
        whole = {
            name: made for name, made in fields.items()
            if made.kind == "vertex" and not self.spreads(g, name, made, pairs)
        }  # fmt: skip
        return super().bytes_in_memory(g, whole, pairs)

    def spreads(self, g: Graph, name: str, made: Field, pairs: Collection[Pair]) -> bool:
        """Whether each GPU has the elements of its own vertices: of long fields, but not of two in one word."""
        in_a_word = any(pair.word and name in pair[:2] for pair in pairs)
        if not g.placement.backend.divides or made.kind != "vertex" or made.width or in_a_word:
            return False
        return g._topology.gpus.takes(g.num_vertices, made.dtype)

    def make(self, g: Graph, name: str, made: Field, pairs: Collection[Pair]) -> Any:
        """Return the array of a field; one of edges lies as the edges do."""
        length, how = length_of(g, made.kind), g._topology.gpus
        if not made.copy:
            raise refuse_adopting(name)
        if made.kind == "edge" and not made.width:
            if not made.plain:
                fits(made.init, made.dtype, name, length, "edges")  # type: ignore[arg-type]  # edges have a dtype
            return how.full(made.init, made.dtype)
        if not self.spreads(g, name, made, pairs):
            return super().make(g, name, made, pairs)
        assert made.dtype is not None
        if not made.plain:
            fits(made.init, made.dtype, name, length, "vertices")
        given = made.init if is_device(made.init) or not np.ndim(made.init) else np.array(made.init, made.dtype)
        given = plain(given) if np.ndim(given) == 0 else given
        array = how.vertices(given, made.dtype)
        self.spread.add(name)
        if isinstance(given, int | float | np.generic):
            self.fresh.add(name)
            self.unfilled.add(name)
        elif np.ndim(given) == 0:  # an array, which what looks at fresh fields does not expect
            how.fill([(array, given)])
        return array

    def filler(self, p: Problem, name: str, value: Any) -> Callable[[], Any]:
        """Return a function that lets the elements of a field have one value, as when it was made."""
        if name in self.spread:
            return partial(self._renew, name)
        if spread.is_spread(p.arrays[name]):
            return partial(p.graph._topology.gpus.fill, [(p.arrays[name], value)])
        return super().filler(p, name, value)

    def _renew(self, name: str) -> None:
        self.fresh.add(name)
        self.unfilled.add(name)

    def seen(self, p: Problem, name: str) -> Any:
        """Return the array of a field, which has its values now."""
        if name in self.fresh:
            self.look_at(p, {name})
        return p.arrays[name]

    def look_at(self, p: Problem, names: Collection[str]) -> None:
        """Somebody looks at fields that GPUs have not filled, or are still filling, and may write to them."""
        looked = self.fresh.intersection(names)
        if looked:
            values = [(p.arrays[name], plain(p.fields[name].init)) for name in looked & self.unfilled]
            p.graph._topology.gpus.fill(values)
            self.known(looked)

    def known(self, names: Collection[str]) -> None:
        """Fields may have any values from now on, which are in their memory."""
        self.unfilled.difference_update(names)  # first: what is unfilled is fresh, also if Ctrl-C comes in between
        self.fresh.difference_update(names)

    def copied(self, p: Problem) -> None:
        """Copies of arrays lie on one GPU."""
        self.spread = {name for name in self.spread if spread.is_spread(p.arrays[name])}


def spread_fields(p: Problem) -> SpreadFields:
    """Return which fields of a problem are spread; none, where the graph is not."""
    store = p._store
    return store if isinstance(store, SpreadFields) else SpreadFields()
