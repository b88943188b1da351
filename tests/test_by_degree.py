"""Runs on a copy of the graph whose vertices are in descending order of degree: which do, and that nobody notices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from compare import host
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs

import frontier as fr
from frontier.errors import NotConvergedError
from frontier.graph import by_degree as copies
from frontier.graph.by_degree import by_degree, has_by_degree
from frontier.memory.host import HostMemory
from frontier.primitives.bfs import BFS, bfs_problem
from frontier.program import numbering

if TYPE_CHECKING:
    from collections.abc import Callable

    Backend = Callable[[fr.Graph], fr.Graph]

AS_GIVEN, BY_DEGREE = fr.Schedule(numbering="as_given"), fr.Schedule(numbering="by_degree")


def web(seed: int = 1, **options: Any) -> fr.Graph:
    """A skewed graph, which is not in order of degree."""
    return fr.rmat(6, 6, seed=seed, **options)


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small graphs count as large ones."""
    monkeypatch.setattr(copies, "SLOTS", 1)
    monkeypatch.setattr(copies, "HUBS", 1)
    monkeypatch.setattr(copies, "LINES", 0.01)


def renumbers(run: Callable[[], Any]) -> bool:
    """Whether something runs on a copy."""
    with fr.trace() as trace:
        run()
    return any(row.step == "renumber" for row in trace.rows)


# ---- the copy --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("directed", [True, False])
def test_graphs_keep_a_copy(backend: Backend, directed: bool) -> None:
    g = backend(fr.rmat(6, 6, seed=2, weights=(1, 9), directed=directed).with_columns(vertices={"x": np.arange(64)}))
    before = int(g.memory_estimate())
    assert not has_by_degree(g)
    made = by_degree(g)
    assert has_by_degree(g)
    assert by_degree(g).graph._topology is made.graph._topology
    assert int(g.memory_estimate()) > before + g.targets.nbytes + g.weights.nbytes
    assert made.graph.vertices.keys() == {"original"}
    degree, old, new = host(made.graph.out_degree), host(made.old), host(made.new)
    assert (np.diff(degree) <= 0).all()
    assert np.array_equal(old[new], np.arange(64))
    edges = zip(host(g.sources), host(g.targets), host(g.weights), strict=True)
    h = made.graph
    there = zip(old[host(h.sources)], old[host(h.targets)], host(h.weights), strict=True)
    assert sorted(edges) == sorted(there)


def test_it_pays_where_hubs_lie_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "SLOTS", 2**14)
    g = fr.rmat(14, 16, seed=1)
    for edges in ("in", "out"):
        assert copies.pays(g, edges)
        assert not copies.pays(g.reordered("degree"), edges)  # which is in that order
        assert not copies.pays(fr.urand(14, 16, seed=1), edges)
        assert not copies.pays(fr.grid(128, 128), edges)
    assert copies.pays(fr.urand(14, 2, seed=1), "in")  # on the CPU: lists are short, and of different lengths
    local = fr.small_world(2**14, 16, 0.01, seed=1)
    star = fr.from_edges([*host(local.sources), *[0] * 2000], [*host(local.targets), *range(0, 2**14 - 384, 8)])
    assert star.traits.max_degree > copies.HUBS * star.traits.mean_degree
    assert not copies.pays(star, "in")  # neighbours are near each other


# ---- programs --------------------------------------------------------------------------------------------------------


def of_source(p, src):
    return p.x[src]


def of_target(p, dst, weight):
    return p.x[dst] * weight


def even(p, src):
    return p.x[src] % 2 == 0


def share(p, src):
    return p.y[src] / fr.degree(p, src)


def mixed(p, v):
    p.x[v] = (p.total[v] + 3 * p.x[v] + p.turn) % 1009
    fr.atomic_add(p.histogram, p.x[v] % 8, 1)
    return p.x[v]


def spread(p, v):
    p.y[v] = 0.5 * p.y[v] + p.sum[v] + 1.0 / p.num_vertices


def row(p, src, i):
    return p.rows[src, i] + p.x[src]


def same_row(p, v, i):
    p.rows[v, i] = p.gathered[v, i] % 64


