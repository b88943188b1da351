"""Graphs in another order of their vertices, beside a plain model, and what programs give on them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import strategies
from compare import close, equal
from conftest import Backend
from hypothesis import given
from hypothesis import strategies as st

import frontier as fr
from frontier.memory import arrays

ORDER = [3, 1, 4, 0, 2]


def rich(directed: bool = True, dtype: Any = "float64") -> fr.Graph:
    """A graph with loops, duplicates, a vertex without edges, and everything that a graph can have."""
    src, dst = [0, 1, 2, 0, 3, 3, 1, 0, 2, 2], [1, 2, 0, 1, 3, 3, 0, 3, 1, 0]
    count = np.arange(10)
    return fr.from_edges(
        src, dst, count.astype(dtype), directed=directed, duplicates="keep", labels=list("abcde"),
        vertices={"size": np.arange(5.0), "name": list("ABCDE")}, edges={"count": count, "word": list("klmnopqrst")},
    )  # fmt: skip


def by_degree(g: fr.Graph) -> list[int]:
    degree = g.out_degree.tolist()
    return sorted(range(g.num_vertices), key=lambda v: (-degree[v], v))


def check(h: fr.Graph, g: fr.Graph, order: Any, backend: str) -> None:
    """The graph ``h`` is ``g``, which lies on the host, in that order."""
    old = np.asarray(order, np.int64)
    new = np.empty_like(old)
    new[old] = np.arange(len(old))
    src, dst = new[g.sources], new[g.targets]
    slots = np.lexsort((dst, src))  # equals in the order of their old slots
    assert (h.backend, h.directed, h.num_vertices) == (backend, g.directed, g.num_vertices)
    for found, expected, like in (
        (h.offsets, np.searchsorted(src[slots], np.arange(len(old) + 1)), g.offsets),
        (h.targets, dst[slots], g.targets),
        *([(h.weights, g.weights[slots], g.weights)] if g.weights is not None else []),
    ):
        equal(found, expected)
        assert found.dtype == like.dtype
        assert arrays.is_device(found) == backend.startswith("cuda")
    assert (h.weights is None) == (g.weights is None)
    assert (None if h.labels is None else list(h.labels)) == (None if g.labels is None else list(g.labels[old]))
    assert list(h.edges) == list(g.edges)
    assert set(h.vertices) == {*g.vertices, "original"}
    for name, column in g.edges.items():
        equal(h.edges[name], column[slots])
    for name, column in g.vertices.items():
        equal(h.vertices[name], column[old])
    if "original" not in g.vertices:
        equal(h.vertices["original"], old)


# -- beside the model ------------------------------------------------------------------------------------------


@given(st.data())
def test_any_graph_in_any_order(backend: Backend, data: st.DataObject) -> None:
    g = data.draw(strategies.graphs())
    order = data.draw(st.permutations(range(g.num_vertices)))
    check(backend(g).reordered(order), g, order, backend.name)
    check(backend(g).reordered(), g, by_degree(g), backend.name)


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32"])
@pytest.mark.parametrize("directed", [True, False])
def test_everything_moves(backend: Backend, directed: bool, dtype: str) -> None:
    g = rich(directed, dtype)
    h = backend(g).reordered(ORDER)
    check(h, g, ORDER, backend.name)
    check(backend(g).reordered("degree"), g, by_degree(g), backend.name)
    assert (h.vertex_id("d"), h.vertex_id("c")) == (0, 4)
    assert set(g.vertices) == {"size", "name"}


def test_duplicates_stand_alike_in_both_lists(backend: Backend) -> None:
    g = fr.from_edges([0, 1, 0, 2, 2], [1, 0, 1, 1, 2], [5, 3, 4, 1, 2], duplicates="keep")
    h = backend(g).reordered([1, 2, 0])
    assert h.weights.tolist() == [1, 5, 3, 4, 1, 2, 5, 3, 4]
    equal(h.weights[h.in_edges], h.weights)


@pytest.mark.parametrize("n", [0, 1])
def test_hardly_a_graph(backend: Backend, n: int) -> None:
    g = fr.from_edges([], [], num_vertices=n)
    check(backend(g).reordered(), g, range(n), backend.name)
    check(backend(g).reordered(list(range(n))), g, range(n), backend.name)


def test_wide_ids_stay_wide(backend: Backend) -> None:
    g = rich()
    wide = fr.Graph(g.offsets.astype(np.int64), g.targets.astype(np.int64), g.weights, directed=True)
    h = backend(wide).reordered(ORDER)
    check(h, wide, ORDER, backend.name)
    assert h.vertices["original"].dtype == np.int64


@pytest.mark.parametrize("weights", [None, (1, 9)])
def test_on_all_threads(weights: Any) -> None:
    g = fr.rmat(13, 16, seed=1, weights=weights)
    assert g.num_slots > 2**16
    check(g.reordered(), g, by_degree(g), "cpu")


# -- results ---------------------------------------------------------------------------------------------------


def test_results_go_back(backend: Backend) -> None:
    g = backend(fr.from_edges([0, 1, 1, 2, 5, 6, 6], [1, 2, 3, 4, 6, 6, 7], [1, 2, 2, 5, 1, 1, 3]))
    h = g.reordered([7, 2, 0, 5, 1, 6, 4, 3])
    old = h.vertices["original"]
    source = int(old.argsort()[1])
    assert int(old[source]) == 1

    def back(values: Any) -> Any:
        made = values.copy()
        made[old] = values
        return made

    equal(back(fr.bfs(h, source).level), fr.bfs(g, 1).level)
    found = fr.sssp(h, source)
    equal(back(found.distance), fr.sssp(g, 1).distance)
    reached = found.parent >= 0
    equal(old[found.parent[reached]], fr.sssp(g, 1).parent[old[reached]])  # there is one shortest path to each
    close(back(fr.pagerank(h, tolerance=1e-3).rank), fr.pagerank(g, tolerance=1e-3).rank, rtol=1e-5)
    components = fr.connected_components(h)
    label = fr.connected_components(g).label
    assert components.count == 2
    equal(label[back(old[components.label])], label)  # a vertex of the same component


def test_results_by_label(backend: Backend) -> None:
    g = backend(rich(directed=False))
    h = g.reordered(ORDER)
    assert h.by_label(fr.bfs(h, "c").level) == g.by_label(fr.bfs(g, "c").level)


# -- what becomes of a reordered graph -------------------------------------------------------------------------


def test_again(backend: Backend) -> None:
    g = rich()
    then = [4, 2, 0, 1, 3]
    both = np.array(ORDER)[then]
    h = backend(g).reordered(ORDER).reordered(then)
    check(h, g, both, backend.name)
    equal(h.reordered(np.argsort(both)).vertices["original"], np.arange(5))


def test_pickled(backend: Backend) -> None:
    g = rich()
    h = pickle.loads(pickle.dumps(backend(g).reordered(ORDER)))
    check(h, g, ORDER, backend.name)
    check(h.reordered(np.argsort(ORDER)), g, range(5), backend.name)


def test_moved_to_another_backend(backend: Backend) -> None:
    g = rich()
    check(g.reordered(ORDER).to(backend.name), g, ORDER, backend.name)
    check(backend(g).reordered(ORDER).to("cpu"), g, ORDER, "cpu")


def test_later_writes_are_not_seen(backend: Backend) -> None:
    order = fr.Placement.parse(backend.name).memory.moved(np.array(ORDER, np.int32))
    h = backend(rich()).reordered(order)
    order[:] = 0
    equal(h.vertices["original"], ORDER)


# -- errors ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("rank", "order must be 'degree' or an array of the old ids, not 'rank'"),
        (None, "order must have one dimension, not 0"),
        ([[0, 1, 2, 3, 4]], "order must have one dimension, not 2"),
        ([0, 1, 2], "order has 3 entries for 5 vertices"),
        ([0.0, 1, 2, 3, 4], "order must hold integers, the old ids, not float64"),
        (list("abcde"), "order must hold integers, the old ids, not <U1"),
        ([0, 1, -1, 3, 4], r"order\[2\] is -1, but vertices are 0 to 4"),
        ([0, 1, 2, 7, 5], r"order\[3\] is 7, but vertices are 0 to 4"),
        (np.array([0, 1, 2, 2**63, 4], np.uint64), r"order\[3\] is 9223372036854775808, but vertices are 0 to 4"),
        ([0, 3, 2, 3, 0], "a permutation, but has vertex 0 more than once and vertex 1 not at all"),
    ],
)
def test_no_order(backend: Backend, order: Any, message: str) -> None:
    with pytest.raises(fr.GraphError, match=message):
        backend(rich()).reordered(order)


@pytest.mark.parametrize("column", [[0, 0, 1], [0.0, 1.0, 2.0], [-1, 2, 3], list("abc")])
def test_a_column_of_that_name(backend: Backend, column: Any) -> None:
    g = backend(fr.from_edges([0, 1], [1, 2], vertices={"original": column}))
    with pytest.raises(fr.GraphError, match=r"a vertex column 'original', .* does not hold each id once"):
        g.reordered()
