"""Graphs of which each rank holds only its part: the same as whole ones, with the same results, and less memory."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_fuzz_programs import _fuzz
from test_ranks import Near, Paths, mpirun, processes

import frontier as fr
from frontier.distributed.ranks.graphs import on_all
from frontier.distributed.transport.threads import Threads
from frontier.graph500.generator import generate
from frontier.graph500.others import Others
from frontier.graph500.run import benchmark, construct
from frontier.graph500.validation import bfs_tree, check_edges, check_joined
from frontier.memory import detection
from frontier.memory import reserved as reserving
from frontier.memory.placement import Placement
from frontier.memory.reserved import reserved, written
from frontier.verify.edges import edge_blocks

pytestmark = pytest.mark.skipif(detection.simulated(), reason="no kernels are in it")

PLACES = ("ranks:1", "ranks:2", "ranks:3", "ranks:4", "ranks:3,python")


def same(divided, whole):
    """Two graphs have equal arrays."""
    found = divided.to("cpu")
    assert (found.num_vertices, found.directed) == (whole.num_vertices, whole.directed)
    assert (divided.num_edges, divided.max_degree) == (whole.num_edges, whole.max_degree)
    assert (divided.min_weight, divided.max_weight) == (whole.min_weight, whole.max_weight)
    pairs = [(found.offsets, whole.offsets), (found.targets, whole.targets)]
    assert (found.weights is None) == (whole.weights is None)
    if whole.weights is not None:
        pairs.append((found.weights, whole.weights))
    pairs += [(found.edges[name], column) for name, column in whole.edges.items()]
    for one, other in pairs:
        assert one.dtype == other.dtype
        assert np.array_equal(one, other)


# ---- making ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weights", [None, (1, 9), (0.5, 2.0)])
@pytest.mark.parametrize("make", [fr.rmat, fr.urand])
def test_a_graph_made_in_parts_is_that_made_whole(place, directed, weights, make):
    options = {"directed": directed, "weights": weights, "seed": 5}
    same(make(7, 6, placement=place, **options), make(7, 6, **options))


@pytest.mark.parametrize("weights", [None, (0.5, 2.0)])
def test_compiled_kernels_make_the_same(weights):
    same(fr.rmat(14, 8, seed=3, weights=weights, placement="ranks:3"), fr.rmat(14, 8, seed=3, weights=weights))


@pytest.mark.parametrize("place", ["ranks:1", "ranks:3"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("self_loops", ["keep", "drop"])
@pytest.mark.parametrize("duplicates", ["keep", "first", "last", "min", "max", "sum"])
def test_duplicates_and_loops_are_resolved_alike(place, directed, self_loops, duplicates):
    draw = np.random.default_rng(1)
    src, dst = draw.integers(0, 9, (2, 400))
    options = {
        "weights": draw.random(400), "edges": {"number": np.arange(400)}, "num_vertices": 12, "directed": directed,
        "duplicates": duplicates, "self_loops": self_loops,
    }  # fmt: skip
    same(fr.from_edges(src, dst, placement=place, **options), fr.from_edges(src, dst, **options))


def test_what_cannot_be_built_in_parts_is_refused():
    with pytest.raises(fr.GraphError, match="needs seed="):
        fr.rmat(4, 4, placement="ranks:2")
    with pytest.raises(fr.GraphError, match="vertices are integers from 0"):
        fr.from_edges(["a"], ["b"], placement="ranks:2")
    with pytest.raises(fr.GraphError, match='goes with placement="ranks"'):
        fr.from_edges([0], [1], parts=True)
    with pytest.raises(fr.GraphError, match=r"the edge .* is given more than once"):
        fr.from_edges([0, 1, 2], [1, 2, 1], placement="ranks:2", duplicates="error")
    with pytest.raises(fr.GraphError, match=r"the edge \(5, 2\) is given more than once"):
        fr.from_edges([0, 5, 3, 5], [1, 2, 4, 2], directed=True, placement="ranks:3", duplicates="error")
    with pytest.raises(fr.GraphError, match="self-loop of vertex 1"):
        fr.from_edges([0, 1], [1, 1], placement="ranks:2", self_loops="error")


def test_an_empty_graph_has_parts():
    g = fr.from_edges([], [], num_vertices=5, placement="ranks:3")
    assert (g.num_vertices, g.num_edges, g.num_slots) == (5, 0, 0)
    assert fr.bfs(g, 2).level.tolist() == [-1, -1, 0, -1, -1]
    assert fr.from_edges([], [], placement="ranks:2").num_vertices == 0


# ---- a part ---------------------------------------------------------------------------------------------------


def test_a_part_has_its_own_rows_only():
    whole = fr.rmat(9, 8, seed=2, weights=(1, 9))
    g = fr.rmat(9, 8, seed=2, weights=(1, 9), placement="ranks:3")
    divided = g._topology.divided
    assert len(divided.parts) == 3
    for index, part in enumerate(divided.parts):
        own = divided.slots(index)
        for array, expected in ((part.targets, whole.targets), (part.weights, whole.weights)):
            assert len(array) == g.num_slots
            assert np.array_equal(array[own.start : own.stop], expected[own.start : own.stop])
            assert not array[: own.start].any()
            assert not array[own.stop :].any()


def test_an_array_of_edges_is_gathered_when_asked():
    whole, g = (fr.rmat(6, 8, seed=2, placement=place) for place in ("cpu", "ranks:3"))
    assert np.array_equal(np.asarray(g.targets), whole.targets)
    assert np.array_equal(g.targets[5:300:7], whole.targets[5:300:7])
    assert np.array_equal(g.targets[::-1], whole.targets[::-1])
    assert np.array_equal(g.targets.own, whole.targets)  # of all ranks, as they are one process
    assert (len(g.targets), g.targets.dtype, g.targets.nbytes) == (g.num_slots, np.int32, whole.targets.nbytes)
    assert "in 3 parts" in repr(g.targets)
    assert np.array_equal(g.targets == 5, whole.targets == 5)
    assert np.array_equal(whole.targets != g.targets, np.zeros(g.num_slots, bool))
    assert np.array_equal(2 * g.targets + 1, 2 * whole.targets + 1)
    assert (g.targets.max(), g.targets.sum(), g.targets.size) == (63, whole.targets.sum(), g.num_slots)
    assert list(g.targets) == list(whole.targets)
    assert 5 in g.targets
    assert 99 not in g.targets
    assert not hasattr(g.targets, "nonsense")
    with pytest.raises(fr.GraphError, match="each rank has the edges of its own vertices only"):
        g.targets[3]
    with pytest.raises(fr.GraphError, match="no rank has the sources of the whole"):
        g.sources  # noqa: B018
    for call in (g.reordered, lambda: g.with_weights(None), lambda: g.with_columns(vertices={"a": np.arange(64)})):
        with pytest.raises(fr.GraphError, match="of a graph in parts is not possible"):
            call()
    with pytest.raises(fr.GraphError, match="cannot be copied"):
        __import__("pickle").dumps(g)


def test_memory_is_taken_by_what_is_written():
    far = reserved(1 << 40, np.int32)  # 4 TiB
    far[1 << 39] = 7
    assert far[1 << 39] == 7
    assert far[5] == 0


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 4000)), max_size=6), st.sampled_from(["u1", "i8"]))
def test_the_parts_of_an_array_that_are_written_are_known(ranges, dtype):
    array, bits = reserved(10**6, dtype), np.zeros(10**6, bool)
    for first, length in ranges:
        array[first : first + length] = 1
        bits[first : first + length] = True
    found = written(array[1000:])
    covered = np.zeros(10**6 - 1000, bool)
    for part in found:
        assert not covered[part].any()
        covered[part] = True
    assert (covered | ~bits[1000:]).all()


def test_an_array_is_whole_where_the_system_does_not_tell(monkeypatch):
    """As in containers in which the file is there, and says nothing."""
    array = reserved(10**6, np.int64)
    for told in (lambda array: np.zeros(1, bool), Mock(side_effect=PermissionError), Mock(side_effect=EOFError)):
        monkeypatch.setattr(reserving, "_take_memory", told)
        assert written(array) == [slice(0, 10**6)]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says which pages take memory")
def test_what_is_not_written_is_left_out():
    array = reserved(10**9, np.int32)
    assert written(array) == []
    array[5_000_000:6_000_000] = 1
    ((first, end, _),) = [(each.start, each.stop, each.step) for each in written(array)]
    assert 4_900_000 < first <= 5_000_000
    assert 6_000_000 <= end < 6_600_000
    assert written(array[::2]) == [slice(0, 5 * 10**8)]  # of which pages are not looked at
    assert written(np.zeros(5)) == [slice(0, 5)]
    assert written(array[:0]) == [slice(0, 0)]


# ---- running --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("directed", [False, True])
def test_primitives_are_the_same(place, directed):
    options = {"seed": 3, "weights": (1, 9), "directed": directed}
    g, there = fr.rmat(7, 8, **options), fr.rmat(7, 8, placement=place, **options)
    found = fr.bfs(there, 5)
    assert np.array_equal(found.level, fr.bfs(g, 5).level)
    fr.verify.bfs(g, found)
    fr.verify.sssp(g, fr.sssp(there, 5))
    for weighted in (False, True):
        one, several = fr.pagerank(g, weighted=weighted), fr.pagerank(there, weighted=weighted)
        np.testing.assert_allclose(several.rank, one.rank, rtol=1e-9)
    np.testing.assert_allclose(
        fr.betweenness(there, [5, 9]).centrality, fr.betweenness(g, [5, 9]).centrality, rtol=1e-9, atol=1e-12
    )
    if not directed:
        assert np.array_equal(fr.connected_components(there).label, fr.connected_components(g).label)
    assert np.array_equal(there.in_degree, g.in_degree)
    np.testing.assert_allclose(there.out_weight, g.out_weight)


@pytest.mark.parametrize("enactor", [Paths, Near])
@pytest.mark.parametrize("direction", ["push", "pull", "auto"])
def test_schedules_are_the_same(enactor, direction):
    g = fr.rmat(8, 8, seed=3, weights=(1, 9), placement="ranks:3")
    p = fr.Problem(g, distance=fr.vertex("float64", np.inf), source=fr.scalar("int64", 5))
    p.distance[5] = 0
    enactor(p, fr.Schedule(direction=direction)).run()
    expected = fr.sssp(fr.rmat(8, 8, seed=3, weights=(1, 9)), 5, parents=False).distance
    reached = expected < np.iinfo(np.int64).max
    assert np.array_equal(p.distance[reached], expected[reached])
    assert np.isinf(p.distance[~reached]).all()


@pytest.mark.parametrize(("direction", "pulls"), [("push", False), ("pull", True), ("auto", True)])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("in_parts", [False, True])
def test_ranks_pull_together(direction, pulls, directed, in_parts):
    whole = fr.rmat(12, 16, seed=2, directed=directed)
    g = fr.rmat(12, 16, seed=2, directed=directed, placement="ranks:3") if in_parts else whole.to("ranks:3")
    source = int(g.out_degree.argmax())
    with fr.trace() as seen:
        found = fr.bfs(g, source, schedule=fr.Schedule(direction=direction))
    rows = [row for row in seen.rows if row.step.startswith("Advance")]
    assert ("pull" in {row.direction for row in rows}) == pulls
    for number in {row.number for row in rows}:  # all decide alike
        same_pass = [row for row in rows if row.number == number]
        assert sorted(row.rank for row in same_pass) == [0, 1, 2]
        assert len({row.direction for row in same_pass}) == 1
    assert np.array_equal(found.level, fr.bfs(whole, source).level)
    fr.verify.bfs(whole, found)
    paths, expected = (fr.betweenness(each, [source], schedule=fr.Schedule(direction=direction)) for each in (g, whole))
    np.testing.assert_allclose(paths.centrality, expected.centrality, rtol=1e-9)
    many = sorted(np.argsort(whole.out_degree)[-3:].tolist())  # in copies of the graph
    paths, expected = (fr.betweenness(each, many, schedule=fr.Schedule(direction=direction)) for each in (g, whole))
    np.testing.assert_allclose(paths.centrality, expected.centrality, rtol=1e-9, atol=1e-12)


def largest(p, src, dst, weight):
    fr.atomic_max(p.best, dst, weight * src)
    return True


def degree(p, src, dst):
    fr.atomic_max(p.best, dst, fr.degree(p, src))
    return True


@pytest.mark.parametrize("place", ["ranks:3", "divided"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("fn", [largest, degree])
def test_pulls_see_weights_and_degrees(place, directed, fn):
    options = {"seed": 2, "weights": (1, 9), "directed": directed}
    whole = fr.rmat(6, 8, **options)
    graphs = whole, fr.rmat(6, 8, placement="ranks:3", **options) if place == "divided" else whole.to(place)
    found = []
    for g in graphs:
        p = fr.Problem(g, best=fr.vertex("int64", -1))
        fr.Advance(fn, over="vertices", schedule=fr.Schedule(direction="pull"))(p)
        found.append(p.best)
    assert np.array_equal(*found)


def mark(p, src, dst, edge, weight):
    p.length[edge] = weight + src


def add(p, src, dst, edge):
    fr.atomic_add(p.total, dst, p.length[edge])


def through(p, src, dst, edge):
    p.length[edge + 1] = 1


@pytest.mark.parametrize("place", ["cpu", "ranks:3", "ranks:2,python"])
def test_fields_of_edges_stay_with_their_ranks(place):
    g = fr.rmat(6, 6, seed=3, weights=(1, 9), placement=place)
    p = fr.Problem(g, length=fr.edge("int64", 7), first=fr.edge("int32", g.weights), total=fr.vertex("int64", 0))
    fr.Compute(mark, over="edges")(p)
    fr.Advance(add, over="vertices")(p)
    whole = fr.rmat(6, 6, seed=3, weights=(1, 9))
    expected = np.zeros(64, np.int64)
    np.add.at(expected, whole.targets, whole.weights + whole.sources)
    assert np.array_equal(p.total, expected)
    assert np.array_equal(p.first, whole.weights)


def accepted(p, src, dst):
    return (src + dst) % 3 == 0


@pytest.mark.parametrize("place", ["ranks:3", "ranks:2,python"])
@pytest.mark.parametrize("edges", ["out", "in"])
@pytest.mark.parametrize("given", [False, True])
def test_an_advance_over_edges_stands_on_their_ends(place, edges, given):
    graphs = [fr.rmat(6, 3, seed=4, directed=True, placement=where) for where in ("cpu", place)]
    step = fr.Advance(accepted, edges=edges, over=None if given else "edges")
    found = []
    for g in graphs:
        f = fr.Frontier(g, np.arange(0, g.num_slots, 3), "edge") if given else None
        found.append(sorted(step(fr.Problem(g), f)))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (fr.Compute(through, over="edges"), r"uses p\.length, a field of edges, at another index"),
    ],
)
def test_what_needs_edges_of_others_is_refused(step, message):
    g = fr.rmat(5, 4, seed=3, placement="ranks:2")
    p = fr.Problem(g, length=fr.edge("int64", 0), total=fr.vertex("int64", 0))
    with pytest.raises(fr.FrontierError, match=message):
        step(p)


@pytest.mark.parametrize("backend", ["divided:3", "divided:2,python"])
def test_random_programs_leave_the_same(backend):
    said = _fuzz("--programs", "3", "--graphs", "2", "--seed", "110", "--backend", backend)
    assert "0 differences" in said


# ---- verifying ------------------------------------------------------------------------------------------------


#: Primitives, a field of each result, and a value that is wrong at vertex 7.
WRONG = {
    "bfs": ("level", 99), "sssp": ("distance", 99), "pagerank": ("rank", 0.5),
    "connected_components": ("label", 7), "betweenness": ("centrality", 9e5),
}  # fmt: skip


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", WRONG)
def test_results_are_verified_on_graphs_in_parts(name, directed, monkeypatch):
    monkeypatch.setattr(edge_blocks, "__defaults__", (50,))
    options = {"seed": 5, "weights": (1, 9), "directed": directed}
    whole, g = fr.rmat(8, 8, **options), fr.rmat(8, 8, placement="ranks:3", **options)
    verify, more = getattr(fr.verify, name), [3] if name in ("bfs", "sssp") else []
    result = getattr(fr, name)(g, *more)
    assert str(verify(g, result)) == str(verify(whole, result))
    assert verify(g, result)
    field, value = WRONG[name]
    spoilt = np.array(getattr(result, field))
    spoilt[7] = value
    result = replace(result, **{field: spoilt})
    assert not verify(g, result)
    assert str(verify(g, result)) == str(verify(whole, result))


def test_wrong_parents_and_weights_are_named_on_graphs_in_parts():
    whole, g = (fr.rmat(8, 8, seed=5, weights=(1, 9), placement=place) for place in ("cpu", "ranks:3"))
    result = fr.sssp(g, 3)
    for vertex, parent in ((7, 9), (7, 2), (int(whole.targets[40]), int(whole.sources[40]))):
        parents = np.array(result.parent)
        parents[vertex] = parent
        report = fr.verify.sssp(g, replace(result, parent=parents))
        assert str(report) == str(fr.verify.sssp(whole, replace(result, parent=parents)))
    negative = np.array(whole.weights)
    negative[(whole.sources == 2) & (whole.targets == 7)] = -4
    negative[(whole.sources == 7) & (whole.targets == 2)] = -4
    g = fr.from_edges(whole.sources, whole.targets, negative, placement="ranks:3", directed=True)
    with pytest.raises(fr.NegativeWeightError, match=r"edge 2 -> 7 .* has weight -4"):
        fr.verify.sssp(g, result)
    ranks = replace(fr.pagerank(whole), weighted=True)
    assert "edge 2 -> 7" in str(fr.verify.pagerank(g, ranks))


@processes
def test_ranks_verify_together(tmp_path):
    made = mpirun(3, tmp_path, f"""
        from dataclasses import replace
        import numpy as np, frontier as fr
        from mpi4py import MPI
        g = fr.rmat(8, 8, seed=5, weights=(1, 9), placement="ranks")
        for name, (field, value) in {WRONG!r}.items():
            result = getattr(fr, name)(g, *([3] if name in ("bfs", "sssp") else []))
            verify = getattr(fr.verify, name)
            assert verify(g, result)
            getattr(result, field)[7] = value
            reports = MPI.COMM_WORLD.allgather(str(verify(g, result)))
            assert "FAILED" in reports[0] and len(set(reports)) == 1, reports
            array = np.array(getattr(result, field))
            array[7] += MPI.COMM_WORLD.rank == 1
            reports = MPI.COMM_WORLD.allgather(str(verify(g, replace(result, **{{field: array}}))))
            assert f"{{field}} of rank 1 is not that of rank 0" in reports[0] and len(set(reports)) == 1, reports
        print("right")
    """)  # fmt: skip
    assert made.stdout.count("right") == 3, made.stdout + made.stderr


# ---- processes ------------------------------------------------------------------------------------------------


@processes
@pytest.mark.parametrize("count", [2, 3, 4])
def test_processes_have_their_own_parts(count, tmp_path):
    made = mpirun(count, tmp_path, """
        import numpy as np, frontier as fr
        from mpi4py import MPI
        rank, size = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
        for directed in (False, True):
            options = dict(seed=5, weights=(1, 9), directed=directed)
            whole, g = fr.rmat(9, 8, **options), fr.rmat(9, 8, placement="ranks", **options)
            first, own = g.targets.first, g.targets.own
            assert len(own) < whole.num_slots
            assert np.array_equal(own, whole.targets[first : first + len(own)])
            assert np.array_equal(fr.bfs(g, 3).level, fr.bfs(whole, 3).level)
            fr.verify.sssp(whole, fr.sssp(g, 3))
            assert np.allclose(fr.pagerank(g, weighted=True).rank, fr.pagerank(whole, weighted=True).rank)
            edges = len(whole.targets) * rank // size, len(whole.targets) * (rank + 1) // size
            mine = slice(*edges)
            h = fr.from_edges(whole.sources[mine], whole.targets[mine], whole.weights[mine], directed=directed,
                              num_vertices=512, placement="ranks", parts=True)
            assert np.array_equal(h.to("cpu").targets, whole.targets)
            assert np.array_equal(h.to("cpu").weights, whole.weights)
        print("right")
    """)  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout.count("right") == count


@processes
@pytest.mark.parametrize(
    "call",
    [
        'fr.rmat(6, 8, seed=rank, placement="ranks")',
        'fr.rmat(6, 8, seed=1, directed=rank > 0, placement="ranks")',
        'fr.from_edges([0, 1], [1, 2 + rank], num_vertices=5, placement="ranks")',
    ],
)
def test_ranks_that_build_different_graphs_say_so(call, tmp_path):
    made = mpirun(2, tmp_path, f"""
        import frontier as fr
        from mpi4py import MPI
        rank = MPI.COMM_WORLD.rank
        {call}
        print("end")
    """)  # fmt: skip
    assert made.returncode != 0
    assert "end" not in made.stdout.split()
    assert made.stderr.count("rank 1 does not build the same graph as rank 0") == 1, made.stderr


@processes
def test_a_rank_takes_the_memory_of_its_part(tmp_path):
    made = mpirun(2, tmp_path, """
        import numpy as np, frontier as fr
        def kilobytes(name):
            return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name))
        warm = fr.rmat(15, 16, seed=1, placement="ranks")
        fr.bfs(warm, 1)
        fr.rmat(18, 16, seed=1, placement="ranks")  # whose rows are filled by kernels, compiled now
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")  # forgets the most that compiling has taken
        before = kilobytes("VmRSS")
        g = fr.rmat(19, 16, seed=5, placement="ranks")
        part = (g.targets.own.nbytes + g.offsets.nbytes) / 1024
        taken = kilobytes("VmHWM") - before
        assert taken < 1.5 * part + 4096, (taken, part)
        fr.connected_components(warm)
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        before = kilobytes("VmRSS")
        fr.connected_components(g)
        taken = kilobytes("VmHWM") - before
        assert taken < 0.7 * part + 4096, (taken, part)  # fields of vertices, no list of edges
        print("right")
    """)  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout.count("right") == 2


@processes
def test_one_of_many_ranks_takes_the_memory_of_its_part(tmp_path):
    """Of 16 ranks: the offsets of the whole graph are a third of a part, so there is no room for such an array more."""
    made = mpirun(16, tmp_path, """
        import frontier as fr
        def kilobytes(name):
            return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name))
        fr.rmat(17, 16, seed=1, placement="ranks")
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")  # forgets the most that compiling has taken
        before = kilobytes("VmRSS")
        g = fr.rmat(19, 16, seed=5, placement="ranks")
        part = (g.targets.own.nbytes + g.offsets.nbytes) / 1024
        taken = kilobytes("VmHWM") - before
        assert taken < 1.5 * part, (taken, part)
        print("right")
    """)  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout.count("right") == 16


@processes
@pytest.mark.parametrize("graph", ["rmat:8", "graph.el", "karate"])
def test_the_command_line_takes_a_graph_in_parts(graph, tmp_path):
    fr.write(fr.rmat(6, 8, seed=1), tmp_path / "graph.el")
    made = mpirun(2, tmp_path, f"""
        import runpy, sys
        sys.argv = ["frontier", "bfs", "{graph}", "--backend", "ranks", "--verify"]
        runpy.run_module("frontier", run_name="__main__")
    """)  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout.count("2 processes") == 1, made.stdout


# ---- Graph500 -------------------------------------------------------------------------------------------------


def test_graph500_in_parts_searches_the_same_graph():
    one, several = (benchmark(8, roots=3, backend=place) for place in ("cpu", "ranks:3"))
    for kernel in ("bfs", "sssp"):
        found = [[(s.root, s.edges) for s in each.searches[kernel]] for each in (one, several)]
        assert found[0] == found[1]


def test_an_edge_that_breaks_a_rule_is_reported_by_all():
    edges = generate(6)
    g = construct(edges, Placement.parse("cpu"))
    root = int(edges.src[0])
    tree = bfs_tree(root, fr.bfs(g, root).parent)
    wrong = bfs_tree(root, np.where(np.arange(g.num_vertices) == root, root, -1))
    halves = [(0, 512), (512, 1024)]

    def validated(comm, trees):
        lo, hi = halves[comm.rank]
        mine = generate(6, lo=lo, hi=hi)
        return Others(comm).evidence(lambda: check_edges(mine, trees[comm.rank]))

    found = on_all(Threads(2).members, lambda comm: validated(comm, (tree, tree)))
    for each in found:
        assert check_joined(tree, each) == check_joined(tree, check_edges(edges, tree))

    def refused(comm):
        with pytest.raises(fr.VerificationError, match="joins a vertex of the tree with one outside"):
            validated(comm, (tree, wrong))

    on_all(Threads(2).members, refused)


@processes
@pytest.mark.parametrize("count", [2, 3])
def test_graph500_on_processes(count, tmp_path):
    made = mpirun(count, tmp_path, """
        from frontier.graph500.run import benchmark
        one, several = (benchmark(8, roots=3, backend=place) for place in ("cpu", "ranks"))
        for kernel in ("bfs", "sssp"):
            found = [[(s.root, s.edges) for s in each.searches[kernel]] for each in (one, several)]
            assert found[0] == found[1]
        print(f"right {several.processes}")
    """)  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout.count(f"right {count}") == count, made.stdout


# ---- warnings -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["ranks:1", "ranks:3"])
@pytest.mark.parametrize("directed", [False, True])
def test_doubts_are_said_as_of_a_whole_graph(place: str, directed: bool, tmp_path: Path) -> None:
    twice = ([0, 5, 0], [1, 6, 1], [2, 3, 4])
    with pytest.warns(fr.FrontierWarning, match=r"the edge \(0, 1\), and perhaps others, is given more") as said:
        fr.from_edges(*twice, placement=place, directed=directed)
    assert len(said) == 1
    far = np.arange(0, 9000, 9)
    with pytest.warns(fr.FrontierWarning, match="1,000 of them occur: the other 7,992 are"):
        fr.from_edges(far, far[::-1].copy(), placement=place, directed=directed)
    with pytest.warns(fr.FrontierWarning, match="2 of them occur"):
        fr.from_edges([9001], [9003], placement=place, directed=directed)
    name = tmp_path / "g.wel"
    name.write_text("0 1 2\n5 6 3\n0 1 4\n")
    with pytest.warns(fr.FrontierWarning, match="is given more than once"):
        fr.read(name, placement=place, directed=directed)
    fr.from_edges(*twice, placement=place, duplicates="first")
    fr.from_edges([0, 5, 0], [1, 6, 1], [2, 3, 2], placement=place)
    fr.from_edges([9001], [9003], placement=place, num_vertices=10_000)
    fr.read(name, placement=place, duplicates="sum")
