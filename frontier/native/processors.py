"""How many processors a process may use: its affinity, and the share that its control groups allow it (containers)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

__all__ = ["processors"]

#: The controller of control groups that limits processor time.
CONTROLLER = "cpu"


@cache
def processors() -> int:
    """How many threads of this process may run at the same time, at least 1.

    A quota of control groups that is not whole is rounded down: of three threads with 2.5 processors all would be
    stopped, at the same time, in every period.
    """
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, int(min(count, quota(Path("/")))))


def quota(root: Path) -> float:
    """The processors that this process's control groups, and all above them, leave it; infinite without a limit."""
    return min(_quotas(root), default=float("inf"))


def _quotas(root: Path) -> Iterator[float]:
    mounted = root / "sys/fs/cgroup"
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, names, group = (*line.split(":", 2), "", "")[:3]
        if not names:  # version 2, and where both are used, its part of them
            for tree in (mounted, mounted / "unified"):
                yield from (_version_2(folder) for folder in _up(tree, group))
        elif CONTROLLER in names.split(","):
            for tree in (mounted / names, mounted / "cpu"):
                yield from (_version_1(folder) for folder in _up(tree, group))


def _up(tree: Path, group: str) -> Iterator[Path]:
    """The folder of a group, and those above it; in a container only the last may exist, which is its own."""
    own = tree / group.lstrip("/")
    yield own
    yield from (folder for folder in own.parents if folder == tree or tree in folder.parents)


def _version_2(folder: Path) -> float:
    given = _text(folder / "cpu.max").split()
    return _ratio(*given) if len(given) == 2 else float("inf")


def _version_1(folder: Path) -> float:
    return _ratio(_text(folder / "cpu.cfs_quota_us"), _text(folder / "cpu.cfs_period_us"))


def _ratio(most: str, period: str) -> float:
    try:
        limit, each = int(most), int(period)
    except ValueError:  # "max", or nothing is there
        return float("inf")
    return limit / each if limit > 0 and each > 0 else float("inf")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""
