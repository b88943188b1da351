"""Files are written whole or not at all: a full disk, a limit or an error leaves the old one as it was."""

from __future__ import annotations

import errno
import gzip
import json
import os
import stat
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import environment

import frontier as fr
from frontier.cli import main
from frontier.system.atomic_write import replacing

SUFFIXES = ["mtx", "wel", "csv", "gr", "graph", "npz", "wel.gz", "npz.gz"]

#: What the shell's ``ulimit -f`` does: a disk that gets full after so many bytes.
LIMITED = """
import resource, sys
import frontier as fr
graph = fr.rmat(6, weights=(1, 2**30), seed=1)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
"""

resource = pytest.importorskip("resource", reason="limits of processes are there on POSIX only")


def python(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=environment(FRONTIER_QUIET="1"), text=True, capture_output=True, check=False, timeout=300,
    )  # fmt: skip


def test_full_disk_keeps_the_old_file(tmp_path: Path) -> None:
    names = [tmp_path / f"g.{suffix}" for suffix in SUFFIXES]
    for name in names:
        name.write_text("old")
    code = LIMITED + (
        "for name in sys.argv[1:]:\n"
        "    try:\n"
        "        fr.write(graph, name)\n"
        "    except fr.GraphError as error:\n"
        "        print(error)\n"
    )
    done = python(code, *names)
    assert done.stdout.splitlines() == [f"{name}: cannot be written: File too large" for name in names], done.stderr
    assert sorted(tmp_path.iterdir()) == sorted(names)
    assert all(name.read_text() == "old" for name in names)


@pytest.mark.parametrize("suffix", ["csv", "npz", "json"])
def test_results_of_the_command_line_on_a_full_disk(tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"out.{suffix}"
    out.write_text("old")
    code = (
        "import resource, sys\nfrom frontier.cli import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "sys.exit(main(['bfs', 'path:1000', '--backend', 'python', '--source', '0', '--output', sys.argv[1]]))"
    )
    done = python(code, out)
    assert done.returncode == 2
    assert done.stderr == f"frontier: {out}: File too large\n"
    assert out.read_text() == "old"
    assert list(tmp_path.iterdir()) == [out]


def full(*_: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_traces_are_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with fr.trace() as trace:
        fr.bfs(fr.path(3).to("python"), 0)
    name = tmp_path / "trace.json"
    trace.to_json(name)
    trace.to_chrome(tmp_path / "chrome.json")
    before = name.read_bytes()
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        trace.to_json(name)
    assert name.read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["chrome.json", "trace.json"]
    for each in tmp_path.iterdir():
        json.loads(each.read_text(), parse_constant=pytest.fail)


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, MemoryError])
def test_error_on_the_way(tmp_path: Path, error: type[BaseException]) -> None:
    def half() -> None:
        with replacing(name) as file:
            file.write(b"half of the new ")
            raise error

    name = tmp_path / "file"
    name.write_text("old")
    with pytest.raises(error):
        half()
    assert name.read_text() == "old"
    assert list(tmp_path.iterdir()) == [name]


def test_mode(tmp_path: Path) -> None:
    graph, new, old = fr.path(3), tmp_path / "new.el", tmp_path / "old.el"
    old.touch()
    old.chmod(0o640)
    before = os.umask(0o027)
    try:
        fr.write(graph, new)
        fr.write(graph, old)
        old.chmod(0o604)
        fr.write(graph, old)
    finally:
        os.umask(before)
    assert stat.S_IMODE(new.stat().st_mode) == 0o640
    assert stat.S_IMODE(old.stat().st_mode) == 0o604


