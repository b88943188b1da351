"""Where in a program GPUs meet: at the barriers of some of its phases."""

from __future__ import annotations

from collections.abc import Sequence

from frontier.lowering.ir import Branch, Deferred, Node, Phase, Region

__all__ = ["all_meet", "can_meet", "let_meet"]


def all_meet(nodes: list[Node]) -> bool:
    """Return whether all GPUs meet somewhere in some nodes, on every path; a loop within them may have no pass."""
    return any(
        (isinstance(node, Phase) and node.meets)
        or (isinstance(node, Branch) and all_meet(node.yes) and all_meet(node.no))
        or (isinstance(node, (Region, Deferred)) and all_meet(node.body))
        for node in nodes
    )


def can_meet(nodes: list[Node]) -> bool:
    """Return whether some nodes end with a phase at whose barrier nobody meets yet, on every path."""
    if not nodes:
        return False
    last = nodes[-1]
    if isinstance(last, Phase):
        return not last.meets
    if isinstance(last, Branch):
        return can_meet(last.yes) and can_meet(last.no)
    return isinstance(last, (Region, Deferred)) and can_meet(last.body)


def let_meet(nodes: list[Node], after: Sequence[Node]) -> None:
    """Let all GPUs meet at the barriers with which some nodes end, and do something after that."""
    last = nodes[-1]
    if isinstance(last, Phase):
        last.meets = True
        last.after.extend(after)
    elif isinstance(last, Branch):
        let_meet(last.yes, after)
        let_meet(last.no, after)
    elif isinstance(last, (Region, Deferred)):
        let_meet(last.body, after)
