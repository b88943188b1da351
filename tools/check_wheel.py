"""Build the sdist and the wheel, and try the wheel in a new environment away from the checkout.

``python tools/check_wheel.py`` needs the package ``build`` and Frontier's dependencies in the
environment that runs it: the new environment borrows them, so nothing is downloaded but the
build backend. ``twine`` and ``check-wheel-contents`` are asked too where they are installed. With a folder of
archives that ``tools/prebuild.py`` has made, a wheel that brings them is tried, too. It ends with status 1 and the
failed step's output when something is wrong.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

LIGHT_IMPORT = """
import sys, frontier
heavy = {"numba", "scipy", "networkx", "pandas"} & set(sys.modules)
assert not heavy, f"import frontier imports {heavy}"
assert "site-packages" in frontier.__file__, frontier.__file__
print("frontier", frontier.__version__, "from", frontier.__file__)
"""

BFS_ON_KARATE = """
import frontier as fr
g = fr.karate()
result = fr.bfs(g, 0)
fr.verify.bfs(g, result).raise_if_failed()
assert result.level.max() == 3 and result.level.shape == (34,)
import frontier.operators, frontier.primitives
for name in ("operators", "primitives"):
    try:
        __import__(name)
    except ModuleNotFoundError:
        continue
    raise SystemExit(f"the wheel installs a top-level package {name}")
"""

BROUGHT = """
import sys
import frontier as fr
from frontier.native import host
assert fr.bfs(fr.karate(), 0).level.max() == 3
assert "numba" not in sys.modules or not host.is_usual(), "something was compiled that the wheel brings"
"""

TYPES = """
from typing import assert_type
import frontier as fr
from frontier.primitives.bfs import BFSResult
g = fr.read("graph.mtx", format="mtx")
assert_type(g, fr.Graph)
assert_type(fr.bfs(g, 0), BFSResult)
assert_type(fr.verify.bfs(g, fr.bfs(g, 0)), fr.verify.Report)
assert_type(fr.Schedule(direction="push").resolved().direction, str)
"""


class Failed(Exception):
    """A step went wrong; the message says which and how."""


def run(step: str, *command: str | Path, cwd: Path) -> str:
    """Run a command without the caller's Python paths; return what it prints."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        [str(x) for x in command],
        cwd=cwd,
        env=env,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode:
        raise Failed(f"{step}: status {done.returncode}\n{done.stdout}")
    print(f"  {step}: ok")
    return done.stdout


def check_contents(wheel: Path, sdist: Path) -> None:
    """The wheel holds one package; the sdist all that is needed to build and test it."""
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    if tops != {"frontier"}:
        raise Failed(f"the wheel holds {sorted(tops)}, not only frontier")
    for part in (
        "py.typed", "__init__.pyi", "operators/__init__.py", "primitives/__init__.py", "datasets/krackhardt_kite.csv",
    ):  # fmt: skip
        if f"frontier/{part}" not in names:
            raise Failed(f"the wheel lacks frontier/{part}")
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    for part in ("LICENSE", "README.md", "CITATION.cff", "pyproject.toml", "tests", "operators/__init__.py"):
        if part not in inside:
            raise Failed(f"the sdist lacks {part}")
    made = (".", "docs/_build", "docs/auto_gallery")
    bad = [name for name in inside if "__pycache__" in name or "/prebuilt/" in name or name.startswith(made)]
    if bad:
        raise Failed(f"the sdist holds {bad[:5]}")
    print(f"  contents: ok ({len(names)} files in the wheel)")


def check_same(wheel: Path, folder: Path) -> None:
    """The wheel, which was built from the sdist, is the one that the checkout gives."""
    tree = folder / "tree"  # a copy, as building leaves files behind
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "prebuilt")
    for name in ("frontier", "operators", "primitives", "tools"):
        shutil.copytree(ROOT / name, tree / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, tree)
    run("build from the tree", sys.executable, "-m", "build", "--wheel", "--outdir", folder / "own", tree, cwd=folder)
    (own,) = (folder / "own").glob("*.whl")
    first, second = ({each.filename: each.CRC for each in zipfile.ZipFile(path).infolist()} for path in (wheel, own))
    different = sorted(name for name, _ in first.items() ^ second.items())
    if wheel.name != own.name or different:
        raise Failed(f"the wheels of the sdist and of the checkout differ in {different[:5] or own.name}")
    print("  one wheel from the sdist and from the checkout: ok")


