"""Smaller and smaller graphs for a layout: some vertices lead, the others join a neighbour that does.

Leaders are a maximal independent set, hubs first, so that a hub takes its leaves along and every vertex is a leader or
next to one. In the smaller graph a leader stands for its group. An edge there is as long as the shortest way from
leader to leader by an edge between their groups, so that a layout of leaders is one of the graph with gaps; and its
weight is the sum of the weights of these edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import frontier as fr
from frontier.graph.graph import Graph
from frontier.graph.subgraphs import groups
from frontier.primitives._ranked import before, draw
from frontier.program.schedule import Schedule

__all__ = ["Grouping", "Level", "levels"]

#: Whether a vertex leads.
UNDECIDED, LEADS, JOINS = 0, 1, 2


def rank(p, v):
    """Rank vertices by the number of bits of their degree, hubs first, and at random among these."""
    size = 0
    while fr.degree(p, v) >> size:
        size += 1
    p.rank[v] = ((64 - size) << 31) + draw(p, v)


def undecided(p, v):
    """Let v join if a neighbour before it leads, or lead if all of them join; true while v cannot know it."""
    for e in fr.neighbours(p, v):
        u = fr.target(p, e)
        if p.role[u] != JOINS and before(p, u, v):
            if p.role[u] == LEADS:
                p.role[v] = JOINS
            return p.role[u] != LEADS
    p.role[v] = LEADS
    return False


def leads(p, dst):
    return p.role[dst] == LEADS


def tie(p, weight):
    """How much v belongs to a leader."""
    return weight


class Grouping(fr.Enactor):
    """Choose leaders, and for each vertex the neighbour among them to which it has the heaviest edge."""

    loop = (
        fr.Compute(rank, over="vertices"),
        fr.Loop(fr.Filter(undecided), over="vertices"),
        fr.Gather(tie, "argmax", into="leader", edges="out", where=leads, over="vertices"),
    )


@dataclass(frozen=True)
class Level:
    """A graph to be laid out.

    Attributes
    ----------
    graph : Graph
        Undirected, without self-loops and parallel edges, with weights of int64.
    length : array of int64, shape (m,)
        How long its edges want to be.
    group : array, shape (n,)
        For each vertex, that of the smaller graph which stands for it.
    """

    graph: Graph
    length: Any
    group: Any


def levels(h: Graph, seed: int, schedule: Schedule | None) -> tuple[list[Level], int]:
    """Return graphs, each smaller than the one before, and the number of vertices of the last that has no edges.

    Parameters
    ----------
    h : Graph
        Undirected, without self-loops and parallel edges, with weights of int64.
    seed : int
    schedule : Schedule, optional
    """
    found: list[Level] = []
    length = h.placement.memory.full(h.num_slots, 1, np.int64)
    while h.num_slots:
        leader = _leaders(h, seed + len(found), schedule)
        group = groups(h, leader)[1]
        found.append(Level(h, length, group))
        reach = _reaches(h, length, leader)
        between = h.with_weights(reach[h.sources] + length + reach[h.targets])
        h = h.contracted(group, self_loops="drop")
        length = between.contracted(group, self_loops="drop", duplicates="min").weights
    return found, h.num_vertices


def _leaders(h: Graph, seed: int, schedule: Schedule | None) -> Any:
    """Return the leader of each vertex."""
    p = fr.Problem(
        h,
        rank=fr.vertex("int64"),
        role=fr.vertex("int8"),
        leader=fr.vertex(h.id_dtype),
        seed=fr.scalar("int64", seed),
    )
    Grouping(p, schedule).run()
    xp = h.placement.memory.xp
    return xp.where(p.role == JOINS, p.leader, xp.arange(h.num_vertices, dtype=h.id_dtype))


def _reaches(h: Graph, length: Any, leader: Any) -> Any:
    """Return how far each vertex is from its leader."""
    slots = h.placement.memory.xp.flatnonzero(leader[h.sources] == h.targets)
    reach = h.placement.memory.full(h.num_vertices, 0, np.int64)
    reach[h.sources[slots]] = length[slots]
    return reach
