"""Children of ``fork`` start clean: a process forks when no other thread of it imports or compiles for Frontier.

A child has the thread that forked, and no other. A lock that another thread held stays locked in it for ever: Python's
own locks of the modules that are being imported, numba's, that of a file that is being made. So a fork waits for such
work, which takes seconds at most; the work is done within :class:`busy`. Locks that are held for moments only
are opened in the child, see :func:`renewed`.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from typing import Any, TypeVar
from weakref import WeakSet

from frontier.errors import FrontierWarning

__all__ = ["busy", "held", "renewed"]

Lock = TypeVar("Lock")

#: How long a fork waits, in seconds.
PATIENCE = 60.0

_lock = threading.RLock()
#: Threads that do what a fork waits for -> how often, one within another.
_busy: dict[int, int] = {}
_renewed: WeakSet[Any] = WeakSet()
_guards: list[Any] = []  # see held()
_registered = False
_taken: list[Any] = []  # these and numba's lock, while this process forks


class busy:
    """Within it this thread imports or compiles: no other one forks meanwhile.

    Nobody waits here but for the moment of a fork, so that what waits for other such threads goes on.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        me = threading.get_ident()
        if me in _busy:
            _busy[me] += 1
            return
        _register()
        with _lock:
            _busy[me] = 1

    def __exit__(self, *_: object) -> None:
        me = threading.get_ident()
        if _busy[me] == 1:
            del _busy[me]
        else:
            _busy[me] -= 1


def renewed(lock: Lock) -> Lock:
    """Let a lock be open in forked children; returns it."""
    _renewed.add(lock)
    return lock


def held(lock: Lock) -> Lock:
    """Let a fork take a lock before, so that what it guards is whole in the child; returns it."""
    _register()
    _guards.append(lock)
    return lock


def _wait() -> None:
    """Before a fork: until no other thread is busy, here or in numba; then none begins."""
    me, deadline = threading.get_ident(), time.monotonic() + PATIENCE
    while True:
        _lock.acquire()
        if all(other == me for other in list(_busy)) and _all_taken():
            return
        if time.monotonic() > deadline:
            warnings.warn(
                f"this process forks while another thread has been compiling for {PATIENCE:.0f} seconds: the child may "
                "hang when it uses Frontier; fork before, or use the start method 'spawn'", FrontierWarning, 1
            )  # fmt: skip
            return
        _lock.release()
        time.sleep(0.005)


def _all_taken() -> bool:
    """Whether all locks could be taken that nobody may hold during a fork, numba's too; else none is."""
    module = sys.modules.get("numba.core.compiler_lock")
    numbas = getattr(getattr(module, "global_compiler_lock", None), "_lock", None)
    for lock in (*_guards, numbas):
        if lock is not None:
            if not lock.acquire(blocking=False):
                _release()
                return False
            _taken.append(lock)
    return True


def _release() -> None:
    while _taken:
        _taken.pop().release()


def _go_on() -> None:
    """After a fork, in the parent."""
    _release()
    _lock.release()


def _begin() -> None:
    """After a fork, in the child."""
    me = threading.get_ident()
    for other in [other for other in _busy if other != me]:
        del _busy[other]
    for lock in _renewed:
        lock._at_fork_reinit()
    _go_on()


def _register() -> None:
    """Tell Python, once.

    What is registered last is called first. Others take locks at a fork that a thread which is waited for may need:
    those of the standard library are loaded first.
    """
    global _registered
    if _registered:
        return
    import concurrent.futures.thread  # noqa: F401
    import logging  # noqa: F401

    _registered = True
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_wait, after_in_parent=_go_on, after_in_child=_begin)
