"""On a rank: its own rows of a result, as the columns of a table."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.distributed.clusters.store import slots_of
from frontier.distributed.ranks.fields import FieldInParts
from frontier.distributed.ranks.graphs import InParts
from frontier.distributed.transport.communicators import world
from frontier.distributed.transport.rounds import met

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.graph.topology import Array
    from frontier.results import Result

__all__ = ["aligned", "extent", "rows"]


def aligned(result: Result, graph: Graph | None) -> Result:
    """Return a result whose columns are all divided in the same way; all ranks call this together.

    A column may be divided like another graph than the result's, for instance one without duplicates. Then every rank
    gets the whole column.
    """
    comm = world()
    own = extent(result, graph, comm.rank, comm.size)
    odd = [
        name for name in result.present_columns()
        if isinstance(value := getattr(result, name), FieldInParts | InParts)
        and (value.first, len(value.own)) != (own.start, own.stop - own.start)
    ]  # fmt: skip
    odd = sorted({name for each in met(comm, "makes a table", odd) for name in each})
    if not odd:
        return result
    made = copy(result)
    for name in odd:
        object.__setattr__(made, name, np.asarray(getattr(result, name)))
    return made


def rows(result: Result, graph: Graph | None, rank: int, size: int, none: bool = False) -> dict[str, Array]:
    """Return a rank's own rows of a result whose rows are vertices, or edges of a graph in parts.

    Other ranks are not asked. ``none``: return the columns without rows.
    """
    values = {name: getattr(result, name) for name in result.present_columns()}
    own = extent(result, graph, rank, size)
    count = 0 if none else own.stop - own.start
    if result.row_kind == "slot":
        assert graph is not None
        here = graph._topology.ranks.parts[0]
        ends = {"source": here.sources[own][:count], "target": here.targets[own][:count]}
    else:
        ends = {"vertex": np.arange(own.start, own.start + count)}
    names = result.names if graph is None else graph.names
    made = {name: names.column(value) for name, value in ends.items()}
    for name, value in values.items():
        part = _part(value, own)[:count]
        made[name] = names.column(part) if name in result.id_columns else part
    return made


def extent(result: Result, graph: Graph | None, rank: int, size: int) -> slice:
    """Return the range of a rank's rows: those that it owns, or an equal share."""
    if result.row_kind == "slot":
        assert graph is not None
        return slots_of(graph)
    values = [getattr(result, name) for name in result.present_columns()]
    for value in values:
        if isinstance(value, FieldInParts):
            return slice(value.first, value.first + len(value.own))
    length = len(values[0])
    return slice(length * rank // size, length * (rank + 1) // size)


def _part(value: Any, own: slice) -> Array:
    """Return a rank's own entries of a column."""
    if isinstance(value, FieldInParts | InParts):
        return value.own
    part: Array = np.asarray(value)[own]
    return part
