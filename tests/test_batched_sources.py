"""Many sources in copies of a small graph: the same numbers as one after another, and the bytes that were counted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import oracles
import pytest
import strict_cupy
from compare import close, equal, workers
from conftest import Backend
from strategies import random_graphs

import frontier as fr
from frontier import batched_sources
from frontier.backends.run import workspace
from frontier.backends.run.footprint import footprint
from frontier.batched_sources import choose_sources, number_of_copies
from frontier.graph import by_degree, by_weight
from frontier.graph.copies import copies, outline
from frontier.memory.arrays import to_host
from frontier.memory.gpu import GpuMemory
from frontier.primitives import _bc_scaled as scaled
from frontier.primitives.bc import FIELDS, Betweenness
from frontier.primitives.bfs import BFS
from frontier.registry import primitives


@contextmanager
def slots(count: int) -> Iterator[None]:
    """So many vertices and edge slots may all copies have; 0: one source after another."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batched_sources, "SLOTS", count)
        patch.setattr(batched_sources, "SLOTS_WIDE", count)
        yield


def at_most(g: fr.Graph, count: int) -> int:
    """Slots for so many copies."""
    return count * (g.num_vertices + g.num_slots)


# -- programs ---------------------------------------------------------------------------------------------------


def begin(p, v):
    source = p.starts[v] == p.turn
    p.level[v] = 0 if source else -1
    return source


def unvisited(p, dst):
    return p.level[dst] == -1


def visit(p, src, dst):
    return fr.atomic_cas(p.level, dst, -1, p.depth) == -1


def add_steps(p, v):
    p.total[v] += max(p.level[v], 0) * p.factor[v]


class Steps(fr.Enactor):
    """For every vertex the steps from all sources, times a number of its own."""

    loop = fr.Loop(
        fr.Set(depth=0),
        fr.Sequence(
            fr.Filter(begin),
            fr.Loop(fr.Advance(visit, where=unvisited, unique="claimed"), count="depth"),
            over="vertices",
        ),
        fr.Compute(add_steps, over="vertices"),
        times="turns",
        count="turn",
    )


def fields_of_steps(g: fr.Graph) -> dict[str, Any]:
    return {
        "level": fr.vertex("int32", -1),
        "total": fr.vertex("int64"),
        "factor": fr.vertex("int64", np.arange(g.num_vertices)),
        "depth": fr.scalar("int32"),
    }


def start(p, v):
    source = p.starts[v] == p.turn
    p.distance[v] = 0.0 if source else np.inf
    return source


def relax(p, src, dst, edge, weight):
    new = p.distance[src] + weight + p.toll[edge]
    return new < p.distance[dst] and new < fr.atomic_min(p.distance, dst, new)


def add_distance(p, v):
    if p.distance[v] < np.inf:
        p.total[v] += p.distance[v]


class Lengths(fr.Enactor):
    """For every vertex the lengths of the ways from all sources, with a toll for each edge."""

    loop = fr.Loop(
        fr.Sequence(fr.Filter(start), fr.Loop(fr.Advance(relax, unique="exact")), over="vertices"),
        fr.Compute(add_distance, over="vertices"),
        times="turns",
        count="turn",
    )


def fields_of_lengths(g: fr.Graph) -> dict[str, Any]:
    return {
        "distance": fr.vertex("float64", np.inf),
        "total": fr.vertex("float64"),
        "toll": fr.edge("int32", np.arange(g.num_slots) % 3),
    }


@pytest.mark.parametrize("count", [0, 1, 2, 3, 1000])
def test_steps_from_all_sources(backend: Backend, count: int) -> None:
    """Values given for each vertex hold in every copy."""
    for g in random_graphs(12, seed=81, max_vertices=9, weights=("float64",)):
        with slots(at_most(g, count)):
            batch = fr.BatchedSources(backend(g), None, Steps, fields_of_steps(g))
        assert batch.copies == (count if 1 < count < g.num_vertices and g.num_vertices != 4 else batch.copies)
        p = batch.run()
        assert p is batch.problem
        assert p.graph.num_vertices == batch.copies * g.num_vertices
        assert p.graph.weights is None or batch.copies == 1  # nobody asks for them
        levels = [fr.bfs(g.to("python"), v).level for v in range(g.num_vertices)]
        expected = sum(np.maximum(level, 0) for level in levels) * np.arange(g.num_vertices)
        equal(batch.sum("total"), expected)


