"""Fields of a run in kernels of ranks: what is brought to a rank's GPU before, and what becomes of it afterwards.

Under mpirun, fields stay on the GPU until somebody looks at them (:mod:`frontier.distributed.ranks.field_storage`).
Ranks that are threads of one process have fields on the host, which all see.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.cuda import launch
from frontier.distributed.ranks.changes import stays
from frontier.distributed.ranks.deferred_fields import read
from frontier.distributed.ranks.field_storage import visible
from frontier.distributed.ranks.fields import whole

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from frontier.distributed.devices.replicas import Replica
    from frontier.distributed.devices.touches import Touches
    from frontier.distributed.ranks.field_storage import Values
    from frontier.distributed.ranks.visible_fields import VisibleFields
    from frontier.distributed.transport.communicators import Communicator
    from frontier.program.problem import Problem

__all__ = ["RankFields"]


class RankFields:
    """Those of a problem that a rank has.

    Parameters
    ----------
    p : Problem
        The host's.
    replica : Replica
        What the GPU has.
    touches : Touches
        What the program touches at elements of others.
    starts : ndarray
        First vertex of each rank, and the number of vertices.
    comm : Communicator
    reach : Mapped
        How arrays of other ranks are reached.
    """

    def __init__(
        self, p: Problem, replica: Replica, touches: Touches, starts: Any, comm: Communicator, reach: Any
    ) -> None:
        self._p, self._replica, self._touches = p, replica, touches
        self._starts, self._comm, self._reach, self._memory = starts, comm, reach, replica.memory

    # ---- before kernels --------------------------------------------------------------------------------------

    def complete(self) -> None:
        """Let all ranks have fields as a whole of which the kernel reads other ranks' elements."""
        p, shown = self._p, visible(self._p)
        if shown is None:
            return
        for name in shown.in_parts(p):
            if self._own(name, name in self._touches.apart) == slice(None):
                whole(shown.of(p, name))

    def load(self) -> None:
        """Bring to the GPU what the kernel may read: of fields that it touches apart, this rank's elements."""
        p, shown, apart = self._p, visible(self._p), self._touches.apart
        arrays = self._replica.whole.arrays
        fields = {name: None if shown is None else shown.field(host) for name, host in p.arrays.items()}
        for name, field in fields.items():
            if field is not None and field.away is not None and _is_another(field.away.array, name, arrays):
                field.settle()  # as when a run that was paused goes on after one with fr.Swap
        for name, field in fields.items():
            own = self._own(name, name in apart)
            if field is None:
                _write(self._memory, arrays[name][own], p.arrays[name][own])
            else:
                self._bring(field, arrays[name], own)

    def _bring(self, field: Values, array: Any, own: slice) -> None:
        """Bring some elements of a field to an array: from where the last run has left them, or from the host."""
        away = field.away
        if away is not None and away.has(own):
            if away.array is not array:
                array[own] = away.array[own]
            return
        if field.fresh or (field.lacks is not None and own == slice(None)):  # not written, perhaps those of others only
            self._fill(field, array, own)
            own = field.range()
        if not field.fresh:
            _write(self._memory, array[own], field.settled()[own])

    def _fill(self, field: Values, array: Any, some: slice) -> None:
        """Fill an array with what is not written of a field."""
        self._memory.fill(array[some], field.lacks)
        for at, value in field.given(some):
            self._memory.fill(array[at : at + 1], value)

    # ---- after kernels ---------------------------------------------------------------------------------------

    def leave(self, stopped: bool) -> None:
        """Let ranks have what kernels have changed; all call this together.

        Kernels that have ``stopped`` with an error may not have told each other what they changed last.
        """
        p, touches = self._p, self._touches
        names = [name for name in p.arrays if name in touches.changed | touches.swapped]
        everywhere = frozenset() if stopped else touches.mirrored - touches.claimed
        shown = visible(p)
        if shown is None:
            self._bring_back(names, everywhere)
        else:
            self._stay(shown, names, everywhere)

    def _bring_back(self, names: list[str], everywhere: Collection[str]) -> None:
        """Let the host of each rank have all elements of some fields, of which kernels know some ``everywhere``."""
        p, (first, end) = self._p, self._replica.own["vertex"]
        for name in names:
            some = self._own(name, name not in everywhere)
            read(self._replica.whole.arrays[name][some], p.arrays[name][some])
        told = [name for name in names if name not in everywhere]
        for rank, each in enumerate(self._comm.allgather({name: p.arrays[name][first:end] for name in told})):
            for name in told:
                p.arrays[name][self._starts[rank] : self._starts[rank + 1]] = each[name]

    def _stay(self, shown: VisibleFields, names: list[str], everywhere: Collection[str]) -> None:
        """Leave fields on the GPU until somebody asks; all ranks take over what others own of short ones."""
        p = self._p
        short = set(shown.told_to_all(p))
        told = [name for name in names if name not in everywhere and name in short]
        if told:
            self._take_over(told)
        for name in names:
            some = self._own(name, name not in everywhere and name not in short)
            shown.of(p, name).left(self._memory, self._replica.whole.arrays[name], some)

    def _take_over(self, names: list[str]) -> None:
        """Copy from other GPUs what their ranks own of some fields; they change it when they have met once more."""
        arrays = [self._replica.whole.arrays[name] for name in names]
        for rank, places in enumerate(self._reach.places([launch.address_of(array) for array in arrays])):
            some = slice(int(self._starts[rank]), int(self._starts[rank + 1]))
            if rank == self._comm.rank or some.start == some.stop:
                continue
            for array, place in zip(arrays, places, strict=True):
                array[some] = launch.memory_like(array, place)[some]
        self._memory.synchronize()

    def _own(self, name: str, apart: bool) -> slice:
        """The elements of a field that this rank has: all, or its own."""
        p, kind = self._p, self._p.fields[name].kind
        if stays(p, name) or (apart and kind == "vertex"):
            return slice(*self._replica.own[kind])
        return slice(None)


def _is_another(array: Any, name: str, arrays: Mapping[str, Any]) -> bool:
    """Whether an array is that of another name."""
    return array is not arrays[name] and any(array is each for each in arrays.values())


def _write(memory: Any, array: Any, values: Any) -> None:
    """Write values of the host to an array on the GPU."""
    if not isinstance(array, np.ndarray) and array.flags.c_contiguous:
        array.set(np.ascontiguousarray(values))
    else:
        array[...] = memory.moved(values)
