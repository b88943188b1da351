"""Compiled tokenizer of text files: bytes in, columns of numbers out.

Imported only when a text file is read. Every buffer must end with a newline, so no loop over
the characters of a line has to look for the end of the buffer.

Decimal numbers become the nearest float64, as Python's ``float`` gives it. Where a product or
quotient of two exact floats does not settle it, the decimal significand is multiplied by a
128-bit power of five (Lemire: Number parsing at a gigabyte per second, Software: Practice and
Experience 51, 2021; that the 128 bits always suffice: Mushtak, Lemire: Fast number parsing
without fallback, ibid. 53, 2023). What is rare, such as subnormal numbers and "inf", is left to
Python: the kernels give the place of the token.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from frontier.io._codes import (
    AT,
    AUTO,
    BAD_ID,
    BAD_INTEGER,
    BAD_NUMBER,
    BAD_TAG,
    FAULT,
    FLOAT,
    HARD,
    ID_RANGE,
    INTEGER,
    KIND,
    LINES,
    MISSING,
    NEGATIVE_ID,
    ROWS,
    SEPARATOR,
    SURPLUS,
    TOKENS,
)
from frontier.native.jit import jit

__all__ = ["read_lists", "read_rows"]

# What a token is; _HARD_REAL: Python has to read it.
_NOTHING, _WHOLE, _REAL, _HARD_REAL = range(4)

_NEWLINE, _RETURN, _TAB, _SPACE = 10, 13, 9, 32
_COMMA, _SEMICOLON, _PLUS, _MINUS, _DOT, _ZERO = (ord(c) for c in ",;+-.0")

_MIN_POWER, _MAX_POWER = -342, 308
_MAX_INT = np.uint64(2**63 - 1)
_EXACT = np.uint64(2**53)
_TEN = 10.0 ** np.arange(23)  # exact
_TWO = np.ldexp(1.0, np.arange(-1074, 1024))


def _powers_of_five() -> Any:
    """The leading 128 bits of 5**q as two words each, rounded as the paper's proof needs it."""
    table = np.empty((_MAX_POWER - _MIN_POWER + 1, 2), np.uint64)
    for q in range(_MIN_POWER, _MAX_POWER + 1):
        power = 5 ** abs(q)
        bits = power.bit_length()
        if q >= 0:
            word = power << 128 - bits if bits <= 128 else power >> bits - 128
        else:
            word = (1 << bits + 127) // power + (q >= -27)
        table[q - _MIN_POWER] = word >> 64, word & (1 << 64) - 1
    return table


_FIVE = _powers_of_five()


@jit
def _multiply(a, b):
    """High and low word of the product of two words."""
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a1, a0, b1, b0 = a >> half, a & low, b >> half, b & low
    middle = a1 * b0 + ((a0 * b0) >> half)
    other = a0 * b1 + (middle & low)
    return a1 * b1 + (middle >> half) + (other >> half), a * b


@jit
def _nearest(w, q):
    """The float64 nearest to w * 10**q, or -1 where it is not a normal number."""
    zero, one = np.uint64(0), np.uint64(1)
    if w == zero:
        return 0.0
    if w <= _EXACT and -22 <= q <= 22:
        return np.float64(w) / _TEN[-q] if q < 0 else np.float64(w) * _TEN[q]
    if q < _MIN_POWER or q > _MAX_POWER:
        return -1.0
    zeros = 0
    for step in (32, 16, 8, 4, 2, 1):
        if w >> np.uint64(64 - step) == zero:
            w <<= np.uint64(step)
            zeros += step
    five = _FIVE[q - _MIN_POWER]
    high, low = _multiply(w, five[0])
    if high & np.uint64(0x1FF) == np.uint64(0x1FF):  # the lower word may still carry into it
        carry = _multiply(w, five[1])[0]
        low += carry
        if low < carry:
            high += one
    top = high >> np.uint64(63)
    shift = top + np.uint64(9)
    mantissa = high >> shift  # 54 bits: one more than a float64 has
    # 217706 / 2**16 is just above log2(10): the exponent of 10**q in base two
    exponent = ((217706 * q) >> 16) + 63 + np.int64(top) - zeros
    if low <= one and -4 <= q <= 23 and mantissa & np.uint64(3) == one and mantissa << shift == high:
        mantissa -= one  # exactly half-way: to even
    mantissa = (mantissa + (mantissa & one)) >> one
    if mantissa == _EXACT:
        mantissa >>= one
        exponent += 1
    if exponent < -1022 or exponent > 1023:
        return -1.0
    return np.float64(mantissa) * _TWO[exponent - 52 + 1074]


