"""Load and launch kernels: how many blocks fit, and the memory that host and device share."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from functools import cache
from typing import Any, cast

import numpy as np

from frontier.backends.cuda.compile.runtime_words import ARRIVALS
from frontier.backends.cuda.compiler import ENTRY, binary, is_made, module_of
from frontier.backends.cuda.program import CudaProgram, scratch_of
from frontier.errors import BackendUnavailableError, FunctorError
from frontier.functors.functor import location
from frontier.memory import detection, lost

__all__ = [
    "Exchange", "Kernel", "SimulatedKernel", "address_of", "bounds_of", "copied", "current_stream", "is_known",
    "kernel", "memory_at", "memory_like",
]  # fmt: skip

#: Threads of a block and blocks of a multiprocessor: general variant, general variant with many loads in flight,
#: low-degree variant, low-degree variant of dense programs. (Measured: with 40 registers a thread and three blocks, the
#: general variant is fastest, except for PageRank, which needs 64; a low-degree pass is a chain of loads.)
FULL, LOW_OCCUPANCY, LOW_DEGREE, DENSE = (512, 3), (512, 2), (256, 1), (256, 6)

#: Threads of a multiprocessor at most, of all variants.
MOST_THREADS = max(threads * blocks for threads, blocks in (FULL, LOW_OCCUPANCY, LOW_DEGREE, DENSE))


#: Bytes of scratch memory that a kernel may have by default, and the attribute that allows more (from cuda.h).
_USUAL, _LARGEST = 48 * 1024, 8


#: CuPy's number for a thread's own default stream (from cuda.h).
_OF_THREAD = 2


class Exchange:
    """The table of a run as the kernel's parameters, and pinned memory to which it writes its state.

    Parameters
    ----------
    at : dict of str to int
        Position of every variable in the table.
    scalars : list of ndarray, each of shape (1,)
        Scalars of the problem, in their order.
    """

    def __init__(self, at: dict[str, int], scalars: list[np.ndarray]) -> None:
        length = len(at)
        # The kernel writes why it returns, and the words after the scalars.
        self.user: object = None  # stands for the run whose arrays it has the addresses of
        self._codes, self._state = slice(at["code"], at["detail"] + 1), slice(at["pc"], length)
        if detection.simulated():
            self.written = np.zeros(length + len(scalars), np.int64)
            address = int(self.written.ctypes.data)
        else:
            import cupy

            self._pinned = cupy.cuda.alloc_pinned_memory(8 * (length + len(scalars)))
            self.written = np.frombuffer(self._pinned, np.int64, length + len(scalars))
            address = int(self._pinned.ptr)
        # The parameters are an address, then the table: each is read from its own word.
        self._words = np.zeros(1 + length, np.int64)
        self._words[0] = address
        self.table = self._words[1:]
        self.state = self.table[self._state]
        self.words, self._written = self.table.data, self.written.data  # quicker for a few words
        self._scalars, self._places = [], []
        for i, scalar in enumerate(scalars):
            word = at["pc"] - len(scalars) + i
            self.written[word] = address + 8 * (length + i)
            last = self.written[length + i :][:1].view(scalar.dtype)
            self._scalars.append((self.table[word : word + 1].view(scalar.dtype), last))
            self._places.append(word)
        self._pointers = self._words.ctypes.data + np.arange(0, 8 * (1 + length), 8)
        self.parameters = int(self._pointers.ctypes.data)

    def begin(self, state: Any = 0) -> None:
        """Begin a run with a state, and forget that of the previous run."""
        self.state[...] = state

    def give(self, scalars: list[np.ndarray]) -> None:
        """Pass the scalars' values, each in its word of the table."""
        for (word, _), scalar in zip(self._scalars, scalars, strict=True):
            word[0] = scalar[0]

    def take(self, scalars: list[np.ndarray]) -> None:
        """Bring back the scalars' last values."""
        for (_, last), scalar in zip(self._scalars, scalars, strict=True):
            scalar[0] = last[0]

    def values(self) -> list[Any]:
        """The parameters, each of its own dtype."""
        made: list[Any] = [int(self._words[0]), *self.table.tolist()]
        for word, (scalar, _) in zip(self._places, self._scalars, strict=True):
            made[1 + word] = scalar[0]  # NumPy's numbers, which wrap as compiled ones do
        return made

    def finish(self) -> None:
        """Take over the state that the kernel has written."""
        self.words[self._codes] = self._written[self._codes]
        self.words[self._state] = self._written[self._state]


