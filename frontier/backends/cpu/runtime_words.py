"""Sizes and names that loop functions of the cpu backend share with the host; this module must not import numba.

Workers share one array of 64-bit words, ``C``; see :mod:`frontier.backends.cpu.runtime`.
"""

from __future__ import annotations

__all__ = [
    "ASKED", "COUNT", "CURSOR", "DTYPES", "EDGES", "ERROR", "EXAMINED", "GRAIN", "HELPERS", "LINE", "LOCAL", "LOCK",
    "MAILBOXES", "PARTIAL", "PILE_COUNT", "PILE_EDGES", "PILE_LOCK", "SHARE", "SHARES", "SINCE", "SPINS", "STOP",
    "WAKING", "WOKEN", "first", "words",
]  # fmt: skip

# Words before the slots: a line in which a functor that raises is reported (frontier.compile.codes); then for helpers
# (frontier.backends.cpu.teams): how often they were asked, and woken; how much work is worth another worker, and worth
# waking one; the number of shares of the phase at hand, and when it began; how many helpers
# there are, and where their mailboxes are.
ASKED, WOKEN, GRAIN, WAKING, SHARES, SINCE, HELPERS = range(8, 15)
MAILBOXES = 16

# Words of a slot; those that different workers write often are on separate cache lines.
CURSOR, SHARE = 0, 1
LOCK, COUNT, EDGES = 8, 9, 10
STOP, ERROR, EXAMINED = 16, 17, 18
PILE_LOCK, PILE_COUNT, PILE_EDGES = 24, 25, 26
PARTIAL = 32
LINE = 8

#: Elements that a worker collects before it reserves space for them in a queue.
LOCAL = 1024
#: Spins at a lock before a worker yields its core.
SPINS = 2000

#: Numbers to which the texts of loop functions have pointers; ``wide_int32``: a field of int32 as functors see it.
DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
    "wide_int8", "wide_int16", "wide_int32",
)  # fmt: skip


def first(workers: int) -> int:
    """Where the slots begin."""
    return MAILBOXES + -(-workers // LINE) * LINE


def words(workers: int) -> int:
    """Size of ``C`` in 64-bit words."""
    return first(workers) + 3 * (PARTIAL + LINE * workers)