def test_weights_and_values_of_edges(backend: Backend) -> None:
    for g in random_graphs(12, seed=82, max_vertices=9, weights=("float64",)):
        tolled = g.with_weights(g.weights + np.arange(g.num_slots) % 3) if g.directed else None
        if tolled is None or not g.num_vertices:
            continue
        with slots(at_most(g, 3)):
            batch = fr.BatchedSources(backend(g), None, Lengths, fields_of_lengths(g))
        batch.run()
        distances = [fr.sssp(tolled.to("python"), v).distance for v in range(g.num_vertices)]
        expected = sum(np.where(np.isfinite(each.astype(float)) & (each < 2**62), each, 0) for each in distances)
        close(batch.sum("total"), expected, rtol=1e-12)


def test_sources_given_twice_have_two_turns(backend: Backend) -> None:
    g = fr.karate()
    with slots(at_most(g, 2)):
        once = fr.BatchedSources(backend(g), [3, 5], Steps, fields_of_steps(g))
        thrice = fr.BatchedSources(backend(g), [3, 5, 3, 3], Steps, fields_of_steps(g))
        three = fr.BatchedSources(backend(g), [3], Steps, fields_of_steps(g))
    assert (once.copies, thrice.copies, three.copies) == (2, 2, 1)
    assert thrice.sources.tolist() == [3, 5, 3, 3]
    for each in (once, thrice, three):
        each.run()
    equal(thrice.sum("total"), once.sum("total") + 2 * three.sum("total"))


def test_copies_with_short_lists_push_on_processors(compiled: Backend) -> None:
    g = compiled(fr.karate())
    wide = g.placement.massively_parallel
    for given, expected in (
        (None, None if wide else "push"),
        (fr.Schedule(fuse=False), None if wide else "push"),
        (fr.Schedule(direction="auto"), "auto"),
        (fr.Schedule(direction="pull"), "pull"),
    ):
        several = fr.BatchedSources(g, 2, Steps, fields_of_steps(g), given, seed=1)
        found = several.schedule
        assert (None if found is None else found.direction) == expected
        assert fr.BatchedSources.plan(g, 2, Steps, fields_of_steps(g), given).runs == [(Steps, found)]
        assert found is None or given is None or found.fuse == given.fuse
        assert fr.BatchedSources(g, [0], Steps, fields_of_steps(g), given).schedule is given
        dense = compiled(fr.complete(40))
        assert fr.BatchedSources(dense, 2, Steps, fields_of_steps(dense), given).schedule is given


def test_runs_may_be_repeated(backend: Backend) -> None:
    g = backend(fr.karate())
    with slots(at_most(g, 3)):
        batch = fr.BatchedSources(g, 10, Steps, fields_of_steps(g), seed=1)
        assert batch.copies == 3
    batch.run()
    first = batch.sum("total")
    batch.run()
    equal(batch.sum("total"), 2 * first)


def test_a_program_without_turns_is_refused() -> None:
    with pytest.raises(fr.FrontierError, match="BFS has no loop over turns"):
        fr.BatchedSources(fr.karate(), None, BFS, {})


def test_no_sources(backend: Backend) -> None:
    for g in (fr.karate(), fr.from_edges([], [])):
        batch = fr.BatchedSources(backend(g), [], Steps, fields_of_steps(g))
        batch.run()
        assert batch.sum("total").tolist() == [0] * g.num_vertices


def test_choose_sources(backend: Backend) -> None:
    g = backend(fr.from_edges(["a", "b"], ["b", "c"]))
    assert choose_sources(g, None).tolist() == [0, 1, 2]
    assert choose_sources(g, ["c", "a"]).tolist() == [g.vertex_id("c"), g.vertex_id("a")]
    assert sorted(choose_sources(g, 3, seed=1).tolist()) == [0, 1, 2]
    equal(choose_sources(g, 2, seed=4), choose_sources(g, 2, seed=4))
    for wrong in (4, -1, True, "a", 1.5):
        with pytest.raises(fr.GraphError, match="a number of sources from 0 to 3, or a list of vertices"):
            choose_sources(g, wrong)
    with pytest.raises(fr.GraphError):
        choose_sources(g, ["d"])


# -- copies ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [False, True])
def test_copies_of_a_graph(backend: Backend, weights: bool) -> None:
    """In-edges are not made before they are asked for, and then of those of the graph itself."""
    for g in random_graphs(20, seed=71, max_vertices=9, weights=("float64",)):
        there = backend(g)
        found = copies(there, 3, weights)
        assert (found.backend, found.directed, found.max_degree) == (there.backend, g.directed, g.max_degree)
        for each in (there, found):
            assert "in_lists" not in each._topology.built()
        if weights and g.weights is not None:
            equal(found.weights, np.tile(g.weights, 3))
        else:
            assert found.weights is None
        shift = np.repeat(np.arange(3), g.num_slots) * g.num_vertices
        src, dst = np.tile(g.sources, 3) + shift, np.tile(g.targets, 3) + shift
        expected = fr.from_edges(src, dst, num_vertices=3 * g.num_vertices, directed=True, duplicates="keep")
        for name in ("offsets", "targets", "in_offsets", "in_sources"):
            equal(getattr(found, name), getattr(expected, name))
            assert getattr(found, name).dtype == np.int32
        assert ("in_lists" in there._topology.built()) == g.directed
        equal(found.to("python").in_sources, expected.in_sources)


