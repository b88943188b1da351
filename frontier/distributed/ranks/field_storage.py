"""Where the elements of a field are under mpirun: in the host's memory, on this rank's GPU, or all the same.

The host's array is written as late as possible. Until somebody needs it, a field that was declared with a number, and
given a few elements since, is that number and these elements; and what kernels have made of it stays on the GPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.distributed.ranks.deferred_fields import DeferredField

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from frontier.distributed.ranks.visible_fields import VisibleFields
    from frontier.distributed.transport.communicators import Communicator
    from frontier.memory.base import Memory
    from frontier.program.problem import Problem

__all__ = ["LEAST", "Values", "visible"]

#: Bytes from which on elements that are the same are not written.
LEAST = 1 << 20

#: Elements that may be given one by one before the array is written.
FEW = 64


def visible(p: Problem) -> VisibleFields | None:
    """What programs under mpirun see of the fields of a problem; None where its parts are threads of one process."""
    from frontier.distributed.ranks.visible_fields import VisibleFields

    return p._store if isinstance(p._store, VisibleFields) else None


class Values:
    """The elements of a field, as one rank has them.

    Attributes
    ----------
    lacks : number, optional
        What the elements of other ranks are that nobody has changed, if they are not written; None: they are.
    fresh : bool
        Whether this rank's elements are not written either, and the same.
    away : DeferredField, optional
        What a run has left on this rank's GPU, which the array does not have yet.
    token : tuple
        What the program has done to the field since ranks have compared it, in short.
    changed : bool
        Whether the program has changed it since then in a way that is not in the token.
    late : bool
        Whether it may be written late, as fields of vertices are.
    given_away : bool
        Whether the program may have the array itself, which it expects to follow later runs.
    """

    def __init__(self, array: NDArray[Any], comm: Communicator, bounds: Callable[[], NDArray[Any]]) -> None:
        self._host, self._comm, self._bounds = array, comm, bounds
        self.dtype, self.shape, self.ndim, self.size, self.nbytes = (
            array.dtype, array.shape, array.ndim, array.size, array.nbytes
        )  # fmt: skip
        #: Which of its own elements this rank alone knows, as bits; None: the others know them.
        self._untold: NDArray[np.uint8] | None = None
        self.lacks: Any = None
        self.fresh = False
        self.away: DeferredField | None = None
        self.token: tuple[Any, ...] = ()
        self.changed, self.given_away, self.late = True, False, False
        self._held = False  # the program may have a view of this rank's elements
        self._zeros = False  # what is not written is 0
        self._given: list[tuple[int, Any]] = []  # elements that are not written either, and what they are

    # ---- what a rank has -------------------------------------------------------------------------------------

    def range(self) -> slice:
        """Return where the elements lie that this rank owns."""
        return slice(*self._bounds()[self._comm.rank : self._comm.rank + 2].tolist())

    @property
    def in_parts(self) -> bool:
        """Whether the ranks do not have the whole array."""
        return self._untold is not None

    @property
    def in_use(self) -> bool:
        """Whether the program may have an array of the values, which it expects to follow later runs."""
        return self.given_away or self._held

    @property
    def seen(self) -> bool:
        """Whether the program may have changed it since the ranks have compared what they have."""
        return self.changed or self.in_use

    @property
    def _array(self) -> NDArray[Any]:
        """The array, in which this rank's elements are right."""
        self.settle()
        return self._host

    def settled(self) -> NDArray[Any]:
        """Return the array, in which this rank's elements are right, for somebody who does not keep it."""
        return self._array

    def given(self, some: slice) -> Iterator[tuple[int, Any]]:
        """Return which elements among some are not what the field lacks, and what they are."""
        begin, end, _ = some.indices(len(self._host))
        return ((at, value) for at, value in self._given if begin <= at < end)

    # ---- writing what is not written -------------------------------------------------------------------------

    def settle(self) -> None:
        """Let the array have this rank's elements, which may not be written, or lie on its GPU."""
        if self.away is not None:
            self.away.bring(self._host)
            self.away = None
        if self.fresh:
            own = self.range()
            self._host[own] = self.lacks
            for at, value in self.given(own):
                self._host[at] = value
            self.fresh = False

    def write_rest(self) -> None:
        """Write the elements of other ranks that are not written, so that they take memory from now on."""
        if self.lacks is not None:
            own, array = self.range(), self._array
            if not self._zeros or any(self.lacks.tobytes()):
                array[: own.start] = array[own.stop :] = self.lacks
            for some in (slice(0, own.start), slice(own.stop, None)):
                for at, value in self.given(some):
                    array[at] = value
            self.lacks, self._given = None, []

    def moved(self, array: NDArray[Any]) -> None:
        """Take another array, which has the same elements, or is of zeros where they are not written."""
        self._host = array

    # ---- what the program writes -----------------------------------------------------------------------------

    def begin(self, value: Any, zeros: bool) -> None:
        """Note that all elements are the same, and not written; ``zeros``: what is not written is 0."""
        self._forget()
        self.lacks, self.fresh, self._zeros = value, True, zeros

    def assign(self, value: Any) -> None:
        """Let all elements be a number, or have values, the same on all ranks; arrays of NumPy or numbers."""
        self.changed = True  # first, also if Ctrl-C comes on some rank
        if np.ndim(value):
            self._host[...] = value
            self._forget()
            self.token = ()
            return
        one = np.empty(1, self.dtype)
        one[0] = value
        if not self.late or self.ndim > 1 or self.in_use or self.nbytes < LEAST:
            self._host[...] = one[0]
            self._forget()
        else:
            self.begin(one[0], False)
        self.changed, self.token = False, (one.tobytes(),)

    def give(self, at: int, value: Any) -> None:
        """Let an element be a number, the same on all ranks; they know all others."""
        if not -len(self._host) <= at < len(self._host):
            raise IndexError(f"index {at} is out of bounds for axis 0 with size {len(self._host)}")
        one, at = np.empty(1, self.dtype), at % len(self._host)
        one[0] = value
        if len(self.token) <= FEW:
            self.token += ((at, one.tobytes()),)
        else:
            self.changed = True
        own = self.range()
        if len(self._given) == FEW:
            self.write_rest()
        if self.fresh or (self.lacks is not None and not own.start <= at < own.stop):
            self._given.append((at, one[0]))
        else:
            self._array[at] = one[0]

    def _forget(self) -> None:
        """All elements are in the array, and known to all ranks."""
        self.away, self.lacks, self.fresh, self._given = None, None, False, []
        self.known()

    # ---- what runs leave behind, and go on from --------------------------------------------------------------

    def compared(self) -> None:
        """All ranks have the same, and a program that runs next makes the same of it."""
        self.changed, self.token = False, ()

    def left(self, memory: Memory, array: Any, some: slice) -> None:
        """Note that a run has left this rank's elements, or all, on its GPU."""
        if some == slice(None):
            self._forget()
        else:
            self.fresh = False
            self.leave_all()
        self.away = DeferredField(self, memory, array, some)
        if self.in_use:
            self.settle()

    def known(self) -> None:
        """All ranks know all elements."""
        self._untold = None

    def leave(self, ids: NDArray[Any]) -> None:
        """Note which of its own elements this rank alone knows."""
        own = self.range()
        marks = np.zeros(own.stop - own.start, bool)
        marks[ids - own.start] = True
        self._untold = np.packbits(marks)

    def leave_all(self) -> None:
        """Note that this rank alone knows all its own elements."""
        own = self.range()
        self._untold = np.full(-(-(own.stop - own.start) // 8), 255, np.uint8)

    def untold(self) -> NDArray[Any]:
        """Return those that this rank alone knows."""
        assert self._untold is not None
        own = self.range()
        found: NDArray[Any] = np.flatnonzero(np.unpackbits(self._untold, count=own.stop - own.start)) + own.start
        return found
