"""The class EdgesInParts: a field of edges of a graph in parts, as programs under mpirun see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.ranks.parts import InParts
from frontier.errors import GraphError

if TYPE_CHECKING:
    from frontier.backends.ranks.parts import Divided
    from frontier.graph.topology import Array

__all__ = ["EdgesInParts"]


class EdgesInParts(InParts):
    """A field with one entry for each edge slot, of which every rank has the entries of its own slots.

    ``a.own`` are those of this rank, to read and to write. ``a[:] = values`` and ``a += 1`` change them as well, by a
    number, an array of all entries, or another array of the same graph in parts. Everything else takes the whole array,
    for which all ranks ask together, and which does not follow later changes; see :class:`InParts`.
    """

    def __init__(self, divided: Divided, name: str, array: Array) -> None:
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
        slots = self._divided.slots(0)
        return self._array[slots.start : slots.stop]

    def __setitem__(self, slots: Any, value: Any) -> None:
        """Change this rank's entries, as all ranks do."""
        if slots is not Ellipsis and not (isinstance(slots, slice) and slots == slice(None)):
            raise GraphError(
                f"{self._name}: each rank has the entries of its own edges only, and changes these: .own, which begin "
                "with edge slot .first; or all together, as by [:]"
            )
        self.own[...] = self._of_own(value)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: tuple[Any, ...] = (), **more: Any) -> Any:
        if method == "__call__" and len(out) == 1 and out[0] is self and not more:
            ufunc(*map(self._of_own, inputs), out=self.own)
            return self
        if out:
            more["out"] = out
        return super().__array_ufunc__(ufunc, method, *inputs, **more)

    def _of_own(self, value: Any) -> Any:
        """Of a value for each entry, those of this rank's entries; others for all of them as they are."""
        if isinstance(value, InParts):
            if value._divided is not self._divided:
                raise GraphError(f"{self._name}: entries of another graph in parts")
            return value.own
        slots = self._divided.slots(0)
        whole = np.ndim(value) == self.ndim and len(value) == len(self)
        return value[slots.start : slots.stop] if whole else value