def test_links_stay(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, target in (("link.el", "old.el"), ("to_nothing.el", "new.el")):
        (tmp_path / name).symlink_to(Path("folder") / target)
    (folder / "old.el").write_text("old")
    for name in ("link.el", "to_nothing.el"):
        fr.write(fr.path(3), tmp_path / name)
        assert (tmp_path / name).is_symlink()
        assert fr.read(tmp_path / name).num_vertices == 3
    assert sorted(each.name for each in folder.iterdir()) == ["new.el", "old.el"]


def test_files_that_may_not_be_written(tmp_path: Path) -> None:
    """As a user for whom something is forbidden, which nothing is for root."""
    folder = tmp_path / "locked"  # in which nothing can stand beside a file
    folder.mkdir()
    for name, mode in (("readonly.el", 0o444), ("locked/g.el", 0o666)):
        (tmp_path / name).write_text("0 1\n")
        (tmp_path / name).chmod(mode)
    tmp_path.chmod(0o777)
    folder.chmod(0o555)
    for parent in tmp_path.parents[:2]:  # of pytest's own folders
        parent.chmod(0o755)
    code = (
        "import os, sys\nimport frontier as fr\n"
        "graph = fr.path(3)\nfr.write(graph, 'before.el')\n"
        "os.setuid(65534) if os.geteuid() == 0 else None\n"
        "for name in ('readonly.el', 'locked/g.el', 'locked/new.el'):\n"
        "    try:\n"
        "        fr.write(graph, name)\n"
        "        print(name, 'written')\n"
        "    except fr.GraphError as error:\n"
        "        print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path, env=environment(), text=True, capture_output=True, check=False, timeout=300,
    )  # fmt: skip
    folder.chmod(0o755)
    assert done.stdout.splitlines() == [
        "readonly.el: cannot be written: Permission denied",
        "locked/g.el written",
        "locked/new.el: cannot be written: Permission denied",
    ], done.stderr
    assert (tmp_path / "readonly.el").read_text() == "0 1\n"
    assert (folder / "g.el").read_text().endswith("0 1\n1 2\n")
    assert [each.name for each in folder.iterdir()] == ["g.el"]


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("format", ["csv", "mtx", "npz"])
def test_named_pipe(tmp_path: Path, format: str, zipped: bool) -> None:
    pipe = tmp_path / ("pipe.gz" if zipped else "pipe")
    os.mkfifo(pipe)
    graph = fr.rmat(12, seed=1)  # more than a pipe holds
    writer = threading.Thread(target=fr.write, args=(graph, pipe, format), daemon=True)
    writer.start()
    with pipe.open("rb") as file:
        data = file.read()
    writer.join(60)
    assert pipe.is_fifo()
    got = tmp_path / f"g.{format}"
    got.write_bytes(gzip.decompress(data) if zipped else data)
    assert fr.read(got, duplicates="keep").targets.tolist() == graph.targets.tolist()


def test_standard_output(tmp_path: Path) -> None:
    code = "import frontier as fr\nfr.write(fr.path(3), '/dev/stdout', 'el')"
    expected = (0, "# frontier: vertices=3 directed=no weighted=no\n0 1\n1 2\n", "")
    done = python(code)
    assert (done.returncode, done.stdout, done.stderr) == expected
    with (tmp_path / "out").open("wb") as out:
        subprocess.run([sys.executable, "-c", code], env=environment(FRONTIER_QUIET="1"), stdout=out, check=True)
    assert (tmp_path / "out").read_text() == expected[1]


def test_device_that_is_full() -> None:
    with pytest.raises(fr.GraphError, match=r"/dev/full: cannot be written: No space left on device"):
        fr.write(fr.path(3), "/dev/full", "el")
    assert main(["convert", "karate", "/dev/null"]) == 2  # what format?


def test_folder_as_a_file(tmp_path: Path) -> None:
    (tmp_path / "g.el").mkdir()
    with pytest.raises(fr.GraphError, match=r"g\.el: cannot be written: Is a directory"):
        fr.write(fr.path(3), tmp_path / "g.el")


@pytest.mark.parametrize("suffix", ["npz", "npz.gz"])
def test_archives_are_not_made_in_memory(tmp_path: Path, suffix: str) -> None:
    graph = fr.from_csr(np.zeros(2**24, np.int32), np.empty(0, np.int32))
    tracemalloc.start()
    try:
        fr.write(graph, tmp_path / f"g.{suffix}")
        assert tracemalloc.get_traced_memory()[1] < graph.offsets.nbytes // 2
    finally:
        tracemalloc.stop()
    assert fr.read(tmp_path / f"g.{suffix}").num_vertices == 2**24 - 1
