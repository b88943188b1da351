"""Children of a process that uses Frontier: forked, spawned, of pools and of joblib; docs/debugging.md promises it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest
from processes import environment

from frontier.system import forks

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forked processes")


def forked(child) -> int:
    """The exit status of a forked child that ends with what a function gives."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 and newer warn of threads
        number = os.fork()
    if number == 0:
        os._exit(child())
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


def test_a_fork_waits_for_threads_that_compile():
    done, begun = [], threading.Event()

    def work():
        with forks.busy(), forks.busy():
            begun.set()
            time.sleep(0.2)
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    assert forked(lambda: 0 if done and not forks._busy else 1) == 0
    thread.join()
    assert not forks._busy


def test_a_busy_thread_may_fork():
    with forks.busy():
        assert forked(lambda: len(forks._busy) - 1) == 0


def test_locks_that_are_held_for_moments_are_open_in_a_child():
    lock, held, end = forks.renewed(threading.RLock()), threading.Event(), threading.Event()

    def work():
        with lock:
            held.set()
            end.wait()

    thread = threading.Thread(target=work)
    thread.start()
    held.wait()
    assert forked(lambda: 0 if lock.acquire(timeout=1) else 1) == 0
    end.set()
    thread.join()


def test_a_fork_does_not_wait_for_ever(monkeypatch):
    monkeypatch.setattr(forks, "PATIENCE", 0.1)
    said = []
    monkeypatch.setattr(forks.warnings, "warn", lambda text, *_: said.append(text))
    begun, end = threading.Event(), threading.Event()

    def work():
        with forks.busy():
            begun.set()
            end.wait()

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    assert forked(lambda: 0) == 0
    end.set()
    thread.join()
    assert len(said) == 1
    assert "start method 'spawn'" in said[0]


# -- what docs/debugging.md promises -----------------------------------------------------------------------------


COMPILING = """
import os, signal, sys, threading, time
import frontier as fr

delay, number = float(sys.argv[1]), {number}
g = fr.karate()

def fill(p, v):
    p.x[v] = v * number

def work():
    fr.compute(fr.Problem(g, x=fr.vertex("int64")), fr.Frontier.all(g), fill)

thread = threading.Thread(target=work)
thread.start()
time.sleep(delay)
child = os.fork()
if child == 0:
    signal.alarm(100)
    os._exit(0 if fr.bfs(g, 1).level.max() == 3 else 1)
status = os.waitpid(child, 0)[1]
thread.join()
sys.exit(status != 0)
"""

PARENT = """
import concurrent.futures, multiprocessing, sys, threading
import frontier as fr

def search(source):
    return int(fr.bfs(fr.grid(150, 150), source).level.max())

if __name__ == "__main__":
    fr.set_num_threads(2)
    expected = [search(source) for source in range(4)]
    threads = [threading.Thread(target=search, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    way = sys.argv[1]
    if way in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(way).Pool(2) as pool:
            found = pool.map(search, range(4))
    elif way == "futures":
        with concurrent.futures.ProcessPoolExecutor(2) as pool:
            found = list(pool.map(search, range(4)))
    else:
        import joblib

        found = joblib.Parallel(2, backend=way)(joblib.delayed(search)(i) for i in range(4))
    for thread in threads:
        thread.join()
    assert found == expected, (found, expected)
    print("same")
"""


def run(folder: Path, program: str, argument: str) -> subprocess.CompletedProcess[str]:
    path = folder / "program.py"
    path.write_text(program)
    return subprocess.run(
        [sys.executable, "-W", "ignore", path, argument], env=environment(FRONTIER_QUIET="1"), text=True,
        capture_output=True, check=False, timeout=300,
    )  # fmt: skip


@pytest.mark.deep
@pytest.mark.parametrize("delay", [0.02, 0.1, 0.3, 0.7, 1.2])
def test_a_fork_while_another_thread_compiles(tmp_path, delay):
    done = run(tmp_path, COMPILING.replace("{number}", str(time.time_ns() % 10**12)), str(delay))
    assert done.returncode == 0, done.stderr


@pytest.mark.deep
@pytest.mark.parametrize("way", ["fork", "spawn", "forkserver", "futures", "loky", "threading"])
def test_children_of_a_process_that_has_used_several_threads(tmp_path, way):
    if way in ("loky", "threading"):
        pytest.importorskip("joblib", reason="joblib is not installed")
    done = run(tmp_path, PARENT, way)
    assert (done.returncode, done.stdout) == (0, "same\n"), done.stderr
