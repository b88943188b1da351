"""Weights near the ends of float64 give what the same weights in another unit give."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from compare import close, equal
from conftest import Backend

import frontier as fr

FACTORS = [1e-310, 2.0**-1074, 1e160, 1e307]

RANKS: dict[str, Callable[[fr.Graph], Any]] = {
    "pagerank": lambda g: fr.pagerank(g, weighted=True).rank,
    "personalized": lambda g: fr.personalized_pagerank(g, 1, weighted=True).rank,
    "hits": lambda g: fr.hits(g, weighted=True).authority,
    "eigenvector": lambda g: fr.eigenvector_centrality(g, weighted=True).centrality,
    "katz": lambda g: fr.katz(g, weighted=True).centrality,
}
WALKS: dict[str, Callable[[fr.Graph], Any]] = {
    "walks": lambda g: fr.random_walks(g, [0] * 50, 4, weighted=True).path,
    "times": lambda g: fr.random_walks(g, [0] * 50, 4, weighted=True, times="time").path,
    "node2vec": lambda g: fr.node2vec_walks(g, [0] * 50, 4, p=0.5, q=2, weighted=True).path,
}


def graph(directed: bool) -> fr.Graph:
    """Strongly connected, with weights of 1 to 5 and a self-loop."""
    src, dst = [0, 1, 2, 0, 3, 2, 3, 1], [1, 2, 0, 3, 1, 3, 3, 0]
    g = fr.from_edges(src, dst, directed=directed).to("python")
    return g.with_weights(1.0 + (g.sources * g.targets + g.sources + g.targets) % 5).with_columns(
        edges={"time": g.sources + g.targets}
    )


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", [*RANKS, *WALKS])
def test_units_do_not_matter(name: str, directed: bool) -> None:
    g = graph(directed)
    find = (RANKS | WALKS)[name]
    expected = find(g)
    for factor in FACTORS:
        found = find(g.with_weights(g.weights * factor))
        if name in RANKS:
            close(found, expected, rtol=1e-9, atol=0)
        else:
            equal(found, expected)


@pytest.mark.parametrize("name", ["pagerank", "hits", "katz", "walks"])
def test_wherever_the_graph_lies(backend: Backend, name: str) -> None:
    g = graph(True)
    find = (RANKS | WALKS)[name]
    close(find(backend(g.with_weights(g.weights * 1e-310))), find(g), rtol=1e-9, atol=0)


def test_every_vertex_may_have_a_unit_of_its_own() -> None:
    """Ranks and walks only depend on the shares that a vertex's edges have."""
    g = graph(True)
    mixed = g.with_weights(g.weights * np.array([1e-310, 1e307, 1.0, 2.0**-1074])[g.sources])
    for name in ("pagerank", "personalized"):
        close(RANKS[name](mixed), RANKS[name](g), rtol=1e-9, atol=0)
    equal(WALKS["walks"](mixed), WALKS["walks"](g))
    result = fr.pagerank(mixed, weighted=True)
    fr.verify.pagerank(mixed, result).raise_if_failed()


def test_weights_too_small_beside_others_count_as_none() -> None:
    g = graph(True)
    mixed = g.with_weights(np.where(g.sources == 3, 1e-310, 1e160))
    rest = g.with_weights(np.where(g.sources == 3, 0.0, 1.0))
    for name in ("hits", "eigenvector"):
        close(RANKS[name](mixed), RANKS[name](rest), rtol=0, atol=1e-8)


def test_katz_in_other_units() -> None:
    """A factor of a weight is one of alpha."""
    g = graph(False)
    expected = fr.katz(g, alpha=0.01, weighted=True).centrality
    for power in (-1000, 1000):
        scaled = g.with_weights(np.ldexp(g.weights, power))
        close(fr.katz(scaled, alpha=np.ldexp(0.01, -power), weighted=True).centrality, expected, rtol=1e-9)
    for beta in (1e-200, 1e200):
        found = fr.katz(g, alpha=0.01, beta=beta, weighted=True, tolerance=beta * 1e-9).centrality
        close(found, expected, rtol=1e-9)


def test_personalization_of_any_size() -> None:
    g, values = graph(True), np.array([1.0, 0.0, 3.0, 4.0])
    expected = fr.pagerank(g, personalization=values).rank
    for factor in FACTORS:
        result = fr.pagerank(g, personalization=values * factor)
        close(result.rank, expected, rtol=1e-9)
        given = values * factor
        fr.verify.pagerank(g, dataclasses.replace(result, personalization=given)).raise_if_failed()


# ---- maximum flow: edges that do not matter ----------------------------------------------------------------


@pytest.mark.parametrize("idle", [1e-20, np.inf])
def test_capacities_that_no_flow_needs(idle: float) -> None:
    """On self-loops, to the source, from the sink."""
    src, dst = [0, 0, 1, 1, 2, 3], [1, 2, 3, 1, 3, 0]
    weights = np.array([3.0, 1.0, 2.0, idle, 5.0, idle])
    for ends in ({}, {1: 0, 3: 3}):  # as many edges that are idle
        g = fr.from_edges(src, [ends.get(v, v) if i == 5 else v for i, v in enumerate(dst)], weights, directed=True)
        result = fr.max_flow(g.to("python"), 0, 3)
        known = nx.DiGraph()
        known.add_weighted_edges_from(
            [(u, v, w) for u, v, w in zip(g.sources, g.targets, g.weights, strict=True) if u != v], weight="capacity"
        )
        assert result.value == nx.maximum_flow_value(known, 0, 3) == 3
        assert (result.flow <= g.weights).all()
        assert result.flow[g.weights == idle].max() == 0
    loop = fr.from_edges([0, 1], [1, 1], [2**40, 2**62], directed=True)
    assert fr.max_flow(loop.to("python"), 0, 1).value == 2**40


def test_flows_at_the_ends_of_float64() -> None:
    src, dst = [0, 0, 1, 2], [1, 2, 3, 3]
    for unit in (2.0**-1074, 1e-310, 1e160, 2.0**1021):
        g = fr.from_edges(src, dst, np.array([1, 2, 2, 1]) * unit, directed=True).to("python")
        assert fr.max_flow(g, 0, 3).value == 2 * unit
    with pytest.raises(fr.GraphError, match="larger than float64 holds"):
        fr.max_flow(fr.from_edges(src, dst, [1e308] * 4, directed=True).to("python"), 0, 3)
