"""The class FieldInParts: a field as programs under mpirun see it, which becomes one array when all ranks ask."""

from __future__ import annotations

import itertools
import time
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from frontier import tracing
from frontier.distributed.ranks.field_storage import Values
from frontier.distributed.transport.messages import Section, packed, unpacked
from frontier.distributed.transport.rounds import checked_root, met
from frontier.graph.topology import read_only

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from frontier.distributed.transport.communicators import Communicator

__all__ = ["FieldInParts", "whole"]

#: Characters of the label of an array that was computed from others.
LONGEST = 80

#: What can be said of all elements by what ranks say of their own.
_REDUCTIONS: dict[str, Any] = {"sum": np.sum, "max": np.max, "min": np.min, "any": np.any, "all": np.all}


class FieldInParts(Values, NDArrayOperatorsMixin):
    """A field of a problem on several processes: an array of which each rank has its own elements, and perhaps all.

    ``a.own`` are this rank's elements, to read, ``a.first`` is the number of the first of them, and ``dtype``,
    ``shape`` and ``len(a)`` are those of the whole; for these, nobody is asked. ``a.own = values`` changes this rank's
    elements; all ranks must do that, each with its own values. Everything else, ``a[5]``, ``numpy.asarray(a)`` and the
    methods of arrays, needs the whole array. If this rank does not have it, it is gathered first, once, and **all
    ranks must ask for that together**, or the run ends with an error. ``print(a)`` asks nobody either, and shows the
    elements if the rank has all.

    Arithmetic and comparisons of arrays in parts, with each other or with numbers, give arrays in parts; and ``sum``,
    ``max``, ``min``, ``any`` and ``all`` without arguments tell the others one number. So ``(a == b).all()`` gathers
    nothing, but all ranks must call it.
    """

    def __init__(self, label: str, array: NDArray[Any], comm: Communicator, bounds: Callable[[], NDArray[Any]]) -> None:
        super().__init__(array, comm, bounds)
        self.label = label
        #: The number of the run that its values are of; 0 if they are of none, or were computed from several.
        self.run = 0
        #: Whether it is told to all at the end of each run; the same on all ranks.
        self.stays_whole = False

    @property
    def known_as(self) -> str:
        """What all ranks call it, to tell it from others that have its label."""
        return f"{self.label} of run {self.run}" if self.run else self.label

    # ---- what a rank has -------------------------------------------------------------------------------------

    @property
    def first(self) -> int:
        """The first element that this rank owns."""
        return int(self._bounds()[self._comm.rank])

    @property
    def own(self) -> NDArray[Any]:
        """The elements that this rank owns, to read; assign ``a.own = values`` on all ranks to change them."""
        self._held = True
        return read_only(self._own)

    @own.setter
    def own(self, values: Any) -> None:
        """Let this rank's elements have values, which the others do not know."""
        self._own[...] = values
        self.leave_all()

    @property
    def _own(self) -> NDArray[Any]:
        return self._array[self.range()]

    def __len__(self) -> int:
        return len(self._host)

    def __repr__(self) -> str:
        if not self.in_parts:
            self.write_rest()
        else:
            each = f"{self.shape[1]} values of {self.dtype}" if self.ndim > 1 else str(self.dtype)
            return f"<{len(self):,} entries of {each}, in {self._comm.size} parts>"
        return repr(self._array)

    def __str__(self) -> str:
        shown = repr(self)
        return shown if self.in_parts else str(self._array)

    # ---- what all ranks ask for together ---------------------------------------------------------------------

    def gather(self, root: int | None = None) -> NDArray[Any] | None:
        """Return the whole array; all ranks call this together.

        Parameters
        ----------
        root : int, optional
            The only rank that gets it; others get None. Without it, all ranks get it, and keep it.

        Raises
        ------
        FrontierError
            If ``root`` is not a rank.
        """
        root = checked_root(root, self._comm.size)
        alike = self.in_parts
        if alike:
            self._complete(root)
        self.write_rest()
        if root not in (None, self._comm.rank):
            return None
        self.given_away = True
        self.stays_whole = self.stays_whole or (alike and root is None)
        return self._array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        array = self.gather()
        return np.array(array, dtype) if copy else np.asarray(array, dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: tuple[Any, ...] = (), **more: Any) -> Any:
        if method == "__call__" and ufunc.nout == 1 and ufunc.signature is None and not more:
            found = self._elementwise(ufunc, inputs, *out)
            if found is not None:
                return found
        if out:
            for each in out:
                if isinstance(each, FieldInParts):
                    each.changed = True
            more["out"] = tuple(map(whole, out))
        elif method == "at" and isinstance(inputs[0], FieldInParts):
            inputs[0].changed = True
        found = getattr(ufunc, method)(*map(whole, inputs), **more)
        return out[0] if len(out) == 1 else out or found

    def __getitem__(self, key: Any) -> Any:
        found = whole(self)[key]
        self.given_away = self.given_away or (isinstance(found, np.ndarray) and found.base is not None)
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        """Store elements, the same on all ranks; unless these are all, the array is gathered first."""
        if key is Ellipsis or (isinstance(key, slice) and key == slice(None)):
            self.assign(whole(value))
        elif self.ndim == 1 and not self.in_parts and _is_index(key) and np.ndim(value) == 0:
            self.give(int(key), value)
        else:
            self.changed = True
            whole(self)[key] = whole(value)

    def __iter__(self) -> Iterator[Any]:
        self.given_away = self.given_away or self.ndim > 1  # rows are views
        return iter(whole(self))

    def __contains__(self, value: Any) -> bool:
        return value in whole(self)

    def __bool__(self) -> bool:
        return bool(whole(self))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(f"arrays in parts have no {name!r}")
        if name in _REDUCTIONS:
            return lambda *args, **more: self._reduced(name, args, more)
        return getattr(self.gather(), name)

    def __reduce__(self) -> tuple[Any, ...]:
        return np.array, (whole(self),)

    def _elementwise(self, ufunc: Any, inputs: tuple[Any, ...], into: Any = None) -> Any:
        """What becomes of each element, in parts: as a new array, or in place of one of the inputs; None: it cannot."""
        given = [each for each in inputs if isinstance(each, FieldInParts)]
        alike = all(each.shape == self.shape and np.array_equal(each._bounds(), self._bounds()) for each in given)
        others = [each for each in inputs if not isinstance(each, FieldInParts) and np.ndim(each)]
        known = all(isinstance(each, np.ndarray) and each.shape == self.shape for each in others)
        in_place = into is None or (any(into is each for each in given) and into.in_parts)
        if not (alike and known and in_place and any(each.in_parts for each in given)):
            return None
        own = self.range()
        parts = [_array_of(each)[own] if np.ndim(each) else each for each in inputs]
        label = _short(f"{ufunc.__name__}({', '.join(map(_name_of, inputs))})")
        if into is None:
            found = ufunc(*parts)
            made = np.empty(self.shape, found.dtype)
            made[own] = found
            into = FieldInParts(label, made, self._comm, self._bounds)
        else:
            met(self._comm, f"changes {into.known_as} to {label}", None)
            into.changed = True
            ufunc(*parts, out=into._own)
        into.leave(np.arange(own.start, own.stop))
        return into

    def _reduced(self, name: str, args: tuple[Any, ...], more: dict[str, Any]) -> Any:
        if not self.in_parts:
            return getattr(whole(self), name)(*args, **more)
        if args or any(value is not None for value in more.values()) or not len(self):
            return getattr(self.gather(), name)(*args, **more)
        own, reduction = self._own, _REDUCTIONS[name]
        some = met(self._comm, f"asks for {name}() of {self.known_as}", reduction(own) if len(own) else None)
        return reduction(np.array([each for each in some if each is not None]))

    def _complete(self, root: int | None) -> None:
        """Tell all ranks, or one, what they do not know."""
        if root in (None, self._comm.rank):
            self.write_rest()
        comm, bounds = self._comm, self._bounds()
        ranges = [(int(first), int(end - first)) for first, end in itertools.pairwise(bounds)]
        first, length = ranges[comm.rank]
        ids = np.flatnonzero(np.unpackbits(self._untold, count=length)) + first  # type: ignore[arg-type]
        whose = "" if root is None else f" on rank {root}"
        with _counted(comm, len(ids)):
            message = packed([Section(first, length, ids, self._array[ids])]).whole()
            lengths = met(comm, f"asks for all of {self.known_as}{whose}", len(message))
            if root is None:
                came = comm.allgather_bytes(message, lengths)
                comm.sent += len(message) * (comm.size - 1)
            else:
                came = comm.alltoall_bytes(
                    [message if rank == root else b"" for rank in range(comm.size)],
                    lengths if comm.rank == root else [0] * comm.size,
                )
                comm.sent += len(message) * (comm.rank != root)
            for rank, each in enumerate(came):
                if rank != comm.rank:
                    ((at, values),) = unpacked(each, [(*ranges[rank], self._array, False)])
                    self._array[at] = values
        if root is None:
            self.known()


