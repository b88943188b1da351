"""Processes that may take only so much memory end with one clear error of ours, or with the result; they never hang."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import environment

import frontier as fr
from frontier.memory import limits
from frontier.memory.host import HOST
from frontier.memory.reserved import reserved
from frontier.memory.shortage import telling
from frontier.native import address_space

pytest.importorskip("resource", reason="limits of processes are there on POSIX only")
needs_statm = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux keeps to RLIMIT_AS")

SECONDS = 120  # for what takes a few; ends what hangs

LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({limit} * 1024, {limit} * 1024))
import frontier as fr
try:
    {code}
except fr.FrontierMemoryError as error:
    assert isinstance(error, MemoryError) and isinstance(error, fr.FrontierError)
    text = str(error)
    assert "\\n" not in text, text
    print("refused:", text)
else:
    print("done")
"""

PROGRAMS = {
    "rmat": "fr.rmat(20, seed=1)",
    "grid": "fr.grid(2000, 2000)",
    "from_edges": "import numpy as np; fr.from_edges(np.zeros(2**23, 'i4'), np.ones(2**23, 'i4'))",
    "problem": (
        "import numpy as np; g = fr.Graph(np.zeros(2**21, 'i4'), np.empty(0, 'i4'), directed=True)\n"
        "    fr.Problem(g, **{f'x{i}': fr.vertex('float64') for i in range(60)})"
    ),
    "bc": "fr.betweenness(fr.rmat(14, seed=1), [0])",
    "sssp": "fr.sssp(fr.grid(700, 700, weights=(1, 9)), 0)",
    "pagerank": "fr.pagerank(fr.rmat(18, seed=1))",
    "python": "fr.bfs(fr.karate().to('python'), 0)",
}


