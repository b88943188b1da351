"""What killed processes leave is deleted when something is written in the same place."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from processes import environment

import frontier as fr
from frontier.io._folders import replacing_folder
from frontier.system import leftovers
from frontier.system.atomic_write import replacing

pytestmark = pytest.mark.skipif(leftovers.fcntl is None, reason="locks are there on POSIX only")


def left(folder: Path, name: str, is_folder: bool = False) -> Path:
    """What a killed process leaves."""
    path = folder / leftovers.unfinished(name)
    if is_folder:
        path.mkdir()
        (path / "targets.bin").write_bytes(b"x")
    else:
        path.write_bytes(b"x")
    return path


def test_what_is_nobodys_goes(tmp_path: Path) -> None:
    gone = left(tmp_path, ".g.el"), left(tmp_path, ".other.npz")
    fr.write(fr.path(3), tmp_path / "g.el")
    assert not any(path.exists() for path in gone)
    assert sorted(os.listdir(tmp_path)) == ["g.el"]


def test_folders_too(tmp_path: Path) -> None:
    gone, other = left(tmp_path, "g.frontier", True), left(tmp_path, "h.frontier", True)
    fr.write(fr.path(3), tmp_path / "g.frontier")
    assert not gone.exists()
    assert other.exists()  # goes when that graph is written
    assert sorted(os.listdir(tmp_path / "g.frontier")) == ["graph.json", "offsets.bin", "targets.bin"]


def test_what_is_being_written_stays(tmp_path: Path) -> None:
    """By this process, or by another, also where the file is closed and not yet renamed."""
    with replacing(tmp_path / "a.el") as file, replacing_folder(str(tmp_path / "a.frontier")) as folder:
        Path(folder, "graph.json").write_text("{}")
        before = set(os.listdir(tmp_path))
        with replacing(tmp_path / "b.el"), replacing_folder(str(tmp_path / "b.frontier")):
            pass
        assert before <= set(os.listdir(tmp_path))
        file.write(b"0 1\n")
    assert (tmp_path / "a.el").read_bytes() == b"0 1\n"
    assert sorted(os.listdir(tmp_path)) == ["a.el", "a.frontier", "b.el", "b.frontier"]


def test_what_looks_alike_stays(tmp_path: Path) -> None:
    machine = leftovers._machine()
    names = [".g.el.0a1b2c3d.tmp", ".g.el.tmp", ".g.el.frontier-00000000-0a1b2c3d.tmp", "frontier-0a1b2c3d.tmp"]
    for name in names:
        (tmp_path / name).write_text("x")
    (tmp_path / f".f.frontier-{machine}-0a1b2c3d.tmp").mkdir()
    (tmp_path / f".l.frontier-{machine}-0a1b2c3d.tmp").symlink_to(tmp_path / names[0])
    before = set(os.listdir(tmp_path))
    fr.write(fr.path(3), tmp_path / "g.el")
    assert set(os.listdir(tmp_path)) == {*before, "g.el"}


def test_deleted_before_it_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process may look at a file before its writer has locked it: then the writer makes another."""
    ask = leftovers.is_mine
    asked: list[str] = []

    def first_deleted(handle: int, path: str) -> bool:
        asked.append(path)
        if len(asked) == 1:
            leftovers.sweep(str(tmp_path))
        return ask(handle, path)

    monkeypatch.setattr("frontier.system.atomic_write.is_mine", first_deleted)
    fr.write(fr.path(3), tmp_path / "g.el")
    assert len(asked) == 2
    assert fr.read(tmp_path / "g.el", directed=False).num_edges == 2


KILLED = """
import sys, time
import frontier as fr
from frontier.io import stored
from frontier.io.npz import save
def stops(*_, **__):
    print("there", flush=True)
    time.sleep(100)
stored.Folder.finish = stops
import frontier.io.npz as npz
npz.np.savez = stops
fr.write(fr.path(9), sys.argv[1])
"""


@pytest.mark.deep
@pytest.mark.parametrize("name", ["g.npz", "g.frontier"])
def test_a_killed_writer(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)], env=environment(), stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "there\n"
    fr.write(fr.path(4), path)  # while it is at work
    assert len(os.listdir(tmp_path)) == 2
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert len(os.listdir(tmp_path)) == 2
    fr.write(fr.path(5), path)
    assert os.listdir(tmp_path) == [name]
    assert fr.read(path).num_vertices == 5
