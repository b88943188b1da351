"""Ranks of one host whose GPUs exchange inside kernels: the same as on one GPU, and as GPUs of one process.

Here ranks are threads of one process, which reach each other's arrays at the same addresses. Processes, each with a
GPU of its own, are in ``test_gpu_ranks_mapped``.
"""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
import strict_cupy
import test_fused
from test_fused import SIMULATED, given, graphs, grow, outcome, picky, spread

import frontier as fr
from frontier.backends.devices.on_rank import RankExecution
from frontier.backends.devices.touches import OneKernelError
from frontier.backends.ranks import group
from frontier.errors import FunctorError, NotConvergedError
from frontier.partitions import cuts

pytestmark = pytest.mark.gpu


class Same:
    """How kernels of threads reach each other's arrays."""

    afar = True

    def __init__(self, comm):
        self._comm = comm

    def using(self):
        return nullcontext()

    def places(self, addresses):
        return self._comm.gather(list(addresses))

    def trim(self):
        pass


@pytest.fixture(params=["ranks:2,cuda", "ranks:3,cuda"])
def several(request, monkeypatch):
    """A placement whose parts run in one kernel each; at the end, every run must have been one."""
    if SIMULATED and request.param != "ranks:2,cuda" and request.node.originalname not in test_fused.ON_THREE:
        pytest.skip("in the simulator two parts")
    left, usual = [], group.Part

    def begun(step, p, f, schedule, member, inner, traced, rows):
        try:
            return RankExecution(step, p, f, schedule, member, inner, Same(member))
        except OneKernelError as error:
            left.append((step, error))
            return usual(step, p, f, schedule, member, inner, traced, rows)

    monkeypatch.setattr(group, "Part", begun)
    monkeypatch.setattr(cuts, "WORDS_FROM", 0)
    with strict_cupy.simulated() if SIMULATED else nullcontext():
        yield request.param
    assert not left


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
test_a_run_that_does_not_end = test_fused.test_a_run_that_does_not_end


def test_a_graph_in_parts(several):
    g = fr.rmat(7, 4, seed=3, weights=(1, 9))
    divided = fr.rmat(7, 4, seed=3, weights=(1, 9), placement=several)
    for source in (5, 7):
        assert np.array_equal(fr.bfs(divided, source).level, fr.bfs(g, source).level)
    assert np.array_equal(fr.sssp(divided, 5).distance, fr.sssp(g, 5).distance)
    assert np.array_equal(fr.connected_components(divided).label, fr.connected_components(g).label)


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
