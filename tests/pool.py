"""The problem and the functors that the tests of single steps share.

What a functor decides depends only on its arguments and on fields that the step does not write, and what it
writes adds up, so that every order of calls leaves the same behind.
"""

from __future__ import annotations

import numpy as np

import frontier as fr

SCHEDULES = {
    "push": fr.Schedule(direction="push"),
    "thread": fr.Schedule(direction="push", balance="thread"),
    "pull": fr.Schedule(direction="pull"),
    "auto": fr.Schedule(alpha=1e9, beta=3.0),
}


def problem(g: fr.Graph) -> fr.Problem:
    n = g.num_vertices
    return fr.Problem(
        g,
        hits=fr.edge("int64"),
        seen=fr.vertex("int64"),
        claim=fr.vertex("int32", -1),
        open=fr.vertex("bool", np.arange(n) * 7 % 3 != 1),
        value=fr.vertex("int32", (np.arange(n) * 7 + 3) % 11 - 4),
        sum=fr.vertex("int64", -99),
        limit=fr.scalar("int64", 5),
        total=fr.scalar("int64", -99),
        far=fr.pile(),
        later=fr.pile("edge"),
    )


# -- along edges ----------------------------------------------------------------------------------


def every(p, src, dst, edge, weight):
    """Count the visit, for the edge and its two ends; accept two thirds of the edges."""
    fr.atomic_add(p.hits, edge, 1)
    fr.atomic_add(p.seen, src, 1)
    fr.atomic_add(p.seen, dst, 1000)
    return (3 * src + 5 * dst + 7 * edge + weight) % 3 != 0


def ends(p, src, dst):
    fr.atomic_add(p.seen, src, 1)
    fr.atomic_add(p.seen, dst, 1000)
    return (src + 2 * dst) % 3 != 0


def nothing(p, src, dst):
    """Returns nothing, which means no."""
    fr.atomic_add(p.seen, dst, 1)


def heavy(p, src, weight):
    fr.atomic_add(p.seen, src, weight)
    return weight % 2 == 0


def claim_dst(p, src, dst):
    return fr.atomic_cas(p.claim, dst, -1, 7) == -1


def claim_src(p, src):
    return fr.atomic_cas(p.claim, src, -1, 7) == -1


def free_dst(p, dst):
    return p.claim[dst] == -1


def free_src(p, src):
    return p.claim[src] == -1


def open_dst(p, dst):
    return p.open[dst]


def open_src(p, src):
    return p.open[src]


# -- on elements --------------------------------------------------------------------------------------


def small(p, v):
    p.seen[v] += 1
    return p.value[v] < p.limit


def level_edge(p, src, dst, edge, weight):
    """Not steep: a decision about an edge that uses all that there is to know of it."""
    p.hits[edge] += 1
    return p.value[src] + weight % 7 < p.value[dst] + p.limit + edge % 3


def late(p, v):
    """A third of the vertices."""
    return not p.open[v]


def always(p, v):
    return True


def touch(p, v):
    p.seen[v] += 10 + p.value[v]


def touch_edge(p, src, dst, edge, weight):
    p.hits[edge] += src + 3 * dst + weight


def value(p, v):
    return p.value[v]


def edge_value(p, src, dst, edge, weight):
    return p.value[src] * 3 + p.value[dst] + edge + weight
