"""What ends a run of several processes before they use ranks together.

The others may wait for a process that has failed in the beginning of MPI, or in an exchange, and nothing tells them. So
where an MPI launcher has started this process, a hook for exceptions that nobody handles is there from
``import frontier`` on; the first use of ranks puts its own in its place. Nothing is imported, and MPI is not begun,
until an exception comes.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import math
import os
import sys
import time
from types import TracebackType
from typing import Any

from frontier.system import launch_watch
from frontier.system.environment import number

__all__ = ["HEARD", "PAUSE", "mpi_that_all_processes_begin_together", "patience"]

#: The number of this process, as MPICH (and who passes on its way), Open MPI and Slurm tell it.
_RANKS = ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK")

#: Seconds for rank 0 to speak first; and for mpirun to pass on what is said, which it drops once a process has aborted.
PAUSE, HEARD = 0.5, 0.1

#: Seconds of waiting, where FRONTIER_RANKS_TIMEOUT says nothing; and for a process to say that they are over.
PATIENCE, SAYS = 300.0, 1.0

#: Seconds for which a process that has failed waits for others to begin MPI, which they may never do, to end them.
GRACE = 60.0

#: The program that watches this one while it waits.
_WATCH = os.path.abspath(launch_watch.__file__)

_process = os.getpid()


def patience() -> float | None:
    """Return after how many seconds of waiting a run ends; None: never.

    Raises
    ------
    FrontierError
        FRONTIER_RANKS_TIMEOUT is not a number of seconds.
    """
    return number("FRONTIER_RANKS_TIMEOUT", "a number of seconds, or 0 to wait for ever", PATIENCE) or None


def mpi_that_all_processes_begin_together(failed: bool = False) -> Any:
    """Return MPI, for whose beginning each process waits for all others; if this one has ``failed``, not for long.

    Meanwhile no thread of Python runs that could say so, if one does not come. Another process says it then
    (:mod:`frontier.system.launch_watch`), and the timer of faulthandler ends this one. Ctrl-C ends it at once, and as
    it is ended by a signal, MPICH ends the others.
    """
    import faulthandler  # here, as `import frontier` need not wait for these
    import signal
    import subprocess
    import threading

    limit = patience() or math.inf
    if failed:
        limit = min(limit, GRACE)
    if "mpi4py.MPI" in sys.modules:
        return sys.modules["mpi4py.MPI"]
    who = next((f"rank {os.environ[name]}" for name in _RANKS if name in os.environ), "a process")
    why = (
        f"frontier: {who} has waited for {limit:g} s (FRONTIER_RANKS_TIMEOUT) for all ranks to begin MPI: "
        "those that do not say so have ended or have not come, and the run ends"
    )
    with open(os.devnull, "w") as nothing:
        says = None if failed else subprocess.Popen(  # which Ctrl-C of the terminal does not reach
            [sys.executable, "-I", "-S", _WATCH, str(limit), why], stdin=subprocess.PIPE, start_new_session=True
        )  # fmt: skip
        if limit < math.inf:
            faulthandler.dump_traceback_later(limit + SAYS, exit=True, file=nothing)
        main = threading.current_thread() is threading.main_thread()
        usual = main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if usual:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        try:
            return importlib.import_module("mpi4py.MPI")
        finally:
            if usual:
                signal.signal(signal.SIGINT, signal.default_int_handler)
            faulthandler.cancel_dump_traceback_later()
            if says is not None:
                says.communicate()


def _ended(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print an exception that nobody handles, and end all processes."""
    if not issubclass(kind, Exception) or os.getpid() != _process:  # by Ctrl-C, all processes end; or it is a copy
        _before(kind, error, trace)
        return
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is None and (importlib.util.find_spec("mpi4py") is None or not _waits_for_all()):
        _before(kind, error, trace)
        return
    rank = next(os.environ[name] for name in _RANKS if name in os.environ)
    if rank != "0":
        time.sleep(PAUSE)  # if rank 0 has the same error, it says so and ends the others meanwhile
    import traceback  # takes longer to import than all else of `import frontier`

    text = "".join(traceback.format_exception(kind, error, trace))
    with contextlib.suppress(OSError, ValueError):  # nobody may be left who listens
        print(f"rank {rank}:\n{text}", end="", file=sys.stderr, flush=True)
    if mpi is None:
        mpi = mpi_that_all_processes_begin_together(failed=True)
    if mpi.Is_initialized() and not mpi.Is_finalized() and mpi.COMM_WORLD.size > 1:
        time.sleep(HEARD)
        mpi.COMM_WORLD.Abort(1)
        os._exit(1)  # MPICH's abort may return, if another thread is within MPI


def _waits_for_all() -> bool:
    """Whether the launcher lets others wait for a process that has ended, until this one begins MPI and ends them.

    MPICH's does, and gives each process a descriptor by which it speaks to it, and which processes that this one has
    started lack. Others end all if a process has failed.
    """
    try:
        os.fstat(int(os.environ["PMI_FD"]))
    except (KeyError, ValueError, OSError):
        return False
    return int(os.environ.get("PMI_SIZE", "1")) > 1


def _at_end() -> None:
    """Let others see that this process is at its end, where it waits for them as MPI ends."""
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is not None and os.getpid() == _process and mpi.Is_initialized() and not mpi.Is_finalized():
        with contextlib.suppress(OSError), open("/proc/self/comm", "w", encoding="ascii") as file:
            file.write(launch_watch.ENDED)


if any(name in os.environ for name in _RANKS):
    _before, sys.excepthook = sys.excepthook, _ended
    if _waits_for_all():
        atexit.register(_at_end)
