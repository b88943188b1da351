"""Doubly compressed offsets: the same numbers and results as with plain ones, and blocks of a grid that have them."""

from __future__ import annotations

import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest
from compare import close, equal, primitives_agree, workers
from conftest import SIMULATED, Backend
from hypothesis import given
from hypothesis import strategies as st

import frontier as fr
from frontier.distributed.ranks.block_graphs import numbered, taken
from frontier.distributed.ranks.grid import Grid
from frontier.graph import sparse_offsets, topology
from frontier.graph.sparse_offsets import SparseOffsets

WEIGHTED: dict[str, Any] = {"seed": 3, "weights": (1, 9)}

in_grids = pytest.mark.skipif(SIMULATED, reason="no kernels are in it")


def sparse(offsets: Any, first: int = 0) -> SparseOffsets:
    """Offsets compressed; vertices before the first have no edges."""
    columns = np.flatnonzero(np.diff(offsets))
    stop = columns[-1] + 1 if len(columns) else first
    return SparseOffsets.of(columns, np.append(offsets[columns], offsets[-1]), range(first, stop), len(offsets) - 1)


# ---- as an array ---------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 3), max_size=200), st.integers(0, 70), st.integers(0, 70))
def test_they_are_the_offsets(degrees: list[int], before: int, after: int) -> None:
    degree = np.array([0] * before + degrees + [0] * after, np.int32)
    plain = np.append(0, np.cumsum(degree)).astype(np.int32)
    made = sparse(plain, before)
    assert (len(made), made.dtype) == (len(plain), np.int32)
    equal(np.asarray(made), plain)
    equal(made[:], plain)
    equal(made[3::2], plain[3::2])
    assert [made[v] for v in range(-len(plain), len(plain))] == 2 * plain.tolist()
    with pytest.raises(IndexError):
        made[len(plain)]
    begins, lengths = made.lists(np.arange(len(degree)))
    equal(begins, plain[:-1])
    equal(lengths, degree)
    assert made.longest == degree.max(initial=0)
    equal(np.asarray(pickle.loads(pickle.dumps(made))), plain)
    assert made.nbytes == SparseOffsets.bytes_of(np.count_nonzero(degree), made.length, 4)


def test_bits_are_counted_without_a_function_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    words = np.append(np.random.default_rng(1).integers(0, 2**32, 500), [0, 2**32 - 1]).astype(np.uint32)
    monkeypatch.delattr(np, "bitwise_count", raising=False)
    equal(sparse_offsets._bits(words), [int(word).bit_count() for word in words])


# ---- in compiled code ----------------------------------------------------------------------------------------


def compressed(g: fr.Graph) -> fr.Graph:
    """The same graph with doubly compressed offsets of out-edges, and of in-edges where these are others."""
    made = fr.Graph(sparse(g.offsets), g.targets, g.weights, directed=g.directed, check=False)  # type: ignore[arg-type]
    if g.directed:
        made._topology.derived.update(in_lists=(sparse(g.in_offsets), g.in_sources), in_edges=g.in_edges)
    return made


def only_inwards(g: fr.Graph) -> fr.Graph:
    """The same graph with doubly compressed offsets of in-edges alone, as a block has them that keeps slots."""
    made = fr.Graph(g.offsets, g.targets, g.weights, directed=True, check=False)
    made._topology.derived.update(in_lists=(sparse(g.in_offsets), g.in_sources), in_edges=g.in_edges)
    return made


BALANCES = ("thread", "merge_path", *(("block", "twc", "degree_classes") if SIMULATED else ()))
SCHEDULES = [*(fr.Schedule(direction="push", balance=name) for name in BALANCES), fr.Schedule(direction="pull")]


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
@pytest.mark.parametrize("change", [compressed, only_inwards])
def test_searches_and_advances_find_the_same(backend: Backend, change: Any, schedule: fr.Schedule) -> None:
    g = fr.rmat(4 if SIMULATED else 8, 2, directed=True, **WEIGHTED)
    there = backend(change(g))
    assert there._topology.sparse
    source = int(np.argmax(g.out_degree))
    for count in (1, 3):
        with workers(count):
            equal(fr.bfs(there, source, schedule=schedule).level, fr.bfs(g, source).level)
            p = fr.Problem(there, far=fr.vertex("int64", -1, combine="max"))
            everything = fr.Frontier.all(there)  # whose offsets are the prefix sum
            found = fr.Advance(reach, schedule=schedule)(p, everything)
            equal(p.far, largest(g))
            equal(np.sort(found.host_ids()), np.flatnonzero(g.in_degree))


@pytest.mark.parametrize("change", [compressed, only_inwards])
def test_primitives_find_the_same(compiled: Backend, change: Any) -> None:
    g = fr.rmat(4 if SIMULATED else 8, 2, directed=True, **WEIGHTED)
    there = compiled(change(g))
    source = int(np.argmax(g.out_degree))
    equal(fr.sssp(there, source).distance, fr.sssp(g, source).distance)
    if not SIMULATED:
        close(fr.pagerank(there).rank, fr.pagerank(g).rank, rtol=1e-9)
        close(fr.betweenness(there, [source]).centrality, fr.betweenness(g, [source]).centrality, rtol=1e-9)
        equal(fr.core_numbers(there).core, fr.core_numbers(g).core)


def reach(p: Any, src: int, dst: int) -> bool:
    fr.atomic_max(p.far, dst, src)
    return True


