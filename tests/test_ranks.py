"""Programs on several parts: the same as on one, or a clear error."""

from __future__ import annotations

import json

import numpy as np
import pytest
from compare import primitives_agree
from hypothesis import given, settings
from hypothesis import strategies as st
from mpi import mpich, mpirun, processes
from strategies import graphs_with_vertex
from test_fuzz_programs import _fuzz

import frontier as fr
from frontier.distributed.ranks import walk
from frontier.memory import detection
from frontier.program.execution import start

PARTS = (1, 2, 3, 4)

pytestmark = pytest.mark.skipif(detection.simulated(), reason="no kernels are in it")


def relax(p, src, dst, weight):
    new = p.distance[src] + weight
    return new < p.distance[dst] and new < fr.atomic_min(p.distance, dst, new)


class Paths(fr.Enactor):
    loop = fr.Loop(fr.Advance(relax), over="source")


class Near(fr.Enactor):
    loop = fr.Loop(fr.Advance(relax), over="source", order=fr.by("distance", delta="auto"))


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("g", [fr.rmat(7, 8, seed=3, weights=(1, 9)), fr.grid(9, 12, weights=(1, 9))], ids=repr)
def test_primitives_are_the_same(parts, g):
    primitives_agree(g, g.to(f"ranks:{parts}"))


