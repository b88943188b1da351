"""Ranks whose parts are run by GPUs: parts of one process on one GPU, and processes."""

from __future__ import annotations

import re
import time
from contextlib import nullcontext

import numpy as np
import pytest
import strict_cupy
from compare import primitives_agree
from mpi import mpirun, processes

import frontier as fr
from frontier.distributed.ranks import local_backend
from frontier.memory import detection, sparse
from frontier.memory.gpu import GpuMemory
from frontier.memory.placement import backend_named
from frontier.program.execution import start

gpu = pytest.mark.gpu


@pytest.fixture
def there():
    """In the simulator: kernels run on arrays that do not mix with those of the host."""
    if not detection.simulated():
        yield
        return
    with strict_cupy.simulated():
        yield


# ---- the same as on one part -----------------------------------------------------------------------------------


@gpu
@pytest.mark.parametrize("where", ["ranks:1,cuda", "ranks:2,cuda", "ranks:4,2x2,cuda"])
def test_primitives_are_the_same(there, where):
    g = fr.rmat(5, 6, seed=3, weights=(1, 9))
    primitives_agree(g, g.to(where))


@gpu
@pytest.mark.parametrize("directed", [False, True])
def test_primitives_are_the_same_on_a_graph_in_parts(there, directed):
    options = {"seed": 3, "weights": (1, 9), "directed": directed}
    divided = fr.rmat(6, 4, placement="ranks:2,cuda", **options)
    whole = fr.rmat(6, 4, **options)
    assert np.array_equal(fr.bfs(divided, 3).level, fr.bfs(whole, 3).level)
    assert np.array_equal(fr.sssp(divided, 3).distance, fr.sssp(whole, 3).distance)
    assert np.allclose(fr.pagerank(divided, weighted=True).rank, fr.pagerank(whole, weighted=True).rank)


@gpu
@pytest.mark.unsimulated("it takes minutes")
@pytest.mark.parametrize("where", ["ranks:2,cuda", "ranks:3,cuda", "ranks:6,2x3,cuda"])
@pytest.mark.parametrize(
    "g",
    [fr.rmat(12, 8, seed=3, weights=(1, 9)), fr.grid(60, 70, weights=(1, 9)), fr.rmat(10, 8, seed=1, directed=True)],
    ids=repr,
)
def test_primitives_are_the_same_on_larger_graphs(where, g):
    primitives_agree(g, g.to(where))


@gpu
def test_parts_wait_for_arrays_that_another_one_copies(there, monkeypatch):
    moved = GpuMemory.moved

    def slowly(self, *given, **more):
        time.sleep(0.02)
        return moved(self, *given, **more)

    monkeypatch.setattr(GpuMemory, "moved", slowly)
    g = fr.rmat(6, 6, seed=1, directed=True)
    found = fr.betweenness(g.to("ranks:3,cuda"), [5, 9]).centrality
    np.testing.assert_allclose(found, fr.betweenness(g, [5, 9]).centrality, rtol=1e-9)


@gpu
def test_results_are_arrays_of_the_host(there):
    g = fr.path(9)
    result = fr.bfs(g.to("ranks:2,cuda"), 0)
    assert type(result.level) is np.ndarray
    assert result.level.tolist() == list(range(9))


def farther(p, src, dst):
    new = p.distance[src] + 1
    return new < p.distance[dst] and new < fr.atomic_min(p.distance, dst, new)


@gpu
def test_a_run_goes_on_from_what_the_host_has_changed(there):
    g = fr.path(9).to("ranks:2,cuda")
    p = fr.Problem(g, distance=fr.vertex("int64", 99), source=fr.scalar("int64", 0))
    p.distance[0] = 0
    begun = start(fr.Loop(fr.Advance(farther), over="source"), p)
    assert begun.proceed(3) == 3
    assert p.distance.tolist() == [0, 1, 2, 3, 99, 99, 99, 99, 99]
    p.distance[6] = 2
    begun.proceed()
    assert begun.done
    assert p.distance.tolist() == [0, 1, 2, 3, 4, 5, 2, 99, 99]


def large(p, v):
    return p.a[v] > 3


def twice(p, v):
    p.b[v] = 2 * p.a[v]


