"""Ranks that are fixed points: PageRank, HITS, Katz and eigenvector centrality."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

import frontier as fr
from frontier.nx_backend.converted import ConvertedGraph, host
from frontier.nx_backend.mappings import by_node
from frontier.nx_backend.reasons import lacks, refuse

__all__ = ["eigenvector_centrality", "hits", "katz_centrality", "pagerank"]

_START = "where to start"


def _weighted(graph: ConvertedGraph, weight: Any) -> tuple[fr.Graph, bool]:
    """The graph in which parallel edges weigh their sum, and whether its weights matter."""
    if weight is None and not graph.is_multigraph():
        return graph.graph(), False
    if weight is not None and not graph.is_multigraph() and (graph.weights(weight) == 1).all():
        return graph.graph(), False
    return graph.graph(weight, parallel="sum", ones=weight is None), True


def _converged(call: Callable[[], Any], max_iter: int) -> Any:
    """The result of a call, or NetworkX's error."""
    if max_iter < 1:
        raise nx.PowerIterationFailedConvergence(max_iter)
    try:
        return call()
    except fr.NotConvergedError:
        raise nx.PowerIterationFailedConvergence(max_iter) from None


def _shares(graph: ConvertedGraph, given: Any) -> Any:
    """A number for each node, 0 where none is given."""
    if given is None:
        return None
    made = np.array([given.get(node, 0) for node in graph.nodes], float)
    if made.sum() == 0:
        raise ZeroDivisionError
    return made


def pagerank(
    G: ConvertedGraph,
    alpha: float = 0.85,
    personalization: Any = None,
    max_iter: int = 100,
    tol: float = 1e-6,
    nstart: Any = None,
    weight: Any = "weight",
    dangling: Any = None,
) -> Any:
    """PageRank."""
    if not len(G):
        return {}
    wanted, begin, lost = (_shares(G, given) for given in (personalization, nstart, dangling))
    g, weighted = _weighted(G, weight)
    options = {"personalization": wanted, "dangling": lost, "start": begin, "weighted": weighted}
    found = _converged(
        lambda: fr.pagerank(g, damping=alpha, tolerance=tol * len(G), max_iterations=max_iter, **options), max_iter
    )
    return by_node(G, host(found.rank))


@lacks(nstart=_START)
def hits(
    G: ConvertedGraph, max_iter: int = 100, tol: float = 1e-8, nstart: Any = None, normalized: bool = True
) -> tuple[Any, Any]:
    """Hubs and authorities."""
    if not len(G):
        return {}, {}
    g = G.graph("weight", parallel="sum")
    found = _converged(lambda: fr.hits(g, tolerance=tol, weighted=True, max_iterations=max_iter), max_iter)
    hubs, authorities = host(found.hub), host(found.authority)
    if not normalized:  # the singular vector of length 1, and what it gives hubs
        authorities = authorities / np.linalg.norm(authorities)
        hubs = np.bincount(host(g.sources), host(g.weights) * authorities[host(g.targets)], minlength=len(G))
    return by_node(G, hubs), by_node(G, authorities)


def katz_centrality(
    G: ConvertedGraph,
    alpha: float = 0.1,
    beta: Any = 1.0,
    max_iter: int = 1000,
    tol: float = 1e-6,
    nstart: Any = None,
    normalized: bool = True,
    weight: Any = None,
) -> Any:
    """Katz centrality; where to start changes nothing but the number of iterations."""
    if not len(G):
        return {}
    try:
        given: Any = float(beta)
    except (TypeError, ValueError, AttributeError) as error:
        if set(beta) != set(G):
            raise nx.NetworkXError("beta dictionary must have a value for every node") from error
        given = [beta[node] for node in G.nodes]
    g, weighted = _weighted(G, weight)
    found = _converged(
        lambda: fr.katz(
            g, alpha=alpha, beta=given, normalized=normalized, tolerance=tol * len(G), weighted=weighted,
            max_iterations=max_iter,
        ),
        max_iter,
    )  # fmt: skip
    return by_node(G, host(found.centrality))


@lacks(nstart=_START)
def eigenvector_centrality(
    G: ConvertedGraph, max_iter: int = 100, tol: float = 1e-6, nstart: Any = None, weight: Any = None
) -> Any:
    """Eigenvector centrality."""
    if not len(G):
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    if weight is not None and not weight:
        refuse("an attribute without a name")
    g, weighted = _weighted(G, weight)
    found = _converged(
        lambda: fr.eigenvector_centrality(g, tolerance=tol * len(G), weighted=weighted, max_iterations=max_iter),
        max_iter,
    )
    return by_node(G, host(found.centrality))
