"""The hubs of a graph, its vertices of highest degree, for the switch rule ``hubs`` and the hub cache of pulls.

After Enterprise (Liu and Huang, SC 2015): by default, about a thousand vertices are hubs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.run.workspace import register_derived
from frontier.lowering.inputs import Derived
from frontier.memory.arrays import to_host

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.lowering.builder import Builder
    from frontier.lowering.ir import Expr, Value
    from frontier.operators.advance import Advance

__all__ = ["hub_count", "hub_degree", "hub_ids", "hub_inputs", "hub_list"]

#: Vertices that are hubs, where no degree is given; of small graphs one in so many.
MOST, ONE_IN = 1000, 16


def hub_inputs(step: Advance, b: Builder) -> tuple[Value, Expr]:
    """The degree that hubs exceed, and how many vertices do."""
    asked = b.schedule.hub_degree
    if asked != "auto":
        count = Derived("hub_count", step.edges, int(asked))
        return int(asked), b.input(f"hubs_{step.edges}_{asked}", count, "hubs")
    return (
        b.input(f"hub_degree_{step.edges}", Derived("hub_degree", step.edges), "hub_degree"),
        b.input(f"hubs_{step.edges}", Derived("hub_count", step.edges), "hubs"),
    )


def hub_list(step: Advance, b: Builder) -> Expr:
    """The hubs' ids."""
    asked = b.schedule.hub_degree
    if asked == "auto":
        return b.array(f"hub_ids_{step.edges}", Derived("hub_ids", step.edges), b.layout.ids)
    return b.array(f"hub_ids_{step.edges}_{asked}", Derived("hub_ids", step.edges, int(asked)), b.layout.ids)


def hub_degree(g: Graph, edges: str, degree: int | None = None) -> int:
    """The degree that hubs exceed: the given one, or one that about a thousand vertices do; found once for a graph."""
    return g._once(f"hub degree {edges}", lambda: _least(g, edges)) if degree is None else degree


def hub_count(g: Graph, edges: str, degree: int | None = None) -> int:
    """How many hubs there are."""
    least = hub_degree(g, edges, degree)
    return g._once(f"hubs {edges} {least}", lambda: int((_degrees(g, edges) > least).sum()))


def hub_ids(g: Graph, edges: str, degree: int | None = None) -> Any:
    """The ids of the hubs, ascending, where the graph lies."""
    least, xp = hub_degree(g, edges, degree), g.placement.memory.xp
    return g._once(
        f"hub ids {edges} {least}", lambda: xp.flatnonzero(_degrees(g, edges) > least).astype(g.id_dtype)
    )


def _degrees(g: Graph, edges: str) -> Any:
    return g.out_degree if edges == "out" else g.in_degree


def _least(g: Graph, edges: str) -> int:
    n = g.num_vertices
    if n == 0:
        return 0
    values, counts = g.placement.memory.xp.unique(_degrees(g, edges), return_counts=True)
    upto = np.cumsum(to_host(counts))
    few = int(np.searchsorted(upto, n - min(MOST, n // ONE_IN)))  # the first degree that no more exceed
    return int(to_host(values)[few])


register_derived("hub_degree", hub_degree)
register_derived("hub_count", hub_count)
register_derived("hub_ids", hub_ids)