def test_an_outline_is_as_large_and_takes_nothing(backend: Backend) -> None:
    g = backend(fr.rmat(5, 4, seed=1, directed=True, weights=(1, 9)))
    real, found = copies(g, 1000, weights=True), outline(g, 1000)
    for name in ("num_vertices", "num_slots", "max_degree", "traits", "backend"):
        assert getattr(found, name) == getattr(real, name)
    for name in ("offsets", "targets", "weights"):
        one, other = getattr(found, name), getattr(real, name)
        assert (one.dtype, one.shape, one.strides) == (other.dtype, other.shape, (0,))


@pytest.mark.parametrize(
    ("room", "sources", "expected"),
    [
        (100, 4, 4),  # not more than sources
        (39, 5, 3),
        (52, 5, 3),  # four would need two turns as well
        (26, 5, 2),
        (25, 5, 1),
        (0, 2, 1),
        (100, 1, 1),
        (100, 0, 1),
    ],
)
def test_number_of_copies(backend: Backend, room: int, sources: int, expected: int) -> None:
    g = backend(fr.star(5))  # 5 vertices, 8 slots
    with slots(room):
        assert number_of_copies(g, sources, Steps, fields_of_steps(g)) == expected


def test_no_copies_of_nothing_and_of_large_graphs(backend: Backend) -> None:
    g = backend(fr.from_edges([], []))
    assert number_of_copies(g, 0, Steps, fields_of_steps(g)) == 1
    g = backend(fr.path(1 << 13))
    expected = 4 if g.placement.massively_parallel else 1
    assert number_of_copies(g, 4, Steps, fields_of_steps(g)) == expected


