"""Whom to follow: the definition by NumPy and NetworkX, and the search for the greatest that it uses."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from compare import close, equal
from conftest import Backend

import frontier as fr
from frontier.memory import detection
from frontier.memory.arrays import to_host
from frontier.primitives._greatest import greatest, greatest_fields
from frontier.primitives.who_to_follow import SETTLED

SMALL = detection.simulated()


def authorities(g: fr.Graph, circle: Any) -> Any:
    """SALSA on the edges of the circle, exactly: in each piece by in-degrees, its share that of its authorities."""
    kept = np.isin(g.sources, circle)
    src, dst = g.sources[kept], g.targets[kept]
    followers = np.bincount(dst, minlength=g.num_vertices)
    pieces = nx.Graph([(("follows", int(u)), ("followed", int(v))) for u, v in zip(src, dst, strict=True)])
    found = np.zeros(g.num_vertices)
    for piece in nx.connected_components(pieces):
        some = [v for kind, v in piece if kind == "followed"]
        found[some] = followers[some] / followers[some].sum() * len(some) / np.count_nonzero(followers)
    return found


def check(g: fr.Graph, result: Any, user: int, count: int, circle: int, tolerance: float = 1e-8) -> None:
    """Compare a result with the definition; those with equal scores may be recommended in any order."""
    rank = fr.personalized_pagerank(g, user).rank
    nearest = np.lexsort((np.arange(g.num_vertices), -rank))[:circle]
    equal(result.circle, nearest[rank[nearest] > 0])
    expected = authorities(g, result.circle)
    expected[[user, *g.targets[g.sources == user]]] = 0
    best = np.sort(expected)[::-1][:count]
    close(result.score, best[best > 0], rtol=0, atol=tolerance)
    close(expected[result.recommended], result.score, rtol=0, atol=tolerance)
    assert len(set(result.recommended.tolist())) == len(result.recommended)
    assert isinstance(result.score, np.ndarray)
    assert (result.recommended.dtype, result.score.dtype, result.circle.dtype) == ("int64", "float64", "int64")


@pytest.mark.unsimulated("many passes")
def test_definition(backend: Backend) -> None:
    random = np.random.default_rng(3)
    for seed in range(8):
        g = fr.rmat(6, 3 + seed % 3, directed=seed % 4 > 0, seed=seed) if seed % 3 else fr.urand(6, 2, seed=seed)
        user, count, circle = (int(random.integers(low, 64)) for low in (0, 1, 1))
        check(g, fr.who_to_follow(backend(g), user, count=count, circle=circle), user, count, circle)


def test_small(backend: Backend) -> None:
    """A user with two friends, who both follow 3."""
    g = fr.from_edges([0, 0, 1, 1, 2, 2, 2, 5], [1, 2, 3, 4, 3, 5, 0, 6], num_vertices=8, directed=True)
    result = fr.who_to_follow(backend(g), 0, count=2, circle=3)
    check(g, result, 0, 2, 3)
    assert result.recommended[0] == 3


def test_alone(backend: Backend) -> None:
    g = fr.from_edges([0, 1], [1, 2], num_vertices=5, directed=True)
    result = fr.who_to_follow(backend(g), 4)
    assert (result.recommended.tolist(), result.circle.tolist()) == ([], [4])


@pytest.mark.unsimulated("many passes")
def test_equal_scores_come_by_id(backend: Backend) -> None:
    """Integers are added up in any order: of equal ones the least ids are recommended."""
    g = fr.from_edges([0] * 3 + [1] * 6 + [2] * 6 + [3] * 6, [1, 2, 3, *range(4, 10), *range(7, 13), *range(10, 16)],
                      directed=True)  # fmt: skip
    result = fr.who_to_follow(backend(g), 0, count=8, circle=4)
    check(g, result, 0, 8, 4)
    assert result.recommended.tolist() == [7, 8, 9, 10, 11, 12, 4, 5]


@pytest.mark.parametrize("place", ["ranks:3", "ranks:2,python", "ranks:4,2x2"])
@pytest.mark.parametrize("made", ["whole", "in parts"])
@pytest.mark.skipif(SMALL, reason="no kernels are in it")
def test_parts_recommend_the_same(place: str, made: str) -> None:
    options = {"seed": 4, "directed": True}
    g = fr.rmat(6, 5, **options)
    there = fr.rmat(6, 5, placement=place, **options) if made == "in parts" else g.to(place)
    user = int(np.argmax(g.out_degree))
    expected, found = fr.who_to_follow(g, user), fr.who_to_follow(there, user)
    equal(found.recommended, expected.recommended)
    equal(found.circle, expected.circle)
    close(found.score, expected.score, rtol=0, atol=1e-12)


@pytest.mark.skipif(SMALL, reason="no kernels are in it")
def test_edges_stay_where_they_are() -> None:
    """On a disk, or compressed."""
    g = fr.rmat(8, 8, seed=4, directed=True)
    user = int(np.argmax(g.out_degree))
    expected = fr.who_to_follow(g, user)
    for there in (g.to("cpu", edges="disk"), g.compressed()):
        found = fr.who_to_follow(there, user)
        equal(found.recommended, expected.recommended)
        equal(found.score, expected.score)


def test_real_graph(real_graph: Any) -> None:
    g = real_graph("as-caida-20071105")
    user = int(np.argmax(g.out_degree))
    result = fr.who_to_follow(g, user)
    check(g, result, user, 10, 500, 1e-9)


def test_no_convergence_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    import frontier.primitives.who_to_follow as module

    monkeypatch.setattr(module, "SETTLED", 0)
    assert SETTLED > 0
    with pytest.raises(fr.NotConvergedError, match="SALSA changed by"):
        fr.who_to_follow(fr.karate(), 0)


def of_value(p, v):
    p.key[v] = p.value[v]
    return True


@pytest.mark.parametrize("low", [-(2**40), -3, 0])
def test_the_greatest(backend: Backend, low: int) -> None:
    random = np.random.default_rng(5)
    n = 20 if SMALL else 200
    g = backend(fr.path(n))
    steps = fr.Sequence(fr.Filter(of_value), greatest("best"), over="vertices")
    for high in (low + 1, low + 3, 2**60):
        value = random.integers(low, high, n)
        order = np.lexsort((np.arange(n), -value))
        for wanted in (0, 1, n // 3, n, n + 5)[:: 2 if SMALL else 1]:
            p = fr.Problem(g, value=fr.vertex("int64", value), best=fr.pile("vertex"), **greatest_fields())
            p.wanted = wanted
            steps(p)
            equal(np.sort(to_host(p.best.ids)), np.sort(order[:wanted]))
