"""Core numbers of a graph in parts: the program in place of :class:`frontier.primitives.core_numbers.CoreNumbers`.

Only the part that owns a vertex knows its degree, so no edge can tell whether it is the one that removes the vertex. A
loop with an order finds the least degree, and the vertices that have it.
"""

from __future__ import annotations

import frontier as fr

__all__ = ["CoreNumbersDivided"]


def highest(p):
    """Return the current k: the largest of the least degrees so far."""
    return max(p.k, p.least)


def settle(p, v):
    """Remove v; its core number is the current k."""
    p.core[v] = p.k


def standing(p, dst):
    """The target has not been removed yet."""
    return p.core[dst] == -1


def loosen_any(p, dst):
    """Lower the degree of dst by one; true, because its key has changed."""
    fr.atomic_add(p.degree, dst, -1)
    return True


class CoreNumbersDivided(fr.Enactor):
    """For each k that is a least degree, remove the vertices that have it: a loop with an order."""

    loop = (
        fr.Loop(
            fr.Set(k=highest),
            fr.Compute(settle),
            fr.Advance(loosen_any, where=standing),
            order=fr.by("degree", exact=True, into="least"),
            over="vertices",
        ),
    )
