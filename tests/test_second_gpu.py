"""Graphs on the second GPU while the first is CuPy's current one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import oracles
import programs
import pytest
from compare import close, equal
from conftest import Backend

import frontier as fr
from frontier.memory.gpu import gpu
from frontier.program.execution import start

SECOND = "cuda:1"
G = fr.grid(5, 6, weights=(1, 9), seed=2)


@pytest.fixture(autouse=True)
def second(cuda: Backend) -> Iterator[Any]:
    """CuPy, whose current GPU stays the first."""
    try:
        fr.path(2).to(SECOND)
    except fr.BackendUnavailableError as error:
        pytest.skip(f"there is no second GPU: {error}")
    runtime = fr.Placement.parse("cuda").memory.xp.cuda.runtime
    assert runtime.getDevice() == 0
    yield
    assert runtime.getDevice() == 0


def lies_there(*arrays: Any) -> None:
    assert [array.device.id for array in arrays] == [1] * len(arrays)


def problem(g: fr.Graph, source: int) -> fr.Problem:
    """Of a search; it writes to arrays, for which their GPU must be current."""
    with g.placement.memory.using():
        return programs.bfs_problem(g, source)


def test_primitives() -> None:
    g = G.to(SECOND)
    assert g.backend == SECOND
    search, paths = fr.bfs(g, 0), fr.sssp(g, 3)
    components, ranks = fr.connected_components(g), fr.pagerank(g, tolerance=1e-3)
    lies_there(search.level, search.parent, paths.distance, paths.parent, components.label, ranks.rank)
    equal(search.level, oracles.bfs_levels(G, 0))
    equal(paths.distance, oracles.sssp_distances(G, 3))
    close(ranks.rank, fr.pagerank(G, tolerance=1e-3).rank, rtol=1e-6)
    assert components.sizes() == {0: 30}
    for verify, result in ((fr.verify.bfs, search), (fr.verify.sssp, paths)):
        verify(g, result).raise_if_failed()
    assert paths.path_to(3) == [3]


def test_a_paused_loop_and_its_frontier() -> None:
    g = G.to(SECOND)
    p = problem(g, 0)
    run = start(programs.BFS.program(), p, fr.Frontier(g, [0]))
    while not run.done:
        assert run.proceed(1) == 1
        f = run.frontier
        lies_there(f.ids)
        assert sorted(f) == np.flatnonzero(oracles.bfs_levels(G, 0) == p.depth).tolist()
    assert run.passes == 10
    equal(p.level, oracles.bfs_levels(G, 0))


@pytest.mark.parametrize("direction", ["push", "pull"])
def test_frontiers_by_direction(direction: str) -> None:
    """Those of a pull are bitmaps."""
    g = G.to(SECOND)
    p = problem(g, 0)
    run = start(programs.BFS.program(), p, fr.Frontier(g, [0]), fr.Schedule(direction=direction))
    run.proceed(3)
    assert sorted(run.frontier) == np.flatnonzero(oracles.bfs_levels(G, 0) == 3).tolist()


def test_graphs_move_between_gpus() -> None:
    here = G.to("cuda")
    there = here.to(SECOND)
    lies_there(there.offsets, there.targets, there.weights, there.out_degree)
    assert here.targets.device.id == 0
    assert there.to("cuda").targets is here.targets
    assert there.to("cpu").targets is G.targets
    assert here.to(SECOND).targets is there.targets
    equal(there.weights, G.weights)
    for g in (here, there, here):  # one step, and a kernel for each
        p = problem(g, 7)
        programs.BFS(p).run(fr.Frontier(g, [7]))
        equal(p.level, oracles.bfs_levels(G, 7))


def test_graphs_made_there() -> None:
    xp = fr.Placement.parse("cuda").memory.xp
    with xp.cuda.Device(1):
        ends = xp.asarray(np.array([0, 1, 2])), xp.asarray(np.array([1, 2, 0]))
    g = fr.from_edges(*ends, directed=True)
    assert g.backend == SECOND
    lies_there(g.targets, g.in_sources, g.in_degree, g.sources)
    weighted = g.with_weights([3, 4, 5])
    lies_there(weighted.weights)
    equal(fr.sssp(weighted, 0).distance, [0, 3, 7])
    equal(G.to(SECOND).with_weights(None).to("cuda").targets, G.targets)


def test_fields_and_frontiers_there() -> None:
    g = G.to(SECOND)
    p = fr.Problem(g, value=fr.vertex("int64", np.arange(30)), own=fr.array([1, 2]), rest=fr.pile())
    p.value = np.arange(30) * 3
    with gpu(1).using():
        halves = p.value / 2
    with pytest.raises(fr.FrontierError, match="is not a whole number"):
        p.value = halves
    p.rest = [3, 4]
    lies_there(p.value, p.own, p.rest.ids)
    equal(p.value, np.arange(30) * 3)
    f = fr.Frontier(g, [1, 2, 5])
    assert sorted(f | fr.Frontier(g, [7])) == [1, 2, 5, 7]
    assert 2 in f
    assert 3 not in f
    lies_there(f.mask, fr.Frontier.all(g).ids)
