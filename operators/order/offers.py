"""What a functor offers along an edge, and what follows for windows: which edges are of use, and about how many.

:func:`sums` is for functors that offer the key of ``src`` plus the weight of the edge, by ascending weight.
:func:`caps` is for widest paths, whose keys are minus a width: what is offered is the width of ``src``, or the weight
if that is less, so that the heaviest edges come first. The functors are templates, as those of
:mod:`frontier.operators.order.windows`, which uses the same names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from frontier.functors.adjacency import degree

__all__ = ["Offers", "any_key", "caps", "minus", "most_of", "pulled_of", "pushed_of", "sums", "width_of"]

Functor = Callable[..., Any]


class Offers(NamedTuple):
    """Functors of windows that depend on what is offered; nothing above ``most`` is of use.

    Attributes
    ----------
    leaves : function of the problem, ``src`` and ``weight``
        Whether an edge leads out of the window, or nowhere, as all later ones do.
    ends : function of the problem, ``src`` and ``weight``
        Whether an edge leads nowhere, as all later ones do.
    useless : function of the problem, ``dst`` and ``weight``
        No vertex of the window can offer a lower key by this in-edge or a later one.
    descending : bool
        Whether heavy edges come first.
    """

    leaves: Functor
    ends: Functor
    useless: Functor
    descending: bool


def most_of(p):
    """The greatest key of interest, which a scalar holds."""
    return p.most


def any_key(p):
    """The same where all keys are."""
    return np.inf


def minus(p, v):
    """The key of the width that a field holds."""
    return 0.0 - p.key[v]


def width_of(key: Functor) -> Functor:
    """The width of which a key is the negative."""

    def width(p, v):
        return -key(p, v)

    return width


def sums(key: Functor, most: Functor) -> Offers:
    """Offers of the key of ``src`` plus the weight."""

    def leaves(p, src, weight):
        new = key(p, src) + weight
        return (new >= p.limit and new > p.least) or new > most(p)

    def ends(p, src, weight):
        return key(p, src) + weight > most(p)

    def useless(p, dst, weight):
        new = p.least + weight
        return new >= key(p, dst) or new > most(p)

    return Offers(leaves, ends, useless, descending=False)


def caps(width: Functor, most: Functor) -> Offers:
    """Offers of a ``width``, that of ``src`` or the weight if that is less.

    The width of a vertex of the window lies in it, so that only the weight decides whether an edge leads out.
    """

    def leaves(p, weight):
        return (weight <= -p.limit and weight < -p.least) or weight < -most(p)

    def ends(p, weight):
        return weight < -most(p)

    def useless(p, dst, weight):
        return weight <= width(p, dst) or weight < -most(p)

    return Offers(leaves, ends, useless, descending=True)


def pushed_of(key: Functor, most: Functor) -> Functor:
    """How many edges a push visits at v, if weights are evenly distributed.

    None if all that lead anywhere have been visited in the window.
    """

    def pushed(p, v):
        last = most(p)
        if last < p.limit:
            return 0
        share = (1.0 * last - key(p, v)) / p.heaviest
        return 1 + int(degree(p, v) * share) if share < 1.0 else degree(p, v)

    return pushed


def pulled_of(key: Functor, most: Functor) -> Functor:
    """How many edges a pull visits at v, and one for v itself."""

    def pulled(p, v):
        found = key(p, v)
        if found < p.limit or found <= p.least:
            return 0.5
        return 1.0 + degree(p, v) * max(min(1.0, (1.0 * min(found, most(p)) - p.least) / p.heaviest), 0.0)

    return pulled
