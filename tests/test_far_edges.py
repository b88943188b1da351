"""Edges in the host's memory, or in part: the same results as with all of them in the GPU's own."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compare import equal
from conftest import Backend
from strategies import random_graphs

import frontier as fr
from frontier.backends.run import windows
from frontier.memory import detection
from frontier.memory.arrays import to_host
from frontier.memory.limits import parsed
from frontier.operators.advance.heads import heads
from frontier.operators.shared import cuda_far
from frontier.primitives import _communities, leiden
from frontier.program import execution

#: Asked here: while a test runs, a double of CuPy stands for a GPU.
SIMULATED = detection.simulated()
SPLIT = pytest.param("auto", marks=pytest.mark.unsimulated("memory is of one kind there"))


@pytest.fixture(params=["host", SPLIT])
def far(
    request: pytest.FixtureRequest, cuda: Backend, monkeypatch: pytest.MonkeyPatch
) -> Callable[[fr.Graph], fr.Graph]:
    """Move a graph to the GPU, its edges elsewhere; windows are small, so that there are several."""
    monkeypatch.setattr(windows, "SLOTS", 64 if SIMULATED else 256)

    def move(g: fr.Graph) -> fr.Graph:
        if request.param == "host":
            return g.to(cuda.name, edges="host")
        size = g.num_slots * (g.targets.itemsize * (1 if g.symmetric else 2) + (0 if g.weights is None else 8))
        return g.to(cuda.name, edges="auto", memory=size // 2)

    return move


def star() -> fr.Graph:
    """A list for a whole block, and more than one window for it."""
    return fr.star(40 if SIMULATED else 3000)


#: What runs, and what of its result is compared; sums of floats with a tolerance.
RESULTS: dict[str, Callable[[fr.Graph], Any]] = {
    "bfs": lambda g: fr.bfs(g, 0).level,
    "bfs, pull": lambda g: fr.bfs(g, 0, schedule=fr.Schedule(direction="pull")).level,
    "sssp": lambda g: fr.sssp(g, 0).distance,
    "components": lambda g: fr.connected_components(g).label,
    "pagerank": lambda g: fr.pagerank(g, tolerance=0.01).rank,
    "betweenness": lambda g: fr.betweenness(g, [0, 1]).centrality,
    "triangles": lambda g: fr.triangles(g, per_vertex=True).per_vertex,
    "core numbers": lambda g: fr.core_numbers(g).core,
    "labels": lambda g: fr.label_propagation(g, max_iterations=3).label,
    "louvain": lambda g: fr.louvain(undirected(g)).label,
    "leiden": lambda g: fr.leiden(undirected(g)).label,
}


def undirected(g: fr.Graph) -> fr.Graph:
    """Return a graph without directions, where g is."""
    if not g.directed:
        return g
    here = g.to("cpu")
    made = fr.from_edges(here.sources, here.targets, here.weights, num_vertices=g.num_vertices, duplicates="sum")
    return made.to(g.placement)


def spanning_forest(g: fr.Graph) -> Any:
    """The edges of a minimum spanning forest, and its weight."""
    found = fr.minimum_spanning_forest(g)
    return np.append(to_host(found.edges), found.weight)


def matches(g: fr.Graph) -> Any:
    """Where the triangle occurs, in order."""
    found = fr.subgraph_match(g, "triangle", listed=True)
    assert found.count == fr.subgraph_match(g, "triangle").count
    return np.unique(np.sort(to_host(found.matches)), axis=0)


#: test_gather_mode has the gather of labels from the host's memory, for the simulator, too.
SLOW = pytest.mark.unsimulated("takes a minute there")
SLOWEST = ("labels", "louvain", "leiden")


@pytest.mark.parametrize("name", [pytest.param(name, marks=[SLOW] * (name in SLOWEST)) for name in RESULTS])
def test_primitives(far: Callable[[fr.Graph], fr.Graph], name: str) -> None:
    given = list(
        random_graphs(
            1 if SIMULATED else 6,
            seed=7,
            max_vertices=30 if SIMULATED else 200,
            parallel=True,
            weights=("int32",),
        )
    )
    for g in (*given, star().with_weights(np.ones(star().num_slots, np.int32))):
        there = far(g)
        found, expected = (to_host(RESULTS[name](each)) for each in (there, g))
        if expected.dtype.kind == "f":
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)
        else:
            equal(found, expected)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("where", ["host", "disk"])
def test_results_are_computed_with_where_edges_are(cuda: Backend, where: str, weighted: bool) -> None:
    """Programs that compute with whole arrays after their steps, of edges and of fields in another memory."""
    ends = [0, 0, 1, 1, 2, 3, 4, 5], [1, 2, 2, 3, 3, 4, 5, 5]
    g = fr.from_edges(*ends, [4, 1, 3, 2, 5, 1, 2, 2] if weighted else None)
    there = g.to(cuda.name, edges=where)
    equal(spanning_forest(there), spanning_forest(g))
    equal(matches(there), matches(g))
    mine, its = _communities.weighted(there), _communities.weighted(g)
    assert mine.placement == there.placement
    assert _communities.modularity(mine, 1.0) == pytest.approx(_communities.modularity(its, 1.0))
    part = np.asarray([0, 0, 0, 1, 1, 0])
    equal(to_host(leiden.connected(mine, there.placement.memory.moved(part))), leiden.connected(its, part))


def test_results_on_several_gpus(cuda: Backend) -> None:
    """The same, where programs are divided and whole arrays lie on the first GPU."""
    g = fr.from_edges([0, 0, 1, 1, 2, 3, 4], [1, 2, 2, 3, 3, 4, 5], [4, 1, 3, 2, 5, 1, 2])
    equal(spanning_forest(g.to("cuda:0,0")), spanning_forest(g))
    equal(matches(g.to("cuda:0,0")), matches(g))


def nearest(p, src, dst, edge, weight):  # type: ignore[no-untyped-def]
    return weight * (src + 1) + edge % 7 + dst % 3


def rank(p, src):  # type: ignore[no-untyped-def]
    return src % 11


def rank_of_target(p, dst):  # type: ignore[no-untyped-def]
    return dst % 11


def odd(p, src):  # type: ignore[no-untyped-def]
    return src % 2 == 1


PROGRAM = fr.Sequence(
    fr.Gather(nearest, "sum", into="total"),
    fr.Gather(nearest, "max", into="most", edges="out"),
    fr.Gather(rank, "argmin", into="least"),
    fr.Gather(rank_of_target, "argmax", into="best", edges="out"),
    fr.Gather(odd, "or", into="any"),
    fr.Gather(nearest, "sum", into="some", where=odd),
    over="vertices",
)


def gathered(g: fr.Graph, f: fr.Frontier | None = None) -> dict[str, np.ndarray]:
    names = ("total", "most", "least", "best", "some")
    p = fr.Problem(g, **{name: fr.vertex("int64") for name in names}, any=fr.vertex("bool"))
    PROGRAM(p, *([] if f is None else [f]))
    return {name: to_host(getattr(p, name)) for name in (*names, "any")}


@pytest.mark.parametrize("directed", [pytest.param(False, marks=SLOW), True])
def test_gathers(far: Callable[[fr.Graph], fr.Graph], directed: bool) -> None:
    """All vertices, whose lists come in windows, and a frontier, whose lists are read where they are."""
    scale = 4 if SIMULATED else 11
    g = fr.rmat(scale, 3, seed=3, weights=(1, 9), directed=directed)
    there = far(g)
    for some in (None, range(0, g.num_vertices, 3)):
        found, expected = (gathered(each, None if some is None else fr.Frontier(each, some)) for each in (there, g))
        for name, values in expected.items():
            equal(found[name], values)


@pytest.mark.unsimulated("hubs of thousands of edges")
def test_the_best_edges_of_hubs(cuda: Backend) -> None:
    """Lists that whole blocks reduce, several of them, with keys that differ: wherever the edges are."""
    g = fr.rmat(14, 8, seed=1, weights=(1, 9))
    assert np.sum(to_host(g.out_degree) >= 1024) > 3
    expected = gathered(g)
    for edges in ("device", "host"):
        for name, values in gathered(g.to(cuda.name, edges=edges)).items():
            equal(values, expected[name])


def ran(t: fr.Trace) -> list[Any]:
    """The rows of steps, without those that say what was compiled."""
    return [row for row in t.rows if not row.step.startswith("compile")]


@pytest.mark.parametrize("streams", [True, False])
def test_gathers_of_parts(
    far: Callable[[fr.Graph], fr.Graph], monkeypatch: pytest.MonkeyPatch, streams: bool
) -> None:
    """Windows come where lists cost more in place, and only those with elements; else lists are read in order."""
    monkeypatch.setattr(cuda_far, "MANY", 2)
    monkeypatch.setattr(cuda_far, "STREAMED", 2**30 if streams else 0)
    steps = [
        fr.Gather(nearest, "sum", into="total"),
        fr.Gather(rank, "argmin", into="least", edges="out"),
        fr.Gather(odd, "mode", into="most"),
    ]
    g = fr.rmat(5 if SIMULATED else 11, 4, seed=3, weights=(1, 9), directed=True)
    there, n = far(g), g.num_vertices
    read = {}
    for some in (range(n - 2, 0, -2), range(9), [3, 2]):  # nine are more than one of 256
        found = []
        for each in (there, g):
            p = fr.Problem(each, **{name: fr.vertex("int64", 7) for name in ("total", "least", "most")})
            with fr.trace() as t:
                for step in steps[: 2 if SIMULATED else None]:
                    f = execution.run(step, p, fr.Frontier(each, some))
                    equal(np.sort(to_host(f.ids)), np.sort(some))
            found.append([to_host(array) for array in p.arrays.values()])
            if each is there:
                read[len(some)] = ran(t)[0].read
                assert ran(t)[0].balance == ("stream" if streams and len(some) > 2 else "")
        for mine, its in zip(*found, strict=True):
            equal(mine, its)
    assert 0 < read[9] < read[len(range(n - 2, 0, -2))]


def test_the_estimate_chooses_between_windows_and_lists(cuda: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most of the lists cost more than all windows, and few do not."""
    monkeypatch.setattr(cuda_far, "MANY", 2)
    step = fr.Gather(odd, "sum", into="total", edges="out")
    short, long = fr.path(200), fr.complete(40)
    for g, some, expected in (
        (short, range(150), "stream"),
        (short, range(100), "thread"),
        (long, [7, 20, 30], "thread"),
        (long, range(39), "stream"),
    ):
        there = g.to(cuda.name, edges="host")
        p = fr.Problem(there, total=fr.vertex("int64"))
        with fr.trace() as t:
            execution.run(step, p, fr.Frontier(there, some))
        assert ran(t)[0].balance == expected
        slots = g.num_slots if expected == "stream" else ran(t)[0].edges
        assert ran(t)[0].read == 4 * slots


