"""From a program's text and functors to a compiled loop function, kept on disk.

The machine code lies in a file named by a hash of all that it depends on: a second process starts without compiling.
The text is written beside it, for people to read; it is never read again.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba import njit, types
from numba.core.errors import NumbaError

from frontier import _compiler_room, captures, compiling, tracing
from frontier._apart import apart
from frontier._cache import cache_folder, made_module
from frontier._numba_cache import keep_code
from frontier.backends import arithmetic, checks, codes, copies, flags, guards, least, overloads, promotion
from frontier.backends.copies import Copies
from frontier.backends.cpu import (
    atomics,
    expressions,
    functors,
    intrinsics,
    narrow,
    runtime,
    statements,
    texts,
    translate,
)
from frontier.backends.cpu import guards as calls
from frontier.backends.cpu.functors import FunctorCompiler
from frontier.backends.cpu.translate import translated
from frontier.errors import FunctorError
from frontier.functors import location
from frontier.lowering.loops import Program
from frontier.lowering.module import module_text
from frontier.lowering.text import NARROW
from frontier.memory import explained
from frontier.numbers import WHOLE_ONLY, refused_float

__all__ = ["compiled"]

_IMPORTS = """from numba import njit

from frontier.backends.cpu.atomics import bits_of, checked, integer, key_down, key_up, truth
from frontier.backends.cpu.guards import *
from frontier.backends.cpu.intrinsics import *
from frontier.backends.cpu.runtime import *
from frontier.backends.cpu.texts import gives, namedtuple

""" + "\n".join(f"{name}_at = POINTERS[{name!r}]" for name in intrinsics.POINTERS)

#: What is called: all before it is translated, not compiled. So this is all that numba sees, and keeps.
_ENTRY = """

@njit(**CALLED)
def entry(address, w, W):
    loop(address, w, W)
