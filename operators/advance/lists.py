"""What advances take of lists, as inputs of programs: those that are sorted by weight, and how long the longest is."""

from __future__ import annotations

from frontier.backends.run.workspace import register_derived
from frontier.graph.by_weight import lists_by_weight, slots_by_weight

register_derived("ends by weight", lambda g, edges, _: lists_by_weight(g, edges).ends)
register_derived("weights by weight", lambda g, edges, _: lists_by_weight(g, edges).weights)
register_derived("slots by weight", lambda g, edges, _: slots_by_weight(g, edges))
register_derived("max_degree", lambda g, edges, _: g.traits.max_degree)
