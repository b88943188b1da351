"""Graphs whose edge slots take 64 bits: small ones that say so, and one that needs them."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import oracles
import pool
import programs
import pytest
from compare import equal
from conftest import Backend

import frontier as fr
from frontier.graph import topology
from frontier.memory import detection
from frontier.program.execution import run


@pytest.fixture(params=["int32", "int64"])
def ids(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let graphs take 64-bit offsets from a few edge slots on; the dtype of their ids."""
    monkeypatch.setattr(topology, "_INT32_LIMIT", 40 if request.param == "int32" else 0)
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
#: Bytes: the graph, and its in-edges while they are sorted.
NEEDED = 72 * 10**9

Check = Callable[[fr.Graph], None]


def heap(backend: str, n: int, k: int) -> fr.Graph:
    """Slot s leads to s + 1 modulo n; only lists that go round the end are not in order, and are sorted."""
    xp = fr.Placement.parse(backend).memory.xp
    targets, row = xp.empty(n * k, np.int32), (xp.arange(n, dtype=np.int32) + 1) % n
    for i in range(k):
        targets[i * n : (i + 1) * n] = row
    for t in range(1, k + 1):
        v = (t * n - 1) // k
        targets[v * k : (v + 1) * k].sort()
    return fr.Graph(xp.arange(n + 1, dtype=np.int64) * k, targets, directed=True, placement=backend, check=False)


def shape(g: fr.Graph) -> tuple[Any, int, int]:
    return g.placement.memory.xp, g.num_vertices, g.num_slots // g.num_vertices


def before(g: fr.Graph, v: Any, j: Any) -> Any:
    """The j-th of the k vertices that lead to v: slots v - 1 + jn do."""
    _, n, k = shape(g)
    return ((v - 1) % n + j * n) // k


def slot(p: Any, edge: int) -> int:
    return edge


def far_end(p: Any, dst: int) -> int:
    return dst


def pushes(g: fr.Graph) -> None:
    _search(g, "push")


def pulls(g: fr.Graph) -> None:
    _search(g, "pull")


def _search(g: fr.Graph, direction: str) -> None:
    xp, n, k = shape(g)
    found = fr.bfs(g, 0, schedule=fr.Schedule(direction=direction))
    begin, depth = 0, 0
    while begin < n:  # no way round the end is shorter, for it begins at a later vertex than the parent in the heap
        end = min(begin * k + 1, n) if depth else 1
        assert bool((found.level[begin:end] == depth).all())
        begin, depth = end, depth + 1
    v, parent = xp.arange(1, n, dtype=np.int64), found.parent[1:].astype(np.int64)
    assert bool(((v - 1 - k * parent) % n < k).all())
    assert bool((found.level[parent] == found.level[1:] - 1).all())


def reductions(g: fr.Graph) -> None:
    _, n, k = shape(g)
    p = fr.Problem(g, last=fr.scalar("int64"), sum=fr.scalar("int64"))
    assert fr.reduce(p, None, slot, "max", into="last", over="edges") == n * k - 1
    assert fr.reduce(p, None, far_end, "sum", into="sum", over="edges") == k * n * (n - 1) // 2


def in_edges(g: fr.Graph) -> None:
    xp, n, k = shape(g)
    assert bool((g.in_offsets == g.offsets).all())
    for lo in range(0, n, 2**20):
        v = xp.arange(lo, min(lo + 2**20, n), dtype=np.int64)[:, None]
        there = xp.reshape(g.in_sources[lo * k : (lo + len(v)) * k], (len(v), k))
        assert bool((there == before(g, v, xp.arange(k, dtype=np.int64))).all())


def components(g: fr.Graph) -> None:
    found = fr.connected_components(g)
    assert found.count == 1
    assert not bool(found.label.any())


def ranks(g: fr.Graph) -> None:
    """As many edges lead to a vertex as from it: ranks that jumps leave alone stay alike, and the rest is two sums."""
    xp, n, k = shape(g)
    v = xp.arange(n, dtype=np.int64)
    jumps = (v + 1.0) / (n * (n + 1.0) / 2)
    rank = fr.pagerank(g, personalization=jumps, tolerance=0, max_iterations=2).rank
    come = sum(jumps[before(g, v, j)] for j in range(k))
    expected = 0.85**2 / n + 0.85 * 0.15 / k * come + 0.15 * jumps
    assert bool((abs(rank - expected) <= 1e-9 * expected).all())


CHECKS: tuple[Check, ...] = (pushes, reductions, in_edges, pulls, components, ranks)
CHECKED = pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)


@CHECKED
def test_a_heap(compiled: Backend, check: Check) -> None:
    check(heap(compiled.name, 300, 7))


@pytest.fixture(scope="module")
def alone(cuda: Backend, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Wait for other processes of the same test run: two of these graphs may not fit a GPU together."""
    fcntl = pytest.importorskip("fcntl", reason="locks are those of POSIX")
    with open(tmp_path_factory.getbasetemp().parent / "large.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
        gc.collect()
        detection.cupy().get_default_memory_pool().free_all_blocks()


@pytest.fixture(scope="module")
def large(cuda: Backend, alone: None) -> fr.Graph:
    """A graph with more slots than 32 bits count, and its in-edges once they are asked for."""
    free = fr.Placement.parse(cuda.name).memory.free()
    if free < NEEDED:
        pytest.skip(f"{free:,} bytes are free on the GPU, and {NEEDED:,} are needed")
    return heap(cuda.name, N, K)


@CHECKED
@pytest.mark.deep
@pytest.mark.unsimulated("a very large graph")
def test_more_slots_than_32_bits_count(large: fr.Graph, check: Check) -> None:
    assert large.num_slots == N * K > 2**31
    check(large)
