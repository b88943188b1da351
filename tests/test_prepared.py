"""Prepared calls give what plain ones give, in the memory of the call before."""

from __future__ import annotations

import dataclasses
import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import programs
import pytest
from conftest import Backend

import frontier as fr
from frontier import registry
from frontier.memory.arrays import to_host
from frontier.primitives import bfs
from frontier.program.kept_problems import MOST
from frontier.program.problem import replace_array
from frontier.registry import primitive, primitives

#: What any run may choose differently.
CHOSEN = {"parent", "iterations", "visited", "passes", "error", "flow"}

#: Two calls of each primitive whose graph is not its only argument, after the graph.
CALLS: dict[str, tuple[tuple[Any, ...], ...]] = {
    "bfs": ((0,), (7,)), "bfs_many": (([0, 3],), ([5],)), "sssp": ((0,), (7,)), "sssp_many": (([0, 3],), ([5],)),
    "max_flow": ((0, 3), (2, 9)), "bellman_ford": ((0,), (7,)), "johnson": (([0, 3],), ([5],)),
    "shortest_path": ((0, 3), (2, 9)), "who_to_follow": ((0,), (3,)), "personalized_pagerank": (([0],), ([3, 4],)),
    "sample_neighbors": (([0, 3], [2, 2]), ([5], [2, 2])),
}  # fmt: skip
OPTIONS: dict[str, dict[str, Any]] = {
    "katz": {"alpha": 0.01}, "random_walks": {"length": 5, "seed": 1},
    "node2vec_walks": {"length": 5, "p": 0.5, "q": 2, "seed": 1},
    "maximal_independent_set": {"seed": 1}, "color": {"seed": 1}, "maximal_matching": {"seed": 1},
    "sample_neighbors": {"seed": 1},
}  # fmt: skip


def same(found: Any, expected: Any) -> bool:
    if dataclasses.is_dataclass(expected):
        names = [each.name for each in dataclasses.fields(expected)]
        return all(same(getattr(found, x), getattr(expected, x)) for x in names if x[0] != "_" and x not in CHOSEN)
    if isinstance(expected, int | float | list) or hasattr(expected, "dtype"):
        return np.allclose(to_host(found), to_host(expected), 1e-5, 1e-7, equal_nan=True)
    return True


def graph(**options: Any) -> fr.Graph:
    return fr.rmat(5, 4, seed=3, weights=(1, 9), **options)


def test_searches(backend: Backend) -> None:
    g = backend(graph())
    search = fr.bfs.prepare(g)
    for source in (0, 7, 7, 3):
        assert same(search(source), fr.bfs(g, source))
    held = search(0).level
    assert search(1).level is held
    assert same(search(2, max_depth=1), fr.bfs(g, 2, max_depth=1))  # another program, on other fields
    assert same(search(2), fr.bfs(g, 2))


def test_shortest_paths_with_a_pile_and_a_pair(backend: Backend) -> None:
    g = backend(graph())
    search = fr.sssp.prepare(g)
    for source in (0, 7, 3):
        assert same(search(source), fr.sssp(g, source))
    assert same(search(3, delta=2.0), fr.sssp(g, 3))


@pytest.mark.deep
@pytest.mark.parametrize("name", sorted(primitives()))
def test_every_primitive(name: str, backend: Backend) -> None:
    entry = primitives()[name]
    g = backend(graph(directed=name in ("scc", "condensation")))
    if name == "topological_order":
        g = backend(fr.from_edges(np.arange(11), np.arange(1, 12), directed=True))
    public = getattr(fr, name, None)
    function: Any = entry.function if public is None or isinstance(public, type(fr)) else public
    options = OPTIONS.get(name, {})
    calls = CALLS.get(name, ((), ()))
    if name == "predecessors":
        calls = ((fr.bfs(g, 0),), (fr.bfs(g, 7),))
    prepared = function.prepare(g, **options)
    for given in (*calls, calls[0]):
        assert same(prepared(*given), function(g, *given, **options)), given


def test_an_enactor(backend: Backend) -> None:
    g = backend(graph())
    p = programs.bfs_problem(g, 0)
    with pytest.raises(AttributeError, match="no field 'sources'"):
        programs.BFSFromSource(p).prepare()(sources=3)
    search = programs.BFSFromSource(p).prepare()
    for source in (3, 0, 7):
        level, parent = np.full(g.num_vertices, -1, "int32"), np.full(g.num_vertices, -1, "int32")
        level[source], parent[source] = 0, source
        assert search(source=source, level=level, parent=parent) is p
        assert same(p.level, fr.bfs(g, source).level)


def test_given_arrays_are_kept() -> None:
    g = graph()
    mine = np.zeros(g.num_vertices)

    def add(p, v):
        p.x[v] += 1

    class Add(fr.Enactor):
        loop = fr.Compute(add, over="vertices")

    run = Add(fr.Problem(g, x=fr.vertex("float64", mine, copy=False))).prepare()
    run()
    run()
    assert (mine == 2).all()


