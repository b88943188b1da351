"""``hub_cache=True``: in a pull, every block keeps the hubs of the frontier in a table in its shared memory.

Neighbours in the table are visited first, and if that ends the search, the bitmap is not read (Enterprise; Liu and
Huang, SC 2015).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from frontier.lowering.ir import Call
from frontier.operators.advance.hub_inputs import hub_inputs, hub_list

if TYPE_CHECKING:
    from frontier.backends.cuda.device.machine import block_size, sync, thread_index
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.ir import Value
    from frontier.operators.advance import Advance

__all__ = ["TABLE", "fill_hubs", "hub_cache", "hubs_among"]

#: Entries of a block's table of hubs: a power of two.
TABLE = 2048


def fill_hubs(table, hubs, many, bits, everything):
    """Put the frontier's hubs into the block's table, each at its id modulo the size. All threads call it."""
    j = np.int64(thread_index())
    while j < TABLE:
        table[j] = -1
        j += block_size()
    sync()
    j = np.int64(thread_index())
    while j < many and not everything:
        v = np.int64(hubs[j])
        if np.uint32(np.uint32(bits[v >> 5]) >> np.uint32(v & 31)) & np.uint32(1) != np.uint32(0):
            table[v & (TABLE - 1)] = v
        j += block_size()
    sync()


def hubs_among(table, near0, near1, near2, near3, real):
    """Bits of those of four neighbours that are in the table; ``real`` has the bits of those that exist."""
    hits = np.uint32(0)
    if table[near0 & (TABLE - 1)] == near0:
        hits = np.uint32(hits | np.uint32(1))
    if table[near1 & (TABLE - 1)] == near1:
        hits = np.uint32(hits | np.uint32(2))
    if table[near2 & (TABLE - 1)] == near2:
        hits = np.uint32(hits | np.uint32(4))
    if table[near3 & (TABLE - 1)] == near3:
        hits = np.uint32(hits | np.uint32(8))
    return np.uint32(hits & real)


def hub_cache(step: Advance, b: CudaProgram) -> dict[str, Value]:
    """The hubs, as parameters of a pull that is to use them; empty if it is not."""
    if not b.schedule.hub_cache or b.low_degree:  # narrow builds have no scratch memory, and no hubs
        return {}
    return {"hubs": hub_list(step, b), "many": Call("min", hub_inputs(step, b)[1], TABLE)}
