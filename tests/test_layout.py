"""The package as a whole: where its parts lie, what importing it costs, what README and docs promise."""

from __future__ import annotations

import ast
import importlib
import inspect
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


@pytest.fixture(scope="module")
def reference() -> set[str]:
    """The full names of all that the reference, docs/api and docs/primitives, describes; of Graph also its bases."""
    folders = (ROOT / "docs" / "api", ROOT / "docs" / "primitives")
    pages = "\n".join(path.read_text("utf-8") for folder in folders for path in folder.glob("*.md"))
    found = set(re.findall(r"^\.\. auto\w+:: ([\w.]+)", pages, re.MULTILINE))
    with_bases = r"^\.\. autoclass:: frontier\.(\w+)\n   :members:\n   :inherited-members:"
    for name in re.findall(with_bases, pages, re.MULTILINE):
        found.update(f"{base.__module__}.{base.__name__}" for base in getattr(fr, name).__mro__)
    return found


def test_public_names_exist_and_are_documented(reference: set[str]) -> None:
    for name in fr.__all__:
        value = getattr(fr, name)
        if name != "__version__" and not isinstance(value, type(fr)):
            assert value.__doc__, f"fr.{name} has no docstring"
            assert f"frontier.{name}" in reference, f"fr.{name} is missing in docs/api"


def test_what_public_names_give_and_derive_from_is_documented(reference: set[str]) -> None:
    known = {name.rpartition(".")[2] for name in reference}
    for name in fr.__all__:
        value = getattr(fr, name)
        if isinstance(value, type):
            needed = {base.__name__ for base in value.__mro__ if base.__module__.startswith("frontier.")}
        elif callable(value):
            found = inspect.signature(value).return_annotation
            needed = set(re.findall(r"\b[A-Z]\w+", found if isinstance(found, str) else ""))
            needed -= {"Any", "Callable", "Iterable", "NDArray", "None", "DataFrame", "Function", "Table"}
        else:
            continue
        assert needed <= known, f"fr.{name}: {sorted(needed - known)} missing in docs/api"


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "primitives").glob("[a-z]*.py")))
def test_all_of_a_primitive_is_documented(name: str, reference: set[str]) -> None:
    module = importlib.import_module(f"frontier.primitives.{name}")
    for part in module.__all__:
        if next(iter(inspect.signature(getattr(module, part)).parameters), "") == "p":
            continue  # a functor, which the module itself explains
        assert {f"frontier.{part}", f"{module.__name__}.{part}"} & reference, f"{part} is missing in docs/api"


def test_what_is_documented_as_public_is(reference: set[str]) -> None:
    short = {name.removeprefix("frontier.") for name in reference}
    assert {name for name in short if "." not in name} <= set(fr.__all__)


def test_dir_lists_the_public_names() -> None:
    assert {name for name in dir(fr) if not name.startswith("__")} | {"__version__"} == set(fr.__all__)


