"""The examples run on every backend, and what the documentation shows of them is what they print."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import ldbc
import numpy as np
import pytest
from pages import PAGES, ROOT, blocks, commands

import frontier as fr
from frontier.memory import detection

EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))
LONG = ("pagerank", "betweenness", "sssp", "reuse", "hits", "influence")
SLOW = pytest.mark.unsimulated("hundreds of passes")
#: Those that compare with something that only a connected graph has, or take a long time on others.
CONNECTED = ("bfs", "sssp", "components", "pagerank", "betweenness", "reuse", "hits")
#: What a page shows of the output of each example.
SHOWN = {
    Path(command.split()[1]).stem: text
    for page in PAGES
    for block in blocks(page, "console")
    for command, text in commands(block)
    if command.startswith("python examples/") and text
}


def run(name: str, *arguments: str) -> Any:
    """What an example's ``main`` gives; it checks its own result."""
    return runpy.run_path(str(ROOT / "examples" / f"{name}.py"))["main"]([*arguments])


@pytest.mark.parametrize("name", [pytest.param(name, marks=SLOW) if name in LONG else name for name in EXAMPLES])
def test_example(name: str, backend: Any, capsys: pytest.CaptureFixture[str]) -> None:
    run(name, "--backend", backend.name)
    # How often they look at an edge depends on the order.
    if name in SHOWN and (name not in ("components", "sssp") or backend.name != "cuda"):
        assert capsys.readouterr().out == SHOWN[name]


#: Those with something that only one processor, or one GPU, can do: each says what.
UNDIVIDED = {"cdlp": "at an index of its own making", "jones_plassmann": "uses what atomic_add"}


@pytest.mark.skipif(detection.simulated(), reason="parts compute on the processors")
@pytest.mark.parametrize("name", EXAMPLES)
def test_example_in_parts(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    if name in UNDIVIDED:
        with pytest.raises(fr.FunctorError, match=UNDIVIDED[name]):
            run(name, "--backend", "ranks:3")
        return
    run(name, "--backend", "cpu")
    whole = capsys.readouterr().out
    run(name, "--backend", "ranks:3")
    if name not in ("astar", "components", "sssp"):  # which say how often they look at edges
        assert capsys.readouterr().out == whole


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_on_a_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.npz"
    fr.write(fr.small_world(20, 4, 0.2, weights=(1, 9), seed=3), path)
    result = run(name, "--backend", "python", str(path))
    first = result[0] if isinstance(result, tuple) else result
    length = len(first) if isinstance(first, np.ndarray) else first.graph.num_vertices
    assert length == 20


@pytest.mark.parametrize("backend", ["python", "cpu"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", sorted(set(EXAMPLES) - set(CONNECTED)))
@pytest.mark.filterwarnings("ignore:the edge")
def test_example_on_scattered_graphs(name: str, backend: str, directed: bool, tmp_path: Path) -> None:
    """Pieces, isolated vertices, self-loops, equal weights; programs that want an undirected graph make it one."""
    path = tmp_path / "graph.npz"
    for seed in range(3 if backend == "cpu" else 1):
        fr.write(fr.urand(6, 1.5, directed=directed, weights=(1, 4), seed=seed), path)
        run(name, "--backend", backend, str(path))


@pytest.mark.parametrize("directed", [False, True])
def test_communities_are_those_of_ldbc(directed: bool, data_dir: Path) -> None:
    module = runpy.run_path(str(ROOT / "examples" / "cdlp.py"))
    for graph, rounds, expected in ldbc.communities(data_dir, directed):
        found = module["communities"](module["both_ways"](graph), rounds)
        assert np.array_equal(graph.labels[found], expected)


def test_every_example_is_listed() -> None:
    page = (ROOT / "docs" / "examples.md").read_text("utf-8")
    listed = re.findall(r"^\| (.*?) \|", page, re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)\.py`", " ".join(listed))) == EXAMPLES
