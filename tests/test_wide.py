"""Graphs whose edge slots take 64 bits: small ones that say so, and one that needs them."""

from __future__ import annotations

from typing import Any

import numpy as np
import oracles
import pool
import programs
import pytest
from compare import equal
from conftest import Backend

import frontier as fr
from frontier import _topology, device
from frontier.execution import run


@pytest.fixture(params=["int32", "int64"])
def ids(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let graphs take 64-bit offsets from a few edge slots on; the dtype of their ids."""
    monkeypatch.setattr(_topology, "_INT32_LIMIT", 40 if request.param == "int32" else 0)
    dtype: str = request.param
    return dtype


PROGRAMS = {
    "push": (fr.Advance(pool.every, output="edge"), pool.problem, "push"),
    "thread": (fr.Advance(pool.every, where=pool.open_dst), pool.problem, "thread"),
    "pull": (fr.Advance(pool.every, where=pool.open_dst), pool.problem, "pull"),
    "edges": (fr.Sequence(fr.Split(pool.level_edge, rest="later"), fr.Advance(pool.every)), pool.problem, "push"),
    "brandes": (programs.Brandes.program(), lambda g: programs.brandes_problem(g, [0, 5]), "auto"),
    "kcore": (programs.KCore.program(), programs.kcore_problem, "auto"),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("count", [1, 2])
def test_small_graphs(agree: Any, name: str, ids: str, count: int) -> None:
    step, problem, schedule = PROGRAMS[name]
    g = fr.small_world(20, 4, 0.2, weights=(1, 9), seed=2)
    assert (g.offsets.dtype, g.targets.dtype, g.in_edges.dtype) == ("int64", ids, "int64")

    def once(p: fr.Problem) -> Any:
        kind = "edge" if name == "edges" else "vertex"
        start = fr.Frontier.all(p.graph, kind) if problem is pool.problem else None
        return run(step, p, start, pool.SCHEDULES[schedule])

    agree(g, problem, once, count)


def test_a_search(backend: Backend, ids: str) -> None:
    g = fr.karate()
    result = fr.bfs(backend(g), 0)
    equal(result.level, oracles.bfs_levels(g, 0))
    assert result.parent.dtype == ids


# -- more than 2**31 of them -----------------------------------------------------------------------------------

#: Vertices, and out-edges of each: v leads to kv + 1, ..., kv + k, as in a heap, modulo n.
N, K = 2**26, 34
NEEDED = 40 * 10**9


def heap(xp: Any) -> fr.Graph:
    """Slot s leads to s + 1 modulo n; only lists that go round the end are not in order, and are sorted."""
    targets = xp.tile((xp.arange(N, dtype=np.int32) + 1) % N, K)
    for t in range(1, K + 1):
        v = (t * N - 1) // K
        targets[v * K : (v + 1) * K].sort()
    return fr.Graph(xp.arange(N + 1, dtype=np.int64) * K, targets, directed=True, backend="cuda")


def slot(p: Any, edge: int) -> int:
    return edge


def far_end(p: Any, dst: int) -> int:
    return dst


@pytest.mark.slow
@pytest.mark.unsimulated("a very large graph")
def test_more_slots_than_32_bits_count(cuda: Backend) -> None:
    if device.free_memory("cuda") < NEEDED:
        pytest.skip(f"{device.free_memory('cuda'):,} bytes are free on the GPU, and {NEEDED:,} are needed")
    xp = device.namespace("cuda")
    g = heap(xp)
    assert g.num_edges == N * K > 2**31
    level = fr.bfs(g, 0, schedule=fr.Schedule(direction="push")).level
    begin, depth = 0, 0
    while begin < N:  # no way round the end is shorter, for it begins at a later vertex than the parent in the heap
        end = min(begin * K + 1, N) if depth else 1
        assert bool((level[begin:end] == depth).all())
        begin, depth = end, depth + 1
    p = fr.Problem(g, last=fr.scalar("int64"), sum=fr.scalar("int64"))
    assert fr.reduce(p, None, slot, "max", into="last", over="edges") == N * K - 1
    assert fr.reduce(p, None, far_end, "sum", into="sum", over="edges") == K * N * (N - 1) // 2
