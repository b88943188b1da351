"""Records: what a pass looks at to find an element that occurs twice, and where that is refused."""

from __future__ import annotations

import os

import numpy as np
import pytest
from mpi import mpirun, processes
from processes import ROOT

import frontier as fr
from frontier.backends.python import record
from frontier.backends.python.record import Record
from frontier.distributed.ranks import pulls
from frontier.memory import detection
from frontier.program.execution import start
from frontier.program.frontiers import Frontier

LENGTH = 60

#: How the message ends; ranks note which of them has found it.
TWICE = r"occurs in two passes(\n\(rank \d of \d\))?"

in_ranks = pytest.mark.skipif(detection.simulated(), reason="no kernels are in it")
places = pytest.mark.parametrize(
    "place", ["python", *(pytest.param(each, marks=in_ranks) for each in ("ranks:3,python", "ranks:1", "ranks:2"))]
)


def claim(p, src, dst):
    return True


def fresh(p, dst):
    return p.level[dst] < 0


def reached(p, v):
    p.level[v] = p.depth


def onward(p, src, dst):
    return dst == (src + 1) % 6


def seen(p, v):
    p.turns[v] = p.turns[v] * 3 + p.depth


def seen_edge(p, src, edge):
    fr.atomic_add(p.turns, src, edge * p.depth)


def wanted(p, src, edge):
    return edge >= p.depth * 4


def young(p, edge):
    return p.age[edge] == p.depth + 1


SEARCH = fr.Loop(fr.Compute(reached), fr.Advance(claim, where=fresh), over="source", count="depth", record="levels")
BACK = fr.Loop(fr.Compute(seen), replay="levels", count="depth")
AROUND = fr.Loop(fr.Advance(onward), over="source", record="levels")


def problem(g):
    return fr.Problem(
        g,
        level=fr.vertex("int32", -1),
        turns=fr.vertex("int64"),
        age=fr.edge("int32", np.arange(g.num_slots) % 4),
        depth=fr.scalar("int32"),
        source=fr.scalar("int64"),
    )


def ring():
    return fr.from_edges(range(6), [1, 2, 3, 4, 5, 0])


@pytest.fixture
def looked_at(monkeypatch):
    """Lengths of the frontiers of which the elements were looked at when a pass was recorded."""
    found, adding = [], []
    add, ids = Record.add, Frontier.ids.fget

    def counted(self, f):
        adding.append(self)
        try:
            add(self, f)
        finally:
            adding.pop()

    def noted(self):
        made = ids(self)
        if adding:
            found.append(len(made))
        return made

    monkeypatch.setattr(Record, "add", counted)
    monkeypatch.setattr(Frontier, "ids", property(noted))
    return found


@pytest.mark.parametrize("place", ["python", pytest.param("ranks:1,python", marks=in_ranks)])
def test_a_pass_looks_at_its_own_elements_only(looked_at, place):
    """As often for the last pass as for the first one, however much was recorded before."""
    sums = []
    for length in (LENGTH, 4 * LENGTH):
        looked_at.clear()
        fr.Sequence(SEARCH, BACK)(problem(fr.path(length).to(place)))
        sums.append(sum(looked_at))
    assert LENGTH <= sums[0] <= 3 * LENGTH
    assert sums[1] <= 4 * sums[0]


def test_marks_are_made_once_for_all_runs_of_a_loop(monkeypatch):
    made, no_marks = [], record._no_marks
    monkeypatch.setattr(record, "_no_marks", lambda f: made.append(f.kind) or no_marks(f))
    forget = fr.Compute(unreached, over="vertices")
    p = problem(fr.path(9).to("python"))
    fr.Loop(forget, fr.Set(depth=nothing), SEARCH, BACK, times=4)(p, Frontier(p.graph))
    assert made == ["vertex"]
    assert p.level.tolist() == list(range(1, 10))


def unreached(p, v):
    p.level[v] = -1


def nothing(p):
    return 0


