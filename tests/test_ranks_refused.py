"""What several parts cannot merge is refused, and what fails on one part ends all."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import frontier as fr
from frontier.distributed.ranks import execution
from frontier.distributed.ranks.graphs import on_all
from frontier.distributed.transport.threads import Threads
from frontier.memory import detection
from frontier.program.schedule import ResolvedSchedule

PARTS = (1, 2, 3, 4)

pytestmark = pytest.mark.skipif(detection.simulated(), reason="no kernels are in it")


def overwrite(p, src, dst):
    p.seen[dst] = src
    return True


def chase(p, src, dst):
    return fr.atomic_cas(p.seen, p.seen[dst], dst, src) == dst


def everywhere(p, v):
    p.seen[v // 2] = v


def note(p, src, dst):
    if fr.atomic_cas(p.parent, dst, -1, src) == -1:
        p.level[dst] = p.depth
        return True
    return False


def mark_half(p, v):
    if p.level[v] > 1:
        p.half[v // 2] = 7


@pytest.mark.parametrize("parts", PARTS)
def test_what_all_store_alike_needs_no_combine(parts):
    """The search of the tutorial, unchanged."""
    g, levels = fr.rmat(7, 8, seed=3), fr.bfs(fr.rmat(7, 8, seed=3), 5).level
    p = fr.Problem(
        g.to(f"ranks:{parts}"), parent=fr.vertex("int32", -1), level=fr.vertex("int32", -1), depth=fr.scalar("int32"),
        half=fr.vertex("int32"),
    )  # fmt: skip
    p.parent[5], p.level[5] = 5, 0
    fr.Loop(fr.Advance(note), count="depth")(p, [5])
    assert np.array_equal(p.level, levels)
    fr.Compute(mark_half, over="vertices")(p)
    expected = np.zeros(g.num_vertices, int)
    expected[np.flatnonzero(levels > 1) // 2] = 7
    assert np.array_equal(p.half, expected)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (fr.Advance(overwrite, over="vertices"), r"writes p\.seen at dst.*declare the field with combine="),
        (fr.Compute(everywhere, over="vertices"), r"writes p\.seen at an index of its own making"),
        (fr.Advance(chase, over="vertices"), "exchanges p.seen at an index of its own making"),
    ],
)
def test_what_cannot_be_merged_is_refused_before_anything_runs(step, message):
    p = fr.Problem(fr.path(4).to("ranks:2"), seen=fr.vertex("int64", -1))
    with pytest.raises(fr.FunctorError, match=message):
        step(p)
    assert (p.seen == -1).all()
    combined = fr.Problem(fr.path(4).to("ranks:2"), seen=fr.vertex("int64", -1, combine="max"))
    if step.fn is not chase:
        step(combined)
        assert (combined.seen >= 0).any()


def lower(p, src, dst):
    return fr.atomic_min(p.seen, dst, p.seen[src]) > p.seen[src]


def count(p, src, dst):
    fr.atomic_add(p.seen, dst, 1)


@pytest.mark.parametrize("grid", ["", ",2d"])
@pytest.mark.parametrize(
    ("fn", "combine", "right"), [(lower, "sum", "min"), (lower, "max", "min"), (lower, "claim", "min"),
                                 (count, "min", "sum"), (count, "or", "sum")],
)  # fmt: skip
def test_an_atomic_and_a_combine_that_contradict_each_other_are_refused(fn, combine, right, grid):
    def changed(combine):
        p = fr.Problem(fr.grid(5, 5).to(f"ranks:4{grid}"), seen=fr.vertex("int64", np.arange(25), combine=combine))
        fr.Loop(fr.Advance(fn), times=2)(p, range(25))
        return p.seen

    with pytest.raises(fr.FunctorError, match=rf"{fn.__name__} .*combine='{combine}': declare .* combine='{right}'"):
        changed(combine)
    assert (changed(right) == changed(None)).all()


def raises(p, v):
    return (1, 2)[p.seen[v]] > 1


@pytest.mark.parametrize("parts", PARTS)
def test_a_functor_that_raises_on_one_part_ends_all(parts):
    p = fr.Problem(fr.path(8).to(f"ranks:{parts}"), seen=fr.vertex("int64", 0))
    p.seen[7] = 9
    with pytest.raises(fr.FunctorError, match=r"raises \(.*IndexError"):
        fr.Filter(raises, over="vertices")(p)


def weighed(p, v):
    return (1, 2)[p.seen[v]] + v


def apart(p, v):
    return (1, 2)[p.seen[v]] > 5 or v % 2


@pytest.mark.parametrize("step", [
    fr.Reduce(weighed, "sum", into="sum", over="vertices"), fr.Split(apart, rest="rest", over="vertices"),
], ids=repr)  # fmt: skip
def test_after_an_error_all_parts_have_what_they_had_before(step):
    comms = Threads(2).members
    problems = [fr.Problem(fr.path(8).to("ranks:2"), seen=fr.vertex("int64", 0), sum=fr.scalar("int64", 5),
                           rest=fr.pile()) for _ in comms]  # fmt: skip

    def run(comm):
        p = problems[comm.rank]
        p.seen[7] = 9
        with pytest.raises(fr.FunctorError):
            execution.Part.agreed(step, p, None, ResolvedSchedule(), comm, fr.Placement.parse("cpu")).proceed()
        assert (int(p.sum), len(p.rest)) == (5, 0)
        p.seen[7] = 0
        execution.Part.agreed(step, p, None, ResolvedSchedule(), comm, fr.Placement.parse("cpu")).proceed()
        return int(p.sum), sorted(p.rest)

    found = on_all(comms, run)
    assert found[0] == found[1]
    assert found[0] in ((36, []), (5, [0, 2, 4, 6]))


@pytest.mark.parametrize("name", ["ranks:0", "ranks:x", "ranks:2,cpu,cuda", "ranks:2,ranks"])
def test_names(name):
    with pytest.raises(fr.GraphError, match="there is no backend"):
        fr.karate().to(name)
    there = fr.karate().to("ranks:2").placement
    assert str(there) == "ranks:2"
    assert pickle.loads(pickle.dumps(there)) == there