def test_swapped_fields(backend: Backend) -> None:
    g = backend(graph())
    rank = fr.pagerank.prepare(g, max_iterations=3, tolerance=0)
    expected = fr.pagerank(g, max_iterations=3, tolerance=0)
    for _ in range(3):
        assert same(rank(), expected)


def test_after_an_error_nothing_is_kept(backend: Backend) -> None:
    g = backend(graph())
    search = fr.bfs.prepare(g)
    first = search(0).level
    with pytest.raises(fr.GraphError):
        search(1000)
    assert search(0).level is not first
    assert same(search(7), fr.bfs(g, 7))


def test_functors_may_change(backend: Backend) -> None:
    scale = 1

    def times(p, v):
        p.x[v] = scale

    class Times(fr.Enactor):
        loop = fr.Compute(times, over="vertices")

    run = Times(fr.Problem(backend(fr.path(3)), x=fr.vertex("int64"))).prepare()
    assert to_host(run().x).tolist() == [1, 1, 1]
    scale = 2
    assert to_host(run().x).tolist() == [2, 2, 2]


def test_what_a_graph_keeps_is_not_used_again() -> None:
    g = graph()

    def cached(given: fr.Graph) -> Any:
        return given.cached("test_prepared.levels", lambda: fr.bfs(given, 0).level)

    @primitive("test_prepared", "a test")
    def searching(g: fr.Graph, source: int) -> Any:
        return cached(g), fr.bfs(g, source).level

    try:
        call = searching.prepare(g)
        kept, _ = call(5)
        _, second = call(7)
        assert second is not kept
        assert same(kept, fr.bfs(g, 0).level)
    finally:
        del registry._entries["test_prepared"]


def test_many_problems_are_not_all_kept() -> None:
    g = graph()
    @primitive("test_prepared", "a test")
    def many(g: fr.Graph) -> list[Any]:
        return [fr.bfs(g, source).level for source in range(2 * MOST)]

    try:
        call = many.prepare(g)
        for _ in range(2):
            assert all(same(level, fr.bfs(g, source).level) for source, level in enumerate(call()))
        assert len(call._kept._problems) == MOST
    finally:
        del registry._entries["test_prepared"]


def test_one_thread_at_a_time() -> None:
    g = graph()
    inside, go_on = threading.Event(), threading.Event()

    def wait(enactor: Any) -> None:
        inside.set()
        go_on.wait(30)

    p = fr.Problem(g, **fields(g))
    run = bfs.BFS(p).prepare()
    enactor = run._enactor
    plain: Callable[..., Any] = enactor.run
    enactor.run = lambda frontier=None: plain(frontier, on_step=wait)  # type: ignore[method-assign]
    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert inside.wait(30)
        with pytest.raises(fr.FrontierError, match="prepare one for each"):
            run()
    finally:
        go_on.set()
        thread.join()


def fields(g: fr.Graph) -> dict[str, Any]:
    return bfs._fields(g.id_dtype)


def test_edges_on_a_disk(tmp_path: Any) -> None:
    g = graph()
    fr.write(g, tmp_path / "g.frontier")
    there = fr.open(tmp_path / "g.frontier")
    search = fr.bfs.prepare(there)
    for source in (0, 7):
        assert same(search(source), fr.bfs(g, source))


def add(p, v):
    p.x[v] += 1
    p.y[v] = 2 * p.x[v]


class Grow(fr.Enactor):
    loop = fr.Compute(add, over="vertices")


def growing(g: fr.Graph) -> fr.Problem:
    return fr.Problem(g, y=fr.vertex("int64", 7), x=fr.vertex("int64"))


def test_arrays_of_the_last_result_may_be_given(backend: Backend) -> None:
    run = Grow(growing(backend(fr.path(3)))).prepare()
    assert to_host(run(x=run().x).x).tolist() == [2, 2, 2]
    assert to_host(run(x=run().y).x).tolist() == [3, 3, 3]
    assert to_host(run(x=run().y[::-1]).x).tolist() == [3, 3, 3]

    @primitive("test_prepared", "a test")
    def grown(g: fr.Graph, x: Any) -> Any:
        return Grow(fr.Problem(g, y=fr.vertex("int64", 7), x=fr.vertex("int64", x))).run().y

    try:
        call = grown.prepare(backend(fr.path(3)))
        assert to_host(call(call(0))).tolist() == [6, 6, 6]
    finally:
        del registry._entries["test_prepared"]


def test_arrays_put_in_by_a_run_are_not_changed() -> None:
    held = np.array([5, 6, 7])

    @primitive("test_prepared", "a test")
    def found(g: fr.Graph, others: bool) -> Any:
        p = fr.Problem(g, found=fr.array([0, 0, 0]))
        if others:
            replace_array(p, "found", held)
        return p.found

    try:
        call = found.prepare(fr.path(3))
        assert call(True) is held
        assert call(False).tolist() == [0, 0, 0]
        assert held.tolist() == [5, 6, 7]
    finally:
        del registry._entries["test_prepared"]


