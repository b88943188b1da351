"""Graphs on a GPU, as the host sees them: moved there, made there, shared with other libraries."""

from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np
import pytest
from device_tools import Capsuled, Shared, rich_graph, same, same_graphs
from hypothesis import given, strategies
from strict_cupy import module

import frontier as fr
from frontier.graph import build_arrays
from frontier.memory import arrays

# -- moving ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("directed", [True, False])
def test_there_and_back(xp: Any, directed: bool) -> None:
    graph = rich_graph(directed)
    there = graph.to("cuda")
    same_graphs(there, graph)
    assert isinstance(there.offsets, xp.ndarray)
    assert there.labels is graph.labels or list(there.labels) == list(graph.labels)
    assert graph.to("cuda").targets is there.targets
    assert graph.to("cuda:0") is there.to("cuda")
    assert there.to("cpu").targets is graph.targets
    assert there.to("python").backend == "python"
    assert there.to("auto") is there
    assert "cuda" in repr(there)
    assert there.vertex_id("c") == fr.path(3).vertex_id(xp.asarray(2)) == 2
    assert fr.from_edges([70], [90], labels=True).vertex_id(xp.asarray(90)) == 1


def test_back_when_the_first_is_gone(xp: Any) -> None:
    there = rich_graph().to("cuda")
    back = there.to("cpu")
    same_graphs(there, back)
    assert there.to("cpu").targets is back.targets
    assert back.to("cuda").targets is there.targets


def test_auto_takes_the_gpu(xp: Any) -> None:
    assert fr.path(3).to("auto").backend == "cuda"


def test_in_edges_go_along(xp: Any) -> None:
    graph = rich_graph()
    lists, slots = graph.in_sources, graph.in_edges
    there = graph.to("cuda")
    assert {"in_lists", "in_edges"} <= set(there._topology.built())
    same(there.in_sources, lists)
    same(there.in_edges, slots)


def test_pickle(xp: Any) -> None:
    there = rich_graph().to("cuda")
    again = pickle.loads(pickle.dumps(there))
    same_graphs(again, there.to("cpu"))


@strategies.composite
def edge_lists(draw: strategies.DrawFn) -> tuple[int, Any, Any, Any]:
    n = draw(strategies.integers(1, 6))
    k = draw(strategies.integers(0, 20))
    ids = strategies.lists(strategies.integers(0, n - 1), min_size=k, max_size=k)
    dtype = draw(strategies.sampled_from([np.int32, np.int64]))
    weights = draw(strategies.sampled_from(["none", "int32", "uint8", "int64", "float32", "float64"]))
    values = None
    if weights != "none":
        values = np.array(draw(strategies.lists(strategies.integers(0, 9), min_size=k, max_size=k)), weights)
    return n, np.array(draw(ids), dtype), np.array(draw(ids), dtype), values


@given(edge_lists(), strategies.booleans())
def test_what_is_derived(xp: Any, edges: tuple[int, Any, Any, Any], directed: bool) -> None:
    n, src, dst, weights = edges
    graph = fr.from_edges(src, dst, weights, num_vertices=n, directed=directed, duplicates="keep")
    if weights is not None and not directed:
        graph = graph.with_weights(None)  # parallel edges differ in weight
    there = graph.to("cuda")
    for name in ("sources", "out_degree", "in_degree", "in_offsets", "in_sources", "in_edges"):
        same(getattr(there, name), getattr(graph, name))
    again = graph.with_weights(None).to("cuda")
    again = fr.from_csr(again.offsets, again.targets, directed=directed)
    same(again.in_edges, graph.in_edges)
    same(again.in_degree, graph.in_degree)
    assert there.num_edges == graph.num_edges
    assert (there.max_degree, there.min_weight, there.max_weight) == (
        int(graph.out_degree.max()), graph.min_weight, graph.max_weight
    )  # fmt: skip


def test_with_columns(xp: Any) -> None:
    graph = fr.karate()
    times, ages = np.arange(78), np.arange(34) / 2
    there = graph.to("cuda").with_columns(edges={"time": xp.asarray(times)}, vertices={"age": ages})
    beside = graph.with_columns(edges={"time": times}, vertices={"age": ages})
    same(there.edges["time"], beside.edges["time"])
    same(there.vertices["age"], ages)


@pytest.mark.parametrize("stretch", [1, 3, 7])
def test_in_edges_by_stretches(xp: Any, stretch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_arrays, "_STRETCH", stretch)
    for graph in (fr.rmat(5, 4, seed=stretch, directed=True), fr.from_edges([2, 2, 2], [0, 1, 2], num_vertices=5)):
        graph = fr.Graph(graph.offsets, graph.targets, directed=True)
        there = fr.Graph(xp.asarray(graph.offsets), xp.asarray(graph.targets), directed=True, placement="cuda")
        same(there.sources, graph.sources)
        same(there.in_offsets, graph.in_offsets)
        same(there.in_sources, graph.in_sources)


