"""Graphs, problems and frontiers on a GPU, as the host sees them.

Everything runs twice: with a double of CuPy, which is strict about what lies where, and, marked ``gpu``, with CuPy.
"""

from __future__ import annotations

import gc
import importlib
import pickle
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies
from strict_cupy import module, pool

import frontier as fr
from frontier import device, gpus, memory
from frontier.primitives.bc import BetweennessResult
from frontier.primitives.bfs import BFSResult, bfs_problem
from frontier.primitives.cc import ComponentsResult, components_problem
from frontier.primitives.pagerank import PageRankResult, _out_weight, _teleport
from frontier.primitives.sssp import sssp_problem

A100 = gpus.Gpu("A100", 1 << 36, (8, 0))
DRIVER = gpus.Driver((12, 8), (A100,))


@pytest.fixture(scope="module", params=["double", pytest.param("device", marks=pytest.mark.gpu)])
def xp(request: pytest.FixtureRequest) -> Iterator[Any]:
    """CuPy, or its double in its place."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "double":
            patch.delenv("NUMBA_ENABLE_CUDASIM", raising=False)
            patch.setattr(device, "_ready", True)
            patch.setattr(device, "_cupy", lambda: module)
            yield module
        elif device.simulated() or not device.available():
            pytest.skip(f"no GPU: {device.missing() or 'numba simulates one'}")
        else:
            yield importlib.import_module("cupy")


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")


def same(there: Any, here: Any) -> None:
    """Both arrays are equal, in dtype too, and the first lies on the GPU."""
    assert device.is_device(there)
    assert there.dtype == here.dtype
    np.testing.assert_array_equal(device.to_host(there), here)


def same_graphs(there: fr.Graph, here: fr.Graph) -> None:
    assert (there.backend, here.backend) == ("cuda", "cpu")
    assert there.directed == here.directed
    same(there.offsets, here.offsets)
    same(there.targets, here.targets)
    assert (there.weights is None) == (here.weights is None)
    if here.weights is not None:
        same(there.weights, here.weights)
    for mine, other in ((there.vertices, here.vertices), (there.edges, here.edges)):
        assert list(mine) == list(other)
        for name, column in other.items():
            np.testing.assert_array_equal(device.to_host(mine[name]), column)


def rich_graph(directed: bool = True) -> fr.Graph:
    """A graph with everything that a graph can have."""
    return fr.from_edges(
        list("abcda"), list("bcdac"), [1.5, 2.5, 3.5, 4.5, 5.5], directed=directed,
        vertices={"size": [1, 2, 3, 4], "name": list("ABCD")}, edges={"kind": np.arange(5), "word": list("vwxyz")},
    )  # fmt: skip


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
    assert there.vertex_id("c") == there.vertex_id(xp.asarray(2)) == 2


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
    assert (there.max_degree, there.min_weight, there.max_weight) == (
        int(graph.out_degree.max()), graph.min_weight, graph.max_weight
    )  # fmt: skip


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
    assert fr.from_edges(src, dst, xp.arange(3.0)).backend == "cpu"


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


class Shared:
    """What another library shows of an array on a GPU."""

    def __init__(self, array: Any) -> None:
        self._array = array  # keeps the memory
        self.__cuda_array_interface__ = array.__cuda_array_interface__


class Capsuled:
    """The same by DLPack."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, **named: Any) -> Any:
        return self._array.__dlpack__(**named)


def test_arrays_of_other_libraries(xp: Any) -> None:
    offsets, targets = xp.asarray(np.array([0, 1, 2], np.int32)), xp.asarray(np.array([1, 0], np.int32))
    graph = fr.from_csr(Shared(offsets), Shared(targets))
    assert graph.backend == "cuda"
    assert isinstance(graph.targets, xp.ndarray)
    for made, given_ in ((graph.offsets, offsets), (graph.targets, targets)):
        assert made.__cuda_array_interface__["data"][0] == given_.__cuda_array_interface__["data"][0]
    assert device.is_device(Capsuled(targets))
    if xp is not module:
        graph = fr.from_csr(Capsuled(offsets), Capsuled(targets))
        assert graph.targets.data.ptr == targets.data.ptr
    with pytest.raises(fr.GraphError, match="lies on a GPU, but cannot be read there"):
        fr.from_edges(Capsuled(None), [0])


# -- frontiers ---------------------------------------------------------------------------------------