@jit
def _ends_token(c):
    return c == _SPACE or c == _NEWLINE or c == _TAB or c == _COMMA or c == _RETURN or (
        c == _SEMICOLON
    )  # fmt: skip


@jit
def _exponent(buffer, at):
    """Read what follows an "e"; gives the exponent and where it ends, or -1 if there is none."""
    sign = 1
    c = buffer[at]
    if c in (_PLUS, _MINUS):
        sign = -1 if c == _MINUS else 1
        at += 1
    begin = at
    value = np.int64(0)
    d = np.int64(buffer[at]) - _ZERO
    while 0 <= d <= 9:
        if value < 99999:
            value = value * 10 + d
        at += 1
        d = np.int64(buffer[at]) - _ZERO
    return sign * value, (at if at > begin else -1)


@jit
def _number(buffer, at):
    """Read a number; gives what it is, its value as an integer and as a float, and its end."""
    begin = at
    c = buffer[at]
    negative = c == _MINUS
    if c == _PLUS or negative:
        at += 1
    w = np.uint64(0)
    digits = kept = power = 0
    whole, exact = True, True
    while True:
        c = buffer[at]
        d = np.int64(c) - _ZERO
        if 0 <= d <= 9:
            digits += 1
            if kept < 19:
                w = w * np.uint64(10) + np.uint64(d)
                kept += w != 0
                power -= not whole
            else:
                power += whole
                exact = exact and d == 0
        elif c == _DOT and whole:
            whole = False
        else:
            break
        at += 1
    if digits == 0:
        # perhaps "inf": Python knows
        letter = c | 32
        known = letter == 105 and whole
        while not _ends_token(buffer[at]):
            at += 1
        return (_HARD_REAL if known else _NOTHING), np.int64(0), 0.0, at
    if c == 101 or c == 69:
        whole = False
        exponent, at = _exponent(buffer, at + 1)
        if at < 0:
            return _NOTHING, np.int64(0), 0.0, begin
        power += exponent
    if not _ends_token(buffer[at]):
        return _NOTHING, np.int64(0), 0.0, begin
    if whole and power == 0 and (w <= _MAX_INT or (negative and w == _MAX_INT + np.uint64(1))):
        value = np.int64(w)
        return _WHOLE, (-value if negative else value), 0.0, at
    real = _nearest(w, power)
    if real < 0.0 or (not exact and real != _nearest(w + np.uint64(1), power)):
        return _HARD_REAL, np.int64(0), 0.0, at
    return _REAL, np.int64(0), (-real if negative else real), at


@jit
def _skip_blanks(buffer, at):
    c = buffer[at]
    while c == _SPACE or c == _TAB or c == _RETURN:  # noqa: SIM109 - faster so
        at += 1
        c = buffer[at]
    return at


@jit
def _skip_line(buffer, at):
    while buffer[at] != _NEWLINE:
        at += 1
    return at + 1


@jit
def _skip_gap(buffer, at):
    """Skip blanks with at most one comma or semicolon among them."""
    at = _skip_blanks(buffer, at)
    if buffer[at] == _COMMA or buffer[at] == _SEMICOLON:
        at = _skip_blanks(buffer, at + 1)
    return at


@jit
def _vertex(buffer, at):
    """Read a vertex id; gives it, or the negative of a fault, and where it ends."""
    begin = at
    value = np.int64(0)
    d = np.int64(buffer[at]) - _ZERO
    while 0 <= d <= 9:
        value = value * 10 + d
        at += 1
        d = np.int64(buffer[at]) - _ZERO
    if at == begin:
        c = buffer[at]
        if c == _MINUS and 0 <= np.int64(buffer[at + 1]) - _ZERO <= 9:
            return -NEGATIVE_ID, at
        return (-MISSING if c == _NEWLINE else -BAD_ID), at
    if not _ends_token(buffer[at]):
        return -BAD_ID, begin
    if at - begin > 18:
        return -ID_RANGE, begin
    return value, at