def test_with_weights(xp: Any) -> None:
    graph = rich_graph()
    there = graph.to("cuda")
    for weights in (np.arange(5.0), xp.arange(5.0)):
        made = there.with_weights(weights)
        same(made.weights, np.arange(5.0))
        assert made.max_weight == 4
    same(there.with_weights("kind").weights, graph.edges["kind"])
    assert there.with_weights(None).weights is None
    assert type(graph.with_weights(xp.arange(5)).weights) is np.ndarray
    with pytest.raises(fr.GraphError, match="4 weights for 5 edge slots"):
        there.with_weights(xp.arange(4))
    with pytest.raises(fr.GraphError, match=r"\(0, 1\) has 0 and \(1, 0\) has 1"):
        fr.path(2).to("cuda").with_weights([0, 1])


@pytest.mark.parametrize("directed", [True, False])
def test_reordered(xp: Any, directed: bool) -> None:
    graph = rich_graph(directed)
    there = graph.to("cuda")
    here = graph.reordered([2, 0, 3, 1])
    for order in ([2, 0, 3, 1], np.array([2, 0, 3, 1], np.uint8), xp.asarray([2, 0, 3, 1])):
        made = there.reordered(order)
        same_graphs(made, here)
        assert isinstance(made.vertices["original"], xp.ndarray)
        assert type(made.vertices["name"]) is type(made.edges["word"]) is type(made.labels) is np.ndarray
        assert made.labels.tolist() == list("cadb")
    same_graphs(there.reordered(), graph.reordered())
    same_graphs(made.reordered(), here.reordered())
    plain = fr.rmat(6, seed=1)
    same_graphs(plain.to("cuda").reordered(), plain.reordered())
    assert graph.reordered(xp.asarray([2, 0, 3, 1])).backend == "cpu"
    with pytest.raises(fr.GraphError, match="has vertex 2 more than once and vertex 1 not at all"):
        there.reordered(xp.asarray([2, 0, 3, 2]))
    with pytest.raises(fr.GraphError, match=r"order\[1\] is 4, but vertices are 0 to 3"):
        there.reordered(xp.asarray([2, 4, 3, 2]))


@pytest.mark.parametrize("method", ["edges", "vertices", "hubs", "2d"])
@pytest.mark.parametrize("placement", ["cuda", "cuda:1"])
def test_partition(xp: Any, method: str, placement: str) -> None:
    graph = fr.rmat(6, 4, directed=True, seed=2)
    try:
        moved = graph.to(placement)
    except fr.BackendUnavailableError as error:
        pytest.skip(f"there is no second GPU: {error}")
    here, there = (fr.partition(g, 6, method=method) for g in (graph, moved))
    assert there.graph.backend == placement
    np.testing.assert_array_equal(there.starts, here.starts)
    np.testing.assert_array_equal(there.slots, here.slots)
    same(there.owner(there.graph.targets), here.owner(here.graph.targets))
    for mine, other in zip(there.blocks(), here.blocks(), strict=True):
        np.testing.assert_array_equal(mine.slots, other.slots)
        np.testing.assert_array_equal(mine.sources, other.sources)
        np.testing.assert_array_equal(mine.targets, other.targets)
    level = np.arange(64) % 3
    assert here.exchanged(level).total == there.exchanged(there.graph.placement.memory.moved(level)).total > 0


def test_values_by_label(xp: Any) -> None:
    graph = rich_graph().to("cuda")
    assert graph.by_label(xp.arange(4)) == {"a": 0, "b": 1, "c": 2, "d": 3}


def test_to_other_libraries(xp: Any) -> None:
    graph = rich_graph()
    there = graph.to("cuda")
    assert (there.to_scipy() != graph.to_scipy()).nnz == 0
    assert there.to_pandas().equals(graph.to_pandas())
    assert set(there.to_networkx().edges) == set(graph.to_networkx().edges)


# -- made there --------------------------------------------------------------------------------------


@given(
    edge_lists(),
    strategies.sampled_from(["keep", "first", "last", "min", "max", "sum", "error"]),
    strategies.sampled_from(["keep", "drop", "error"]),
    strategies.booleans(),
    strategies.booleans(),
)
def test_from_edges(
    xp: Any, edges: tuple[int, Any, Any, Any], duplicates: str, self_loops: str, directed: bool, columns: bool
) -> None:
    n, src, dst, weights = edges
    options: dict[str, Any] = {
        "num_vertices": n, "directed": directed, "duplicates": duplicates, "self_loops": self_loops
    }  # fmt: skip
    number = np.arange(len(src))
    try:
        here = fr.from_edges(src, dst, weights, edges={"number": number} if columns else None, **options)
    except fr.GraphError as error:
        with pytest.raises(fr.GraphError, match=f"^{re.escape(str(error))}$"):
            fr.from_edges(xp.asarray(src), xp.asarray(dst), weights, **options)
        return
    there = fr.from_edges(
        xp.asarray(src), xp.asarray(dst), None if weights is None else xp.asarray(weights),
        edges={"number": xp.asarray(number)} if columns else None, **options,
    )  # fmt: skip
    same_graphs(there, here)


