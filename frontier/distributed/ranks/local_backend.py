"""Which backend runs the part of a rank, and on which device of its host."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from frontier.distributed.transport.rounds import met
from frontier.errors import BackendUnavailableError, DeviceLostError
from frontier.memory.placement import SHIPPED, backend_named
from frontier.program.step import walk

if TYPE_CHECKING:
    from frontier.distributed.transport.communicators import Communicator
    from frontier.memory.placement import Computing, Placement
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["USUAL", "chosen", "inner_for", "inner_of"]

#: The backend of parts that have no device of their own.
USUAL = "cpu"


def inner_of(name: str, comm: Communicator) -> Placement:
    """Return the placement of a rank's part; processes choose a backend themselves if none is named."""
    if comm.together:
        return backend_named(name or USUAL).placement()
    return (backend_named(name) if name else chosen(comm)).placement_of(comm.local)


@cache
def chosen(comm: Communicator) -> Computing:
    """Return the first backend of which every process has a device of its own, else the usual one.

    All processes call this together when they first need to know.
    """
    for name in SHIPPED:
        backend = backend_named(name)
        if backend.massively_parallel:
            devices = met(comm, 'uses "ranks" for the first time', _own_device(backend, comm.local))
            if all(devices) and len(set(devices)) == comm.size:
                return backend
    return backend_named(USUAL)


def _own_device(backend: Computing, local: int) -> str:
    """What identifies the device that a rank would have; empty if there is none."""
    try:
        return "" if backend.missing() else backend.device(backend.placement_of(local))
    except (BackendUnavailableError, DeviceLostError):
        return ""


def inner_for(name: str, comm: Communicator, step: Step, schedule: ResolvedSchedule) -> Placement:
    """The same for a run: without a name, what devices refuse is left to the usual backend."""
    found = inner_of(name, comm)
    schedules = [schedule, *(each.schedule.resolved() for each in walk(step) if each.schedule is not None)]
    if not name and any(each.deterministic for each in schedules):
        return inner_of(USUAL, comm)
    return found
