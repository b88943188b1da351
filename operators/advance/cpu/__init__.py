"""Phases of Advance on the CPU: one file for each balance, and pull.

``balance`` chooses among ``thread``, ``merge_path`` and those that are registered; ``edges`` is the code for one edge
that all of them share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.operators.advance.cpu.balance import push
from frontier.operators.advance.cpu.pull import lower as pull
from frontier.operators.advance.cpu.thread import far_ends
from frontier.operators.advance.cpu.thread import lower as part

if TYPE_CHECKING:
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState

__all__ = ["far_ends", "part", "pull", "push", "unique"]


def unique(b: Builder, current: FrontierState) -> None:
    """Do nothing: every queue is a set here."""