def rests(p):
    return p.sums == p.before


class Many(fr.Enactor):
    """Sums, minima and modes of integers, exactly, and sums of floats."""

    loop = fr.Loop(
        fr.Gather(of_source, "sum", into="total", where=even),
        fr.Set(before=lambda p: p.sums),
        fr.Reduce(mixed, "sum", into="sums"),
        fr.Gather(of_source, "mode", into="mode"),
        fr.Gather(of_target, "min", into="least", edges="out"),
        fr.Swap("least", "other"),
        fr.Gather(share, "sum", into="sum"),
        fr.Compute(spread),
        fr.Gather(row, "max", into="gathered"),
        fr.Compute(same_row, over="rows"),
        over="vertices", times="limit", until=rests, count="turn",
    )  # fmt: skip


def problem(g: fr.Graph) -> fr.Problem:
    values = np.arange(g.num_vertices) * 37 % 101
    return fr.Problem(
        g,
        x=fr.vertex("int64", values),
        y=fr.vertex("float64", values / 7),
        sum=fr.vertex("float64"),
        total=fr.vertex("int64"),
        mode=fr.vertex("int32"),
        least=fr.vertex("int64"),
        other=fr.vertex("int64"),
        rows=fr.vertex("int32", shape=2),
        gathered=fr.vertex("int32", shape=2),
        histogram=fr.array(np.zeros(8, np.int64)),
        **{name: fr.scalar("int64") for name in ("turn", "sums", "before")},
        limit=fr.scalar("int64", 6),
    )


def same(found: fr.Problem, wanted: fr.Problem) -> None:
    for name in wanted.fields:
        a, b = host(getattr(found, name)), host(getattr(wanted, name))
        if wanted.fields[name].dtype.kind == "f":
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-300)
        else:
            assert np.array_equal(a, b), name


@given(g=graphs(weights=("int32",)))
def test_fields_and_passes_are_the_same(backend: Backend, g: fr.Graph) -> None:
    g = backend(g)
    wanted, found = Many(problem(g), AS_GIVEN), Many(problem(g), BY_DEGREE)
    wanted.run()
    assert not has_by_degree(g)
    found.run()
    assert has_by_degree(g)
    same(found.problem, wanted.problem)
    assert found.passes == wanted.passes