def _is_index(key: Any) -> bool:
    return isinstance(key, int | np.integer) and not isinstance(key, bool)


def _array_of(value: Any) -> Any:
    """The array of a field in parts, as far as this rank has it; other values as they are."""
    return value.settled() if isinstance(value, FieldInParts) else value


def _name_of(value: Any) -> str:
    """What all ranks call an operand."""
    if isinstance(value, FieldInParts):
        return value.known_as
    return "array" if np.ndim(value) else str(value)


def _short(label: str) -> str:
    """A label that is no longer than messages should be; those that differ stay different."""
    return label if len(label) <= LONGEST else f"{label[:LONGEST]}... ({zlib.crc32(label.encode()):08x})"


def whole(value: Any) -> Any:
    """The array of a field in parts, with all elements; other values as they are."""
    if not isinstance(value, FieldInParts):
        return value
    if value.in_parts:
        value._complete(None)
    value.write_rest()
    return value._array


@contextmanager
def _counted(comm: Communicator, size: int) -> Iterator[None]:
    """Within it ranks tell each other what they have: a row of traces."""
    begun, sent = time.perf_counter(), comm.sent
    yield
    if tracing.active():
        tracing.add(
            backend="ranks", step="result", number=0, seconds=time.perf_counter() - begun, size_in=-1, size_out=size,
            rank=comm.rank, sent=comm.sent - sent,
        )  # fmt: skip
