"""A balance and a switch rule from outside the package."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import numpy as np
import pool
import programs
import pytest
import strict_cupy
from compare import host, ids, workers

import frontier as fr
from frontier.backends.cuda.compile.runtime_words import EXAMINED
from frontier.lowering.frontier_state import PUSH_THREAD, pushed_by
from frontier.lowering.ir import Counter
from frontier.memory import detection
from frontier.operators.advance.cpu import edges as cpu
from frontier.operators.advance.cuda import edges as cuda
from frontier.operators.shared.kernels import kernels
from frontier.operators.shared.phases import frontier

if TYPE_CHECKING:
    from frontier.backends.cuda.device.appends import append, element_at
    from frontier.backends.cuda.device.collectives import first_in_warp
    from frontier.backends.cuda.device.machine import any_lane
    from frontier.backends.cuda.device.reductions import add_up

LOWERED: list[str] = []


def by_vertices(step, builder, source, target, next_scan):
    """As the shipped ``thread``, of which it is made."""
    LOWERED.append(builder.backend)
    kernels(builder, "advance").thread.lower(step, builder, source, target, next_scan)


def by_edges(step, builder, source, target, next_scan):
    LOWERED.append(builder.backend)
    kernels(builder, "advance").merge_path.lower(step, builder, source, target, next_scan)


def striding_on_cpu(visit, end):
    """Every worker takes every W-th vertex, and all of its edges."""

    def phase(p, C, slot, w, W, everything, queue, total, lists, out):
        fill, before = 0, 0
        i = w
        while i < total:
            x = i if everything else np.int64(queue[i])
            for k in range(np.int64(lists.offsets[x]), np.int64(lists.offsets[x + 1])):
                fill, before = visit(p, C, slot, lists, out, fill, before, x, k)
            i += W
        end(C, slot, out, fill, before)

    return phase


def striding(visit, appends, culls, big, mode):
    """Every thread takes every W-th vertex, and all of its edges; this is the example of the page Design."""

    def phase(p, C, slot, w, W, everything, queue, total, lists, out):
        examined = np.int64(0)
        first = w - (w & 31)
        while first < total:
            x = np.int64(0)
            k = np.int64(0)
            stop = np.int64(0)
            if first + (w & 31) < total:
                x = element_at(queue, everything, first + (w & 31))
                k = np.int64(lists.offsets[x])
                stop = np.int64(lists.offsets[x + 1])
            examined += stop - k
            while any_lane(k < stop):
                ok = False
                item = np.int64(0)
                if k < stop:
                    ok, item, _ = visit(p, C, slot, lists, out, x, k, np.int64(lists.ends[k]))
                if culls:
                    ok = first_in_warp(ok, item)
                if appends:
                    append(C, slot, big, out.queue, out.scan, mode, out.degrees, out.capacity, ok, item, not culls)
                k += 1
            first += W
        add_up(C, slot, EXAMINED, examined)

    return phase


def by_strides_on_cpu(step, b, source, target, next_scan):
    edge = cpu.Edge.of(step, b, target, next_scan)
    given = frontier(b, source, "vertex") | {"lists": edge.lists, "out": edge.out}
    made = b.kernel("strides", striding_on_cpu, given, visit=edge.visit, end=edge.end)
    cpu.finish(step, b, made, target, next_scan, edge.scanned, source.edges, pushed_by("outside_kernel"))


def by_strides(step, b, source, target, next_scan):
    edge = cuda.Edge.of(step, b, target, next_scan)
    given = frontier(b, source, "vertex") | {"lists": edge.lists, "out": edge.out}
    made = b.kernel("strides", striding, given, visit=edge.visit, **edge.appends)
    cuda.finish(step, b, made, source, target, edge.next_scan, Counter("EXAMINED"), pushed_by("outside_kernel"))


def reading(visit, appends, culls, big, mode):
    """The simplest kernel of a step that appends nothing: it looks itself whether there is a queue."""

    def phase(p, C, slot, w, W, everything, queue, total, lists, out):
        examined = np.int64(0)
        i = w
        while i < total:
            x = np.int64(i) if everything else np.int64(queue[i])
            for k in range(np.int64(lists.offsets[x]), np.int64(lists.offsets[x + 1])):
                visit(p, C, slot, lists, out, x, np.int64(k), np.int64(lists.ends[k]))
                examined += 1
            i += W
        add_up(C, slot, EXAMINED, examined)

    return phase


def by_reading(step, b, source, target, next_scan):
    edge = cuda.Edge.of(step, b, target, next_scan)
    given = frontier(b, source, "vertex") | {"lists": edge.lists, "out": edge.out}
    made = b.kernel("reads", reading, given, visit=edge.visit, **edge.appends)
    cuda.finish(step, b, made, source, target, edge.next_scan, Counter("EXAMINED"), PUSH_THREAD)


fr.register_balance("outside_kernel", "cpu", by_strides_on_cpu, scanned=True)
fr.register_balance("outside_reading", "cuda", by_reading)
fr.register_balance("outside_kernel", "cuda", by_strides)
for backend_ in ("cpu", "cuda"):
    fr.register_balance("outside_vertices", backend_, by_vertices)
    fr.register_balance("outside_edges", backend_, by_edges, scanned=True)
fr.register_balance("only_elsewhere", "elsewhere", by_vertices)


@pytest.mark.parametrize("balance", ["outside_vertices", "outside_edges"])
def test_a_search_by_a_registered_balance(compiled, balance):
    g = fr.rmat(8, 8, seed=1)
    LOWERED.clear()
    found = fr.bfs(compiled(g), 3, schedule=fr.Schedule(balance=balance, direction="push"))
    assert [compiled.name] == LOWERED
    assert np.array_equal(host(found.level), fr.bfs(g, 3).level)


@pytest.mark.parametrize("output", ["vertex", "edge", None])
def test_a_kernel_from_outside(compiled, output):
    """Every edge of everything, and then of what that left, is visited once, and what is accepted is there once."""
    g = fr.rmat(6, 4, seed=1, weights=(1, 9))
    answers = []
    for where, balance in ((g, "auto"), (compiled(g), "outside_kernel")):
        p = pool.problem(where)
        schedule = fr.Schedule(balance=balance, direction="push")
        with workers(2):
            found = fr.Advance(pool.every, output=output, over="vertices", schedule=schedule)(p)
            again = fr.Advance(pool.every, schedule=schedule)(p, found)
        answers.append((ids(found), ids(again), host(p.hits).tolist()))
    assert answers[0] == answers[1]


class Culling(fr.Enactor):
    loop = fr.Loop(fr.Advance(programs.visit, where=programs.unvisited, unique="cull"), count="depth")


def test_a_kernel_from_outside_in_a_loop(compiled):
    g = fr.rmat(6, 4, seed=1)
    p = programs.bfs_problem(compiled(g), 3)
    with workers(2), fr.trace() as t:
        Culling(p, fr.Schedule(balance="outside_kernel", direction="push")).run(fr.Frontier(p.graph, [3]))
    assert np.array_equal(host(p.level), fr.bfs(g, 3).level)
    assert sum(row.edges for row in t.rows) == g.out_degree[fr.bfs(g, 3).level >= 0].sum()
    assert {row.balance for row in t.rows if row.edges} == {"outside_kernel"}


def test_what_is_refused(compiled):
    with pytest.raises(fr.FrontierError, match="cannot be called 'thread'"):
        fr.register_balance("thread", "cpu", by_vertices)
    with pytest.raises(fr.FrontierError, match="cannot be called 'a b'"):
        fr.register_balance("a b", "cpu", by_vertices)
    for taken, backend in (("twc", "cuda"), ("block", "cpu")):
        with pytest.raises(fr.FrontierError, match=rf"cannot be called '{taken}': frontier\.operators"):
            fr.register_balance(taken, backend, by_vertices)
    with pytest.raises(fr.FrontierError, match=r"from auto, thread, merge_path, block, degree_classes, .*twc"):
        fr.Schedule(balance="unknown")
    with pytest.raises(fr.FrontierError, match=r"registered for elsewhere, not for (cpu|cuda)"):
        fr.bfs(compiled(fr.karate()), 0, schedule=fr.Schedule(balance="only_elsewhere"))


def from_two(step, builder, source):
    """Pull when the frontier has two vertices or more."""
    return source.count > 1


def test_a_switch_from_outside(compiled):
    fr.register_switch("outside_from_two", from_two)
    g = fr.rmat(8, 8, seed=1)
    p = programs.bfs_problem(compiled(g), 3)
    with workers(2), fr.trace() as t:
        programs.BFS(p, fr.Schedule(switch="outside_from_two")).run(fr.Frontier(p.graph, [3]))
    assert np.array_equal(host(p.level), fr.bfs(g, 3).level)
    rows = [row for row in t.rows if row.direction]
    assert {row.direction for row in rows} == {"push", "pull"}
    assert all((row.size_in > 1) == (row.direction == "pull") for row in rows)


def test_which_switches_are_refused():
    fr.register_switch("outside_from_two", from_two)
    fr.register_switch("outside_from_two", from_two)
    for taken in ("beamer", "hubs", "gunrock", "a b"):
        with pytest.raises(fr.FrontierError, match=f"a switch cannot be called '{taken}'"):
            fr.register_switch(taken, from_two)
    with pytest.raises(fr.FrontierError, match=r"choose from beamer, gunrock, hubs, outside_from_two$"):
        fr.Schedule(switch="unknown")


def misspelled(visit, end):
    def phase(p, C, slot, w, W, everything, queue, total, lists, out):
        first = next_peace(C, slot, W, 1)  # noqa: F821
        end(C, slot, out, first, first)

    return phase


def by_a_misspelled_kernel(step, b, source, target, next_scan):
    edge = cpu.Edge.of(step, b, target, next_scan)
    given = frontier(b, source, "vertex") | {"lists": edge.lists, "out": edge.out}
    made = b.kernel("misspelled", misspelled, given, visit=edge.visit, end=edge.end)
    cpu.finish(step, b, made, target, next_scan, edge.scanned, source.count, PUSH_THREAD)


def test_a_name_that_the_runtime_does_not_have():
    fr.register_balance("outside_misspelled", "cpu", by_a_misspelled_kernel)
    with pytest.raises(fr.FunctorError, match="a kernel uses 'next_peace', which the runtime of this backend"):
        fr.bfs(fr.karate(), 0, schedule=fr.Schedule(balance="outside_misspelled", direction="push"))


def hit(p, src, dst):
    fr.atomic_add(p.hits, dst, src)


@pytest.mark.gpu
def test_a_kernel_from_outside_on_parts_of_a_gpu():
    g = fr.rmat(7, 4, seed=1)
    schedule = fr.Schedule(balance="outside_reading", direction="push")
    step = fr.Advance(hit, output=None, over="vertices", schedule=schedule)
    with strict_cupy.simulated() if detection.simulated() else nullcontext():
        p = fr.Problem(g.to("cuda:0,0"), hits=fr.vertex("int64", combine="sum"))
        step(p)
        found = host(p.hits)
    expected = np.bincount(np.asarray(g.targets), np.asarray(g.sources), g.num_vertices)
    assert found.tolist() == expected.tolist()


def test_lists_that_are_all_short_are_pushed_by_vertices():
    """On the CPU, where graphs are large; what is chosen stays."""
    chosen = {}
    for count, schedule in [(90, fr.Schedule()), (20000, fr.Schedule()), (20000, fr.Schedule(balance="merge_path"))]:
        g = fr.path(count)
        with fr.trace() as trace:
            levels = fr.bfs(g, 1, schedule=schedule).level
        np.testing.assert_array_equal(levels, np.abs(np.arange(count) - 1))
        chosen[count, schedule.balance] = {row.balance for row in trace.rows if row.direction == "push"}
    assert chosen == {(90, None): {"merge_path"}, (20000, None): {"thread"}, (20000, "merge_path"): {"merge_path"}}
    g = fr.star(20000)
    with fr.trace() as trace:
        fr.bfs(g, 1, schedule=fr.Schedule(direction="push"))
    assert {row.balance for row in trace.rows} <= {"merge_path", ""}
