"""Compile the source text and the functors of a program to a kernel in machine code, which is kept on disk.

The text is imported as a module, of which ``compile`` makes PTX, and of that machine code for the device. It is kept in
a file whose name is a hash of everything that it depends on, so a second process neither compiles nor imports numba.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from frontier import tracing
from frontier.backends.cuda.compile import ptx
from frontier.backends.cuda.compile.environment import environment
from frontier.backends.cuda.compile.linker import linked
from frontier.backends.cuda.program import CudaProgram, text
from frontier.errors import BackendUnavailableError, FrontierError, FunctorError
from frontier.native import notice
from frontier.native.cache import cache_folder, is_kept, keep, kept, made_module, once
from frontier.native.uninterrupted import apart

__all__ = ["ENTRY", "binary", "is_made", "key_of", "module_of", "ptx_of"]

#: Name of every kernel.
ENTRY = "frontier_loop"

_lock = threading.RLock()
_binaries: dict[str, bytes] = {}


def key_of(program: CudaProgram, capability: tuple[int, int], bounds: tuple[int, int]) -> str:
    """What the machine code of a program depends on, as a name for its file."""
    key = hashlib.sha256()
    scalars = program.layout.of_kind("scalar")  # parameters
    for part in (text(program), scalars, environment(), capability, bounds):
        key.update(str(part).encode())
    for fn, name in program.functors.items():
        key.update(f"{name}{program.captured(fn).fingerprint}".encode())
    return f"kernel_{key.hexdigest()[:32]}"


def binary(
    program: CudaProgram, capability: tuple[int, int], bounds: tuple[int, int], blame: Callable[[], Any]
) -> bytes:
    """Machine code of a program.

    Parameters
    ----------
    program : CudaProgram
    capability : (int, int)
        Of the device, which must be current.
    bounds : (int, int)
        Threads of a block, and blocks that a multiprocessor must hold at least.
    blame : callable
        Called if the kernel cannot be compiled; raises FunctorError for a functor that is at fault.
    """
    name = key_of(program, capability, bounds)
    with _lock:
        if name not in _binaries:
            path = _path_of(name)
            with once(path):
                found = kept(path)
                if found is None:
                    found = _make(program, capability, bounds, blame)
                    keep(path, found)
            _binaries[name] = found
        return _binaries[name]


def is_made(program: CudaProgram, capability: tuple[int, int], bounds: tuple[int, int]) -> bool:
    """Whether the machine code of a program is in memory or on disk."""
    name = key_of(program, capability, bounds)
    return name in _binaries or is_kept(_path_of(name))


def _path_of(name: str) -> Path:
    return cache_folder("cuda") / f"{name}.cubin"


def _make(
    program: CudaProgram, capability: tuple[int, int], bounds: tuple[int, int], blame: Callable[[], Any]
) -> bytes:
    notice.begin()
    notice.announce(program.title)
    try:
        made = _machine_code(program, capability, bounds, blame)
    finally:
        took = notice.end()
    tracing.add_compile(program.title, took, "cuda")
    return made


def _machine_code(
    program: CudaProgram, capability: tuple[int, int], bounds: tuple[int, int], blame: Callable[[], Any]
) -> bytes:
    steps = ", ".join(program.steps)
    try:
        code = apart(lambda: ptx_of(program, capability, bounds))
    except BackendUnavailableError:  # no functor is at fault
        raise
    except Exception as error:
        blame()
        raise FunctorError(f"the loop of {steps} cannot be compiled for the GPU: {ptx.reason(error)}") from error
    try:
        return linked(code, capability)
    except RuntimeError as error:  # CuPy's, of the driver
        raise FrontierError(f"the driver cannot link the loop of {steps}: {ptx.reason(error)}") from error


def module_of(program: CudaProgram, functors: dict[str, Any]) -> ModuleType:
    """The program's module, made from its text."""
    made = text(program)
    name = f"loop_{hashlib.sha256(made.encode()).hexdigest()[:32]}"
    return made_module(f"frontier_cuda_{name}", cache_folder("cuda") / f"{name}.py", made, functors)


def ptx_of(program: CudaProgram, capability: tuple[int, int], bounds: tuple[int, int]) -> str:
    """The kernel's PTX; needs no GPU."""
    module = module_of(program, {made: ptx.functor(program.captured(fn)) for fn, made in program.functors.items()})
    scalars = set(program.scalars.values())
    dtypes = [var.dtype if var in scalars else "int64" for var in program.table().values()]
    return ptx.kernel(module.run, ["int64", *dtypes], ENTRY, capability, bounds)
