"""From a device function and functors to PTX: the door to the GPU's compiler.

There are two, ``by_numba_cuda`` and ``by_llvm``; :mod:`frontier.backends.cuda.compile.target` says which one is used.
"""

from __future__ import annotations

import importlib
import re
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from frontier.compile.translation.texts import gives

__all__ = ["functor", "kernel", "reason"]

# One compilation at a time: of a run that was interrupted, one may still be at work.
_compiling = threading.RLock()


def functor(captured: Any) -> Any:
    """Return a functor that device functions may call, compiled for the types with which they do."""
    with _compiling:
        return _compiler().functors()(captured)


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

        kinds = [getattr(types, "boolean" if dtype == "bool" else dtype) for dtype in dtypes]
        made: str = _compiler().kernel(gives()(function), kinds, name, capability, bounds)
    return made.rstrip("\0")


def reason(error: Exception) -> str:
    """Return the part of a compiler's error that matters, in one line and without colours."""
    if isinstance(error, KeyError) and isinstance(error.args[0], np.ufunc):
        return f"there is no np.{error.args[0].__name__} on a GPU"
    lines = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _compiler() -> Any:
    """The module of the compiler for which the instructions were chosen when they were imported."""
    name: str = importlib.import_module("frontier.backends.cuda.compile.target").COMPILER
    return importlib.import_module(f"frontier.backends.cuda.compile.by_{name.replace('-', '_')}")
