"""Graphs with compressed lists: the same ids and results as with plain ones, wherever the lists are.

``FRONTIER_TEST_LISTS=compressed`` runs the tests of operators and primitives on such graphs.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import equal
from conftest import SIMULATED, Backend
from strategies import random_graphs

import frontier as fr
from frontier.backends.run import windows
from frontier.graph.packed import BLOCK, PackedIds, packed_ids
from frontier.memory.arrays import to_host

SLOTS = np.dtype(np.int32)


@pytest.mark.parametrize("size", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 1000])
@pytest.mark.parametrize("spread", [1, 2, 1000, 2**31 - 1])
def test_ids_come_back(size: int, spread: int) -> None:
    ids = np.random.default_rng(size).integers(0, spread, size).astype(np.int32)
    made = packed_ids(ids, SLOTS)
    equal(made.plain(), ids)
    assert made.plain().dtype == ids.dtype
    assert len(made) == size
    assert len(made.words) <= (spread - 1).bit_length() * -(-size // BLOCK) + 2


def test_ids_of_64_bits() -> None:
    ids = np.random.default_rng(1).integers(2**40, 2**40 + 2**32, 500)
    equal(packed_ids(ids, SLOTS).plain(), ids)
    with pytest.raises(fr.GraphError, match="differ by less than 2\\*\\*32"):
        packed_ids(np.array([0, 2**32]), SLOTS)


def test_a_block_has_the_bits_of_its_largest_difference() -> None:
    ids = np.concatenate([np.arange(7, 7 + BLOCK), np.full(BLOCK, 99), [5, 5 + 2**20]]).astype(np.int32)
    assert packed_ids(ids, SLOTS).frames.tolist() == [0, 7, 5, 99, 5, 5, 26]


@pytest.mark.parametrize("directed", [False, True])
def test_the_graph_looks_the_same(backend: Backend, directed: bool) -> None:
    g = fr.rmat(4, 3, seed=2, directed=directed, weights=(1, 9))
    h = backend(g).compressed()
    assert h.placement == backend(g).placement
    assert h._topology.packed
    assert h.compressed() is h
    assert (h.num_slots, h.num_edges, h.directed, h.id_dtype) == (g.num_slots, g.num_edges, directed, np.int32)
    for name in ("offsets", "targets", "weights", "sources", "in_offsets", "in_sources", "in_edges", "in_degree"):
        equal(to_host(getattr(h, name)), getattr(g, name))
    assert h.targets.dtype == g.targets.dtype
    assert isinstance(h._in_lists()[1] if directed else h._topology.ends, PackedIds)
    back = h.decompressed()
    assert not back._topology.packed
    assert back.decompressed() is back
    assert ("compressed lists" in repr(h), "compressed lists" in repr(back)) == (True, False)
    equal(to_host(back.targets), g.targets)
    equal(to_host(back.in_sources), g.in_sources)


def test_other_graphs_of_it(tmp_path: Path) -> None:
    g = fr.rmat(6, 4, seed=2, weights=(1, 9))
    h = g.compressed()
    again = pickle.loads(pickle.dumps(h))
    assert again._topology.packed
    equal(again.targets, g.targets)
    for change in (
        lambda g: g.with_weights(None), lambda g: g.with_columns(edges={"time": np.arange(g.num_slots)}),
        lambda g: g.to("python"),
    ):  # fmt: skip
        assert change(h)._topology.packed
        equal(change(h).targets, g.targets)
    for change in (
        lambda g: g.reordered(), lambda g: g.contracted(np.arange(g.num_vertices) // 2),
        lambda g: g.induced(fr.Frontier(g, range(20))), lambda g: g.to("ranks:2"),
    ):  # fmt: skip
        assert not change(h)._topology.packed
        equal(np.asarray(change(h).targets), np.asarray(change(g).targets))
    fr.write(h, tmp_path / "h.npz")
    equal(fr.read(tmp_path / "h.npz").targets, g.targets)


def test_memory_is_counted() -> None:
    g = fr.grid(100, 100)
    h = g.compressed()
    words = (h.memory_estimate().csr - g.offsets.nbytes) / h.num_slots
    assert words < 0.5 * g.targets.itemsize
    assert h.memory_estimate("bfs").fields == g.memory_estimate("bfs").fields


def test_plain_targets_are_not_kept() -> None:
    h = fr.karate().compressed()
    found = h.targets
    assert h.targets is found
    del found
    assert h._topology.ends._plain() is None  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="read-only"):
        h.targets[0] = 1


# ---- results ---------------------------------------------------------------------------------------------

#: What runs, and what of its result is compared.
RESULTS: dict[str, Callable[[fr.Graph], Any]] = {
    "bfs": lambda g: fr.bfs(g, 0).level,
    "bfs, pull": lambda g: fr.bfs(g, 0, schedule=fr.Schedule(direction="pull")).level,
    "sssp": lambda g: fr.sssp(g, 0).distance,
    "components": lambda g: fr.connected_components(g).label,
    "pagerank": lambda g: fr.pagerank(g, tolerance=0.01).rank,
    "triangles": lambda g: fr.triangles(g, per_vertex=True).per_vertex,
    "core numbers": lambda g: fr.core_numbers(g).core,
    "labels": lambda g: fr.label_propagation(g, max_iterations=3).label,
}


def same(there: fr.Graph, here: fr.Graph, name: str) -> None:
    found, expected = (to_host(RESULTS[name](each)) for each in (there, here))
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)
    else:
        equal(found, expected)


def graphs() -> list[fr.Graph]:
    """Random ones, and one with a list for a whole block of threads."""
    few = SIMULATED
    given = random_graphs(
        2 if few else 8, seed=7, max_vertices=30 if few else 300, parallel=True, weights=("int32",)
    )
    star = fr.star(40 if few else 3000)
    return [*given, star.with_weights(np.ones(star.num_slots, np.int32))]


@pytest.mark.parametrize("name", RESULTS)
def test_primitives(compiled: Backend, name: str) -> None:
    for g in graphs():
        same(compiled(g.compressed()), g, name)


@pytest.mark.parametrize("name", RESULTS)
def test_in_the_hosts_memory(cuda: Backend, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words of lists arrive window by window, frames are on the GPU."""
    monkeypatch.setattr(windows, "SLOTS", 64 if SIMULATED else 256)
    for g in graphs():
        there = g.compressed().to(cuda.name, edges="host")
        assert there._topology.packed
        same(there, g, name)
        if name == "pagerank":
            same(g.to(cuda.name, edges="host").compressed(), g, name)


