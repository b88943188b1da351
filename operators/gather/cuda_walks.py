"""How the warps and blocks of a GPU divide the lists of a gather among themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.cuda.compile.runtime_words import CURSOR
from frontier.lowering.kernels import Callee

if TYPE_CHECKING:
    from frontier.backends.cuda.device.machine import fetch_add, shuffle, sync, thread_index

__all__ = ["next_list", "warp_elements"]

#: From how many pieces per warp on (log2) pieces are assigned dynamically, and the vertices of such a piece (log2).
#: (On R-MAT 24 an iteration of PageRank takes 7.1 ms if pieces are assigned statically, 5.3 if dynamically, and 5.7
#: with pieces of 256. Where all degrees are similar, or warps have fewer pieces, nothing is gained.)
MANY, PIECE = 4, 7


def warp_elements(vertices: Callee, dealt: bool) -> Callable[..., Any]:
    """Return a walk in which a warp takes 32 elements at a time; it adds up what ``vertices`` returns for each.

    ``vertices(p, C, slot, lane, first, last, given)`` processes the elements from ``first`` on, 32 at most, before
    ``last``. Warps take pieces of the frontier: from element ``start`` on, assigned statically; or, if ``dealt``, from
    element 0 on, assigned dynamically. Of few elements a warp takes less than 32, so that all warps share their long
    lists.
    """

    def walk(p, C, slot, lane, w, W, total, start, given):
        examined = np.int64(0)
        if dealt:
            warps = W >> 5
            many = total > W << MANY
            shift = np.int64(PIECE) if many else np.int64(5)
            while shift > 0 and total >> (shift - 1) <= warps:
                shift -= 1  # one piece for each warp, if there are enough
            piece = (w - lane) >> 5
            while piece << shift < total:
                first = piece << shift
                last = min(total, first + (np.int64(1) << shift))
                while first < last:
                    examined += vertices(p, C, slot, lane, first, last, given)
                    first += 32
                taken = np.int64(0)
                if many and lane == 0:
                    taken = fetch_add(C, slot + CURSOR, np.int64(1))
                piece = warps + np.int64(shuffle(taken, 0)) if many else piece + warps
        else:
            first = start + w - lane
            while first < total:
                examined += vertices(p, C, slot, lane, first, total, given)
                first += W
        return examined

    return walk


def next_list(C, slot, taken):
    """The number of the next list for a block, whose threads all call it and share the word ``taken``."""
    sync()
    if thread_index() == 0:
        taken[0] = np.int32(fetch_add(C, slot + CURSOR, np.int64(1)))
    sync()
    return np.int64(taken[0])
