"""Choose the load balancing of a push on the cpu backend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.operators.advance.cpu import merge_path, thread

if TYPE_CHECKING:
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.advance import Advance

__all__ = ["push"]


def push(step: Advance, b: Builder, source: FrontierState, target: FrontierState, next_scan: str) -> None:
    """Add the phase of the schedule's balance; all but ``thread`` are ``merge_path`` here."""
    if b.schedule.balance == "thread":
        b.sparse(source)
        thread.lower(step, b, source, target, next_scan)
        return
    b.scanned(source, step.edges)
    merge_path.lower(step, b, source, target, next_scan)
