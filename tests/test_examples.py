"""The examples run on every backend, and what the documentation shows of them is what they print."""

from __future__ import annotations

import doctest
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import frontier as fr

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ("bfs", "sssp", "components", "pagerank", "betweenness", "kcore", "triangles", "reuse")
#: Where the output of an example is shown.
SHOWN = {
    "bfs": "tutorials/bfs.md",
    "sssp": "tutorials/sssp.md",
    "components": "tutorials/components.md",
    "pagerank": "tutorials/pagerank.md",
    "betweenness": "tutorials/betweenness.md",
    "kcore": "functors.md",
    "triangles": "operators.md",
    "reuse": "reuse.md",
}
LONG = ("pagerank", "betweenness", "sssp", "reuse")
SLOW = pytest.mark.unsimulated("hundreds of passes")
#: Pages whose snippets make one program each.
PAGES = ("operators.md", "functors.md", "debugging.md", "reuse.md")


def run(name: str, *arguments: str) -> Any:
    """What an example's ``main`` gives; it checks its own result."""
    return runpy.run_path(str(ROOT / "examples" / f"{name}.py"))["main"]([*arguments])


def blocks(page: str, *languages: str) -> Iterator[tuple[str, str, int]]:
    """Language, text and line of the code blocks of a page of the documentation."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for found in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if found[1] in languages:
            yield found[1], found[2], text.count("\n", 0, found.start()) + 1


def test_every_example_is_tested() -> None:
    assert {path.stem for path in (ROOT / "examples").glob("*.py")} == set(EXAMPLES)


@pytest.mark.parametrize("name", [pytest.param(name, marks=SLOW) if name in LONG else name for name in EXAMPLES])
def test_example(name: str, backend: Any, capsys: pytest.CaptureFixture[str]) -> None:
    run(name, "--backend", backend.name)
    command = f"$ python examples/{name}.py\n"
    shown = next(text for _, text, _ in blocks(SHOWN[name], "console") if text.startswith(command))
    # How often they look at an edge depends on the order.
    if name not in ("components", "sssp") or backend.name != "cuda":
        assert shown.removeprefix(command) == capsys.readouterr().out


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_on_a_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.npz"
    fr.write(fr.small_world(20, 4, 0.2, weights=(1, 9), seed=3), path)
    result = run(name, "--backend", "python", str(path))
    first = result[0] if isinstance(result, tuple) else result
    length = len(first) if isinstance(first, np.ndarray) else first.graph.num_vertices
    assert length == 20


@pytest.mark.parametrize("page", PAGES)
def test_snippets(page: str) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    ran = 0
    for language, text, line in blocks(page, "python", "pycon"):
        ran += 1
        if language == "python":
            exec(compile("\n" * line + text, page, "exec"), names)
            continue
        test = parser.get_doctest(text, {}, page, page, line)
        test.globs = names
        output: list[str] = []
        runner.run(test, out=output.append, clear_globs=False)
        assert not output, "".join(output)
    assert ran
