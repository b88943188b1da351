"""What GPUs tell each other when they meet, for kernels and the host; this module must not import numba."""

from __future__ import annotations

import os
from typing import Any

from frontier.backends.cuda.compile.runtime_words import COUNT, EDGES, ERROR, EXAMINED, PILE_COUNT, SLOT, STOP

__all__ = [
    "ALL", "ALL_COUNT", "ALL_EDGES", "ALL_ERROR", "ALL_STOP", "ALL_VALUE", "COMPUTED", "COUNT_BITS", "HALVES",
    "INBOXES", "LOST", "MERGED", "OPERATION", "PATIENCE", "REAL", "RECEIVED", "SUMS", "TOLD", "VALUE", "WAITED",
    "box_words", "inbox_at", "sums_at",
]  # fmt: skip

#: How many words of a slot a GPU tells, and the words of K where what all told begins.
TOLD = ALL = 8

#: They are told in halves: a word of a box has 32 bits of a value below the lower 32 bits of the meeting's number.
HALVES = 2 * TOLD

#: Words of K after a meeting.
ALL_COUNT, ALL_EDGES, ALL_STOP, ALL_ERROR = (ALL + word for word in (COUNT, EDGES, STOP, ERROR))

#: What a phase leaves in its slot to be combined: a value, and by which operation: its number and 1, or for floats its
#: number and REAL; 0 if there is nothing to combine.
VALUE, OPERATION, REAL = PILE_COUNT, EXAMINED, 8
ALL_VALUE = ALL + VALUE

#: The error of a GPU that has waited for another so many nanoseconds; the simulator is slow.
LOST = 64
PATIENCE = 10_000_000_000 if os.environ.get("NUMBA_ENABLE_CUDASIM") != "1" else 60_000_000_000


#: Sums of a run for a trace: nanoseconds in steps, in phases that exchange, and of waiting for other GPUs; bytes of
#: values read from them.
COMPUTED, MERGED, WAITED, RECEIVED, SUMS = range(5)


def sums_at(parts: Any) -> Any:
    """Where these sums are in a box.

    Before them are what GPUs tell in two meetings, and what each block of this GPU is to know: the words of K.
    """
    return 2 * parts * HALVES + 2 * SLOT


#: Words of a box that say how many elements other GPUs have appended to a frontier, and how many edges these have: for
#: three passes in turns. A pass clears the next one's, which nobody has looked at since the pass before it.
INBOXES = 3

#: The number of elements takes the lower bits of such a word.
COUNT_BITS = 20


def inbox_at(parts: Any) -> Any:
    """Where these words are in a box."""
    return sums_at(parts) + SUMS


def box_words(parts: int) -> int:
    """Words of a box."""
    return int(inbox_at(parts)) + INBOXES
