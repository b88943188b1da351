"""Compiled helper functions of the package itself, kept on disk where all generated code is kept."""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from importlib import metadata
from typing import Any

from frontier import compiling
from frontier._cache import cache_folder

__all__ = ["jit", "sparing", "version_of"]


def version_of(distribution: str) -> str | None:
    """Give the version of an installed package, which need not be imported for it."""
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
    from frontier import _compiler_room

    _compiler_room.prepare()
    import numba

    from frontier._numba_cache import keep_code

    _listen()
    made = numba.njit(function, nogil=True, error_model="numpy")
    name = f"{function.__module__.rpartition('.')[2]}_{function.__name__}"
    return _compiler_room.guarded(keep_code(made, name, cache_folder, lambda: _stamp(function)))


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


@cache
def _listen() -> None:
    """Have numba tell when it compiles one of these functions: that is said, once for a module, and counted."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            module = event.data["dispatcher"].py_func.__module__
            if module in _KERNELS:
                compiling.begin()
                if module not in _said:
                    _said.add(module)
                    compiling.announce(_KERNELS[module])

        def on_end(self, event: Any) -> None:
            if event.data["dispatcher"].py_func.__module__ in _KERNELS:
                compiling.end()

    event.register("numba:compile", Listener())