def test_frontiers(xp: Any) -> None:
    graph = fr.path(6).to("cuda")
    one, some = fr.Frontier(graph, [3]), fr.Frontier(graph, xp.asarray([3, 1, 3]))
    assert type(one._ids) is np.ndarray  # until somebody asks
    assert (len(one), len(some), bool(one), 1 in some, 2 in some) == (1, 2, True, True, False)
    same(one.ids, np.array([3], np.int32))
    same(some.ids, np.array([1, 3], np.int32))
    assert sorted(some) == [1, 3]
    assert sorted(some | fr.Frontier(graph, [0])) == [0, 1, 3]
    assert sorted(some & one) == [3]
    assert sorted(some - one) == [1]
    assert some - one == fr.Frontier(graph, [1])
    same(some.mask, np.array([0, 1, 0, 1, 0, 0], bool))
    same(fr.Frontier.all(graph).ids, np.arange(6, dtype=np.int32))
    same(fr.Frontier._of(graph, "vertex", mask=some.mask).ids, np.array([1, 3], np.int32))
    assert repr(some) == "Frontier(2 vertices: 1, 3)"
    assert not fr.Frontier(graph)
    assert some.host_ids().tolist() == [1, 3]
    assert sorted(fr.Frontier(graph.to("cpu"), xp.asarray([2]))) == [2]
    with pytest.raises(fr.FrontierError, match="do not mix: one lies on 'cuda', the other on 'cpu'"):
        _ = one | fr.Frontier(graph.to("cpu"), [1])
    for wrong in ([6], xp.asarray([1, 6])):
        with pytest.raises(fr.GraphError, match=r"vertex 6 does not exist: valid are 0\.\.5"):
            fr.Frontier(graph, wrong)
    with pytest.raises(fr.GraphError, match="are integers, not float64"):
        fr.Frontier(graph, xp.asarray([1.0]))


# -- problems ----------------------------------------------------------------------------------------


def test_fields(xp: Any) -> None:
    graph = fr.path(4).to("cuda")
    p = fr.Problem(
        graph,
        level=fr.vertex("int32", -1),
        small=fr.vertex("uint8", 7),
        length=fr.vertex("float64", np.inf),
        flag=fr.vertex("bool", True),
        given=fr.vertex("int64", [1, 2, 3, 4]),
        taken=fr.vertex("int32", xp.arange(4)),
        slot=fr.edge("float32"),
        own=fr.array([5, 6]),
        theirs=fr.array(xp.asarray([5.0])),
        depth=fr.scalar("int32", 3),
        far=fr.pile(),
    )
    expected = {
        "level": np.full(4, -1, np.int32), "small": np.full(4, 7, np.uint8), "length": np.full(4, np.inf),
        "flag": np.ones(4, bool), "given": np.arange(1, 5), "taken": np.arange(4, dtype=np.int32),
        "slot": np.zeros(6, np.float32), "own": np.array([5, 6]), "theirs": np.array([5.0]),
    }  # fmt: skip
    for name, values in expected.items():
        same(getattr(p, name), values)
    assert type(p.scalars["depth"]) is np.ndarray
    p.level[0] = 0
    assert p.level.tolist() == [0, -1, -1, -1]
    p.level = [4, 5, 6, 7]
    assert p.level.tolist() == [4, 5, 6, 7]
    p.level = xp.asarray([7, 6, 5, 4])
    assert p.level.tolist() == [7, 6, 5, 4]
    p.level = 2
    assert p.level.tolist() == [2, 2, 2, 2]
    p.depth = xp.asarray(9)
    assert p.depth == 9
    p.far = [1, 2]
    assert len(p.far) == 2


def test_a_field_is_not_the_array_it_was_made_from(xp: Any) -> None:
    graph, values = fr.path(3).to("cuda"), xp.arange(3)
    p = fr.Problem(graph, a=fr.vertex("int64", values), b=fr.array(values))
    p.a[0] = p.b[0] = 5
    assert values.tolist() == [0, 1, 2]


def test_values_from_a_gpu_on_the_host(xp: Any) -> None:
    p = fr.Problem(fr.path(3), a=fr.vertex("int32", xp.arange(3)), b=fr.array(xp.arange(2)))
    assert type(p.a) is type(p.b) is np.ndarray
    p.a = xp.asarray([3, 4, 5])
    assert p.a.tolist() == [3, 4, 5]


