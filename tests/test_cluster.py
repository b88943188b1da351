"""Ranks on the workers of Dask and of Ray: the same as one process, and one message if a worker is lost."""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import os
import signal
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import frontier as fr
from frontier.distributed.clusters import agent
from frontier.distributed.clusters.remote import RemoteArray, RemoteGraph
from frontier.distributed.clusters.workers import devices
from frontier.memory import detection

pytestmark = pytest.mark.skipif(detection.simulated(), reason="no kernels are in it")


def lacks(*modules):
    return [name for name in modules if importlib.util.find_spec(name) is None]


of_dask = pytest.mark.skipif(bool(lacks("distributed", "pyarrow", "pandas")), reason="no Dask: pip install .[dask]")
of_ray = pytest.mark.skipif(bool(lacks("ray", "pyarrow", "pandas")), reason="no Ray: pip install .[ray]")
#: What follows on from a rank or a worker that is lost; far more than it takes, far less than ranks wait.
SOON = 30


@pytest.fixture(scope="module", autouse=True)
def functions_of_this_module():
    """Send them to ranks by value, as those of a program are: what is beside a test is not known there."""
    cloudpickle = pytest.importorskip("cloudpickle", reason="no Dask: pip install .[dask]")
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


@contextlib.contextmanager
def two_workers(**options):
    """A client of two workers of Dask, which are processes."""
    distributed = pytest.importorskip("distributed", reason="no Dask: pip install .[dask]")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "memory_limit": None, **options}
    with distributed.LocalCluster(**options) as workers, distributed.Client(workers) as client:
        yield client


@pytest.fixture(scope="module")
def client():
    with two_workers(processes=True) as made:
        yield made


@pytest.fixture(scope="module")
def of_client(client):
    with fr.cluster(client) as made:
        yield made


@pytest.fixture(scope="module")
def of_actors():
    ray = pytest.importorskip("ray", reason="no Ray: pip install .[ray]")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        with fr.cluster(ray, 2) as made:
            yield made
    finally:
        ray.shutdown()


