"""The threads of a simulated kernel: scheduling, barriers, and launching.

Only one thread runs at a time, and it switches to another only where it waits. So everything between two barriers is
atomic, and runs are reproducible. With the package greenlet a thread is a greenlet, for switching between
threads of Python takes as long as all else; without it, it is one of these.
"""

from __future__ import annotations

import ctypes
import importlib
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

greenlet: Any = None
with suppress(ImportError):
    greenlet = importlib.import_module("greenlet")

__all__ = ["WARP", "launch", "me"]

WARP = 32

#: Bytes behind a block's scratch memory that no kernel may write to. On a GPU that ends with an illegal address.
BEHIND = bytes([0xA5]) * (1 << 16)


class _Grid:
    """The state that all blocks of a launch share: which thread runs next."""

    def __init__(self, blocks: int, threads: int) -> None:
        self.blocks, self.threads = blocks, threads
        self.error: BaseException | None = None
        self.ready: deque[_Thread] = deque()
        self.following: Any = None  # the greenlet that runs when the present one pauses or ends
        self.hub: Any = None if greenlet is None else greenlet.getcurrent()
        self.waiting: dict[_Thread, None] = {}

    def next(self) -> None:
        """Let the next thread run, if there is one."""
        if not self.ready and self.waiting:
            self.fail(RuntimeError("threads wait for others that will not come"))
        if self.ready:
            self.ready.popleft().resume()

    def wait(self) -> None:
        """Let others run until another thread makes this one ready."""
        mine = me()
        self.waiting[mine] = None
        self.next()
        mine.pause()
        self.check()

    def turn(self) -> None:
        """Let all others that can run do so first."""
        if self.ready:
            mine = me()
            self.ready.append(mine)
            self.next()
            mine.pause()
        self.check()

    def wake(self, threads: list[_Thread]) -> None:
        """Threads that wait can run."""
        for thread in threads:
            del self.waiting[thread]
        self.ready.extend(threads)

    def fail(self, error: BaseException) -> None:
        """Let every thread end, since one has failed."""
        self.error = self.error or error
        self.wake(list(self.waiting))

    def check(self) -> None:
        if self.error is not None:
            raise threading.BrokenBarrierError


class _Barrier:
    """Where some threads meet."""

    def __init__(self, grid: _Grid, size: int) -> None:
        self.grid, self.size = grid, size
        self.here: list[_Thread] = []

    def wait(self) -> None:
        if len(self.here) + 1 < self.size:
            self.here.append(me())
            self.grid.wait()
        else:
            self.grid.wake(self.here)
            self.here = []


class _Block:
    """What the threads of a block share."""

    def __init__(self, grid: _Grid, index: int, scratch: int) -> None:
        self.grid, self.index = grid, index
        self._memory = ctypes.create_string_buffer(scratch + len(BEHIND) + 16)
        self.scratch = (ctypes.addressof(self._memory) + 15) // 16 * 16
        self._end = self.scratch + scratch
        ctypes.memmove(self._end, BEHIND, len(BEHIND))
        self.barrier = _Barrier(grid, grid.threads)
        self.flags = [False] * grid.threads
        self.warps = [_Barrier(grid, WARP) for _ in range(grid.threads // WARP)]
        self.values: list[Any] = [None] * grid.threads

    def check(self) -> None:
        """Raise RuntimeError if a kernel has written to memory behind the scratch memory that it has."""
        if ctypes.string_at(self._end, len(BEHIND)) != BEHIND:
            raise RuntimeError("a kernel wrote behind its scratch memory: does its program say that it uses any?")


class _Thread:
    """A thread of a kernel: its block, and its number in the block. It begins, and goes on, when it is resumed."""

    def __init__(self, block: _Block, number: int) -> None:
        self.block, self.thread = block, number

    def begin(self, kernel: Callable[..., None], parameters: list[Any]) -> None:
        """Run the kernel when this is resumed."""
        raise NotImplementedError

    def resume(self) -> None:
        """Let it run once the thread that runs now pauses or ends."""
        raise NotImplementedError

    def pause(self) -> None:
        """Return when it is resumed."""
        raise NotImplementedError

    @classmethod
    def finish(cls, grid: _Grid, threads: list[Any]) -> None:
        """Return when all threads of a grid have ended."""
        raise NotImplementedError

    def run(self, kernel: Callable[..., None], parameters: list[Any]) -> None:
        """Call the kernel; then the next thread may run."""
        grid = self.block.grid
        try:
            grid.check()
            with np.errstate(all="ignore"):
                kernel(*parameters)
        except threading.BrokenBarrierError:
            pass
        except BaseException as error:
            grid.fail(error)
        finally:
            grid.next()


class _Greenlet(_Thread):
    """As a greenlet. They switch to the one that launched the kernel, and that to the one which was resumed."""

    def begin(self, kernel: Callable[..., None], parameters: list[Any]) -> None:
        self._own: Any = greenlet.greenlet(lambda: self.run(kernel, parameters))
        self._own.thread = self

    def resume(self) -> None:
        self.block.grid.following = self._own

    def pause(self) -> None:
        self.block.grid.hub.switch()

    @classmethod
    def finish(cls, grid: _Grid, threads: list[Any]) -> None:
        while grid.following is not None:
            following, grid.following = grid.following, None
            following.switch()


class _OfPython(_Thread):
    """As a thread of Python."""

    current = threading.local()

    def begin(self, kernel: Callable[..., None], parameters: list[Any]) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()
        self._own = threading.Thread(target=self.run, args=(kernel, parameters), daemon=True)
        self._own.start()

    def run(self, kernel: Callable[..., None], parameters: list[Any]) -> None:
        self.current.thread = self
        self.pause()
        super().run(kernel, parameters)

    def resume(self) -> None:
        self._lock.release()

    def pause(self) -> None:
        self._lock.acquire()

    @classmethod
    def finish(cls, grid: _Grid, threads: list[Any]) -> None:
        for each in threads:
            each._own.join()


def me() -> _Thread:
    """Return the thread that runs."""
    found: _Thread = _OfPython.current.thread if greenlet is None else greenlet.getcurrent().thread
    return found


def launch(kernel: Callable[..., None], blocks: int, threads: int, scratch: int, parameters: list[Any]) -> None:
    """Run a kernel: all threads of all blocks in turns."""
    grid, kind = _Grid(blocks, threads), _OfPython if greenlet is None else _Greenlet
    made = [_Block(grid, index, scratch) for index in range(blocks)]
    workers = [kind(block, number) for block in made for number in range(threads)]
    for worker in workers:
        worker.begin(kernel, parameters)
    grid.ready.extend(workers)
    grid.next()
    kind.finish(grid, workers)
    if grid.error is not None:
        raise grid.error
    for block in made:
        block.check()
