"""``from_edges`` and ``from_csr`` against a dictionary of lists, and what they refuse."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import frontier as fr
from frontier.graph import build_sort

DUPLICATES = ["first", "last", "min", "max", "sum", "keep"]
PICK = {
    "first": lambda w: w[:1],
    "last": lambda w: w[-1:],
    "min": lambda w: [min(w)],
    "max": lambda w: [max(w)],
    "sum": lambda w: [sum(w)],
    "keep": lambda w: w,
}


@pytest.fixture(scope="module", params=["few", "many"], autouse=True)
def sorting(request: pytest.FixtureRequest) -> Iterator[None]:
    """Graphs so small are sorted by NumPy; the second time as larger ones are."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "many":
            patch.setattr(build_sort, "sparing", lambda count, module: False)
        yield


def expected(src: Any, dst: Any, weights: Any, directed: bool, duplicates: str, loops: str) -> Any:
    """Sorted (source, target, weight) of all slots, by the definition."""
    lists: dict[tuple[int, int], list[Any]] = {}
    for s, d, w in zip(src, dst, weights, strict=True):
        if s == d and loops == "drop":
            continue
        pair = (s, d) if directed else (min(s, d), max(s, d))
        lists.setdefault(pair, []).append(w)
    slots = []
    for (s, d), several in lists.items():
        for w in PICK[duplicates](several):
            slots.append((s, d, w))
            if not directed and s != d:
                slots.append((d, s, w))
    return sorted(slots, key=lambda slot: slot[:2])  # stable: parallel edges keep their order


def slots_of(graph: fr.Graph) -> list[tuple[int, int, Any]]:
    assert graph.offsets[0] == 0
    assert graph.offsets[-1] == graph.num_slots
    weights = [None] * graph.num_slots if graph.weights is None else graph.weights.tolist()
    return list(zip(graph.sources.tolist(), graph.targets.tolist(), weights, strict=True))


@st.composite
def edge_lists(draw: st.DrawFn) -> tuple[int, list[int], list[int], list[int]]:
    n = draw(st.integers(1, 9))
    size = draw(st.integers(0, 30))
    numbers = [
        draw(st.lists(st.integers(lo, hi), min_size=size, max_size=size))
        for lo, hi in ((0, n - 1), (0, n - 1), (-5, 9))
    ]
    return n, *numbers


@given(edge_lists(), st.booleans(), st.sampled_from(DUPLICATES), st.sampled_from(["keep", "drop"]))
def test_slots_are_those_of_the_definition(edges: Any, directed: bool, duplicates: str, loops: str) -> None:
    n, src, dst, weights = edges
    options = {"directed": directed, "duplicates": duplicates, "self_loops": loops}
    graph = fr.from_edges(src, dst, weights, num_vertices=n, **options)
    want = expected(src, dst, weights, directed, duplicates, loops)
    assert slots_of(graph) == want
    assert graph.num_vertices == n
    bare = fr.from_edges(src, dst, num_vertices=n, **options)
    assert slots_of(bare) == [(s, d, None) for s, d, _ in want]