def test_the_estimate_knows_which_windows_are_wanted(cuda: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many lists side by side are in few windows, and spread out in all."""
    monkeypatch.setattr(windows, "SLOTS", 64)
    monkeypatch.setattr(cuda_far, "MANY", 2)
    step = fr.Gather(rank, "sum", into="total", edges="out")
    g = fr.path(200)
    there = g.to(cuda.name, edges="host")
    for some, expected in ((range(100, 160), "stream"), (range(0, 198, 6), "thread")):
        found = []
        for each in (there, g):
            p = fr.Problem(each, total=fr.vertex("int64"))
            with fr.trace() as t:
                execution.run(step, p, fr.Frontier(each, some))
            found.append(to_host(p.total))
            if each is there:
                assert ran(t)[0].balance == expected
                assert 0 < ran(t)[0].read < 4 * g.num_slots
        equal(*found)


def visited(p, src, dst):  # type: ignore[no-untyped-def]
    fr.atomic_add(p.visits, dst, 1)
    return True


def few(p, dst):  # type: ignore[no-untyped-def]
    return p.visits[dst] < p.least


def test_pulls_visit_every_edge_once(far: Callable[[fr.Graph], fr.Graph]) -> None:
    """Heads are visited first, and not again with the list. A warp may visit edges before one of its lanes is done."""

    def some(g: fr.Graph) -> fr.Frontier:
        return fr.Frontier(g, range(0, g.num_vertices, 2))

    pull = fr.Schedule(direction="pull")
    for g in (*random_graphs(3, seed=8, max_vertices=40, directed=False), star()):
        there = far(g)
        every = None
        for least in (2**30, 1, 2, 3):
            counts = []
            for each in (there, g):
                p = fr.Problem(each, visits=fr.vertex("int64"), least=fr.scalar("int64", least))
                execution.run(fr.Advance(visited, where=few, output=None), p, some(each), pull)
                counts.append(to_host(p.visits))
            if every is None:
                equal(*counts)
                every = counts[0]
            for found in counts:
                assert (np.minimum(every, least) <= found).all()
                assert (found <= every).all()


def seen(p, src, dst):  # type: ignore[no-untyped-def]
    fr.atomic_add(p.visits, dst, src + 1)
    return dst % 3 == 0


def test_large_frontiers_are_put_in_order(
    far: Callable[[fr.Graph], fr.Graph], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those of edges, and along in-edges; what comes out is the same."""
    monkeypatch.setattr(cuda_far, "MANY", 2)
    push = fr.Schedule(direction="push")
    for g in (*random_graphs(2, seed=8, min_vertices=20, max_vertices=40, directed=True), fr.grid(5, 5)):
        there = far(g)
        for edges in ("out", "in"):
            step = fr.Advance(seen, edges=edges)
            found = []
            for each in (there, g):
                p = fr.Problem(each, visits=fr.vertex("int64"))
                for f in (fr.Frontier(each, range(1, 20, 2)[::-1]), fr.Frontier(each, [3])):
                    found.append(np.sort(to_host(execution.run(step, p, f, push).ids)))
                found.append(to_host(p.visits))
            for mine, its in zip(found[:3], found[3:], strict=True):
                equal(mine, its)
            assert "list the vertices of the bitmap" in step.explain(fr.Problem(there, visits=fr.vertex("int64")))


def test_bytes_in_a_trace(cuda: Backend) -> None:
    g = fr.path(9)
    there = g.to(cuda.name, edges="host")
    for each, size in ((there, 4), (g.to(cuda.name), 0)):
        with fr.trace() as t:
            fr.bfs(each, 4, schedule=fr.Schedule(direction="push"))
        assert [row.read for row in t.rows] == [row.edges * size for row in t.rows]
        assert ("read" in str(t).splitlines()[0]) == bool(size)


def test_heads_are_the_neighbours_of_highest_degree(cuda: Backend) -> None:
    for g in random_graphs(3, seed=9, max_vertices=30, directed=False):
        found = to_host(heads(g.to(cuda.name, edges="host"), "out")).reshape(-1, 2)
        degree = to_host(g.out_degree)
        for v, two in enumerate(found.tolist()):
            near = sorted(set(g.targets[g.offsets[v] : g.offsets[v + 1]].tolist()), key=lambda u: (-degree[u], u))
            assert two == (near + [-1, -1])[:2]


def test_where_the_edges_are(cuda: Backend) -> None:
    g = fr.karate().with_weights(np.ones(156))
    there = g.to(cuda.name, edges="host")
    assert "edges in host memory" in repr(there)
    assert there.to(cuda.name, edges="host") is there or there.placement == g.to(cuda.name, edges="host").placement
    assert there.placement != g.to(cuda.name).placement
    for name in ("targets", "weights", "sources"):
        equal(to_host(getattr(there, name)), getattr(g, name))
    equal(to_host(there.to("cpu").targets), g.targets)
    assert g.to(cuda.name, edges="device").placement == g.to(cuda.name).placement
    assert g.to(cuda.name, edges="auto").placement == g.to(cuda.name).placement
    assert g.to(cuda.name, memory=0).placement == there.placement
    mixed = g.to(cuda.name, memory="1 KiB")
    assert "host and device (" in repr(mixed)
    equal(pickle.loads(pickle.dumps(there)).targets, g.targets)


def test_names_say_where_edges_lie(cuda: Backend) -> None:
    """They can be given to ``to``, for the same placement; with some edges on the GPU, for one with as many as fit."""
    g = fr.path(9)
    for edges in ("host", "disk"):
        there = g.to(cuda.name, edges=edges)
        assert str(there.placement) == f"{cuda.name}, edges='{edges}'"
        assert g.to(str(there.placement)).placement == there.placement
    some = g.to(cuda.name, memory=40)
    assert str(some.placement) == f"{cuda.name}, edges='auto'"
    assert g.to(str(some.placement)).placement == g.to(cuda.name, edges="auto").placement
    assert str(g.to(cuda.name, edges="device").placement) == cuda.name


def test_sizes_in_words() -> None:
    assert [parsed(x) for x in (7, "7", "4GiB", "4 gib", "1.5KB", "0")] == [7, 7, 2**32, 2**32, 1500, 0]
    for wrong in ("four", "4XB", -1, "-1", ""):
        with pytest.raises(fr.GraphError, match="expected a number of bytes"):
            parsed(wrong)


def test_what_is_not_possible(cuda: Backend) -> None:
    g = fr.karate()
    for options, words in (
        ({"edges": "moon"}, "choose 'device', 'host', 'disk' or 'auto'"),
        ({"edges": "host", "memory": 7}, "memory= is for edges='auto'"),
        ({"memory": "much"}, "expected a number of bytes"),
    ):
        with pytest.raises(fr.GraphError, match=words):
            g.to(cuda.name, **options)


@pytest.mark.parametrize("name", ["python", "cpu"])
def test_cores_read_the_hosts_memory_only(name: str) -> None:
    g = fr.karate()
    assert g.to(name, edges="host").placement == g.to(name).placement
    for options in ({"edges": "device"}, {"edges": "auto"}, {"memory": "1GiB"}):
        with pytest.raises(fr.GraphError, match="reads edges from host and disk memory only"):
            g.to(name, **options)  # type: ignore[arg-type]
