"""A simulator of kernels: every operation in plain Python, and a thread or greenlet for each thread of a kernel.

It is slow and meant for small graphs, to test what kernels do with barriers, votes and atomics.
``NUMBA_ENABLE_CUDASIM=1`` selects it. (numba's own simulator runs one block and has no votes.)
:mod:`frontier.backends.cuda.simulator.threads` determines which thread runs when.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from frontier.backends.cuda.simulator.threads import WARP, launch, me
from frontier.compile.translation.texts import namedtuple
from frontier.errors import FunctorError
from frontier.functors.numbers import refused_float

__all__ = [
    "POINTERS",
    "SHARED",
    "any_lane",
    "ballot",
    "block_index",
    "block_size",
    "clock",
    "compare_exchange",
    "device",
    "exchange",
    "fence_system",
    "fetch_add",
    "fetch_add_system",
    "fetch_max",
    "fetch_min",
    "fetch_or",
    "find_first",
    "first_of",
    "float_of",
    "launch",
    "load_acquire",
    "load_acquire_system",
    "load_once",
    "load_relaxed",
    "match_any",
    "namedtuple",
    "num_blocks",
    "popcount",
    "prefetch",
    "release_add",
    "shuffle",
    "shuffle_down",
    "shuffle_up",
    "store_relaxed_system",
    "store_release",
    "sync",
    "sync_or",
    "sync_warp",
    "thread_index",
    "truth",
    "word_of",
]


def device(fn: Callable[..., Any]) -> Callable[..., Any]:
    """In the simulator, a device function is a plain function."""
    return fn


def truth(value: Any) -> bool:
    """Whether a functor's result means yes; returning nothing means no."""
    return bool(value)


# ---- memory ------------------------------------------------------------------------------------------

_CTYPES: dict[str, Any] = {
    "bool": ctypes.c_bool, "int8": ctypes.c_int8, "int16": ctypes.c_int16, "int32": ctypes.c_int32,
    "int64": ctypes.c_int64, "uint8": ctypes.c_uint8, "uint16": ctypes.c_uint16, "uint32": ctypes.c_uint32,
    "uint64": ctypes.c_uint64, "float32": ctypes.c_float, "float64": ctypes.c_double,
}  # fmt: skip


#: Several GPUs are several threads, which the interpreter switches between anywhere.
SYSTEM = threading.Lock()


class Pointer:
    """The memory at an address, as an array of one type without a length."""

    __slots__ = ("address", "companion", "dtype", "kind", "number", "size")

    def __init__(self, address: int, dtype: str, stride: int = 0, companion: Pointer | None = None) -> None:
        self.address, self.dtype, self.kind = int(address), np.dtype(dtype), _CTYPES[dtype]
        self.size = stride or ctypes.sizeof(self.kind)
        self.companion = companion  # the field that goes along with this one
        # As compiled functors see it: integers have 64 bits, but for uint64.
        wide = self.dtype.kind in "iu" and self.dtype != np.uint64
        self.number = np.int64 if wide else self.dtype.type

    def __getitem__(self, index: Any) -> Any:
        place = int(index)
        if place < 0:
            raise IndexError(f"a kernel reads at {place}")  # where an array ends is not known
        return self.number(self.kind.from_address(self.address + self.size * place).value)

    def __setitem__(self, index: Any, value: Any) -> None:
        if self.kind is ctypes.c_bool:
            number: bool | int | float = bool(value)
        elif self.dtype.kind == "f":
            number = float(value)
        elif isinstance(value, (float, np.floating)):
            raise FunctorError(refused_float(self.dtype))
        else:
            number = int(value)
        place = int(index)
        if place < 0:
            raise IndexError(f"a kernel writes at {place}")
        self.kind.from_address(self.address + self.size * place).value = number


class Packed:
    """Compressed ids; see :mod:`frontier.compile.fields.packed`."""

    __slots__ = ("companion", "dtype", "frames", "words")

    def __init__(self, frames: Pointer, words: Pointer) -> None:
        self.frames, self.words = frames, words
        self.dtype, self.companion = np.dtype(np.int64), None

    def __getitem__(self, index: Any) -> np.int64:
        first = (int(index) >> 5) << 1
        start, least, end = (int(self.frames[first + i]) for i in range(3))
        bits = end - start
        bit = (int(index) & 31) * bits
        both = int(self.words[start + (bit >> 5)]) | int(self.words[start + (bit >> 5) + 1]) << 32
        return np.int64(least + (both >> (bit & 31) & (1 << bits) - 1))