@pytest.mark.parametrize("duplicates", DUPLICATES)
@pytest.mark.parametrize("directed", [True, False])
def test_many_edges_on_threads_with_columns(duplicates: str, directed: bool) -> None:
    rng = np.random.default_rng(3)
    n, count = 40_000, 70_000  # enough for several buckets and for threads
    src, dst = rng.integers(0, n, (2, count))
    hub = rng.integers(0, count, count // 10)
    src[hub], dst[hub[: len(hub) // 2]] = 7, 8
    weights = rng.integers(1, 100, count).astype(np.float32)
    number = np.arange(count)
    graph = fr.from_edges(
        src,
        dst,
        weights,
        num_vertices=n,
        directed=directed,
        duplicates=duplicates,
        edges={"number": number},
    )
    want = expected(src.tolist(), dst.tolist(), weights.tolist(), directed, duplicates, "keep")
    assert slots_of(graph) == want
    if duplicates != "sum":  # then the column belongs to the edge whose weight stayed
        assert np.array_equal(graph.weights, weights[graph.edges["number"]])
    ends = np.sort([src, dst], axis=0)[:, graph.edges["number"]]
    assert np.array_equal(ends, np.sort([graph.sources, graph.targets], axis=0))


@pytest.mark.parametrize(("duplicates", "kept"), [("min", 1), ("max", 0), ("last", 4)])
def test_the_first_of_equal_weights_stays(duplicates: str, kept: int) -> None:
    weights, number = [9, 3, 3, 9, 5], np.arange(5)
    graph = fr.from_edges([0, 1, 0, 1, 0], [1, 0] * 2 + [1], weights, duplicates=duplicates, edges={"number": number})
    assert graph.edges["number"].tolist() == [kept, kept]


def test_the_number_of_threads_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    src, dst = rng.integers(0, 3000, (2, 100_000))
    weights = rng.random(100_000)
    graphs = []
    for count in (1, 2, 5):
        monkeypatch.setattr(build_sort.threads, "num_threads", lambda count=count: count)
        graphs.append(fr.from_edges(src, dst, weights, duplicates="sum"))
    for other in graphs[1:]:
        assert np.array_equal(graphs[0].targets, other.targets)
        assert np.array_equal(graphs[0].weights, other.weights)
    assert graphs[0].num_slots < 200_000


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "uint64"])
def test_ids_of_any_integer_dtype(dtype: str) -> None:
    graph = fr.from_edges(np.array([0, 2], dtype), np.array([1, 100], dtype))
    assert graph.num_vertices == 101
    assert graph.targets.dtype == graph.offsets.dtype == np.int32


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("duplicates", ["first", "max", "sum"])
def test_weights_keep_their_dtype(dtype: str, duplicates: str) -> None:
    graph = fr.from_edges([0, 1, 1], [1, 0, 2], np.array([3, 4, 5], dtype), duplicates=duplicates)
    assert graph.weights.dtype == dtype
    first = {"first": 3, "max": 4, "sum": 7}[duplicates]
    assert graph.weights.tolist() == [first, first, 5, 5]


@pytest.mark.parametrize("values", [[1.5, 2.5], np.array([1.5, 2.5], ">f4")])
def test_weights_of_other_layouts(values: Any) -> None:
    assert fr.from_edges([0, 1], [1, 2], values, directed=True).weights.tolist() == [1.5, 2.5]


def test_zero_vertices_and_zero_edges() -> None:
    for graph, n in ((fr.from_edges([], []), 0), (fr.from_edges([], [], [], num_vertices=4), 4)):
        assert (graph.num_vertices, graph.num_slots) == (n, 0)
        assert graph.offsets.tolist() == [0] * (n + 1)
        assert graph.in_sources.tolist() == graph.sources.tolist() == []
        assert graph.min_weight is None


def test_names_are_numbered_as_they_appear() -> None:
    graph = fr.from_edges(["b", "c"], ["a", "b"], directed=True)
    assert graph.labels.tolist() == ["b", "a", "c"]
    assert graph.sources.tolist() == [0, 2]
    pairs = fr.from_edges([(0, 1), (0, 2)], [(0, 2), (5, 5)])
    assert pairs.labels.tolist() == [(0, 1), (0, 2), (5, 5)]
    mixed = fr.from_edges(["x", 3], [3, "y"])
    assert mixed.labels.tolist() == ["x", 3, "y"]


def test_labels_true_takes_numbers_for_names() -> None:
    graph = fr.from_edges([10**12, 5], [5, 7], labels=True)
    assert graph.labels.tolist() == [10**12, 5, 7]
    assert graph.vertex_id(7) == 2


def test_given_labels() -> None:
    by_name = fr.from_edges(["b"], ["a"], labels=["a", "b", "c"], directed=True)
    by_id = fr.from_edges([1], [0], labels=["a", "b", "c"], directed=True)
    for graph in (by_name, by_id):
        assert slots_of(graph) == [(1, 0, None)]
        assert graph.num_vertices == 3


def test_integers_that_come_as_objects_are_ids() -> None:
    graph = fr.from_edges(np.array([0, 3], object), [1, 2])
    assert graph.labels is None
    assert graph.num_vertices == 4


def test_the_graph_does_not_see_later_writes() -> None:
    src, dst, weights, column = np.array([0]), np.array([1]), np.array([2.0]), np.array([5, 6])
    graph = fr.from_edges(src, dst, weights, vertices={"age": column}, labels=np.array(["a", "b"]))
    for array in (src, dst, weights, column):
        array[:] = 9
    assert slots_of(graph) == [(0, 1, 2.0), (1, 0, 2.0)]
    assert graph.vertices["age"].tolist() == [5, 6]


BAD_EDGES = [
    (([0, -1], [1, 1]), {}, r"start at 0, but src\[1\] is -1"),
    (([0], [5]), {"num_vertices": 5}, r"dst\[0\] is 5, but vertices are 0 to 4"),
    (([0], [0]), {"num_vertices": 0}, "there are no vertices"),
    (([0.0], [1.0]), {}, "must be integers, but src is float64"),
    (([True], [False]), {}, "must be integers, but src is bool"),
    (([0, 1], [1]), {}, "same length, not 2 and 1"),
    (([[0, 1]], [[1, 0]]), {}, "one dimension, not 2"),
    (([[0, 1], [2]], [0, 1]), {}, "src is not an array"),
    (([2**63], [0]), {}, "beyond int64"),
    (([2**70], [0]), {}, "beyond int64"),
    (([0], [2**45]), {}, "labels=True"),
    (([0], [1], [1.0, 2.0]), {}, "2 weights for 1 edges"),
    (([0, 1], [1, 2], [1.0, np.nan]), {}, "weight 1 is NaN"),
    (([0], [1], ["x"]), {}, "weights must be real numbers"),
    (([0, 1], [1, 2], [1.0, None]), {}, "weight 1 is None"),
    (([0], [1], [1j]), {}, "weights must be real numbers, not complex128"),
    (([0], [1]), {"labels": ["a", "a"]}, "labels must be unique, but 'a' comes again at vertex 1"),
    (([0], [1]), {"labels": ["a"]}, r"dst\[0\] is 1, but vertices are 0 to 0"),
    (([0], [1]), {"labels": ["a", "b", "c"], "num_vertices": 2}, "3 labels for 2 vertices"),
    ((["a"], ["z"]), {"labels": ["a", "b"]}, "the vertex 'z', which is not among the labels"),
    ((["a", None], ["b", "a"]), {}, "edge 1 has None for a vertex name"),
    (([0], [1]), {"num_vertices": -2}, "must not be negative"),
    (([0], [1]), {"num_vertices": 2.5}, "must be an integer, not 2.5"),
    (([0, 1], [1, 0]), {"duplicates": "error"}, r"edge \(0, 1\) is given more than once"),
    (([0, 4], [1, 4]), {"self_loops": "error"}, "edge 1 is a self-loop of vertex 4"),
    (([0], [1]), {"duplicates": "all"}, "duplicates must be one of keep, first"),
    (([0], [1]), {"self_loops": True}, "self_loops must be one of"),
    (([0], [1]), {"vertices": {"age": [1]}}, "'age' has 1 entries for 2 vertices"),
    (([0], [1]), {"edges": {"kind": [1, 2]}}, "'kind' has 2 entries for 1 edges"),
    (([0], [1]), {"edges": {3: [1]}}, "must be a string, not 3"),
    (([0, 1], [1, 0], np.array([100, 100], "int8")), {"duplicates": "sum"}, "int8 cannot hold"),
    (([0, 1], [1, 0], [2**62, 2**62]), {"duplicates": "sum"}, "more than int64 holds"),
]


@pytest.mark.parametrize(("arguments", "options", "message"), BAD_EDGES)
def test_bad_edges_are_refused(arguments: Any, options: Any, message: str) -> None:
    with pytest.raises(fr.GraphError, match=message):
        fr.from_edges(*arguments, **options)


def test_a_duplicate_is_named_by_its_ids_in_a_large_graph() -> None:
    n = 100_000
    src = np.concatenate([np.arange(n - 1), [n - 2]])
    with pytest.raises(fr.GraphError, match=r"edge \(99998, 99999\)"):
        fr.from_edges(src, src + 1, directed=True, duplicates="error")


@pytest.mark.parametrize("bits", [31, 32, 33, 40, 52])
def test_keys_fit_whatever_the_number_of_vertices(bits: int) -> None:
    """Graphs of 2**40 vertices cannot be built in a test, but their keys can be laid out."""
    for edges in (10, 10**9):
        buckets = build_sort.Layout(2**bits, edges)
        assert buckets.bits == bits
        assert buckets.shift + buckets.bits <= 63
        assert (2**bits - 1) >> buckets.shift == buckets.count - 1


# -- from_csr -------------------------------------------------------------------------------


def test_rows_that_ascend_are_shared() -> None:
    offsets, targets = np.array([0, 2, 3], np.int32), np.array([0, 1, 0], np.int32)
    graph = fr.from_csr(offsets, targets)
    assert np.shares_memory(graph.targets, targets)
    assert np.shares_memory(graph.offsets, offsets)
    assert targets.flags.writeable
    assert graph.directed


def test_rows_that_do_not_ascend_are_sorted() -> None:
    graph = fr.from_csr([0, 3, 3, 4], [2, 0, 1, 1], [1.0, 2.0, 3.0, 4.0], edges={"e": [0, 1, 2, 3]})
    assert slots_of(graph) == [(0, 0, 2.0), (0, 1, 3.0), (0, 2, 1.0), (2, 1, 4.0)]
    assert graph.edges["e"].tolist() == [1, 2, 0, 3]


def test_rows_of_an_undirected_graph() -> None:
    graph = fr.from_csr([0, 1, 3, 4], [1, 0, 2, 1], [1, 1, 2, 2], directed=False)
    assert graph.symmetric
    assert graph.in_offsets is graph.offsets


BAD_ROWS = [
    (([0, 1], [1]), {}, r"targets\[0\] is 1, but vertices are 0 to 0"),
    (([], []), {}, "at least one entry"),
    (([0, 2], [0]), {}, "from 0 to the number of targets, 1"),
    (([1, 1], [0]), {}, "from 0 to the number of targets, 1"),
    (([0, 2, 1, 2], [0, 0]), {}, "must not fall, but do at vertex 1"),
    (([0.0, 1.0], [0]), {}, "offsets must be integers, not float64"),
    (([0, 1], ["a"]), {}, "must be integers, but targets is"),
    (([0, 1], [0], [1, 2]), {}, "2 weights for 1 edges"),
    (([0, 1, 1], [1]), {"directed": False}, r"\(0, 1\) has no reverse"),
    (([0, 0, 1], [0]), {"directed": False}, r"\(1, 0\) has no reverse"),
    (([0, 2, 3], [1, 1, 0]), {"directed": False}, r"\(0, 1\) has no reverse"),
    (([0, 1, 2], [1, 0], [1, 2]), {"directed": False}, r"\(0, 1\) has 1 and \(1, 0\) has 2"),
]


@pytest.mark.parametrize(("arguments", "options", "message"), BAD_ROWS)
def test_bad_rows_are_refused(arguments: Any, options: Any, message: str) -> None:
    with pytest.raises(fr.GraphError, match=message):
        fr.from_csr(*arguments, **options)


# -- what is probably not meant -------------------------------------------------------------


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int8])
@pytest.mark.parametrize("columns", [None, {"k": [1, 2, 3, 4]}])
def test_duplicates_of_different_weights(directed: bool, dtype: Any, columns: Any) -> None:
    src, dst = [2, 0, 0, 1], [2, 1, 1, 1]
    given = {"directed": directed, "edges": columns}
    with pytest.warns(fr.FrontierWarning, match=r"the edge \(0, 1\).* the first is kept: duplicates='sum'") as said:
        graph = fr.from_edges(src, dst, np.array([1, 5, 6, 7], dtype), **given)
    assert len(said) == 1
    assert said[0].filename == __file__
    assert graph.weights[0] == 5
    with warnings.catch_warnings(action="error"):
        fr.from_edges(src, dst, np.array([1, 5, 5, 7], dtype), **given)
        fr.from_edges(src, dst, **given)
        for duplicates in DUPLICATES:
            fr.from_edges(src, dst, np.array([1, 5, 6, 7], dtype), duplicates=duplicates, **given)


