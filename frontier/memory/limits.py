"""How much host memory this process can still allocate: limits of the machine, its container, its address space.

:func:`parsed` reads numbers of bytes that users give.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from frontier.errors import GraphError

__all__ = ["address_space_left", "free", "parsed"]

#: What no machine has, for where nothing is known.
UNKNOWN = 1 << 62

_UNITS = {"": 1, "B": 1, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "KB": 10**3, "MB": 10**6, "GB": 10**9}


def free() -> tuple[int, str]:
    """Bytes that can still be had, and in words what limits them; the tightest of all limits counts."""
    found = [(_machine(), "")]
    space = address_space_left()
    if space is not None:
        found.append((space, " in the address space of this process, which ulimit -v limits"))
    found += [(max(0, left), " under the limit of this process's container") for left in _groups()]
    return min(found)


def _machine() -> int:
    """Return the free memory that the system reports, or else the total memory."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass  # not Linux, or hidden: asked otherwise
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return UNKNOWN


def address_space_left() -> int | None:
    """Bytes of address space that may still be mapped; None where that is not limited, as it nearly always is not."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        with open("/proc/self/statm", "rb") as file:
            used = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # a system that knows the limit and does not keep to it
        return None
    return max(0, limit - used)


# -- containers -------------------------------------------------------------------------------------


def _groups() -> Iterator[int]:
    """Bytes left in each control group that this process is in and that has a limit."""
    for folder, limit, usage, idle in _group_files():
        try:
            most = (folder / limit).read_text(encoding="ascii").strip()
            if most == "max" or int(most) >= UNKNOWN:
                continue
            used = int((folder / usage).read_text(encoding="ascii"))
            # files that the system caches in otherwise unused memory
            given_back = _line(folder / "memory.stat", idle)
        except (OSError, ValueError):  # it has just ended, or is hidden
            continue
        yield int(most) - used + given_back


def _line(path: Path, name: str) -> int:
    for line in path.read_text(encoding="ascii").splitlines():
        if line.startswith(name + " "):
            return int(line.split()[1])
    return 0


@cache
def _group_files() -> list[tuple[Path, str, str, str]]:
    """The folder of each control group of this process that can be limited, and the names of its files."""
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if number == "0":
            root, files = Path("/sys/fs/cgroup"), ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            root = Path("/sys/fs/cgroup/memory")
            files = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        inner = root / path.lstrip("/")
        folders = [inner, *inner.parents]
        for folder in folders[: folders.index(root) + 1]:
            if (folder / files[0]).exists():
                found.append((folder, *files))
    return found


def parsed(size: int | str) -> int:
    """Return a number of bytes that is given as such, or as a string like ``"4GiB"``.

    Raises
    ------
    GraphError
        If it is neither.
    """
    text = str(size).strip().upper()
    digits = text.rstrip("KMGIB ")
    unit = text[len(digits) :].strip()
    try:
        number = float(digits) * _UNITS[unit]
    except (KeyError, ValueError):
        number = -1
    if not 0 <= number < 2**63:
        raise GraphError(f"memory={size!r}: expected a number of bytes, as 2**32 or '4GiB'")
    return int(number)
