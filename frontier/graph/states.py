"""The product of a graph and an automaton: a vertex for each pair of a vertex and a state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.errors import GraphError
from frontier.graph.build import from_edges
from frontier.graph.topology import Array
from frontier.memory.arrays import to_host

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = ["with_states"]


def with_states(graph: Graph, leads: Any, label: Any) -> Graph:
    """Do the work of ``Graph.with_states``."""
    top, memory = graph._topology, graph.placement.memory
    top.check_whole("a graph of states")
    table = _table(leads)
    xp, (states, count) = memory.xp, table.shape
    after = memory.moved(table)[:, _letters(graph, label, count)].T
    slot, state = xp.nonzero(after >= 0)
    made = from_edges(
        graph.sources[slot].astype(np.int64) * states + state,
        graph.targets[slot].astype(np.int64) * states + after[slot, state],
        None if top.weights is None else top.weights[slot],
        num_vertices=graph.num_vertices * states,
        directed=True,
        duplicates="keep",
        vertices={
            "vertex": xp.repeat(xp.arange(graph.num_vertices, dtype=top.id_dtype), states),
            "state": xp.tile(xp.arange(states, dtype=np.int32), graph.num_vertices),
        },
        edges={"edge": slot, **{name: column[slot] for name, column in top.edges.items() if name != "edge"}},
    )
    return made.to(graph.placement)


def _table(leads: Any) -> Array:
    made = np.asarray(to_host(leads))
    if made.ndim == 1:
        made = made[:, None]
    if made.ndim != 2 or made.dtype.kind not in "iu" or not made.size:
        raise GraphError("leads holds a state, or -1, for each state and label: integers of shape (states, labels)")
    made = made.astype(np.int64)
    if made.min() < -1 or made.max() >= len(made):
        raise GraphError(f"leads: states are 0..{len(made) - 1}, and -1 is none; found {made.min()} to {made.max()}")
    return made


def _letters(graph: Graph, label: Any, count: int) -> Array:
    """The label of each edge slot, in the memory of the graph."""
    memory = graph.placement.memory
    if label is None:
        alike: Array = memory.full(graph.num_slots, 0, np.int64)
        return alike
    if isinstance(label, str):
        if label not in graph.edges:
            raise GraphError(f"the graph has no edge column {label!r}; it has {', '.join(graph.edges) or 'none'}")
        label = graph.edges[label]
    made: Array = memory.moved(label if hasattr(label, "dtype") else np.asarray(label))
    if made.shape != (graph.num_slots,) or made.dtype.kind not in "iu":
        raise GraphError(f"label holds an integer for each of the {graph.num_slots} edge slots, or names such a column")
    if len(made) and not 0 <= int(made.min()) <= int(made.max()) < count:
        raise GraphError(f"labels are 0..{count - 1}, as leads has {count} of them; found {made.min()} to {made.max()}")
    return made