def test_few_copies_where_a_gpu_is_nearly_full(cuda: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of what is free may be taken."""
    g = cuda(fr.star(5))
    asked = []
    free = 4 * 2 * 5 * 40  # bytes
    monkeypatch.setattr(GpuMemory, "free", lambda memory, enough: asked.append((memory, enough)) or free)
    with slots(at_most(g, 5)):
        fields = fields_of_steps(g)
        plan = fr.BatchedSources.plan(g, 5, Steps, fields)
        each = 2 * footprint(g, plan.fields, [(Steps, None)], 5).fields // 5
        assert asked == [(g.placement.memory, 5 * each)]
        free = 4 * each + 1
        assert number_of_copies(g, 5, Steps, fields) == 3  # 4 have room: two turns
        free = 2 * each - 1
        assert number_of_copies(g, 5, Steps, fields) == 1


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("name", ["steps", "lengths", "bc"])
def test_bytes_of_copies(compiled: Backend, name: str, directed: bool) -> None:
    """The rows of the copies, the fields and the workspace, array by array."""
    g = compiled(fr.rmat(6, 8, directed=directed, weights=(1, 9), seed=1))
    if name == "bc":
        enactor, fields = Betweenness, FIELDS
    else:
        program = {"steps": (Steps, fields_of_steps), "lengths": (Lengths, fields_of_lengths)}
        enactor, fields = program[name][0], program[name][1](g)
    with slots(at_most(g, 7)):
        plan = fr.BatchedSources.plan(g, 14, enactor, fields)
        batch = fr.BatchedSources(g, 14, enactor, fields, seed=1)
    assert plan.copies == batch.copies == 7
    said = footprint(g, plan.fields, plan.runs, plan.copies)
    p = batch.run()
    top = p.graph._topology
    (work,) = workspace._pool[p.graph]
    arrays = [*p.arrays.values(), top.offsets, top.targets]
    arrays += [array for (_, role, _), array in work.arrays.items() if role not in ("local", "words")]
    arrays += [] if top.weights is None else [top.weights]
    arrays += top.built().get("in_lists", ())
    there = sum(array.nbytes for array in arrays)
    assert 0.9 * said.fields <= there <= 1.1 * said.fields


def test_the_estimate_of_betweenness_counts_copies(backend: Backend) -> None:
    g = backend(fr.karate())
    plan = primitives()["bc"].memory(g)  # type: ignore[misc]
    assert plan.copies == number_of_copies(g, 34, Betweenness, FIELDS) == 34
    one = footprint(g, plan.fields, plan.runs)
    rows = 34 * (g.offsets.nbytes + g.targets.nbytes)
    assert g.memory_estimate("bc").fields == pytest.approx(34 * one.fields + rows, rel=0.02)


def test_an_outline_knows_of_the_graph_what_it_has_no_data_for() -> None:
    """Orders by weight and copies by degree are chosen by samples of the edges."""
    with strict_cupy.simulated():
        g = fr.rmat(8, 16, seed=1, weights=(1, 9)).to("cuda")
        many = outline(g, 300)
        assert many.num_slots > 1 << 20
        assert by_weight.share_of_different(many) == by_weight.share_of_different(g) > 0
        for edges in ("out", "in"):
            assert not by_degree.pays(many, edges)
        assert by_degree.share_of_steps(many) == by_degree.share_of_steps(g) > 0
        assert number_of_copies(g, 300, scaled.program(True, False), scaled.fields(g, True, False, 1, False)) > 1


# -- betweenness ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [2, 3, 1000])
def test_the_same_as_one_by_one(backend: Backend, count: int) -> None:
    """In turns of two or three sources, mostly with copies to spare in the last, and in one turn."""
    for g in random_graphs(25, seed=72 + count, max_vertices=20 if backend.name != "python" else 9, weights=None):
        there = backend(g)
        with slots(at_most(g, count)):
            found = fr.betweenness(there)
        with slots(0):
            expected = fr.betweenness(there)
        close(found.centrality, expected.centrality, rtol=1e-9)
        close(found.centrality, oracles.betweenness(g), rtol=1e-9)
        equal(found.sources, expected.sources)
        assert type(found.centrality) is type(expected.centrality) is type(found.sources)


@pytest.mark.parametrize("direction", ["push", "pull"])
def test_directions(compiled: Backend, direction: str) -> None:
    for g in random_graphs(15, seed=73, max_vertices=20, weights=None):
        with slots(at_most(g, 4)):
            found = fr.betweenness(compiled(g), schedule=fr.Schedule(direction=direction))
        close(found.centrality, oracles.betweenness(g), rtol=1e-9)


@pytest.mark.unsimulated("many searches")
def test_several_workers(compiled: Backend) -> None:
    with workers(3):
        for directed in (False, True):
            g = fr.rmat(9, 8, seed=4, directed=directed)
            with slots(at_most(g, 7)):
                found = fr.betweenness(compiled(g), 100, seed=2, normalized=True)
            expected = oracles.betweenness(g, found.sources.tolist(), True)
            others = 100 - np.isin(np.arange(g.num_vertices), to_host(found.sources))  # an estimate from a sample
            close(found.centrality, expected * (g.num_vertices - 1) / others, rtol=1e-9)


def test_some_sources(backend: Backend) -> None:
    """Their order is kept, and one that is given twice counts twice."""
    g = backend(fr.karate())
    with slots(at_most(g, 2)):
        found = fr.betweenness(g, [33, 5, 0])
        twice = fr.betweenness(g, [33, 5, 0, 5])
    assert found.sources.tolist() == [33, 5, 0]
    close(found.centrality, oracles.betweenness(g, [33, 5, 0]), rtol=1e-9)
    with slots(0):
        close(twice.centrality, found.centrality + fr.betweenness(g, [5]).centrality, rtol=1e-9)


def test_turns(backend: Backend) -> None:
    """Five sources take two turns of three copies, or five turns."""
    g = backend(fr.path(6))
    for most, turns in ((3, 2), (0, 5)):
        with slots(at_most(g, most)), fr.trace() as t:
            fr.betweenness(g, [0, 1, 2, 3, 4])
        assert sum(row.step == "Filter(begin)" for row in t.rows) == turns


@pytest.mark.parametrize("n", [1, 2, 5])
def test_no_edges(backend: Backend, n: int) -> None:
    with slots(3 * n):
        found = fr.betweenness(backend(fr.from_edges([], [], num_vertices=n)), normalized=True)
    assert found.centrality.tolist() == [0.0] * n


@pytest.mark.unsimulated("hundreds of levels")
def test_more_paths_than_a_float_counts(compiled: Backend) -> None:
    """A chain of 215 bundles of 30 edges each has 30**215 ways through; from the middle there are fewer."""
    joint = np.repeat(np.arange(215), 30)
    g = compiled(fr.from_edges(joint, joint + 1, directed=True, duplicates="keep"))
    with slots(at_most(g, 2)):
        found = fr.betweenness(g, [107, 0]).centrality
    from_first, from_middle = 215 - np.arange(216), 215 - np.arange(216)
    from_first[0], from_middle[:108] = 0, 0
    close(found, from_first + from_middle, rtol=1e-10)  # numbers of paths have 40 bits
