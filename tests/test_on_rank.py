"""Ranks of one host whose GPUs exchange inside kernels: the same as on one GPU, and as GPUs of one process.

Here ranks are threads of one process, which reach each other's arrays at the same addresses. Processes, each with a
GPU of its own, are in ``test_gpu_ranks_mapped``.
"""

from __future__ import annotations

import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
import strict_cupy
import test_fused
from test_fused import SIMULATED, given, graphs, grow, outcome, picky, spread

import frontier as fr
from frontier.distributed.devices.on_rank import RankExecution
from frontier.distributed.devices.part import Part
from frontier.distributed.devices.touches import OneKernelError
from frontier.distributed.partition import cuts
from frontier.distributed.ranks import (
    RanksBackend,
    agreement,
    field_storage,
    group,
    mapped_memory,
    visible_fields,
    walk,
)
from frontier.distributed.ranks.execution import Part as UsualPart
from frontier.distributed.ranks.execution import placed
from frontier.distributed.ranks.graph_copies import Copies
from frontier.distributed.transport.threads import Threads
from frontier.errors import DeviceMemoryError, FunctorError, GraphError, NotConvergedError
from frontier.memory import detection, exported
from frontier.program.schedule import Schedule
from frontier.program.step import captures_of

pytestmark = pytest.mark.gpu


class Same:
    """How kernels of threads reach each other's arrays."""

    afar = True

    def __init__(self, comm):
        self._comm = comm

    def using(self):
        return nullcontext()

    def places(self, addresses):
        return self._comm.allgather(list(addresses))

    def trim(self):
        pass


#: Programs that exchange between steps, each with why.
LEFT = []


@pytest.fixture(params=["ranks:2,cuda", "ranks:3,cuda"])
def several(request, monkeypatch):
    """A placement whose parts run in one kernel each; at the end, every run must have been one."""
    if SIMULATED and request.param != "ranks:2,cuda" and request.node.originalname not in test_fused.ON_THREE:
        pytest.skip("in the simulator two parts")
    usual = group.Part
    LEFT.clear()

    def begun(step, there, f, schedule, member, traced, rows):
        try:
            made = RankExecution(step, there.host, f, schedule, member, there.placement, Same(member))
        except OneKernelError as error:
            LEFT.append((step, str(error)))
            return usual(step, there, f, schedule, member, traced, rows)
        made.placed = there
        return made

    monkeypatch.setattr(group, "Part", begun)
    monkeypatch.setattr(cuts, "WORDS_FROM", 0)
    with strict_cupy.simulated() if SIMULATED else nullcontext():
        yield request.param
    assert not LEFT


def on_threads(call, members):
    """Call a function of each rank in a thread of its own; what it raises is raised here."""
    with ThreadPoolExecutor(len(members)) as pool:
        list(pool.map(call, members))


# What GPUs of one process do, too.
test_search = test_fused.test_search
test_components = test_fused.test_components
test_pagerank = test_fused.test_pagerank
test_shortest_paths = test_fused.test_shortest_paths
test_betweenness = test_fused.test_betweenness
test_sums_and_minima_at_far_ends = test_fused.test_sums_and_minima_at_far_ends
test_fields_that_are_exchanged = test_fused.test_fields_that_are_exchanged
test_piles = test_fused.test_piles
test_part_of_a_frontier = test_fused.test_part_of_a_frontier
test_runs_that_pause = test_fused.test_runs_that_pause
test_a_functor_that_raises_on_one_gpu = test_fused.test_a_functor_that_raises_on_one_gpu
test_ctrl_c_where_gpus_have_nothing_to_tell = test_fused.test_ctrl_c_where_gpus_have_nothing_to_tell
test_a_run_that_does_not_end = test_fused.test_a_run_that_does_not_end
test_schedules_around_a_step = test_fused.test_schedules_around_a_step


def heavy(p, src, dst, edge):
    if p.length[edge] > 4:
        fr.atomic_max(p.most, dst, p.length[edge])


