"""The package as a whole: where its parts lie, what importing it costs, what README and docs promise."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from processes import ROOT, environment

import frontier as fr

HEAVY = ("numba", "scipy", "networkx", "pandas", "matplotlib")


def python(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run this Python with the checkout on its path."""
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=cwd, env=environment(), text=True, capture_output=True, check=False)


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_packages_in_pyproject_are_those_of_the_tree(project: dict[str, Any]) -> None:
    found = set()
    for folder, name in (
        ("frontier", "frontier"),
        ("operators", "frontier.operators"),
        ("primitives", "frontier.primitives"),
    ):
        for init in (ROOT / folder).rglob("__init__.py"):
            found.add(".".join((name, *init.parent.relative_to(ROOT / folder).parts)))
        for module in (ROOT / folder).rglob("*.py"):
            assert (module.parent / "__init__.py").exists(), f"{module.parent} has modules but no __init__.py"
    assert sorted(project["tool"]["setuptools"]["packages"]) == sorted(found)


def test_extras(project: dict[str, Any]) -> None:
    assert {"cuda12", "cuda13", "io", "plot", "test", "docs", "all"} <= set(project["project"]["optional-dependencies"])
    needed = {re.split(r"[<>=\[ ]", text)[0] for text in project["project"]["dependencies"]}
    assert needed == {"numpy", "numba"}


def test_import_is_light(tmp_path: Path) -> None:
    code = f"import sys, frontier, frontier.cli; print(sorted(set({HEAVY}) & set(sys.modules)))"
    assert python("-c", code, cwd=tmp_path).stdout.strip() == "[]"


def test_siblings_are_found_from_any_folder(tmp_path: Path) -> None:
    code = (
        "import frontier.operators.advance, frontier.primitives, sys;"
        "assert 'operators' not in sys.modules;"
        "print(frontier.operators.__name__, frontier.primitives.__name__)"
    )
    done = python("-c", code, cwd=tmp_path)
    assert done.stdout.split() == ["frontier.operators", "frontier.primitives"], done.stderr


@pytest.mark.parametrize("folder", ["operators", "primitives"])
def test_bare_folders_are_refused(folder: str) -> None:
    done = python("-c", f"import {folder}", cwd=ROOT)
    assert done.returncode == 1
    assert f"import frontier.{folder}, not {folder}" in done.stderr


def test_public_names_exist_and_are_documented() -> None:
    reference = "\n".join(path.read_text("utf-8") for path in (ROOT / "docs" / "api").glob("*.md"))
    documented = set(re.findall(r"^\.\. auto\w+:: frontier\.(\w+)", reference, re.MULTILINE))
    for name in fr.__all__:
        value = getattr(fr, name)
        if name != "__version__" and not isinstance(value, type(fr)):
            assert value.__doc__, f"fr.{name} has no docstring"
            assert name in documented, f"fr.{name} is missing in docs/api"


def test_unknown_public_name() -> None:
    with pytest.raises(AttributeError, match="no attribute 'bsf'"):
        fr.bsf  # noqa: B018


def check_imports(root: Path) -> subprocess.CompletedProcess[str]:
    return python(str(ROOT / "tools" / "check_imports.py"), str(root), cwd=root)


def test_imports_go_one_way() -> None:
    done = check_imports(ROOT)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("frontier/graph.py", "from frontier.operators import Advance"),
        ("frontier/io/mtx.py", "def f():\n    from ..primitives import bfs"),
        ("frontier/loop.py", "import importlib\nimportlib.import_module('frontier.operators')"),
        ("operators/filter.py", "import frontier.primitives.bfs"),
        ("primitives/bfs.py", "from operators import Advance"),
    ],
)
def test_check_imports_finds(tmp_path: Path, module: str, text: str) -> None:
    path = tmp_path / module
    path.parent.mkdir(parents=True)
    path.write_text(text)
    done = check_imports(tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith(f"{module}:")


def readme_blocks(language: str) -> list[str]:
    text = (ROOT / "README.md").read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_readme_program_runs(tmp_path: Path) -> None:
    (program,) = readme_blocks("python")
    (tmp_path / "program.py").write_text(program)
    done = python("program.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    levels = [int(number) for number in re.findall(r"-?\d+", done.stdout)]
    assert levels == fr.bfs(fr.karate(), 0).level.tolist()


def test_readme_commands(project: dict[str, Any]) -> None:
    (block,) = readme_blocks("sh")
    job, tests = block.strip().splitlines()
    assert "frontier bfs" in job
    assert "--verify" in job
    assert "--trace" in job
    assert tests.endswith("-m pytest -n auto")
    for extra in re.findall(r"\.\[(\w+)\]", block):
        assert extra in project["project"]["optional-dependencies"]
