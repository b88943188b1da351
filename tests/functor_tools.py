"""Helpers of functors that are reached as attributes of this module, for test_functors."""

from __future__ import annotations

import frontier as fr

STEP = 3


@fr.function
def clamp(x, low, high):
    return max(low, min(x, high))


def twice(x):
    return 2 * x + STEP