"""

_SIGNATURE = types.void(types.int64, types.int64, types.int64)

#: Lines of a text from which on compiling takes so long that it is said.
_LONG = 150

_lock = threading.Lock()
_made: dict[str, Callable[[int, int, int], None]] = {}


def compiled(program: Program) -> Callable[[int, int, int], None]:
    """The compiled loop function of a program."""
    # numba crashes when it loads a recursive function from its cache (0.68), so that is compiled anew.
    parts = {made: program.captured(fn) for fn, made in program.functors.items()}
    kept = not any(part.recursive for part in parts.values())
    imports = "\n".join([_IMPORTS, *program.checkers()])
    text = module_text(program, imports, "@gives()", "@gives()") + _ENTRY
    key = hashlib.sha256()
    key.update(text.encode())
    key.update(_environment().encode())
    for name, part in parts.items():
        key.update(f"{name}{part.fingerprint}".encode())
    name = f"loop_{key.hexdigest()[:32]}"
    made = _made.get(name)
    return made or apart(lambda: _once(name, text, program, kept))


def _once(name: str, text: str, program: Program, kept: bool) -> Callable[[int, int, int], None]:
    with _lock:
        if name not in _made:
            _made[name] = _make(name, text, program, kept)
        return _made[name]


def _make(name: str, text: str, program: Program, kept: bool) -> Callable[[int, int, int], None]:
    compiling.begin()
    try:
        made = _entry(name, text, program, kept)
    finally:
        took = compiling.end()
    tracing.add_compile(" ".join(program.steps), took, "cpu")
    return made


def _entry(name: str, text: str, program: Program, kept: bool) -> Callable[[int, int, int], None]:
    _compiler_room.prepare()
    functors = {made: jitted(program.captured(fn)) for fn, made in program.functors.items()}
    module = made_module(f"frontier_{name}", cache_folder() / f"{name}.py", text, functors)
    if kept:
        keep_code(module.entry, name, cache_folder, str)
    long = text.count("\n") > _LONG
    module.__dict__["loop"] = translated(
        module.run, lambda: compiling.announce(" ".join(program.steps), kept) if long else None
    )
    try:
        module.entry.compile(_SIGNATURE)
    except Exception as error:  # numba raises more than its own errors for code that it cannot type
        for fn in program.functors:
            jitted.forget(program.captured(fn))
        if _compiler_room.out_of_memory(error):
            raise explained(error, "compiling") from None
        _blame(program, module, functors, str(error))
        if not isinstance(error, NumbaError):
            raise
        raise FunctorError(f"the loop of {', '.join(program.steps)} cannot be compiled: {_reason(error)}") from None
    return module.entry  # type: ignore[no-any-return]


# ---- functors ------------------------------------------------------------------------------------------


jitted = Copies(lambda fn, recursive: njit(pipeline_class=FunctorCompiler, **runtime.OPTIONS)(fn))


# ---- errors ----------------------------------------------------------------------------------------------


def _blame(program: Program, module: Any, functors: dict[str, Any], reason: str) -> None:
    """Raise FunctorError for the functor that cannot be typed, if it is one."""
    problem = _problem_type(program, module)
    for fn, name in program.functors.items():
        count = fn.__code__.co_argcount - 1
        weights = program.layout.weights or "int64"
        weight = getattr(types, weights) if weights.startswith("float") else types.int64
        names = fn.__code__.co_varnames[1 : count + 1]
        arguments = [weight if argument == "weight" else types.int64 for argument in names]
        try:
            functors[name].compile((problem, *arguments))
        except Exception as error:
            raise FunctorError(f"{location(fn)} cannot be compiled: {_reason(error)}") from None
        given = functors[name].overloads[(problem, *arguments)].signature.return_type
        inner = given.type if isinstance(given, types.Optional) else given
        if isinstance(inner, types.Float) and fn in program.into and WHOLE_ONLY in reason:
            name = program.into[fn]
            raise FunctorError(
                f"{location(fn)} returns {inner} into p.{name}: {refused_float(program.layout.dtype(name))}"
            ) from None
        if not isinstance(inner, (types.Number, types.Boolean, types.NoneType)):
            raise FunctorError(
                f"{location(fn)} returns {given}: a functor returns True, False, a number or nothing"
            ) from None


def _field_type(dtype: str) -> Any:
    return intrinsics.pointer_type(f"wide_{dtype}" if dtype in ("int8", "int16", "int32") else dtype)


def _problem_type(program: Program, module: Any) -> Any:
    made: list[Any] = []
    for _, kind, dtype in program.layout.fields:
        if kind == "pile":
            continue
        if kind != "scalar":
            made.append(_field_type(dtype))
        elif dtype == "bool":
            made.append(types.boolean)
        else:
            made.append(types.int64 if dtype in NARROW else getattr(types, dtype))
    layout = program.layout
    dtypes = {"offsets": layout.offsets, "targets": layout.ids, "sources": layout.ids, "weights": layout.weights}
    made += [_field_type(dtypes[name] or "int64") for name in program.topology]
    return types.NamedTuple(made or [types.int64], module.P)


#: Where numba's messages speak of a place.
_PLACE = re.compile(r'File "([^"]+)", line (\d+)|\bat (/[^(]+|[A-Z]:[^(]+) \((\d+)\)')


#: numba colours its messages where colorama is installed.
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def _reason(error: Exception) -> str:
    """What of a numba error matters, in one line: what is wrong, where, and a hint."""
    text = _COLOURS.sub("", str(error))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    ours = [line.removeprefix("TypingError: ") for line in lines if any(words in line for words in _OURS)]
    plain = [line for line in lines if not line.startswith(("Failed in", "During", "File ", ">>>", "def ", "^"))]
    if ours:
        reason = ours[0]
    elif "NRT required" in text or "Only accept returning of array" in text:
        reason = "it makes a list, dict, set, string or array, which functors cannot"
    elif plain and plain[0].startswith("No implementation of function") and ">>> " in text:
        reason = "no such operation on these types: " + next(line[4:] for line in lines if line.startswith(">>> "))
    else:
        reason = (plain or lines or [type(error).__name__])[0]
    reason = _readable(reason)
    return f"{reason}{_place(text)} ({_hint(reason)})"


#: numba's words for types, and ours.
_WORDS = (
    (r"\bP\((?:[^()]|\([^()]*\))*\)", "the problem"),
    (r"\bnarrow\((\w+)\)", r"a field of \1"),
    (r"\bflags\b", "a field of bool"),
    (r"\b(\w+\d)\*", r"a field of \1"),
    (r"Literal\[str\]\(([^()]*)\)", r"the str '\1'"),
    (r"Literal\[\w+\]\(([^()]*)\)", r"\1"),
    (r"^(Cannot cast .*? to [^:]*):.*", r"\1"),
)


def _readable(reason: str) -> str:
    """A reason of numba's without the names of its types and ours."""
    for pattern, word in _WORDS:
        reason = re.sub(pattern, word, reason)
    return reason


#: Words of messages of our own, which numba wraps into its own.
_OURS = (
    "op='or' works on", "works on integers of", "works on numbers of", "scalars take no atomics", "fr.hash takes",
    "fr.random takes", *promotion.REFUSALS,
)  # fmt: skip


def _place(text: str) -> str:
    """The first place in a user's file that a message names."""
    own = (os.path.dirname(numba.__file__), str(cache_folder()))
    for found in _PLACE.finditer(text):
        path = os.path.abspath(found[1] or found[3])
        if not path.startswith(own):
            return f" [{path}:{found[2] or found[4]}]"
    return ""


def _hint(reason: str) -> str:
    if "unify" in reason:
        return "return the same kind of value on every path"
    if "Untyped global" in reason or "not find" in reason:
        return "functors call plain functions, numpy and math"
    return "see what a functor may do in the documentation, and debug it with g.to('python')"


@cache
def _environment() -> str:
    """What the machine code depends on besides text and functors."""
    made = hashlib.sha256()
    shared = (arithmetic, captures, checks, codes, copies, flags, guards, least, overloads, promotion)
    ours = (atomics, calls, expressions, functors, intrinsics, narrow, runtime, statements, texts, translate)
    for module in (*shared, *ours):
        assert module.__file__ is not None
        made.update(Path(module.__file__).read_bytes())
    return f"{sys.version_info[:2]} {numba.__version__} {made.hexdigest()}"
