"""Phases that several threads share: small ones are nobody else's business, and nobody waits for who does not come."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import raising
from compare import workers

import frontier as fr
from frontier.backends.cpu import execution as cpu
from frontier.backends.cpu import helpers, mailbox
from frontier.backends.cpu.runtime_words import ASKED, WOKEN
from frontier.primitives.bfs import BFS, bfs_problem
from frontier.program import execution


def searched(g: fr.Graph, **schedule: Any) -> tuple[fr.Problem, Any]:
    """A breadth-first search, and its run."""
    p = bfs_problem(g, source=0)
    running = execution.start(BFS.loop, p, None, fr.Schedule(**schedule))
    running.proceed()
    return p, running


def asked(running: Any) -> int:
    """How often helpers were asked in a run: each time is a barrier."""
    return int(running._table.counters[ASKED])


@pytest.fixture
def four(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Four threads, on as many cores as they like; phases are divided as on large graphs."""
    monkeypatch.setattr(cpu, "CORES", 4)
    with workers(4, small=cpu.SMALL):
        yield


def test_a_long_path_meets_no_barrier(four: None) -> None:
    """There were 20,000."""
    p, running = searched(fr.path(20_000), direction="push")
    np.testing.assert_array_equal(p.level, np.arange(20_000))
    assert running._get("t") >= 20_000
    assert asked(running) <= 4


def test_small_passes_of_nested_loops_meet_none(four: None) -> None:
    g = fr.grid(150, 150)
    p = fr.Problem(g, value=fr.vertex("int64"), turn=fr.scalar("int64"), total=fr.scalar("int64"))
    inner = fr.Loop(fr.Filter(odd), times=3)
    running = execution.start(fr.Loop(fr.Compute(raising.grow), inner, times=100, count="turn"), p, fr.Frontier(g, [0]))
    running.proceed()
    assert running._get("t") >= 100
    assert asked(running) == 0
    assert p.value[0] == 1


def odd(p: Any, v: int) -> bool:
    return v % 2 == 1


def test_large_phases_are_shared(four: None) -> None:
    g = fr.rmat(13, 16, seed=1)
    _, running = searched(g, direction="push")
    assert 1 <= asked(running) < running._get("t")


@pytest.mark.parametrize("grain", [1, 64, 4096])
def test_results_do_not_depend_on_the_number_of_shares(grain: int, monkeypatch: pytest.MonkeyPatch) -> None:
    g = fr.rmat(10, 8, seed=2)
    found = []
    for count in (1, 2, 3, 4):
        with workers(count):
            monkeypatch.setattr(cpu, "GRAIN", grain)
            found.append([fr.bfs(g, 3).level, fr.connected_components(g).label])
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def absent(count: int) -> list[Any]:
    """Helpers who do nothing."""
    memory = [np.zeros(mailbox.BYTES // 8, np.int64) for _ in range(count)]
    return [SimpleNamespace(mailbox=each.ctypes.data, memory=each) for each in memory]


@pytest.mark.parametrize("state", [mailbox.IDLE, mailbox.ASLEEP])
def test_helpers_who_never_come_hold_up_nobody(state: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of floats too are the same to the last bit: who computes a share makes no difference."""
    g = fr.rmat(8, 8, seed=1)
    with workers(4):
        expected = fr.pagerank(g).rank, fr.bfs(g, 0).level
        team = absent(3)
        for each in team:
            each.memory[mailbox.STATE] = state
        monkeypatch.setattr(helpers.idle, "take", lambda count: team[:count])
        monkeypatch.setattr(helpers.idle, "give_back", lambda team: None)
        found = fr.pagerank(g).rank, fr.bfs(g, 0).level
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b)
        assert all(each.memory[mailbox.STATE] != mailbox.TAKEN for each in team)


def test_helpers_who_sleep_are_woken_and_nothing_waits_for_them_after() -> None:
    g = fr.rmat(8, 8, seed=1)
    with workers(3):
        p, runs, woken = raising.problem(g), 0, 0
        while woken < 3:
            time.sleep(0.01)  # long enough to fall asleep, unless others have the processors
            running = execution.start(fr.Loop(fr.Compute(raising.grow), over="vertices", times=50), p)
            running.proceed()
            runs, woken = runs + 1, woken + (running._table.counters[WOKEN] >= 1)
            assert runs < 1000
        assert p.value.min() == p.value.max() == 50 * runs


def test_helpers_who_cannot_be_had_leave_all_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    g = fr.path(100)
    with workers(4):
        for error in (MemoryError, KeyboardInterrupt):
            p = raising.problem(g)
            step = fr.Loop(fr.Compute(raising.grow), over="vertices", times=3, count="turn")
            running = execution.start(step, p)

            def refused(count: int, error: type[BaseException] = error) -> list[Any]:
                raise error("none")

            with monkeypatch.context() as patch:
                patch.setattr(helpers.idle, "take", refused)
                with pytest.raises(error):
                    running.proceed()
            assert p.value.max() == p.turn == 0
            assert running.done == (error is MemoryError)
            if error is MemoryError:
                running = execution.start(step, p)
            running.proceed()
            assert p.value.min() == p.value.max() == p.turn == 3
