"""The graph of a member of a group: with the edges of its own vertices only."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from frontier.graph.topology import Topology

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.graph.graph import Graph

__all__ = ["own_rows"]


def own_rows(g: Graph, first: int, end: int) -> Graph:
    """Return the graph with all other lists empty, out-lists and in-lists; slots keep their numbers."""

    def clipped(offsets: Any) -> NDArray[Any]:
        made: NDArray[Any] = placement.memory.xp.clip(offsets, int(offsets[first]), int(offsets[end]))
        return made

    top, kind, placement = g._topology, type(g), g.placement
    known = weakref.ref(top)  # which may keep what is made here

    def whole() -> Graph:
        there = known()
        assert there is not None
        return kind._wrap(there, placement)

    made = Topology(clipped(top.offsets), top.ends, top.weights, top.directed, None, {}, {})
    made.derived.update(max_degree=g.max_degree, traits=g.traits, own_vertices=(first, end))
    made.recipes.update(
        out_degree=lambda: whole().out_degree,  # by which hubs and heads are chosen
        in_degree=lambda: whole().in_degree,
        sources=lambda: whole().sources,
        in_edges=lambda: whole().in_edges,
        in_lists=lambda: (clipped(whole().in_offsets), whole()._in_lists()[1]),
    )
    return kind._wrap(made, placement)
