"""Hubs, authorities, eigenvector and Katz centralities, personalised PageRank: NumPy's linear algebra, and NetworkX."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from compare import close, equal, workers
from conftest import Backend
from strategies import random_graphs

import frontier as fr
from frontier.memory import detection
from frontier.memory.arrays import to_host
from frontier.primitives import eigenvector, hits

FEW = 3 if detection.simulated() else 12
LOOSE = 1e-4 if detection.simulated() else 1e-11


def matrix(g: fr.Graph, weighted: bool = False) -> np.ndarray:
    """The adjacency matrix; parallel edges add up."""
    made = np.zeros((g.num_vertices, g.num_vertices))
    weights = to_host(g.weights).astype(float) if weighted else 1.0
    np.add.at(made, (to_host(g.sources), to_host(g.targets)), weights)
    return made


def dense(seed: int, directed: bool = True) -> fr.Graph:
    """A connected graph whose largest eigenvalue is well apart from the others."""
    return fr.urand(4, 5, directed=directed, seed=seed, weights=(1, 5))


# ---- HITS ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_hits_are_singular_vectors(backend: Backend, weighted: bool) -> None:
    for seed in range(FEW):
        g = dense(seed, seed % 3 > 0)
        result = fr.hits(backend(g), tolerance=LOOSE, weighted=weighted)
        left, _, right = np.linalg.svd(matrix(g, weighted))
        for found, vector in ((result.hub, left[:, 0]), (result.authority, right[0])):
            close(found, vector / vector.sum(), rtol=0, atol=LOOSE * 100)


def test_hits_agree_with_networkx() -> None:
    g = fr.karate()
    hubs, authorities = nx.hits(g.to_networkx(), tol=1e-12, max_iter=1000)
    result = fr.hits(g, tolerance=1e-12)
    for found, expected in ((result.hub, hubs), (result.authority, authorities)):
        close(found, [expected[v] for v in range(34)], rtol=0, atol=1e-9)


def test_hits_are_consistent(backend: Backend) -> None:
    """Each is what the other says, on graphs of several pieces and without edges too."""
    for g in random_graphs(FEW, seed=71, max_vertices=30, parallel=True, weights=None):
        try:
            result = fr.hits(backend(g), tolerance=LOOSE)
        except fr.NotConvergedError as error:
            result = error.result
        hub, authority = to_host(result.hub), to_host(result.authority)
        if g.num_slots == 0:
            assert hub.sum() == authority.sum() == 0
            continue
        assert abs(hub.sum() - 1) < 1e-9
        again = matrix(g) @ authority
        close(again / again.sum(), hub, rtol=0, atol=max(100 * result.error, 1e-9))


# ---- eigenvector and Katz centrality ---------------------------------------------------------------------


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_eigenvectors(backend: Backend, weighted: bool, large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With rounded iterations first too, as on ``large`` graphs: results are as exact."""
    monkeypatch.setattr(eigenvector, "LARGE", 1 if large else 1 << 40)
    for seed in range(FEW):
        g = dense(seed, seed % 3 > 0)
        values, vectors = np.linalg.eig(matrix(g, weighted).T)
        expected = np.abs(vectors[:, np.argmax(values.real)].real)
        found = fr.eigenvector_centrality(backend(g), tolerance=LOOSE, weighted=weighted).centrality
        close(found, expected / np.linalg.norm(expected), rtol=0, atol=LOOSE * 100)


def test_eigenvector_of_a_bipartite_graph(backend: Backend) -> None:
    """Where a power iteration without a shift swings for ever."""
    found = fr.eigenvector_centrality(backend(fr.star(5)), tolerance=LOOSE).centrality
    close(found, np.array([2, 1, 1, 1, 1]) / 8**0.5, rtol=0, atol=LOOSE * 100)


def test_graphs_that_converge_slowly() -> None:
    """At defaults: close eigenvalues, and bipartite graphs whose eigenvalues are large or small beside 1."""
    tail = fr.from_edges([0, 1, 2, 0, 3, 4], [1, 2, 0, 3, 4, 5], [1, 2, 3, 4, 5, 6])
    chain = fr.from_edges([0, 1, 2], [1, 2, 3], [100.0, 200.0, 300.0])
    for g in (fr.path(50), fr.star(20_000), tail, chain, chain.with_weights(chain.weights * 1e-12)):
        weighted = g.weights is not None
        result = fr.eigenvector_centrality(g, weighted=weighted)
        found = result.centrality
        if g.num_vertices > 100:
            expected, most = np.full(g.num_vertices, (2 * (g.num_vertices - 1)) ** -0.5), 250
            expected[0] = 0.5**0.5
        else:
            expected = np.abs(np.linalg.eigh(matrix(g, weighted))[1][:, -1])
            most = 2000 if g.num_vertices == 50 else 100
        close(found, expected, rtol=0, atol=1e-6)
        assert result.iterations < most
    close(fr.salsa(fr.path(50)).hub, fr.path(50).out_degree / 98, rtol=0, atol=1e-6)
    expected = np.linalg.eigh(matrix(tail, True))[1][:, -1]
    close(fr.hits(tail, weighted=True).hub, expected / expected.sum(), rtol=0, atol=1e-6)


