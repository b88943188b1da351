"""Communities. Where NetworkX draws at random, results are other ones than its own, of the same kind."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import networkx as nx
import numpy as np
from networkx.utils import create_py_random_state

import frontier as fr
from frontier.nx_backend.components import groups
from frontier.nx_backend.converted import ConvertedGraph, host
from frontier.nx_backend.reasons import lacks, refuse

__all__ = [
    "asyn_lpa_communities", "fast_label_propagation_communities", "label_propagation_communities",
    "leiden_communities", "leiden_partitions", "louvain_communities", "louvain_partitions", "modularity",
]  # fmt: skip

_DIRECTED = "modularity of directed graphs"

#: Communities after so many levels at most.
_Communities: TypeAlias = Callable[[int | None], list[set[Any]]]


def _number(seed: Any) -> int:
    """A seed for Frontier, drawn from NetworkX's."""
    return int(create_py_random_state(seed).getrandbits(31))


def _graph(graph: ConvertedGraph, weight: Any) -> fr.Graph:
    if not len(graph):
        refuse("an empty graph")
    return graph.graph(weight, parallel="sum", ones=graph.is_multigraph())


def louvain_communities(
    G: ConvertedGraph,
    weight: Any = "weight",
    resolution: float = 1,
    threshold: float = 1e-7,
    max_level: int | None = None,
    seed: Any = None,
) -> list[set[Any]]:
    """Communities by the Louvain method."""
    _check_level(max_level)
    return _louvain(G, weight, seed, resolution, threshold)(max_level)


def louvain_partitions(
    G: ConvertedGraph, weight: Any = "weight", resolution: float = 1, threshold: float = 1e-7, seed: Any = None
) -> Iterator[list[set[Any]]]:
    """Communities by the Louvain method, from each number of levels on which it works."""
    return _levels(_louvain(G, weight, seed, resolution, threshold))


@lacks(directed=_DIRECTED)
def leiden_communities(
    G: ConvertedGraph, weight: Any = "weight", resolution: float = 1, max_level: int | None = None, seed: Any = None
) -> list[set[Any]]:
    """Communities by the Leiden method."""
    _check_level(max_level)
    return _leiden(G, weight, seed, resolution)(max_level)


@lacks(directed=_DIRECTED)
def leiden_partitions(
    G: ConvertedGraph, weight: Any = "weight", resolution: float = 1, seed: Any = None
) -> Iterator[list[set[Any]]]:
    """Communities by the Leiden method, from each number of levels on which it works."""
    return _levels(_leiden(G, weight, seed, resolution))


def _check_level(max_level: int | None) -> None:
    if max_level is not None and max_level <= 0:
        raise ValueError("max_level argument must be a positive integer or None")


def _louvain(G: ConvertedGraph, weight: Any, seed: Any, resolution: float, threshold: float) -> _Communities:
    graph, number, directed = _graph(G, weight), _number(seed), G.is_directed()
    more: dict[str, Any] = {"resolution": float(resolution), "threshold": float(threshold), "directed": directed}
    return lambda level: [*groups(G, host(fr.louvain(graph, max_level=level, seed=number, **more).label))]


def _leiden(G: ConvertedGraph, weight: Any, seed: Any, resolution: float) -> _Communities:
    graph, number = _graph(G, weight), _number(seed)
    return lambda level: [
        *groups(G, host(fr.leiden(graph, max_level=level, seed=number, resolution=float(resolution)).label))
    ]


def _levels(communities: _Communities) -> Iterator[list[set[Any]]]:
    """Communities from one level, two, and so on, until another level changes nothing."""
    found = communities(1)
    for level in itertools.count(2):
        yield found
        found, before = communities(level), found
        if found == before:
            return


def modularity(G: ConvertedGraph, communities: Any, weight: Any = "weight", resolution: float = 1) -> float:
    """The modularity of communities that are given."""
    communities = communities if isinstance(communities, list) else [*communities]
    sets = [{*each} for each in communities]
    if sum(map(len, sets)) != len(G) or not all(node in G for each in sets for node in each):
        raise nx.community.NotAPartition(G.to_networkx(), communities)
    label = np.full(len(G), -1)
    for i, each in enumerate(sets):
        label[G.vertices(each)] = i
    if (label < 0).any():
        raise nx.community.NotAPartition(G.to_networkx(), communities)
    g = _graph(G, weight)
    if not g.num_slots or (g.weights is not None and not host(g.weights).any()):
        raise ZeroDivisionError("there is no edge with a weight")
    return float(fr.modularity(g, label, resolution=float(resolution)))


def _propagated(graph: ConvertedGraph, seed: int, weight: Any = None) -> Iterator[set[Any]]:
    """Communities of nodes that have adopted a most frequent label of their neighbours.

    Raises
    ------
    NotImplementedError
        If some label still changes after a thousand rounds.
    """
    if not len(graph):
        return iter([])
    found = fr.label_propagation(
        graph.graph(weight, parallel="sum"), method="asynchronous", weighted=weight is not None, max_iterations=1000,
        seed=seed,
    )  # fmt: skip
    if not found.converged:
        refuse("labels that do not settle")
    return groups(graph, host(found.label))


@lacks(directed="a directed graph")
def label_propagation_communities(G: ConvertedGraph) -> Any:
    """Communities by label propagation."""
    return [*_propagated(G, 0)]


@lacks(directed="a directed graph")
def asyn_lpa_communities(G: ConvertedGraph, weight: Any = None, seed: Any = None) -> Iterator[set[Any]]:
    """Communities by label propagation in an order drawn at random."""
    return _propagated(G, _number(seed), weight)


@lacks(directed="a directed graph", multigraph="labels counted by parallel edges")
def fast_label_propagation_communities(
    G: ConvertedGraph, *, weight: Any = None, seed: Any = None
) -> Iterator[set[Any]]:
    """Communities by label propagation from nodes whose neighbours have changed."""
    return _propagated(G, _number(seed), weight)
