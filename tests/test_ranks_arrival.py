"""Parts come to an exchange in whatever order, late, and with any partition: every result is the same, bit by bit."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest

import frontier as fr
from frontier.distributed.ranks import walk
from frontier.distributed.transport.threads import Threads
from frontier.memory import detection

pytestmark = pytest.mark.skipif(detection.simulated(), reason="no kernels are in it")


def results(place):
    """What primitives find, in which order merging matters: parents that are claimed, sums of floats, least labels."""
    made = {"seed": 3, "weights": (0.1, 0.9), "directed": True}
    whole = "divided" not in place
    g = fr.rmat(7, 6, placement=None if whole else place.replace("divided", "ranks"), **made)
    g = g.to(place) if whole else g
    return [
        fr.bfs(g, 5).parent, fr.sssp(g, 5).distance, fr.pagerank(g).rank, fr.betweenness(g, [5, 9]).centrality,
        fr.bfs(g, 5, schedule=fr.Schedule(direction="pull")).level,
    ]  # fmt: skip


def equal(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("place", ["ranks:3", "divided:3"])
def test_the_order_of_arrival_does_not_matter(place, monkeypatch):
    expected = results(place)
    meet, meetings = Threads.meet, itertools.count()
    orders = list(itertools.permutations(range(3)))
    seen = set()

    def in_turn(self, rank, data):
        """Each meeting has another order, in which the parts come."""
        order = orders[self._meetings % len(orders)]
        until = time.monotonic() + 60
        while len(self._came) < order.index(rank) and time.monotonic() < until:
            time.sleep(0)
        seen.add((order, order.index(rank), len(self._came)))
        next(meetings)
        return meet(self, rank, data)

    monkeypatch.setattr(Threads, "meet", in_turn)
    assert equal(results(place), expected)
    assert next(meetings) > 100
    assert seen == {(order, at, at) for order in orders for at in range(3)}


@pytest.mark.parametrize("place", ["ranks:3", "divided:3"])
@pytest.mark.parametrize("rank", range(3))
def test_a_part_that_is_always_late_does_not_matter(place, rank, monkeypatch):
    expected = results(place)
    meet = Threads.meet

    def late(self, who, data):
        if who == rank:
            time.sleep(1e-3)
        return meet(self, who, data)

    monkeypatch.setattr(Threads, "meet", late)
    assert equal(results(place), expected)


@pytest.mark.parametrize("seed", range(6))
def test_any_partition_gives_the_same(seed, monkeypatch):
    def starts(g, parts):
        cuts = np.random.default_rng([seed, g.num_vertices]).integers(0, g.num_vertices + 1, parts - 1)
        return np.array([0, *sorted(cuts), g.num_vertices])

    g = fr.rmat(7, 6, seed=3, weights=(1, 9))
    with monkeypatch.context() as patch:
        patch.setattr(walk, "starts_of", starts)
        there = g.to("ranks:4")
        found = fr.bfs(there, 5)
        assert np.array_equal(found.level, fr.bfs(g, 5).level)
        fr.verify.bfs(g, found)
        assert np.array_equal(fr.sssp(there, 5).distance, fr.sssp(g, 5).distance)
        assert np.array_equal(fr.connected_components(there).label, fr.connected_components(g).label)
        np.testing.assert_allclose(fr.pagerank(there).rank, fr.pagerank(g).rank, rtol=1e-9)
