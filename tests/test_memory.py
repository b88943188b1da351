"""What ``Graph.memory_estimate`` says of primitives, beside what they take: array by array, and of a GPU's pool."""

from __future__ import annotations

import gc
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from compare import workers
from conftest import Backend

import frontier as fr
from frontier import Placement, batched_sources, registry
from frontier.backends import Backend as Computing
from frontier.backends.run import workspace
from frontier.backends.run.workspace import Workspace
from frontier.memory import kept
from frontier.memory.arrays import to_host
from frontier.memory.gpu import gpu
from frontier.program.problem import Problem
from frontier.registry import Plan, PrimitiveEntry

CALLS: dict[str, Callable[[fr.Graph], Any]] = {
    "bfs": lambda g: fr.bfs(g, hub(g)),
    "sssp": lambda g: fr.sssp(g, hub(g)),
    "pagerank": fr.pagerank,
    "cc": fr.connected_components,
    "bc": fr.betweenness,
}

#: Bytes of arrays that are neither fields nor of the workspace: first labels, and out-degrees.
BESIDE: dict[str, Callable[[fr.Graph], int]] = {
    "pagerank": lambda g: g.out_degree.nbytes,
}

KINDS = pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
NAMES = pytest.mark.parametrize("name", CALLS)


def hub(g: fr.Graph) -> int:
    return int((g.offsets[1:] - g.offsets[:-1]).argmax())


def rmat(scale: int, directed: bool) -> fr.Graph:
    g = fr.rmat(scale, 16, directed=directed, weights=(1, 64), seed=1)
    return g.with_weights(g.weights.astype(np.float32))


def fresh(g: fr.Graph) -> fr.Graph:
    """The same rows as a graph of which nothing has been derived."""
    return fr.Graph(g.offsets, g.targets, g.weights, directed=g.directed, placement=g.placement, check=False)


def built(g: fr.Graph, name: str) -> bool:
    return name in g._topology.built()


@pytest.fixture
def problems(monkeypatch: pytest.MonkeyPatch) -> list[Problem]:
    """All problems that a test makes."""
    found: list[Problem] = []
    make = Problem.__init__

    def noting(p: Problem, *given: Any, **fields: Any) -> None:
        make(p, *given, **fields)
        found.append(p)

    monkeypatch.setattr(Problem, "__init__", noting)
    return found


def taken(g: fr.Graph, problems: list[Problem]) -> int:
    """Bytes of the fields of some problems, of the workspaces of their graphs without the threads' own memory, and of
    the rows of those that are copies of ``g``."""
    found = sum(array.nbytes for p in problems for array in p.arrays.values())
    for graph in {p.graph for p in problems}:
        (work,) = workspace._pool[graph]
        own = ("local", "words")
        found += sum(array.nbytes for (_, role, _), array in work.arrays.items() if role not in own)
        if graph is not g:
            lists = graph._topology.built().get("in_lists", ())
            found += sum(array.nbytes for array in (graph.offsets, graph.targets, *lists))
    return found


@NAMES
@KINDS
@pytest.mark.parametrize("slots", ["int32", "int64"])
def test_arrays_of_a_call(compiled: Backend, name: str, directed: bool, slots: str, problems: list[Problem]) -> None:
    g = rmat(6, directed)
    g = fresh(compiled(fr.Graph(g.offsets.astype(slots), g.targets, g.weights, directed=directed, check=False)))
    said = g.memory_estimate(name)
    problems.clear()
    assert "in_lists" not in g._topology.built()
    CALLS[name](g)
    assert built(g, "in_lists") == (said.in_edges > 0)
    there = taken(g, problems) + BESIDE.get(name, lambda g: 0)(g)
    assert there <= 1.1 * said.fields
    assert there >= 0.9 * said.fields


@pytest.mark.parametrize("name", ["bfs", "bc"])
def test_searches_pull(name: str) -> None:
    g = fresh(rmat(9, True))
    said = g.memory_estimate(name)
    CALLS[name](g)
    assert built(g, "in_lists")
    assert said.in_edges == g.in_offsets.nbytes + g.in_sources.nbytes


