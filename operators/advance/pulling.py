"""What pulls have in common on every backend: what they are called, and what becomes of their result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.lowering.frontier_state import BITS, form
from frontier.lowering.ir import Assign, Counter, Node, expression

if TYPE_CHECKING:
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.advance import Advance

__all__ = ["pulled", "pulling"]


def pulled(b: Builder, target: FrontierState) -> list[Node]:
    """Nodes after a pull that wrote the next frontier as a bitmap."""
    return [
        Assign(target.bits, b.frontiers.next_bits(target)),
        Assign(target.count, Counter("COUNT")),
        Assign(target.edges, Counter("EDGES")),
        Assign(target.form, form(BITS)),
        Assign(target.kind, expression(0)),
    ]


def pulling(step: Advance) -> str:
    """Return the description of a pull for people; it follows edges in the other direction."""
    return f"pull along {'in' if step.edges == 'out' else 'out'}-edges"
