"""How kernels of ranks reach arrays on each other's GPUs: those of one host map each other's memory.

What is said at the end of a run's preparations is where arrays lie. Blocks of memory that others do not know are given
to them first (:mod:`frontier.memory.exported`).
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from itertools import combinations
from typing import TYPE_CHECKING, Any

from frontier.distributed.ranks.deferred_fields import bring_all
from frontier.distributed.transport.descriptors import Descriptors
from frontier.distributed.transport.rounds import common, met, sendable
from frontier.errors import GraphError
from frontier.memory import detection, peers
from frontier.memory.exported import Exports, Imported
from frontier.memory.gpu import gpu

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from frontier.distributed.transport.communicators import Communicator
    from frontier.memory.base import Memory

__all__ = ["Mapped", "make_room", "reach"]

#: Why a process may not map memory of others.
FAILURES = (GraphError, ImportError, OSError, MemoryError, RuntimeError)

#: Bytes that are kept for later runs, if no array uses them.
KEPT = 1 << 30


class Mapped:
    """Among processes of one host with a GPU each.

    Attributes
    ----------
    afar : bool
        Whether atomics of each GPU reach the memory of all others.
    """

    def __init__(self, comm: Communicator, index: int, name: str, afar: bool) -> None:
        self._comm, self._index, self.afar = comm, index, afar
        self._exports, self._descriptors = Exports(index), Descriptors(comm, name)
        self._given: set[int] = set()
        self._known: dict[tuple[int, int], Imported] = {}

    def using(self) -> AbstractContextManager[Any]:
        """Return a context manager within which arrays are made that others reach."""
        return self._exports.using()

    def places(self, addresses: Sequence[int]) -> list[list[int]]:
        """Return where arrays of all ranks lie for kernels of this one; all call this together. 0 stays 0."""
        exports, rank = self._exports, self._comm.rank
        own = [exports.place(address) if address else None for address in addresses]
        sizes = exports.sizes()
        new = [number for number in sizes if number not in self._given]
        told = self._comm.allgather((own, sizes, new))
        if any(fresh for _, _, fresh in told):
            self._share(new, told)
        self._given = set(sizes)
        self._forget([theirs for _, theirs, _ in told])
        return [
            list(addresses) if other == rank else [self._address(other, place) for place in places]
            for other, (places, _, _) in enumerate(told)
        ]

    def _share(self, new: Sequence[int], told: Sequence[Any]) -> None:
        """Give others the blocks that they do not know, and map theirs; if a rank cannot, all raise why."""
        given, failed = [self._exports.descriptor(number) for number in new], None
        try:
            self._take(told, self._descriptors.allgather_bytes(given, [len(fresh) for _, _, fresh in told]))
        except FAILURES as error:
            failed = sendable(error)
        for each in self._comm.allgather(failed):
            if each is not None:
                raise common(each)

    def _take(self, told: Sequence[Any], came: Sequence[Sequence[int]]) -> None:
        """Map blocks of others."""
        for other, ((_, sizes, fresh), some) in enumerate(zip(told, came, strict=True)):
            if other != self._comm.rank:
                for number, descriptor in zip(fresh, some, strict=True):
                    self._known[other, number] = Imported(descriptor, sizes[number], self._index)

    def _address(self, rank: int, place: tuple[int, int] | None) -> int:
        return 0 if place is None else self._known[rank, place[0]].start + place[1]

    def _forget(self, sizes: Sequence[Mapping[int, int]]) -> None:
        """Map no longer what a rank has given back; ``sizes`` are the blocks that each has."""
        for rank, number in list(self._known):
            if number not in sizes[rank]:
                del self._known[rank, number]

    def trim(self) -> None:
        """Give back to the GPU what is kept for later runs, if that is much."""
        self._exports.trim(KEPT)

    def release(self) -> None:
        """Give back to the GPUs all that no array uses; all ranks call this together."""
        self._exports.trim(0)
        self._forget(self._comm.allgather(self._exports.sizes()))  # what others map is not free
        self._comm.allgather(None)


#: What :func:`reach` has found, which is tried once.
_reached: dict[tuple[Communicator, int], Mapped | None] = {}


def reach(comm: Communicator, index: int) -> Mapped | None:
    """Return how processes reach each other's GPUs; None: not all do. All call this together."""
    if (comm, index) not in _reached:
        _reached[comm, index] = _tried(comm, index)
    return _reached[comm, index]


def make_room(comm: Communicator, memory: Memory) -> None:
    """Bring to the host what runs have left on the GPUs, whose results are in use; all ranks call this together."""
    bring_all(memory)
    found = _reached.get((comm, int(getattr(memory, "index", 0))))
    if found is not None:
        found.release()


def _tried(comm: Communicator, index: int) -> Mapped | None:
    alone = comm.neighbours < comm.size or comm.size == 1 or detection.simulated()
    own = "" if alone else detection.identity(index)
    told = met(comm, "looks which GPUs reach each other", (own, index, os.urandom(8).hex()))
    devices, numbers, names = zip(*told, strict=True)
    if not all(devices) or len(set(devices)) < comm.size:
        return None
    made, probe = None, None
    try:
        made = Mapped(comm, index, names[0], _atomics(numbers))
        with gpu(index).using(), made.using():
            probe = gpu(index).full(1, comm.rank, "int64")
            gpu(index).synchronize()
    except FAILURES:
        made = None
    if not all(comm.allgather(made is not None)):
        return None
    assert made is not None
    assert probe is not None
    try:
        places = made.places([probe.data.ptr])
        right = all(_read(place, index) == rank for rank, (place,) in enumerate(places))
    except FAILURES:
        right = False
    return made if all(comm.allgather(right)) else None  # by when nobody reads the probe any more


def _read(address: int, index: int) -> int:
    """An integer at an address."""
    cuda = detection.cupy().cuda
    with gpu(index).using():
        memory = cuda.UnownedMemory(address, 8, None, index)
        return int(detection.cupy().ndarray(1, "int64", cuda.MemoryPointer(memory, 0))[0])


def _atomics(numbers: Sequence[int]) -> bool:
    """Whether atomics of each GPU reach the memory of all others; no, where a process does not see the others."""
    if len(set(numbers)) < len(numbers):
        return False
    found = {(pair.first, pair.second): pair.atomics for pair in peers.pairs(len(detection.every()))}
    return all(found.get(pair, False) for pair in combinations(sorted(numbers), 2))
