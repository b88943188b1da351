"""What all balances and pull have in common, on every backend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.functors.functor import arguments
from frontier.lowering.frontier_state import BITS, HOW, form
from frontier.lowering.ir import Assign, Const, Counter, Expr, Node, expression
from frontier.lowering.variables import DIRECTION, SEEN

if TYPE_CHECKING:
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.advance import Advance

__all__ = ["needs_edges", "pulled", "pulling", "pushing", "walked"]


def needs_edges(step: Advance, b: Builder) -> bool:
    """Whether the out-edge slots of in-edges are needed."""
    names = arguments(step.fn, "edge")
    return step.edges == "out" and ("edge" in names or ("weight" in names and not b.layout.mirrored))


def pulled(b: Builder, target: FrontierState) -> list[Node]:
    """Nodes after a pull that wrote the next frontier as a bitmap."""
    return [
        Assign(target.bits, b.next_bits(target)),
        Assign(target.count, Counter("COUNT")),
        Assign(target.edges, Counter("EDGES")),
        Assign(target.form, form(BITS)),
        Assign(target.kind, expression(0)),
    ]


def pushing(step: Advance, how: int) -> str:
    """Return the description of a push for people."""
    return f"push along {step.edges}-edges ({HOW[how][1]})"


def pulling(step: Advance) -> str:
    """Return the description of a pull for people; it follows edges in the other direction."""
    return f"pull along {'in' if step.edges == 'out' else 'out'}-edges"


def walked(how: int, seen: Expr) -> list[Node]:
    """Nodes that note for the trace how edges were walked, and how many."""
    return [Assign(DIRECTION, Const(how, " ".join(HOW[how]).strip())), Assign(SEEN, seen)]