def bounds_of(program: CudaProgram) -> tuple[int, int]:
    """Threads of a block, and how many blocks a multiprocessor is to hold at once."""
    if program.low_degree:
        return DENSE if program.build.dense else LOW_DEGREE
    return LOW_OCCUPANCY if program.low_occupancy else FULL


class Kernel:
    """A loop kernel on the current device.

    Attributes
    ----------
    blocks : int
        Blocks of its grid. The device must hold all of them at once, since they meet at barriers.
    """

    def __init__(self, program: CudaProgram, blame: Callable[[], Any]) -> None:
        from cupy.cuda import Device
        from cupy.cuda.function import Module
        from cupy_backends.cuda.api import driver

        here = Device()
        self._index, self._program = here.id, program
        capability = _capability(here)
        self.threads, least = bounds_of(program)
        self._module = Module()
        self._module.load(binary(program, capability, (self.threads, least), blame))
        self._function = self._module.get_function(ENTRY)
        self._scratch = scratch_of(program)
        if self._scratch > here.attributes["MaxSharedMemoryPerBlockOptin"]:
            raise BackendUnavailableError("a block's scratch memory does not fit on this GPU")
        if self._scratch > _USUAL:
            driver.funcSetAttribute(self._function.ptr, _LARGEST, self._scratch)
        fit = driver.occupancyMaxActiveBlocksPerMultiprocessor(self._function.ptr, self.threads, self._scratch)
        if fit < 1:
            raise BackendUnavailableError("the kernel does not fit on this GPU")
        processors = here.attributes["MultiProcessorCount"]
        # More than one block per multiprocessor only makes the barrier of a low-degree variant slower.
        self.blocks = processors * min(fit, least)
        if program.low_degree and not program.decides:
            self.blocks = min(self.blocks, (1 << (63 - ARRIVALS)) - 1)  # more could not be counted
        self.most_blocks, self.most_threads = processors * 8, processors * MOST_THREADS
        self._launch, self._stream = driver.launchCooperativeKernel, _stream_of()
        self._plain = driver.launchKernel
        self._pointer = self._function.ptr

    def __call__(self, exchange: Exchange) -> None:
        """Run it on the current stream, and wait for its end."""
        self.wait(self.begin(exchange), exchange)

    def begin(self, exchange: Exchange, share: int = 1) -> Any:
        """Run it on the current stream, which is returned, without waiting for its end.

        So many kernels ``share`` the GPU at the same time. There is room for all of them, but the driver might let
        cooperative ones wait for each other.
        """
        stream = self._stream()
        shape = (max(self.blocks // share, 1), 1, 1, self.threads, 1, 1)
        try:
            if share == 1:
                self._launch(self._pointer, *shape, self._scratch, stream.ptr, exchange.parameters)
            else:
                self._plain(self._pointer, *shape, self._scratch, stream.ptr, exchange.parameters, 0)
        except RuntimeError as error:  # CuPy's, of the driver
            raise lost.explained(error, self._index, self._program.steps, self._program.functors) from error
        return stream

    def wait(self, stream: Any, exchange: Exchange) -> None:
        """Wait for the end of what runs on a stream."""
        try:
            stream.synchronize()
        except RuntimeError as error:
            raise lost.explained(error, self._index, self._program.steps, self._program.functors) from error
        exchange.finish()


def _capability(here: Any) -> tuple[int, int]:
    """The compute capability of a CuPy device."""
    return int(here.compute_capability[:-1]), int(here.compute_capability[-1])


class SimulatedKernel:
    """A loop kernel run by Python threads, see :mod:`frontier.backends.cuda.simulator.operations`."""

    #: Two warps in each of two blocks: the fewest with which there are several of both.
    blocks, threads = 2, 64
    most_blocks, most_threads = 2, 128

    def __init__(self, program: CudaProgram, blame: Callable[[], Any]) -> None:
        self._blame, self._functors = blame, list(program.functors)
        self._scratch = scratch_of(program)
        from frontier.backends.python.arithmetic import numbered

        known: dict[Any, Any] = {}
        functors = {made: numbered(fn, known) for fn, made in program.functors.items()}
        self._run = module_of(program, functors).run

    def __call__(self, exchange: Exchange) -> None:
        """Run it."""
        from frontier.backends.cuda.simulator.guards import Refused
        from frontier.backends.cuda.simulator.threads import launch

        values = exchange.values()
        try:
            launch(self._run, self.blocks, self.threads, self._scratch, values)
        except FunctorError:
            self._blame()
            raise
        except Refused as error:
            self._blame()  # what a compiler would have refused
            where = location(self._functors[error.number])
            raise FunctorError(f"{where} raised {type(error.__cause__).__name__}: {error.__cause__}") from None
        exchange.finish()


def kernel(program: CudaProgram, blame: Callable[[], Any]) -> Kernel | SimulatedKernel:
    """The kernel of a program, on the current device."""
    return SimulatedKernel(program, blame) if detection.simulated() else Kernel(program, blame)


def is_known(program: CudaProgram) -> bool:
    """Whether the machine code of a program for the current device is in memory or on disk."""
    if detection.simulated():
        return False
    from cupy.cuda import Device

    return is_made(program, _capability(Device()), bounds_of(program))


@cache
def _stream_of() -> Callable[[], Any]:
    """Return CuPy's function for the current stream; cached, since importing it takes 0.3 microseconds each time."""
    from cupy.cuda import get_current_stream

    return cast(Callable[[], Any], get_current_stream)


def current_stream() -> tuple[int, int]:
    """CuPy's current stream, as a key; a thread's default stream has the same number in all threads."""
    if detection.simulated():
        return 0, 0
    number = int(_stream_of()().ptr)
    return number, threading.get_ident() if number == _OF_THREAD else 0


def address_of(array: Any) -> int:
    """Where an array lies."""
    return int(array.ctypes.data) if isinstance(array, np.ndarray) else int(array.data.ptr)


def copied(address: int, dtype: np.dtype[Any], length: int) -> Any:
    """A copy of device memory: one allocation and one copy, without an array of the memory in between."""
    if detection.simulated():
        return memory_at(address, dtype, length).copy()
    import cupy

    made, runtime = cupy.empty(length, dtype), cupy.cuda.runtime
    runtime.memcpyAsync(made.data.ptr, address, made.nbytes, runtime.memcpyDeviceToDevice, _stream_of()().ptr)
    return made


def memory_at(address: int, dtype: np.dtype[Any], length: int) -> Any:
    """Device memory at an address as an array that does not own it."""
    size = length * dtype.itemsize
    if detection.simulated():
        return np.frombuffer((ctypes.c_char * size).from_address(address), dtype)  # type: ignore[call-overload]
    import cupy

    here = cupy.cuda.runtime.getDevice()  # so that CuPy need not ask the driver where the address lies
    memory = cupy.cuda.MemoryPointer(cupy.cuda.UnownedMemory(address, size, None, here), 0)
    return cupy.ndarray(length, dtype, memory)


def memory_like(array: Any, address: int) -> Any:
    """Device memory at an address as an array that is laid out as another one of one dimension."""
    step = array.strides[0] // array.itemsize
    return memory_at(address, array.dtype, max((len(array) - 1) * step + 1, 0))[::step]