def test_estimates_make_nothing(backend: Backend, problems: list[Problem]) -> None:
    g = backend(rmat(6, True)).with_weights(None)  # without weights fr.sssp is counted as with some
    for name in CALLS:
        assert g.memory_estimate(name).fields > 20 * g.num_vertices
        assert g not in workspace._pool
    assert not any(p.arrays.keys() - {"sources"} for p in problems)
    assert built(g, "max_degree")  # by which kernels and schedules are chosen
    assert not any(built(g, name) for name in ("in_lists", "sources", "out_degree"))


def test_programs_of_another_backend_are_counted_as_those_of_the_cpu() -> None:
    class Idle(Computing):
        name = "idle"
        keeps_pairs = True

        def start(self, *given: Any) -> Any:
            raise NotImplementedError

    g = rmat(6, False)
    there = Placement(Idle(), g.placement.memory, g.placement.edges)
    for name in CALLS:
        assert g.to(there).memory_estimate(name) == g.memory_estimate(name)


def test_a_plan_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def seen(p, v):  # type: ignore[no-untyped-def]
        return p.mark[v] == 0

    class Marked(fr.Enactor):
        loop = fr.Sequence(fr.Filter(seen), over="vertices")

    def plan(g: fr.Graph) -> Plan:
        return Plan({"mark": fr.vertex("int32"), "length": fr.edge("float64")}, [Marked], beside=7)

    monkeypatch.setattr(registry, "_entries", dict(registry.primitives()))
    registry.register_primitive(PrimitiveEntry("marked", lambda g: None, "marks", memory=plan))
    g = rmat(6, True)
    queues = 2 * 4 * (g.num_vertices + 1)
    least = 4 * g.num_vertices + 8 * g.num_slots + queues + 7
    said = g.memory_estimate("marked")
    assert least <= said.fields <= least + queues  # scans, too, if the step makes them
    assert said.in_edges == 0
    with pytest.raises(fr.GraphError, match=r"nothing is known of the memory of .nonsense.: bc, .*marked"):
        g.memory_estimate("nonsense")


@pytest.mark.parametrize("count", [1, 3])
def test_places_of_each_thread(count: int, monkeypatch: pytest.MonkeyPatch, problems: list[Problem]) -> None:
    """Intersect takes memory of the size of the vertices for each thread of a CPU."""

    def common(p, u, v, w):  # type: ignore[no-untyped-def]
        return 1

    class Common(fr.Enactor):
        loop = fr.Intersect(common, "sum", into="total", over="edges")

    def fields() -> dict[str, Any]:
        return {"total": fr.scalar("int64")}

    monkeypatch.setattr(registry, "_entries", dict(registry.primitives()))
    registry.register_primitive(
        PrimitiveEntry("common", lambda g: None, "counts", memory=lambda g: Plan(fields(), [Common]))
    )
    g = fresh(rmat(8, False))
    with workers(count):
        said = g.memory_estimate("common")
        problems.clear()
        Common(fr.Problem(g, **fields())).run()
        assert taken(g, problems) == said.fields >= count * g.num_vertices * g.offsets.itemsize


def test_in_edges_that_are_there_are_not_made() -> None:
    g = rmat(6, True)
    said = g.memory_estimate("pagerank")
    assert said.making > 0
    assert "for a while" in str(said)
    assert g.in_sources is not None
    assert g.memory_estimate("pagerank").making == 0
    assert g.memory_estimate("pagerank").in_edges == said.in_edges


def test_short_lists_are_never_pulled_on_a_gpu(cuda: Backend) -> None:
    g = fr.from_edges(range(2999), range(1, 3000), directed=True)
    assert g.memory_estimate("bfs").in_edges > 0
    assert cuda(g).memory_estimate("bfs").in_edges == 0
    assert cuda(g).memory_estimate("cc").in_edges > 0


