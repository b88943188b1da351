"""Fields whose values kernels have left on this rank's GPU: they come to the host when somebody looks at them there.

A run that follows finds them where they are. They take memory of the GPU as long as the field is in use; a run that
finds no room has them brought to the host first.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.memory.arrays import to_host

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.distributed.ranks.field_storage import Values
    from frontier.memory.base import Memory

__all__ = ["DeferredField", "bring_all", "read"]

_living: weakref.WeakSet[DeferredField] = weakref.WeakSet()


class DeferredField:
    """Elements of a field on a GPU.

    Attributes
    ----------
    memory : Memory
        Of the GPU.
    array : array
        As long as the field.
    some : slice
        Which elements of it are the field's: those of this rank, or all.
    """

    def __init__(self, field: Values, memory: Memory, array: Any, some: slice) -> None:
        self.memory, self.array, self.some = memory, array, some
        self._field = weakref.ref(field)
        _living.add(self)

    def has(self, some: slice) -> bool:
        """Whether all these elements are there; ``some`` are those of this rank, or all."""
        return self.some in (slice(None), some)

    def bring(self, into: NDArray[Any]) -> None:
        """Copy the elements to an array of the host that is as long as the field."""
        with self.memory.using("the fields of a problem"):
            read(self.array[self.some], into[self.some])

    def settle(self) -> None:
        """Let the field have the elements on the host, and nothing on the GPU."""
        field = self._field()
        if field is not None:
            field.settle()


def bring_all(memory: Memory) -> None:
    """Bring to the host all that fields have left on a GPU."""
    for each in list(_living):
        if each.memory is memory:
            each.settle()


def read(array: Any, into: Any) -> None:
    """Copy an array on the GPU to one of the host, without a third one if both are contiguous."""
    if not isinstance(array, np.ndarray) and array.flags.c_contiguous and into.flags.c_contiguous:
        array.get(out=into)
    else:
        into[...] = to_host(array)