@given(g=graphs(weights=("int32",)), every=st.integers(1, 3))
def test_pauses_show_fields_and_take_changes(backend: Backend, g: fr.Graph, every: int) -> None:
    g = backend(g)
    seen: list[list[Any]] = [[], []]
    enactors = [Many(problem(g), AS_GIVEN), Many(problem(g), BY_DEGREE)]
    for enactor, those in zip(enactors, seen, strict=True):

        def look(enactor: fr.Enactor, those: list[Any] = those) -> bool:
            p = enactor.problem
            those.append(host(p.x).copy())
            p.x[: len(p.x) // 2] = enactor.passes
            return enactor.passes % every == 0

        enactor.run(on_step=look)
        while enactor.paused:
            enactor.resume(on_step=look)
    same(enactors[1].problem, enactors[0].problem)
    assert all(np.array_equal(a, b) for a, b in zip(*seen, strict=True))


def test_only_fields_that_may_change_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = Many.program()
    assert numbering._written(loop) >= set(problem(web()).arrays)  # which change all
    assert numbering._written(fr.Sequence(fr.Gather(of_source, "sum", "total"))) == {"total"}
    assert numbering._written(fr.Sequence(fr.Swap("least", "other"))) == {"least", "other"}
    moved: list[tuple[int, int]] = []
    permute = numbering.Renumbered._permute

    def watched(self: Any, here: fr.Problem, there: fr.Problem, ids: Any, names: list[str]) -> None:
        moved.append((len(self._moved()), len(names)))
        permute(self, here, there, ids, names)

    monkeypatch.setattr(numbering.Renumbered, "_permute", watched)
    fr.pagerank(web(), tolerance=1e-4, schedule=BY_DEGREE)
    assert moved == [(4, 4), (4, 3)]  # all but degrees


def test_what_did_not_converge_is_the_problem(backend: Backend) -> None:
    p = problem(backend(web(weights=(1, 9))))
    with pytest.raises(NotConvergedError) as error:
        Many(p, BY_DEGREE).run(max_steps=2)
    assert error.value.result is p
    q = problem(p.graph)
    with pytest.raises(NotConvergedError):
        Many(q, AS_GIVEN).run(max_steps=2)
    same(p, q)

    class Limited(fr.Enactor):
        loop = fr.Loop(
            fr.Gather(of_source, "sum", into="total"), over="vertices", until=lambda p: p.turn < 0, max_steps=2
        )

    with pytest.raises(NotConvergedError) as error:
        Limited(p, BY_DEGREE).run()
    assert error.value.result is p


def test_the_frontier_is_that_of_the_graph(backend: Backend) -> None:
    g = backend(web())
    step = fr.Sequence(fr.Gather(of_source, "sum", into="total"), schedule=BY_DEGREE)
    p, every = problem(g), fr.Frontier.all(g)
    assert renumbers(lambda: step(p, every))
    assert step(p, every) is every
    own = fr.Sequence(fr.Gather(of_source, "sum", into="total"), over="vertices", schedule=BY_DEGREE)(problem(g))
    plain = fr.Sequence(fr.Gather(of_source, "sum", into="total"), over="vertices", schedule=AS_GIVEN)(problem(g))
    assert own == plain
    assert own is None or own.graph is g


CALLS: dict[str, Callable[[fr.Graph, fr.Schedule], Any]] = {
    "pagerank": lambda g, s: fr.pagerank(g, schedule=s).rank,
    "rounded": lambda g, s: fr.pagerank(g, tolerance=1e-6, schedule=s).rank,
    "weighted": lambda g, s: fr.pagerank(g, weighted=True, schedule=s).rank,
    "personal": lambda g, s: fr.pagerank(g, personalization={"7": 1, "3": 2}, schedule=s).rank,
    "dangling": lambda g, s: fr.pagerank(g, dangling={"5": 1}, schedule=s).rank,
    "hits": lambda g, s: np.stack([host(x) for x in vars(fr.hits(g, schedule=s)).values() if np.ndim(x)]),
    "katz": lambda g, s: fr.katz(g, schedule=s).centrality,
    "eigenvector": lambda g, s: fr.eigenvector_centrality(g, tolerance=1e-6, schedule=s).centrality,
    "labels": lambda g, s: fr.label_propagation(g, schedule=s).label,
}  # fmt: skip


def labelled(**options: Any) -> fr.Graph:
    h = web(seed=4, directed=True, **options)
    names = [str(v) for v in range(h.num_vertices)]
    weights = np.random.default_rng(2).integers(1, 9, h.num_slots)
    src, dst = np.array(names)[h.sources], np.array(names)[h.targets]
    return fr.from_edges(src, dst, weights, directed=True)


@pytest.mark.parametrize("name", CALLS)
def test_primitives_give_the_same(backend: Backend, name: str) -> None:
    g = backend(labelled())
    wanted, call = host(CALLS[name](g, AS_GIVEN)), CALLS[name]
    assert renumbers(lambda: call(g, BY_DEGREE))
    np.testing.assert_allclose(host(call(g, BY_DEGREE)), wanted, rtol=1e-6 if name == "rounded" else 1e-9, atol=1e-12)


def test_results_are_named_by_labels() -> None:
    g = labelled()
    wanted, found = fr.pagerank(g, schedule=AS_GIVEN), fr.pagerank(g, schedule=BY_DEGREE)
    assert [name for name, _ in found.top(5)] == [name for name, _ in wanted.top(5)]
    assert found["7"] == pytest.approx(wanted["7"], rel=1e-9)


# ---- by itself -------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("eager")
def test_from_the_fourth_run_on(compiled: Backend) -> None:
    g = compiled(web())
    assert [renumbers(lambda: fr.pagerank(g)) for _ in range(5)] == [False] * 3 + [True] * 2
    g = compiled(web())
    assert not any(renumbers(lambda: fr.pagerank(g, max_iterations=3, tolerance=0)) for _ in range(5))
    assert not any(renumbers(lambda: fr.pagerank(g, schedule=AS_GIVEN)) for _ in range(5))
    others = fr.label_propagation, fr.salsa, lambda g: fr.bfs(g, 0)
    assert not any(renumbers(lambda call=call: call(g)) for call in others for _ in range(5))
    assert not has_by_degree(g)
    g = compiled(web().reordered())
    assert not any(renumbers(lambda: fr.pagerank(g)) for _ in range(5))


@pytest.mark.usefixtures("eager")
def test_not_where_runs_must_be_equal_or_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    g = web()
    exact = fr.Schedule(deterministic=True)
    assert len({fr.pagerank(g, schedule=exact).rank.tobytes() for _ in range(3)}) == 1
    monkeypatch.setenv("FRONTIER_CHECK", "1")
    assert not any(renumbers(lambda: fr.pagerank(g)) for _ in range(5))
    assert not has_by_degree(g)
    monkeypatch.delenv("FRONTIER_CHECK")
    h = g.to("python")
    assert not any(renumbers(lambda: fr.pagerank(h, max_iterations=5, tolerance=0)) for _ in range(5))


@pytest.mark.usefixtures("eager")
def test_prepared_calls_do_so_at_once(compiled: Backend) -> None:
    g = compiled(labelled())
    wanted = {name: host(call(g, AS_GIVEN)).copy() for name, call in CALLS.items() if name in ("pagerank", "katz")}
    for name, of in (("pagerank", "rank"), ("katz", "centrality")):
        prepared: Any = getattr(fr, name).prepare(g)
        for _ in range(3):
            np.testing.assert_allclose(host(getattr(prepared(), of)), wanted[name], rtol=1e-9)
        assert has_by_degree(g)
        assert renumbers(prepared)
    plain = problem(g)
    Many(plain, AS_GIVEN).run()
    run = Many(problem(g)).prepare()
    for _ in range(3):
        same(run(), plain)
    other = host(run(x=np.ones(g.num_vertices, np.int64)).x).copy()
    again = problem(g)
    again.x = 1
    Many(again, AS_GIVEN).run()
    assert np.array_equal(other, host(again.x))


@pytest.mark.usefixtures("eager")
def test_without_room_runs_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    g = web()

    def full(*_: Any) -> None:
        raise MemoryError

    for _ in range(3):
        fr.pagerank(g)
    with monkeypatch.context() as patch:
        patch.setattr(HostMemory, "left", lambda self, enough=None: (4 * g.targets.nbytes - 1, ""))
        assert not renumbers(lambda: fr.pagerank(g))
    with monkeypatch.context() as patch:
        patch.setattr(copies, "_made", full)
        assert not renumbers(lambda: fr.pagerank(g))
    assert renumbers(lambda: fr.pagerank(g))
    with monkeypatch.context() as patch:
        patch.setattr("frontier.program.numbering.Renumbered.__init__", full)
        assert not renumbers(lambda: fr.pagerank(g))


@pytest.mark.usefixtures("eager")
def test_explain_says_so() -> None:
    p = problem(web(weights=(1, 9)))
    said = "# Vertices are numbered by descending degree"
    assert said in Many(p, BY_DEGREE).explain()
    assert said not in Many(p).explain()
    by_degree(p.graph)
    assert said in Many(p).explain()
    assert said not in Many(p, AS_GIVEN).explain()


class Onwards(fr.Enactor):
    """A loop of gathers after a step that uses ids."""

    loop = (fr.Compute(lambda p, v: v, over="vertices"), *[Many.loop])


@pytest.mark.usefixtures("eager")
def test_explain_says_why_not() -> None:
    p, said = problem(web(weights=(1, 9))), "# The graph keeps its numbering: <lambda> uses v as a value."
    assert Onwards(p).explain().startswith(said)
    assert Onwards(p, BY_DEGREE).explain().startswith(said)
    assert said not in Onwards(p, AS_GIVEN).explain()
    assert "numbering" not in BFS(bfs_problem(p.graph, 0)).explain()  # which does not gather
