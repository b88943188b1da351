"""Partitions of graphs: every vertex has one owner, the parts are balanced, and mistakes are named."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from compare import equal
from conftest import Backend
from hypothesis import given
from hypothesis import strategies as st

import frontier as fr

PARTS = st.integers(1, 20)
METHODS = ("edges", "vertices")


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
    expected = np.zeros(parts, np.int64)
    np.add.at(expected, p.owner(g.sources), 1)
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


@given(strategies.graphs(max_vertices=40, max_edges=120), PARTS)
def test_edges_are_balanced_within_the_heaviest_vertex(g: fr.Graph, parts: int) -> None:
    p = fr.partition(g, parts)
    weight = p.slots + np.diff(p.starts)
    share = (g.num_slots + g.num_vertices) / parts
    assert (np.abs(weight - share) <= g.max_degree + 2).all()


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


def test_on_every_backend(backend: Backend) -> None:
    g = fr.rmat(6, 4, seed=2)
    there, here = fr.partition(backend(g), 5), fr.partition(g, 5)
    equal(there.starts, here.starts)
    equal(there.slots, here.slots)
    equal(there.owner(there.graph.targets), here.owner(g.targets))


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


def test_unknown_method() -> None:
    with pytest.raises(fr.GraphError, match=r"method must be one of 'edges', .*, not 'metis'"):
        fr.partition(fr.karate(), 2, method="metis")
