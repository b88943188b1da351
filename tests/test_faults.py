"""Files that are cut off while they are mapped: an error for whoever reads a graph, a signal for everyone else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import frontier as fr
from frontier.memory import disk, faults

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.uname().machine not in ("x86_64", "aarch64"), reason="only there is a handler"
)

#: A file of three pages, and what reads its last one when it is gone.
BEGIN = """
import ctypes, faulthandler, mmap, os, signal, sys, threading, time
import numpy as np
import frontier as fr
from frontier.memory.disk import mapped, reading, file_of
size = 3 * mmap.PAGESIZE
def file(name):
    with open(name, "wb") as out:
        out.write(b"1" * size)
    return mapped(name, np.uint8, size)
ours = file("ours")
guarded = lambda zeros=True: reading([file_of(ours)[0]], zeros)
"""

#: What unrelated code reads: a file that the process has mapped by itself.
THEIRS = """
with open("theirs", "w+b") as out:
    out.write(b"1" * size)
    out.flush()
    theirs = np.frombuffer(mmap.mmap(out.fileno(), size, access=mmap.ACCESS_READ), np.uint8)
os.truncate("theirs", 0)
theirs.sum()
"""


def run(tmp_path: Path, text: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([os.getcwd(), *sys.path])
    return subprocess.run(
        [sys.executable, "-c", BEGIN + text], cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths},
        check=False, capture_output=True, text=True,
    )  # fmt: skip


CUT = """
fr.write(fr.rmat(13, 16, seed=1), "g.frontier")
g = fr.open("g.frontier")
fr.pagerank(g)
def cut():
    time.sleep(0.02)
    os.truncate("g.frontier/targets.bin", 4096)
threading.Thread(target=cut).start()
while True:
    fr.pagerank(g, tolerance=0.0, max_iterations=200)
"""


@pytest.mark.parametrize("before", ["", "faulthandler.enable()"])
def test_a_file_that_is_cut_off_in_a_pass(tmp_path: Path, before: str) -> None:
    done = run(tmp_path, before + CUT)
    assert done.returncode == 1, done
    assert done.stderr.splitlines()[-1].endswith(
        "GraphError: g.frontier/targets.bin: the file has changed since it was opened; open the graph again"
    )


ZEROS = """
def check(what):
    try:
        with guarded():
            os.truncate("ours", 10)
            what()
    except fr.GraphError as error:
        print(error, flush=True)
def last():
    print(ours[mmap.PAGESIZE :].max(), flush=True)
def elsewhere():
    thread = threading.Thread(target=last)
    thread.start()
    thread.join()
def in_a_child():
    child = os.fork()
    if child == 0:
        last()
        os._exit(0)
    print("ended", os.waitpid(child, 0)[1])
def by_the_system():
    os.write(1, ours[mmap.PAGESIZE :].data)
"""


@pytest.mark.parametrize(
    ("what", "expected"),
    [("last", "0\n"), ("elsewhere", "0\n"), ("in_a_child", "0\nended 0\n"), ("by_the_system", "")],
)
def test_what_is_gone_is_read_as_zeros(tmp_path: Path, what: str, expected: str) -> None:
    """Whoever reads it meanwhile. Where the system itself reads it, a call fails, which comes to the same error."""
    done = run(tmp_path, f"{ZEROS}check({what})")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{expected}ours: the file has changed since it was opened; open the graph again\n"


#: Outside of a block that is watched, or inside of one that is not.
OURS = "os.truncate('ours', 0); ours.sum()"
INSIDE = "with guarded(False): os.truncate('ours', 0); ours.sum()"


@pytest.mark.parametrize("cause", [THEIRS, "os.kill(os.getpid(), signal.SIGBUS)", OURS, INSIDE])
@pytest.mark.parametrize("dump", ["before", "after", "none"])
def test_other_signals_end_the_process(tmp_path: Path, cause: str, dump: str) -> None:
    """The process dies of it as ever, and Python's own handler tells where."""
    enable = "\nfaulthandler.enable()\n"
    begin = enable * (dump == "before") + "\nwith guarded():\n    pass\n" + enable * (dump == "after")
    done = run(tmp_path, begin + cause)
    assert done.returncode == -signal.SIGBUS
    assert ("Fatal Python error: Bus error" in done.stderr) == (dump != "none")
    assert done.stderr.count("Fatal Python error") <= 1


def test_a_graph_that_is_copied(tmp_path: Path) -> None:
    text = '''
from frontier.memory.host import HostMemory
fr.write(fr.rmat(13, 16, seed=1), "g.frontier")
g, moved = fr.open("g.frontier"), HostMemory.moved
def cutting(self, values, copy=False):
    os.truncate("g.frontier/targets.bin", 0)
    return moved(self, values, copy)
HostMemory.moved = cutting
g.to("cpu", edges="host")
'''
    done = run(tmp_path, text)
    assert done.returncode == 1
    assert "targets.bin: the file has changed since it was opened" in done.stderr.splitlines()[-1]


def test_a_handler_of_the_user_stays(tmp_path: Path) -> None:
    text = """
signal.signal(signal.SIGBUS, lambda number, frame: print("seen"))
with guarded():
    os.truncate("ours", 0)
    for _ in range(2):
        os.kill(os.getpid(), signal.SIGBUS)
    print(ours.max())
"""
    done = run(tmp_path, text)
    assert (done.returncode, done.stdout) == (1, "seen\nseen\n0\n")
    assert "GraphError: ours: the file has changed" in done.stderr


def test_ranges_are_free_again(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(8))
    left = len(faults._free)
    for _ in range(3):
        held = [disk.mapped(str(tmp_path / "file"), np.uint8, 8) for _ in range(5)]
        assert len(faults._free) == left - 5
        del held
        assert len(faults._free) == left


def test_more_files_than_ranges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faults, "_free", [])
    fr.write(fr.path(9), tmp_path / "g.frontier")
    assert fr.bfs(fr.open(tmp_path / "g.frontier"), 0).level[8] == 8


def test_a_part_that_cannot_be_read(tmp_path: Path) -> None:
    """A disk that fails leaves the file as it was."""
    fr.write(fr.path(9), tmp_path / "g.frontier")
    g = fr.open(tmp_path / "g.frontier")
    found = disk.file_of(g.targets)
    assert found is not None
    assert found[0]._range is not None
    faults._table[found[0]._range._row + faults.LOST] = 1
    with pytest.raises(fr.GraphError, match=r"targets\.bin: the file could not be read"):
        fr.bfs(g, 0)