# -- a GPU's pool ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[False, True], ids=["undirected", "directed"])
def large(cuda: Backend, request: pytest.FixtureRequest) -> fr.Graph:
    return cuda(rmat(18, request.param))


def peak(call: Callable[[], Any]) -> float:
    """The most bytes of CuPy's pool that a call had in use beside what was in use before."""
    from benchmarks.devices import Cuda

    gpu = Cuda()
    gc.collect()
    gpu.free()
    return gpu.peak(call)[1]


@NAMES
@pytest.mark.unsimulated("NumPy has no pool")
def test_peak_of_a_call(large: fr.Graph, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batched_sources, "SLOTS_WIDE", 0)  # no copies
    monkeypatch.setitem(CALLS, "bc", lambda g: fr.betweenness(g, [hub(g)]))
    first = fresh(large)
    said = first.memory_estimate(name)
    CALLS[name](first)
    assert built(first, "in_lists") == (said.in_edges > 0)
    del first
    g = fresh(large)
    if said.in_edges:  # sorting them takes more than all the rest, for a while: the next test
        assert g.in_offsets.nbytes + g.in_sources.nbytes == said.in_edges
    assert peak(lambda: CALLS[name](g)) == pytest.approx(said.fields, rel=0.1)


@pytest.mark.unsimulated("NumPy has no pool")
@KINDS
def test_peak_of_copies(cuda: Backend, directed: bool) -> None:
    """There are some seventy copies of such a graph, and thirty turns."""
    g = cuda(rmat(11, directed))
    said = g.memory_estimate("bc")
    fr.betweenness(g)
    assert peak(lambda: fr.betweenness(g)) == pytest.approx(said.fields, rel=0.1)


@pytest.mark.unsimulated("NumPy has no pool")
def test_peak_of_making_in_edges(large: fr.Graph) -> None:
    g = fresh(large)
    said = g.memory_estimate(in_edges=True)
    assert (said.making > 0) == large.directed
    assert peak(lambda: g.in_sources) == pytest.approx(said.in_edges + said.making, rel=0.1)
    assert g.placement.memory.residence == "device"


def test_workspaces_of_a_gpu_that_no_run_has_are_freed_when_memory_is_short() -> None:
    g = fr.path(5)
    there, here = Workspace(g, object(), id), Workspace(g, np, id)
    array = SimpleNamespace(nbytes=100, device=SimpleNamespace(id=7))
    there.arrays["queue"], there.kept["base"], there.kept["starts"] = array, array, [1, 2]
    there.give_back(g)
    assert (kept.idle_on(7), kept.idle_on(6)) == (200, 0)
    taken = workspace.take(g)
    assert taken is there
    assert kept.idle_on(7) == 0  # a run has it
    there.give_back(g)
    host = fr.path(5)
    here.give_back(host)
    kept.release()
    assert kept.idle_on(7) == 0
    assert workspace.take(g) is None
    assert workspace.take(host) is here  # the host's are not asked for


@pytest.mark.gpu
@pytest.mark.unsimulated("a pool of CuPy's")
def test_a_gpu_that_is_full_of_workspaces() -> None:
    import cupy

    kept.release()
    pool = cupy.cuda.MemoryPool()  # of its own: others' blocks may have room for what is asked for below
    with cupy.cuda.using_allocator(pool.malloc):
        g = fr.rmat(16, 16, weights=(1, 64), seed=1).to("cuda")
        pool.free_all_blocks()
        fr.bfs(g, 5)
        distance = to_host(fr.sssp(g, 5).distance)
        gc.collect()
        idle = kept.idle_on(0)
        assert idle > 20 * g.num_vertices
        pool.free_all_blocks()
        pool.set_limit(pool.total_bytes() + idle // 8)
        assert len(gpu(0).full(idle // 2, 0, "int8")) == idle // 2
        assert kept.idle_on(0) == 0
        pool.set_limit(0)
        assert np.array_equal(to_host(fr.sssp(g, 5).distance), distance)
