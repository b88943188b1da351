"""An order of the vertices by rank, for algorithms in which neighbours wait for one another."""

from __future__ import annotations

import frontier as fr

__all__ = ["before", "draw"]


def draw(p, v):
    """Return a random number for v that depends on the scalar ``seed``; 0 to 2**31 - 1."""
    return fr.hash(fr.hash(p.seed) + v) % 2**31


def before(p, u, v):
    """U comes before v: its rank is lower, or they are equal and its id is lower."""
    return p.rank[u] < p.rank[v] or (p.rank[u] == p.rank[v] and u < v)
