"""Frontier: a set of vertices or edges; its operations, its ids, what it refuses; "all" without storing it."""

from __future__ import annotations

import numpy as np
import pytest
from compare import ids
from hypothesis import given
from hypothesis import strategies as st
from strategies import frontier_ids, frontiers, graphs

import frontier as fr

kinds = st.sampled_from(["vertex", "edge"])


@given(graphs(), kinds, st.data())
def test_it_is_a_set(backend, g, kind, data):
    g = backend(g)
    a = data.draw(frontiers(g, kind))
    b = data.draw(frontiers(g, kind))
    x, y = set(a), set(b)
    for made, expected in ((a | b, x | y), (a & b, x & y), (a - b, x - y)):
        assert ids(made) == (kind, sorted(expected))
        assert len(made) == len(expected)
        assert bool(made) == bool(expected)
        assert made == fr.Frontier(g, np.array(sorted(expected), dtype=np.int64), kind)
        assert np.flatnonzero(made.mask).tolist() == sorted(expected)
    assert (a == b) == (x == y)
    assert (a != b) == (x != y)


@given(graphs(), kinds, st.data())
def test_ids_have_the_graphs_dtype_and_no_duplicates(g, kind, data):
    some = data.draw(frontier_ids(g, kind))
    f = fr.Frontier(g, np.concatenate([some, some[::-1]]), kind)
    assert ids(f) == (kind, sorted(some.tolist()))
    assert f.ids.dtype == (g.targets if kind == "vertex" else g.offsets).dtype
    for i in range(-1, f.capacity + 1):
        assert (i in f) == (i in some.tolist())
    assert "0" not in f


@given(graphs(), kinds)
def test_all(g, kind):
    f = fr.Frontier.all(g, kind)
    size = g.num_vertices if kind == "vertex" else g.num_slots
    assert f.is_all
    assert len(f) == f.capacity == size
    assert list(f) == list(range(size))
    assert f == fr.Frontier(g, np.arange(size), kind)
    assert (f | f).is_all
    assert (f & f).is_all
    assert not f - f


def test_a_list_or_a_range_will_do():
    g = fr.path(5)
    for some in ([3, 1, 3], (3, 1), range(1, 4, 2), np.array([1, 3], dtype=np.uint8), np.array([3, 1])):
        assert ids(fr.Frontier(g, some)) == ("vertex", [1, 3])
    assert ids(fr.Frontier(g)) == ("vertex", [])
    assert ids(fr.Frontier(g, [])) == ("vertex", [])


@pytest.mark.parametrize("size", [3, 20, 5000])
@pytest.mark.parametrize("kind", ["vertex", "edge"])
def test_many_ids_and_few(backend, size, kind):
    """They are put in order by sorting or by a mask, or are in order."""
    g = backend(fr.path(1000))
    some = np.random.default_rng(size).integers(0, 1000, size)
    expected = sorted({*some.tolist()})
    for given_ids in (some, some.astype(np.uint16), np.array(expected)):
        f = fr.Frontier(g, given_ids, kind)
        assert ids(f) == (kind, expected)
        assert len(f) == len(expected)


def test_text():
    g = fr.path(9)
    assert repr(fr.Frontier(g, [4])) == "Frontier(1 vertex: 4)"
    assert repr(fr.Frontier(g, range(8))) == "Frontier(8 vertices: 0, 1, 2, 3, 4, 5, ...)"
    assert repr(fr.Frontier.all(g, "edge")) == "Frontier(16 edges: all)"


@pytest.mark.parametrize(
    ("some", "kind", "message"),
    [
        ([5], "vertex", r"vertex 5 does not exist: valid are 0\.\.4"),
        ([-1, 2], "vertex", r"vertex -1 does not exist"),
        ([8], "edge", r"edge 8 does not exist: valid are 0\.\.7"),
        ([0.5], "vertex", "integers, not float64"),
        (["0"], "vertex", "integers"),
        ([True], "vertex", "a mask of 1 bools, but there are 5 vertices"),
        ([[0, 1]], "vertex", "one-dimensional"),
        (3, "vertex", "one-dimensional"),
        ([0], "vertices", "'vertex' or 'edge', not 'vertices'"),
    ],
)
def test_it_refuses(some, kind, message):
    with pytest.raises(fr.FrontierError, match=message):
        fr.Frontier(fr.path(5), some, kind)


def test_of_a_graph_without_vertices(backend):
    g = backend(fr.from_edges([], [], num_vertices=0))
    with pytest.raises(fr.GraphError, match="vertex 0 does not exist: the graph has none"):
        fr.Frontier(g, [0])
    assert not fr.Frontier.all(g)


def test_frontiers_of_different_graphs_or_kinds_do_not_mix():
    g = fr.path(3)
    f = fr.Frontier(g, [0])
    with pytest.raises(fr.FrontierError, match="different graphs"):
        f | fr.Frontier(fr.path(3), [0])
    with pytest.raises(fr.FrontierError, match="vertex ids does not combine with one of edge ids"):
        f & fr.Frontier(g, [0], "edge")
    with pytest.raises(fr.FrontierError, match="not with list"):
        f - [0]
    assert f != fr.Frontier(fr.path(3), [0])
    assert f != fr.Frontier(g, [0], "edge")
    assert f != [0]
    with pytest.raises(TypeError):
        hash(f)


def test_a_frontier_goes_with_its_graph_to_another_backend():
    g = fr.path(3)
    assert fr.Frontier(g, [1]) | fr.Frontier(g.to("python"), [2]) == fr.Frontier(g, [1, 2])