def largest(g: fr.Graph) -> Any:
    """The largest source of an edge to each vertex, or -1."""
    found = np.full(g.num_vertices, -1)
    np.maximum.at(found, g.targets, g.sources)
    return found


# ---- blocks of a grid ------------------------------------------------------------------------------------------


def blocks(g: fr.Graph) -> list[fr.Graph]:
    """Those that runs have made of a graph, on all parts."""
    divided = g._topology.divided
    tops = [g._topology] if divided is None else [part._topology for part in divided.parts]
    found = [each for top in tops for name, each in top.built().items() if name.startswith("cached block ")]
    assert found
    return found


@in_grids
@pytest.mark.parametrize("parted", [False, True])
def test_blocks_of_a_run_are_stored_doubly_compressed(parted: bool) -> None:
    where = "ranks:16,4x4"
    g = fr.rmat(10, 2, placement=where, **WEIGHTED) if parted else fr.rmat(10, 2, **WEIGHTED).to(where)
    fr.bfs(g, 1)
    fr.sssp(g, 1)
    made = blocks(g)
    assert len(made) == 32  # also for edges="in"
    plain = 4 * (g.num_vertices + 1)
    for block in made:
        offsets: Any = block._topology.offsets
        assert isinstance(offsets, SparseOffsets)
        equal(offsets.columns, np.flatnonzero(block.out_degree))
        assert len(offsets.pointers) == len(offsets.columns) + 1
        assert block.max_degree == block.out_degree.max()
    assert sum(block._topology.offsets.nbytes for block in made) < plain * len(made) / 4
    assert sum(block.num_slots for block in made) == 2 * g.num_slots


@in_grids
def test_few_bytes_decide_how_a_block_is_stored() -> None:
    made = []
    for g in (fr.path(999), fr.complete(40)):  # in blocks of which half of the vertices have edges, and all
        there = g.to("ranks:2,2x1")
        fr.bfs(there, 0)
        made.append({type(block._topology.offsets) for block in blocks(there)})
    assert made == [{SparseOffsets}, {np.ndarray}]


@in_grids
@pytest.mark.parametrize("where", ["ranks:4,2x2", "ranks:6,2x3", "ranks:16,4x4", "ranks:4,2x2,python"])
@pytest.mark.parametrize("parted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_primitives_are_the_same(where: str, directed: bool, parted: bool) -> None:
    g = fr.rmat(7, 3, directed=directed, **WEIGHTED)
    there = fr.rmat(7, 3, directed=directed, placement=where, **WEIGHTED) if parted else g.to(where)
    primitives_agree(g, there)
    assert any(isinstance(block._topology.offsets, SparseOffsets) for block in blocks(there))


def widest(p: Any, src: int, dst: int, edge: int, weight: int) -> bool:
    fr.atomic_max(p.far, dst, edge + weight)
    return True


@in_grids
@pytest.mark.parametrize("edges", ["in", "out"])
def test_edges_keep_their_slots(edges: str) -> None:
    made = []
    for there in (g := fr.rmat(7, 2, directed=True, **WEIGHTED), g.to("ranks:6,2x3")):
        p = fr.Problem(there, far=fr.vertex("int64", -1, combine="max"))
        fr.Advance(widest, edges=edges, over="vertices")(p)
        made.append(np.asarray(p.far))
    equal(made[1], made[0])
    assert all(block._topology.sparse for block in blocks(there))


@in_grids
@pytest.mark.parametrize("parted", [False, True])
def test_a_graph_without_edges(parted: bool) -> None:
    none = np.empty(0, np.int32)
    where = {"placement": "ranks:4,2d"} if parted else {}
    g = fr.from_edges(none, none, num_vertices=70, **where).to("ranks:4,2d")
    equal(fr.bfs(g, 3).level, np.where(np.arange(70) == 3, 0, -1))
    made = blocks(g)
    assert [(block.num_vertices, block.num_slots) for block in made] == [(70, 0)] * 4
    assert all(block._topology.offsets.nbytes < 4 * 35 for block in made)


@in_grids
@pytest.mark.parametrize("parted", [False, True])
def test_offsets_and_ids_of_64_bits(monkeypatch: pytest.MonkeyPatch, parted: bool) -> None:
    g = fr.rmat(7, 3, **WEIGHTED)
    monkeypatch.setattr(topology, "_INT32_LIMIT", 100)
    wide = fr.rmat(7, 3, placement="ranks:4,2d", **WEIGHTED) if parted else fr.rmat(7, 3, **WEIGHTED).to("ranks:4,2d")
    assert (wide.offsets.dtype, wide.id_dtype) == (np.int64, np.int64)
    primitives_agree(g, wide)
    assert all(block._topology.offsets.pointers.dtype == np.int64 for block in blocks(wide))


@pytest.mark.parametrize("make", [taken, numbered])
@pytest.mark.parametrize("inwards", [False, True])
def test_a_block_is_made_in_little_memory(make: Any, inwards: bool) -> None:
    n = 1 << 18
    ends = np.random.default_rng(1).integers(0, n, (2, 1000))
    g = fr.from_edges(*ends, num_vertices=n)
    starts = np.linspace(0, n, 17).astype(np.int64)
    tracemalloc.start()
    make(g, Grid(4, 4, 5), starts, None, inwards)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * n  # plain offsets and counts of all vertices take 12