def test_values_that_do_not_fit(xp: Any) -> None:
    graph = fr.path(3).to("cuda")
    p = fr.Problem(graph, a=fr.vertex("int32"))
    with pytest.raises(fr.FrontierError, match="does not fit"):
        p.a = xp.asarray([0, 0, 2**40])
    with pytest.raises(fr.FrontierError, match="not a whole number"):
        p.a = xp.asarray([0, 0, 0.5])
    with pytest.raises(fr.FrontierError, match=r"values of shape \(2,\), but there are 3 entries"):
        p.a = xp.asarray([0, 0])


# -- primitives --------------------------------------------------------------------------------------


def test_problems_of_primitives(xp: Any) -> None:
    graph = fr.grid(2, 3, weights=(1, 9), seed=1)
    there = graph.to("cuda")
    for made, expected in (
        (bfs_problem(there, 2), bfs_problem(graph, 2)),
        (sssp_problem(there, 2), sssp_problem(graph, 2)),
        (components_problem(there), components_problem(graph)),
    ):
        for name, values in expected.arrays.items():
            same(made.arrays[name], values)
        tuned = {"delta", "first", "few", "many"}  # widths of limits, which are others on a GPU
        for name in expected.scalars.keys() - tuned:
            assert made.scalars[name] == expected.scalars[name]
    np.testing.assert_allclose(device.to_host(_out_weight(there)), _out_weight(graph))
    same(_teleport(there, {1: 2.0, 3: 2.0}), np.array([0, 0.5, 0, 0.5, 0, 0]))
    same(_teleport(there, xp.ones(6)), np.full(6, 1 / 6))


def test_helpers_of_results(xp: Any) -> None:
    reached = BFSResult(0, xp.asarray([0, 1, 2, -1]), xp.asarray([0, 0, 1, -1]))
    assert reached.path_to(2) == [0, 1, 2]
    assert reached.path_to(3) == []
    assert "BFSResult(source=0" in repr(reached)
    assert ComponentsResult(xp.asarray([0, 1, 1]), 2).sizes() == {1: 2, 0: 1}
    ranks = PageRankResult(xp.asarray([0.2, 0.5, 0.3]), 1, 0.0, 0.85, 0.0, False, None)
    assert ranks.top(2) == [(1, 0.5), (2, 0.3)]


def test_verifying(xp: Any) -> None:
    graph = fr.grid(3, 4, weights=(1, 9), seed=1)
    there = graph.to("cuda")

    def moved(result: Any) -> Any:
        fields = {name: getattr(result, name) for name in result.__dataclass_fields__}
        arrays = {name: xp.asarray(value) for name, value in fields.items() if isinstance(value, np.ndarray)}
        return type(result)(**{**fields, **arrays})

    for name in ("bfs", "sssp", "connected_components", "pagerank", "betweenness"):
        given_ = (0,) if name in ("bfs", "sssp") else ()
        result = moved(getattr(fr, name)(graph, *given_))
        assert getattr(fr.verify, name)(there, result)
    wrong = BetweennessResult(xp.ones(12), xp.arange(12), False)
    assert not fr.verify.betweenness(there, wrong)
    with pytest.raises(fr.NegativeWeightError, match=r"edge 0 -> 1 \(slot 0\) has weight -1"):
        fr.verify.sssp(fr.from_csr(xp.asarray([0, 1, 1]), xp.asarray([1]), xp.asarray([-1])), result)


# -- memory ------------------------------------------------------------------------------------------