def check_by_others(wheel: Path, sdist: Path) -> None:
    """What the package index and a linter of wheels say."""
    scripts = Path(sys.executable).parent
    for tool, module, words in (
        ("twine", "twine", ("check", "--strict", wheel, sdist)),
        ("check-wheel-contents", "check_wheel_contents", (wheel,)),
    ):
        if importlib.util.find_spec(module) is None:
            print(f"  {tool}: not asked, as it is not installed")
        else:
            run(tool, scripts / tool, *words, cwd=wheel.parent)


def new_environment(folder: Path) -> Path:
    """A virtual environment that sees the dependencies installed here; its ``bin`` folder."""
    venv.create(folder, with_pip=True, symlinks=os.name != "nt")
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    shown = run(
        "environment",
        scripts / "python",
        "-c",
        "import sysconfig; print(sysconfig.get_path('purelib'))",
        cwd=folder,
    )
    # A path in a .pth file is searched after the environment's own packages, and .pth files
    # found along it (an editable Frontier's) are not read.
    (Path(shown.strip()) / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return scripts


def check_brought(archives: Path, folder: Path, python: Path) -> None:
    """A wheel with archives needs no compiler for what they hold."""
    there = folder / "tree" / "frontier" / "native" / "prebuilt"
    shutil.copytree(archives, there)
    build = (sys.executable, "-m", "build", "--wheel", "--outdir", folder / "more", folder / "tree")
    run("build with archives", *build, cwd=folder)
    (wheel,) = (folder / "more").glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    if missing := [each.name for each in archives.iterdir() if f"frontier/native/prebuilt/{each.name}" not in names]:
        raise Failed(f"the wheel lacks {missing}")
    install = (python, "-m", "pip", "install", "-q", "--no-deps", "--force-reinstall", wheel)
    run("install with archives", *install, cwd=folder)
    os.environ["FRONTIER_CACHE_DIR"] = str(folder / "cache")
    run("bfs, without compiling", python, "-c", BROUGHT, cwd=folder)


def check_types(folder: Path, python: Path) -> None:
    """A type checker sees what public names are, in the installed package alone."""
    if importlib.util.find_spec("mypy") is None:
        print("  types: not checked, mypy is not installed")
        return
    program = folder / "program.py"
    program.write_text(TYPES)
    mypy = (sys.executable, "-m", "mypy", "--python-executable", python)
    run("types", *mypy, "--strict", "--follow-imports", "silent", program, cwd=folder)


def check(folder: Path, archives: Path | None) -> None:
    """Build, install and try."""
    run("build", sys.executable, "-m", "build", "--outdir", folder / "dist", ROOT, cwd=folder)
    (wheel,) = (folder / "dist").glob("*.whl")
    (sdist,) = (folder / "dist").glob("*.tar.gz")
    check_contents(wheel, sdist)
    check_by_others(wheel, sdist)
    check_same(wheel, folder)
    scripts = new_environment(folder / "env")
    python = scripts / "python"
    run("install", python, "-m", "pip", "install", "-q", "--no-deps", wheel, cwd=folder)
    run("light import", python, "-c", LIGHT_IMPORT, cwd=folder)
    run("python -m frontier", python, "-m", "frontier", "--version", cwd=folder)
    run("bfs", python, "-c", BFS_ON_KARATE, cwd=folder)
    check_types(folder, python)
    run("frontier bfs", scripts / "frontier", "bfs", "karate", "--verify", cwd=folder)
    if archives is not None:
        check_brought(archives, folder, python)


def main() -> int:
    """The exit status."""
    with tempfile.TemporaryDirectory() as name:
        try:
            archives = Path(sys.argv[1]) if sys.argv[1:] else None
            if archives is not None and not any(archives.glob("*.zip")):
                raise Failed(f"{archives}: no archives that tools/prebuild.py has made")
            check(Path(name), archives)
        except Failed as failed:
            print(failed)
            return 1
    print("the wheel works")
    return 0


if __name__ == "__main__":
    sys.exit(main())