@gpu
def test_swaps_piles_and_frontiers_come_back(there):
    p = fr.Problem(fr.path(8).to("ranks:2,cuda"), a=fr.vertex("int64", np.arange(8)), b=fr.vertex("int64"),
                   rest=fr.pile())  # fmt: skip
    f = fr.Sequence(
        fr.Compute(twice, over="vertices"), fr.Swap("a", "b"), fr.Split(large, rest="rest", over="vertices"),
        fr.Take("rest"),
    )(p)  # fmt: skip
    assert p.a.tolist() == list(range(0, 16, 2))
    assert p.b.tolist() == list(range(8))
    assert sorted(f) == [0, 1]
    assert not p.rest
    p.rest = [1, 5]
    assert sorted(fr.Take("rest")(p)) == [1, 5]


def first_is_far(p):
    return p.distance[8] < 99


@gpu
def test_conditions_see_fields(there):
    p = fr.Problem(fr.path(12).to("ranks:2,cuda"), distance=fr.vertex("int64", 99), source=fr.scalar("int64", 0))
    p.distance[0] = 0
    fr.Loop(fr.Advance(farther), over="source", until=first_is_far)(p)
    assert p.distance[8] == 8
    assert p.distance[10] == 99


@gpu
def test_the_same_is_sent_as_by_cpus(there):
    sent = []
    for where in ("ranks:2", "ranks:2,cuda"):
        p = fr.Problem(fr.grid(5, 6).to(where), distance=fr.vertex("int64", 99), source=fr.scalar("int64", 0))
        p.distance[0] = 0
        with fr.trace() as seen:
            fr.Loop(fr.Advance(farther), over="source")(p)
        sent.append([total.sent for total in seen.ranks.values()])
    assert sent[0] == sent[1]
    assert min(sent[0]) > 0


def common(p, u, v, w, uv, vw):
    fr.atomic_add(p.found, u, 1)
    fr.atomic_add(p.of_edge, uv, 1)
    fr.atomic_add(p.weights, v, p.given[vw])


def halved(p, src, dst, edge):
    p.given[edge] = p.given[edge] // 2 + src


@gpu
def test_edges_of_other_ranks_are_brought(there):
    """Lists of far ends, and fields of edges there, also after they have changed."""
    whole, found = fr.rmat(5, 6, seed=3), []
    for g in (whole, fr.rmat(5, 6, seed=3, placement="ranks:2,cuda")):
        given = np.arange(g.num_slots) % 17
        p = fr.Problem(g, found=fr.vertex("int64"), weights=fr.vertex("int64"), of_edge=fr.edge("int64"),
                       given=fr.edge("int64", given))  # fmt: skip
        for _ in range(2):
            fr.Intersect(common, over="edges")(p)
            fr.Advance(halved, over="vertices")(p)
        fr.Intersect(common, over="edges")(p)
        found.append([p.arrays[name].tolist() for name in ("found", "weights", "of_edge", "given")])
    assert found[0] == found[1]


