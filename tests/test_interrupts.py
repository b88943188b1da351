"""Ctrl-C while code is compiled: nothing half-made stays, so the next run is right."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import frontier as fr
from frontier.native import uninterrupted

ROOT = Path(fr.__file__).parents[1]

#: Interrupts runs after longer and longer times, until one comes to its end; every run is repeated.
PROGRAM = """
import signal, sys, _thread, threading
import frontier as fr

def interrupt(*_):
    raise KeyboardInterrupt

way, first = sys.argv[1], float(sys.argv[2])
signal.signal(signal.SIGALRM, interrupt)
g = fr.grid(5, 5, weights=(1, 9), seed=1)

def made(number):
    def relax(p, src, dst, weight):
        new = p.near[src] + weight + number
        return new < p.near[dst] and new < fr.atomic_min(p.near, dst, new)
    def one(p, src, dst):
        return number
    return fr.Sequence(
        fr.Loop(fr.Advance(relax)),
        fr.Gather(one, "sum", into="sum", over="vertices"),
        fr.Reduce(lambda p, v: p.sum[v], "sum", into="total", over="vertices"),
    )

def result(number, backend):
    p = fr.Problem(g.to(backend), near=fr.vertex("float64", 1e9), sum=fr.vertex("int64"), total=fr.scalar("int64"))
    p.near[0] = 0
    made(number)(p, fr.Frontier(p.graph, [0]))
    return p.near.tolist(), p.sum.tolist(), int(p.total)

delay, number, struck = first, 0, 0
while True:
    number += 1
    try:
        if way == "timer":
            signal.setitimer(signal.ITIMER_REAL, delay)
        else:
            threading.Timer(delay, _thread.interrupt_main).start()
        result(number, "cpu")
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        struck += 1
        for _ in range(2):
            assert result(number, "cpu") == result(number, "python")
    else:
        break
    delay *= 1.9
print("struck", struck)
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers by signals here")
@pytest.mark.parametrize(("way", "first"), [("timer", 0.01), ("interrupt", 0.02)])
def test_a_run_after_an_interrupted_one_is_right(way: str, first: float, tmp_path: Path) -> None:
    """At any moment: while numba is imported, while functors are typed, while LLVM works."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "FRONTIER_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, way, str(first)], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[1]) >= 3


def test_what_is_made_apart() -> None:
    """By another thread, with the caller's context; its errors are the caller's."""
    assert uninterrupted.apart(threading.current_thread) is not threading.current_thread()
    assert uninterrupted.apart(lambda: uninterrupted.apart(threading.current_thread) is threading.current_thread())
    with pytest.raises(ZeroDivisionError):
        uninterrupted.apart(lambda: 1 // 0)
    with pytest.raises(KeyboardInterrupt):
        uninterrupted.apart(lambda: (_ for _ in ()).throw(KeyboardInterrupt()))
    found: list[Any] = []
    other = threading.Thread(target=lambda: found.append(uninterrupted.apart(threading.current_thread)))
    other.start()
    other.join()
    assert found == [other]


def test_the_caller_is_interrupted_at_once_and_the_work_goes_on() -> None:
    may_end, ended = threading.Event(), threading.Event()

    def work() -> None:
        signal.raise_signal(signal.SIGINT)  # handled by the main thread
        may_end.wait(60)
        ended.set()

    with pytest.raises(KeyboardInterrupt):
        uninterrupted.apart(work)
    assert not ended.is_set()
    may_end.set()
    assert ended.wait(60)


def test_a_process_that_ends_waits_for_the_compiler(tmp_path: Path) -> None:
    program = (
        "import signal, time\nfrom frontier.native.uninterrupted import apart\n"
        "def work():\n    signal.raise_signal(signal.SIGINT)\n    time.sleep(1)\n    print('made', flush=True)\n"
        "apart(work)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout == "made\n"
    assert "KeyboardInterrupt" in done.stderr
    assert "waiting for a compilation to end" in done.stderr


TERMINATED = """
import frontier as fr

def again(p, v):
    p.x[v] += 1
    return p.x[v] < 2**60

g = fr.path(50_000)
p = fr.Problem(g.to("cpu"), x=fr.vertex("int64"))
class Endless(fr.Enactor):
    loop = fr.Loop(fr.Filter(again), over="vertices")
fr.set_num_threads(2)
Endless(p).run(on_step=lambda run: run.passes == 3)  # compiled
print("runs", flush=True)
Endless(p).run()
"""


def test_a_terminated_run_ends_at_once(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "FRONTIER_CACHE_DIR": str(tmp_path / "cache")}
    for _ in range(2):  # the second finds what the first has kept
        run = subprocess.Popen([sys.executable, "-c", TERMINATED], env=environment, stdout=subprocess.PIPE, text=True)
        assert run.stdout is not None
        with run.stdout:
            assert run.stdout.readline() == "runs\n"
            run.send_signal(signal.SIGTERM)
            assert run.wait(30) == -signal.SIGTERM
