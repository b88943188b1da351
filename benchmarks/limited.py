"""Parts of ``benchmarks.residence`` that run in a process of their own, which may use little memory.

A control group limits all of its memory, and with it the pages of files that the system keeps for it. Where none can be
made (that takes the rights to), only the data of the process itself are limited.
"""

from __future__ import annotations

import json
import mmap
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import frontier as fr
from frontier.io.stored import arrays_noted
from frontier.memory.disk import file_of

#: Where memory groups are, and the files with their limit and their peak: version 1 and 2.
GROUPS = (
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.max_usage_in_bytes"),
    ("/sys/fs/cgroup", "memory.max", "memory.peak"),
)

#: Iterations of PageRank in the shorter of two runs, and in the longer one.
SHORT, LONG = 1, 3


def limited(limit: int, *words: str) -> dict[str, Any]:
    """Run a part; what it returns, with ``how`` its memory was limited and its ``peak``, in bytes."""
    with _group(limit) as (folder, peak):
        command = [sys.executable, "-m", "benchmarks.limited", str(limit), str(folder or ""), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit((done.stderr.strip() or f"ended with {done.returncode}").splitlines()[-1])
        found: dict[str, Any] = json.loads(done.stdout)
        if folder is None:
            return {**found, "how": "its own data", "peak": found["resident"]}
        return {**found, "how": "control group", "peak": int((folder / peak).read_text())}


@contextmanager
def _group(limit: int) -> Iterator[tuple[Path | None, str]]:
    """A new group with a limit, if one can be made; and the name of the file with its peak."""
    for parent, most, peak in GROUPS:
        folder = Path(parent) / f"frontier-{os.getpid()}"
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            if (folder / most).exists():
                (folder / most).write_text(str(limit))
                yield folder, peak
                return
        finally:
            folder.rmdir()
    yield None, ""


def forget(path: Path, mapped: Any = None) -> None:
    """Let the system forget a file that may be mapped."""
    if mapped is not None:
        found = file_of(mapped)
        assert found is not None
        found[0].madvise(mmap.MADV_DONTNEED)  # pages that are mapped are kept
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def read_plainly(path: Path) -> None:
    """Read a file in order."""
    buffer = memoryview(bytearray(1 << 24))
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def ranks(g: fr.Graph, times: int) -> Any:
    """PageRank after so many iterations, with numbers of 32 bits where it may."""
    try:
        found = fr.pagerank(g, tolerance=1e-6, max_iterations=times)
    except fr.NotConvergedError as error:
        found = error.result
    assert found.iterations == times, "it has converged"
    return found.rank


# ---- what runs there -----------------------------------------------------------------------------------------


def building(path: str, out: str, memory: str) -> dict[str, Any]:
    """Make a Frontier graph of a file of edges."""
    start = time.perf_counter()
    fr.convert(path, out, memory=memory, directed=False, duplicates="keep", progress=False)
    return {"seconds": time.perf_counter() - start}


def running(path: str) -> dict[str, Any]:
    """PageRank and BFS of a Frontier graph, whose results are left beside it: seconds, bytes read, seconds of cores."""
    there = Path(path)
    file = there / arrays_noted(path)["targets"]["file"]
    tiny = fr.karate().to("cpu", edges="disk")
    ranks(tiny, 1)  # which compiles it
    fr.bfs(tiny, 0)
    g = fr.open(there).to("cpu", edges="disk")
    source = int(np.argmax(g.out_degree))

    def measured(call: Callable[[], Any]) -> tuple[Any, Any]:
        forget(file, g.targets)
        before = np.array([time.perf_counter(), _bytes_read(), time.process_time()])
        found = call()
        return found, np.array([time.perf_counter(), _bytes_read(), time.process_time()]) - before

    readers = [measured(lambda: read_plainly(file))[1].tolist()]
    short, first = measured(lambda: ranks(g, SHORT))
    long, last = measured(lambda: ranks(g, LONG))
    level, search = measured(lambda: fr.bfs(g, source).level)
    readers.append(measured(lambda: read_plainly(file))[1].tolist())
    for name, values in (("short", short), ("long", long), ("level", level)):
        np.save(there.parent / f"{name}.npy", values)
    return {
        "readers": readers, "source": source, "first": first.tolist(), "search": search.tolist(),
        "iteration": ((last - first) / (LONG - SHORT)).tolist(),
    }  # fmt: skip


def _bytes_read() -> int:
    """Bytes that this process has had read from disks."""
    lines = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(lines["read_bytes"])


def _resident() -> int:
    """Bytes in memory at most (getrusage would count those of the process that began this one)."""
    lines = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines["VmHWM"].split()[0]) * 1024


def main(limit: str, group: str, what: str, *words: str) -> None:
    """Run what is asked for in the group."""
    if group:
        (Path(group) / "cgroup.procs").write_text("0")
    else:
        resource.setrlimit(resource.RLIMIT_DATA, (int(limit), int(limit)))
    found = {"building": building, "running": running}[what](*words)
    print(json.dumps({**found, "resident": _resident()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