@gpu
@pytest.mark.unsimulated("memory is not mapped there")
def test_a_gpu_has_memory_for_its_own_edges_only(monkeypatch):
    index = detection.usable(None)
    array = sparse.zeros(1 << 28, "i4", [slice(5, 9), slice(1 << 27, (1 << 27) + 3)], index)  # 1 GiB
    cupy = detection.cupy()
    assert not array[5:9].any()
    array[5:9] = cupy.arange(4, dtype="i4")
    array[1 << 27] = 7
    sparse.grow(array, [slice(0, 100), slice((1 << 28) - 9, 1 << 28)])
    assert array[5:9].tolist() == [0, 1, 2, 3]
    assert int(array[1 << 27]) == 7
    assert not array[-9:].any()
    array.sum()  # there is something to be read everywhere
    block = sparse._blocks[int(array.data.mem.ptr)]
    assert (int(block._has.sum()), len(block._has)) == (3, (1 << 30) // sparse.PIECE)
    monkeypatch.setattr(sparse, "LEAST", 1)
    for directed in (False, True):
        whole = fr.rmat(12, 8, seed=3, weights=(1, 9), directed=directed)
        primitives_agree(whole, fr.rmat(12, 8, seed=3, weights=(1, 9), directed=directed, placement="ranks:3,cuda"))


# ---- errors ----------------------------------------------------------------------------------------------------


def raises(p, v):
    return (1, 2)[p.seen[v]] > 1


@gpu
def test_a_functor_that_raises_on_one_part_ends_all(there):
    p = fr.Problem(fr.path(8).to("ranks:2,cuda"), seen=fr.vertex("int64", 0))
    p.seen[7] = 9
    with pytest.raises(fr.FunctorError, match=r"raises \("):
        fr.Filter(raises, over="vertices")(p)
    assert p.seen.tolist() == [0] * 7 + [9]
    p.seen[7] = 0
    assert not fr.Filter(raises, over="vertices")(p)


@gpu
def test_a_loop_that_does_not_end_leaves_its_state(there):
    p = fr.Problem(fr.path(9).to("ranks:2,cuda"), distance=fr.vertex("int64", 99), source=fr.scalar("int64", 0))
    p.distance[0] = 0
    with pytest.raises(fr.NotConvergedError) as caught:
        fr.Loop(fr.Advance(farther), over="source", max_steps=3)(p)
    assert caught.value.result.distance.tolist() == [0, 1, 2, 3, 99, 99, 99, 99, 99]


# ---- which backend and device a rank takes ---------------------------------------------------------------------


class Comm:
    """One of several processes, of which all say something of their GPUs."""

    together = False

    def __init__(self, devices, local=0):
        self.devices, self.local, self.size = devices, local, len(devices)

    def asking(self, doing):
        return nullcontext()

    def allgather(self, given):
        return [(given[0], device) for device in self.devices]


@pytest.mark.parametrize(
    ("devices", "name"),
    [
        (["a 0", "a 1"], "cuda"),
        (["a 0", "a 0"], "cpu"),  # two processes with one GPU
        (["a 0", "b 0"], "cuda"),  # on two hosts
        (["a 0", ""], "cpu"),
        (["a 0"], "cuda"),
    ],
)
def test_processes_choose_gpus_if_each_has_its_own(devices, name):
    assert local_backend.chosen(Comm(devices)) is backend_named(name)


def test_processors_are_taken_by_name_where_there_are_gpus():
    assert local_backend.inner_of("cpu", Comm(["c 0", "c 1"])).name == "cpu"


def test_processes_of_a_host_take_turns_at_its_gpus(monkeypatch):
    monkeypatch.setattr(detection, "_ready", True)
    monkeypatch.setattr(detection, "cupy", lambda: strict_cupy.module)
    found = [local_backend.inner_of("cuda", Comm([""], local)).name for local in range(3)]
    assert found == ["cuda", "cuda:1", "cuda"]
    properties = lambda index: {"uuid": bytes([index])}  # noqa: E731
    monkeypatch.setattr(strict_cupy.module.cuda.runtime, "getDeviceProperties", properties)
    cuda = backend_named("cuda")
    first, second = (cuda.device(cuda.placement_of(local)) for local in (0, 1))
    assert first.endswith(" 00")
    assert second.endswith(" 01")


def test_what_gpus_refuse_is_left_to_processors(monkeypatch):
    monkeypatch.setattr(local_backend, "chosen", lambda comm: backend_named("cuda"))
    monkeypatch.setattr(detection, "_ready", True)
    monkeypatch.setattr(detection, "cupy", lambda: strict_cupy.module)
    step, exact = fr.Filter(raises, over="vertices"), fr.Schedule(deterministic=True)
    assert local_backend.inner_for("", Comm(["a 0"]), step, fr.Schedule().resolved()).name == "cuda"
    assert local_backend.inner_for("", Comm(["a 0"]), step, exact.resolved()).name == "cpu"
    own = fr.Filter(raises, over="vertices", schedule=exact)
    assert local_backend.inner_for("", Comm(["a 0"]), own, fr.Schedule().resolved()).name == "cpu"
    assert local_backend.inner_for("cuda", Comm(["a 0"]), step, exact.resolved()).name == "cuda"


@gpu
def test_names_and_words(there):
    g = fr.path(4).to("ranks:4,2d,cuda")
    assert g.backend == "ranks:4,2d,cuda"
    assert "4 parts of this process in 2 rows, on cuda: " in g.placement.backend.describe(g.placement)


@gpu
@processes
def test_processes_use_their_gpus(tmp_path):
    made = mpirun(2, tmp_path, """
        import numpy as np, frontier as fr
        whole, there = fr.rmat(5, 6, seed=5), fr.rmat(5, 6, seed=5, placement="ranks,cuda")
        assert " on cuda" in there.placement.backend.describe(there.placement)
        for g in (whole.to("ranks,cuda"), there):
            assert np.array_equal(fr.bfs(g, 3).level, fr.bfs(whole, 3).level)
        print(whole.to("ranks").placement.backend.describe(there.placement), flush=True)
    """)  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout.count("2 processes, rank ") == 2


@gpu
@processes
@pytest.mark.skipif(not detection.simulated(), reason="a real GPU has room")
def test_one_rank_without_room_ends_all(tmp_path):
    """Caught on every rank: none waits for the one that has raised."""
    made = mpirun(2, tmp_path, """
        import frontier as fr
        from frontier.memory.gpu import GpuMemory
        there = fr.path(9).to("ranks,cuda")
        def lacking(self, needed, what, hint=None):
            raise fr.DeviceMemoryError(f"{what}: no room")
        if "rank 1" in there.placement.backend.describe(there.placement):
            GpuMemory.check_room = lacking
        try:
            fr.bfs(there, 0)
        except fr.DeviceMemoryError as error:
            # As one string: pieces of what two processes print may mix.
            print(" ".join([str(error), *error.__notes__]), flush=True)
    """)  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout.count("the fields of a rank: no room (rank 1 of 2)") == 2


# ---- NCCL ------------------------------------------------------------------------------------------------------

TWO = """
import os, signal, time
import numpy as np, frontier as fr
from frontier.distributed.transport import device_arrays
from frontier.distributed.transport.communicators import world
from frontier.memory import detection
if len(detection.every()) < 2:
    print("one GPU", flush=True)
    raise SystemExit
whole = fr.rmat(13, 8, seed=5, weights=(1, 9))
there = fr.rmat(13, 8, seed=5, weights=(1, 9), placement="ranks,cuda")
carrier = device_arrays.nccl(world(), world().local)
"""


def on_two(folder, program, **more):
    """Processes with a GPU each."""
    made = mpirun(2, folder, TWO + program, **{"FRONTIER_RANKS_IN_KERNELS": "0", **more})
    if "one GPU" in made.stdout:
        pytest.skip("there is one GPU")
    return made


@gpu
@processes
@pytest.mark.unsimulated("there is no NCCL")
@pytest.mark.parametrize("by", ["1", "0"])
@pytest.mark.parametrize("grid", ["", ",2d"])
def test_messages_go_from_gpu_to_gpu(tmp_path, by, grid):
    made = on_two(tmp_path, f"""
assert (carrier is None) == (not {by})
for g in (whole.to("ranks{grid},cuda"), there):
    found = fr.bfs(g, 3)
    fr.verify.bfs(whole, fr.bfs(whole, 3)).raise_if_failed()
    assert np.array_equal(found.level, fr.bfs(whole, 3).level)
    assert np.array_equal(fr.sssp(g, 3).distance, fr.sssp(whole, 3).distance)
    assert np.array_equal(fr.connected_components(g).label, fr.connected_components(whole).label)
    np.testing.assert_allclose(fr.pagerank(g).rank, fr.pagerank(whole).rank, rtol=1e-6)
    assert fr.triangles(g).count == fr.triangles(whole).count
print("right", flush=True)
""", FRONTIER_RANKS_NCCL=by, FRONTIER_RANKS_WHOLE="0")  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout.count("right") == 2


LOST = {
    "is killed": ("os.kill(os.getpid(), signal.SIGKILL)", ""),
    "hangs": ("time.sleep(1000)", "has not come|have not come"),
    "fails": ("raise carrier._nccl.NcclError(3)", "rank 1 of 2 cannot go on, since NCCL fails"),
}


@gpu
@processes
@pytest.mark.unsimulated("there is no NCCL")
@pytest.mark.parametrize("how", LOST)
def test_a_rank_that_is_lost_in_nccl_ends_all(tmp_path, how):
    what, said = LOST[how]
    begun = time.perf_counter()
    made = on_two(tmp_path, f"""
def lost():
    {what}
if world().rank == 1:
    carrier._nccl = type("Lost", (), dict(vars(carrier._nccl), groupStart=staticmethod(lost)))
fr.pagerank(there)
""", FRONTIER_RANKS_TIMEOUT="5")  # fmt: skip
    assert made.returncode != 0
    assert re.search(said, made.stdout + made.stderr)
    assert time.perf_counter() - begun < 100