@pytest.mark.parametrize("divided", [False, True])
def test_fields_of_edges(several, divided):
    """Each rank brings those of its own edges to its GPU."""
    g = fr.rmat(7, 4, seed=3)
    there = fr.rmat(7, 4, seed=3, placement=several) if divided else g.to(several)
    made = []
    for each in (g, there):
        length = 3 if each is there and divided else np.full(g.num_slots, 3)
        p = fr.Problem(each, length=fr.edge("int32", length), most=fr.vertex("int32", 1, combine="max"))
        fr.Advance(lambda p, src, dst, edge: fr.atomic_max(p.most, dst, p.length[edge]), output=None,
                   over="vertices")(p)  # fmt: skip
        made.append(np.asarray(p.most).tolist())
    assert made[0] == made[1]


def test_one_run_after_another(several):
    """What the host writes between them counts, and what a functor that has raised has left."""
    step = fr.Sequence(fr.Advance(spread), fr.Compute(grow), over="vertices")
    p, q = given(graphs()[0]), given(graphs()[0].to(several))
    for each in (p, q):
        with pytest.raises(FunctorError, match="picky"):
            fr.Compute(picky, over="vertices")(each)
        each.value = np.arange(len(each.value)) % 7
    for number in range(3):
        found = []
        for each in (p, q):
            each.value[number] = 9
            found.append(outcome(each, step(each)))
        assert found[0] == found[1]


def test_what_is_left_behind_where_it_does_not_converge(several):
    p, q = given(graphs()[0]), given(graphs()[0].to(several))
    loop = fr.Loop(fr.Sequence(fr.Advance(spread), over="vertices"), fr.Compute(grow), over="vertices", max_steps=3)
    for each in (p, q):
        with pytest.raises(NotConvergedError) as caught:
            loop(each)
        assert caught.value.result is each
    assert outcome(p, fr.Frontier(p.graph, [])) == outcome(q, fr.Frontier(q.graph, []))


@pytest.mark.parametrize("first", [0, 64])
def test_a_rank_without_vertices(several, monkeypatch, first):
    """As where nearly all edges are a hub's."""

    def starts(given):
        return np.array([0, *[first] * (len(given) - 2), given[-1]])

    monkeypatch.setattr(walk, "of_ranks", starts)
    g = graphs()[0]
    there = g.to(several)
    assert np.array_equal(fr.bfs(there, 5).level, fr.bfs(g, 5).level)
    step = fr.Sequence(fr.Advance(spread), fr.Compute(grow), over="vertices")
    p, q = given(g), given(there)
    assert outcome(p, step(p)) == outcome(q, step(q))


# ---- fields that stay in parts -----------------------------------------------------------------------------


def look(p, src, dst):
    fr.atomic_add(p.sum, src, p.value[dst])


@pytest.mark.parametrize("longest", ["0", "1000"])
def test_fields_in_parts(several, monkeypatch, longest):
    """Kernels and runs between steps go on from what either has left in parts, or has told all ranks."""
    monkeypatch.setenv("FRONTIER_RANKS_WHOLE", longest)
    monkeypatch.setattr(field_storage, "LEAST", 0)
    here, size = threading.local(), int(several[6])

    def fields(self, g):
        made = object.__new__(visible_fields.VisibleFields)
        made._comm, made._made = here.member, {}
        return made

    monkeypatch.setattr(RanksBackend, "field_store", fields)
    g = graphs()[0]
    there, inner = g.to(several), g.to("cuda").placement
    steps = [
        (fr.Compute(grow, over="vertices"), True),
        (fr.Sequence(fr.Advance(spread), fr.Compute(grow), over="vertices"), True),
        (fr.Sequence(fr.Advance(spread), fr.Compute(grow), over="vertices"), False),
        (fr.Sequence(fr.Advance(look), fr.Compute(grow), over="vertices"), True),
        (fr.Loop(fr.Compute(grow), fr.Swap("old", "value"), times=3, over="vertices"), True),
        (fr.Loop(fr.Sequence(fr.Advance(look), over="vertices"), fr.Compute(grow), fr.Swap("old", "value"), times=3,
                 over="vertices"), True),
        (fr.Compute(grow, over="vertices"), False),
        (fr.Sequence(fr.Advance(look), fr.Compute(grow), over="vertices"), True),
    ]  # fmt: skip

    def made(g):
        return fr.Problem(
            g, value=fr.vertex("int64", 3), sum=fr.vertex("int64"), old=fr.vertex("int64", 1),
            least=fr.vertex("int64", 99, combine="min"), rest=fr.vertex("float64", np.nan),
        )  # fmt: skip

    p = made(g)
    for number, (step, _) in enumerate(steps):
        step(p)
        if number % 3 == 2:
            p.value[7] = number
    found = {}

    def on_rank(member):
        here.member = member
        p = made(there)
        for number, (step, kernels) in enumerate(steps):
            captures_of(step)
            agreement.check_alike(member.allgather(agreement.description(step, p, None)))
            schedule = Schedule().resolved()
            if kernels:
                run = RankExecution(step, p, None, schedule, member, inner, Same(member))
            else:
                run = UsualPart(step, placed(step, p, member, inner), None, schedule, member, False)
            while not run.done:
                run.proceed()
            if number % 3 == 2:
                p.value[7] = number
        found[member.rank] = {name: np.array(getattr(p, name)) for name in p.arrays}

    on_threads(on_rank, Threads(size).members)
    assert sorted(found) == list(range(size))
    for made_there in found.values():
        for name, array in p.arrays.items():
            np.testing.assert_array_equal(made_there[name], array, name)


