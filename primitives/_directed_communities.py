"""What functors of Louvain and Leiden do besides where modularity is directed; see :mod:`primitives._levels`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import frontier as fr
from frontier.primitives import _communities as undirected
from frontier.program.step import Step

__all__ = ["SURVEY", "WEIGH", "linked", "move", "stay", "worth"]

Helper = Callable[..., Any]


def share_of(p, v):
    """By what the skew of a community is multiplied for what is less to be expected between v and it."""
    return p.resolution * p.skew[v] / p.all if p.all > 0 else 0.0


def join(p, v):
    """Add v's skew to its first community."""
    fr.atomic_add(p.skewed, p.label[v], p.skew[v])


def move(p, v):
    """Move v to the community that it has chosen; 1, to be counted."""
    fr.atomic_add(p.skewed, p.label[v], -p.skew[v])
    fr.atomic_add(p.skewed, p.next[v], p.skew[v])
    return undirected.move(p, v)


def survey(p, v):
    """Add up the skew of v's part."""
    fr.atomic_add(p.whole_skew, p.part[v], p.skew[v])


def linked(p, label):
    """Whether a refined community has as much weight to the rest of its part as is to be expected, or more."""
    part = p.part[label]
    rest, rest_skew = p.whole[part] - p.total[label], p.whole_skew[part] - p.skewed[label]
    expected = float(p.total[label]) * rest - float(p.skewed[label]) * rest_skew
    return float(p.out[label]) * p.all >= p.resolution * expected


#: Look at the parts in which communities are refined.
SURVEY = fr.Compute(survey, over="vertices")

#: Add up weights and skews of vertices and communities.
WEIGH: tuple[Step, ...] = (*undirected.WEIGH, fr.Compute(join, over="vertices"))


def worth(undirected_worth: Helper) -> Helper:
    """Return what directed modularity gains by another community, given what that of both directions gains."""

    def worth_directed(p, v, label, sum):
        return undirected_worth(p, v, label, sum) + share_of(p, v) * p.skewed[label]

    return worth_directed


def stay(undirected_stay: Helper) -> Helper:
    """Return what directed modularity gains by the vertex's own community."""

    def stay_directed(p, v, within):
        return undirected_stay(p, v, within) + share_of(p, v) * (p.skewed[p.label[v]] - p.skew[v])

    return stay_directed