def test_from_edges_beside_the_host(xp: Any) -> None:
    """One end on the GPU is enough; labels and words stay on the host."""
    src, dst = [0, 1, 1], [1, 2, 0]
    options: dict[str, Any] = {"labels": list("abc"), "edges": {"word": list("xyz")}, "duplicates": "last"}
    here = fr.from_edges(src, dst, **options)
    there = fr.from_edges(xp.asarray(src), dst, **options)
    same_graphs(there, here)
    assert type(there.edges["word"]) is type(there.labels) is np.ndarray
    named = fr.from_edges(xp.asarray([70, 90]), xp.asarray([90, 50]), labels=True)
    same_graphs(named, fr.from_edges([70, 90], [90, 50], labels=True))
    assert fr.from_edges(src, dst, xp.arange(3.0), duplicates="first").backend == "cpu"


@pytest.mark.parametrize(
    ("src", "dst", "options", "message"),
    [
        ([0, 1], [1], {}, "the same length, not 2 and 1"),
        ([0, -1], [1, 1], {}, r"start at 0, but src\[1\] is -1"),
        ([0, 1], [1, 4], {"num_vertices": 3}, r"dst\[1\] is 4, but vertices are 0 to 2"),
        ([0.0], [1.0], {}, "must be integers, but src is float64"),
        ([[0]], [[1]], {}, "must have one dimension, not 2"),
        ([0], [1], {"weights": [1.0, 2.0]}, "2 weights for 1 edges"),
        ([0], [1], {"weights": [np.nan]}, "weight 0 is NaN"),
        ([0], [0], {"self_loops": "error"}, "edge 0 is a self-loop of vertex 0"),
        ([0, 1], [1, 0], {"duplicates": "error"}, r"edge \(0, 1\) is given more than once"),
        ([0, 0], [1, 1], {"weights": [2**62, 2**62], "duplicates": "sum"}, "more than int64 holds"),
        ([0, 0], [1, 1], {"weights": np.array([200, 100], "uint8"), "duplicates": "sum"}, "up to 300, which uint8"),
        ([2**40], [0], {}, "if the ids are names"),
    ],
)
def test_errors_of_edges(xp: Any, src: Any, dst: Any, options: dict[str, Any], message: str) -> None:
    options = {name: xp.asarray(value) if name == "weights" else value for name, value in options.items()}
    with pytest.raises(fr.GraphError, match=message):
        fr.from_edges(xp.asarray(src), xp.asarray(dst), **options)


def test_rows_are_not_copied(xp: Any) -> None:
    offsets, targets = xp.asarray(np.array([0, 2, 3], np.int32)), xp.asarray(np.array([0, 1, 0], np.int32))
    weights = xp.asarray(np.array([1.0, 2.0, 2.0]))
    graph = fr.from_csr(offsets, targets, weights, directed=False)
    for made, given_ in ((graph.offsets, offsets), (graph.targets, targets), (graph.weights, weights)):
        assert made.__cuda_array_interface__["data"][0] == given_.__cuda_array_interface__["data"][0]


def test_rows_that_need_sorting(xp: Any) -> None:
    rows = [0, 3, 3, 5], [2, 0, 1, 2, 0], [1, 2, 3, 4, 5]
    same_graphs(fr.from_csr(*map(xp.asarray, rows)), fr.from_csr(*rows))
    with pytest.raises(fr.GraphError, match=r"both directions, but \(0, 1\) has no reverse"):
        fr.from_csr(*map(xp.asarray, rows), directed=False)
    with pytest.raises(fr.GraphError, match="offsets must go from 0"):
        fr.from_csr(xp.asarray([0, 2]), xp.asarray([0]))
    with pytest.raises(fr.GraphError, match="offsets must not fall, but do at vertex 1"):
        fr.from_csr(xp.asarray([0, 2, 1, 2]), xp.asarray([0, 0]))


def test_arrays_of_other_libraries(xp: Any) -> None:
    offsets, targets = xp.asarray(np.array([0, 1, 2], np.int32)), xp.asarray(np.array([1, 0], np.int32))
    graph = fr.from_csr(Shared(offsets), Shared(targets))
    assert graph.backend == "cuda"
    assert isinstance(graph.targets, xp.ndarray)
    for made, given_ in ((graph.offsets, offsets), (graph.targets, targets)):
        assert made.__cuda_array_interface__["data"][0] == given_.__cuda_array_interface__["data"][0]
    assert arrays.is_device(Capsuled(targets))
    if xp is not module:
        graph = fr.from_csr(Capsuled(offsets), Capsuled(targets))
        assert graph.targets.data.ptr == targets.data.ptr
    with pytest.raises(fr.GraphError, match="lies on a GPU, but cannot be read there"):
        fr.from_edges(Capsuled(None), [0])
