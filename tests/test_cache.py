"""The folder in which code is kept: whose it is, who may write there, and what happens if nothing can be written."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import frontier as fr
from frontier.backends.cpu import code, compiler
from frontier.native import cache, machine_code

ROOT = Path(fr.__file__).parents[1]

#: A program with one functor, whose number makes it one of a kind; says what was compiled anew.
PROGRAM = """
import sys
import frontier as fr
from frontier.native import machine_code as _machine_code
kept, number = _machine_code.keep, int(sys.argv[1])
def noted(path, content):
    print("compiled", path.name.split("_")[0], flush=True)
    return kept(path, content)
_machine_code.keep = noted
def fn(p, i):
    p.out[i] = i + number
p = fr.Problem(fr.path(2), out=fr.array([0, 0, 0]))
fr.Compute(fn, over=3)(p)
assert p.out.tolist() == [number, number + 1, number + 2], p.out
from frontier.native.cache import place
print(place().state, place().path)
"""


def start(*arguments: Any, program: str = PROGRAM, cwd: Path | None = None, **environment: str) -> Any:
    """A process that runs a program; variables set to nothing are not there."""
    given = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    given = {name: value for name, value in given.items() if value}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(
        command, env=given, cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def run(*arguments: Any, **given: Any) -> tuple[list[str], str]:
    """Lines of output, and what stands on stderr, of a process that ends well."""
    process = start(*arguments, **given)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out.splitlines(), err


# -- which folder ---------------------------------------------------------------------------------------


def place_of(monkeypatch: pytest.MonkeyPatch, **environment: str) -> cache.Place:
    """Where a process with such an environment keeps code."""
    for name in ("FRONTIER_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        if name in environment:
            monkeypatch.setenv(name, environment[name])
        else:
            monkeypatch.delenv(name, raising=False)
    return cache.place.__wrapped__()


def test_the_usual_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    before = os.umask(0)
    try:
        made = place_of(monkeypatch, HOME=str(home))
    finally:
        os.umask(before)
    assert made == cache.Place(home / ".cache" / "frontier", "kept")
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o755  # whatever the umask
    xdg = tmp_path / "xdg"
    assert place_of(monkeypatch, HOME=str(home), XDG_CACHE_HOME=str(xdg)).path == xdg / "frontier"
    assert place_of(monkeypatch, HOME=str(home), XDG_CACHE_HOME="relative").path == made.path
    assert place_of(monkeypatch, HOME=str(home), FRONTIER_CACHE_DIR=str(tmp_path / "own")).path == tmp_path / "own"


def test_never_a_relative_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nor one called ``~``, where there is no home: what lies there may be another's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert place_of(monkeypatch).state == "temporary"
    assert place_of(monkeypatch, FRONTIER_CACHE_DIR="own").state == "temporary"
    assert place_of(monkeypatch, FRONTIER_CACHE_DIR="~/own").state == "temporary"
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="modes of folders are of POSIX")
@pytest.mark.parametrize("mode", [0o777, 0o775, 0o1777, 0o757])
def test_folders_that_others_may_write_to(
    mode: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(mode)
    cache.say_once.cache_clear()
    made = place_of(monkeypatch, FRONTIER_CACHE_DIR=str(folder))
    assert made.state == "temporary"
    assert made.path.is_dir()
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o700
    assert "others may write to it (chmod go-w)" in capsys.readouterr().err
    folder.chmod(0o755)
    assert place_of(monkeypatch, FRONTIER_CACHE_DIR=str(folder)).state == "kept"
    (folder / "cpu").mkdir()
    (folder / "cpu").chmod(mode)
    with monkeypatch.context() as patch:
        patch.setattr(cache, "place", lambda: cache.Place(folder, "kept"))
        assert cache.cache_folder.__wrapped__("cpu").parent == made.path
        assert cache.cache_folder.__wrapped__("effects") == folder / "effects"


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="owners of folders are of POSIX")
def test_folders_of_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o755)
    monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)
    root = folder.stat().st_uid == 0  # whose folders may be used
    assert place_of(monkeypatch, FRONTIER_CACHE_DIR=str(folder)).state == ("kept" if root else "temporary")
    if root:
        os.chown(folder, 12345, -1)
        monkeypatch.setattr(os, "getuid", lambda: 0)
        assert "another user" in place_of(monkeypatch, FRONTIER_CACHE_DIR=str(folder)).why


def test_code_of_others_is_not_run(tmp_path: Path) -> None:
    """A program, in a process without a home, next to a folder as older versions would have taken."""
    trap = tmp_path / "~" / ".cache" / "frontier" / "cpu"
    trap.mkdir(parents=True)
    lines, _ = run(1, cwd=tmp_path, HOME="", XDG_CACHE_HOME="", FRONTIER_CACHE_DIR="~/.cache/frontier")
    assert lines[-1].startswith("temporary ")
    assert not list(trap.iterdir())
    assert not Path(lines[-1].removeprefix("temporary ")).exists()  # removed at the end


# -- what is kept ---------------------------------------------------------------------------------------


def test_files_that_others_may_read(tmp_path: Path) -> None:
    """As the umask says, and never to be written by others: a folder may be shared."""
    for umask, mode in ((0o022, 0o644), (0o077, 0o600), (0, 0o644)):
        folder = tmp_path / f"{umask:o}"
        program = f"import os; os.umask({umask})\n{PROGRAM}"
        lines, _ = run(2, program=program, FRONTIER_CACHE_DIR=str(folder))
        assert lines == ["compiled loop", f"kept {folder}"]
        files = [path for path in folder.rglob("*") if path.is_file()]
        assert {path.suffix for path in files} == {".py", ".code", ".json"}
        assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {mode}
        lines, _ = run(2, FRONTIER_CACHE_DIR=str(folder))
        assert lines == [f"kept {folder}"]  # nothing is compiled


def test_a_folder_that_is_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is there is used, nothing is written, and nothing is left elsewhere."""
    folder, elsewhere = tmp_path / "cache", tmp_path / "tmp"
    elsewhere.mkdir()
    run(3, FRONTIER_CACHE_DIR=str(folder))
    before = sorted(folder.rglob("*"))
    # Root may write anywhere, so the process is told that it may not.
    program = (
        "import os, errno\nopened, access, mkdir = os.open, os.access, os.mkdir\n"
        "def refuse(*a, **k): raise OSError(errno.EROFS, 'Read-only file system')\n"
        f"mine = lambda path, dir_fd=None: dir_fd is not None or str(path).startswith({str(folder)!r})\n"
        "os.open = lambda path, flags, *a, **k: (refuse if mine(path, **k) and flags & os.O_CREAT else opened)"
        "(path, flags, *a, **k)\n"
        "os.access = lambda path, mode: not (mine(path) and mode & os.W_OK) and access(path, mode)\n"
        f"os.mkdir = lambda path, *a, **k: (refuse if mine(path, **k) else mkdir)(path, *a, **k)\n{PROGRAM}"
    )
    for number in (3, 4):
        lines, err = run(number, program=program, FRONTIER_CACHE_DIR=str(folder), TMPDIR=str(elsewhere))
        assert lines[-1] == f"read only {folder}"
        assert ("compiled loop" in lines) == (number == 4)
        assert "frontier:" not in err.replace("frontier: compiling", "")
    assert sorted(folder.rglob("*")) == before
    assert not list(elsewhere.iterdir())