@needs_statm
@pytest.mark.parametrize("limit", [400_000, 600_000])
@pytest.mark.parametrize(
    ("name", "empty"), [*((name, False) for name in PROGRAMS), ("bc", True)]
)
def test_limited_process(tmp_path: Path, name: str, limit: int, empty: bool) -> None:
    more = {"FRONTIER_CACHE_DIR": str(tmp_path)} if empty else {}
    done = subprocess.run(
        [sys.executable, "-c", LIMITED.format(limit=limit, code=PROGRAMS[name])],
        env=environment(FRONTIER_QUIET="1", FRONTIER_NUM_THREADS="2", **more),
        text=True, capture_output=True, check=False, timeout=SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(("done", "refused: ")), done.stdout
    if name == "python":
        assert done.stdout == "done\n"
    elif limit == 400_000 or name in ("rmat", "problem"):
        assert done.stdout.startswith("refused"), done.stdout
    if done.stdout.startswith("refused"):
        assert " free in the address space of this process, which ulimit -v limits" in done.stdout


@needs_statm
def test_command_line_in_a_limited_process() -> None:
    code = (
        "import resource, sys\nresource.setrlimit(resource.RLIMIT_AS, (600000 * 1024, 600000 * 1024))\n"
        "from frontier.cli import main\nsys.exit(main(['bfs', 'rmat:20']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(FRONTIER_QUIET="1"), text=True, capture_output=True, check=False, timeout=SECONDS,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("frontier: ")
    assert done.stderr.count("\n") == 1
    assert "bytes" in done.stderr


# -- what is free ---------------------------------------------------------------------------


def test_the_tightest_limit_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_machine", lambda: 300)
    monkeypatch.setattr(limits, "address_space_left", lambda: None)
    monkeypatch.setattr(limits, "_groups", lambda: iter([400, 500]))
    assert limits.free() == (300, "")
    monkeypatch.setattr(limits, "_groups", lambda: iter([400, -5]))
    assert limits.free() == (0, " under the limit of this process's container")
    monkeypatch.setattr(limits, "_groups", lambda: iter([]))
    monkeypatch.setattr(limits, "address_space_left", lambda: 20)
    assert limits.free()[0] == 20
    assert "ulimit -v" in limits.free()[1]


def test_control_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = ("memory.max", "memory.current", "inactive_file")
    for name, most in (("inner", "1000\n"), ("outer", "max\n"), ("gone", "1000\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "memory.max").write_text(most)
    for name in ("inner", "outer"):
        (tmp_path / name / "memory.current").write_text("700\n")
        (tmp_path / name / "memory.stat").write_text("anon 500\nactive_file 50\ninactive_file 150\n")
    monkeypatch.setattr(limits, "_group_files", lambda: [(tmp_path / n, *files) for n in ("inner", "outer", "gone")])
    assert list(limits._groups()) == [450]


def test_this_machine() -> None:
    assert 0 < HOST.free() < 2**50


# -- errors ---------------------------------------------------------------------------------


def test_arrays_that_nobody_asked_for_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "free", lambda: (100, " here"))

    @telling("making something")
    def make(count: int) -> Any:
        return np.empty(count)

    assert make(3).shape == (3,)
    with pytest.raises(fr.FrontierMemoryError) as caught:
        make(2**55)
    assert str(caught.value).startswith(
        f"making something: at least {2**58:,} more bytes are needed (268,435,456.0 GiB), 100 are free here"
    )
    assert caught.value.__suppress_context__

    @telling("something else")
    def fail(error: MemoryError) -> None:
        raise error

    with pytest.raises(fr.FrontierMemoryError, match="something else: memory ran out, 100 bytes are free here"):
        fail(MemoryError())
    with pytest.raises(fr.DeviceMemoryError, match="of a GPU"):
        fail(fr.DeviceMemoryError("of a GPU"))


@pytest.mark.parametrize("declared", [False, True])
def test_runs_that_nobody_asked_for_first(monkeypatch: pytest.MonkeyPatch, declared: bool) -> None:
    def greedy(p: Any, v: Any) -> bool:
        raise MemoryError

    monkeypatch.setattr(limits, "free", lambda: (100, " here"))
    g = fr.path(3).to("python")
    p = fr.Problem(g, x=fr.vertex("int32"))
    step = fr.Filter(greedy)
    run = type("Greedy", (fr.Enactor,), {"loop": step})(p).run if declared else lambda f: step(p, f)
    with pytest.raises(fr.FrontierMemoryError, match=r"running .*: memory ran out, 100 bytes are free here"):
        run(fr.Frontier(g, [0]))


def test_what_numba_wraps() -> None:
    outer = RuntimeError("while lowering")
    outer.__cause__ = MemoryError("no room")
    assert address_space.out_of_memory(outer)
    assert address_space.out_of_memory(RuntimeError(MemoryError()))
    assert not address_space.out_of_memory(RuntimeError("no"))


def test_no_room_to_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "address_space_left", lambda: 1000)
    with pytest.raises(fr.FrontierMemoryError, match=r"bytes are needed, 1,000 are free .*python backend"):
        address_space.prepare()


# -- threads --------------------------------------------------------------------------------


@needs_statm
def test_more_threads_than_there_is_room_for() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED.format(limit=700_000, code=PROGRAMS["bc"])],
        env=environment(FRONTIER_QUIET="1", FRONTIER_NUM_THREADS="100"),
        text=True, capture_output=True, check=False, timeout=SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("refused: cannot start another thread for 100"), done.stdout


def test_thread_that_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    from frontier.native import threads

    threads.run(lambda w: None, 2)
    idle = list(threads._idle._threads)

    def start(self: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads._Worker, "start", start)
    with pytest.raises(fr.FrontierMemoryError, match=r"cannot start .*: can't start new thread; fewer threads"):
        threads.run(lambda w: None, len(idle) + 2)
    assert sorted(map(id, threads._idle._threads)) == sorted(map(id, idle))  # given back
    threads.run(lambda w: None, 2)


@pytest.mark.skipif(sys.platform == "win32", reason="it has no addresses without memory")
def test_more_addresses_than_there_are() -> None:
    with pytest.raises(fr.FrontierMemoryError, match="array of a graph in parts: at least 1,152,921,504,606,846,976 "):
        reserved(1 << 57, np.int64)
