"""Random programs: a few of them here, minutes of them as a step of their own in CI, an hour by hand."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fuzz_programs.running import Case, compare, load
from fuzz_programs.steps import Node, Program, program, smaller

from frontier.memory import detection
from frontier.operators import Filter
from frontier.program.frontiers import Frontier

ROOT = Path(__file__).resolve().parent.parent


def _fuzz(*options: str) -> str:
    command = [sys.executable, "-m", "tests.fuzz_programs", "--tame", "--shrink", "0", *options]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=500, env={**os.environ})
    assert made.returncode == 0, made.stdout[-5000:] + made.stderr[-2000:]
    return made.stdout


@pytest.mark.skipif(detection.simulated(), reason="the cpu backend is what is tested")
def test_some_programs_leave_the_same_on_python_and_cpu():
    said = _fuzz("--programs", "4", "--graphs", "3", "--seed", "3")
    assert "4 programs" in said
    assert "0 refused, 0 differences" in said


@pytest.mark.gpu
def test_some_programs_leave_the_same_on_python_and_cuda():
    assert "0 differences" in _fuzz("--programs", "3", "--graphs", "1", "--seed", "11", "--backend", "cuda")


@pytest.mark.skipif(detection.simulated(), reason="the cpu backend is what is tested")
def test_a_difference_is_found(monkeypatch):
    keep = Node("Filter", ("even",), ("def even(p, v):\n    return v % 2 == 0",))
    whole = Node("Sequence", (), (), frozenset(), (keep, keep))
    given = Program(whole, "vertex", None, False, "fr.Schedule()", wild=False)
    cases = [Case(seed, "cpu", 1, seed % 2 == 0) for seed in range(4)]
    assert all(compare(given, load(given.text()), case)[1] is None for case in cases)
    right = Filter.interpret

    def wrong(self, context, f):
        made = right(self, context, f)
        return Frontier(made.graph, made.ids[1:], made.kind)

    monkeypatch.setattr(Filter, "interpret", wrong)
    found = [compare(given, load(given.text()), case)[1] for case in cases]
    assert any(made is not None and made.what.startswith("frontier: python") for made in found)
    assert len(list(smaller(given))) == 2


def test_a_program_depends_on_its_seed_alone():
    for seed in range(20):
        assert program(seed).text() == program(seed).text()
    assert len({program(seed).text() for seed in range(20)}) > 15
