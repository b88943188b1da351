"""Parts in a grid, with edges divided by both ends: the same as one part, with fewer bytes, told to few."""

from __future__ import annotations

import numpy as np
import pytest
from compare import primitives_agree
from hypothesis import given, settings
from hypothesis import strategies as st
from mpi import mpirun, processes
from strategies import graphs_with_vertex
from test_fuzz_programs import _fuzz
from test_ranks import Paths

import frontier as fr
from frontier.distributed.ranks import walk
from frontier.distributed.ranks.grid import COLUMN, ROW, Grid, rows_of
from frontier.distributed.ranks.grid_steps import runs_in_blocks
from frontier.distributed.transport.rounds import Rounds
from frontier.memory import detection

SHAPES = ("ranks:4,2d", "ranks:6,2x3", "ranks:6,3x2,python", "ranks:3,3x1")

pytestmark = pytest.mark.skipif(detection.simulated(), reason="no kernels are in it")


# ---- asking for one ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ranks:6,2d", "ranks:6,2x3", "ranks:6,3x2,python", "ranks:5,2d"])
def test_a_placement_names_the_grid(name):
    g = fr.karate().to(name)
    assert str(g.placement) == name
    assert fr.Placement.parse(name) == g.placement
    assert (" rows" in g.placement.backend.describe(g.placement)) == (name != "ranks:5,2d")  # one row of five


def test_options_may_come_in_any_order():
    assert fr.Placement.parse("ranks:6,python,2d") == fr.Placement.parse("ranks:6,2d,python")


@pytest.mark.parametrize(
    "name", ["ranks:6,2d,2x3", "ranks:6,0x3", "ranks:6,2x", "ranks:6,2d,ranks", "ranks:6,", "ranks,", "cpu,2d"]
)
def test_what_names_no_grid_is_refused(name):
    with pytest.raises(fr.GraphError, match="there is no backend"):
        fr.Placement.parse(name)


def test_a_grid_has_as_many_parts_as_there_are():
    with pytest.raises(fr.BackendUnavailableError, match="a grid of 4 rows and 4 columns has 16 parts, not 6"):
        fr.Placement.parse("ranks:6,4x4")


def test_a_part_knows_its_row_and_column():
    made = Grid(2, 3, 3)
    assert list(made.members[ROW]) == [1, 3, 5]
    assert list(made.members[COLUMN]) == [2, 3]
    assert made.audiences[:3] == ["all", "row", "column"]


# ---- the same results ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", SHAPES)
@pytest.mark.parametrize(
    "g", [fr.rmat(7, 8, seed=3, weights=(1, 9)), fr.grid(9, 12, weights=(1, 9)), fr.rmat(6, 8, seed=3, directed=True)],
    ids=repr,
)  # fmt: skip
def test_primitives_are_the_same(where, g):
    primitives_agree(g, g.to(where))


