"""Progress: who sees it, and what it says."""

from __future__ import annotations

import io
import os
import sys
import time
from types import SimpleNamespace

import pytest

import frontier as fr
from frontier.display import progress
from frontier.display.progress import Task


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def quick(monkeypatch):
    """A terminal, and lines from the beginning on."""
    monkeypatch.setattr(progress, "FROM", 0.0)
    monkeypatch.setattr(progress, "EVERY", 0.01)
    terminal = Terminal()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=terminal))  # pytest changes sys.stderr after a fixture
    return terminal


def lines(terminal, contains):
    """What has been drawn, once that is among it."""
    until = time.monotonic() + 30
    while contains not in terminal.getvalue():
        assert time.monotonic() < until, terminal.getvalue()
        time.sleep(0.01)
    return terminal.getvalue().replace("\033[K", "").replace("\n", "\r").split("\r")


def test_a_line_says_what_is_done_and_how_far_it_is(quick):
    with Task("whole"):
        with Task("part", 40, "sources") as part:
            part.at(10)
            assert "frontier: whole, part [######                  ]  25% 10 of 40 sources 0 s" in lines(quick, "25%")
        with Task("loop", unit="passes", ask=lambda: (7, None)):
            assert "frontier: whole, loop 7 passes 0 s" in lines(quick, "loop")
        with Task("whole"):
            lines(quick, "frontier: whole 0 s")
        with Task("a\x1b[2Jb\nc", 2**20, "MiB") as odd:
            odd.at(2**19)
            assert any(r"frontier: whole, a\x1b[2Jb c [" in line and "50%" in line for line in lines(quick, "50%"))
    drawn = quick.getvalue()
    assert drawn.endswith("\n")
    time.sleep(0.05)
    assert quick.getvalue() == drawn
    assert not progress._open


def test_runs_show_their_sources_and_passes(quick):
    def slow(p, v):
        time.sleep(0.005)

    class Walk(fr.Enactor):
        loop = fr.Loop(fr.Compute(slow), times=100)

    g = fr.path(1).to("python")
    Walk(fr.Problem(g)).run(fr.Frontier.all(g))
    assert any(line.startswith("frontier: Walk ") and " passes " in line for line in lines(quick, "passes"))
    fr.betweenness(fr.karate().to("python"), 20)
    assert any(line.startswith("frontier: betweenness, Betweenness [") for line in lines(quick, "20 sources"))


@pytest.mark.parametrize(
    ("said", "stream", "shown"),
    [
        (None, io.StringIO(), False),
        (None, Terminal(), True),
        (None, None, False),
        ("0", Terminal(), False),
        ("1", io.StringIO(), True),
        (None, type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})(), True),
        (None, object(), False),
    ],
)
def test_who_sees_it(said, stream, shown, monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream)
    if said is not None:
        monkeypatch.setenv("FRONTIER_PROGRESS", said)
    assert progress._somebody_looks() is shown
    with Task("anything"):
        assert bool(progress._open) is shown


def test_one_rank_speaks_for_all(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("PMI_RANK", "1")
    assert not progress._somebody_looks()


def test_an_error_ends_it(quick):
    with pytest.raises(fr.GraphError), Task("whole"):
        fr.read("there is none.el")
    assert not progress._open


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_draws_its_own(quick):
    with Task("whole"):
        lines(quick, "whole")
        child = os.fork()
        if child == 0:
            quick.truncate(0)
            with Task("child"):
                try:
                    lines(quick, "frontier: child")
                except BaseException:
                    os._exit(1)
            os._exit(len(progress._open))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
