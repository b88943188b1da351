"""Tests under mpirun: all ranks draw the same, and end together."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mpi import mpirun, processes

from frontier.memory import detection

pytestmark = pytest.mark.skipif(detection.simulated(), reason="no kernels are in it")

RUN = """
import sys
sys.path.insert(0, {tests!r})
import pytest
from frontier.distributed.transport.communicators import world
from together import Together
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "test_inside.py"], plugins=[Together(world())]))
"""

DRAWS = """
from pathlib import Path
from hypothesis import Phase, given, settings, strategies as st
from frontier.distributed.transport.communicators import world

drawn = []

@settings(derandomize=True, max_examples=30, phases=[Phase.generate], deadline=None, database=None)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 400), max_size=50))
def test_draws(a, b):
    if world().rank:
        import frontier.generators  # as ranks import other modules, of which one compiles and another need not
        import frontier.cli.run
    drawn.append((a, b))

def test_same():
    told = world().allgather(drawn)
    assert len(drawn) > 20
    assert told[0] == told[1]
    Path(f"passed{world().rank}").touch()
"""

FAILS = """
from hypothesis import given, settings, strategies as st
import frontier as fr
from frontier.distributed.transport.communicators import world

@settings(derandomize=True)
@given(st.integers(1, 9))
def test_fails(a):
    fr.bfs(fr.path(10 * a).to("ranks"), 0)
    assert a < 5 or not world().rank, "mine alone"
    fr.bfs(fr.path(10 * a).to("ranks"), 0)
"""

HANGS = """
import time
import frontier as fr
from frontier.distributed.transport.communicators import world

def test_hangs():
    if world().rank:
        time.sleep(1000)
    fr.bfs(fr.path(10).to("ranks"), 0)
"""


def run(text: str, folder: Path, **environment: str):
    (folder / "test_inside.py").write_text(text)
    return mpirun(2, folder, RUN.format(tests=str(Path(__file__).parent)), **environment)


@processes
def test_ranks_draw_the_same_whatever_they_have_imported(tmp_path):
    made = run(DRAWS, tmp_path)
    assert made.returncode == 0, made.stdout + made.stderr
    assert all((tmp_path / f"passed{rank}").exists() for rank in range(2))
    assert made.stdout.count("2 passed") == 1  # rank 0 reports


@processes
def test_a_failure_on_one_rank_ends_all_and_is_shown(tmp_path):
    made = run(FAILS, tmp_path, FRONTIER_RANKS_TIMEOUT="100")
    assert made.returncode != 0
    assert re.search(r"rank 1 of 2: test_fails\(a=\d\)", made.stderr), made.stderr
    assert "mine alone" in made.stderr
    assert "not the same" not in made.stdout + made.stderr


@processes
def test_a_rank_that_hangs_is_named_although_pytest_captures(tmp_path):
    made = run(HANGS, tmp_path, FRONTIER_RANKS_TIMEOUT="10")  # on a busy machine processes begin far apart
    assert made.returncode != 0
    assert "rank 1 of 2 has not come to an exchange" in made.stderr, made.stdout + made.stderr
