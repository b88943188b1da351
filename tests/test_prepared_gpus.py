"""Prepared calls on several GPUs: the same as plain ones, in the memory of the call before on every GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_fused import SIMULATED
from test_spread_fields import several  # noqa: F401  # a fixture

import frontier as fr
from frontier.distributed.devices.fused import FusedExecution
from frontier.memory.arrays import to_host
from frontier.primitives.bfs import BFS, bfs_problem
from frontier.primitives.cc import Hooking, components_problem

pytestmark = pytest.mark.gpu


def graph() -> fr.Graph:
    return fr.rmat(4 if SIMULATED else 9, 6, seed=3, weights=(1, 9))


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How runs on several GPUs have begun: anew, or again."""
    found: list[str] = []
    make, again = FusedExecution.__init__, FusedExecution.again

    def making(self: FusedExecution, *given: Any) -> None:
        make(self, *given)
        found.append("anew")

    def repeating(self: FusedExecution, f: Any) -> bool:
        done = again(self, f)
        found.extend(["again"] * done)
        return done

    monkeypatch.setattr(FusedExecution, "__init__", making)
    monkeypatch.setattr(FusedExecution, "again", repeating)
    return found


def test_searches(several: str, begun: list[str]) -> None:  # noqa: F811
    g = graph()
    there = g.to(several)
    search = fr.bfs.prepare(there)
    for source in (0, 7, 7, 3):
        assert np.array_equal(to_host(search(source).level), fr.bfs(g, source).level)
    assert begun == ["anew", "again", "again", "again"]
    plain = fr.bfs(there, 5)  # which takes the memory that the prepared call has given back
    assert np.array_equal(to_host(search(7).level), fr.bfs(g, 7).level)
    assert np.array_equal(to_host(plain.level), fr.bfs(g, 5).level)
    mine = to_host(search(2).level).copy()
    search(3)
    assert np.array_equal(mine, fr.bfs(g, 2).level)


def test_components_and_an_error(several: str, begun: list[str]) -> None:  # noqa: F811
    g = graph()
    there = g.to(several)
    run = Hooking(components_problem(there)).prepare()
    expected = fr.connected_components(g).label
    for _ in range(3):
        assert np.array_equal(to_host(run().label), expected)
    assert begun == ["anew", "again", "again"]
    with pytest.raises(AttributeError):
        run(labels=1)
    assert np.array_equal(to_host(run().label), expected)
    assert begun[-1] == "anew"


def test_values_may_be_given(several: str) -> None:  # noqa: F811
    g = graph()
    n = g.num_vertices
    run = BFS(bfs_problem(g.to(several), 0)).prepare()
    level = np.full(n, -1, np.int32)
    for source, given in ((3, level), (5, -1), (5, level), (0, -1)):
        found = run(source=source, level=given)
        assert np.array_equal(to_host(found.level), fr.bfs(g, source).level)


def test_initial_numbers_may_change(several: str) -> None:  # noqa: F811
    g = graph()
    katz = fr.katz.prepare(g.to(several), alpha=0.01, normalized=False)
    for beta in (1.0, 2.0, 0.0, 1.0):
        expected = fr.katz(g, alpha=0.01, normalized=False, beta=beta).centrality
        assert np.allclose(to_host(katz(beta=beta).centrality), expected)


def put(p, v):
    p.b[v] = 2 * p.a[v] + 1


class Doubling(fr.Enactor):
    loop = fr.Loop(fr.Compute(put, over="vertices"), fr.Swap("a", "b"), times=3)


def test_swapped_fields_begin_anew(several: str, begun: list[str]) -> None:  # noqa: F811
    g = graph().to(several)
    run = Doubling(fr.Problem(g, a=fr.vertex("int64", 1), b=fr.vertex("int64"))).prepare()
    for _ in range(3):
        assert set(to_host(run().a).tolist()) == {15}
    assert begun == ["anew"] * 3


def test_ranks(several: str) -> None:  # noqa: F811
    g = graph()
    rank = fr.pagerank.prepare(g.to(several), max_iterations=3, tolerance=0)
    expected = fr.pagerank(g, max_iterations=3, tolerance=0).rank
    for _ in range(3):
        assert np.allclose(to_host(rank().rank), expected)
