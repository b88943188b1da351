"""The codes by which the readers of numbers, ``_tokens`` and ``_plain``, say what they have found."""

from __future__ import annotations

# What a column of weights holds; AUTO: integers until the first other number.
INTEGER, FLOAT, AUTO = 0, 1, 2

# Faults, and the place of each in ``out``.
(GOOD, BAD_TAG, BAD_ID, NEGATIVE_ID, ID_RANGE, BAD_INTEGER, BAD_NUMBER, MISSING, SURPLUS,
 SEPARATOR) = range(10)  # fmt: skip
ROWS, LINES, KIND, HARD, FAULT, AT, TOKENS = range(7)
