"""The tests under mpirun: every process runs all of them, on the same examples, and all end with the first that fails.

``FRONTIER_TEST_BACKENDS=ranks mpirun -n 3 python -m pytest tests/test_loops.py``

Hypothesis draws constants that it finds in modules which the process has imported, also with ``derandomize``. A process
that compiles has imported other modules than one that finds the code in the cache, so ranks drew different graphs, once
in a while. And a test that failed on one rank was tried again there, or followed by the next, while the other ranks
waited for the first: they then said that graphs differ, or waited until the time-out, whose message pytest captured.
"""

from __future__ import annotations

import functools
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import pytest
from hypothesis import errors
from hypothesis.internal.conjecture import providers

from frontier.distributed.transport.communicators import PAUSE, Processes, world

__all__ = ["Together", "ranks"]


def ranks(backends: list[str]) -> Processes | None:
    """The processes that run these tests together; None if there is just this one."""
    several = any(each.split(",")[0] == "ranks" for each in backends)
    return world() if several and world().size > 1 else None


class Together:
    """A plugin for pytest in each of several processes.

    Parameters
    ----------
    comm : Processes
    """

    def __init__(self, comm: Processes) -> None:
        self._comm = comm

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Let hypothesis draw the same everywhere, and rank 0 alone report."""
        capturing = config.pluginmanager.getplugin("capturemanager")
        end = self._comm.end

        def shown(why: str) -> NoReturn:
            with capturing.global_and_fixture_disabled():
                end(why)

        self._comm.end = shown  # type: ignore[method-assign]
        if hasattr(providers, "is_local_module_file"):  # in versions that look for constants
            providers.is_local_module_file = lambda path: False
        if self._comm.rank:
            sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the process ends

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Iterator[None]:
        """Begin each test together; a failure ends all, before hypothesis tries the example again."""
        names = self._comm.allgather(pyfuncitem.nodeid)
        if len(set(names)) > 1:
            self._end(f"the ranks are at different tests: {names}")
        drawing = getattr(pyfuncitem.obj, "hypothesis", None)
        if drawing and not hasattr(drawing.inner_test, "together"):
            drawing.inner_test = self._checked(drawing.inner_test)
        try:
            return (yield)
        except pytest.skip.Exception:
            raise
        except BaseException:
            self._end(f"{pyfuncitem.nodeid}\n{traceback.format_exc()}")

    def _checked(self, test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def checked(*args: Any, **kwargs: Any) -> Any:
            try:
                return test(*args, **kwargs)
            except (errors.UnsatisfiedAssumption, pytest.skip.Exception):
                raise
            except Exception:
                given = ", ".join(f"{name}={value!r}" for name, value in kwargs.items())
                self._end(f"{test.__name__}({given})\n{traceback.format_exc()}")

        checked.together = True  # type: ignore[attr-defined]
        return checked

    def _end(self, why: str) -> NoReturn:
        time.sleep(PAUSE * self._comm.rank)  # where all fail, the first speaks
        self._comm.end(f"\nrank {self._comm.rank} of {self._comm.size}: {why}")
