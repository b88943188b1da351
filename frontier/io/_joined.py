"""Edges in several files, as if they were in one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from frontier.errors import GraphError
from frontier.graph.shares import Piece, Shares

__all__ = ["joined"]


def joined(names: Sequence[str], found: Sequence[tuple[Shares, bool]]) -> tuple[Shares, bool]:
    """Return the edges of some files, in their order, and whether they are directed.

    Parameters
    ----------
    names : sequence of str
        For messages.
    found : sequence of (Shares, bool)
        What each file has, and whether it says that its edges are directed.

    Raises
    ------
    GraphError
        If one file says something of all edges that does not hold for those of several.
    """
    if len(found) == 1:
        return found[0]
    shares, kinds = [each for each, _ in found], {directed for _, directed in found}
    for name, each in zip(names, shares, strict=True):
        if each.check is not None or each.num_vertices is not None or each.both_ways:
            raise GraphError(f"{name}: a file of a format that says how large the graph is cannot be one of several")
    if len(kinds) > 1:
        raise GraphError(f"{names[0]} and others: the edges of some files are directed, those of others are not")
    ends = np.cumsum([0, *(each.count for each in shares)]).tolist()

    def make(lo: int, hi: int) -> Piece:
        places = zip(shares, pairwise(ends), strict=True)
        parts = [each.make(max(lo, a) - a, min(hi, b) - a) for each, (a, b) in places if lo < b and a < hi]
        return _one(parts)

    return Shares(ends[-1], make, least=max(each.least for each in shares)), kinds.pop()


def _one(parts: list[Piece]) -> Piece:
    parts = [each for each in parts if len(each.src)] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    kinds = {"none" if each.weights is None else str(each.weights.dtype) for each in parts}
    if len(kinds) > 1:
        raise GraphError(f"the files have weights of several kinds: {', '.join(sorted(kinds))}")
    columns = {name: column for each in parts for name, column in (each.columns or {}).items()}
    weights = [each.weights for each in parts if each.weights is not None]
    src, dst = (np.concatenate([getattr(each, name) for each in parts]) for name in ("src", "dst"))
    return Piece(src, dst, np.concatenate(weights) if weights else None, columns or None)
