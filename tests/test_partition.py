"""Partitions of graphs: every vertex has one owner, the parts are balanced, and mistakes are named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import strategies
from compare import equal
from conftest import Backend
from hypothesis import given
from hypothesis import strategies as st

import frontier as fr
from frontier.distributed.partition.cuts import most_square

PARTS = st.integers(1, 20)
METHODS = ("edges", "vertices", "hubs", "2d")


def parts_of(p: fr.Partition) -> list[int]:
    """The owner of each vertex, one by one, from the ranges."""
    found = [-1] * p.graph.num_vertices
    for part, ids in enumerate(p.ranges):
        for v in ids:
            assert found[v] == -1, "two owners"
            found[v] = part
    return found


# -- ownership ---------------------------------------------------------------------------------------------------


@given(strategies.graphs(), PARTS, st.sampled_from(METHODS))
def test_every_vertex_has_one_owner(g: fr.Graph, parts: int, method: str) -> None:
    p = fr.partition(g, parts, method=method)
    owners = parts_of(p)
    assert p.parts == parts == len(p.ranges) == len(p.slots)
    assert -1 not in owners
    equal(p.owner(np.arange(g.num_vertices)), owners)
    assert [p.owner(v) for v in range(g.num_vertices)] == owners
    assert p.starts[0] == 0
    assert p.starts[-1] == g.num_vertices
    assert p.starts.dtype == np.int64


@given(strategies.graphs(), PARTS, st.sampled_from(METHODS))
def test_slots_are_counted(g: fr.Graph, parts: int, method: str) -> None:
    p = fr.partition(g, parts, method=method)
    expected = np.array([len(block.slots) for block in p.blocks()])
    equal(p.slots, expected)
    if g.num_slots:
        assert p.imbalance == pytest.approx(expected.max() / expected.mean())


def test_owner_of_a_scalar_and_of_nothing() -> None:
    p = fr.partition(fr.karate(), 3)
    assert type(p.owner(np.int32(5))) is int
    assert p.owner([]).shape == (0,)
    assert p.owner([[0, 1], [32, 33]]).shape == (2, 2)


@pytest.mark.parametrize("wrong", [-1, 34, [0, 40]])
def test_owner_of_no_vertex(wrong: object) -> None:
    with pytest.raises(fr.GraphError, match="vertices are 0 to 33"):
        fr.partition(fr.karate(), 3).owner(wrong)


def test_owner_of_a_float() -> None:
    with pytest.raises(fr.GraphError, match="integers, not float64"):
        fr.partition(fr.karate(), 3).owner([0.5])


# -- balance -----------------------------------------------------------------------------------------------------


def weights(p: fr.Partition) -> Any:
    """What each part has to balance: the edge slots of its vertices, and 1 for each vertex."""
    return np.diff(p.graph.offsets[p.starts]) + np.diff(p.starts)


@given(strategies.graphs(max_vertices=40, max_edges=120), PARTS)
def test_edges_are_balanced_within_the_heaviest_vertex(g: fr.Graph, parts: int) -> None:
    share = (g.num_slots + g.num_vertices) / parts
    for method in ("edges", "2d"):
        assert (np.abs(weights(fr.partition(g, parts, method=method)) - share) <= g.max_degree + 2).all()


@given(strategies.graphs(max_vertices=40, max_edges=120), PARTS)
def test_dealt_hubs_are_balanced(g: fr.Graph, parts: int) -> None:
    share = (g.num_slots + g.num_vertices) / parts
    assert (weights(fr.partition(g, parts, method="hubs")) - share <= 2 * g.max_degree + 4).all()


@given(strategies.graphs(), PARTS)
def test_vertices_are_balanced(g: fr.Graph, parts: int) -> None:
    sizes = np.diff(fr.partition(g, parts, method="vertices").starts)
    assert sizes.max() - sizes.min() <= 1


def test_large_graph_is_balanced() -> None:
    g = fr.rmat(12, 8, seed=5)
    p = fr.partition(g, 16)
    assert p.imbalance < 1.1
    assert p.imbalance < fr.partition(g, 16, method="vertices").imbalance


def test_same_partition_again() -> None:
    g = fr.rmat(10, 8, seed=5)
    equal(fr.partition(g, 7).starts, fr.partition(fr.rmat(10, 8, seed=5), np.int64(7)).starts)


def test_star_and_more_parts_than_vertices() -> None:
    p = fr.partition(fr.star(3), 8)  # the centre has half of the weight and more
    assert len(parts_of(p)) == p.graph.num_vertices
    assert sum(len(ids) == 0 for ids in p.ranges) >= 8 - p.graph.num_vertices
    assert fr.partition(fr.from_edges([], [], num_vertices=0), 3).starts.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("method", METHODS)
def test_on_every_backend(backend: Backend, method: str) -> None:
    g = fr.rmat(6, 4, seed=2)
    there, here = fr.partition(backend(g), 6, method=method), fr.partition(g, 6, method=method)
    equal(there.starts, here.starts)
    equal(there.slots, here.slots)
    equal(there.owner(there.graph.targets), here.owner(here.graph.targets))
    equal(there.block(3).sources, here.block(3).sources)
    equal(there.block(3).targets, here.block(3).targets)
    level = fr.bfs(there.graph, 0).level
    assert there.exchanged(level).total == here.exchanged(fr.bfs(here.graph, 0).level).total


# -- hubs --------------------------------------------------------------------------------------------------------


@given(strategies.graphs(weights=None), PARTS)
def test_hubs_renumber_the_graph(g: fr.Graph, parts: int) -> None:
    p = fr.partition(g, parts, method="hubs")
    assert p.order is not None
    equal(np.sort(p.order), np.arange(g.num_vertices))
    equal(p.graph.out_degree, g.out_degree[p.order])
    equal(p.graph.vertices["original"], p.order)


@given(strategies.graphs(max_vertices=40), PARTS)
def test_isolated_vertices_are_last_in_each_part(g: fr.Graph, parts: int) -> None:
    p = fr.partition(g, parts, method="hubs")
    isolated = p.graph.out_degree + p.graph.in_degree == 0
    numbers = []
    for ids in p.ranges:
        mine = isolated[ids.start : ids.stop]
        assert (np.diff(mine.astype(int)) >= 0).all()
        numbers.append(mine.sum())
    assert max(numbers) - min(numbers) <= 1


def test_hubs_are_shared_out() -> None:
    g = fr.rmat(12, 8, seed=5).reordered()  # all hubs come first
    hubs = np.flatnonzero(g.out_degree > 8 * g.num_slots / (g.out_degree > 0).sum())
    p = fr.partition(g, 8, method="hubs")
    assert np.bincount(p.owner(np.flatnonzero(np.isin(p.order, hubs)))).tolist() == pytest.approx(
        [len(hubs) / 8] * 8, abs=1
    )
    assert np.bincount(fr.partition(g, 8).owner(hubs)).max() > len(hubs) / 4
    assert p.imbalance < 1.1


# -- isolated vertices -------------------------------------------------------------------------------------------


@given(strategies.graphs(max_vertices=40), PARTS, st.sampled_from(METHODS))
def test_isolated_vertices_are_dropped(g: fr.Graph, parts: int, method: str) -> None:
    p = fr.partition(g, parts, method=method, isolated="drop")
    linked = np.flatnonzero(g.out_degree + g.in_degree)
    order = np.arange(g.num_vertices) if p.order is None else p.order
    equal(np.sort(order), linked)
    if method != "hubs":
        equal(order, linked)
    equal(p.graph.out_degree, g.out_degree[order])
    assert p.graph.num_slots == g.num_slots == p.slots.sum()
    assert parts_of(p).count(-1) == 0
    assert (p.starts[0], p.starts[-1]) == (0, len(linked))


@pytest.mark.parametrize("method", METHODS)
def test_results_without_isolated_vertices_are_those_of_the_graph(method: str) -> None:
    for g in (fr.rmat(9, 4, seed=5), fr.rmat(9, 4, seed=5, directed=True), fr.rmat(9, 4, seed=5).compressed()):
        p = fr.partition(g, 6, method=method, isolated="drop")
        assert p.order is not None
        assert p.graph.num_vertices < 512
        source = int(np.argmax(g.out_degree))
        level = np.full(g.num_vertices, -1)
        level[p.order] = fr.bfs(p.graph.to("ranks:3"), int(np.flatnonzero(p.order == source)[0])).level
        equal(level, fr.bfs(g, source).level)


def test_nothing_is_copied_where_no_vertex_is_isolated() -> None:
    p = fr.partition(fr.karate(), 4, isolated="drop")
    assert p.order is None
    assert fr.partition(fr.from_edges([0], [0], num_vertices=2), 1, isolated="drop").graph.num_vertices == 1
    assert fr.partition(fr.from_edges([], [], num_vertices=3), 2, isolated="drop").starts.tolist() == [0, 0, 0]


# -- blocks ------------------------------------------------------------------------------------------------------


@given(strategies.graphs(), PARTS, st.sampled_from(METHODS), st.data())
def test_every_edge_is_in_exactly_one_block(g: fr.Graph, parts: int, method: str, data: st.DataObject) -> None:
    rows = data.draw(st.sampled_from([None, *(r for r in range(1, parts + 1) if parts % r == 0)]))
    p = fr.partition(g, parts, method=method, rows=rows)
    blocks = list(p.blocks())
    equal(np.sort(np.concatenate([block.slots for block in blocks])), np.arange(g.num_slots))
    for part, block in enumerate(blocks):
        assert block.part == part == block.column * p.rows + block.row
        equal(block.sources, p.graph.sources[block.slots])
        equal(block.targets, p.graph.targets[block.slots])
        assert (p.owner(block.sources) // p.rows == block.column).all()
        assert (p.owner(block.targets) % p.rows == block.row).all()


@pytest.mark.parametrize(("parts", "rows"), [(1, 1), (2, 1), (7, 1), (8, 2), (12, 3), (16, 4), (1024, 32)])
def test_grid_is_as_square_as_possible(parts: int, rows: int) -> None:
    assert most_square(parts) == rows
    p = fr.partition(fr.karate(), parts, method="2d")
    assert (p.rows, p.columns) == (rows, parts // rows)


def test_grid_of_two_rows() -> None:
    p = fr.partition(fr.karate(), 10, method="2d", rows=2)
    assert repr(p).startswith("Partition('2d', rows=2, columns=5, vertices=34, slots=156, imbalance=")
    assert repr(p.block(3)) == f"Block(part=3, row=1, column=1, edges={p.slots[3]})"


def test_wrong_rows_and_parts() -> None:
    with pytest.raises(fr.GraphError, match="8 parts cannot be in 3 rows"):
        fr.partition(fr.karate(), 8, method="2d", rows=3)
    with pytest.raises(fr.GraphError, match="rows must be an integer of at least 1, not 0"):
        fr.partition(fr.karate(), 8, rows=0)
    with pytest.raises(fr.GraphError, match="part 8: parts are 0 to 7"):
        fr.partition(fr.karate(), 8).block(8)


@pytest.mark.parametrize("part", ["0", -1, 1.0, None, True])
def test_a_block_of_no_part(part: object) -> None:
    with pytest.raises(fr.GraphError, match="part must be an integer of at least 0, not "):
        fr.partition(fr.karate(), 8).block(part)  # type: ignore[arg-type]


# -- as a value --------------------------------------------------------------------------------------------------


def test_repr() -> None:
    text = repr(fr.partition(fr.karate(), 4))
    assert text == "Partition('edges', parts=4, vertices=34, slots=156, imbalance=1.128)"


def test_it_cannot_be_changed() -> None:
    p = fr.partition(fr.karate(), 4)
    with pytest.raises(AttributeError):
        p.method = "other"  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        p.starts[0] = 1


@pytest.mark.parametrize("parts", [0, -1, 1.5, "2", True, None])
def test_wrong_number_of_parts(parts: object) -> None:
    with pytest.raises(fr.GraphError, match="parts must be an integer of at least 1"):
        fr.partition(fr.karate(), parts)  # type: ignore[arg-type]


def test_no_graph() -> None:
    with pytest.raises(fr.GraphError, match=r"partition takes a frontier\.Graph, not builtins\.list: fr\.from_edges"):
        fr.partition([(0, 1)], 2)  # type: ignore[arg-type]


def test_unknown_method() -> None:
    with pytest.raises(fr.GraphError, match=r"method must be one of 'edges', .*, not 'metis'"):
        fr.partition(fr.karate(), 2, method="metis")


def test_unknown_treatment_of_isolated_vertices() -> None:
    with pytest.raises(fr.GraphError, match="isolated must be 'keep' or 'drop', not True"):
        fr.partition(fr.karate(), 2, isolated=True)  # type: ignore[arg-type]


def test_isolated_vertices_of_a_graph_in_parts_stay() -> None:
    g = fr.rmat(6, 4, seed=1, placement="ranks:2")
    with pytest.raises(fr.GraphError, match=r"a subgraph of a graph in parts is not possible: g.to\("):
        fr.partition(g, 2, isolated="drop")
