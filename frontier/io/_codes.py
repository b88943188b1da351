"""How the readers of numbers, ``_tokens`` and ``_plain``, say what they have found.

numba's cache of the kernels in ``_tokens`` does not notice a change here: change that file too.
"""

from __future__ import annotations

# What a column of weights holds; AUTO: integers until the first other number.
INTEGER, FLOAT, AUTO = 0, 1, 2

# Faults, and the place of each in ``out``.
(GOOD, BAD_TAG, BAD_ID, NEGATIVE_ID, ID_RANGE, BAD_INTEGER, BAD_NUMBER, MISSING, SURPLUS,
 SEPARATOR) = range(10)  # fmt: skip
ROWS, LINES, KIND, HARD, FAULT, AT, TOKENS = range(7)
