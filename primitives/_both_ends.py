"""Whose turn it is in a search from both ends: that of the side which has less to do."""

from __future__ import annotations

import frontier as fr

__all__ = ["is_larger", "is_smaller", "work"]


def work(p, v):
    """What it takes to process v."""
    return 1 + fr.degree(p, v)


def is_smaller(p):
    """1 if the search from the source goes on."""
    return 1 if p.size <= p.size_back else 0


def is_larger(p):
    """1 if the search from the target goes on."""
    return 1 if p.size > p.size_back else 0
