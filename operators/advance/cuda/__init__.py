"""Phases of Advance on the GPU: one file for each balance, and pull.

``balance`` chooses among ``thread``, ``merge_path`` and those that are registered; ``edges`` is the code for one edge
that all of them share. ``ascending`` stops in lists that are sorted by weight. ``pull`` goes in the other direction,
with ``shrink`` for consecutive pulls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.operators.advance.cuda import ascending, thread
from frontier.operators.advance.cuda.balance import push
from frontier.operators.advance.cuda.bitmap import BITMAP
from frontier.operators.advance.cuda.cull import CULL
from frontier.operators.advance.cuda.edges import DEDUPS, unique
from frontier.operators.advance.cuda.marks import MARK
from frontier.operators.advance.cuda.pull import lower as pull
from frontier.operators.advance.cuda.thread import far_ends

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.advance import Advance

__all__ = ["far_ends", "part", "pull", "push", "unique"]

DEDUPS.update(mark=MARK, cull=CULL, bitmap=BITMAP)


def part(step: Advance, b: CudaProgram, source: FrontierState, target: FrontierState, next_scan: str) -> None:
    """Add the phases of an advance that visits a part of each list, or that holds vertices back."""
    lower = thread.lower if step.stop is None else ascending.lower
    lower(step, b, source, target, next_scan)
