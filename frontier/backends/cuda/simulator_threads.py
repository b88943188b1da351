"""The threads of a simulated kernel: scheduling, barriers, and launching.

Only one thread runs at a time, and it switches to another only where it waits. So everything between two barriers is
atomic, and runs are reproducible.
"""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["WARP", "launch", "me"]

WARP = 32

#: Bytes behind a block's scratch memory that no kernel may write to. On a GPU that ends with an illegal address.
BEHIND = bytes([0xA5]) * (1 << 16)

#: What belongs to the running thread: its block, its number in the block, the lock that it sleeps on.
me = threading.local()


class _Grid:
    """The state that all blocks of a launch share: which thread runs next."""

    def __init__(self, blocks: int, threads: int) -> None:
        self.blocks, self.threads = blocks, threads
        self.error: BaseException | None = None
        self.ready: deque[threading.Lock] = deque()
        self.waiting: dict[threading.Lock, None] = {}

    def next(self) -> bool:
        """Let the next thread run; returns whether there is one."""
        if not self.ready and self.waiting:
            self.fail(RuntimeError("threads wait for others that will not come"))
        if self.ready:
            self.ready.popleft().release()
            return True
        return False

    def wait(self) -> None:
        """Let others run until another thread makes this one ready."""
        mine = me.lock
        self.waiting[mine] = None
        self.next()
        mine.acquire()
        self.check()

    def turn(self) -> None:
        """Let all others that can run do so first."""
        if self.ready:
            self.ready.append(me.lock)
            self.next()
            me.lock.acquire()
        self.check()

    def wake(self, locks: list[threading.Lock]) -> None:
        """Threads that wait can run."""
        for lock in locks:
            del self.waiting[lock]
        self.ready.extend(locks)

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
        self.here: list[threading.Lock] = []

    def wait(self) -> None:
        if len(self.here) + 1 < self.size:
            self.here.append(me.lock)
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


def launch(kernel: Callable[..., None], blocks: int, threads: int, scratch: int, parameters: list[Any]) -> None:
    """Run a kernel: all threads of all blocks in turns."""
    grid = _Grid(blocks, threads)
    workers, made = [], []
    for b in range(blocks):
        block = _Block(grid, b, scratch)
        made.append(block)
        for t in range(threads):
            lock = threading.Lock()
            lock.acquire()
            grid.ready.append(lock)
            workers.append(threading.Thread(target=_thread, args=(kernel, block, t, lock, parameters), daemon=True))
    for worker in workers:
        worker.start()
    grid.next()
    for worker in workers:
        worker.join()
    if grid.error is not None:
        raise grid.error
    for block in made:
        block.check()


def _thread(
    kernel: Callable[..., None], block: _Block, thread: int, lock: threading.Lock, parameters: list[Any]
) -> None:
    me.block, me.thread, me.lock = block, thread, lock
    lock.acquire()
    try:
        block.grid.check()
        with np.errstate(all="ignore"):
            kernel(*parameters)
    except threading.BrokenBarrierError:
        pass
    except BaseException as error:
        block.grid.fail(error)
    finally:
        block.grid.next()
