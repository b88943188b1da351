"""Code that a wheel brings along: first calls compile nothing, and where it does not suit it is not used."""

from __future__ import annotations

import io
import os
import platform
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import frontier as fr
from frontier.backends.cuda import compiler
from frontier.errors import FrontierError
from frontier.native import host, prebuilt

ROOT = Path(fr.__file__).parents[1]

#: A search, and what was compiled and imported for it.
PROGRAM = """
import sys
from pathlib import Path
import frontier as fr
from frontier.native import prebuilt
prebuilt.FOLDER = Path(sys.argv[1])
g = fr.rmat(8, 16, seed=1)
fr.verify.bfs(g, fr.bfs(g, 0)).raise_if_failed()
print("numba" in sys.modules)
"""


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Those of breadth-first search."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        pytest.skip("code is made beforehand for Linux on x86-64")
    folder = tmp_path_factory.mktemp("archives")
    command = [sys.executable, str(ROOT / "tools" / "prebuild.py"), "bfs", "--jobs", "1", "--folder", str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_OPT": "0"}  # which it does not take over
    subprocess.run(command, env=environment, check=True, timeout=300)
    return folder


def run(archives: Path, cache: Path, **environment: str) -> tuple[str, list[str]]:
    """What a process prints, and the names of the files that it has compiled."""
    given = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    given |= {"PYTHONPATH": str(ROOT), "FRONTIER_CACHE_DIR": str(cache), "FRONTIER_NUM_THREADS": "1", **environment}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(archives)], env=given, text=True, capture_output=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), sorted(path.name for path in cache.rglob("*.code"))


def test_a_first_call_compiles_nothing(archives: Path, tmp_path: Path) -> None:
    if not host.is_usual.__wrapped__():
        pytest.skip(f"this processor is not of {host.LEVEL[0]}, or numba's settings are not the usual ones")
    assert run(archives, tmp_path) == ("False", [])


def test_other_settings_compile(archives: Path, tmp_path: Path) -> None:
    """As numba is told to make other code."""
    said, compiled = run(archives, tmp_path, NUMBA_OPT="0")
    assert said == "True"
    assert any(name.startswith("loop_") for name in compiled)


def test_without_archives(tmp_path: Path) -> None:
    assert run(tmp_path / "none", tmp_path)[0] == "True"


DAMAGES = {
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "changed": lambda content: content[:200] + bytes(len(content) // 2) + content[200 + len(content) // 2 :],
    "text": lambda content: b"no archive",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_archives(damage: str, archives: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Are as none."""
    monkeypatch.setattr(prebuilt, "FOLDER", tmp_path)
    whole = (archives / prebuilt.archive_of("effects").name).read_bytes()
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        first = archive.namelist()[0]
    for content, there in ((whole, True), (DAMAGES[damage](whole), False)):
        prebuilt.archive_of("effects").write_bytes(content)
        prebuilt._opened.cache_clear()
        assert (prebuilt.find("effects", first) is not None) == there
    prebuilt._opened.cache_clear()


def test_names_are_of_all_that_code_depends_on(archives: Path) -> None:
    with zipfile.ZipFile(archives / prebuilt.archive_of("cpu").name) as archive:
        names = archive.namelist()
    assert names == sorted(names)
    assert any(name.startswith("loop_") for name in names)
    assert all("." not in name for name in names)


def test_what_a_processor_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    from llvmlite import binding

    for name in [each for each in os.environ if each.startswith("NUMBA_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(binding, "get_process_triple", lambda: "x86_64-unknown-linux-gnu")
    for missing in ("", *host.LEVEL[1]):
        has = {feature: feature != missing for feature in host.LEVEL[1]}
        monkeypatch.setattr(binding, "get_host_cpu_features", lambda has=has: has)
        assert host.is_usual.__wrapped__() == (not missing)


# -- PTX -------------------------------------------------------------------------------------------------


@pytest.fixture
def empty_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(compiler, "cache_folder", lambda target: tmp_path)
    monkeypatch.setattr(compiler, "toolchain", lambda: "tools")
    return tmp_path


def test_ptx_of_the_package_is_linked(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prebuilt, "find", lambda target, name: f"{target} {name}".encode())
    monkeypatch.setattr(compiler, "linked", lambda code, capability: f"{code} {capability}".encode())
    made = compiler.machine_code("kernel_1", "a kernel", (9, 0), lambda capability: pytest.fail("not made"))
    assert made == b"cuda kernel_1 (9, 0)"
    assert [path.name for path in empty_cache.iterdir()] == ["kernel_1.sm_90.tools.cubin"]
    older = compiler.machine_code("kernel_1", "a kernel", (7, 5), lambda capability: f"made for {capability}")
    assert older == b"made for (7, 5) (7, 5)"


@pytest.mark.parametrize("error", [fr.BackendUnavailableError("an old driver"), RuntimeError("INVALID_PTX")])
def test_ptx_that_the_driver_does_not_read(
    error: Exception, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Is made anew, by the compiler that suits the driver."""

    def linked(code: str, capability: tuple[int, int]) -> bytes:
        if code == "brought":
            raise error
        return code.encode()

    monkeypatch.setattr(prebuilt, "find", lambda target, name: b"brought")
    monkeypatch.setattr(compiler, "linked", linked)
    assert compiler.machine_code("kernel_1", "a kernel", (9, 0), lambda capability: "made") == b"made"
    with pytest.raises(FrontierError, match=r"old driver|INVALID_PTX"):
        compiler.machine_code("kernel_2", "a kernel", (9, 0), lambda capability: "brought")