@pytest.mark.unsimulated("memory is of one kind there")
@pytest.mark.parametrize("name", ["bfs", "sssp", "pagerank"])
def test_in_both_memories(cuda: Backend, name: str) -> None:
    g = fr.rmat(16, 16, seed=1, weights=(1, 9))
    h = g.compressed()
    there = h.to(cuda.name, edges="auto", memory=h.num_slots * 3)
    assert "host and device (" in repr(there)
    same(there, g, name)


def test_on_the_disk() -> None:
    g = fr.rmat(10, 8, seed=1)
    there = g.compressed().to("cpu", edges="disk")
    assert isinstance(there._topology.ends.words.base, np.memmap) or there.placement.residence["edges"] == "disk"
    same(there, g, "pagerank")


# ---- functors that read lists themselves ---------------------------------------------------------------------


def farthest(p, v):  # type: ignore[no-untyped-def]
    """The largest difference of ids between v and a neighbour, and the number of the first such slot."""
    most = -1
    for e in fr.neighbours(p, v):
        apart = abs(fr.target(p, e) - v)
        if apart > most:
            most = apart
            p.at[v] = e
    p.most[v] = most


@pytest.mark.parametrize("check", [False, True])
def test_functors_read_targets(backend: Backend, check: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if check:
        monkeypatch.setenv("FRONTIER_CHECK", "1")
    g = fr.rmat(5, 4, seed=3)
    found = []
    for each in (g, backend(g).compressed()):
        p = fr.Problem(each, most=fr.vertex("int64"), at=fr.vertex("int64", -1))
        fr.compute(p, fr.Frontier.all(each), farthest)
        found.append((to_host(p.most), to_host(p.at)))
    equal(found[0][0], found[1][0])
    equal(found[0][1], found[1][1])
