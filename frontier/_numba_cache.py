"""What numba compiles, kept on disk: one file for each function and types, whole or not there.

numba has a cache of its own, which ends a run where a file cannot be written or is damaged, and in which several
processes compile the same at once.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.serialize import dumps

from frontier._apart import apart
from frontier._cache import keep, kept, once

__all__ = ["keep_code"]

_VERSIONS = (numba.__version__, llvmlite.__version__, sys.version_info[:2])


def keep_code(dispatcher: Any, name: str, folder: Callable[[], Path], stamp: Callable[[], str]) -> Any:
    """Let the code of a function be kept on disk; gives the function.

    Parameters
    ----------
    dispatcher : numba's dispatcher
    name : str
        With which its files begin.
    folder : callable
        Where they lie.
    stamp : callable
        What the code depends on beside its types; asked when it is first compiled or looked for.
    """
    cache = _Cache(name, folder, stamp)
    inner = dispatcher.compile

    def compile_once(signature: Any) -> Any:
        return apart(lambda: _once(signature))

    def _once(signature: Any) -> Any:
        with global_compiler_lock, once(cache.path_of(signature, dispatcher.targetctx.codegen())):
            return inner(signature)

    dispatcher._cache, dispatcher.compile = cache, compile_once
    return dispatcher


class _Cache:
    """What numba's dispatchers ask."""

    def __init__(self, name: str, folder: Callable[[], Path], stamp: Callable[[], str]) -> None:
        self._name, self._folder, self._stamp = name, folder, stamp
        self._known: str | None = None

    @property
    def cache_path(self) -> str:
        """The folder."""
        return str(self._folder())

    def path_of(self, signature: Any, codegen: Any) -> Path:
        """The file of a signature."""
        if self._known is None:
            self._known = self._stamp()
        key = repr((str(signature), codegen.magic_tuple(), _VERSIONS, self._known))
        return self._folder() / f"{self._name}.{hashlib.sha256(key.encode()).hexdigest()[:24]}.code"

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The compiled function; None if there is none, or the file is damaged."""
        target.refresh()
        path = self.path_of(signature, target.codegen())
        content = kept(path)
        if content is None:
            return None
        try:
            return CompileResult._rebuild(target, *pickle.loads(content))
        except Exception:  # whatever is wrong with it, the code can be made
            with suppress(OSError):
                path.unlink()
            return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep a compiled function if that is possible."""
        if result.library.has_dynamic_globals or any(not lifted.can_cache for lifted in result.lifted):
            return
        keep(self.path_of(signature, result.library.codegen), dumps(result._reduce()))
