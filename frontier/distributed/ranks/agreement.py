"""What ranks must have alike: graphs, programs and values, which they compare before they compute together."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.distributed.ranks.changes import stays
from frontier.distributed.ranks.field_storage import visible
from frontier.distributed.transport.device_arrays import in_kernels
from frontier.distributed.transport.rounds import common, met
from frontier.errors import GraphError
from frontier.memory.host import HOST
from frontier.program.step import captures_of, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from frontier.distributed.transport.communicators import Communicator
    from frontier.graph.graph import Graph
    from frontier.memory.placement import Placement
    from frontier.program.frontiers import Frontier
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["check_alike", "check_graph", "check_values", "description", "way"]

_GRAPH = "graph"


def check_alike(told: Sequence[Mapping[str, Any]]) -> None:
    """Raise GraphError on all ranks if they have not the same of what each has told."""
    for rank, other in enumerate(told):
        for name, value in told[0].items():
            if other.get(name) != value:
                hint = " (what is made by chance needs the same seed= on all)" if name == _GRAPH else ""
                raise common(GraphError(
                    f"rank {rank} has not the same {name} as rank 0: all ranks must begin a run with the same "
                    f"graph, program and values{hint}"
                ))  # fmt: skip


def check_graph(g: Graph, comm: Communicator) -> None:
    """Raise GraphError on all ranks, which call this together, if they have not the same graph."""
    check_alike(met(comm, "computes on a whole graph", {_GRAPH: _graph(g)}))


def description(step: Step, p: Problem, f: Frontier | None) -> dict[str, Any]:
    """What a run begins with: the graph, the program, and the values of the problem.

    Under mpirun it has no values of fields; those to which ranks may have done different things are compared next, by
    :func:`check_values`.
    """
    made = {_GRAPH: _graph(p.graph), "program": repr(step)}
    made |= {f"p.{name}": (str(value.dtype), value.tobytes()) for name, value in p.scalars.items()}
    shown = visible(p)
    left = {} if shown is None else shown.in_parts(p)
    whole = [name for name in p.arrays if not (stays(p, name) or name in left)]
    if shown is None:
        made |= _values(p, whole)
    else:
        made |= {f"p.{name}": shown.description(p, name) for name in whole}
        made["FRONTIER_RANKS_WHOLE"] = str(shown.longest)
    made |= {f"p.{name}": "in parts" for name in left}
    made |= {f"p.{name}": _checksum(np.sort(pile.ids)) for name, pile in p.piles.items()}
    return made | {"frontier": None if f is None else len(f) if f.is_all else _checksum(np.sort(f.ids))}


def _values(p: Problem, names: Iterable[str]) -> dict[str, Any]:
    """Fields with all their values, as checksums."""
    shown, made = visible(p), {}
    for name in names:
        array = p.arrays[name]
        crc = zlib.crc32(np.ascontiguousarray(array).data) if shown is None else shown.checksum(array)
        made[f"p.{name}"] = array.shape, str(array.dtype), crc
    return made


def check_values(p: Problem, done: Sequence[Mapping[str, Any]], comm: Communicator) -> None:
    """Raise GraphError on all ranks, which call this together, if a field does not have the same values on them.

    ``done`` is what :meth:`frontier.distributed.ranks.visible_fields.VisibleFields.done` says on each rank. Where ranks
    have done the same to a field since they have compared it last, it still has the same values.
    """
    marks = {name: {each[name] for each in done} for name in done[0]}
    differ = [name for name, some in marks.items() if None in some or len(some) > 1]
    if differ:
        check_alike(comm.allgather(_values(p, differ)))
    shown = visible(p)
    assert shown is not None
    shown.compared(p)


def way(step: Step, schedule: ResolvedSchedule, inner: Placement, rows: int) -> dict[str, Any]:
    """How a program runs: ranks that go different ways would wait for each other."""
    functors: dict[str, list[str]] = {}
    for fn, part in captures_of(step).parts.items():
        functors.setdefault(f"functor {fn.__name__} (or what it captures)", []).append(part.fingerprint)
    schedules = [schedule, *(each.schedule for each in walk(step))]
    made = {**functors, "schedule": repr(schedules), "placement": (inner.backend.name, rows)}
    if inner.memory is not HOST:
        made["FRONTIER_RANKS_IN_KERNELS"] = str(in_kernels())
    return made


def _graph(g: Graph) -> tuple[Any, ...]:
    arrays = g.cached("checksum", lambda: _checksum(g.offsets, g.targets, g.weights))
    return (g.directed, g.cached("checksum of labels", lambda: _labels(g.labels)), *arrays)


def _labels(labels: Any) -> Any:
    """A checksum of labels, where these are numbers or text: others may look different in each process."""
    if labels is None:
        return None
    there = labels.tolist()
    plain = labels.dtype != object or all(isinstance(each, str | int | float) for each in there)
    return len(there), zlib.crc32("\n".join(map(repr, there)).encode()) if plain else 0


def _checksum(*arrays: Any) -> tuple[Any, ...]:
    there = [np.ascontiguousarray(array) for array in arrays if array is not None]
    return tuple((array.shape, str(array.dtype), zlib.crc32(array.data)) for array in there)