def test_memory_is_freed_at_once() -> None:
    g = graph()
    search, run, ranks = fr.bfs.prepare(g), Grow(growing(g)).prepare(), fr.louvain.prepare(g)
    arrays = [search(0).level, search(1).parent, run().x, run().y]
    made = [weakref.ref(each if each.base is None else each.base) for each in arrays]
    ranks()
    gc.collect()
    gc.disable()
    try:
        problems = sum(type(each) is fr.Problem for each in gc.get_objects())
        for _ in range(3):
            ranks()
        assert sum(type(each) is fr.Problem for each in gc.get_objects()) == problems
        del search, run, arrays
        assert not any(each() is not None for each in made)
    finally:
        gc.enable()


def test_results_in_given_arrays(backend: Backend) -> None:
    g = backend(graph())
    search = fr.bfs.prepare(g)
    mine = search(0).level.copy()
    mine[:] = 99
    found = search(3, out={"level": mine})
    search(7)
    assert found.level is mine
    assert same(found, fr.bfs(g, 3))
    before = to_host(mine).copy()
    for wrong in ({"levels": mine}, {"source": mine}, {"level": mine[:-1]}, {"level": mine, "parents": mine}):
        with pytest.raises(fr.FrontierError, match="out="):
            search(7, out=wrong)
    with pytest.raises(fr.FrontierError, match="a dict of arrays"):
        search(3, out=mine)  # type: ignore[arg-type]
    assert same(mine, before)


def test_initial_values_may_change(backend: Backend) -> None:
    @primitive("test_prepared", "a test")
    def grown(g: fr.Graph, y: Any, x: Any) -> Any:
        p = Grow(fr.Problem(g, y=fr.vertex("int64", y), x=fr.vertex("int64", x), z=fr.scalar("int64", y))).run()
        return to_host(p.x).tolist(), to_host(p.y).tolist(), int(p.z)

    try:
        call = grown.prepare(backend(fr.path(2)))
        for y, x in ((7, 0), (7, 0), (8, 3), (8, 3), (7, np.array([4, 5])), (7, 0)):
            first, second = (int(each) + 1 for each in np.broadcast_to(x, 2))
            assert call(y, x) == ([first, second], [2 * first, 2 * second], y)
    finally:
        del registry._entries["test_prepared"]


def test_frontiers_may_change() -> None:
    g = graph()
    n = g.num_vertices
    p = fr.Problem(g, y=fr.vertex("int64"), x=fr.vertex("int64"), m=fr.vertex("bool"))

    class Some(fr.Enactor):
        loop = fr.Compute(add)

    run = Some(p, fr.Schedule(numbering="by_degree")).prepare()
    assert [int(run(f).x.sum()) for f in (fr.Frontier.all(g), [0, 1], fr.Frontier.all(g))] == [n, 2, n]
    p.m[:5] = True
    assert run(p.m).x.sum() == 5


def test_number_of_threads_may_change() -> None:
    before = fr.num_threads()
    search = fr.bfs.prepare(fr.rmat(13, 4, seed=1))
    try:
        for number in (2, 1, 2):
            fr.set_num_threads(number)
            search(0)
            (known,) = search._kept._problems
            assert known is not None
            assert {each.execution._table.workers for each in known.runs.values()} == {number}
    finally:
        fr.set_num_threads(before)


def test_checks_may_be_set_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def beyond(p, v):
        p.x[v + p.off] = 1

    class Beyond(fr.Enactor):
        loop = fr.Compute(beyond, over="vertices")

    g = graph()
    p = fr.Problem(g, x=fr.vertex("int64"), off=fr.scalar("int64"))
    run = Beyond(p).prepare()
    monkeypatch.setenv("FRONTIER_CHECK", "0")
    run()
    monkeypatch.setenv("FRONTIER_CHECK", "1")
    with pytest.raises(fr.FunctorError):
        run(off=1)


def test_arguments_by_position_go_before_options() -> None:
    g = graph()
    search = fr.bfs.prepare(g, source=0)
    assert same(search(), fr.bfs(g, 0))
    assert same(search(7), fr.bfs(g, 7))


def test_the_result_of_an_error_has_names() -> None:
    g = fr.from_edges(["a", "b", "c", "c"], ["b", "c", "a", "b"], directed=True)
    with pytest.raises(fr.NotConvergedError) as raised:
        fr.pagerank.prepare(g)(max_iterations=1, tolerance=1e-12)
    with pytest.raises(fr.NotConvergedError) as plain:
        fr.pagerank(g, max_iterations=1, tolerance=1e-12)
    assert raised.value.result._names is plain.value.result._names is g.names


def test_representation() -> None:
    assert repr(fr.bfs.prepare(fr.path(3), max_depth=2)).endswith("; cpu>, max_depth=2)")


def test_mistakes() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'sourc'"):
        fr.bfs.prepare(fr.path(3), sourc=1)
    with pytest.raises(TypeError, match=r"bfs\.prepare\(\) missing 1 required"):
        fr.bfs.prepare()  # type: ignore[call-arg]
    with pytest.raises(fr.FrontierError, match=r"BFS\(problem\)\.prepare\(\)"):
        bfs.BFS.prepare(fr.path(3))  # type: ignore[arg-type]
