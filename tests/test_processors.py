"""The number of threads: processors that a process may use, and what the environment variable says."""

from __future__ import annotations

from pathlib import Path

import pytest

import frontier as fr
from frontier.native import threads
from frontier.native.processors import quota

#: Files below the root of the file system -> the processors that they leave.
GROUPS = {
    "none": ({}, float("inf")),
    "version 2": ({"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/b/cpu.max": "250000 100000"}, 2.5),
    "unlimited": ({"proc/self/cgroup": "0::/a", "sys/fs/cgroup/a/cpu.max": "max 100000"}, float("inf")),
    "the group above": (
        {
            "proc/self/cgroup": "0::/a/b",
            "sys/fs/cgroup/a/b/cpu.max": "300000 100000",
            "sys/fs/cgroup/a/cpu.max": "100000 100000",
        },
        1,
    ),
    "a container": ({"proc/self/cgroup": "0::/not/here", "sys/fs/cgroup/cpu.max": "50000 100000"}, 0.5),
    "version 1": (
        {
            "proc/self/cgroup": "4:memory:/x\n3:cpu,cpuacct:/a",
            "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us": "150000",
            "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us": "50000",
        },
        3,
    ),
    "version 1, unlimited": (
        {
            "proc/self/cgroup": "3:cpu:/",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
        },
        float("inf"),
    ),
    "nonsense": ({"proc/self/cgroup": "?\n0::/", "sys/fs/cgroup/cpu.max": "0 0"}, float("inf")),
}


@pytest.mark.parametrize("name", GROUPS)
def test_what_control_groups_leave(name: str, tmp_path: Path) -> None:
    files, expected = GROUPS[name]
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(f"{text}\n")
    assert quota(tmp_path) == expected


@pytest.mark.parametrize("text", ["abc", "-1", "1e9", "0", "2.5", "1000000000", "٣", "4097", "9" * 5000])
def test_a_variable_that_is_no_number_of_threads_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_count", None)
    monkeypatch.setenv("FRONTIER_NUM_THREADS", text)
    with pytest.raises(fr.GraphError, match=r"FRONTIER_NUM_THREADS=.*: the number of threads is an integer from 1 to"):
        fr.num_threads()


@pytest.mark.parametrize(("text", "count"), [("3", 3), (" 2 ", 2), ("4096", 4096), ("007", 7)])
def test_a_variable_that_is_one(text: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_count", None)
    monkeypatch.setenv("FRONTIER_NUM_THREADS", text)
    assert fr.num_threads() == count


def test_without_it_the_processors_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_count", None)
    monkeypatch.delenv("FRONTIER_NUM_THREADS", raising=False)
    monkeypatch.setattr(threads, "processors", lambda: 5)
    assert fr.num_threads() == 5


def test_too_many_threads_are_refused() -> None:
    with pytest.raises(fr.GraphError, match="at most 4096"):
        fr.set_num_threads(10**9)