@given(graphs_with_vertex(weights="int32"), st.sampled_from(PARTS), st.data())
@settings(max_examples=15)
def test_any_partition_gives_the_same(graph_and_source, parts, data):
    g, source = graph_and_source
    cuts = sorted(data.draw(st.lists(st.integers(0, g.num_vertices), min_size=parts - 1, max_size=parts - 1)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk, "starts_of", lambda g, parts: np.array([0, *cuts, g.num_vertices]))
        there = g.to(f"ranks:{parts},python")
        p = fr.Problem(there, distance=fr.vertex("float64", np.inf), source=fr.scalar("int64", source))
        p.distance[source] = 0
        Paths(p).run()
    expected = fr.sssp(g, source, parents=False).distance.astype(float)
    expected[expected >= np.iinfo(np.int64).max] = np.inf
    assert np.array_equal(p.distance, expected)


def visited(there, enactor, order):
    """Edges that the advances of a search look at, and the distances it finds."""
    p = fr.Problem(there, distance=fr.vertex("float64", np.inf), source=fr.scalar("int64", 5))
    p.distance[5] = 0
    with fr.trace() as seen:
        enactor(p, fr.Schedule(order=order)).run()
    return sum(total.edges for step, total in seen.totals.items() if "relax" in step), p.distance


@pytest.mark.parametrize("order", ["near_far", "buckets"])
@pytest.mark.parametrize("parts", [2, 3])
@pytest.mark.parametrize("g", [fr.rmat(10, 8, seed=4, weights=(1, 64)), fr.grid(60, 60, weights=(1, 64))], ids=repr)
def test_an_order_saves_as_much_work_as_on_one_part(g, parts, order):
    one, several, unordered = (
        visited(g.to(where), enactor, order)
        for where, enactor in (("cpu", Near), (f"ranks:{parts}", Near), (f"ranks:{parts}", Paths))
    )
    assert several[0] < 1.25 * one[0]
    assert several[0] < unordered[0]
    assert np.array_equal(several[1], one[1])


@pytest.mark.parametrize("parts", [2, 3])
def test_random_programs_leave_the_same_on_python_and_several_parts(parts):
    said = _fuzz("--programs", "4", "--graphs", "2", "--seed", "40", "--backend", f"ranks:{parts}")
    assert "4 programs" in said
    assert "0 refused, 0 differences" in said


def test_a_run_stops_at_pass_boundaries_on_all_parts():
    g = fr.path(9).to("ranks:3")
    p = fr.Problem(g, distance=fr.vertex("int64", 99), source=fr.scalar("int64", 0))
    p.distance[0] = 0
    step = fr.Loop(fr.Advance(hop), over="source")
    begun = start(step, p)
    assert begun.proceed(3) == 3
    assert not begun.done
    assert p.distance.tolist() == [0, 1, 2, 3, 99, 99, 99, 99, 99]
    begun.proceed()
    assert begun.done
    assert p.distance.tolist() == list(range(9))


def hop(p, src, dst):
    new = p.distance[src] + 1
    return new < p.distance[dst] and new < fr.atomic_min(p.distance, dst, new)


def corners(p, u, v, w, uv):
    fr.atomic_add(p.first, u, 1)
    fr.atomic_add(p.second, v, 1)
    fr.atomic_add(p.third, w, 1)
    p.of_edge[uv] = u + v


@pytest.mark.parametrize("parts", PARTS)
def test_only_the_first_end_of_an_intersected_edge_is_a_parts_own(parts):
    g = fr.rmat(6, 8, seed=1)
    found = []
    for where in ("cpu", f"ranks:{parts}"):
        names = ("first", "second", "third")
        p = fr.Problem(g.to(where), of_edge=fr.edge("int64"), **{name: fr.vertex("int64") for name in names})
        fr.Intersect(corners, over="edges")(p)
        found.append([p.arrays[name].tolist() for name in (*names, "of_edge")])
    assert found[0] == found[1]


# ---- where the time goes ---------------------------------------------------------------------------------


def test_a_trace_says_what_each_rank_did():
    g = fr.rmat(8, 8, seed=2).to("ranks:3")
    with fr.trace() as t:
        result = fr.bfs(g, 3)
        fr.bfs(g, 3)
    assert sorted(t.ranks) == [0, 1, 2]
    exchanges = [row for row in t.rows if row.step == "exchange"]
    for rank, total in t.ranks.items():
        own = [row for row in exchanges if row.rank == rank]
        assert total.exchanges == len(own) == len(exchanges) / 3
        assert total.sent == sum(row.sent for row in own) > 0
        assert total.waiting == pytest.approx(sum(row.waited for row in own))
        assert min(total.preparing, total.computing, total.merging) > 0
    visits = [row for row in t.rows if row.step.startswith("Advance")]
    assert {row.rank for row in visits} == {0, 1, 2}
    assert {row.number for row in visits} == set(range(1, result.level.max() + 2))
    *_, head, _, first, _, _, last = str(t).splitlines()
    assert head.split()[:3] == ["rank", "exchanges", "preparing"]
    assert (first.split()[0], last.split()[0]) == ("0", "all")
    assert last.split()[-1] == f"{sum(total.sent for total in t.ranks.values()):,}"
    assert [each["rank"] for each in json.loads(t.to_json())["ranks"]] == [0, 1, 2]
    assert {event["tid"] for event in json.loads(t.to_chrome())["traceEvents"]} == {0, 1, 2}


@processes
def test_one_rank_may_trace_alone(tmp_path):
    made = mpirun(3, tmp_path, """
        import frontier as fr
        from mpi4py import MPI
        g = fr.karate().to("ranks")
        if MPI.COMM_WORLD.rank == 1:
            with fr.trace() as t:
                fr.bfs(g, 0)
            assert sorted(t.ranks) == [0, 1, 2]
            assert len({total.exchanges for total in t.ranks.values()}) == 1
            print("right")
        else:
            fr.bfs(g, 0)
    """)  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout == "right\n"


# ---- processes ----------------------------------------------------------------------------------------------


@processes
@pytest.mark.parametrize("count", [2, 3])
def test_processes_have_the_same_results(count, tmp_path):
    program = """
        import numpy as np, frontier as fr
        g = fr.rmat(9, 8, seed=5, weights=(1, 9))
        there = g.to("ranks")
        assert np.array_equal(np.asarray(fr.bfs(there, 3).level), fr.bfs(g, 3).level)
        fr.verify.sssp(g, fr.sssp(there, 3))
        assert np.allclose(fr.pagerank(there).rank, fr.pagerank(g).rank)

        def smallest(p, src, dst):
            return p.label[src] < fr.atomic_min(p.label, dst, p.label[src])

        p = fr.Problem(there, label=fr.vertex("int64", np.arange(g.num_vertices), combine="min"))
        fr.Loop(fr.Advance(smallest), over="vertices")(p)
        assert np.array_equal(p.label, fr.connected_components(g).label)
        print("right")
    """
    made = mpirun(count, tmp_path, program)
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout.count("right") == count


@processes
def test_one_process_prints_what_all_have(tmp_path):
    for arguments, wanted in (
        (["bfs", "karate", "--backend", "ranks", "--verify"], "2 processes"),
        (["bfs", "karate", "--backend", "ranks", "--trace"], "preparing ms  computing ms  merging ms  waiting ms"),
        (["graph500", "--scale", "6", "--roots", "2", "--backend", "ranks"], "num_mpi_processes:              2"),
    ):
        made = mpirun(2, tmp_path, ["-m", "frontier", *arguments])
        assert made.returncode == 0, made.stdout + made.stderr
        assert made.stdout.count(wanted) == 1, made.stdout


@processes
def test_doctor_reports_once_for_a_host(tmp_path):
    made = mpirun(3, tmp_path, ["-m", "frontier", "doctor"])
    assert made.returncode == 0, made.stderr
    assert made.stdout.count("backend ranks ") == made.stdout.count(" by 3 processes") == 1, made.stdout


@processes
@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("pagerank karate --backend ranks --max-iterations 2", 1, "in iteration 2, not below 1e-09"),  # on all together
        ("bfs karate --backend ranks --source 99", 2, "there is no vertex 99"),  # on each for itself
    ],
)
def test_one_process_says_what_is_wrong_on_all(words, status, said, tmp_path):
    made = mpirun(2, tmp_path, f"""
        import sys
        from frontier.distributed.transport import communicators
        from frontier.distributed.transport import mpi
        from frontier.cli import main
        communicators.PAUSE = mpi.PAUSE = 20  # however slow rank 0 is
        sys.exit(main({words.split()}))
    """)  # fmt: skip
    assert made.returncode == status
    assert made.stderr.count(said) == made.stderr.count("frontier: ") == 1, made.stderr