def test_type_checkers_see_the_same_names() -> None:
    stub = (ROOT / "frontier" / "__init__.pyi").read_text("utf-8")
    assert python("tools/make_stub.py", "--print", cwd=ROOT).stdout == stub, "run python tools/make_stub.py"
    imported = {}
    for node in ast.parse(stub).body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                assert alias.asname == alias.name, "without 'as' a stub keeps a name to itself"
                imported[alias.name] = node.module
    assert {*imported, "__version__"} == set(fr.__all__)
    for name, module in imported.items():
        assert getattr(importlib.import_module(module), name) is getattr(fr, name)


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
        ("frontier/graph/graph.py", "from frontier.operators import Advance"),
        ("frontier/io/mtx.py", "def f():\n    from ..primitives import bfs"),
        ("frontier/program/loop.py", "import importlib\nimportlib.import_module('frontier.operators')"),
        ("operators/elementwise/filter.py", "import frontier.primitives.bfs"),
        ("primitives/bfs.py", "from operators import Advance"),
        ("frontier/graph/graph.py", "if TYPE_CHECKING:\n    from frontier.program.problem import Problem"),
        ("frontier/lowering/phases.py", "from frontier.backends import run"),
        ("frontier/backends/run/execution.py", "from frontier.backends.cuda.launch import kernel"),
        ("frontier/new.py", ""),
    ],
)
def test_check_imports_finds(tmp_path: Path, module: str, text: str) -> None:
    path = tmp_path / module
    path.parent.mkdir(parents=True)
    path.write_text(text)
    done = check_imports(tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith(f"{module}:")


def test_figures_count_what_they_say(tmp_path: Path) -> None:
    for name, text in {
        "operators/a.py": """def lower(b):
    'A docstring: x = 1.'
    b.line("x = 1", f"if {b}:", "    x += 1", "a message, no code")
    return b.text.replace("x", "y")
""",
        "frontier/_b.py": 'import frontier.graph.graph\nif g.backend == "cpu" or g.backend[5:]: pass  # type: ignore\n',
        "frontier/graph/graph.py": "from frontier.program.problem import Problem\n",
        "frontier/program/problem.py": "",
        "primitives/p.py": "class P(Enactor):\n    loop = 1\n",
        "primitives/own.py": "class A:\n    def f(self): self._x = self._g()._asdict()\n    def _g(self): pass\n",
        "primitives/asks.py": "def f(g): return g.placement.backend\n",
        "primitives/reads.py": "class A:\n    def f(self, other):\n        self._x = other._x\n",
        "primitives/takes.py": "class A(Base):\n    def f(self): return self._inherited\n",
        "primitives/imports.py": "from frontier.graph.build import _inner\n",
        "pyproject.toml": "[[tool.mypy.overrides]]\nmodule = ['frontier.graph.graph']\nignore_errors = true\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    done = python(str(ROOT / "tools" / "figures.py"), "--still", str(tmp_path), cwd=tmp_path)
    rows = dict(re.findall(r"^(\S.*?)  +(\S.*?)  ", done.stdout, re.MULTILINE))
    assert rows["lines of code in string literals"] == "3"
    assert rows["files that parse or rewrite emitted text"] == "1"
    assert rows["flat modules in frontier/ (with an underscore)"] == "1 (1)"
    assert rows["places where the backend is a compared string"] == "2"
    assert rows["type: ignore / modules unseen by mypy"] == "1 / 1"
    assert rows["primitives that know backends or private names"] == "asks, imports, reads, takes"
    assert rows["rooms / floors / arrows that go back"].endswith("/ 1")


def test_figures_are_counted() -> None:
    done = python("tools/figures.py", cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"fr\.bfs passes +\d+ \(\d+\)", done.stdout)
    assert re.search(r"^primitives that know backends or private names +none +none$", done.stdout, re.MULTILINE)


def test_the_files_of_a_push_are_those_of_the_design_page() -> None:
    text = (ROOT / "docs" / "design.md").read_text("utf-8")
    path = re.search(r"^## Reading one operator.*?(?=^## )", text, re.MULTILINE | re.DOTALL)[0]
    assert all((ROOT / name).exists() for name in re.findall(r"^\| `(\S+\.py)` \|", path, re.MULTILINE))
    counted = re.search(r"one push balance needs +(\d+) ", python("tools/figures.py", "--still", cwd=ROOT).stdout)[1]
    words = ["seven", "eight", "nine", "ten", "eleven"]
    assert f"whose functions the kernel calls: {words[int(counted) - 7]}" in path.replace("\n", " ")


def test_the_table_of_what_to_change_names_what_there_is() -> None:
    """Files, functions and classes, capital names of modules, and test modules."""
    text = (ROOT / "docs" / "design.md").read_text("utf-8")
    section = re.search(r"^## Where do I change.*?(?=^## )", text, re.MULTILINE | re.DOTALL)[0]
    rows = [re.split(r" \| ", line.strip("| ")) for line in section.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == 12
    for what, files, known, tests in rows:
        for path in re.findall(r"`((?:\w+/)+[\w.]*)`", files + known):
            place = path.split("NAME")[0]
            assert (ROOT / place).exists() or (ROOT / "operators/advance" / place).exists(), f"{what}: {path}"
        for name in re.findall(r"{(?:func|class)}`([\w.]+)`", files + known):
            module, _, last = name.rpartition(".")
            assert hasattr(importlib.import_module(module), last), f"{what}: {name}"
        for name, path in re.findall(r"`(_?[A-Z]{4,})` in `([\w/]+\.py)`", known):
            assert re.search(rf"^{name} = ", (ROOT / path).read_text("utf-8"), re.MULTILINE), f"{what}: {name}"
        for name in re.findall(r"`(\w+)`", tests):
            assert name == "NAME" or (ROOT / "tests" / f"test_{name}.py").exists(), f"{what}: {name}"


def test_every_cache_is_documented() -> None:
    """One note for engineers lists what a process keeps."""
    text = (ROOT / "docs" / "notes" / "caches.md").read_text("utf-8")
    named = set(re.findall(r"`(\w+\.\w+)`", text))
    found = set()
    for path in (path for folder in ("frontier", "operators", "primitives") for path in (ROOT / folder).rglob("*.py")):
        module = path.parent.name if path.name == "__init__.py" else path.stem
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            decorators = map(ast.unparse, getattr(node, "decorator_list", ()))
            if any(re.match(r"(functools\.)?(lru_cache|cache)\b", decorator) for decorator in decorators):
                found.add(f"{module}.{node.name}")
    assert found <= named, "say what it holds, by what, and when it is gone"
    for name in named - found:
        module, _, part = name.partition(".")
        files = [*(ROOT / "frontier").rglob(f"{module}.py"), *(ROOT / "primitives").rglob(f"{module}.py")]
        assert module[0].isupper() or not files or any(part in path.read_text("utf-8") for path in files), name


def readme_blocks(language: str) -> list[str]:
    text = (ROOT / "README.md").read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_readme_program_runs(tmp_path: Path) -> None:
    *_, program = readme_blocks("python")
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


@pytest.mark.parametrize("folder", [
    "native", "functors", "graph", "program", "lowering", "memory", "backends", "backends/cuda", "graph500", "system",
    "compile", "compile/functors", "compile/fields", "backends/run", "backends/cuda/compile", "backends/cuda/device",
    "backends/cuda/simulator", "distributed/transport", "distributed/ranks", "distributed/devices",
])  # fmt: skip
def test_a_folder_says_what_is_in_it(folder: str) -> None:
    """The docstring of a folder names each of its modules."""
    init = ROOT / "frontier" / folder / "__init__.py"
    text = ast.get_docstring(ast.parse(init.read_text("utf-8")))
    missing = [path.stem for path in init.parent.glob("*.py") if path != init and f"``{path.stem}``" not in text]
    assert missing == []
