"""The heads of lists: the two neighbours of highest degree of every vertex, for pulls along lists that lie far away.

A search that has come so far that it pulls has reached the hubs, so most vertices find a parent among their heads, and
need not read their lists. The heads take 8 bytes a vertex (16 for ids of 64 bits).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import frontier as fr
from frontier import tracing
from frontier.backends.run.workspace import register_derived

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = ["heads"]


def of_source(p, src):
    """Rank a neighbour by its degree."""
    return p.degree[src]


def of_target(p, dst):
    return p.degree[dst]


def other_source(p, src, dst):
    """Rank a neighbour that is not the first one."""
    return -1 if src == p.first[dst] else p.degree[src]


def other_target(p, src, dst):
    return -1 if dst == p.first[src] else p.degree[dst]


def _program(edges: str, first: Any, other: Any) -> fr.Sequence:
    return fr.Sequence(
        fr.Gather(first, "argmax", into="first", edges=edges),
        fr.Gather(other, "argmax", into="second", edges=edges),
        over="vertices",
    )


class HeadsIn(fr.Enactor):
    """The heads of the in-lists."""

    loop = _program("in", of_source, other_source)


class HeadsOut(fr.Enactor):
    """The heads of the out-lists."""

    loop = _program("out", of_target, other_target)


def heads(g: Graph, edges: str) -> Any:
    """Return the first and the second head of each vertex, one after another; -1 where there is none."""
    return g._once(f"heads {edges}", lambda: _made(g, edges))


def _made(g: Graph, edges: str) -> Any:
    ids, xp = g.id_dtype, g.placement.memory.xp
    degree = g.out_degree if edges == "in" else g.in_degree
    p = fr.Problem(g, degree=fr.vertex(degree.dtype, degree), first=fr.vertex(ids, -1), second=fr.vertex(ids, -1))
    with tracing.paused():
        (HeadsIn if edges == "in" else HeadsOut)(p).run()
    second = xp.where(p.second == p.first, -1, p.second)  # all edges lead to the first
    return xp.ravel(xp.stack([p.first, second.astype(ids)], axis=1))


register_derived("heads", lambda g, edges, _: heads(g, edges))