# ---- what goes wrong on one rank ---------------------------------------------------------------------------


def grow_unless(p, v):
    p.value[v] += 1
    picky(p, v)


def test_a_functor_that_raises_leaves_the_same_on_all_ranks(several, monkeypatch):
    """Also of a field that kernels tell each other where they go on, which they do not."""
    runs, finish = [], RankExecution._finish

    def noting(self, *given, **more):
        runs.append(self)
        finish(self, *given, **more)

    monkeypatch.setattr(RankExecution, "_finish", noting)
    p = given(graphs()[0].to(several))
    step = fr.Loop(fr.Sequence(fr.Advance(look), over="vertices"), fr.Compute(grow_unless), times=2, over="vertices")
    with pytest.raises(FunctorError, match="grow_unless"):
        step(p)
    assert len(runs) == int(several[6])
    assert "value" in runs[0]._touches.mirrored
    for run in runs:
        for name, array in run.problem.arrays.items():
            assert np.array_equal(array, p.arrays[name]), name


def failing(method, rank, error):
    """The method of a part, which raises an error on one rank."""

    def call(self, *given):
        if self._replica.rank == rank:
            raise error
        return method(self, *given)

    return call


@pytest.mark.parametrize("name", ["_bring_in_edges", "load"])
def test_a_rank_that_has_no_room(several, monkeypatch, name):
    """All raise its error, before kernels wait for each other."""
    g = graphs()[2]
    there, schedule = g.to(several), Schedule(direction="pull")
    with monkeypatch.context() as patch:
        patch.setattr(Part, name, failing(getattr(Part, name), 1, DeviceMemoryError("no room")))
        with pytest.raises(DeviceMemoryError, match="no room") as caught:
            fr.bfs(there, 5, schedule=schedule)
    assert caught.value.__notes__ == [f"(rank 1 of {several[6]})"]
    assert caught.value.of_all_ranks
    assert np.array_equal(fr.bfs(there, 5, schedule=schedule).level, fr.bfs(g, 5).level)


