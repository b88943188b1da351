"""Graphs in parts, directed ones too, on ranks whose GPUs exchange inside kernels: the same as whole graphs on one."""

from __future__ import annotations

import numpy as np
import pytest
import test_fused
import test_on_rank
from test_fused import SIMULATED
from test_on_rank import LEFT

import frontier as fr
from frontier.distributed.devices.on_rank import RankExecution

pytestmark = pytest.mark.gpu

several = test_on_rank.several


def test_a_graph_in_parts(several):
    g = fr.rmat(7, 4, seed=3, weights=(1, 9))
    divided = fr.rmat(7, 4, seed=3, weights=(1, 9), placement=several)
    for source in (5, 7):
        assert np.array_equal(fr.bfs(divided, source).level, fr.bfs(g, source).level)
    assert np.array_equal(fr.sssp(divided, 5).distance, fr.sssp(g, 5).distance)
    assert np.array_equal(fr.connected_components(divided).label, fr.connected_components(g).label)


def weigh_in(p, src, dst, weight):
    return weight * p.value[src]


@pytest.mark.parametrize("schedule", test_fused.SCHEDULES)
def test_a_directed_graph_in_parts(several, schedule):
    """Ranks have the in-lists of their vertices."""
    g = fr.rmat(7, 4, seed=4, directed=True)
    there = fr.rmat(7, 4, seed=4, directed=True, placement=several)
    for source in (5, 7):
        found = fr.bfs(there, source, schedule=test_fused.SCHEDULES[schedule])
        assert np.array_equal(found.level, fr.bfs(g, source).level)
        fr.verify.bfs(g, found).raise_if_failed()


def unseen(p, src):
    return p.found[src] == -1


def back(p, src, dst):
    return fr.atomic_cas(p.found, src, -1, dst) == -1


@pytest.mark.parametrize("direction", ["push", "pull"])
def test_in_edges_of_a_directed_graph_in_parts(several, direction):
    """From targets to sources: a pull walks the out-lists, whose heads are chosen by in-degrees."""
    g = fr.rmat(7, 4, seed=4, directed=True)
    there = fr.rmat(7, 4, seed=4, directed=True, placement=several)
    found = []
    for each in (g, there):
        p = fr.Problem(each, found=fr.vertex(each.id_dtype, -1, combine="claim"))
        p.found[5] = 5
        step = fr.Advance(back, where=unseen, edges="in", schedule=fr.Schedule(direction=direction))
        fr.Loop(step)(p, fr.Frontier(each, [5]))
        found.append((np.asarray(p.found) >= 0).tolist())
    assert found[0] == found[1]


def test_in_lists_that_one_rank_lacks(several, monkeypatch):
    """All ask for theirs again, for kernels leave together."""
    load = RankExecution._load

    def forgetful(self):
        load(self)
        if self._comm.rank == 1:
            self._part.forget_in_lists()

    g = fr.rmat(7, 4, seed=4, directed=True)
    there = g.to(several)
    for source in (5, 7):
        found = fr.bfs(there, source, schedule=test_fused.SCHEDULES["pull"])
        assert np.array_equal(found.level, fr.bfs(g, source).level)
        monkeypatch.setattr(RankExecution, "_load", forgetful)


def test_gathers_on_a_directed_graph_in_parts(several):
    g = fr.rmat(7, 4, seed=4, directed=True)
    there = fr.rmat(7, 4, seed=4, directed=True, placement=several)
    options = {"tolerance": 0.01} if SIMULATED else {}
    made, expected = (fr.pagerank(each, **options).rank for each in (there, g))
    np.testing.assert_allclose(made, expected, atol=1e-7)
    assert np.array_equal(fr.connected_components(there).label, fr.connected_components(g).label)


def claimed(p, src, dst):
    return fr.atomic_cas(p.found, dst, -1, src) == -1


def test_a_schedule_around_a_step_on_a_directed_graph_in_parts(several):
    """Ranks have the in-lists that it wants."""
    g = fr.rmat(7, 4, seed=4, directed=True)
    found = []
    for each in (g, fr.rmat(7, 4, seed=4, directed=True, placement=several)):
        p = fr.Problem(each, found=fr.vertex(each.id_dtype, -1, combine="claim"))
        p.found[5] = 5
        step = fr.Sequence(fr.Advance(claimed), schedule=fr.Schedule(direction="pull"))
        fr.Loop(step, times=3)(p, fr.Frontier(each, [5]))
        found.append((np.asarray(p.found) >= 0).tolist())
    assert found[0] == found[1]


def two_hops(p, src, dst):
    for edge in fr.neighbours(p, dst):
        fr.atomic_add(p.sum, src, fr.target(p, edge))


def by_edge(p, src, dst, edge):
    return p.length[edge] + p.value[src]


LOOKS = {
    "lists of far ends": fr.Advance(two_hops, output=None, over="vertices"),
    "slots of in-edges": fr.Gather(by_edge, "sum", into="sum", over="vertices"),
}


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("what", LOOKS)
def test_edges_of_others(several, what, directed):
    """Of a graph in parts these are fetched between steps."""
    made = []
    for more in ({}, {"placement": several}):
        g = fr.rmat(7, 4, seed=3, directed=directed, **more)
        p = fr.Problem(g, sum=fr.vertex("int64"), value=fr.vertex("int64", 2), length=fr.edge("int32", 3))
        LOOKS[what](p)
        made.append(np.asarray(p.sum).tolist())
    assert made[0] == made[1]
    assert LEFT
    assert all("other ranks" in why for _, why in LEFT)
    LEFT.clear()


def test_weights_of_in_edges(several):
    """Those of a symmetric graph are also at the edge back; of a directed one they are the owners' of the sources."""
    for directed in (False, True):
        made = []
        for more in ({}, {"placement": several}):
            g = fr.rmat(7, 4, seed=4, weights=(1, 9), directed=directed, **more)
            p = fr.Problem(g, value=fr.vertex("int64", 3), sum=fr.vertex("int64"))
            fr.Gather(weigh_in, "sum", into="sum", over="vertices")(p)
            made.append(np.asarray(p.sum).tolist())
        assert made[0] == made[1]
        assert bool(LEFT) == directed
        LEFT.clear()
    whole = fr.rmat(7, 4, seed=4, weights=(1, 9), directed=True)
    assert np.array_equal(fr.sssp(g, 5).distance, fr.sssp(whole, 5).distance)  # along out-edges