@processes
@pytest.mark.parametrize("words", ["bfs karate --backend rank", "bfss karate", "cc karate --threads 0 --backend ranks"])
def test_one_process_says_how_the_command_is_used(words, tmp_path):
    made = mpirun(3, tmp_path, ["-m", "frontier", *words.split()])
    assert made.returncode == 2
    assert made.stderr.count("frontier: ") == 1, made.stderr
    made = mpirun(3, tmp_path, ["-m", "frontier", "bfs", "nowhere", "--backend", "ranks"])
    assert made.returncode == 2
    assert "neither a file nor a kind" in made.stderr


@processes
def test_one_process_says_that_weights_are_drawn(tmp_path):
    made = mpirun(3, tmp_path, ["-m", "frontier", "sssp", "karate", "--backend", "ranks"])
    assert made.returncode == 0
    assert made.stderr.count("they are drawn, integers from 1 to 64") == 1, made.stderr


def rank_of(p, src):
    return p.rank[src]


def halve(p, v):
    p.rank[v] = p.sum[v] / 2


def test_lists_of_readers_that_are_not_used_are_dropped():
    """Where every rank reads nearly all; and with them the memory of which they are a part."""
    p = fr.Problem(fr.complete(40).to("ranks:2"), rank=fr.vertex("float64", 1.0), sum=fr.vertex("float64"))
    steps = fr.Gather(rank_of, "sum", into="sum"), fr.Compute(halve)
    fr.Loop(*steps, times=2, over="vertices")(p)
    made = [value for name, value in p.graph._topology.derived.items() if name.startswith("readers")]
    assert len(made) == 2
    for each in made:
        assert not each.few
        assert (each.given, each.taken) == ([], [])
        assert each.by.size == 0
        assert each.by.base is None


@processes
def test_processes_of_several_hosts(tmp_path):
    """MPICH takes two names for two hosts, although all processes are begun here: messages go over sockets."""
    if not mpich():
        pytest.skip("another mpirun than that of MPICH")
    hosts = tmp_path / "hosts"
    hosts.write_text("first:2\nsecond:2\n")
    made = mpirun(4, tmp_path, """
        import numpy as np, frontier as fr
        from mpi4py import MPI
        for place in ("ranks", "ranks,2x2"):
            g = fr.rmat(10, 8, seed=5, placement=place)
            assert np.array_equal(fr.bfs(g, 3).level, fr.bfs(fr.rmat(10, 8, seed=5), 3).level)
            assert abs(np.sum(fr.pagerank(g).rank) - 1) < 1e-9
        sizes = MPI.COMM_WORLD.gather(MPI.COMM_WORLD.Split_type(MPI.COMM_TYPE_SHARED).size)
        if sizes:  # of rank 0: what several processes print may come mixed
            print("ranks of a host:", *sizes)
        """, HYDRA_LAUNCHER="fork", HYDRA_HOST_FILE=str(hosts))  # fmt: skip
    assert made.returncode == 0, made.stderr
    assert made.stdout == "ranks of a host: 2 2 2 2\n"
