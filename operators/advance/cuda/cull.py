"""``unique="cull"``: tests without atomics remove most duplicates, where only the loop itself sees the frontier.

Where more have passed than there is room for, the queue is made anew of the stamps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.cuda.compile.runtime_words import HISTORY
from frontier.lowering.ir import Call, Var, either
from frontier.operators.advance.cuda.bitmap import bits, clear
from frontier.operators.advance.cuda.edges import Dedup, next_epoch, stamps
from frontier.operators.advance.cuda.marks import list_marks

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.frontier_state import FrontierState
    from frontier.lowering.ir import Value
    from frontier.operators.advance import Advance

__all__ = ["CULL"]


def culled(taken, history, stamps, epoch, item):
    """Whether an item has been taken before in this phase, as far as three tests without atomics can tell.

    They look at its bit, which other lanes may overwrite; at what the block took lately; and at its stamp, which two
    lanes may read before either writes it. A lane fails a test only if another lane has passed it, so of all lanes with
    this item at least one passes the last.
    """
    bit = np.uint32(np.uint32(1) << np.uint32(item & 31))
    word = np.uint32(taken[item >> 5])
    if np.uint32(word & bit) != np.uint32(0):
        return True
    taken[item >> 5] = np.uint32(word | bit)
    place = item & (HISTORY - 1)
    if history[place] == item:
        return True
    history[place] = item
    if stamps[item] == epoch:
        return True
    stamps[item] = epoch
    return False


def taking() -> Callable[..., Any]:
    """Return the test, after which kernels ask ``first_in_warp``."""

    def take(out, item, stamped):
        return not culled(out.taken, out.history, out.stamps, out.epoch, item)

    return take


def _chosen(step: Advance, b: CudaProgram) -> bool:
    only_queues = len(b.loops) > 1 and not b.records and not b.layout.of_kind("pile")
    return step.unique == "cull" and step.hold is None and only_queues


def _given(b: CudaProgram) -> dict[str, Value]:
    made = stamps(b) | bits(b)
    # All threads evaluate this argument before the phase, and so empty the history.
    b.scratch = True
    place = Var("FREE") + (Var("OFFSETS") + 2 * Var("IDS") + 4) * Var("TILE")
    return made | {"history": Call("empty_history", Call("ids_shared", place))}


def _before(b: CudaProgram) -> None:
    next_epoch(b)
    clear(b)


def _after(b: CudaProgram, source: FrontierState, target: FrontierState, next_scan: str) -> None:
    """Where the queue has overflowed, make it of the stamps, which hold the same set without duplicates."""
    with b.when(either(target.count > b.capacity("vertex"), target.edges > b.capacity("edge"), target.edges < 0)):
        list_marks(b, target, next_scan, None)


CULL = Dedup(chosen=_chosen, taking=taking, given=_given, before=_before, after=_after, culls=True)
