"""Sizes and names that loop functions of the cpu backend share with the host; this module must not import numba.

Workers share one array of 64-bit words, ``C``; see :mod:`frontier.backends.cpu.runtime`.
"""

from __future__ import annotations

__all__ = [
    "COUNT", "CURSOR", "DTYPES", "EDGES", "ERROR", "EXAMINED", "LINE", "LOCAL", "LOCK", "PARTIAL", "PILE_COUNT",
    "PILE_EDGES", "PILE_LOCK", "SPINS", "STOP", "words",
]  # fmt: skip

# Words of a slot; those that different workers write often are on separate cache lines.
CURSOR = 0
LOCK, COUNT, EDGES = 8, 9, 10
STOP, ERROR, EXAMINED = 16, 17, 18
PILE_LOCK, PILE_COUNT, PILE_EDGES = 24, 25, 26
PARTIAL = 32
LINE = 8

#: Elements that a worker collects before it reserves space for them in a queue.
LOCAL = 1024
#: Spins at the barrier before a worker yields its core.
SPINS = 2000

#: Numbers to which the texts of loop functions have pointers; ``wide_int32``: a field of int32 as functors see it.
DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
    "wide_int8", "wide_int16", "wide_int32",
)  # fmt: skip


def words(workers: int) -> int:
    """Size of ``C`` in 64-bit words."""
    return LINE + 3 * (PARTIAL + LINE * workers)