def test_both_directions_of_an_undirected_edge() -> None:
    with pytest.warns(fr.FrontierWarning, match=r"the edge \(a, b\)"):
        fr.from_edges(["a", "b"], ["b", "a"], [1, 2])
    with warnings.catch_warnings(action="error"):
        fr.from_edges(["a", "b"], ["b", "a"], [1, 2], directed=True)
        fr.rmat(6, 16, seed=1, weights=(1, 99))


def test_ids_that_are_no_numbering() -> None:
    far = [*range(0, 9000, 9)]
    for src, dst, directed in (([9001], [9003], False), ([9001], [9003], True), ([0] * len(far), far, True)):
        with pytest.warns(fr.FrontierWarning, match=r"of them occur: .* labels=True .* num_vertices=") as said:
            fr.from_edges(src, dst, directed=directed)
        assert len(said) == 1
    ids = np.arange(4000)
    with warnings.catch_warnings(action="error"):
        fr.from_edges([900], [901])  # few
        fr.from_edges([9001], [9003], labels=True)
        fr.from_edges([9001], [9003], num_vertices=9004)
        fr.from_edges(ids[::4], ids[::4] + 1)  # a half of them
        fr.from_edges(np.zeros(2000, int), ids[::2], directed=True)
        fr.from_edges([], [])