def fill(number: int) -> Any:
    def fn(p: Any, i: Any) -> None:
        p.out[i] = i + number

    return fn


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """An empty folder, and nothing known from before."""
    folders = {target: tmp_path / target for target in ("cpu", "effects")}
    for folder in folders.values():
        folder.mkdir()
    for module in (machine_code, compiler):
        monkeypatch.setattr(module, "cache_folder", lambda target="cpu": folders[target])
    monkeypatch.setattr("frontier.program.effects.cache_folder", lambda target="cpu": folders[target])
    forget(monkeypatch)
    cache.say_once.cache_clear()
    yield tmp_path
    cache.say_once.cache_clear()


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code, "_made", {})
    monkeypatch.setattr("frontier.program.effects._found", {})


def result_of(number: int) -> list[int]:
    p = fr.Problem(fr.path(2), out=fr.array([0, 0]))
    fr.Compute(fill(number), over=2)(p)
    return [value - number for value in p.out.tolist()]


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG])
def test_a_full_disk(error: int, fresh: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """At any write: the run goes on, and says it once."""
    opened = os.fdopen

    def full(handle: int, *arguments: Any) -> Any:
        file = opened(handle, *arguments)
        file.write(b"the beginning")
        file.write = lambda content: (_ for _ in ()).throw(OSError(error, os.strerror(error)))
        return file

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdopen", full)
        assert [result_of(number) for number in (10, 11)] == [[0, 1], [0, 1]]
    assert not [path for path in fresh.rglob("*") if path.is_file()]
    said = [line for line in capsys.readouterr().err.splitlines() if "cannot be kept" in line]
    assert len(said) == 2  # the folder of code, that of what functors touch
    assert os.strerror(error) in said[0]


def test_a_limit_of_the_size_of_files(tmp_path: Path) -> None:
    program = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n{PROGRAM}"
    lines, err = run(5, program=program, FRONTIER_CACHE_DIR=str(tmp_path / "cache"))
    assert lines == ["compiled loop", f"kept {tmp_path / 'cache'}"]
    assert "cannot be kept" in err
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_folder_that_is_cleared_meanwhile(fresh: Path) -> None:
    assert result_of(20) == [0, 1]
    for path in sorted(fresh.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    assert result_of(21) == [0, 1]
    assert list((fresh / "cpu").glob("*.code"))


DAMAGES = {
    "cut": lambda content: content[: len(content) // 2],
    "empty": lambda content: b"",
    "one bit": lambda content: content[:50] + bytes([content[50] ^ 1]) + content[51:],
    "zeros": lambda content: bytes(len(content)),
    "text": lambda content: b"raise SystemExit('run')\n" + content[24:],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files(damage: str, fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of any kind: what they held is made again."""
    assert result_of(30) == [0, 1]
    files = [path for path in fresh.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".py", ".code", ".json"}
    right = {path: path.read_bytes() for path in files}
    for path in files:
        path.write_bytes(DAMAGES[damage](right[path]))
    forget(monkeypatch)
    assert result_of(30) == [0, 1]
    for path in files:
        if path.suffix != ".py":  # which nobody reads
            assert cache.kept(path) is not None


def test_code_of_something_else(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole file with a right digest that holds no code."""
    assert result_of(31) == [0, 1]
    (path,) = fresh.rglob("*.code")
    cache.keep(path, b"\x80\x04]\x94.")  # an empty list
    forget(monkeypatch)
    assert result_of(31) == [0, 1]


# -- several processes ----------------------------------------------------------------------------------


def test_one_process_compiles_and_others_wait(tmp_path: Path) -> None:
    folder = str(tmp_path / "cache")
    processes = [start(6, FRONTIER_CACHE_DIR=folder) for _ in range(4)]
    lines = []
    for process in processes:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        lines += out.splitlines()
    assert lines.count("compiled loop") == 1
    assert not list(tmp_path.rglob("*.lock")) + list(tmp_path.rglob("*.tmp"))


HOLDER = """
import sys, time
from pathlib import Path
from frontier.native.cache import once
with once(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_process_that_is_killed_holds_nobody_up(tmp_path: Path) -> None:
    path = tmp_path / "file"
    process = start(path, program=HOLDER)
    assert process.stdout.readline() == "held\n"
    process.kill()
    process.communicate()
    assert list(tmp_path.glob("*.lock"))
    with cache.once(path):
        pass
    assert not list(tmp_path.glob("*.lock"))


def test_patience_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    process = start(path, program=HOLDER)
    assert process.stdout.readline() == "held\n"
    monkeypatch.setattr(cache, "PATIENCE", 0.2)
    entered = False
    with cache.once(path):
        entered = True
    process.kill()
    process.communicate()
    assert entered


@pytest.mark.parametrize("error", [errno.EROFS, errno.EACCES, errno.ENOSPC, errno.ENOENT])
def test_where_there_can_be_no_locks(error: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*arguments: Any) -> int:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(os, "open", refused)
    begun = time.monotonic()
    with cache.once(tmp_path / "file"):
        pass
    assert time.monotonic() - begun < cache.PATIENCE
    monkeypatch.undo()
    monkeypatch.setattr(cache, "_lock", lambda handle: (_ for _ in ()).throw(OSError(errno.ENOLCK, "no locks")))
    with cache.once(tmp_path / "file"):
        pass


def test_helpers_of_the_package_are_kept_too(tmp_path: Path) -> None:
    """And compiled by one process of several."""
    program = PROGRAM + "\nfrom frontier.native import jit as _jit\n_jit.FEW = _jit.ENOUGH = 0\nfr.rmat(4)"
    found = []
    for folder, count in (("a", 1), ("a", 1), ("b", 2)):
        given: Any = {"program": program, "FRONTIER_CACHE_DIR": str(tmp_path / folder)}
        outputs = [process.communicate(timeout=300) for process in [start(7, **given) for _ in range(count)]]
        found.append(sum(out.count("compiled") for out, _ in outputs))
    assert found[0] > 1
    assert found[1:] == [0, found[0]]
