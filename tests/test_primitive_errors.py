"""Primitives asked for what cannot be: sources, weights and options; and what kinds of errors there are."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from conftest import Backend

import frontier as fr

ABC = ([0, 1], [1, 2], [1.0, 2.0])


@pytest.mark.parametrize("source", [-1, 3, 1.5, "a", None, [3], 2**70])
@pytest.mark.parametrize("search", [fr.bfs, fr.sssp])
def test_a_source_that_does_not_exist(backend: Backend, search: Callable[..., Any], source: Any) -> None:
    with pytest.raises(fr.GraphError, match=r"there is no vertex .*: vertices are 0 to 2"):
        search(backend(fr.from_edges(*ABC)), source)


def test_a_label_that_does_not_exist(backend: Backend) -> None:
    g = backend(fr.from_edges(["a", "b"], ["b", "c"]))
    with pytest.raises(fr.GraphError, match="there is no vertex 'z': the labels are strings, 'a', 'b', 'c'"):
        fr.bfs(g, "z")


@pytest.mark.parametrize("sources", [-1, 4, [3], [-1], [1.5], [[0]], "abc", 1.5, True])
def test_sources_that_do_not_exist(backend: Backend, sources: Any) -> None:
    with pytest.raises(fr.GraphError, match=r"there is no vertex|a number of sources from 0 to 3, or a list"):
        fr.betweenness(backend(fr.from_edges(*ABC)), sources)


def test_weights_of_a_graph_without(backend: Backend) -> None:
    g = backend(fr.path(4))
    with pytest.raises(fr.GraphError, match=r"the graph has none; for numbers of edges use fr\.bfs"):
        fr.sssp(g, 0)
    with pytest.raises(fr.GraphError, match="weighted=True, but the graph has no weights"):
        fr.pagerank(g, weighted=True)


@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_negative_weights(backend: Backend, dtype: str) -> None:
    g = backend(fr.from_edges([0, 1], [1, 2], np.array([3, -2], dtype)))
    for primitive in (lambda: fr.sssp(g, 0), lambda: fr.pagerank(g, weighted=True)):
        with pytest.raises(fr.NegativeWeightError, match="not negative; the least is -2"):
            primitive()
    assert fr.bfs(g, 0).level.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "primitive",
    [fr.pagerank, fr.hits, fr.katz, fr.eigenvector_centrality, fr.random_walks, fr.node2vec_walks],
)
def test_infinite_weights(primitive: Callable[..., Any]) -> None:
    g = fr.from_edges([0, 1, 0], [1, 2, 2], np.array([np.inf, np.inf, 1.0]))
    with pytest.raises(fr.GraphError, match="weights"):
        primitive(g, weighted=True)


LARGE = fr.from_edges([0, 1, 2], [1, 2, 0], np.array([2**63 + 5, 1, 2], np.uint64))


@pytest.mark.parametrize(
    "primitive",
    [fr.pagerank, fr.hits, fr.katz, fr.eigenvector_centrality, fr.random_walks, fr.node2vec_walks,
     lambda g, weighted: fr.personalized_pagerank(g, 0, weighted=weighted)],
)  # fmt: skip
def test_weights_beyond_int64(backend: Backend, primitive: Callable[..., Any]) -> None:
    g = backend(LARGE)
    with pytest.raises(fr.GraphError, match="reads weights of edges as int64, and the greatest is 92"):
        primitive(g, weighted=True)
    primitive(g, weighted=False)


@pytest.mark.parametrize("find", [fr.louvain, fr.leiden])
def test_weights_whose_sum_no_float_holds(find: Callable[..., Any]) -> None:
    with pytest.raises(fr.GraphError, match="weights with a finite sum, and the greatest is 1e"):
        find(fr.from_edges([0, 1, 0], [1, 2, 2], [1e308, 1e308, 1.0]))


@pytest.mark.parametrize("seed", ["x", -(2**70), 1.5])
@pytest.mark.parametrize(
    "primitive",
    [
        fr.maximal_independent_set, fr.color, fr.maximal_matching, fr.louvain, fr.random_walks,
        lambda g, seed: fr.betweenness(g, 2, seed=seed),
        lambda g, seed: fr.closeness(g, sources=2, seed=seed),
    ],
)  # fmt: skip
def test_wrong_seeds(primitive: Callable[..., Any], seed: Any) -> None:
    with pytest.raises(fr.GraphError, match="seed"):
        primitive(fr.path(4), seed=seed)


@pytest.mark.parametrize("sources", [1, "abc"])
def test_one_vertex_where_many_are_expected(sources: Any) -> None:
    with pytest.raises(fr.GraphError, match=r"sources=.*: a list of vertices"):
        fr.bfs_many(fr.path(4), sources)


def test_an_estimate_that_is_no_number() -> None:
    with pytest.raises(fr.GraphError, match="that of vertex 1 is NaN"):
        fr.shortest_path(fr.from_edges(*ABC), 0, 2, weighted=True, estimate=[1.0, np.nan, 0.0])


def test_weights_of_the_wrong_length() -> None:
    with pytest.raises(fr.GraphError, match="there are 3 weights for 2 edges"):
        fr.from_edges([0, 1], [1, 2], [1.0, 2.0, 3.0])


@pytest.mark.parametrize("delta", [0, -1, math.nan, "x", [1, 2], 1j, np.array([1.0, 2.0])])
def test_wrong_delta(backend: Backend, delta: Any) -> None:
    with pytest.raises(fr.GraphError, match=r"delta=.*it must be positive"):
        fr.sssp(backend(fr.from_edges(*ABC)), 0, delta=delta)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"damping": 1}, "damping=1: it must be at least 0 and below 1"),
        ({"damping": -0.1}, "at least 0 and below 1"),
        ({"damping": math.nan}, "at least 0 and below 1"),
        ({"tolerance": -1}, "must not be negative"),
        ({"tolerance": math.nan}, "must not be negative"),
        ({"tolerance": "x"}, "tolerance='x': it is no number; it must not be negative"),
        ({"tolerance": None}, "must not be negative"),
        ({"damping": "x"}, "damping='x': it is no number; it must be"),
        ({"max_iterations": 0}, "max_iterations=0: a whole number, at least one"),
        ({"max_iterations": "x"}, "at least one"),
        ({"max_iterations": math.inf}, "a whole number"),
        ({"damping": Decimal("nan")}, "at least 0 and below 1"),
        ({"personalization": [1, 2]}, "shape (2,), but there are 3 vertices"),
        ({"personalization": 3}, "shape (), but there are 3 vertices"),
        ({"personalization": [0, 0, 0]}, "one of them positive"),
        ({"personalization": [-1, 1, 1]}, "not negative"),
        ({"personalization": [math.nan, 1, 1]}, "finite numbers"),
        ({"personalization": ["a", "b", "c"]}, "personalization holds numbers"),
        ({"personalization": [[1], [2, 3]]}, "personalization holds numbers"),
        ({"personalization": {}}, "one of them positive"),
        ({"personalization": {0: "a"}}, "personalization holds numbers"),
        ({"personalization": {7: 1}}, "there is no vertex 7"),
    ],
)
def test_wrong_options_of_pagerank(backend: Backend, options: dict[str, Any], words: str) -> None:
    with pytest.raises(fr.GraphError) as caught:
        fr.pagerank(backend(fr.from_edges(*ABC)), **options)
    assert words in str(caught.value)


def test_a_wrong_method_of_components(backend: Backend) -> None:
    with pytest.raises(fr.GraphError, match="method='fast': choose from afforest, hooking"):
        fr.connected_components(backend(fr.path(3)), method="fast")


def test_backends_that_are_not_there() -> None:
    with pytest.raises(fr.GraphError, match="choose 'cpu', 'python', 'cuda', 'cuda:1', 'ranks', 'ranks:3' or 'auto'"):
        fr.path(3).to("gpu")


@pytest.mark.parametrize(
    ("error", "base"),
    [
        (fr.GraphError, ValueError),
        (fr.FunctorError, TypeError),
        (fr.BackendUnavailableError, ImportError),
        (fr.DeviceMemoryError, MemoryError),
        (fr.NegativeWeightError, ValueError),
        (fr.NotConvergedError, Exception),
        (fr.VerificationError, AssertionError),
    ],
)
def test_bases(error: type[Exception], base: type[Exception]) -> None:
    assert issubclass(error, fr.FrontierError)
    assert issubclass(error, base)