def test_what_does_not_fit_is_said_before(xp: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = fr.grid(10, 10)
    there = graph.to("cuda")
    monkeypatch.setattr(memory, "SMALL", 1)
    monkeypatch.setattr(device, "free_memory", lambda *_: 100)
    with pytest.raises(fr.DeviceMemoryError, match=r"100 are free on cuda .*Graph.to\('cpu'\)"):
        fr.grid(10, 11).to("cuda")
    with pytest.raises(fr.DeviceMemoryError, match="fields of a problem: at least 400 bytes"):
        fr.Problem(there, a=fr.vertex("int32"))
    with pytest.raises(fr.DeviceMemoryError, match="the rows of 100 edges"):
        fr.from_edges(xp.arange(100), xp.arange(100))
    monkeypatch.undo()
    same(there.out_degree, graph.out_degree)


def test_memory_that_is_used_up(xp: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = fr.grid(300, 300).to("cuda")
    used = xp.get_default_memory_pool()
    if xp is module:
        monkeypatch.setattr(pool, "limit", 100_000)
    else:
        gc.collect()
        used.free_all_blocks()
        used.set_limit(used.total_bytes() + 100_000)
    try:
        with pytest.raises(fr.DeviceMemoryError, match=r"fields of a problem: at least [\d,]+ bytes .* free on cuda"):
            fr.Problem(graph, a=fr.vertex("float64", 1.5))
        with pytest.raises(fr.DeviceMemoryError, match="the out degree of a graph"):
            _ = graph.out_degree
    finally:
        if xp is module:
            monkeypatch.undo()
        else:
            used.set_limit(0)
    assert int(graph.out_degree.max()) == graph.max_degree == 4


# -- what is missing ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("driver", "absent", "built", "message"),
    [
        (gpus.Driver(problem="there is no NVIDIA driver"), (), 13, "there is no NVIDIA driver"),
        (gpus.Driver((12, 8), problem="no GPU to this process"), (), 13, "no GPU to this process"),
        (gpus.Driver((11, 4), (A100,)), (), 13, "runs CUDA 11.4, and 12.0 is needed"),
        (gpus.Driver((12, 8), (gpus.Gpu("P100", 1, (6, 0)),)), (), 13, "P100 has compute capability 6.0"),
        (DRIVER, ("cupy",), 13, r'CuPy is not installed: pip install "frontier-gpu\[cuda12\]"'),
        (gpus.Driver((13, 0), (A100,)), ("cupy",), 13, r'pip install "frontier-gpu\[cuda13\]"'),
        (DRIVER, (), 13, "built for CUDA 13, and the NVIDIA driver runs CUDA 12.8: pip uninstall cupy-cuda13x, then"),
        (DRIVER, ("numba_cuda",), 12, "numba-cuda is not installed"),
    ],
)
def test_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, driver: gpus.Driver, absent: tuple[str, ...], built: int, message: str
) -> None:
    pytest.importorskip("cupy", reason="CuPy's own version is asked for")
    import cupy

    monkeypatch.delenv("NUMBA_ENABLE_CUDASIM", raising=False)
    monkeypatch.setattr(device, "_ready", False)
    monkeypatch.setattr(gpus, "find", lambda: driver)
    monkeypatch.setattr(gpus, "find_spec", lambda name: None if name in absent else name)
    monkeypatch.setattr(cupy.cuda.runtime, "runtimeGetVersion", lambda: built * 1000)
    with pytest.raises(fr.BackendUnavailableError, match=f"the backend 'cuda' is not there: .*{message}"):
        fr.path(3).to("cuda")
    assert fr.path(3).to("auto").backend == "cpu"
    assert not device.available()


def test_arrays_where_no_gpu_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "missing", lambda: "there is no driver")
    with pytest.raises(fr.BackendUnavailableError, match="lies on a GPU, and the backend 'cuda' is not there: there"):
        fr.from_edges(Capsuled(None), [1])


def test_gpus_by_number(xp: Any) -> None:
    with pytest.raises(fr.BackendUnavailableError, match="there is no backend 'cuda:99': this process sees"):
        fr.path(3).to("cuda:99")
    with pytest.raises(fr.GraphError, match="no backend 'cuda:x'"):
        fr.path(3).to("cuda:x")
    assert [device.index_of(device.named(i)) for i in (0, 1, 12)] == [0, 1, 12]


# -- simulated ---------------------------------------------------------------------------------------


def test_numpy_stands_in_for_cupy(simulated: None) -> None:
    graph = rich_graph()
    there = graph.to("auto")
    assert there.backend == "cuda"
    assert type(there.targets) is np.ndarray
    assert not np.shares_memory(there.targets, graph.targets)
    for name in ("sources", "in_degree", "in_offsets", "in_sources", "in_edges"):
        np.testing.assert_array_equal(getattr(there, name), getattr(graph, name))
    p = fr.Problem(there, level=fr.vertex("int32", -1), depth=fr.scalar("int32"))
    p.level[0] = 0
    assert p.level.tolist() == [0, -1, -1, -1]
    assert sorted(fr.Frontier(there, [1, 2]) - fr.Frontier(there, [1])) == [2]
    with pytest.raises(fr.BackendUnavailableError, match="'cuda:1': this process sees one GPU, 'cuda'"):
        graph.to("cuda:1")


def test_memory_that_is_used_up_simulated(simulated: None) -> None:
    with pytest.raises(fr.DeviceMemoryError, match="a thing: at least 0 bytes"), device.using("cuda", "a thing"):
        raise MemoryError
