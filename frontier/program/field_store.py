"""The class FieldStore: makes the arrays of a problem's fields, and says what users see of them.

A problem has one, from the backend of its graph. The base class keeps every field whole, in the memory of the graph.
Backends that divide graphs have stores of their own: :mod:`frontier.distributed.devices.spread_fields` spreads fields
over several GPUs, :mod:`frontier.distributed.ranks.visible_fields` shows those of processes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.errors import FrontierError
from frontier.memory.arrays import is_device, matching
from frontier.program.pairs import side_by_side
from frontier.program.values import fits, plain, read

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.program.pairs import Pair
    from frontier.program.problem import Field, Problem

__all__ = ["FieldStore", "length_of", "refuse_adopting"]

_ELEMENTS = {"vertex": "vertices", "edge": "edges"}


def length_of(g: Graph, kind: str) -> int:
    """The number of vertices, or of edge slots."""
    return g.num_vertices if kind == "vertex" else g.num_slots


class FieldStore:
    """Fields in the memory of their graph."""

    #: Whether everything is there.
    in_one_memory = True

    #: Whether a prepared call may use the fields again.
    reusable = True

    def bytes_in_memory(self, g: Graph, fields: Mapping[str, Field], pairs: Collection[Pair]) -> list[int]:
        """Sizes of the fields of vertices and edges that are to lie in the memory of the graph."""
        each = [made for made in fields.values() if made.kind in _ELEMENTS and made.dtype is not None]
        return [made.dtype.itemsize * length_of(g, made.kind) * (made.width or 1) for made in each if made.dtype]

    def spreads(self, g: Graph, name: str, made: Field, pairs: Collection[Pair]) -> bool:
        """Whether each of several GPUs has the elements of its own vertices, and not the first one the whole field."""
        return False

    def make(self, g: Graph, name: str, made: Field, pairs: Collection[Pair]) -> Any:
        """Return the array of a field with its initial values."""
        memory, dtype = g.placement.memory, made.dtype
        assert dtype is not None
        if made.kind == "array":
            return memory.moved(made.init, copy=True)
        length = length_of(g, made.kind)
        if not made.copy:
            return self.adopted(g, name, made, pairs)
        if made.width:
            return _wide(g, name, made, length)
        if made.plain:
            return memory.full(length, made.init, dtype)
        fits(made.init, dtype, name, length, _ELEMENTS[made.kind])
        if np.ndim(made.init) == 0:
            return memory.full(length, plain(made.init), dtype)
        if is_device(made.init):
            return memory.moved(made.init).astype(dtype, order="C")
        return memory.moved(np.array(read(made.init, name), dtype))

    def adopted(self, g: Graph, name: str, made: Field, pairs: Collection[Pair]) -> Any:
        """Return the array of a user that is a field."""
        if any(name in pair[:2] and pair.word for pair in pairs):
            raise FrontierError(f"field {name!r}: copy=False does not go with with_=: both fields lie in one array")
        length = length_of(g, made.kind)
        values, shape = read(made.init, f"field {name!r}"), (length, made.width) if made.width else (length,)
        here = isinstance(values, g.placement.memory.xp.ndarray)
        wrong = (
            f"of shape {values.shape}, not {shape}" if values.shape != shape
            else f"of {values.dtype}, not {made.dtype}" if values.dtype != made.dtype
            else f"not where the graph lies, {g.backend}" if not here
            else "not contiguous" if not values.flags.c_contiguous
            else "read-only" if here and not getattr(values.flags, "writeable", True)
            else ""
        )  # fmt: skip
        if wrong:
            raise FrontierError(f"field {name!r}: copy=False takes the array as it is, but it is {wrong}")
        return values

    def side_by_side(self, g: Graph, before: tuple[Any, Any]) -> tuple[Any, Any]:
        """Return two arrays in each other's gaps, in the place of two others, and with their elements."""
        return side_by_side(g.placement.memory, before)

    def filler(self, p: Problem, name: str, value: Any) -> Callable[[], Any]:
        """Return a function that gives all elements of a field one value, for many calls."""
        made: Callable[[], Any] = p.graph.placement.memory.filler(p.arrays[name], value)
        return made

    def seen(self, p: Problem, name: str) -> Any:
        """Return what users see of a field."""
        return p.arrays[name]

    def assign(self, p: Problem, name: str, value: Any) -> None:
        """Give all elements of a field values that fit."""
        array = p.arrays[name]
        array[...] = matching(value, array)

    def look_at(self, p: Problem, names: Collection[str]) -> None:
        """Somebody looks at the arrays of some fields, and may write to them."""

    def copied(self, p: Problem) -> None:
        """Go on as the store of a copy, whose arrays are copies."""


def _wide(g: Graph, name: str, made: Field, length: int) -> Any:
    """A field of several values: a contiguous array of two dimensions."""
    assert made.dtype is not None
    if not made.plain:
        fits(made.init, made.dtype, name, length, _ELEMENTS[made.kind], made.width)
    array = g.placement.memory.full(length * made.width, 0, made.dtype).reshape(length, made.width)
    array[...] = matching(made.init, array)
    return array


def refuse_adopting(name: str) -> FrontierError:
    """Return the error for a user's array as a field of a graph in parts."""
    return FrontierError(f"field {name!r}: copy=False is for graphs in one memory, and this one is in parts")
