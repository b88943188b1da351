"""Read what ``frontier.io._tokens`` reads by regular expressions, for files too short to be worth compiling.

This handles only simple input. Anything wrong or unusual is left to the kernels, which report what it is and where.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from frontier.graph.topology import Array
from frontier.io._codes import AUTO, FLOAT, INTEGER

__all__ = ["read_lists", "read_rows"]

_BLANK = rb"[ \t\r]*"
_GAP = rb"(?:[ \t\r]+[,;]?|[,;])[ \t\r]*"
_ID = rb"([0-9]{1,18})"
_NUMBER = rb"([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"
_NUMBERS = re.compile(_BLANK + rb"(?:" + _NUMBER + rb"(?:[ \t\r]+|$))*")
_WHOLE = re.compile(rb"[-+]?[0-9]+")
_NEGATIVE_ZERO = re.compile(rb"-0+")


def read_rows(
    text: bytes, tag: bytes, comments: bytes, columns: int, base: int, limit: int, kind: int
) -> tuple[Array, Array, Array | None] | None:
    """Ids of both ends, from 0, and with three columns a number; None if the text is not plain.

    The arguments are those of the kernel, but for letters instead of their codes.
    """
    begin = _BLANK + (re.escape(tag) + rb"[ \t\r]+" if tag else b"")
    row = re.compile(begin + _ID + _GAP + _ID + (_GAP + _NUMBER if columns == 3 else b"") + _BLANK)
    src: list[int] = []
    dst: list[int] = []
    words: list[bytes] = []
    for line in text.split(b"\n"):
        found = row.fullmatch(line)
        if found is None:
            rest = line.lstrip(b" \t\r")
            if rest and rest[0] not in comments:
                return None
            continue
        src.append(int(found[1]) - base)
        dst.append(int(found[2]) - base)
        if columns == 3:
            words.append(found[3])
    if src and (min(min(src), min(dst)) < 0 or max(max(src), max(dst)) >= limit):
        return None
    numbers = _numbers(words, kind) if columns == 3 else None
    if columns == 3 and numbers is None:
        return None
    return np.array(src, np.int64), np.array(dst, np.int64), numbers


def read_lists(text: bytes, comment: bytes) -> tuple[Array, Array, Array] | None:
    """The numbers of all lines, how many each line has, and which line it is; None if the text is not plain."""
    words: list[bytes] = []
    sizes, places = [], []
    for place, line in enumerate(text.split(b"\n")[:-1]):
        if line.lstrip(b" \t\r").startswith(comment):
            continue
        if _NUMBERS.fullmatch(line) is None:
            return None
        own = line.split()
        words += own
        sizes.append(len(own))
        places.append(place)
    numbers = _numbers(words, AUTO)
    return None if numbers is None else (numbers, np.array(sizes, np.int64), np.array(places, np.int64))


def _numbers(words: list[bytes], kind: int) -> Array | None:
    """A column: int64 if all are, and nothing else is asked for; None if the kernel has to decide."""
    whole = all(_WHOLE.fullmatch(word) for word in words)
    if kind != FLOAT and whole:
        values: list[Any] = [int(word) for word in words]
        if all(-(2**63) <= value < 2**63 for value in values):
            return np.array(values, np.int64)
    if kind == INTEGER or (kind == AUTO and any(_NEGATIVE_ZERO.fullmatch(word) for word in words)):
        return None  # a zero's sign is lost where it was an integer at first
    return np.array([float(word) for word in words], np.float64)
