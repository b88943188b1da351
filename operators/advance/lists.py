"""The lists that an advance walks: a graph's own, or those that are sorted by weight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.backends.run.workspace import register_derived
from frontier.functors.functor import arguments
from frontier.graph.by_weight import lists_by_weight, slots_by_weight
from frontier.lowering.inputs import Derived
from frontier.lowering.ir import Call
from frontier.operators.shared.phases import adjacency

if TYPE_CHECKING:
    from frontier.lowering.builder import Builder
    from frontier.lowering.kernels import Constant
    from frontier.operators.advance import Advance

__all__ = ["visited"]

register_derived("ends by weight", lambda g, edges, _: lists_by_weight(g, edges).ends)
register_derived("weights by weight", lambda g, edges, _: lists_by_weight(g, edges).weights)
register_derived("slots by weight", lambda g, edges, _: slots_by_weight(g, edges))


def visited(b: Builder, step: Advance) -> tuple[Call, dict[str, Constant]]:
    """Lists that an advance walks, and constants of the functions that visit their edges.

    As :func:`adjacency` gives them; ``placed``, whether weights are read by place, is true of lists sorted by weight.
    """
    names = arguments(step.fn, "edge")
    numbered = step.output == "edge" or "edge" in names
    if step.stop is None:
        lists, constants = adjacency(b, step.edges, names, step.output == "edge")
        return lists, constants | {"placed": False}
    assert b.layout.weights is not None
    of, parts = step.edges, (("ends", b.layout.ids), ("weights", b.layout.weights), ("slots", b.layout.offsets))
    ends, weights, slots = (
        b.array(f"{part}_by_weight_{of}", Derived(f"{part} by weight", of), dtype) if part != "slots" or numbered else 0
        for part, dtype in parts
    )
    lists = Call("Lists", b.lists(of)[0], ends, slots, weights)
    return lists, {"renumbered": numbered, "weighted": "weight" in names, "placed": True}