@pytest.mark.parametrize("where", SHAPES)
@pytest.mark.parametrize("directed", [False, True])
def test_graphs_made_in_parts_send_edges_to_blocks(where, directed):
    options = {"seed": 3, "weights": (1, 9), "directed": directed}
    g, there = fr.rmat(7, 8, **options), fr.rmat(7, 8, placement=where, **options)
    found = fr.bfs(there, 5)
    assert np.array_equal(found.level, fr.bfs(g, 5).level)
    fr.verify.bfs(g, found)
    fr.verify.sssp(g, fr.sssp(there, 5))
    assert np.array_equal(fr.connected_components(there).label, fr.connected_components(g).label)
    np.testing.assert_allclose(fr.pagerank(there).rank, fr.pagerank(g).rank, rtol=1e-9)
    if "python" in where:
        return
    divided = there._topology.divided
    rows = rows_of(there.placement.backend.shape, divided.size)
    whole = fr.Partition(g, "2d", rows, divided.size // rows, divided.starts)
    for rank, part in enumerate(divided.parts):
        (outwards, inwards) = (
            next(each for name, each in part._topology.built().items() if f"inwards {turned}" in name)
            for turned in (False, True)
        )  # fmt: skip
        expected = whole.block(rank)
        edges = sorted(zip(expected.sources, expected.targets, g.weights[expected.slots], strict=True))
        assert sorted(zip(outwards.sources, outwards.targets, outwards.weights, strict=True)) == edges
        assert sorted(zip(inwards.targets, inwards.sources, inwards.weights, strict=True)) == edges


@given(graphs_with_vertex(weights="int32"), st.sampled_from([(2, 2), (2, 3), (3, 1), (3, 3)]), st.data())
@settings(max_examples=15)
def test_any_partition_gives_the_same(graph_and_source, shape, data):
    g, source = graph_and_source
    parts = shape[0] * shape[1]
    cuts = sorted(data.draw(st.lists(st.integers(0, g.num_vertices), min_size=parts - 1, max_size=parts - 1)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk, "starts_of", lambda g, parts: np.array([0, *cuts, g.num_vertices]))
        p = fr.Problem(g.to(f"ranks:{parts},{shape[0]}x{shape[1]},python"), distance=fr.vertex("float64", np.inf),
                       source=fr.scalar("int64", source))  # fmt: skip
        p.distance[source] = 0
        Paths(p).run()
    expected = fr.sssp(g, source, parents=False).distance.astype(float)
    expected[expected >= np.iinfo(np.int64).max] = np.inf
    assert np.array_equal(p.distance, expected)


@pytest.mark.parametrize("backend", ["ranks:4,2d", "ranks:6,2x3", "divided:6,3x2"])
def test_random_programs_leave_the_same_on_python_and_in_a_grid(backend):
    said = _fuzz("--programs", "3", "--graphs", "2", "--seed", "60", "--backend", backend)
    assert "3 programs" in said
    assert "0 refused, 0 differences" in said


def both_ends(p, src, dst, weight):
    fr.atomic_add(p.near, src, weight)
    fr.atomic_max(p.far, dst, src)
    return weight > 4


def slots(p, src, edge, weight):
    p.of_edge[edge] = src + weight
    return src < 9


def numbered(p, src, dst, edge):
    fr.atomic_max(p.far, dst, edge)
    return (p.length[edge] + edge) % 3 == 0


@pytest.mark.parametrize("where", SHAPES)
@pytest.mark.parametrize("edges", ["out", "in"])
@pytest.mark.parametrize("output", ["vertex", "edge"])
def test_edges_have_their_slots_in_blocks(where, edges, output):
    g = fr.rmat(6, 8, seed=4, directed=True)
    made = []
    for there in (g.to("cpu"), g.to(where)):
        p = fr.Problem(there, far=fr.vertex("int64", -1, combine="max"), length=fr.edge("int64"))
        p.length[:] = np.arange(g.num_slots) ** 2 % 7
        f = fr.Advance(numbered, edges=edges, output=output, over="vertices")(p)
        body = fr.Compute(lengthen, over="edges"), fr.Advance(numbered, edges=edges, output=output)
        after = fr.Loop(*body, times=2)(p, f)
        made.append((p.far.tolist(), sorted(f.ids), sorted(after.ids)))
    assert made[0] == made[1]
    assert runs_in_blocks(fr.Advance(numbered, edges=edges, output=output), p)
    assert not runs_in_blocks(fr.Advance(slots), fr.Problem(g, of_edge=fr.edge("int64")))


def lengthen(p, edge):
    p.length[edge] += 1


def counted(p, src):
    return fr.atomic_add(p.near, src, 1) == 2  # each third edge of a vertex


@pytest.mark.parametrize("where", SHAPES)
@pytest.mark.parametrize("edges", ["out", "in"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("step", [both_ends, slots, counted], ids=lambda fn: fn.__name__)
def test_advances_touch_ends_and_edges_as_on_one_part(where, edges, directed, step):
    g = fr.rmat(6, 8, seed=4, weights=(1, 9), directed=directed)
    made = []
    for there in (g.to("cpu"), g.to(where)):
        p = fr.Problem(there, near=fr.vertex("int64"), far=fr.vertex("int64", -1), of_edge=fr.edge("int64", -1))
        if step is counted and edges == "in":
            return  # adds at the far end, whose sum is known when the step has ended
        f = fr.Advance(step, edges=edges, over="vertices")(p)
        after = fr.Advance(step, edges=edges)(p, f)
        made.append((p.near.tolist(), p.far.tolist(), p.of_edge.tolist(), sorted(f.ids), sorted(after.ids)))
    assert made[0] == made[1]


def farther(p, src, dst):
    return p.x[src] - p.x[dst]


def is_far(p, src, dst):
    return p.x[src] > p.x[dst]


@pytest.mark.parametrize("where", SHAPES)
@pytest.mark.parametrize("edges", ["out", "in"])
@pytest.mark.parametrize(
    ("op", "dtype"),
    [("sum", "int64"), ("sum", "float64"), ("sum", "bool"), ("min", "int32"), ("max", "float32"), ("any", "bool"),
     ("all", "int64"), ("or", "int64"), ("argmin", "int32"), ("argmax", "int64")],
)  # fmt: skip
def test_reductions_over_lists_are_made_of_those_of_all_parts(where, edges, op, dtype):
    g = fr.rmat(6, 4, seed=2, directed=True)
    found = []
    for there in (g.to("cpu"), g.to(where)):
        p = fr.Problem(there, x=fr.vertex("int64"), into=fr.vertex(dtype, 1))
        p.x[:] = np.arange(g.num_vertices) * 7 % 19
        fn = is_far if op in ("any", "all") else farther
        fr.Loop(fr.Gather(fn, op, "into", edges=edges), over="vertices", times=1)(p)
        found.append(p.into.tolist())
    assert found[0] == found[1]


# ---- what goes wrong -----------------------------------------------------------------------------------------


def raises(p, src):
    return (1, 2)[p.x[src]]


@pytest.mark.parametrize("where", ["ranks:4,2d", "ranks:6,2x3,python"])
def test_an_error_of_one_part_leaves_what_owners_had(where):
    g = fr.rmat(6, 8, seed=1)
    p = fr.Problem(g.to(where), x=fr.vertex("int64", 1), into=fr.vertex("int64", 5))
    p.x[int(np.argmax(g.out_degree))] = 9
    with pytest.raises(IndexError if "python" in where else fr.FunctorError):
        fr.Gather(raises, "sum", "into", over="vertices")(p)
    assert (p.into == 5).all()
    p.x[:] = 1
    fr.Gather(raises, "sum", "into", over="vertices")(p)
    assert np.array_equal(p.into, 2 * g.in_degree)


def test_a_gather_does_not_run_over_edges_there_either():
    p = fr.Problem(fr.karate().to("ranks:4,2d"), x=fr.vertex("int64", 1), into=fr.vertex("int64"))
    with pytest.raises(fr.FrontierError, match="Gather runs over a frontier of vertices"):
        fr.Gather(raises, "sum", "into", over="edges")(p)


# ---- what is sent, and to whom -------------------------------------------------------------------------------


def go(p, dst):
    p.hops[dst] = p.depth
    return True


def ahead(p, dst):
    return p.hops[dst] == -1


def searched(g, source):
    """Distances in edges."""
    p = fr.Problem(g, hops=fr.vertex("int32", -1), source=fr.scalar("int64", source), depth=fr.scalar("int32", 0))
    p.hops[source] = 0
    fr.Loop(fr.Advance(go, where=ahead), over="source", count="depth")(p)
    return p.hops


def sent_by(program, *of):
    """Bytes that all parts send before the end, and for all to have the result."""
    with fr.trace() as seen:
        program(*of)
    total = sum(each.sent for each in seen.ranks.values())
    result = sum(row.sent for row in seen.rows if row.step == "result")
    return total - result, result


def test_sixteen_parts_send_less_in_a_grid_than_in_a_row():
    g = fr.rmat(14, 16, seed=5, weights=(1, 255))
    source = int(np.argmax(g.out_degree))
    line, square = g.to("ranks:16"), g.to("ranks:16,4x4")
    for program, least in ((searched, 3), (fr.bfs, 3), (fr.sssp, 1.5)):
        (passes, result), (in_grid, at_end) = sent_by(program, line, source), sent_by(program, square, source)
        assert in_grid * least < passes, program
        if program is fr.sssp:
            assert in_grid + at_end < passes + result
    row, grid = (sent_by(lambda there: fr.pagerank(there, tolerance=1e-4), there) for there in (line, square))
    assert 1.25 * grid[0] < row[0]  # though in a row, only those are told that read a vertex
    assert sum(grid) < sum(row)


def test_parts_talk_to_those_of_their_row_and_column(monkeypatch):
    spoke = set()
    alltoall = Rounds.alltoall

    def noted(self, note, messages):
        spoke.update((self.comm.rank, rank) for rank, message in enumerate(messages) if message)
        return alltoall(self, note, messages)

    monkeypatch.setattr(Rounds, "alltoall", noted)
    g = fr.rmat(9, 8, seed=5)
    p = fr.Problem(g.to("ranks:12,3x4"), hops=fr.vertex("int32", -1), source=fr.scalar("int64", 3),
                   depth=fr.scalar("int32", 0))  # fmt: skip
    p.hops[3] = 0
    with monkeypatch.context() as patch:
        patch.setattr(walk.Walk, "finish", lambda self, f: f)  # that all have the result
        fr.Loop(fr.Advance(go, where=ahead), over="source", count="depth")(p)
    assert len(spoke) > 40
    assert all(one // 3 == other // 3 or one % 3 == other % 3 for one, other in spoke)


@processes
def test_processes_in_a_grid_have_the_same_results(tmp_path):
    made = mpirun(4, tmp_path, """
        import numpy as np, frontier as fr
        g = fr.rmat(9, 8, seed=5, weights=(1, 9))
        there = g.to("ranks,2d")
        found = fr.bfs(there, 3)
        assert np.array_equal(found.level, fr.bfs(g, 3).level)
        fr.verify.bfs(g, found)
        fr.verify.sssp(g, fr.sssp(there, 3))
        assert np.array_equal(fr.connected_components(there).label, fr.connected_components(g).label)
        np.testing.assert_allclose(fr.pagerank(there).rank, fr.pagerank(g).rank, rtol=1e-9)
        made = fr.rmat(9, 8, seed=5, weights=(1, 9), placement="ranks,2d")
        fr.verify.sssp(g, fr.sssp(made, 3))
        np.testing.assert_allclose(fr.pagerank(made).rank, fr.pagerank(g).rank, rtol=1e-9)
        assert "4 processes in 2 rows" in there.placement.backend.describe(there.placement)
        try:
            g.to("ranks,3x3")
        except fr.BackendUnavailableError as error:
            assert "has 9 parts, not 4" in str(error)
            print("right")
    """)  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout.count("right") == 4


@processes
def test_commands_take_the_name_of_a_grid(tmp_path):
    made = mpirun(4, tmp_path, ["-m", "frontier", "bfs", "karate", "--backend", "ranks,2d", "--verify"])
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout.count("ranks,2d, 4 processes in 2 rows") == 1
    made = mpirun(4, tmp_path, ["-m", "frontier", "bfs", "karate", "--backend", "ranks,3x3"])
    assert made.returncode != 0
    assert "a grid of 3 rows and 3 columns has 9 parts, not 4" in made.stderr