@pytest.fixture(params=[pytest.param("of_client", marks=of_dask), pytest.param("of_actors", marks=of_ray)])
def c(request):
    """Two ranks, of each library."""
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of Parquet files with a directed graph of more vertices than come here at once."""
    arrow, tables = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    made, g = tmp_path_factory.mktemp("edges"), fr.rmat(17, 4, seed=3, directed=True, weights=(1, 9))
    for number, cut in enumerate(np.array_split(np.random.default_rng(1).permutation(g.num_edges), 5)):
        columns = {"src": g.sources[cut], "dst": g.targets[cut], "weight": g.weights[cut], "year": cut % 7}
        tables.write_table(arrow.table(columns), made / f"{number}.parquet")
    return made


def the_same(found, expected):
    """Whether a graph in ranks, of which a copy is made, is another."""
    copy = found.to("cpu")
    assert (copy.num_vertices, copy.directed) == (expected.num_vertices, expected.directed)
    for name in ("offsets", "targets", "weights"):
        assert np.array_equal(getattr(copy, name), getattr(expected, name)), name


# ---- results -----------------------------------------------------------------------------------------------------


def test_primitives_of_a_folder_are_those_of_one_process(c, folder):
    g, whole = c.read(folder, directed=True), fr.read(folder, directed=True)
    assert isinstance(g, fr.Graph)
    assert repr(g) == repr(whole).replace("; cpu", "; 2 ranks of a cluster")
    assert (g.num_vertices, g.num_edges, len(g), g.directed) == (whole.num_vertices, whole.num_edges, len(whole), True)
    the_same(g, whole)
    ranks, expected = fr.pagerank(g), fr.pagerank(whole)
    assert isinstance(ranks, type(expected))
    assert isinstance(ranks.rank, RemoteArray)
    assert "in 2 ranks" in repr(ranks.rank)
    assert ranks.iterations == expected.iterations
    assert np.allclose(ranks.rank, expected.rank, rtol=1e-12)
    assert ranks.to_pandas().equals(ranks.to_pandas())
    assert [name for name, _ in ranks.top(3)] == [name for name, _ in expected.top(3)]
    assert ranks[5] == pytest.approx(expected[5])
    assert np.array_equal(fr.connected_components(g).label, fr.connected_components(whole).label)
    assert np.array_equal(fr.sssp(g, 5).distance, fr.sssp(whole, 5).distance)
    with fr.trace():  # of this process, where nothing runs
        assert fr.bfs(g=g, source=5).level.max() == fr.bfs(whole, 5).level.max()


def collected(table):
    return table.compute() if hasattr(table, "compute") else table.to_pandas()


def test_results_are_distributed_tables(c, folder):
    g, whole = c.read(folder, directed=True), fr.read(folder, directed=True)
    expected = fr.bfs(whole, 5).to_pandas()
    table = c.table(fr.bfs(g, 5))
    if hasattr(table, "divisions"):
        assert table.npartitions == 2
        assert (table.divisions[0], table.divisions[-1]) == (0, whole.num_vertices - 1)
        assert table.loc[77].compute().level.tolist() == [expected.level[77]]
    found = collected(table)
    assert list(found.columns) == list(expected.columns)
    for name in expected.columns:
        assert found[name].tolist() == expected[name].tolist()


def test_tables_of_edges_and_of_other_rows(c):
    whole = fr.rmat(13, 8, seed=2)
    g = c.run(fr.rmat, 13, 8, seed=2, placement="ranks")
    assert whole.num_slots > 1 << 16
    expected, found = fr.jaccard(whole), fr.jaccard(g)
    assert isinstance(found.jaccard, RemoteArray)
    for table in (collected(c.table(found)), found.to_pandas()):
        for name, values in expected.to_pandas().items():
            assert np.allclose(table[name], values, equal_nan=True), name
    assert len(collected(c.table(fr.bridges(g)))) == len(fr.bridges(whole).to_pandas())


def distributed_table(c, table):
    """A distributed table of the library of which a cluster is."""
    if "Dask" in type(c._workers).__name__:
        return pytest.importorskip("dask.dataframe").from_pandas(table, npartitions=5, sort=False)
    return pytest.importorskip("ray.data").from_pandas([table[at::5] for at in range(5)])


@pytest.mark.parametrize("directed", [False, True])
def test_tables_are_read(c, folder, directed):
    pandas = pytest.importorskip("pandas")
    table = pandas.read_parquet(folder)
    expected = fr.from_pandas(table, directed=directed, columns=["year"], duplicates="sum")
    found = c.read(distributed_table(c, table), directed=directed, columns=["year"], duplicates="sum")
    the_same(found, expected)


def test_names_are_numbered_by_the_ranks_together(c):
    pandas = pytest.importorskip("pandas")
    g = fr.rmat(8, 4, seed=2, directed=True, weights=(1, 9))
    name = np.array([f"v{v}" for v in range(g.num_vertices)])
    table = pandas.DataFrame({"from": name[g.sources], "to": name[g.targets], "weight": g.weights})
    options = {"directed": True, "duplicates": "first"}
    one, several = fr.from_pandas(table, **options), c.read(distributed_table(c, table), **options)
    assert sorted(several) == sorted(one)
    assert fr.sssp(several, "v3").to_dict("distance") == fr.sssp(one, "v3").to_dict("distance")
    assert fr.bfs(several, "v3").to_dict("parent").keys() == fr.bfs(one, "v3").to_dict("parent").keys()
    found = collected(c.table(fr.sssp(several, "v3"))).set_index("vertex").distance.to_dict()
    assert found == fr.sssp(one, "v3").to_dict("distance")
    large = table.assign(**{"from": 10**12 + g.sources.astype(np.int64), "to": 10**12 + g.targets.astype(np.int64)})
    options["labels"] = True
    assert sorted(c.read(distributed_table(c, large), **options)) == sorted(fr.from_pandas(large, **options))


def test_a_program_runs_on_all_ranks(c):
    def depth(g, source):
        from frontier.distributed.transport.communicators import world

        return world().rank, world().size, int(np.asarray(fr.bfs(g, source).level).max())

    g, whole = c.run(lambda: fr.rmat(10, 8, seed=1, placement="ranks")), fr.rmat(10, 8, seed=1)
    assert c.run(depth, g, source=3) == (0, 2, fr.bfs(whole, 3).level.max())
    both = c.run(lambda: {"level": fr.bfs(g, 3).level, "some": [np.arange(100_000), "text"]})  # g is of the program
    assert np.array_equal(both["level"], fr.bfs(whole, 3).level)
    assert isinstance(both["some"][0], RemoteArray)
    assert both["some"][1] == "text"
    assert c.run(lambda array: int(np.asarray(array).sum()), both["some"][0]) == 4999950000
    assert both["some"][0].tolist() == list(range(100_000))
    assert (both["some"][0] + 1)[[0, -1]].tolist() == [1, 100_000]


def test_ranks_keep_what_the_program_has(c):
    def kept():
        from frontier.distributed.clusters import store

        return sum(len(each._kept) for each in gc.get_objects() if type(each) is store.Store)

    gc.collect()
    c.run(int)
    before = c.run(kept)
    g = c.run(fr.rmat, 17, 2, seed=1, placement="ranks")
    result = fr.bfs(g, 0)
    assert c.run(kept) == before + 3
    again = c.run(lambda g: (g, g), g)
    assert again[0] is again[1] is g
    del result
    gc.collect()
    c.run(int)
    assert c.run(kept) == before + 1
    del g, again
    gc.collect()
    c.run(int)
    assert c.run(kept) == before


# ---- what is refused ---------------------------------------------------------------------------------------------


def test_errors_of_the_ranks_are_raised_here(c):
    g = c.run(fr.rmat, 8, 8, seed=1, placement="ranks")

    def of_one(g):
        from frontier.distributed.transport.communicators import world

        fr.bfs(g, 0)
        if world().rank == 1:
            raise ZeroDivisionError("mine")
        fr.bfs(g, 0)

    with pytest.raises(fr.GraphError, match=r"^there is no vertex 999: vertices are 0 to 255") as raised:
        fr.bfs(g, 999)
    assert raised.value.__notes__ == ["(rank 0 of 2)"]
    for _ in range(3):
        with pytest.raises(ZeroDivisionError, match="mine") as failed:
            c.run(of_one, g)
        assert failed.value.__notes__[0] == "(rank 1 of 2)"
        assert "in of_one" in failed.value.__notes__[1]
        assert fr.bfs(g, 0).level[0] == 0
    with pytest.raises(fr.NotConvergedError) as late:
        fr.pagerank(g, max_iterations=2)
    assert len(late.value.result.rank) == 256
    with pytest.raises(fr.FrontierError, match="the function has ended its process"):
        c.run(exit)
    with pytest.raises(fr.FrontierError, match="a problem stays in the ranks: return fields"):
        c.run(lambda g: fr.Problem(g, level=fr.vertex("int32")), g)


def test_warnings_of_the_ranks_are_given_here(c):
    with pytest.warns(fr.FrontierWarning, match="^mind this$"):
        c.run(lambda: __import__("frontier.errors").errors.warn("mind this"))


def test_what_does_not_go(c, tmp_path):
    g = c.run(fr.rmat, 8, 8, seed=1, placement="ranks")
    for does in (lambda: fr.Problem(g), lambda: g.offsets, lambda: g.reverse(), lambda: g.placement):
        with pytest.raises(fr.GraphError, match="this graph lies in the ranks of a cluster"):
            does()
    for wrong in (fr.karate(), 3, [(0, 1)]):
        with pytest.raises(fr.GraphError, match=r"^cluster\.read takes the path of a file or folder"):
            c.read(wrong)
    with pytest.raises(fr.GraphError, match="columns= is for tables"):
        c.read(tmp_path / "a.el", columns=[])
    with pytest.raises(fr.GraphError, match=r"nowhere\.el"):
        c.read(tmp_path / "nowhere.el")
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"src": [0, 1], "dst": [1.0, np.nan]})
    with pytest.raises(fr.GraphError, match=r"row . of the table has no 'dst'"):
        c.read(distributed_table(c, table))
    with pytest.raises(fr.GraphError, match="the table has no column 'there'"):
        c.read(distributed_table(c, table), "there", "dst")
    with pytest.warns(fr.FrontierWarning, match=r"cluster\.read leaves out the columns 'age'"):
        c.read(distributed_table(c, table.assign(dst=[1, 0], age=1)))
    assert fr.bfs(g, 0).level[0] == 0


@of_dask
def test_arguments(client):
    for wrong, said in (
        (lambda: fr.cluster(None), r'takes a distributed.Client or "ray", not NoneType'),
        (lambda: fr.cluster(np.arange(3)), "not ndarray"),
        (lambda: fr.cluster(client, 0), "ranks=0: the number of ranks is an integer from 1"),
        (lambda: fr.cluster(client, 3), "there are 2 workers in the Dask cluster, too few for 3 ranks"),
        (lambda: fr.cluster(client, placement="cpu"), "placement='cpu': in a cluster, graphs lie in ranks"),
    ):
        with pytest.raises(fr.FrontierError, match=said):
            wrong()
    with fr.cluster(client, 1) as one, fr.cluster(client, placement="ranks,cpu") as other:
        g = one.run(fr.rmat, 8, 8, seed=1, placement="ranks")
        assert (fr.bfs(g, 0).level == fr.bfs(fr.rmat(8, 8, seed=1), 0).level).all()
        assert repr(one) == "<Cluster: 1 ranks>"
        with pytest.raises(fr.GraphError, match="in the ranks of another cluster"):
            other.run(fr.bfs, g, 0)
    with pytest.raises(fr.RanksError, match=r"^the cluster has been closed: fr\.cluster starts another$"):
        fr.bfs(g, 0)


@of_dask
def test_workers_that_are_threads():
    with two_workers(processes=False) as client, fr.cluster(client) as c:
        assert c.size == 2
        g = c.run(fr.rmat, 8, 8, seed=1, placement="ranks")
        assert (fr.bfs(g, 0).level == fr.bfs(fr.rmat(8, 8, seed=1), 0).level).all()


def test_gpus_that_a_library_gives_each_worker_another_of():
    def workers(*seen):
        return [{"host": host, "devices": each} for host, each in seen]

    assert devices(workers(("a", "0,1"), ("a", "1,0"), ("b", "0,1"))) == ["0", "1", "0"]
    assert devices(workers(("a", "0,1"), ("a", "0,1"))) == [None, None]
    assert devices(workers(("a", None), ("b", ""))) == [None, None]


# ---- what is lost ------------------------------------------------------------------------------------------------


def gone(process):
    """Whether a process ends soon."""
    until = time.monotonic() + SOON
    while Path(f"/proc/{process}").exists() and time.monotonic() < until:
        time.sleep(0.05)
    return not Path(f"/proc/{process}").exists()


def searches(g):
    """Run longer than a test does."""
    for _ in range(10**7):
        fr.bfs(g, 0)


def turned(p):
    return p.turn + 1


def enough(p):
    return p.turn >= 10**12


def turns(g):
    """Run one program longer than a test does."""
    fr.Loop(fr.Set(turn=turned), until=enough)(fr.Problem(g, turn=fr.scalar("int64")))


@contextlib.contextmanager
def soon(does, *given):
    """Within it something is done after a moment; and it may not take long."""
    timer, begun = threading.Timer(0.5, does, given), time.monotonic()
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
    assert time.monotonic() - begun < SOON


@pytest.mark.parametrize("rank", [0, 1])
@of_dask
def test_a_lost_rank_ends_the_run(rank, client):
    with fr.cluster(client) as c:
        g = c.run(fr.rmat, 8, 8, seed=1, placement="ranks")
        said = rf"^rank {rank} of 2 \(.*\) was lost while the ranks ran searches: its process has ended by SIGKILL$"
        with soon(os.kill, c.processes[rank], signal.SIGKILL), pytest.raises(fr.RanksError, match=said):
            c.run(searches, g)
        assert all(map(gone, c.processes))
        with pytest.raises(fr.RanksError, match=r"^rank . of 2 .* was lost .*: fr\.cluster starts another$"):
            fr.bfs(g, 0)


@of_dask
def test_a_lost_worker_ends_the_run():
    with two_workers(processes=True) as client, fr.cluster(client) as c:
        g = c.run(fr.rmat, 17, 2, seed=1, placement="ranks")
        table = c.table(fr.bfs(g, 0))
        where = c._workers.names[1]
        process = client.run(os.getpid, workers=[where])[where]
        said = r"^rank 1 of 2 \(tcp://.*\) was lost while the ranks ran searches: its worker is lost: CommClosedError$"
        with soon(os.kill, process, signal.SIGKILL), pytest.raises(fr.RanksError, match=said):
            c.run(searches, g)
        assert all(map(gone, c.processes))
        client.wait_for_workers(2, timeout=SOON)
        with soon(int), pytest.raises(fr.RanksError, match=r"is lost|has been closed"):
            table.compute()


@of_ray
def test_a_lost_actor_ends_the_run(of_actors):
    ray = pytest.importorskip("ray")
    with fr.cluster("ray", 2) as c:
        g = c.run(fr.rmat, 8, 8, seed=1, placement="ranks")
        said = r"^rank 1 of 2 \(node .*\) was lost while the ranks ran searches: its actor of Ray is lost"
        with soon(ray.kill, c._workers._actors[1]), pytest.raises(fr.RanksError, match=said):
            c.run(searches, g)
        assert all(map(gone, c.processes))


@pytest.mark.parametrize("does", [searches, turns])
def test_ctrl_c_stops_the_ranks_and_they_go_on(c, does):
    g = c.run(fr.rmat, 8, 8, seed=1, placement="ranks")
    for _ in range(2):
        with soon(os.kill, os.getpid(), signal.SIGINT), pytest.raises(KeyboardInterrupt):
            c.run(does, g)
        assert fr.bfs(g, 0).level[0] == 0


def stuck():
    """Take no notice of Ctrl-C."""
    while True:
        with contextlib.suppress(KeyboardInterrupt):
            time.sleep(1000)


@of_dask
def test_a_rank_that_takes_no_notice_of_ctrl_c_is_ended(client, monkeypatch):
    monkeypatch.setattr("frontier.distributed.clusters.handle.GRACE", 1.0)
    with fr.cluster(client) as c:
        with soon(os.kill, os.getpid(), signal.SIGINT), pytest.raises(KeyboardInterrupt):
            c.run(stuck)
        assert all(map(gone, c.processes))
        with pytest.raises(fr.RanksError, match="a rank did not stop within 1 s of Ctrl-C"):
            c.run(int)


@of_dask
def test_ranks_end_when_nobody_has_the_handle_any_more(client):
    c = fr.cluster(client)
    g, processes = c.run(fr.rmat, 8, 8, seed=1, placement="ranks"), c.processes
    del c
    gc.collect()
    assert fr.bfs(g, 0).level[0] == 0  # a graph has it, too
    assert isinstance(g, RemoteGraph)
    del g
    gc.collect()
    assert all(map(gone, processes))


@of_dask
def test_ranks_end_with_the_program(client):
    """Whoever else uses the workers."""
    distributed = pytest.importorskip("distributed")
    with distributed.Client(client.scheduler.address, set_as_default=False) as other:
        c = fr.cluster(other)
    assert all(map(gone, c.processes))


def test_an_agent_says_how_its_rank_has_ended():
    made = agent.Agent("mine", "here")
    assert agent.agent("mine", "here") is made
    assert made.ask("listen", "127.0.0.1")[0] == "value"
    kind, error, _ = made.ask("nothing")
    assert (kind, type(error)) == ("error", AttributeError)
    made._process.kill()
    assert made.ask("listen", "127.0.0.1") == ("gone", "its process has ended by SIGKILL")
    assert not made.interrupt(1)
    made.close()
    del made
    with pytest.raises(fr.RanksError, match="no rank on the worker here any more"):
        agent.agent("mine", "here")


def test_a_rank_ends_with_its_agent():
    made = agent.Agent("mine", "here")
    process = made._process.pid
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        del made
    assert gone(process)