@jit
def _store(buffer, at, i, kind, integers, floats, hard, count):
    """Read the i-th number of a column; gives kind, hard count and end, or -1 as the end."""
    what, integer, real, end = _number(buffer, at)
    if what == _NOTHING or (what != _WHOLE and kind == INTEGER):
        return kind, count, np.int64(-1)
    if what == _WHOLE:
        if kind == FLOAT:
            # "-0" is a float's zero too, with its sign
            floats[i] = -0.0 if integer == 0 and buffer[at] == _MINUS else np.float64(integer)
        else:
            integers[i] = integer
        return kind, count, np.int64(end)
    if kind == AUTO:
        kind = FLOAT
        for k in range(i):
            floats[k] = np.float64(integers[k])
    floats[i] = real
    if what == _HARD_REAL:
        hard[count, 0] = i
        hard[count, 1] = at
        count += 1
    return kind, count, np.int64(end)


@jit
def read_rows(
    buffer, at, end, tag, comments, columns, base, limit, kind,
    src, dst, integers, floats, hard, out,
):  # fmt: skip
    """Read lines of two vertex ids and, with three columns, a number.

    ``tag``: the letter that begins each line, or 0. ``comments``: letters that begin lines to
    skip. Ids go from ``base`` to ``base + limit - 1`` and are stored from 0. ``hard`` gets row
    and place of each number that Python has to read. ``out`` says how it went.
    """
    row = lines = count = fault = 0
    while at < end:
        at = _skip_blanks(buffer, at)
        c = buffer[at]
        if c == _NEWLINE:
            at += 1
            lines += 1
            continue
        if c == comments[0] or c == comments[1]:
            at = _skip_line(buffer, at)
            lines += 1
            continue
        if tag:
            if c != tag or not _ends_token(buffer[at + 1]):
                fault = BAD_TAG
                break
            at = _skip_blanks(buffer, at + 1)
        s, at = _vertex(buffer, at)
        if s < base or s - base >= limit:
            fault = -s if s < 0 else ID_RANGE
            at = _number_begin(buffer, at, fault)
            break
        at = _skip_gap(buffer, at)
        d, at = _vertex(buffer, at)
        if d < base or d - base >= limit:
            fault = -d if d < 0 else ID_RANGE
            at = _number_begin(buffer, at, fault)
            break
        src[row] = s - base
        dst[row] = d - base
        if columns == 3:
            at = _skip_gap(buffer, at)
            if buffer[at] == _NEWLINE:
                fault = MISSING
                break
            kind, count, after = _store(buffer, at, row, kind, integers, floats, hard, count)
            if after < 0:
                fault = BAD_INTEGER if kind == INTEGER else BAD_NUMBER
                break
            at = after
        at = _skip_blanks(buffer, at)
        if buffer[at] != _NEWLINE:
            fault = SURPLUS
            break
        row += 1
        at += 1
        lines += 1
    out[ROWS], out[LINES], out[KIND], out[HARD] = row, lines, kind, count
    out[FAULT], out[AT] = fault, at


@jit
def _number_begin(buffer, at, fault):
    """Where the id out of range begins that ends at ``at``; of other faults ``at`` is the place."""
    while fault == ID_RANGE and at > 0 and 0 <= np.int64(buffer[at - 1]) - _ZERO <= 9:
        at -= 1
    return at


@jit
def read_lists(
    buffer, at, end, comment, integers, floats, hard, sizes, line_of, out
):
    """Read lines of any number of numbers, empty lines too.

    Row i has ``sizes[i]`` numbers and is line ``line_of[i]`` of these; the rest as in
    ``read_rows``.
    """
    row = lines = count = fault = tokens = 0
    kind = AUTO
    while at < end:
        at = _skip_blanks(buffer, at)
        if buffer[at] == comment:
            at = _skip_line(buffer, at)
            lines += 1
            continue
        before = tokens
        while buffer[at] != _NEWLINE:
            kind, count, after = _store(buffer, at, tokens, kind, integers, floats, hard, count)
            if after < 0:
                fault = BAD_NUMBER
                break
            tokens += 1
            at = _skip_blanks(buffer, after)
            if buffer[at] == _COMMA or buffer[at] == _SEMICOLON:
                fault = SEPARATOR
                break
        if fault:
            break
        sizes[row] = tokens - before
        line_of[row] = lines
        row += 1
        at += 1
        lines += 1
    out[ROWS], out[LINES], out[KIND], out[HARD] = row, lines, kind, count
    out[FAULT], out[AT], out[TOKENS] = fault, at, tokens
