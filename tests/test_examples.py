"""The examples run on every backend, and what the documentation shows of them is what they print."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages import PAGES, ROOT, blocks, commands

import frontier as fr

EXAMPLES = ("bfs", "sssp", "components", "pagerank", "betweenness", "kcore", "triangles", "reuse")
LONG = ("pagerank", "betweenness", "sssp", "reuse")
SLOW = pytest.mark.unsimulated("hundreds of passes")
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


def test_every_example_is_tested() -> None:
    assert {path.stem for path in (ROOT / "examples").glob("*.py")} == set(EXAMPLES)


@pytest.mark.parametrize("name", [pytest.param(name, marks=SLOW) if name in LONG else name for name in EXAMPLES])
def test_example(name: str, backend: Any, capsys: pytest.CaptureFixture[str]) -> None:
    run(name, "--backend", backend.name)
    # How often they look at an edge depends on the order.
    if name not in ("components", "sssp") or backend.name != "cuda":
        assert capsys.readouterr().out == SHOWN[name]


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_on_a_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.npz"
    fr.write(fr.small_world(20, 4, 0.2, weights=(1, 9), seed=3), path)
    result = run(name, "--backend", "python", str(path))
    first = result[0] if isinstance(result, tuple) else result
    length = len(first) if isinstance(first, np.ndarray) else first.graph.num_vertices
    assert length == 20
