"""Compiled helper functions of the package itself, kept on disk where all generated code is kept."""

from __future__ import annotations

import ctypes
import hashlib
import sys
import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from frontier import _compiler_room, _machine_code, compiling
from frontier._apart import apart
from frontier._cache import cache_folder

__all__ = ["OPTIONS", "Kernel", "jit", "sparing", "version_of"]


def version_of(distribution: str) -> str | None:
    """Give the version of an installed package, which need not be imported for it."""
    from importlib import metadata  # it takes 12 ms to import

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


#: Fewer elements than this (bytes of text) take 2 ms at most without compiled kernels. To import numba and load these
#: takes half a second, and to compile them one or two: so a process that handles no more in all than ``ENOUGH`` does
#: without them.
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
        self._made: dict[tuple[Any, ...], Callable[[Sequence[Any]], Any]] = {}

    def __call__(self, *args: Any) -> Any:
        kinds = tuple([_kind(each) for each in args])
        made = self._made.get(kinds)
        if made is None:
            made = apart(lambda: self._once(kinds))
        return made(args)

    def _once(self, kinds: tuple[Any, ...]) -> Callable[[Sequence[Any]], Any]:
        with self._lock:
            if kinds not in self._made:
                key = repr((_stamp(self.py_func), _machine_code.host(), kinds))
                name = f"{self.__module__.rpartition('.')[2]}_{self.__name__}"
                path = cache_folder() / f"{name}.{hashlib.sha256(key.encode()).hexdigest()[:24]}.code"
                self._made[kinds] = _caller(_machine_code.linked(path, lambda: self._compiled(kinds)), kinds)
            return self._made[kinds]

    def _compiled(self, kinds: tuple[Any, ...]) -> tuple[Any, str, str]:
        _compiler_room.prepare()
        compiling.begin()
        try:
            if self.__module__ not in _said:
                _said.add(self.__module__)
                compiling.announce(_KERNELS.get(self.__module__, self.__name__))
            types = tuple(_numba_type(kind) for kind in kinds)
            self.dispatcher.compile(types)
        finally:
            compiling.end()
        made = self.dispatcher.overloads[types]
        return made.library, made.fndesc.llvm_func_name, str(made.signature.return_type)

    @cached_property
    def dispatcher(self) -> Any:
        """The function as numba has it."""
        import numba

        return numba.njit(**OPTIONS)(self.py_func)

    @property
    def _numba_type_(self) -> Any:
        """What numba asks of a global that a function uses."""
        from numba import types

        return types.Dispatcher(self.dispatcher)


#: As the cpu backend compiles what it calls by its address: no GIL, no reference counts, no wrappers.
OPTIONS: dict[str, Any] = {
    "nogil": True, "error_model": "numpy", "_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True,
}  # fmt: skip


# ---- calls ---------------------------------------------------------------------------------------------------


def _kind(value: Any) -> Any:
    """What code depends on of an argument: of an array dtype, dimensions and whether it lies without gaps."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.ndim, value.flags.c_contiguous
    if isinstance(value, bool | np.bool_):
        return "boolean"
    if isinstance(value, int):
        return "int64" if -(2**63) <= value < 2**63 else "uint64"
    if isinstance(value, np.integer | np.floating):
        return value.dtype.name
    if isinstance(value, float):
        return "float64"
    if isinstance(value, tuple):
        return "tuple", *(_kind(each) for each in value)
    raise TypeError(f"a kernel takes arrays and numbers, not {value!r}")


def _numba_type(kind: Any) -> Any:
    from numba import types
    from numba.np.numpy_support import from_dtype

    if isinstance(kind, str):
        return getattr(types, kind)
    if kind[0] == "tuple":
        return types.Tuple([_numba_type(each) for each in kind[1:]])
    dtype, dimensions, whole = kind
    return types.Array(from_dtype(np.dtype(dtype)), dimensions, "C" if whole else "A")


def _caller(code: _machine_code.Linked, kinds: tuple[Any, ...]) -> Callable[[Sequence[Any]], Any]:
    """What calls a function of numba's: a place for the result, one for an exception, and all that arguments are."""
    gives = {"none": None, "bool": ctypes.c_bool, "int64": ctypes.c_int64}[code.gives]
    words = [word for kind in kinds for word in _words(kind)]
    function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *words)(code.address)

    def call(args: Sequence[Any]) -> Any:
        given: list[Any] = []
        for each in args:
            _flatten(each, given)
        result, problem = ctypes.c_int64(), ctypes.c_void_p()
        status = function(ctypes.addressof(result), ctypes.addressof(problem), *given)
        if status not in _FINE:
            raise RuntimeError(f"a kernel failed: {status}")
        return None if gives is None else gives.from_buffer(result).value

    return call


#: numba's codes for a value, and for nothing.
_FINE = (0, -2)

_C = {"boolean": ctypes.c_bool, "float32": ctypes.c_float, "float64": ctypes.c_double} | {
    f"{sign}int{bits}": getattr(ctypes, f"c_{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)
}


def _words(kind: Any) -> list[Any]:
    if isinstance(kind, str):
        word: Any = _C[kind]
        return [word]
    if kind[0] == "tuple":
        return [word for each in kind[1:] for word in _words(each)]
    sizes = 2 * int(kind[1])
    return [ctypes.c_void_p] * 2 + [ctypes.c_int64] * 2 + [ctypes.c_void_p] + [ctypes.c_int64] * sizes


def _flatten(value: Any, given: list[Any]) -> None:
    if isinstance(value, np.ndarray):  # two owners, whom none counts; sizes; the address
        given += (None, None, value.size, value.itemsize, value.__array_interface__["data"][0])
        given += value.shape
        given += value.strides
    elif isinstance(value, tuple):
        for each in value:
            _flatten(each, given)
    else:
        given.append(value.item() if isinstance(value, np.generic) else value)


def _stamp(function: Any) -> str:
    """What a function of the package is and takes from outside, tables too, which functors may not take."""
    from frontier.captures import Captures

    found = Captures((function,))
    made = hashlib.sha256(found.parts[function].fingerprint.encode())
    for each in found.refused:
        if not each.is_array:
            found.check()
        made.update(f"{each.name} {each.value.dtype} {each.value.shape}".encode())
        made.update(each.value.tobytes())
    return made.hexdigest()


#: Modules of such functions -> what they are, for whoever waits for them.
_KERNELS = {
    "frontier._build_kernels": "what makes graphs of edges",
    "frontier._generate_kernels": "generators",
    "frontier.io._tokens": "the reader of text files",
}

_said: set[str] = set()
