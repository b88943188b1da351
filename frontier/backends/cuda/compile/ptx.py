"""From a device function and functors to PTX, by numba-cuda: the door to the GPU's compiler.

Another compiler would offer the three functions here, ``intrinsics`` and ``atomics`` with the same names.
"""

from __future__ import annotations

import importlib
import re
import threading
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from frontier.compile.functors.copies import Copies
from frontier.compile.translation.texts import gives

__all__ = ["functor", "kernel", "reason"]

# One compilation at a time: of a run that was interrupted, one may still be at work.
_compiling = threading.RLock()


def functor(captured: Any) -> Any:
    """Return a functor that device functions may call, compiled for the types with which they do."""
    return _copies()(captured)


def kernel(
    function: Callable[..., Any],
    dtypes: Sequence[str],
    name: str,
    capability: tuple[int, int],
    bounds: tuple[int, int],
) -> str:
    """Compile a function of numbers and addresses to the PTX of a kernel; needs no GPU.

    Parameters
    ----------
    function : callable
        Marked by ``frontier.compile.translation.texts.device``, as are those that it calls.
    dtypes : sequence of str
        Of its parameters. Arrays are addresses, ``"int64"``.
    name : str
        Of the kernel.
    capability : (int, int)
        Of the device.
    bounds : (int, int)
        Threads of a block, and blocks that a multiprocessor must hold at least.
    """
    with _compiling:
        from numba import types

        from frontier.backends.cuda.compile import numba_compat
        from frontier.backends.cuda.compile.translate import translated

        kinds = [getattr(types, "boolean" if dtype == "bool" else dtype) for dtype in dtypes]
        with numba_compat.device_of(capability):
            run = translated(gives()(function), kinds, name, bounds)
            made, _ = _numba_cuda().compile(run, types.void(), device=True, cc=capability)
    return str(made).rstrip("\0")


def reason(error: Exception) -> str:
    """Return the part of a compiler's error that matters, in one line and without colours."""
    if isinstance(error, KeyError) and isinstance(error.args[0], np.ufunc):
        return f"there is no np.{error.args[0].__name__} on a GPU"
    lines = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip().splitlines()
    return lines[0] if lines else type(error).__name__


@cache
def _copies() -> Copies:
    return Copies(_numba_cuda().jit(device=True, forceinline=True))


def _numba_cuda() -> Any:
    """Import numba-cuda, which stands in for numba's own module of this name and has more in it."""
    return importlib.import_module("numba.cuda")
