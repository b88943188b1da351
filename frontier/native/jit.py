"""Compiled helper functions of the package itself, which are kept on disk with all other compiled code."""

from __future__ import annotations

import ctypes
import hashlib
import struct
import sys
import threading
from array import array
from collections.abc import Callable, Iterable
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from frontier.native import address_space, machine_code, notice
from frontier.native.uninterrupted import apart

__all__ = ["Kernel", "jit", "sparing", "version_of"]


def version_of(distribution: str) -> str | None:
    """Return the version of an installed package, which need not be imported for it."""
    from importlib import metadata  # it takes 12 ms to import

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


#: Fewer elements than this (bytes of text) take 2 ms at most without compiled kernels. To compile these takes a second
#: or two where none are kept: so a process that handles no more in all than ``ENOUGH`` does without them.
FEW, ENOUGH = 2**14, 2**20

_spared: dict[str, int] = {}


def sparing(count: int, module: str) -> bool:
    """Whether so many elements shall be handled without the compiled kernels of a module."""
    if count < FEW:
        return True
    if module in sys.modules:
        return False
    _spared[module] = _spared.get(module, 0) + count
    return _spared[module] < ENOUGH


def jit(function: Any) -> Any:
    """Compile a function when it is first called: without the GIL, division as in NumPy, kept on disk."""
    return Kernel(function)


class Kernel:
    """A function of arrays and numbers that is compiled for the types it is called with, and loaded without numba.

    It returns nothing, an int or a bool; one that only others call may return anything numba knows.
    """

    def __init__(self, function: Any) -> None:
        self.py_func = function
        self.__name__, self.__doc__, self.__module__ = function.__name__, function.__doc__, function.__module__
        self._lock = threading.Lock()
        self._made: dict[tuple[Any, ...], Callable[[list[int]], Any]] = {}

    def __call__(self, *args: Any) -> Any:
        """Run it on arrays and numbers; compiled for their types when these are new."""
        kinds: list[Any] = []
        words = [0]
        _read(args, kinds, words)
        key = tuple(kinds)
        made = self._made.get(key)
        if made is None:
            made = apart(lambda: self._once(key))
        return made(words)

    def _once(self, kinds: tuple[Any, ...]) -> Callable[[list[int]], Any]:
        with self._lock:
            if kinds not in self._made:
                key = hashlib.sha256(repr((_stamp(self.py_func), _entry_text(), machine_code.OPTIONS, kinds)).encode())
                name = f"{self.__module__.rpartition('.')[2]}_{self.__name__}_{key.hexdigest()[:24]}"
                code = machine_code.linked(name, lambda: self._compiled(kinds, name))
                self._made[kinds] = _caller(code)
            return self._made[kinds]

    def _compiled(self, kinds: tuple[Any, ...], name: str) -> tuple[Any, str, str]:
        address_space.prepare()
        notice.begin()
        try:
            if self.__module__ not in _said:
                _said.add(self.__module__)
                notice.announce(_KERNELS.get(self.__module__, self.__name__))
            from frontier.native import kernel_entry

            library, gives = kernel_entry.library(self.dispatcher, kinds, name)
        finally:
            notice.end()
        return library, name, gives

    @cached_property
    def dispatcher(self) -> Any:
        """The function as numba has it."""
        import numba

        return numba.njit(**machine_code.OPTIONS)(self.py_func)

    @property
    def _numba_type_(self) -> Any:
        """What numba asks of a global that a function uses."""
        from numba import types

        return types.Dispatcher(self.dispatcher)


# ---- calls ---------------------------------------------------------------------------------------------------


def _read(args: Iterable[Any], kinds: list[Any], words: list[int]) -> None:
    """What code depends on of arguments, one after another, and the words by which it gets them.

    Of an array the dtype, the number of dimensions, and whether it lies without gaps.
    """
    for value in args:
        kind = type(value)
        if kind is np.ndarray:
            whole = value.flags.c_contiguous
            kinds += (value.dtype, value.ndim, whole)
            words.append(_address(value) if value.size else 0)
            words += value.shape
            if not whole:
                words += [stride & _MASK for stride in value.strides]
        elif kind is int:
            kinds.append("int64" if -(2**63) <= value < 2**63 else "uint64")
            words.append(value & _MASK)
        elif kind is bool:
            kinds.append("boolean")
            words.append(value)
        elif isinstance(value, np.integer):
            kinds.append(_NAMES[kind])
            words.append(int(value) & _MASK)
        elif kind is tuple:
            kinds += ("tuple", len(value))
            _read(value, kinds, words)
        elif isinstance(value, float):
            kinds.append("float64")
            words += struct.unpack("Q", struct.pack("d", value))
        else:
            raise TypeError(f"a kernel takes arrays and numbers, not {value!r}")


def _caller(code: machine_code.Linked) -> Callable[[list[int]], Any]:
    """What calls a function with a table; see :mod:`frontier.native.kernel_entry`."""
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(code.address)
    read = {"none": None, "bool": bool, "int64": lambda word: word - ((word >> 63) << 64)}[code.gives]

    def call(words: list[int]) -> Any:
        table = array("Q", words)
        if function(table.buffer_info()[0]):
            raise RuntimeError("a kernel has failed")
        return read(table[0]) if read is not None else None

    return call


_MASK = 2**64 - 1
#: A dtype takes two microseconds to say its name.
_NAMES = {np.dtype(f"{sign}int{bits}").type: f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_Byte = ctypes.c_char


def _address(value: Any) -> int:
    try:
        return ctypes.addressof(_Byte.from_buffer(value))  # a quarter of the other's time
    except (TypeError, ValueError, BufferError):  # it may not be written to, or has gaps
        return int(value.__array_interface__["data"][0])


@cache
def _entry_text() -> str:
    """What makes the functions that are called."""
    return Path(__file__).with_name("kernel_entry.py").read_text(encoding="utf-8")


def _stamp(function: Any) -> str:
    """What a function of the package is and takes from outside, tables too, which functors may not take."""
    from frontier.functors.captures import Captures

    found = Captures((function,))
    made = hashlib.sha256(found.parts[function].fingerprint.encode())
    for each in found.refused:
        if not each.is_array:
            found.check()
        made.update(f"{each.name} {each.value.dtype} {each.value.shape}".encode())
        made.update(each.value.tobytes())
    return made.hexdigest()


#: Modules of such functions -> what they are, for the report that they are being compiled.
_KERNELS = {
    "frontier.graph.build_kernels": "what makes graphs of edges",
    "frontier.distributed.ranks.row_kernels": "what makes graphs in parts",
    "frontier.generators.kernels": "generators",
    "frontier.io._tokens": "the reader of text files",
}

_said: set[str] = set()