@places
def test_an_element_that_occurs_again_after_a_pause_is_refused(place):
    p = problem(ring().to(place))
    begun = start(AROUND, p)
    for _ in range(3):
        assert begun.proceed(2) == 2
    assert not begun.done
    with pytest.raises(fr.FrontierError, match=rf"^record='levels': vertex 0 {TWICE}$"):
        begun.proceed()
    begun = start(fr.Sequence(SEARCH, BACK), p)  # another run has another record
    begun.proceed(5)
    begun.proceed()
    assert (p.level > 0).all()


@places
def test_an_edge_that_occurs_again_after_a_pause_is_refused(place):
    g = fr.rmat(5, 4, seed=2)
    p = problem(g.to(place))
    begun = start(fr.Loop(fr.Filter(wanted), over="edges", times=3, count="depth", record="kept"), p)
    assert begun.proceed(1) == 1
    with pytest.raises(fr.FrontierError, match=rf"^record='kept': edge \d+ {TWICE}$"):
        begun.proceed()


@places
def test_the_element_that_is_named_is_the_least_one_of_the_earliest_pass(place):
    g = fr.path(6).to(place)
    kept = Record("r")
    for ids in ([5], [3], [1, 2]):
        kept.add(Frontier(g, ids))
    with pytest.raises(fr.FrontierError, match=r"^record='r': vertex 5 occurs in two passes$"):
        kept.add(Frontier(g, [0, 1, 3, 5]))
    kept.add(Frontier(g, [0]))  # of what was refused nothing is recorded
    kept.add(Frontier(g, [1, 2], "edge"))  # which are no vertices
    before = kept.passes
    kept.begin()
    kept.add(Frontier(g, [0, 1, 2, 3, 5]))
    assert len(before) == 5


@places
def test_records_of_edges_and_vertices_replay_the_same(place):
    g = fr.rmat(5, 4, seed=2)
    program = fr.Sequence(
        SEARCH, BACK, fr.Loop(fr.Filter(young), over="edges", times=1, count="depth", record="edges"),
        fr.Loop(fr.Compute(seen_edge), replay="edges", count="depth"), BACK,
    )  # fmt: skip
    found = []
    for there in (g.to("cpu") if place != "python" else g.to("python"), g.to(place)):
        p = problem(there)
        program(p)
        found.append((p.level.tolist(), p.turns.tolist()))
    assert found[0] == found[1]


@in_ranks
def test_whether_a_step_pulls_ever_is_asked_once_a_run(monkeypatch):
    asked, can = [], pulls._can_pull
    monkeypatch.setattr(pulls, "_can_pull", lambda *given: asked.append(1) or can(*given))
    counts = []
    for length in (LENGTH, 4 * LENGTH):
        asked.clear()
        fr.Sequence(SEARCH, BACK)(problem(fr.path(length).to("ranks:1,cpu")))
        counts.append(len(asked))
    assert 0 < counts[0] == counts[1]


IN_PARTS = """
import re
import numpy as np, frontier as fr
from test_record import AROUND, BACK, SEARCH, problem, ring, wanted
from frontier.program.execution import start

def turns(p):
    fr.Sequence(SEARCH, BACK)(p)
    return np.asarray(p.turns).tolist()

def refused(step, g):
    begun = start(step, problem(g))
    assert begun.proceed(1) == 1
    try:
        begun.proceed()
    except fr.FrontierError as error:
        return str(error)

parts = fr.rmat(7, 8, seed=2, placement="ranks")
assert parts._topology.divided is not None
assert turns(problem(parts)) == turns(problem(fr.rmat(7, 8, seed=2)))
kept = fr.Loop(fr.Filter(wanted), over="edges", times=3, count="depth", record="kept")
assert "'levels': vertex 0 occurs in two passes" in refused(AROUND, ring().to("ranks"))
assert re.search(r"'kept': edge \\d+ occurs in two passes", refused(kept, parts))
print("refused")
"""


@processes
@in_ranks
def test_on_processes_all_refuse_what_one_finds_twice(tmp_path):
    made = mpirun(3, tmp_path, IN_PARTS, PYTHONPATH=os.pathsep.join([str(ROOT), str(ROOT / "tests")]))
    assert made.returncode == 0, made.stderr
    assert made.stdout.count("refused") == 3
