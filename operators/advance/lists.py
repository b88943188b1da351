"""Lists sorted by weight as inputs of programs, for advances with ``stop``."""

from __future__ import annotations

from frontier.backends.run.workspace import register_derived
from frontier.graph.by_weight import lists_by_weight, slots_by_weight

register_derived("ends by weight", lambda g, edges, _: lists_by_weight(g, edges).ends)
register_derived("weights by weight", lambda g, edges, _: lists_by_weight(g, edges).weights)
register_derived("slots by weight", lambda g, edges, _: slots_by_weight(g, edges))
