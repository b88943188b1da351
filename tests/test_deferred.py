"""Pulls are compiled when a run first takes one: not before, and the run goes on as if they had always been there."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import numpy as np
import oracles
import programs
import pytest
from compare import equal, host, workers
from test_compiling import example, run

import frontier as fr
from frontier.backends.run import workspace
from frontier.lowering.frontier_state import SMALL
from frontier.native.uninterrupted import apart

#: Starts with a push, and pulls as soon as it can.
EAGER = fr.Schedule(alpha=4.0, beta=50.0)

G = fr.rmat(6, 4, seed=5)
SOURCE = int(np.flatnonzero(G.out_degree == 1)[0])


@pytest.fixture
def made(monkeypatch):
    """All that is compiled for loops, in order; set ``made.whole`` to have all of a program compiled at once."""

    class Made(list):
        whole = False

    found, choose = Made(), workspace.code_for

    def code_for(program, graph, make, known):
        def noted(part):
            found.append("whole" if part.deferred else "part")
            return make(part)

        return choose(program, graph, noted, lambda: found.whole)

    monkeypatch.setattr(workspace, "code_for", code_for)
    return found


def search(**options):
    """A search of its own, which has not run and has no code."""

    class Search(fr.Enactor):
        loop = fr.Loop(
            fr.Advance(programs.visit, where=programs.unvisited, unique="claimed"), count="depth", **options
        )

    return Search


def searched(g, enactor, schedule=EAGER, stepwise=False):
    """What a search leaves and tells."""
    p, fronts = programs.bfs_problem(g, SOURCE), []
    running = enactor(p, schedule)
    with fr.trace() as t:
        running.run(fr.Frontier(g, [SOURCE]), on_step=(lambda e: fronts.append(e.passes)) if stepwise else None)
    told = [(r.number, r.direction, r.size_in, r.size_out) for r in t.rows if not r.step.startswith("compile")]
    return p, running.passes, told, fronts


@pytest.mark.parametrize("record", [None, "levels"])
@pytest.mark.parametrize("way", ["fused", "single", "stepwise"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_search_that_pulls_midway_is_as_if_compiled_whole(compiled, made, count, way, record):
    g, found = compiled(G), []
    with workers(count):
        for made.whole in (False, True):
            enactor = search(record=record)
            found.append(searched(g, enactor, EAGER.replace(fuse=way != "single"), way == "stepwise"))
    if count > 1 or compiled.name == "cpu":  # a road's kernel never pulls
        assert made == ["part", "whole", "whole"]
    (p, *told), (expected, *also) = found
    assert told == also
    assert {direction for _, direction, *_ in told[1]} == {"push", "pull"}
    equal(p.level, oracles.bfs_levels(G, SOURCE))
    equal(p.level, expected.level)
    programs.check_parents(G, host(p), SOURCE)
    if count == 1 and compiled.name == "cpu":
        equal(p.parent, expected.parent)


def test_a_record_holds_what_was_pulled(compiled, made):
    """A second loop goes back over the levels."""

    def count_up(p, v):
        p.turn[v] = p.depth

    class Both(fr.Enactor):
        loop = (
            fr.Loop(fr.Advance(programs.visit, where=programs.unvisited, unique="claimed"), count="depth", record="r"),
            fr.Loop(fr.Compute(count_up), replay="r", count="depth"),
        )

    for backend in (compiled, lambda g: g.to("python")):
        g = backend(G)
        p = fr.Problem(
            g, parent=fr.vertex("int32", -1), level=fr.vertex("int32", -1), turn=fr.vertex("int32", -1),
            depth=fr.scalar("int32", 0),
        )  # fmt: skip
        p.parent[SOURCE], p.level[SOURCE] = SOURCE, 0
        with workers(2):
            Both(p, EAGER).run(fr.Frontier(g, [SOURCE]))
        reached = host(p).level >= 0
        equal(host(p).turn[reached], host(p).level[reached] + 1)
    assert made == ["part", "whole"]


def test_the_next_run_begins_whole(compiled, made):
    g, enactor = compiled(G), search()
    with workers(2):
        for _ in range(3):
            searched(g, enactor)
            assert made == ["part", "whole"]


def test_what_is_dense_is_compiled_whole_at_once(made):
    enactor = search()
    g = fr.complete(64)
    assert g.num_slots >= SMALL
    searched(g, enactor, fr.Schedule())
    assert made == ["whole"]


def test_small_graphs_do_not_pull_unless_the_rule_is_changed(compiled, made):
    g = compiled(fr.complete(40))
    assert g.num_slots < SMALL
    with workers(2):
        for schedule, expected in ((fr.Schedule(), {"push"}), (fr.Schedule(alpha=16.0), {"pull"})):
            told = searched(g, search(), schedule)[2]
            assert {direction for _, direction, *_ in told if direction} >= expected
    assert made == ["part", "part", "whole"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, fr.FunctorError])
def test_an_error_while_the_rest_is_compiled_leaves_a_run_that_can_go_on(compiled, monkeypatch, error):
    choose, may_end, fails = workspace.code_for, threading.Event(), [True]

    def code_for(program, graph, make, known):
        def failing(part):
            if part.deferred and fails:
                fails.clear()
                if error is not KeyboardInterrupt:
                    raise error("no such code")
                apart(lambda: (signal.raise_signal(signal.SIGINT), may_end.wait(60)))
                raise AssertionError("it was to be interrupted at once")
            return make(part)

        return choose(program, graph, failing, lambda: False)

    monkeypatch.setattr(workspace, "code_for", code_for)
    g, enactor = compiled(G), search()
    p = programs.bfs_problem(g, SOURCE)
    running = enactor(p, EAGER)
    with workers(2):
        with pytest.raises(error):
            running.run(fr.Frontier(g, [SOURCE]))
        may_end.set()
        assert running.paused
        running.resume()
        equal(p.level, oracles.bfs_levels(G, SOURCE))
        again = searched(g, enactor)[0]
        equal(again.level, p.level)


PULLS = """
import sys
from pathlib import Path
import frontier as fr

def pulls():
    return any("\\npull_" in file.read_text() for file in Path(sys.argv[1], "cpu").glob("loop_*.py"))

for g in (fr.karate(), fr.grid(30, 80), fr.rmat(8, 16, seed=1)):
    fr.bfs(g.to("cpu"), 0)
    print(pulls())
"""


def test_a_search_that_never_pulls_compiles_no_pull(tmp_path: Path):
    words = ["-c", PULLS, str(tmp_path)]
    cold = run(words, tmp_path)
    assert cold.stdout.split() == ["False", "False", "True"]
    assert [line.endswith(" with pull (once, kept on disk)") for line in cold.stderr.splitlines()] == [False, True]
    assert run(words, tmp_path).stderr == ""


def test_the_example_compiles_no_pull(tmp_path: Path):
    run(["-c", example()], tmp_path)
    texts = [file.read_text() for file in (tmp_path / "cpu").glob("loop_*.py")]
    assert len(texts) == 1
    assert "\npush_" in texts[0]
    assert "\npull_" not in texts[0]
