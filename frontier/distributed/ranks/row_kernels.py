"""Compiled kernels of graphs in parts; imported only when many edges are brought to their rows.

A worker goes through all edges and handles those of its rows: it reads what others read, in order, and writes where no
other writes.
"""

from __future__ import annotations

from frontier.native.jit import jit


@jit
def count(rows, lo, hi, found):
    """Count the entries of rows lo to hi."""
    for i in range(len(rows)):
        row = rows[i]
        if lo <= row < hi:
            found[row] += 1


@jit
def place(rows, lo, hi, cursor, at):
    """Give entries of rows lo to hi the next places there."""
    for i in range(len(rows)):
        row = rows[i]
        if lo <= row < hi:
            at[i] = cursor[row]
            cursor[row] += 1


@jit
def scatter(at, values, lo, hi, out):
    """Write values lo to hi to their places."""
    for i in range(lo, hi):
        out[at[i]] = values[i]
