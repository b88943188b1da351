"""The graph: what it derives, how it moves, what it says of itself."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest
from compare import equal
from conftest import Backend
from hypothesis import given
from hypothesis import strategies as st

import frontier as fr
from frontier.graph import build, estimates, row_makers
from frontier.graph.graph import id_dtype, offset_dtype
from frontier.graph.traits import Traits
from frontier.memory import detection


@st.composite
def directed_graphs(draw: st.DrawFn) -> fr.Graph:
    n = draw(st.integers(1, 8))
    ends = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=25))
    src, dst = [s for s, _ in ends], [d for _, d in ends]
    weights = list(range(len(ends)))
    keep = draw(st.sampled_from(["keep", "first"]))
    return fr.from_edges(src, dst, weights, num_vertices=n, directed=True, duplicates=keep)


@given(directed_graphs())
def test_in_edges_are_the_transposed_rows(graph: fr.Graph) -> None:
    forth = list(zip(graph.targets, graph.sources, range(graph.num_slots), strict=True))
    want = sorted(forth)
    got = np.repeat(np.arange(graph.num_vertices), np.diff(graph.in_offsets))
    assert list(zip(got, graph.in_sources, graph.in_edges, strict=True)) == want
    assert graph.in_degree.tolist() == np.diff(graph.in_offsets).tolist()
    assert graph.out_degree.sum() == graph.num_slots


def test_out_weight(backend: Backend) -> None:
    """It follows the weights, not only the rows."""
    g = backend(fr.from_edges([0, 0, 2], [1, 2, 0], [1, 2, 4], num_vertices=4, directed=True))
    equal(g.out_weight, [3.0, 0.0, 4.0, 0.0])
    assert g.out_weight is g.out_weight
    assert g.out_weight.dtype == np.float64
    equal(g.with_weights([0.5, 1.0, 2.0]).out_weight, [1.5, 0.0, 2.0, 0.0])
    equal(g.reordered([2, 0, 1, 3]).out_weight, [4.0, 3.0, 0.0, 0.0])
    assert g.with_weights(None).out_weight is None
    for dtype in ("int8", "uint8", "int32", "uint64", "float32"):
        equal(g.with_weights(np.array([100, 100, 27], dtype)).out_weight, [200.0, 0.0, 27.0, 0.0])
    equal(g.with_weights(np.array([2**62, 2**62, -1])).out_weight, [2.0**63, 0.0, -1.0, 0.0])
    equal(g.with_weights(np.array([2**63, 2**62, 1], np.uint64)).out_weight, [2.0**63 + 2.0**62, 0.0, 1.0, 0.0])
    assert fr.path(1).with_weights(np.empty(0, np.int64)).out_weight.tolist() == [0.0]


def test_in_degree_does_not_build_in_edges() -> None:
    graph = fr.from_edges([0, 1, 1], [2, 2, 0], directed=True)
    assert graph.in_degree.tolist() == [1, 0, 2]
    assert "in_lists" not in graph._topology.built()


def test_the_order_of_asking_does_not_matter() -> None:
    one, other = (fr.rmat(6, seed=1, directed=True, weights=(1, 9)) for _ in range(2))
    slots = one.in_edges
    assert np.array_equal(other.in_sources, one.in_sources)
    assert np.array_equal(other.in_edges, slots)
    assert np.array_equal(one.sources[slots], one.in_sources)


def test_a_symmetric_graph_shares_its_rows() -> None:
    graph = fr.from_edges([0, 1, 2, 2], [1, 2, 0, 2], [1, 2, 3, 4])
    assert graph.in_offsets is graph.offsets
    assert graph.in_sources is graph.targets
    assert graph.in_degree is graph.out_degree
    assert np.array_equal(graph.weights[graph.in_edges], graph.weights)
    assert np.array_equal(graph.sources[graph.in_edges], graph.in_sources)


def test_in_edges_are_built_once_under_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = fr.rmat(8, seed=2, directed=True)
    calls, found = [], []
    transpose = build.transpose

    def counted(*arguments: Any, **options: Any) -> Any:
        calls.append(1)
        return transpose(*arguments, **options)

    monkeypatch.setattr(build, "transpose", counted)
    start = threading.Barrier(4)

    def ask() -> None:
        start.wait()
        found.append(graph.in_sources)

    workers = [threading.Thread(target=ask) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(calls) == 1
    assert all(array is found[0] for array in found)


def test_arrays_are_read_only() -> None:
    graph = fr.from_edges([0], [1], [2.0], directed=True, vertices={"a": [1, 2]}, edges={"b": [3]})
    arrays = [graph.offsets, graph.targets, graph.weights, graph.sources, graph.out_degree]
    arrays += [graph.in_offsets, graph.in_sources, graph.in_edges, graph.in_degree]
    arrays += [graph.vertices["a"], graph.edges["b"]]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
    with pytest.raises(TypeError):
        graph.vertices["c"] = np.zeros(2)
    with pytest.raises(AttributeError):
        graph.offsets = np.zeros(3)


def test_dtypes_by_size() -> None:
    assert id_dtype(2**31 - 1) == offset_dtype(2**31 - 1) == np.int32
    assert id_dtype(2**31) == offset_dtype(2**31) == np.int64


def test_with_columns() -> None:
    src, dst = [3, 0, 2, 1, 0], [1, 1, 2, 2, 3]  # one self-loop
    graph = fr.from_edges(src, dst, [5, 4, 3, 2, 1], labels=list("abcd"), edges={"km": [1, 2, 3, 4, 5]})
    assert graph.max_weight == 5
    h = graph.with_columns(edges={"time": [10, 20, 30, 40, 50]}, vertices={"age": [1.0, 2.0, 3.0, 4.0]})
    assert np.shares_memory(h.targets, graph.targets)
    assert h.max_weight == 5
    assert list(h.edges) == ["km", "time"]
    assert "time" not in graph.edges
    table = h.to_pandas()
    np.testing.assert_array_equal(table["time"], [10, 20, 30, 40, 50])
    for name in ("km", "time"):  # the same both ways
        np.testing.assert_array_equal(h.edges[name][h.in_edges], h.edges[name])
    np.testing.assert_array_equal(h.vertices["age"], [1, 2, 3, 4])
    slots = np.arange(graph.num_slots)
    again = h.with_columns(edges={"time": slots})
    np.testing.assert_array_equal(again.edges["time"], slots)
    p = fr.Problem(h, time=fr.edge("int64", h.edges["time"]))
    assert p.time.sum() == 2 * 150 - h.edges["time"][(h.sources == h.targets)].sum()


def test_with_columns_of_a_directed_graph() -> None:
    graph = fr.from_edges([0, 1], [1, 0], directed=True).with_columns(edges={"time": [7, 8]})
    np.testing.assert_array_equal(graph.edges["time"], [7, 8])
    with pytest.raises(fr.GraphError, match="the edge column 'x' has 1 entries for 2 edges"):
        graph.with_columns(edges={"x": [7]})
    with pytest.raises(fr.GraphError, match="the edge column 'x' has 3 entries for 156 edges, or 78 that go both ways"):
        fr.karate().with_columns(edges={"x": [7, 8, 9]})
    with pytest.raises(fr.GraphError, match="the vertex column 'x' has 3 entries for 2 vertices"):
        graph.with_columns(vertices={"x": [7, 8, 9]})


def test_moving_shares_the_arrays() -> None:
    graph = fr.karate()
    assert graph.backend == "cpu"
    assert graph.to("cpu") is graph
    assert (graph.to("auto") is graph) == (not detection.available())
    moved = graph.to("python")
    assert moved.backend == "python"
    assert moved.targets is graph.targets
    assert moved.sources is graph.sources
    assert moved.to("cpu").backend == "cpu"


def test_moving_to_what_is_not_there() -> None:
    with pytest.raises(fr.GraphError, match=r"no backend 'gpu': choose .*, 'cuda:1', 'ranks', 'ranks:3' or 'auto'"):
        fr.karate().to("gpu")


def test_a_vertex_by_id() -> None:
    graph = fr.path(3)
    assert graph.vertex_id(np.int64(2)) == 2
    for vertex in (-1, 3, "a", 1.0, None, [1]):
        with pytest.raises(fr.GraphError, match=r"no vertex .*: vertices are 0 to 2"):
            graph.vertex_id(vertex)
    with pytest.raises(fr.GraphError, match="the graph has no vertices"):
        fr.path(0).vertex_id(0)


def test_a_vertex_by_label() -> None:
    graph = fr.from_edges(["a", "b", "c"], ["b", "c", "d"])
    assert graph.vertex_id("c") == 2
    assert graph.vertex_id(np.str_("c")) == 2
    for vertex in ("z", 3, 4, -1, [1]):
        with pytest.raises(fr.GraphError, match=r"the labels are strings, 'a', 'b', 'c', \.\.\."):
            graph.vertex_id(vertex)


@pytest.mark.parametrize(("labels", "what"), [([10, 20], "integers, 10, 20"), ([10, "x"], "10, 'x'")])
def test_a_number_among_labels_is_never_an_id(labels: Any, what: str) -> None:
    graph = fr.from_edges([0], [1], labels=labels)
    assert graph.vertex_id(10) == 0
    with pytest.raises(fr.GraphError, match=f"no vertex 1: the labels are {what}"):
        graph.vertex_id(1)


def test_text_is_no_number() -> None:
    graph = fr.from_edges(["10", "11"], ["11", "12"])
    with pytest.raises(fr.GraphError, match="no vertex 10, but '10': the labels are strings"):
        fr.bfs(graph.to("python"), 10)
    with pytest.raises(fr.GraphError, match="no vertex '7', but 7: the labels are integers"):
        fr.from_edges([7], [8], labels=True).vertex_id("7")


@pytest.mark.parametrize(
    "call",
    [
        lambda g: fr.bfs(g, 1),
        lambda g: fr.sssp(g, 1),
        lambda g: fr.shortest_path(g, "a", 1),
        lambda g: fr.max_flow(g, "a", 1),
        lambda g: fr.bfs_many(g, [1]),
        lambda g: fr.betweenness(g, [1]),
        lambda g: fr.closeness(g, sources=np.array([1])),
        lambda g: fr.pagerank(g, personalization={1: 1.0}),
        lambda g: fr.personalized_pagerank(g, 1),
        lambda g: fr.random_walks(g, [1]),
        lambda g: fr.who_to_follow(g, 1),
    ],
)
def test_an_id_is_no_label(call: Any) -> None:
    graph = fr.from_edges(["a", "b"], ["b", "c"], [1, 2]).to("python")
    with pytest.raises(fr.GraphError, match="there is no vertex 1: the labels are strings, 'a', 'b', 'c'"):
        call(graph)


@pytest.mark.parametrize(
    ("ends", "dtype"),
    [
        (([2**63, 2**63 + 1], [1, 2]), np.uint64),
        (([2**63, 2**63 + 1], [-1, 2]), object),
        ((np.array([2**63, 2**63 + 1], np.uint64), np.array([1, 2])), np.uint64),
        (([np.uint64(2**63), np.int64(-1)], [1, 2]), object),
        (([2**53, 2**53 + 1], [1, 2]), np.int64),
    ],
)
def test_labels_of_64_bits_stay_as_they_are(ends: Any, dtype: Any) -> None:
    """NumPy makes floats of integers that no dtype holds together."""
    graph = fr.from_edges(*ends, labels=True)
    names = [int(name) for name in (ends[0][0], ends[1][0], ends[0][1], ends[1][1])]
    assert graph.labels.dtype == dtype
    assert graph.labels.tolist() == names
    assert [graph.vertex_id(name) for name in names] == [0, 1, 2, 3]
    again = fr.from_edges([0, 2], [1, 3], labels=names)
    assert again.labels.tolist() == names


def test_labels_of_parents() -> None:
    graph = fr.from_edges(["a", "c"], ["b", "d"])
    parents = fr.bfs(graph.to("python"), "a").parent
    assert graph.labels_of(parents) == ["a", "a", None, None]
    assert fr.path(3).labels_of([-1, 2]) == [None, 2]
    assert graph.labels_of([]) == []
    for wrong in ([-2], [4], [1.5], 1):
        with pytest.raises(fr.GraphError, match=r"there is no vertex|takes a list of ids"):
            graph.labels_of(wrong)


def test_smallest_weight() -> None:
    assert fr.from_edges([0, 1], [1, 2], [3, -2]).min_weight == -2
    assert fr.from_edges([0], [1]).min_weight is None


def test_other_weights() -> None:
    graph = fr.from_edges([0, 1], [1, 2], [5, 6], edges={"km": [1.5, 2.5]})
    assert graph.min_weight == 5
    other = graph.with_weights("km")
    assert other.weights.tolist() == [1.5, 1.5, 2.5, 2.5]
    assert other.min_weight == 1.5
    assert other.targets is not None
    assert np.shares_memory(other.targets, graph.targets)
    assert graph.with_weights(None).weights is None
    assert graph.with_weights([1, 2]).weights.tolist() == [1, 1, 2, 2]  # one for each edge
    for weights, message in (
        ([1, 2, 3], "3 weights for 4 edge slots"),
        ([1, 2, 3, 3], r"\(0, 1\) has 1 and \(1, 0\) has 2"),
        ("miles", "no edge column 'miles': there is 'km'"),
    ):
        with pytest.raises(fr.GraphError, match=message):
            graph.with_weights(weights)


def test_other_weights_do_not_see_later_writes() -> None:
    weights = np.array([1.0])
    graph = fr.from_edges([0], [1], directed=True).with_weights(weights)
    weights[0] = 5
    assert graph.weights.tolist() == [1.0]


def test_memory_of_a_graph() -> None:
    graph = fr.rmat(6, seed=1, directed=True, weights=(1, 9))
    n, m = graph.num_vertices, graph.num_slots
    csr = 4 * (n + 1) + 4 * m + 4 * m
    assert graph.memory_estimate().total == csr
    assert int(graph.memory_estimate(in_edges=True)) == csr + 4 * (n + 1) + 4 * m
    assert graph.memory_estimate(bytes_per_vertex=3).fields == 3 * n
    assert graph.in_edges.nbytes + graph.in_sources.nbytes + graph.in_offsets.nbytes == (
        graph.memory_estimate().in_edges
    )
    assert "total" in str(graph.memory_estimate())


def test_memory_of_a_symmetric_graph_counts_its_rows_once() -> None:
    graph = fr.karate()
    assert graph.memory_estimate(in_edges=True) == graph.memory_estimate()


def test_memory_of_a_primitive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimates, "_primitives", {})
    monkeypatch.setattr(estimates, "import_all", lambda folder: None)  # the shipped ones are not there
    estimates.register_memory("walk", 10, in_edges=True, edge_ids=True)
    graph = fr.from_edges([0, 1], [1, 2], directed=True)
    needs = graph.memory_estimate("walk")
    assert needs.fields == 30
    assert needs.in_edges == 4 * 4 + 4 * 2 + 4 * 2
    with pytest.raises(fr.GraphError, match="nothing is known of the memory of 'nonsense': walk"):
        graph.memory_estimate("nonsense")


@pytest.mark.parametrize("chunk", [1, 3, 1 << 22])
def test_an_undirected_edge_counts_once_and_takes_two_slots(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_makers, "CHUNK", chunk)
    karate = fr.karate()
    assert (karate.num_edges, karate.num_slots) == (78, 156)
    src, dst = [0, 0, 1, 1, 4, 4, 4], [1, 0, 2, 2, 4, 4, 1]  # two self-loops of 4, two edges between 1 and 2
    graph = fr.from_edges(src, dst, num_vertices=6, duplicates="keep")
    assert (graph.num_edges, graph.num_slots) == (7, 11)
    assert graph.with_weights(np.ones(11)).num_edges == graph.to("python").num_edges == 7
    assert pickle.loads(pickle.dumps(graph)).num_edges == 7
    simple = fr.from_edges(src, dst, num_vertices=6)
    assert (simple.num_edges, simple.num_slots) == (5, 8)
    directed = fr.from_edges(src, dst, directed=True, duplicates="keep")
    assert directed.num_edges == directed.num_slots == 7
    assert fr.from_edges([], [], num_vertices=3).num_edges == fr.from_edges([], []).num_edges == 0


def test_what_a_graph_says_of_itself() -> None:
    assert repr(fr.karate()) == "<Graph: undirected, 34 vertices, 78 edges (156 slots); cpu>"
    graph = fr.from_edges(["a"], ["b"], [1.0], directed=True, edges={"km": [1]}).to("python")
    assert repr(graph) == (
        "<Graph: directed, 2 vertices, 1 edges, float64 weights, labels, edge columns km; python>"
    )


def test_pickles_come_back_the_same() -> None:
    graph = fr.from_edges(["a"], ["b"], [1.0], vertices={"age": [3, 4]}).to("python")
    _ = graph.in_edges
    copy = pickle.loads(pickle.dumps(graph))
    assert repr(copy) == repr(graph)
    assert copy.labels.tolist() == ["a", "b"]
    assert copy.vertices["age"].tolist() == [3, 4]
    assert not copy.targets.flags.writeable


def test_making_and_moving_a_small_directed_graph_from_rows_needs_no_numba() -> None:
    code = (
        "import sys, frontier as fr\n"
        "g = fr.from_csr([0, 1, 1], [1]).to('python')\n"
        "assert g.vertex_id(1) == 1 and g.in_degree.tolist() == [0, 1]\n"
        "absent = {'numba', 'scipy', 'pandas', 'networkx'}\n"
        "sys.exit(len(absent & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("directed", [False, True])
def test_making_a_small_graph_needs_no_numba(directed: bool) -> None:
    code = (
        "import sys, frontier as fr\n"
        f"g = fr.from_edges([0, 2, 1, 2], [1, 1, 0, 0], [4, 5, 6, 7], duplicates='min', directed={directed})\n"
        "g.in_edges, g.out_degree, g.max_degree, fr.Problem(g, x=fr.vertex('int32', 1))\n"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_results_by_label() -> None:
    g = fr.from_edges(["a", "b"], ["b", "c"], labels=True, directed=True)
    assert g.by_label(fr.bfs(g, "a").level) == {"a": 0, "b": 1, "c": 2}
    assert fr.path(2).by_label([5.0, 7.5]) == {0: 5.0, 1: 7.5}
    with pytest.raises(fr.GraphError, match="3 vertices"):
        g.by_label([1, 2])


def test_in_edges_of_wide_arrays_are_wide():
    g = fr.Graph(np.array([0, 2, 4, 6]), np.array([1, 2, 0, 2, 0, 1]), directed=True)
    assert {a.dtype for a in (g.in_offsets, g.in_sources, g.in_edges)} == {np.dtype(np.int64)}
    np.testing.assert_allclose(fr.pagerank(g).rank, 1 / 3)


def test_traits(backend: Backend) -> None:
    karate = backend(fr.karate())
    assert karate.traits == Traits(symmetric=True, max_degree=17, mean_degree=156 / 34, short_lists=True)
    assert karate.traits is karate.traits
    assert not backend(fr.star(40)).traits.short_lists  # one long list
    assert not backend(fr.complete(20)).traits.short_lists  # none is long, but all are longer than 8
    assert backend(fr.path(0)).traits == Traits(symmetric=True, max_degree=0, mean_degree=0.0, short_lists=True)
    assert not backend(fr.from_edges([0], [1], directed=True)).traits.symmetric


def test_traits_are_those_of_the_rows() -> None:
    karate = fr.karate()
    assert karate.with_weights(np.ones(156)).traits == karate.traits
    with pytest.raises(AttributeError):
        karate.traits.max_degree = 3  # type: ignore[misc]


def test_what_is_cached_with_a_graph() -> None:
    karate, made = fr.karate(), []

    def make() -> str:
        made.append(1)
        return "made"

    assert [karate.cached("sources", make), karate.cached("sources", make)] == ["made", "made"]
    assert made == [1]
    assert karate.to("python").cached("sources", make) == "made"  # the same arrays
    assert len(karate.sources) == 156  # which is the graph's own, of the same name
    assert karate.with_weights(np.ones(156)).cached("sources", lambda: "other weights") == "other weights"
    array = karate.cached("ones", lambda: np.ones(3))
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 2
    assert karate.cached("nothing", lambda: None) is None
