"""Compile the source text and the functors of a program to a kernel in machine code, which is kept on disk.

The text is imported as a module, of which ``compile`` makes PTX, unless the package brings that along, and of that
machine code for the device. It is kept in a file whose name is a hash of everything that it depends on, so a second
process neither compiles nor imports numba.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from frontier import tracing
from frontier.backends.cuda.compile import ptx
from frontier.backends.cuda.compile.environment import package, toolchain
from frontier.backends.cuda.compile.linker import linked
from frontier.backends.cuda.program import CudaProgram, text
from frontier.errors import BackendUnavailableError, FrontierError, FunctorError
from frontier.native import notice, prebuilt
from frontier.native.cache import cache_folder, is_kept, keep, kept, made_module, once
from frontier.native.uninterrupted import apart

__all__ = ["ENTRY", "OLDEST", "binary", "is_made", "machine_code", "module_of", "name_of", "ptx_of"]

#: Name of every kernel.
ENTRY = "frontier_loop"

#: The compute capability for which the package brings PTX, which suits all newer devices.
OLDEST = (8, 0)

_lock = threading.RLock()
_binaries: dict[tuple[str, tuple[int, int]], bytes] = {}


def name_of(program: CudaProgram, bounds: tuple[int, int]) -> str:
    """A name that says all that the PTX of a program depends on, but the device."""
    key = hashlib.sha256()
    scalars = program.layout.of_kind("scalar")  # parameters
    for part in (text(program), scalars, package(), bounds):
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

    def make(capability: tuple[int, int]) -> str:
        try:
            return apart(lambda: ptx_of(program, capability, bounds))
        except BackendUnavailableError:  # no functor is at fault
            raise
        except Exception as error:
            blame()
            steps = ", ".join(program.steps)
            raise FunctorError(f"the loop of {steps} cannot be compiled for the GPU: {ptx.reason(error)}") from error

    name = name_of(program, bounds)
    with _lock:
        key = name, capability
        if key not in _binaries:
            _binaries[key] = machine_code(name, program.title, capability, make)
        return _binaries[key]


def is_made(program: CudaProgram, capability: tuple[int, int], bounds: tuple[int, int]) -> bool:
    """Whether the machine code of a program is in memory or on disk, or the package brings its PTX."""
    name = name_of(program, bounds)
    ready = (name, capability) in _binaries or is_kept(_path_of(name, capability))
    return ready or (capability >= OLDEST and prebuilt.brings("cuda", name))


def machine_code(
    name: str, title: str, capability: tuple[int, int], make: Callable[[tuple[int, int]], str]
) -> bytes:
    """Machine code for the current device: from disk, of PTX that the package brings, or of PTX that is made now.

    Parameters
    ----------
    name : str
        Says all that the PTX depends on, but the device.
    title : str
        What is compiled, for people.
    capability : (int, int)
        Of the device.
    make : callable
        Gives the PTX for a compute capability.
    """
    path = _path_of(name, capability)
    with once(path):
        found = kept(path)
        if found is None:
            notice.begin()
            notice.announce(title)
            try:
                found = _of_package(name, capability) or _linked(make(capability), capability, title)
            finally:
                took = notice.end()
            tracing.add_compile(title, took, "cuda")
            keep(path, found)
    return found


def _path_of(name: str, capability: tuple[int, int]) -> Path:
    return cache_folder("cuda") / "{}.sm_{}{}.{}.cubin".format(name, *capability, toolchain())


def _of_package(name: str, capability: tuple[int, int]) -> bytes | None:
    """Machine code of PTX that the package brings; None if it does not, or the driver is older than that."""
    code = prebuilt.find("cuda", name) if capability >= OLDEST else None
    with suppress(FrontierError):
        return None if code is None else _linked(code.decode(), capability, name)
    return None


def _linked(code: str, capability: tuple[int, int], title: str) -> bytes:
    try:
        return linked(code, capability)
    except RuntimeError as error:  # CuPy's, of the driver
        raise FrontierError(f"the driver cannot link {title}: {ptx.reason(error)}") from error


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
