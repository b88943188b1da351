"""The graphs on which vertices move between communities, each contracted from the one before, and what to compare with.

A community is good if it has more weight inside than is to be expected. Three models say what that is:

- modularity: of the weights k at two vertices, ``k[u] * k[v] / W``, with W the sum of all k (Newman and Girvan, 2004).
- directed modularity: ``out[u] * in[v] / m`` (Leicht and Newman: Community structure in directed networks, 2008). With
  k = out + in and d = out - in this is, of edges taken both ways, ``(k[u] * k[v] - d[u] * d[v]) / W``: that of the
  undirected graph, less a term of the *skews* d.
- node weights n: ``n[u] * n[v]``, which for 1 is the constant Potts model (Traag, Van Dooren, Nesterov: Narrow scope
  for resolution-limit-free community detection, 2011).

Each is multiplied by the resolution. Skews and node weights of a community are the sums of those of its vertices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import frontier as fr
from frontier.errors import GraphError
from frontier.graph.graph import Graph
from frontier.graph.subgraphs import groups
from frontier.memory.arrays import namespace_of, to_host
from frontier.primitives._communities import (
    CommunitiesResult,
    fields,
    in_integers,
    modularity,
    weighted,
    whole,
    without_directions,
)
from frontier.primitives._contraction import contraction
from frontier.program.problem import Field

__all__ = ["Level", "first_level", "sums_by"]


@dataclass(frozen=True)
class Level:
    """A graph whose vertices move.

    Attributes
    ----------
    graph : Graph
        Undirected, without parallel edges, with weights of int64.
    resolution : float
        For node weights, in the units of weights and node weights.
    skew : array of int64, optional
        Of directed modularity: the weight that leaves a vertex less that which enters.
    mass : array of int64, optional
        Node weights.
    """

    graph: Graph
    resolution: float
    skew: Any = None
    mass: Any = None

    def contracted(self, label: Any) -> tuple[Any, Level]:
        """The number of each vertex's community, and the level of which each community is a vertex.

        Labels are numbers of vertices; communities are in their order.
        """
        h = self.graph
        if h.placement.massively_parallel and h.placement.edges is None:
            with h.placement.memory.using("a contracted graph"):
                group, smaller = contraction(h, label)
        else:
            _, group = groups(h, label)
            smaller = h.contracted(group)
        n = smaller.num_vertices
        skew, mass = (None if each is None else sums_by(group, n, each) for each in (self.skew, self.mass))
        return group, replace(self, graph=smaller, skew=skew, mass=mass)

    def quality(self) -> float:
        """How good communities are of which each is a vertex: modularity, or what stands for it."""
        if self.mass is not None:
            inside = modularity(self.graph, 0.0)
            total = _weight(self.graph)
            return inside - self.resolution * float((self.mass.astype(np.float64) ** 2).sum()) / total if total else 0.0
        found = modularity(self.graph, self.resolution)
        if self.skew is not None and (total := _weight(self.graph)):
            found += self.resolution * float(((self.skew / total) ** 2).sum())
        return found

    def fields(self, seed: int, among: int, label: Any = None) -> dict[str, Field]:
        """The fields of a problem in which vertices move; see :func:`frontier.primitives._communities.fields`."""
        found = fields(self.graph, self.resolution, seed, among, label)
        if self.skew is not None:
            found |= {"skew": fr.vertex("int64", self.skew), "skewed": fr.vertex("int64")}
        if self.mass is not None:
            found |= {"weight": fr.vertex("int64", self.mass), "all": fr.scalar("int64", 1)}
        return found

    def begun(self, start: Any) -> tuple[Any, Level]:
        """Numbers of the communities to begin with, and their level: each vertex alone, or labels that are given."""
        if start is None:
            return self.graph.placement.memory.xp.arange(self.graph.num_vertices, dtype=self.graph.id_dtype), self
        return self.contracted(groups(self.graph, start)[1])

    def result(
        self, label: Any, communities: Level, graphs: int, resolution: float, steps: Sequence[Any]
    ) -> CommunitiesResult:
        """What a call returns."""
        count, reached = communities.graph.num_vertices, communities.quality()
        return CommunitiesResult(label, count, reached, graphs, resolution, tuple(steps), self.kind == "directed")

    @property
    def kind(self) -> str:
        """Which model says what is to be expected."""
        return "directed" if self.skew is not None else "node weights" if self.mass is not None else "modularity"


def _weight(h: Graph) -> float:
    """The sum of the weights at all vertices, where a loop counts twice."""
    if not h.num_slots:
        return 0.0
    loops = namespace_of(h.sources).flatnonzero(h.sources == h.targets)
    assert h.weights is not None
    return float(h.weights.sum(dtype=np.float64)) + float(h.weights[loops].sum(dtype=np.float64))


def sums_by(group: Any, count: int, values: Any) -> Any:
    """The sum of the integers of each group, exactly; groups are numbered from 0 on."""
    xp = namespace_of(values)
    order = xp.argsort(group)
    upto = xp.zeros(len(values) + 1, np.int64)
    upto[1:] = xp.cumsum(values[order])
    ends = xp.searchsorted(group[order], xp.arange(count), side="right")
    return xp.diff(upto[ends], prepend=0)


def first_level(g: Graph, who: str, resolution: float, directed: bool, node_weights: Any) -> Level:
    """The level of a graph as users give it."""
    if node_weights is not None:
        if directed:
            raise GraphError("node_weights= says what is to be expected, so directed=True does not go with it")
        g = without_directions(g, who)
        mass = _masses(g, node_weights)
        units = _unit(g.weights, in_integers(g).weights), _unit(node_weights, mass)
        return Level(weighted(g), resolution * units[0] / units[1] ** 2, mass=mass)
    if not directed or g.symmetric:
        return Level(weighted(without_directions(g, who)), resolution)
    both = in_integers(g)
    xp = both.placement.memory.xp
    leaving, entering = (
        sums_by(both.placement.memory.moved(ends), g.num_vertices, both.placement.memory.moved(both.weights))
        for ends in (both.sources, both.targets)
    )
    return Level(both.undirected(), resolution, skew=xp.asarray(leaving - entering))


def _masses(h: Graph, node_weights: Any) -> Any:
    """Node weights as integers, where the graph is."""
    given = np.asarray(to_host(node_weights))
    if given.shape != (h.num_vertices,) or given.dtype.kind not in "iuf":
        raise GraphError(f"node_weights: expected {h.num_vertices} numbers, one for each vertex")
    if not np.isfinite(given).all() or (given < 0).any():
        raise GraphError("node_weights must be finite, and not negative")
    return h.placement.memory.xp.asarray(whole(given))


def _unit(given: Any, integers: Any) -> float:
    """By what numbers have been multiplied to become integers."""
    greatest = 0.0 if given is None or not len(given) else float(np.asarray(to_host(given)).max())
    return float(integers.max()) / greatest if greatest > 0 else 1.0
