"""``pip install -e`` works from anywhere, also beside a checkout called ``frontier``."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sysconfig
import venv
from pathlib import Path

import pytest
from processes import ROOT

SCRIPT = """
import sys
import frontier as fr, frontier.operators, frontier.primitives
assert fr.karate().num_vertices == 34
assert not {"operators", "primitives"} & set(sys.modules)
for name in ("operators", "primitives", "tools", "tests"):
    try:
        __import__(name)
    except ModuleNotFoundError:
        continue
    raise SystemExit(f"an import of {name} works")
print(fr.__file__)
"""


def run(*command: str | Path, cwd: Path, **more: str) -> str:
    """What a command prints that knows nothing of the environment of this test."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    words = [str(x) for x in command]
    done = subprocess.run(words, cwd=cwd, env={**env, **more}, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of this repository, called frontier, and an environment in which it is installed."""
    setuptools = importlib.metadata.distribution("setuptools")
    if int(setuptools.version.partition(".")[0]) < 77:
        pytest.skip(f"installing without a network needs setuptools 77; in the environment is {setuptools.version}")
    folder = tmp_path_factory.mktemp("beside")
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
    for part in ("frontier", "operators", "primitives", "tools"):
        shutil.copytree(ROOT / part, folder / "frontier" / part, ignore=ignored)
    for part in ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / part, folder / "frontier" / part)

    venv.create(folder / "env", with_pip=True, symlinks=True)
    purelib = run(python(folder), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder)
    # What is installed here can be imported there; this Frontier, if it is editable, cannot, for
    # files .pth are not read along such a path.
    Path(purelib, "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    # An environment may be made with an older setuptools of its own.
    (folder / "setuptools").mkdir()
    here = Path(setuptools.locate_file(""))
    for part in (here / "setuptools", here / "_distutils_hack", *here.glob("setuptools-*.dist-info")):
        (folder / "setuptools" / part.name).symlink_to(part)
    install = ("-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "-e", ".[test]")
    run(python(folder), *install, cwd=folder / "frontier", PYTHONPATH=str(folder / "setuptools"))
    return folder


def python(folder: Path) -> Path:
    """The Python of the environment."""
    return folder / "env" / "bin" / "python"


@pytest.mark.deep
@pytest.mark.parametrize("where", [".", "elsewhere", "frontier/examples"])
def test_script(folder: Path, where: str) -> None:
    (folder / where).mkdir(exist_ok=True)
    script = folder / where / "script.py"
    script.write_text(SCRIPT)
    expected = str(folder / "frontier" / "frontier" / "__init__.py")
    try:
        assert run(python(folder), script, cwd=folder) == expected
        assert run(python(folder), script, cwd=folder / where) == expected
    finally:
        script.unlink()


@pytest.mark.deep
def test_command(folder: Path) -> None:
    assert "34" in run(folder / "env" / "bin" / "frontier", "info", "karate", cwd=folder)


@pytest.mark.deep
def test_another_package_on_the_path_goes_first(folder: Path) -> None:
    other = folder / "other" / "frontier"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("here = True")
    (other.parent / "script.py").write_text("import frontier; print(frontier.here)")
    assert run(python(folder), other.parent / "script.py", cwd=folder) == "True"


@pytest.mark.deep
def test_uninstall_leaves_nothing(folder: Path) -> None:
    run(python(folder), "-m", "pip", "uninstall", "-q", "-y", "frontier-gpu", cwd=folder)
    found = "import importlib.util; print(getattr(importlib.util.find_spec('frontier'), 'origin', None))"
    assert run(python(folder), "-c", found, cwd=folder) == "None"
