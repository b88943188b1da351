"""``timeout=`` of a run: an error at a pass boundary, after which the run can go on."""

from __future__ import annotations

import time

import pytest

import frontier as fr


def again(p, v):
    p.x[v] += 1
    return p.x[v] < p.limit


class Endless(fr.Enactor):
    loop = fr.Loop(fr.Filter(again), count="passes")


class Free(fr.Enactor):
    def step(self, frontier):
        return fr.filter(self.problem, frontier, again)


def problem(g, limit=2**60):
    return fr.Problem(g, x=fr.vertex("int64"), limit=fr.scalar("int64", limit), passes=fr.scalar("int64"))


@pytest.mark.parametrize("enactor", [Endless, Free])
def test_a_run_stops_between_passes(backend, enactor):
    p = problem(backend(fr.path(3)))
    run = enactor(p)
    begun = time.monotonic()
    with pytest.raises(fr.RunTimeoutError, match=r"not done after 0\.2 seconds and \d+ passes") as caught:
        run.run(fr.Frontier.all(p.graph), timeout=0.2)
    assert isinstance(caught.value, TimeoutError)
    assert time.monotonic() - begun >= 0.2
    assert run.passes > 0
    assert len(set(p.x.tolist())) == 1  # at the end of a pass
    assert int(p.x[0]) == run.passes


def test_it_goes_on_with_resume(backend):
    p = problem(backend(fr.path(3)))
    run = Endless(p)
    with pytest.raises(fr.RunTimeoutError):
        run.run(fr.Frontier.all(p.graph), timeout=0.05)
    assert run.paused
    before = run.passes
    with pytest.raises(fr.RunTimeoutError):
        run.resume(timeout=0.05)
    assert run.passes > before
    p.limit = int(p.x[0]) + 5
    run.resume()
    assert not run.paused
    assert set(p.x.tolist()) == {int(p.limit)}


def test_a_run_in_time_is_as_without(backend):
    p = problem(backend(fr.path(3)), 20)
    Endless(p).run(fr.Frontier.all(p.graph), timeout=1000)
    Endless(p).run(fr.Frontier.all(p.graph), timeout=1000, on_step=lambda run: None)
    assert int(p.x[0]) == 21


def test_on_step_and_a_timeout():
    p = problem(fr.path(3).to("python"))
    with pytest.raises(fr.RunTimeoutError):
        Endless(p).run(fr.Frontier.all(p.graph), timeout=0.05, on_step=lambda run: time.sleep(0.02))
    assert 0 < int(p.x[0]) <= 4


@pytest.mark.parametrize("given", [0, -1, "1", True, float("nan")])
def test_what_is_no_timeout(given):
    p = problem(fr.path(3).to("python"))
    with pytest.raises(fr.FrontierError, match=r"timeout=.*a number of seconds, more than 0"):
        Endless(p).run(fr.Frontier.all(p.graph), timeout=given)


def test_parts_take_none():
    p = problem(fr.path(3).to("ranks:2,python"))
    with pytest.raises(fr.FrontierError, match="the parts of 'ranks:2,python' stop together"):
        Endless(p).run(fr.Frontier.all(p.graph), timeout=1)


def swing(p, v):
    while p.x[v] >= 0:
        p.x[v] = 1 - p.x[v]


def test_loops_of_checked_functors_stop(monkeypatch):
    """Each of many functors, too, that begin when it is late already."""
    monkeypatch.setenv("FRONTIER_CHECK", "1")
    p = fr.Problem(fr.path(200_000).to("cpu"), x=fr.vertex("int64"))
    run = type("Swinging", (fr.Enactor,), {"loop": fr.Compute(swing, over="vertices")})(p)
    with pytest.raises(fr.RunTimeoutError, match=r"swing .* is not done at the end of the run's timeout="):
        run.run(timeout=0.1)