class Sparse:
    """Doubly compressed offsets; see :mod:`frontier.compile.fields.sparse`."""

    __slots__ = ("companion", "dtype", "first", "length", "pointers", "words")

    def __init__(self, words: int, pointers: Pointer, first: int, length: int) -> None:
        self.words = Pointer(words, "uint64") if words else None
        self.pointers, self.first, self.length = pointers, int(first), int(length)
        self.dtype, self.companion = np.dtype(np.int64), None

    def __getitem__(self, index: Any) -> Any:
        if self.words is None:
            return self.pointers[index]
        place = min(max(int(index) - self.first, 0), self.length)
        word = int(self.words[place >> 5])
        return self.pointers[(word >> 32) + (word & (1 << (place & 31)) - 1).bit_count()]


class Rows(Pointer):
    """A field of several values; see :mod:`frontier.compile.fields.rows`."""

    __slots__ = ("width",)

    def __init__(self, address: int, dtype: str, width: int) -> None:
        super().__init__(address, dtype)
        self.width = width

    def __getitem__(self, index: Any) -> Any:
        return super().__getitem__(int(index[0]) * self.width + int(index[1]))

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(int(index[0]) * self.width + int(index[1]), value)


def _at(name: str) -> Callable[[int], Pointer]:
    return lambda address: Pointer(address, name)


def _shared(name: str) -> Callable[[int], Pointer]:
    return lambda offset: Pointer(me().block.scratch + int(offset), name)


def _half(key: str, other: str = "") -> Callable[[int], Pointer]:
    def at(address: int) -> Pointer:
        return Pointer(address, key, 8, Pointer(address - 4, other, 8) if other else None)

    return at


def _locked(key: str, other: str) -> Callable[[int, int, int], Pointer]:
    """Two fields under a lock, which the simulator does not need, since its threads run in turns."""
    return lambda address, of_other, locks: Pointer(address, key, 0, Pointer(of_other, other))


def _packed(frames: str) -> Callable[[int, int], Packed]:
    return lambda of_frames, of_words: Packed(Pointer(of_frames, frames), Pointer(of_words, "uint32"))


def _sparse(offsets: str) -> Callable[[int, int, int, int], Sparse]:
    return lambda words, pointers, first, length: Sparse(words, Pointer(pointers, offsets), first, length)


def _rows(width: str, *dtype: str) -> Callable[[int], Rows]:
    return lambda address: Rows(address, dtype[-1], int(width))  # of wide_int32 as of int32


class _Pointers(dict[str, Any]):
    """Fields that go along with others, of several values, packed ids and offsets."""

    def __missing__(self, name: str) -> Any:
        way, *dtypes = name.split("_")
        makers: dict[str, Any] = {
            "half": _half, "locked": _locked, "packed": _packed, "rows": _rows, "sparse": _sparse,
        }  # fmt: skip
        self[name] = made = makers[way](*dtypes)
        return made


POINTERS = _Pointers({name: _at(name) for name in _CTYPES})
POINTERS.update({f"wide_int{bits}": _at(f"int{bits}") for bits in (8, 16, 32)})
SHARED = {name: _shared(name) for name in ("int32", "uint32", "int64", "float64")}


# ---- atomics -----------------------------------------------------------------------------------------


def fetch_add(pointer: Any, index: Any, value: Any) -> Any:
    """Add; returns the old value."""
    old = pointer[index]
    pointer[index] = old + value
    return old


def fetch_add_system(pointer: Any, index: Any, value: Any) -> Any:
    """Add, where several GPUs may; returns the old value."""
    with SYSTEM:
        return fetch_add(pointer, index, value)


def fetch_min(pointer: Any, index: Any, value: Any) -> Any:
    """Minimum; returns the old value."""
    old = pointer[index]
    pointer[index] = np.fmin(old, value)
    return old


def fetch_max(pointer: Any, index: Any, value: Any) -> Any:
    """Maximum; returns the old value."""
    old = pointer[index]
    pointer[index] = np.fmax(old, value)
    return old


def fetch_or(pointer: Any, index: Any, value: Any) -> Any:
    """Bitwise or; returns the old value."""
    old = pointer[index]
    pointer[index] = int(old) | int(value)
    return old


def exchange(pointer: Any, index: Any, value: Any) -> Any:
    """Store; returns the old value."""
    old = pointer[index]
    pointer[index] = value
    return old


