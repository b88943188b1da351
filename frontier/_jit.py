"""Compiled helper functions of the package itself, and the folder on disk where all generated code is kept.

numba would keep machine code beside the source: in ``site-packages``, where pip would later leave it behind.
"""

from __future__ import annotations

import os
import sys
import tempfile
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from frontier import compiling

__all__ = ["cache_folder", "jit", "sparing", "version_of", "write_whole"]


@cache
def cache_folder(target: str = "cpu") -> Path:
    """Where generated code for a target is kept: in ``FRONTIER_CACHE_DIR``, or in a folder in the user's cache."""
    chosen = os.environ.get("FRONTIER_CACHE_DIR")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = (Path(chosen) if chosen else Path(home) / "frontier") / target
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="frontier-"))
    return folder


def write_whole(path: Path, content: bytes, seconds: float | None = None) -> None:
    """Write a file whole or not at all, for processes share the folder; ``seconds``: what its time shall be."""
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    if seconds is not None:
        os.utime(name, (seconds, seconds))
    os.replace(name, path)


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
    from numba.core import config as numba_config

    _listen()
    config: Any = numba_config
    before = config.CACHE_DIR  # empty, unless the user has set NUMBA_CACHE_DIR; read when the decorator runs
    config.CACHE_DIR = before or str(cache_folder())
    try:
        return _compiler_room.guarded(numba.njit(function, nogil=True, cache=True, error_model="numpy"))
    finally:
        config.CACHE_DIR = before


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
