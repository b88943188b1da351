"""Run work that must not be interrupted in a thread of its own; Ctrl-C then interrupts only the caller, immediately.

Compiling with numba is such work: a half-finished compilation leaves an unusable state behind. So the thread continues,
and a later request for the same code waits for it. A process that ends waits as well, because no other thread may
compile while the interpreter shuts down.
"""

from __future__ import annotations

import atexit
import contextvars
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

from frontier.memory import limits
from frontier.native.cache import say_once
from frontier.system.forks import busy

__all__ = ["apart"]

Made = TypeVar("Made")

_running: set[threading.Thread] = set()


def apart(make: Callable[[], Made]) -> Made:
    """What a function gives, or raises, when it is called by another thread.

    Called by this one where only this one can be interrupted by nobody (threads beside the main one), where it holds
    numba's lock, and where there is no memory for another stack.
    """
    limited = limits.address_space_left() is not None
    if threading.current_thread() is not threading.main_thread() or _compiling() or limited:
        with busy():
            return make()
    found: list[tuple[Any, BaseException | None]] = []
    done, context = threading.Event(), contextvars.copy_context()

    def work() -> None:
        try:
            with busy():
                found.append((context.run(make), None))
        except BaseException as error:  # raised again below
            found.append((None, error))
        finally:
            _running.discard(thread)
            done.set()

    thread = threading.Thread(target=work, name="frontier-compiler", daemon=True)
    _running.add(thread)
    try:
        thread.start()
    except RuntimeError:  # no room
        _running.discard(thread)
        with busy():
            return make()
    while not done.wait(0.1):  # for not every interruption ends a wait
        pass
    value, error = found.pop()
    if error is not None:
        try:
            raise error
        finally:
            del error
    return cast(Made, value)


def _compiling() -> bool:
    """Whether this thread holds numba's lock."""
    module = sys.modules.get("numba.core.compiler_lock")
    return module is not None and bool(module.global_compiler_lock.is_locked())


@atexit.register
def _wait() -> None:
    """Let the threads that are at work come to their end; a second Ctrl-C does not wait for them."""
    for thread in list(_running):
        thread.join(0.5)
        if thread.is_alive():
            say_once("waiting for a compilation to end; Ctrl-C does not wait")
            thread.join()