def strip(n: int, weights: Any = None) -> fr.Graph:
    """A long thin graph that is not bipartite, so that its largest singular value is single."""
    src, dst = [*range(n - 1), *range(n - 2)], [*range(1, n), *range(2, n)]
    return fr.from_edges(src, dst, weights)


def test_long_thin_graphs_agree_with_networkx() -> None:
    """Where a power iteration would take a hundred thousand iterations and more."""
    g = strip(1000)
    other = g.to_networkx()
    expected = nx.eigenvector_centrality_numpy(other, max_iter=10_000)
    found = fr.eigenvector_centrality(g)
    close(found.centrality, [expected[v] for v in range(1000)], rtol=0, atol=1e-7)
    assert found.iterations < 2000
    hubs, authorities = nx.hits(other)
    result = fr.hits(g)
    assert result.iterations < 2000
    for values, exact in ((result.hub, hubs), (result.authority, authorities)):
        close(values, [exact[v] for v in range(1000)], rtol=0, atol=1e-8)  # the largest is 1.6e-3


def test_faster_iterations(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes on after some iterations, here after two: with weights, from the projection of equal values."""
    monkeypatch.setattr(hits, "PLAIN", 2)
    monkeypatch.setattr(eigenvector, "PLAIN", 2)
    pieces = fr.from_edges([0, 1, 3, 4, 6], [1, 2, 4, 5, 6])  # two are alike
    weighted = strip(9, np.random.default_rng(1).integers(1, 5, 15))
    arcs = fr.urand(4, 5, directed=True, seed=2, weights=(1, 5))
    for g in (pieces, weighted, arcs):
        options: dict[str, Any] = {"weighted": g.weights is not None, "tolerance": 1e-11}
        own = matrix(g, g.weights is not None)
        hub = largest(own @ own.T)
        result = fr.hits(backend(g), **options)
        close(result.hub, hub / hub.sum(), rtol=0, atol=1e-7)
        authority = own.T @ hub
        close(result.authority, authority / authority.sum(), rtol=0, atol=1e-7)
        if not g.directed:
            vector = largest(own)
            result = fr.eigenvector_centrality(backend(g), **options)
            close(result.centrality, vector / np.linalg.norm(vector), rtol=0, atol=1e-7)
    with pytest.raises(fr.NotConvergedError, match="HITS changed by") as caught:
        fr.hits(backend(weighted), weighted=True, tolerance=1e-300, max_iterations=5)
    assert caught.value.result.iterations == 5


def largest(own: np.ndarray) -> np.ndarray:
    """The projection of equal values to the space of the largest eigenvalue of a symmetric matrix."""
    values, vectors = np.linalg.eigh(own)
    space = vectors[:, values > values[-1] * (1 - 1e-12)]
    found: np.ndarray = space @ space.sum(axis=0)
    return found


def test_iterations_of_graphs_that_converge_fast() -> None:
    assert fr.eigenvector_centrality(fr.rmat(10, 16, seed=1)).iterations == 22


@pytest.mark.parametrize("weighted", [False, True])
def test_rounded_iterations_count(backend: Backend, weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are at most half of those allowed, there are few more in all, and none without a tolerance."""
    g = dense(1, directed=False)
    exact = fr.eigenvector_centrality(backend(g), tolerance=LOOSE, weighted=weighted)
    three = fr.eigenvector_centrality(backend(g), tolerance=0, max_iterations=3, weighted=weighted)
    monkeypatch.setattr(eigenvector, "LARGE", 1)
    large = fr.eigenvector_centrality(backend(g), tolerance=LOOSE, weighted=weighted)
    assert exact.iterations <= large.iterations <= exact.iterations + 3
    assert large.error < LOOSE
    again = fr.eigenvector_centrality(backend(g), tolerance=0, max_iterations=3, weighted=weighted)
    equal(again.centrality, three.centrality)
    assert again.iterations == 3
    for limit in (1, 2, 5):
        with pytest.raises(fr.NotConvergedError) as caught:
            fr.eigenvector_centrality(backend(g), tolerance=1e-14, max_iterations=limit, weighted=weighted)
        assert caught.value.result.iterations == limit


@pytest.mark.parametrize("directed", [False, True])
def test_large_graphs_get_exact_eigenvectors(directed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    g = fr.rmat(12, 8, seed=1, directed=directed)
    expected = fr.eigenvector_centrality(g, tolerance=1e-13)
    monkeypatch.setattr(eigenvector, "LARGE", 1)
    for tolerance in (1e-4, 1e-9, 1e-12):
        found = fr.eigenvector_centrality(g, tolerance=tolerance)
        assert np.abs(found.centrality - expected.centrality).sum() < 2 * tolerance
        assert found.iterations <= expected.iterations


def test_no_eigenvector_without_cycles(backend: Backend) -> None:
    with pytest.raises(fr.NotConvergedError, match="eigenvector centrality changed by") as caught:
        fr.eigenvector_centrality(backend(fr.from_edges([0, 1, 2, 3], [1, 2, 3, 4], directed=True)), max_iterations=20)
    assert caught.value.result.iterations == 20


@pytest.mark.parametrize("weighted", [False, True])
def test_katz(backend: Backend, weighted: bool) -> None:
    rng = np.random.default_rng(1)
    for g in random_graphs(FEW, seed=72, max_vertices=25, parallel=True, weights=("int32",)):
        own = matrix(g, weighted).T
        largest = max(np.abs(np.linalg.eigvals(own)), default=0)
        alpha, beta = 0.5 / max(largest, 1.0), rng.random(g.num_vertices)
        expected = np.linalg.solve(np.eye(len(own)) - alpha * own, beta)
        options: dict[str, Any] = {"alpha": alpha, "weighted": weighted, "tolerance": LOOSE}
        close(fr.katz(backend(g), beta=beta, normalized=False, **options).centrality, expected, atol=LOOSE * 100)
        found = to_host(fr.katz(backend(g), beta=dict(enumerate(beta)), **options).centrality)
        if g.num_vertices:
            close(found, expected / np.linalg.norm(expected), rtol=0, atol=LOOSE * 100)


def test_katz_agrees_with_networkx() -> None:
    expected = nx.katz_centrality_numpy(fr.karate().to_networkx(), alpha=0.1)
    found = fr.katz(fr.karate(), alpha=0.1, tolerance=1e-12).centrality
    close(found, [expected[v] for v in range(34)], rtol=0, atol=1e-9)


def test_katz_converges_by_default(backend: Backend) -> None:
    """On hubs, regular graphs, directed ones, and without cycles; alpha is near the greatest possible one."""
    chain = fr.from_edges([0, 1, 2], [1, 2, 3], directed=True)
    pieces = fr.from_edges([0, 1, 2, 4, 4], [1, 2, 0, 4, 5], [0.5, 3.0, 40.0, 7.0, 1e-9], directed=True)
    for g in (fr.karate(), fr.star(40), fr.complete(9), fr.path(30), pieces, chain):
        weighted = g.weights is not None
        result = fr.katz(backend(g), weighted=weighted, tolerance=LOOSE)
        own = matrix(g, weighted).T
        largest = np.abs(np.linalg.eigvals(own)).max()
        assert 0.5 <= result.alpha * largest <= 0.9 * (1 + 1e-9) or largest == 0
        expected = np.linalg.solve(np.eye(len(own)) - result.alpha * own, np.ones(len(own)))
        close(result.centrality, expected / np.linalg.norm(expected), rtol=0, atol=LOOSE * 100)


def test_katz_that_grows_for_ever(backend: Backend) -> None:
    with pytest.raises(fr.NotConvergedError, match=r"alpha must be below 1.*, as it is up to 0\.2$"):
        fr.katz(backend(fr.complete(6)), alpha=0.5, max_iterations=30)
    with pytest.raises(fr.NotConvergedError, match="more max_iterations"):
        fr.katz(backend(fr.complete(6)), alpha=0.19, max_iterations=30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of an overflow, after which the error comes anyway
        with pytest.raises(fr.NotConvergedError, match=r"changed by \S*e\+1"):
            fr.katz(fr.complete(6), alpha=0.5, max_iterations=450)


# ---- SALSA -----------------------------------------------------------------------------------------------


def stationary(g: fr.Graph) -> tuple[np.ndarray, np.ndarray]:
    """Lempel and Moran's proposition: in each piece in proportion to degrees, pieces in proportion to their sizes."""
    n, own = g.num_vertices, matrix(g)
    pieces = nx.Graph()
    pieces.add_edges_from((("hub", u), ("authority", v)) for u, v in zip(*np.nonzero(own), strict=True))
    hub, authority = np.zeros(n), np.zeros(n)
    hubs, authorities = int((own.sum(1) > 0).sum()), int((own.sum(0) > 0).sum())
    for piece in nx.connected_components(pieces):
        left = [v for kind, v in piece if kind == "hub"]
        right = [v for kind, v in piece if kind == "authority"]
        edges = own[left].sum()
        hub[left] = own[left].sum(1) / edges * len(left) / hubs
        authority[right] = own[:, right].sum(0) / edges * len(right) / authorities
    return hub, authority


def test_salsa_is_in_proportion_to_degrees(backend: Backend) -> None:
    for g in random_graphs(FEW, seed=73, max_vertices=12, parallel=True, weights=None):
        result = fr.salsa(backend(g))
        hub, authority = stationary(g)
        close(result.hub, hub, rtol=1e-12)
        close(result.authority, authority, rtol=1e-12)


def test_salsa_is_where_the_walks_end(backend: Backend) -> None:
    """The definition: a step back and on, or on and back, changes nothing; also on a long thin graph."""
    for g in (fr.path(3000), fr.rmat(5, 3, directed=True, seed=1), fr.from_edges([0, 0, 1, 1], [1, 1, 0, 1])):
        if g.num_vertices > 100 and backend.name != "cpu":
            continue
        result = fr.salsa(backend(g))
        src, dst, n = g.sources, g.targets, g.num_vertices
        hub, authority = to_host(result.hub), to_host(result.authority)
        out, into = np.maximum(g.out_degree, 1), np.maximum(g.in_degree, 1)
        back = np.bincount(src, (authority / into)[dst], n)
        close(np.bincount(dst, (back / out)[src], n), authority, rtol=1e-9, atol=1e-15)
        ahead = np.bincount(dst, (hub / out)[src], n)
        close(np.bincount(src, (ahead / into)[dst], n), hub, rtol=1e-9, atol=1e-15)
        close([hub.sum(), authority.sum()], [1, 1])


# ---- personalised PageRank -------------------------------------------------------------------------------


@pytest.mark.unsimulated("many passes")
def test_seeds(backend: Backend) -> None:
    g = fr.karate()
    there = backend(g)
    options: dict[str, Any] = {"tolerance": 1e-12}
    sets = [[0], [33, 5], [7]]
    rows = []
    for seeds in sets:
        expected = nx.pagerank(
            g.to_networkx(), personalization=dict.fromkeys(seeds, 1), weight=None, tol=1e-13, max_iter=999
        )
        rows.append([expected[v] for v in range(34)])
    close(fr.personalized_pagerank(there, sets, **options).rank, rows, rtol=0, atol=1e-9)
    one = fr.personalized_pagerank(there, 0, **options)
    close(one.rank, rows[0], rtol=0, atol=1e-9)
    close(fr.personalized_pagerank(there, [33, 5], **options).rank, rows[1], rtol=0, atol=1e-9)


def test_seeds_with_numbers() -> None:
    g, weights = fr.karate(), {0: 1, 33: 2.5}
    expected = nx.pagerank(g.to_networkx(), personalization=weights, weight=None, tol=1e-13, max_iter=999)
    found = fr.personalized_pagerank(g, weights, tolerance=1e-12).rank
    close(found, [expected[v] for v in range(34)], rtol=0, atol=1e-9)
    both = fr.personalized_pagerank(g, [weights, {5: 1}], tolerance=1e-12).rank
    equal(both[0], found)
    equal(both[1], fr.personalized_pagerank(g, 5, tolerance=1e-12).rank)
    named = fr.from_edges([("a", "b"), ("b", "c")], labels=True)
    equal(fr.personalized_pagerank(named, {"a": 7}).rank, fr.personalized_pagerank(named, "a").rank)


def test_seeds_with_labels() -> None:
    g = fr.from_edges([("a", "b"), ("b", "c")], labels=True)
    found = fr.personalized_pagerank(g, ["a", "c"])
    assert found.rank.shape == (3,)
    assert found.rank[1] == max(found.rank)
    assert fr.personalized_pagerank(g, [["a"], ["c"]]).rank.shape == (2, 3)
    equal(fr.personalized_pagerank(g, "a").rank, fr.personalized_pagerank(g, ["a"]).rank)


@pytest.mark.unsimulated("many passes")
def test_whom_to_follow(compiled: Backend) -> None:
    """By hand: with a plain PageRank of NetworkX and the proportions of SALSA."""
    g = fr.rmat(6, 5, directed=True, seed=4)
    user = int(np.argmax(g.out_degree > 2))
    result = fr.who_to_follow(compiled(g), user, count=5, circle=8)
    rank = nx.pagerank(nx.DiGraph(g.to_networkx()), personalization={user: 1}, tol=1e-13, max_iter=999)
    best = sorted(rank, key=lambda v: (-rank[v], v))[:8]
    equal(np.sort(result.circle), np.sort([v for v in best if rank[v] > 0]))
    kept = np.isin(g.sources, best)
    _, authority = stationary(fr.from_edges(g.sources[kept], g.targets[kept], num_vertices=64, directed=True))
    authority[[user, *g.targets[g.sources == user]]] = 0
    close(result.score, np.sort(authority)[::-1][: len(result.score)], rtol=0, atol=1e-7)
    close(authority[result.recommended], result.score, rtol=0, atol=1e-7)
    assert 0 < len(result.recommended) <= 5


def test_nobody_to_follow(backend: Backend) -> None:
    result = fr.who_to_follow(backend(fr.complete(4)), 1)
    assert result.recommended.tolist() == []
    assert sorted(result.circle.tolist()) == [0, 1, 2, 3]


# ---- all of them -----------------------------------------------------------------------------------------


ALL: dict[str, Callable[..., Any]] = {
    "hits": fr.hits,
    "eigenvector": fr.eigenvector_centrality,
    "katz": fr.katz,
    "salsa": fr.salsa,
}


@pytest.mark.parametrize("name", ALL)
def test_special_graphs(backend: Backend, name: str) -> None:
    for g in (fr.from_edges([], [], num_vertices=0), fr.from_edges([], [], num_vertices=3), fr.from_edges([0], [0])):
        result = ALL[name](backend(g))
        assert result.iterations <= 1000
        for column in ("hub", "authority", "centrality"):
            values = to_host(getattr(result, column, np.zeros(0)))
            assert np.isfinite(values).all()


@pytest.mark.unsimulated("many passes")
@pytest.mark.parametrize("name", ALL)
def test_several_workers_and_parts(compiled: Backend, name: str) -> None:
    options = {"alpha": 0.01} if name == "katz" else {}
    for g in (fr.rmat(8, 6, seed=2), fr.rmat(8, 6, directed=True, seed=3)):
        expected = ALL[name](g, tolerance=1e-10, max_iterations=10_000, **options)
        with workers(3):
            found = ALL[name](compiled(g), tolerance=1e-10, max_iterations=10_000, **options)
        parts = ALL[name](g.to("ranks:2"), tolerance=1e-10, max_iterations=10_000, **options)
        for each in (found, parts):
            for column in set(vars(expected)) & {"hub", "authority", "centrality"}:
                close(np.asarray(to_host(getattr(each, column))), getattr(expected, column), rtol=0, atol=1e-6)


def test_wrong_arguments() -> None:
    g = fr.karate()
    for call, words in (
        (lambda: fr.hits(g, weighted=True), "has no weights"),
        (lambda: fr.katz(g, alpha=np.inf), "alpha=inf"),
        (lambda: fr.katz(g, beta=[1.0]), "beta of shape"),
        (lambda: fr.katz(g, beta=np.nan), "finite numbers"),
        (lambda: fr.salsa(g, tolerance=-1), "tolerance=-1"),
        (lambda: fr.eigenvector_centrality(g, max_iterations=0), "max_iterations=0"),
        (lambda: fr.personalized_pagerank(g, []), "at least one vertex"),
        (lambda: fr.personalized_pagerank(g, [[0], []]), "at least one vertex"),
        (lambda: fr.personalized_pagerank(g, 99), "99"),
        (lambda: fr.personalized_pagerank(g, {}), "one of them positive"),
        (lambda: fr.personalized_pagerank(g, {0: -1, 1: 2}), "not negative"),
        (lambda: fr.personalized_pagerank(g, {99: 1}), "99"),
        (lambda: fr.who_to_follow(g, 0, count=0), "count=0"),
        (lambda: fr.who_to_follow(g, 0, circle=1.5), "circle=1.5"),
    ):
        with pytest.raises(fr.GraphError, match=words):
            call()
    with pytest.raises(fr.NegativeWeightError):
        fr.hits(g.with_weights(np.full(156, -1)), weighted=True)
