"""A rank's part of a problem whose graph is in parts, and what a program must not do there.

The rank computes on a graph of which it has the out-edges of its own vertices, and, once a step walks them, their
in-edges. Steps push, unless :mod:`frontier.distributed.ranks.pulls` says otherwise.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from frontier.distributed.ranks.in_edges import in_graph, number_in_edges, turned
from frontier.distributed.ranks.remote_reads import names_of, needs
from frontier.program.step import walk

if TYPE_CHECKING:
    from frontier.distributed.transport.communicators import Communicator
    from frontier.graph.graph import Graph
    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Operator, Step

__all__ = ["in_parts", "own_part", "part_for", "push_only"]


def in_parts(p: Problem) -> bool:
    """Whether each rank holds the edges of its own vertices only."""
    return p.graph._topology.divided is not None


def own_part(step: Step, p: Problem, comm: Communicator) -> Problem:
    """The problem on a rank's part of the graph, with the same fields; ``p`` itself if every rank has the whole graph.

    Raises
    ------
    FunctorError
        If a step needs edges that other ranks have.
    """
    divided = p.graph._topology.divided
    if divided is None:
        return p
    for each in walk(step):
        needs(each, p)  # refused before anything runs
    made: Problem | None = p.workspace.get("part")
    if made is None or made.graph is not divided.part(comm.rank):
        made = copy.copy(p)  # with the same dicts of arrays, scalars and piles
        vars(made)["graph"] = divided.part(comm.rank)
        p.workspace["part"] = made
    return made


def push_only(schedule: ResolvedSchedule) -> ResolvedSchedule:
    """The schedule without pulls."""
    return replace(schedule, direction="push")


def part_for(step: Operator, p: Problem, comm: Communicator, interprets: bool) -> Problem:
    """The problem on which a rank runs a step: if it walks in-edges, on a graph that has those of its vertices.

    All ranks call this together, before the step.
    """
    if step.far != "src":
        return p
    if needs(step, p).numbered:
        p.graph.cached("numbered in-edges", lambda: number_in_edges(p.graph, comm))
        return p
    if p.graph.symmetric and not interprets:
        return p
    weighted = "weight" in names_of(step)
    made: Problem | None = p.workspace.get("in part")
    if made is None or (weighted and made.graph.weights is None):
        made = copy.copy(p)
        vars(made)["graph"] = _in_graph(p.graph, comm, weighted, interprets)
        p.workspace["in part"] = made
    return made


def _in_graph(g: Graph, comm: Communicator, weighted: bool, interprets: bool) -> Graph:
    whole, starts = g, g._topology.ranks.starts
    if not whole.symmetric:
        g = whole.cached(f"in-edges, weighted {weighted}", lambda: in_graph(whole, comm, weighted))
    if not interprets:
        return g
    return turned(g, *starts[comm.rank : comm.rank + 2].tolist())
