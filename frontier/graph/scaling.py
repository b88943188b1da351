"""Weights near the ends of what float64 holds, scaled by powers of two, which no result is changed by.

Sums of such weights overflow, products and quotients underflow or overflow, and what is below 2**-1022 has fewer bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["GREAT", "SMALL", "is_moderate", "scaled_by_row"]

#: Between these, sums, squares and quotients of sums are far from both ends.
SMALL, GREAT = 2.0**-400, 2.0**400


def is_moderate(weight: Any) -> bool:
    """Whether nothing has to be scaled because of this weight, or sum of weights; there is no need to for 0."""
    return bool(weight == 0 or SMALL <= weight <= GREAT)


def scaled_by_row(offsets: NDArray[Any], weights: NDArray[Any]) -> NDArray[np.float64]:
    """Return weights on the host, each vertex's times a power of two that brings its greatest into [1/2, 1)."""
    made = weights.astype(np.float64)
    count = np.diff(offsets)
    rows = np.flatnonzero(count)
    if len(rows):
        exponent = np.frexp(np.maximum.reduceat(made, offsets[rows]))[1]
        made = np.ldexp(made, -np.repeat(exponent, count[rows]))
    return made