def test_interrupted_while_one_rank_prepares(several, monkeypatch):
    """Ctrl-C while code is compiled or in-lists are made is raised there at once, and then on all ranks."""
    there = graphs()[2].to(several)
    monkeypatch.setattr(Part, "_bring_in_edges", failing(Part._bring_in_edges, 1, KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt) as caught:
        fr.bfs(there, 5, schedule=Schedule(direction="pull"))
    assert caught.value.of_all_ranks


def test_interrupted_at_the_end(several, monkeypatch):
    """Ctrl-C that no rank is told of any more is raised when ranks have told each other what they have changed."""
    handled = RankExecution._handled

    def pressing(self, *given):
        found = handled(self, *given)
        if self.done and self._comm.rank == 0:
            signal.raise_signal(signal.SIGINT)
        return found

    monkeypatch.setattr(RankExecution, "_handled", pressing)
    p, q = given(graphs()[0]), given(graphs()[0].to(several))
    fr.Compute(grow, over="vertices")(p)
    with pytest.raises(KeyboardInterrupt):
        fr.Compute(grow, over="vertices")(q)
    assert np.array_equal(p.value, q.value)


# ---- memory ------------------------------------------------------------------------------------------------


def test_graphs_lie_in_memory_of_their_own(several, monkeypatch):
    """Others read nothing of them, and what they take is free when they are gone."""
    here, of = threading.local(), Copies.of

    @contextmanager
    def using(self):
        here.within = True
        yield
        here.within = False

    def copied(self, g):
        assert not getattr(here, "within", False)
        return of(self, g)

    monkeypatch.setattr(Same, "using", using)
    monkeypatch.setattr(Copies, "of", copied)
    fr.bfs(graphs()[0].to(several), 5)


def test_memory_that_is_kept_elsewhere_is_used(monkeypatch):
    """What CuPy's pools keep is given back before an array finds no room."""
    freed = []

    class Block:
        def __init__(self, size, index):
            if len(freed) < 2:
                raise MemoryError
            self.size = size

    def pool(name):
        return SimpleNamespace(free_all_blocks=lambda: freed.append(name))

    cuda = SimpleNamespace(MemoryPool=lambda allocator: pool("own"))
    cupy = SimpleNamespace(cuda=cuda, get_default_memory_pool=lambda: pool("default"))
    monkeypatch.setattr(detection, "simulated", lambda: False)
    monkeypatch.setattr(detection, "cupy", lambda: cupy)
    monkeypatch.setattr(exported, "_Block", Block)
    monkeypatch.setattr(exported, "_memory", lambda: (8 << 30, 80 << 30))
    made = exported.Exports(0)._made(512)
    assert made.size == 512
    assert freed == ["default", "own"]


@pytest.mark.parametrize(("whole", "left"), [(80 << 30, 1 << 28), (8 << 30, 1 << 27)])
def test_some_memory_is_left_to_short_arrays(monkeypatch, whole, left):
    """Results may fill a GPU; a run must still find room for its own."""
    free, made = [left + 5000], []

    class Block:
        def __init__(self, size, index):
            made.append(size)
            free[0] -= size

    pool = SimpleNamespace(free_all_blocks=lambda: None)
    cupy = SimpleNamespace(cuda=SimpleNamespace(MemoryPool=lambda a: pool), get_default_memory_pool=lambda: pool)
    monkeypatch.setattr(detection, "simulated", lambda: False)
    monkeypatch.setattr(detection, "cupy", lambda: cupy)
    monkeypatch.setattr(exported, "_Block", Block)
    monkeypatch.setattr(exported, "_memory", lambda: (free[0], whole))
    exports = exported.Exports(0)
    exports._made(3000)
    with pytest.raises(MemoryError, match="too few"):
        exports._made(3000)
    exports._made(2000)
    assert made == [3000, 2000]


def test_a_rank_that_cannot_map_memory(monkeypatch):
    """All raise why, and none goes on without it."""
    members, raised = Threads(2).members, []

    def imported(descriptor, size, index):
        if index == 1:
            raise GraphError("no mapping")
        return SimpleNamespace(start=0)

    def told(member):
        made = object.__new__(mapped_memory.Mapped)
        made._comm, made._index, made._given, made._known = member, member.rank, set(), {}
        made._exports = SimpleNamespace(place=lambda at: (0, at), sizes=lambda: {0: 512}, descriptor=lambda number: 3)
        made._descriptors = SimpleNamespace(allgather_bytes=lambda given, counts: [[3]] * len(counts))
        try:
            made.places([8])
        except GraphError as error:
            raised.append(str(error))

    monkeypatch.setattr(mapped_memory, "Imported", imported)
    on_threads(told, members)
    assert raised == ["no mapping"] * 2


def test_ranks_are_to_use_kernels_alike(monkeypatch):
    step = fr.Compute(grow, over="vertices")
    captures_of(step)
    inner = SimpleNamespace(backend=SimpleNamespace(name="cuda"), memory=None)
    made = []
    for text in ("1", "0"):
        monkeypatch.setenv("FRONTIER_RANKS_IN_KERNELS", text)
        made.append(agreement.way(step, Schedule().resolved(), inner, 1))
    with pytest.raises(GraphError, match="rank 1 has not the same FRONTIER_RANKS_IN_KERNELS as rank 0"):
        agreement.check_alike(made)
