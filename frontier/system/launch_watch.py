"""Which processes that MPICH's launcher has started on this host have ended, which it tells nobody; by ``/proc``.

As a program, this is a process beside one that waits for all ranks to begin MPI, since no thread of that one runs
meanwhile. It ends when its input does, which is when MPI has begun. If that takes too long, it says so. If another
process has ended without beginning MPI, it says so, and kills the one that waits, whereupon the launcher ends all.
Nothing of Frontier is imported.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
import time

__all__ = ["ENDED", "missing", "proxy", "watch"]

#: The name that a process takes which has come to its end, but waits for others as MPI does; 15 characters at most.
ENDED = "frontier: ended"

#: Seconds between two looks; and for the launcher to pass on what is said, before the process is killed.
LOOK, HEARD = 0.5, 0.1

#: Levels of parents that are looked at: there may be shells between the proxy and Python.
LEVELS = 8


def proxy(process: int) -> int | None:
    """The proxy of MPICH's launcher that has started a process, directly or by others; None if there is none."""
    for _ in range(LEVELS):
        try:
            with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
                name, _, rest = file.read().partition("(")[2].rpartition(")")
        except OSError:
            return None
        if name == "hydra_pmi_proxy":
            return process
        process = int(rest.split()[1])
    return None


def missing(of: int) -> list[int] | None:
    """The ranks that a proxy has started and that have ended; of several hosts their number, as -1 for each.

    None: that cannot be known.
    """
    running, unknown = set(), 0
    try:
        with open(f"/proc/{of}/task/{of}/children", encoding="ascii") as file:
            children = file.read().split()
        for child in children:
            with open(f"/proc/{child}/stat", encoding="utf-8", errors="replace") as file:
                name, _, rest = file.read().partition("(")[2].rpartition(")")
            if rest.split()[0] in "ZX" or name == ENDED:
                continue
            with open(f"/proc/{child}/environ", "rb") as environment:
                found = [int(each[9:]) for each in environment.read().split(b"\0") if each.startswith(b"PMI_RANK=")]
            running |= set(found)
            unknown += not found  # it may be something else, or have written its title there
        here, size = int(os.environ["MPI_LOCALNRANKS"]), int(os.environ["PMI_SIZE"])
    except (OSError, KeyError, ValueError):
        return None
    if unknown and len(running) < here:
        return None
    if here < size:
        return [-1] * (here - len(running))
    return [rank for rank in range(size) if rank not in running]


def watch(limit: float, late: str) -> None:
    """Wait until the input ends; after so many seconds say what is given, or earlier that a rank has ended."""
    waits = os.getppid()
    of, end, seen = proxy(waits), time.monotonic() + limit, 0
    while time.monotonic() < end:
        if _over(min(LOOK, max(end - time.monotonic(), 0))):
            return
        ended = missing(of) if of is not None else None
        seen = seen + 1 if ended else 0
        if of is not None and ended and seen > 1:  # it has not begun MPI, nor has this one
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as first:
                first.bind(f"\0frontier: a rank of {of} has ended")  # one helper of a host can
                _end(waits, ended)
    if late:
        _say(late)


def _end(waits: int, ended: list[int]) -> None:
    """Say which ranks have ended, and kill the one that waits; the launcher then ends all."""
    _say(f"frontier: {_who(ended)} ended before all ranks began MPI, for which others wait: the run ends")
    if not _over(HEARD) and os.getppid() == waits:
        with contextlib.suppress(ProcessLookupError):
            os.kill(waits, signal.SIGKILL)
        time.sleep(2 * LOOK)  # for the launcher to end others, before their helpers may speak


def _who(ended: list[int]) -> str:
    size = os.environ["PMI_SIZE"]
    if ended[0] < 0:
        some = f"on this host, of {size} in all,"
        return f"a rank {some} has" if len(ended) == 1 else f"ranks {some} have"
    if len(ended) == 1:
        return f"rank {ended[0]} of {size} has"
    return f"ranks {', '.join(map(str, ended[:-1]))} and {ended[-1]} of {size} have"


def _over(seconds: float) -> bool:
    return bool(select.select([0], [], [], seconds)[0])


def _say(what: str) -> None:
    with contextlib.suppress(OSError):  # nobody may be left who listens
        print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    watch(float(sys.argv[1]), sys.argv[2])
