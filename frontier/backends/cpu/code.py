"""The loop function of a program: taken from memory, loaded from disk, or compiled.

Its machine code is kept in a file whose name is a hash of everything that it depends on, so a second process neither
compiles nor imports numba.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from frontier import tracing
from frontier.backends.cpu.printer import TeamPrinter
from frontier.backends.cpu.runtime_words import DTYPES
from frontier.lowering.builder import Builder
from frontier.lowering.module import module_text
from frontier.native import machine_code, notice
from frontier.native.uninterrupted import apart

__all__ = ["compiled", "is_known", "serving"]

_IMPORTS = """from frontier.backends.cpu.atomics import bits_of, checked, integer, key_down, key_up, truth
from frontier.compile.argument_tuples import *
from frontier.backends.cpu.guards import *
from frontier.backends.cpu.intrinsics import *
from frontier.backends.cpu.runtime import *
from frontier.backends.cpu.teams import next_share, offer, shares_of
from frontier.compile.translation.texts import gives, namedtuple, phase

""" + "\n".join(f"{name}_at = POINTERS[{name!r}]" for name in DTYPES)

_lock = threading.Lock()
_made: dict[str, Callable[[int, int, int], None]] = {}


def compiled(program: Builder) -> Callable[[int, int, int], None]:
    """The compiled loop function of a program."""
    name, text = _named(program)
    made = _made.get(name)
    return made or apart(lambda: _once(name, text, program))


def is_known(program: Builder) -> bool:
    """Whether the code of a program is in memory or on disk."""
    name, _ = _named(program)
    return name in _made or machine_code.is_made(name)


@cache
def serving() -> Callable[[int, int, int], None]:
    """What the thread of a helper calls with the address of its mailbox; it does not return."""

    def library() -> tuple[Any, str, str]:
        from frontier.backends.cpu import compiler

        return compiler.serving(name), name, "none"

    name = f"serve_{_sources()[:32]}"
    return machine_code.function(name, apart(lambda: machine_code.linked(name, library)).address)


def _named(program: Builder) -> tuple[str, str]:
    """The name of its code, made of all that it depends on, and the text of its module."""
    loop = ["@gives()", *TeamPrinter(program).function()]
    text = module_text(program, "\n".join([_IMPORTS, *_pointers(program), *program.checkers()]), loop)
    key = hashlib.sha256()
    key.update(text.encode())
    key.update(_sources().encode())
    for fn, name in program.functors.items():
        key.update(f"{name}{program.captured(fn).fingerprint}".encode())
    return f"loop_{key.hexdigest()[:32]}", text


def _pointers(program: Builder) -> list[str]:
    """Lines that give the names of pointers that few programs need."""
    return [f"{name}_at = POINTERS[{name!r}]" for name in program.pointer_types()]


def _once(name: str, text: str, program: Builder) -> Callable[[int, int, int], None]:
    with _lock:
        if name not in _made:
            _made[name] = _make(name, text, program)
        return _made[name]


def _make(name: str, text: str, program: Builder) -> Callable[[int, int, int], None]:
    def library() -> tuple[Any, str, str]:
        from frontier.backends.cpu import compiler

        return compiler.library(name, text, program), name, "none"

    notice.begin()
    try:
        found = machine_code.linked(name, library)
    finally:
        took = notice.end()
    tracing.add_compile(program.title, took, "cpu")
    return machine_code.function(name, found.address)


@cache
def _sources() -> str:
    """A hash of the files in which functions stand that are compiled with a program, and of what compiles them."""
    here = Path(__file__).parent
    package = here.parents[1]
    linking = package / "native" / "machine_code.py"
    folders = (here, here.parent / "run", package / "compile", package / "functors")
    made = hashlib.sha256()
    for path in sorted([*(path for each in folders for path in each.rglob("*.py")), linking]):
        made.update(path.read_bytes())
    return made.hexdigest()
