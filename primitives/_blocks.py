"""Blocks of an undirected graph: which edges of a spanning forest lie on a common cycle.

A *block* is a maximal set of edges of which any two lie on a common simple cycle; a bridge is a block by itself. Each
vertex but the roots stands for the edge of a breadth-first forest that leads to its parent. The endpoints u and v of an
edge outside the forest close a cycle with the paths from both to their lowest common ancestor, so all edges of these
two paths are in one block, and all blocks are found in this way (Tarjan, Vishkin: An efficient parallel biconnectivity
algorithm, SIAM Journal on Computing 14, 1985).

Blocks are trees of a union-find structure as in ``connected_components``. The root of a tree is a vertex of least level
in its block, so from u and v one climbs from root to root, the deeper one first, and joins what one passes. No root is
passed twice by any call, hence there is little to climb after a few edges. In a breadth-first forest, an endpoint is
not an ancestor of the other one, except of copies of an edge of the forest. So two roots of one level that have the
same parent lie just below the common ancestor: one is joined to the other, and nothing above them. Calls run
concurrently: what one of them has found out about blocks stays true, since blocks only grow. Parallel algorithms that
begin with a breadth-first tree, too, are those of Slota and Madduri (Simple parallel biconnectivity algorithms for
multicore platforms, HiPC 2014).

As in Afforest, the first edges of each vertex nearly make the largest block, within which other edges are not read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import frontier as fr
from frontier.errors import GraphError
from frontier.primitives._oriented import undivided
from frontier.primitives.bfs import unvisited, visit
from frontier.primitives.cc import (
    SAMPLES,
    Afforest,
    ballot,
    components_problem,
    compress,
    elected,
    outside_with_more,
    vote,
)

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.program.problem import Field

__all__ = ["FIND_BLOCKS", "blocks_problem", "top"]


def plant(p, v):
    """Begin at the smallest vertex of each component, which is the root there."""
    if p.label[v] != v:
        return False
    p.parent[v] = v
    p.level[v] = 0
    return True


def part(p, v):
    """At first, each vertex is a block by itself."""
    p.label[v] = v
    p.votes[v] = 0


def find(p, v):
    """Return the root of v's tree, and let every vertex on the path skip its parent."""
    here = v
    above = p.label[here]
    while above != here:
        further = p.label[above]
        p.label[here] = further
        here = above
        above = further
    return here


def join(p, src, dst):
    """Put all edges of the cycle that an edge closes into one block; nothing for edges of the forest."""
    if src == dst or p.parent[src] == dst or p.parent[dst] == src:
        return False
    a = find(p, src)
    b = find(p, dst)
    while a != b:
        if p.level[a] < p.level[b] or (p.level[a] == p.level[b] and a < b):
            a, b = b, a
        # a is the deeper one; of the same level, that with the higher id
        over = p.parent[a]
        if p.level[a] == p.level[b] and over == p.parent[b]:
            over = b
        old = fr.atomic_cas(p.label, a, a, over)
        a = find(p, over if old == a else old)  # else another call has joined a to a block meanwhile
        b = find(p, b)
    return False


def top(p, v):
    """Whether v stands for its block: the root of a tree, but not of the forest."""
    return p.label[v] == v and p.level[v] > 0


#: Afterwards, label[v] is the block of the edge between v and parent[v]: a vertex of the block of least level.
FIND_BLOCKS = (
    *Afforest.loop,
    fr.Sequence(
        fr.Filter(plant), fr.Loop(fr.Advance(visit, where=unvisited, unique="claimed"), count="depth"), over="vertices"
    ),
    fr.Compute(part, over="vertices"),
    fr.Advance(join, part=slice(0, 2), output=None, over="vertices"),
    fr.Compute(compress, over="vertices"),
    fr.Compute(vote, over=SAMPLES),
    fr.Reduce(ballot, "max", into="top", over=SAMPLES),
    fr.Set(giant=elected),
    fr.Sequence(fr.Filter(outside_with_more), fr.Advance(join, part=slice(2, None), output=None), over="vertices"),
    fr.Compute(compress, over="vertices"),
)


def blocks_problem(g: Graph, what: str, **fields: Field) -> fr.Problem:
    """Return the problem for a program that begins with the steps above; a graph in parts is made whole for it."""
    if g.directed:
        raise GraphError(f"{what} are those of undirected graphs, but this one is directed")
    return components_problem(
        undivided(g),
        parent=fr.vertex(g.id_dtype, -1, combine="claim"),
        level=fr.vertex("int32", -1, combine="min", with_="parent"),
        depth=fr.scalar("int32"),
        **fields,
    )
