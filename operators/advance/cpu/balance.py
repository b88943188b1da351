"""Choose the load balancing of a push on the cpu backend, among two and the registered ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.operators.advance.cpu import merge_path, thread
from frontier.program.registered import registered_balance

if TYPE_CHECKING:
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.advance import Advance

__all__ = ["push"]

#: Name -> function that adds the phases, whether it needs the scan of the frontier's degrees.
OWN = {"thread": (thread.lower, False), "merge_path": (merge_path.lower, True), "auto": (merge_path.lower, True)}


def push(step: Advance, b: Builder, source: FrontierState, target: FrontierState, next_scan: str) -> None:
    """Add the phases of the schedule's balance; ``auto`` is ``merge_path``, which suits lists of any length."""
    lower, scanned = registered_balance(b.schedule.balance, b.backend) or OWN[b.schedule.balance]
    with b.locally(step, target):
        if scanned:
            b.frontiers.scanned(source, step.edges)
        else:
            b.frontiers.sparse(source)
            if not step.may_pull(b.schedule):
                next_scan = ""  # for the rule that chooses a direction alone
        lower(step, b, source, target, next_scan)
