"""Which backend runs the part of a rank, and on which device of its host."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from frontier.backends.ranks.needs import needs
from frontier.backends.ranks.rounds import common
from frontier.errors import BackendUnavailableError, DeviceLostError, FunctorError
from frontier.memory.host import HOST
from frontier.memory.placement import SHIPPED, backend_named
from frontier.program.step import walk

if TYPE_CHECKING:
    from frontier.backends.ranks.communicators import Communicator
    from frontier.memory.placement import Computing, Placement
    from frontier.program.problem import Problem
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
            devices = comm.gather(_own_device(backend, comm.local))
            if all(devices) and len(set(devices)) == comm.size:
                return backend
    return backend_named(USUAL)


def _own_device(backend: Computing, local: int) -> str:
    """What identifies the device that a rank would have; empty if there is none."""
    try:
        return "" if backend.missing() else backend.device(backend.placement_of(local))
    except (BackendUnavailableError, DeviceLostError):
        return ""


def inner_for(name: str, comm: Communicator, step: Step, p: Problem, schedule: ResolvedSchedule) -> Placement:
    """The same for a run: what devices cannot do is left to the usual backend, unless another was asked for.

    Raises
    ------
    FunctorError
        If the backend that was asked for cannot do it.
    """
    found = inner_of(name, comm)
    if found.memory is HOST:
        return found
    borrows = _borrows(step, p)
    if name and borrows:
        raise common(FunctorError(
            f"{borrows} looks at edges of other ranks, which are not brought to GPUs: use 'ranks,{USUAL}', or "
            'g.to("cpu") before g.to("ranks"), with the whole graph on every rank'
        ))  # fmt: skip
    schedules = [schedule, *(each.schedule.resolved() for each in walk(step) if each.schedule is not None)]
    if borrows or (not name and any(each.deterministic for each in schedules)):
        return inner_of(USUAL, comm)
    return found


def _borrows(step: Step, p: Problem) -> str:
    """A step that looks at edges of other ranks, on a graph in parts; empty if none does."""
    if p.graph._topology.divided is None:
        return ""
    for each in walk(step):
        try:
            made = needs(each, p)
        except FunctorError:  # the run refuses it
            return ""
        if made.lists or made.slots:
            return repr(each)
    return ""
