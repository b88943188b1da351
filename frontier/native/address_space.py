"""Memory for the compiler in a process with a limited address space (``ulimit -v``), checked before it is used.

numba and the libraries below it do not handle such limits. SciPy's OpenBLAS, which numba loads when it compiles for the
first time, tries forever to map its buffers (OpenBLAS issue 5289; a run seemed to hang), and LLVM ends the process.
Therefore, in such a process everything is loaded at once, OpenBLAS with the buffers of one thread, and if there is less
memory than compiling or loading machine code needs, Frontier raises an error. Without a limit, nothing is done.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Iterator

from frontier.errors import FrontierMemoryError
from frontier.memory import limits
from frontier.native.uninterrupted import apart

__all__ = ["linking", "out_of_memory", "prepare"]

#: Bytes of address space that LLVM takes, numba without it, OpenBLAS, compiling, and bringing code into memory.
#: (Measured on Linux, x86-64: 162 MiB, 30, 84, with 24 to begin with betweenness compiled, to which 64 may come that
#: glibc reserves for the heap of another thread, and less than one. LLVM cannot be held to it: a much larger loop of a
#: user's own may still end the process, with a message of LLVM's.)
LLVM, NUMBA, OPENBLAS, COMPILING, LINKING = 166 << 20, 34 << 20, 88 << 20, 104 << 20, 4 << 20

_HINT = "; allow it more, or use the python backend: g.to('python')"

_loaded = False
_BLAS = "scipy.linalg.cython_blas"


def prepare(*, compiling: bool = True) -> None:
    """Make sure that numba can be loaded and used.

    Parameters
    ----------
    compiling : bool
        Whether it shall compile, for which more of it is loaded here; else it only looks at a function, as the python
        backend has it do too.

    Raises
    ------
    FrontierMemoryError
        The address space that this process may still have is too small.
    """
    global _loaded
    left = limits.address_space_left()
    if left is None:
        if not _loaded:
            apart(lambda: importlib.import_module("numba"))  # Ctrl-C would leave half of it
        _loaded = True
        return
    blas = compiling and not _loaded and _BLAS not in sys.modules
    needed = _missing("llvmlite", LLVM) + _missing("numba", NUMBA)
    if compiling:
        needed += COMPILING + (OPENBLAS if blas else 0)
    _ask("compiling" if compiling else "loading numba", left, needed, _HINT if compiling else "")
    if blas:
        with _one_thread(), contextlib.suppress(ImportError):  # numba does without SciPy
            import numba  # noqa: F401
            import scipy.linalg.cython_blas  # noqa: F401
        _loaded = True


def linking() -> None:
    """Make sure that machine code can be loaded; FrontierMemoryError if there is too little room."""
    left = limits.address_space_left()
    if left is not None:
        _ask("loading compiled code", left, LINKING + _missing("llvmlite", LLVM), "")


def _missing(module: str, size: int) -> int:
    return 0 if module in sys.modules else size


def _ask(what: str, left: int, needed: int, hint: str) -> None:
    if left < needed:
        raise FrontierMemoryError(
            f"{what}: at least {needed:,} bytes are needed, {left:,} are free in the address space of this process, "
            f"which ulimit -v limits{hint}"
        )


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Let an OpenBLAS that is loaded meanwhile make room for one thread; Frontier itself uses none."""
    name = "OPENBLAS_NUM_THREADS"
    if name in os.environ:
        yield
        return
    os.environ[name] = "1"
    try:
        yield
    finally:
        del os.environ[name]


def out_of_memory(error: BaseException) -> bool:
    """Whether an error, or one that it came from, says that memory ran out; numba wraps what is raised in it."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, MemoryError) or any(isinstance(each, MemoryError) for each in seen.args):
            return True
        seen = seen.__cause__ or seen.__context__
    return False
