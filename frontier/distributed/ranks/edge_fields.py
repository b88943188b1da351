"""Fields of edges of a graph in parts: the arrays that parts have, and what programs under mpirun see of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.distributed.ranks.graphs import InParts
from frontier.errors import GraphError
from frontier.program.field_store import FieldStore, refuse_adopting
from frontier.program.values import fits

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from frontier.graph.division import AmongRanks
    from frontier.graph.graph import Graph
    from frontier.graph.topology import Array
    from frontier.program.pairs import Pair
    from frontier.program.problem import Field

__all__ = ["EdgesInParts", "PartFields"]


class EdgesInParts(InParts):
    """A field with one entry for each edge slot, of which every rank has the entries of its own slots.

    ``a.own`` are those of this rank, to read and to write. ``a[:] = values`` and ``a += 1`` change them as well, by a
    number, an array of all entries, or another array of the same graph in parts. Everything else takes the whole array,
    for which all ranks ask together: a copy, which cannot be written to; see :class:`InParts`.
    """

    def __init__(self, divided: AmongRanks, name: str, array: Array) -> None:
        super().__init__(divided, name, [array])
        self._array = array
        self.ndim = array.ndim

    @property
    def nbytes(self) -> int:
        """Bytes of the whole array."""
        return int(self._array.nbytes)

    @property
    def size(self) -> int:
        """Values of the whole array."""
        return int(self._array.size)

    @property
    def own(self) -> Array:
        """The entries that this rank has."""
        return self._array[self._range()]

    @own.setter
    def own(self, values: Any) -> None:
        self._array[self._range()] = values

    def _range(self) -> slice:
        slots = self._divided.slots(0)
        return slice(slots.start, slots.stop)

    def __getitem__(self, slots: Any) -> Array:
        """The entries of a slice, as an array of NumPy on every rank; all ranks call this together."""
        found = super().__getitem__(slots)
        found.flags.writeable = False  # or what is written would be lost without a word
        return found

    def __setitem__(self, slots: Any, value: Any) -> None:
        """Change this rank's entries, as all ranks do."""
        if slots is not Ellipsis and not (isinstance(slots, slice) and slots == slice(None)):
            raise GraphError(
                f"{self._name}: each rank has the entries of its own edges only, and changes these: .own, which begin "
                "with edge slot .first; or all together, as by [:]"
            )
        self.own[...] = self._of_own(value)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: tuple[Any, ...] = (), **more: Any) -> Any:
        if method == "at" or any(isinstance(each, EdgesInParts) for each in out):
            if method != "__call__" or len(out) != 1 or more:
                raise GraphError(
                    f"{self._name}: each rank changes the entries of its own edges, as by {self._name} += 1, or in .own"
                )
            out[0]._store(ufunc, inputs)
            return out[0]
        if out:
            more["out"] = out
        return super().__array_ufunc__(ufunc, method, *inputs, **more)

    def _store(self, ufunc: Any, inputs: tuple[Any, ...]) -> None:
        """Let this rank's entries be what a function gives."""
        if ufunc.signature is None:
            ufunc(*map(self._of_own, inputs), out=self.own)
        else:  # not of each entry by itself
            self[...] = super().__array_ufunc__(ufunc, "__call__", *inputs)

    def _of_own(self, value: Any) -> Any:
        """Of a value for each entry, those of this rank's entries; others for all of them as they are."""
        shape = value.shape if isinstance(value, InParts) else np.shape(value)
        if np.broadcast_shapes(shape, self.shape) != self.shape:
            raise ValueError(f"{self._name}: values of shape {shape} for entries of shape {self.shape}")
        if len(shape) < self.ndim or shape[0] != len(self):
            return np.asarray(value)  # the same for all entries; one in parts, all ranks ask for together
        if isinstance(value, InParts) and value._divided is self._divided:
            return value.own
        return np.asarray(value)[self._range()]

    def __reduce__(self) -> tuple[Any, ...]:
        return np.array, (np.asarray(self),)


class PartFields(FieldStore):
    """The fields of a problem on a graph that may be in parts: those of edges are as long, but a part has its own."""

    in_one_memory = reusable = False

    def bytes_in_memory(self, g: Graph, fields: Mapping[str, Field], pairs: Collection[Pair]) -> list[int]:
        """Nothing of a graph in parts, of which a part of the fields only is there."""
        return [] if g._topology.divided is not None else super().bytes_in_memory(g, fields, pairs)

    def make(self, g: Graph, name: str, made: Field, pairs: Collection[Pair]) -> Any:
        """Return the array of a field."""
        divided = g._topology.divided
        if divided is None:
            return super().make(g, name, made, pairs)
        if not made.copy:
            raise refuse_adopting(name)
        if made.kind != "edge":
            return super().make(g, name, made, pairs)
        assert made.dtype is not None
        if not made.plain and (made.width or (len(np.shape(made.init)) and not hasattr(made.init, "gather"))):
            fits(made.init, made.dtype, name, g.num_slots, "edges", made.width)
        return divided.full(made.init, made.dtype, made.width) if made.width else divided.full(made.init, made.dtype)
