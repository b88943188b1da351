"""Machine code for the CPU, kept on disk as object files and loaded without numba.

numba compiles, and the resulting object file is kept, preceded by a line that names the function to call, the type of
its result, and the functions that it calls in turn. llvmlite alone links it into a process in less than a millisecond.
Importing numba and letting it load its own cache takes more than half a second.
"""

from __future__ import annotations

import ctypes
import json
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from frontier.errors import FrontierMemoryError
from frontier.native import address_space, host, prebuilt
from frontier.native.cache import cache_folder, drop, is_kept, keep, kept, once

__all__ = ["OPTIONS", "Linked", "function", "is_made", "linked"]

#: How numba compiles what is called by its address, or by other compiled code: no GIL, no reference counts (there are
#: none to count), division as in NumPy, and no wrappers, which take 7 % of compiling.
OPTIONS: dict[str, Any] = {
    "nogil": True, "error_model": "numpy", "_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True,
}  # fmt: skip

_lock = threading.Lock()
_libraries: list[Any] = []  # never freed: until its last moment other threads of a process may run what lies there
_tries = 0


class Linked:
    """A function in machine code that is in memory.

    Attributes
    ----------
    address : int
    gives : str
        numba's name of the type that it returns.
    """

    def __init__(self, address: int, gives: str) -> None:
        self.address, self.gives = address, gives


def linked(name: str, make: Callable[[], tuple[Any, str, str]], keeping: bool = True) -> Linked:
    """A function: from disk, as the package brings it, or made and kept on disk.

    Parameters
    ----------
    name : str
        Says all that the code depends on, but the compilers and the processor.
    make : callable
        Gives numba's library, the name of the function in it, and the type that this returns.
    keeping : bool
        Whether it may be kept, if numba says so too.
    """
    path = _path_of(name)
    if keeping and not is_kept(path) and (brought := _brought(name)) is not None:
        return brought
    with once(path):
        content = kept(path) if keeping else None
        if content is not None:
            try:
                return _link(content)
            except FrontierMemoryError:
                raise
            except Exception:  # whatever is wrong with it, the code can be made
                drop(path)
        library, symbol, gives = make()
        content = _content(library, symbol, gives)
        if keeping and not library.has_dynamic_globals:  # addresses in this process
            keep(path, content)
        return _link(content)


def is_made(name: str) -> bool:
    """Whether the code of this name need not be made."""
    return is_kept(_path_of(name)) or (prebuilt.brings("cpu", name) and host.is_usual())


def _path_of(name: str) -> Path:
    return cache_folder() / f"{name}.{host.digest()}.code"


def _brought(name: str) -> Linked | None:
    """The function as the package brings it, if it does, and for processors like this one."""
    content = prebuilt.find("cpu", name)
    if content is None or not host.is_usual():
        return None
    try:
        return _link(content)
    except FrontierMemoryError:
        raise
    except Exception:  # it calls what this version of numba does not have
        return None


def _content(library: Any, symbol: str, gives: str) -> bytes:
    needs = [f.name for f in library._final_module.functions if f.is_declaration and not f.name.startswith("llvm.")]
    head = json.dumps({"symbol": symbol, "gives": gives, "needs": needs})
    code: bytes = library._get_compiled_object()
    return head.encode() + b"\n" + code


def _link(content: bytes) -> Linked:
    """Bring code into memory; RuntimeError if that cannot be."""
    address_space.linking()
    head, _, code = content.partition(b"\n")
    found = json.loads(head)
    with _lock:
        try:
            library = _library(found["symbol"], code, {})
        except RuntimeError:  # it calls what numba has, and tells LLVM of where it is loaded
            library = _library(found["symbol"], code, _addresses(found["needs"]))
        _libraries.append(library)
    return Linked(library[found["symbol"]], found["gives"])


def _library(symbol: str, code: bytes, others: dict[str, int]) -> Any:
    global _tries
    from llvmlite.binding.orcjit import JITLibraryBuilder

    builder = JITLibraryBuilder().add_object_img(code).add_current_process().export_symbol(symbol)
    for name, address in others.items():
        builder.import_symbol(name, address)
    _tries += 1
    return builder.link(_linker(), f"frontier.{_tries}")


def _addresses(needs: list[str]) -> dict[str, int]:
    from llvmlite import binding
    from numba.core.registry import cpu_target

    cpu_target.target_context.refresh()
    found = {name: binding.address_of_symbol(name) for name in needs}
    return {name: address for name, address in found.items() if address}


@cache
def _linker() -> Any:
    from llvmlite import binding
    from llvmlite.binding.orcjit import create_lljit_compiler

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return create_lljit_compiler(suppress_errors=True)


class _Method(ctypes.Structure):
    """Python's description of a function in C."""

    _fields_ = (
        ("name", ctypes.c_char_p), ("address", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p),
    )  # fmt: skip


_FASTCALL = 0x80  # METH_FASTCALL
_methods: list[_Method] = []  # which functions point to


def function(name: str, address: int) -> Callable[..., Any]:
    """A function of Python's for one in C that takes an array of objects, which is called in half of ctypes' time."""
    _methods.append(_Method(name.encode(), address, _FASTCALL, None))
    kind = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    make = kind(("PyCFunction_NewEx", ctypes.pythonapi))
    made: Callable[..., Any] = make(ctypes.addressof(_methods[-1]), None, None)
    return made

