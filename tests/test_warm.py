"""``frontier warm``: what it has compiled need not be compiled again."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from processes import environment

import frontier as fr
from frontier import registry
from frontier.cli import main, warm

CALLS = """
import frontier as fr
g = fr.rmat(10, seed=2)
fr.bfs(g, 3), fr.connected_components(g), fr.pagerank(fr.rmat(7, seed=1, directed=True))
"""


def frontier(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, cwd=folder,
        env=environment(FRONTIER_CACHE_DIR=str(folder / "cache"), FRONTIER_QUIET="1"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_first_calls_do_not_compile(tmp_path: Path) -> None:
    words = ("-m", "frontier", "warm", "bfs", "cc", "pagerank", "--backend", "cpu", "--jobs", "2")
    first = json.loads(frontier(tmp_path, *words, "--json"))
    assert {each["primitive"] for each in first["primitives"]} == {"bfs", "cc", "pagerank"}
    assert all(each["compile_seconds"] > 0 and not each["error"] for each in first["primitives"])
    kept = _kept(tmp_path)
    frontier(tmp_path, "-c", CALLS)
    assert "3 primitives" in frontier(tmp_path, *words)
    assert kept
    assert _kept(tmp_path) == kept


def _kept(folder: Path) -> set[str]:
    """Files of the cache: what is compiled is kept there."""
    return {str(path) for path in (folder / "cache").rglob("*") if path.is_file()}


def test_what_cannot_be_done(capsys: pytest.CaptureFixture[str]) -> None:
    for words, message in (
        (["no_such"], "there is no primitive 'no_such'"), (["bfs", "--jobs", "0"], "--jobs must be at least 1"),
        (["bfs", "--backend", "nowhere"], "nowhere"),
    ):  # fmt: skip
        assert main(["warm", *words]) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize("name", ["bfs", "max_flow", "shortest_path", "condensation", "topological_order"])
def test_every_primitive_takes_one_of_the_graphs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "SIZES", ((4, 3),))
    graphs = warm._graphs.__wrapped__("python")
    monkeypatch.setattr(warm, "_graphs", lambda backend: graphs)
    calls = [warm._called(name, "python", i) for i in range(len(graphs))]
    assert not warm._together(name, calls).error
    assert warm._together(name, [replace(call, refused="no") for call in calls]).error == "no"


def test_a_primitive_that_fails_does_not_end_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = replace(registry.primitives()["bfs"], function=lambda *_, **__: 1 / 0)
    monkeypatch.setattr(registry, "primitives", lambda: {"bfs": entry})
    monkeypatch.setattr(warm, "_graphs", lambda backend: [fr.path(3)])
    assert "ZeroDivisionError" in warm._called("bfs", "python", 0).error