def compare_exchange(pointer: Any, index: Any, expected: Any, value: Any) -> Any:
    """If the element is ``expected`` it becomes ``value``; returns the old value."""
    old = pointer[index]
    if old == expected:
        pointer[index] = value
    else:  # another thread may be waiting in a loop for a change by this one
        me().block.grid.turn()
    return old


def load_relaxed(pointer: Any, index: Any) -> Any:
    """Read."""
    return pointer[index]


def load_acquire(pointer: Any, index: Any) -> Any:
    """Read, and switch to another thread, because this one may be waiting for it in a loop."""
    me().block.grid.turn()
    return pointer[index]


def load_acquire_system(pointer: Any, index: Any) -> Any:
    """Read what another GPU may have written, which runs in threads of its own."""
    me().block.grid.turn()
    time.sleep(0)
    return pointer[index]


def store_release(pointer: Any, index: Any, value: Any) -> None:
    """Write."""
    pointer[index] = value


store_relaxed_system = store_release


def fence_system() -> None:
    """All see at once what is written."""


def float_of(word: Any) -> np.float64:
    """The float64 that a word holds."""
    return np.float64(np.int64(word).view(np.float64))


def word_of(real: Any) -> np.int64:
    """The bits of a float64."""
    return np.int64(np.float64(real).view(np.int64))


def release_add(pointer: Any, index: Any, value: Any) -> None:
    """Add."""
    pointer[index] += value


def load_once(pointer: Any, index: Any) -> Any:
    """Read an element."""
    return pointer[index]


def prefetch(pointer: Any, index: Any) -> None:
    """There is no cache."""


def clock() -> int:
    """Nanoseconds."""
    return time.perf_counter_ns()


# ---- where a thread stands, and votes ----------------------------------------------------------------


def thread_index() -> np.int32:
    """Number of the thread in its block."""
    return np.int32(me().thread)


def block_index() -> np.int32:
    """Number of the block."""
    return np.int32(me().block.index)


def num_blocks() -> np.int32:
    """Number of blocks."""
    return np.int32(me().block.grid.blocks)


def block_size() -> np.int32:
    """Threads of a block."""
    return np.int32(me().block.grid.threads)


def sync() -> None:
    """All threads of the block meet."""
    me().block.barrier.wait()


def sync_or(flag: Any) -> bool:
    """All threads of the block meet; returns whether the flag of any is set."""
    block = me().block
    block.flags[me().thread] = bool(flag)
    block.barrier.wait()
    result = any(block.flags)
    block.barrier.wait()
    return result


def sync_warp() -> None:
    """The threads of a warp meet."""
    me().block.warps[me().thread // WARP].wait()


def _exchanged(value: Any) -> list[Any]:
    """The values of all lanes of the warp."""
    block, warp = me().block, me().thread // WARP
    block.values[me().thread] = value
    block.warps[warp].wait()
    values: list[Any] = block.values[warp * WARP : (warp + 1) * WARP]
    block.warps[warp].wait()
    return values


def ballot(flag: Any) -> np.uint32:
    """Bit i: the flag of lane i."""
    return np.uint32(sum(1 << i for i, value in enumerate(_exchanged(bool(flag))) if value))


def any_lane(flag: Any) -> bool:
    """Whether the flag of any lane is set."""
    return any(_exchanged(bool(flag)))


def match_any(value: Any) -> np.uint32:
    """Bit i: whether lane i has the same value. All lanes call it."""
    return np.uint32(sum(1 << i for i, other in enumerate(_exchanged(value)) if other == value))


def shuffle(value: Any, lane: Any) -> Any:
    """Return one lane's value to all lanes."""
    return _exchanged(value)[int(lane)]


def shuffle_up(value: Any, delta: Any) -> Any:
    """The value of the lane ``delta`` places before this one."""
    lane = me().thread % WARP
    return _exchanged(value)[lane - delta if lane >= delta else lane]


def shuffle_down(value: Any, delta: Any) -> Any:
    """The value of the lane ``delta`` places after this one."""
    lane = me().thread % WARP
    return _exchanged(value)[lane + delta if lane + delta < WARP else lane]


def popcount(word: Any) -> np.int32:
    """Number of one bits."""
    return np.int32(int(word).bit_count())


def first_of(everything: Any) -> np.int64:
    """The first element of a frontier that is a range: 0, or what is told as in ``Builder.in_a_row``."""
    return np.int64(int(everything) - 1)


def find_first(word: Any) -> np.int32:
    """Index of the lowest one bit of a word that is not 0."""
    return np.int32((int(word) & -int(word)).bit_length() - 1)
