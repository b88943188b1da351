"""``dedup="bitmap"``: duplicates are removed by a bit of each vertex; all bits are cleared before each step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.lowering.inputs import Buffer
from frontier.operators.advance.cuda.edges import Dedup

if TYPE_CHECKING:
    from frontier.backends.cuda.device.machine import fetch_or
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.ir import Value

__all__ = ["BITMAP", "bits", "clear"]


def taking() -> Callable[..., Any]:
    """Return the test: whether this lane is the first to set the item's bit."""

    def take(out, item, stamped):
        bit = np.uint32(np.uint32(1) << np.uint32(item & 31))
        if np.uint32(np.uint32(out.taken[item >> 5]) & bit) != np.uint32(0):
            return False
        return np.uint32(np.uint32(fetch_or(out.taken, item >> 5, bit)) & bit) == np.uint32(0)

    return take


def bits(b: CudaProgram) -> dict[str, Value]:
    """The bitmap, as a part of the queue."""
    return {"taken": b.array("taken", Buffer("bits"), "uint32")}


def clear(b: CudaProgram) -> None:
    """Add the phase that clears it."""
    b.phase(b.divided("fill_bits", bits(b)["taken"], b.capacity("vertex")), title="clear the marks")


BITMAP = Dedup(
    chosen=lambda step, b: step.unique != "claimed" and b.schedule.dedup == "bitmap",
    taking=taking,
    given=bits,
    before=clear,
)
