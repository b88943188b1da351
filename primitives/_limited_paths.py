"""Shortest paths from several sources, within a distance, or to a target: programs of :func:`frontier.sssp`.

Nothing beyond the limit is ever stored, and with a target the limit is the distance of the best path to it so far. On
lists sorted by weight, edges that lead beyond it are not visited. The parent goes along with each distance, as after a
search of a small part a look at all edges for parents would take longest. A distance only falls, so whoever is a parent
had its last distance before its child: parents form a tree, also where weights are zero.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr

if TYPE_CHECKING:
    from frontier.program.problem import Field

__all__ = ["SSSPNearest", "SSSPTo", "SSSPWithin", "search", "with_delta"]


def begin(p, v):
    """A source is its own parent."""
    p.distance[v] = 0
    p.parent[v] = v


def relax_within(p, src, dst, weight):
    """Offer dst a shorter path through src, if it ends within the limit."""
    new = p.distance[src] + weight
    if new >= p.distance[dst] or new > p.limit:
        return False
    return new < fr.atomic_min(p.distance, dst, new, src)


def relax_before(p, src, dst, weight):
    """The same, if dst is then no farther than the target."""
    new = p.distance[src] + weight
    if new >= p.distance[dst] or new > p.limit or new > p.distance[p.target]:
        return False
    return new < fr.atomic_min(p.distance, dst, new, src)


def last(p):
    """The greatest distance of interest."""
    return min(p.limit, p.distance[p.target])


def far(p, v):
    """The distance of the target."""
    return p.distance[v]


def forget(p, v):
    """What is farther than the target was reached before a path to the target was known."""
    if p.distance[v] > p.reached:
        p.distance[v] = p.unreached
        p.parent[v] = -1


class SSSPWithin(fr.Enactor):
    """Distances and parents from the pile ``starts``, of vertices no farther than ``limit``."""

    loop = (
        fr.Compute(begin, over="starts"),
        fr.Loop(fr.Advance(relax_within), order=fr.by("distance", most="limit"), over="starts"),
    )


class SSSPNearest(fr.Enactor):
    """The same of all vertices, from the nearest of the starts."""

    loop = (
        fr.Compute(begin, over="starts"),
        fr.Loop(fr.Advance(relax_within), order=fr.by("distance"), over="starts"),
    )


class SSSPTo(fr.Enactor):
    """The same of vertices that are no farther than the vertex ``target``."""

    loop = (
        fr.Compute(begin, over="starts"),
        fr.Loop(fr.Advance(relax_before), order=fr.by("distance", most=last), over="starts"),
        fr.Reduce(far, "min", into="reached", over="target"),
        fr.Compute(forget, over="vertices"),
    )


@lru_cache(maxsize=64)  # compiled code is found by its step
def with_delta(program: type[fr.Enactor], delta: float | None) -> type[fr.Enactor]:
    """The program whose order begins with this width of the range of distances that are processed together."""
    if delta is None:
        return program
    steps: Any = program.loop if isinstance(program.loop, tuple) else (program.loop,)
    width = min(delta, sys.float_info.max)
    steps = tuple(
        fr.Loop(*step.steps, order=replace(step.order, delta=width), over=step.over)
        if isinstance(step, fr.Loop) and step.order
        else step
        for step in steps
    )
    return type(program.__name__, (program,), {"loop": steps})


def search(
    g: fr.Graph,
    starts: NDArray[np.int64],
    target: int | None,
    limit: float | None,
    fields: dict[str, Field],
    delta: float | None,
    schedule: fr.Schedule | None,
) -> tuple[NDArray[Any], NDArray[Any], Any]:
    """Return distances, parents, and the limit that held: the distance of the target, if that was reached."""
    far: Any = fields["unreached"]
    p = fr.Problem(
        g,
        distance=fields["distance"],
        parent=fr.vertex(g.id_dtype, -1, with_="distance"),
        unreached=far,
        limit=fr.scalar(far.dtype, far.init if limit is None else limit),
        starts=fr.pile(),
        target=fr.scalar("int64", 0 if target is None else target),
        reached=fr.scalar(far.dtype),
    )
    p.starts = fr.Frontier(g, starts)
    program = SSSPTo if target is not None else SSSPNearest if limit is None else SSSPWithin
    with_delta(program, delta)(p, schedule).run()
    if target is not None and p.reached < p.unreached:
        limit = p.reached.item()
    contiguous = g.placement.memory.xp.ascontiguousarray  # of pairs in one word
    return contiguous(p.distance), contiguous(p.parent), limit
