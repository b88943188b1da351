"""A process beside one that waits for all ranks to begin MPI, since no thread of that one runs meanwhile.

It ends when its input does, which is when MPI has begun. If that takes too long, it says so. If MPICH's launcher has
started the processes, and one of them on this host has ended without beginning MPI, nothing else tells the others: it
says so, and kills the one that waits, whereupon the launcher ends all. It looks for the children of the launcher's
proxy in ``/proc``; without these it only waits.

It is run as a program, by itself: nothing of Frontier is imported.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time

__all__ = ["missing", "proxy", "watch"]

#: Seconds between two looks, and how much later each rank speaks than the one before it.
LOOK, TURN = 0.5, 0.3

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


def missing(of: int) -> list[str] | None:
    """How the ranks are called that a proxy has started and that have ended; None if that cannot be known."""
    running = set()
    try:
        with open(f"/proc/{of}/task/{of}/children", encoding="ascii") as file:
            children = file.read().split()
        for child in children:
            with open(f"/proc/{child}/stat", encoding="utf-8", errors="replace") as file:
                ended = file.read().rpartition(")")[2].split()[0] in "ZX"
            with open(f"/proc/{child}/environ", "rb") as environment:
                found = [each[9:] for each in environment.read().split(b"\0") if each.startswith(b"PMI_RANK=")]
            running |= set() if ended else {int(each) for each in found}
        here, size = int(os.environ["MPI_LOCALNRANKS"]), int(os.environ["PMI_SIZE"])
    except (OSError, KeyError, ValueError):
        return None
    if len(running) >= here:
        return []
    if here < size:
        return [f"a rank of this host, of {size},"]
    return [f"rank {rank} of {size}" for rank in range(size) if rank not in running]


def watch(limit: float, late: str) -> None:
    """Wait until the input ends; after so many seconds say what is given, or earlier that a rank has ended."""
    waits = os.getppid()
    of, end, seen = proxy(waits), time.monotonic() + limit, 0
    while time.monotonic() < end:
        if _over(min(LOOK, max(end - time.monotonic(), 0))):
            return
        ended = missing(of) if of is not None else None
        seen = seen + 1 if ended else 0
        if ended and seen > 1:  # it has not begun MPI, nor has this one
            if not _over(TURN * min(int(os.environ.get("PMI_RANK", "0")), 20)):
                which = f"{' and '.join(ended)} {'has' if len(ended) == 1 else 'have'}"
                _say(f"frontier: {which} ended before all ranks began MPI, for which others wait: the run ends")
                time.sleep(LOOK / 5)  # for the launcher to pass that on
                os.kill(waits, signal.SIGKILL)
            return
    _say(late)


def _over(seconds: float) -> bool:
    return bool(select.select([0], [], [], seconds)[0])


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    watch(float(sys.argv[1]), sys.argv[2])
