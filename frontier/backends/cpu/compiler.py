"""Compile the source text and the functors of a program to a loop function, by numba and the translator.

The text is also written to a file beside the machine code, for people to read; it is never read again.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numba
from numba import njit, types
from numba.core.errors import NumbaError

from frontier.backends.cpu.functors import FunctorCompiler
from frontier.backends.cpu.teams import serve
from frontier.backends.cpu.translate import translated
from frontier.compile import elements
from frontier.compile.functors import promotion
from frontier.compile.functors.copies import Copies
from frontier.compile.translation.texts import Written
from frontier.errors import FunctorError
from frontier.functors.functor import location
from frontier.functors.numbers import WHOLE_ONLY, refused_float
from frontier.lowering.builder import Builder
from frontier.lowering.phases import NARROW
from frontier.memory.shortage import explained
from frontier.native import address_space, notice
from frontier.native.cache import cache_folder, made_module
from frontier.native.machine_code import OPTIONS

__all__ = ["library", "serving"]

#: Lines of source text from which on compiling takes so long that it is reported.
_LONG = 150


def library(name: str, text: str, program: Builder) -> Any:
    """The loop function of a text, by this name in a library of numba's."""
    address_space.prepare()
    functors = {made: jitted(program.captured(fn)) for fn, made in program.functors.items()}
    module = made_module(f"frontier_{name}", cache_folder() / f"{name}.py", text, functors)
    if text.count("\n") > _LONG:
        notice.announce(program.title)
    try:
        return _library(module.run, name)
    except Exception as error:  # numba raises more than its own errors for code that it cannot type
        for fn in program.functors:
            jitted.forget(program.captured(fn))
        if address_space.out_of_memory(error):
            raise explained(error, "compiling") from None
        _blame(program, module, functors, str(error))
        if not isinstance(error, NumbaError):
            raise
        raise FunctorError(f"the loop of {', '.join(program.steps)} cannot be compiled: {_reason(error)}") from None


def serving(name: str) -> Any:
    """What helpers do, by this name in a library of numba's."""
    address_space.prepare()
    return _library(serve, name)


def _library(written: Written, name: str) -> Any:
    loop = translated(written, name)

    @njit(**OPTIONS)
    def entry() -> None:
        """All that numba sees."""
        loop()

    entry.compile(())
    return entry.overloads[()].library


# ---- functors ------------------------------------------------------------------------------------------


jitted = Copies(lambda fn: njit(pipeline_class=FunctorCompiler, **OPTIONS)(fn))


# ---- errors ----------------------------------------------------------------------------------------------


def _blame(program: Builder, module: Any, functors: dict[str, Any], reason: str) -> None:
    """Raise FunctorError for the functor that cannot be typed, if it is one."""
    problem = _problem_type(program, module)
    for fn, dtypes in program.combines.items():
        for dtype in sorted(dtypes):
            _blame_combine(fn, functors[program.functors[fn]], getattr(types, dtype))
    for fn, name in program.functors.items():
        if fn in program.combines:
            continue
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
        if not isinstance(inner, (types.Integer, types.Float, types.Boolean, types.NoneType)):
            raise FunctorError(
                f"{location(fn)} returns {given}: a functor returns True, False, a number or nothing"
            ) from None


def _blame_combine(fn: Any, made: Any, kind: Any) -> None:
    """Raise FunctorError if a function that combines two numbers of a type does not give one."""
    try:
        made.compile((kind, kind))
    except Exception as error:
        raise FunctorError(f"{location(fn)} cannot be compiled: {_reason(error)}") from None
    given = made.overloads[(kind, kind)].signature.return_type
    given = given.type if isinstance(given, types.Optional) else given
    if isinstance(given, types.Float) and isinstance(kind, types.Integer):
        raise FunctorError(f"{location(fn)} gives {given} of two integers: {refused_float('integers')}")
    if not isinstance(given, (types.Integer, types.Float, types.Boolean)):
        raise FunctorError(f"{location(fn)} gives {given}: what combines two numbers gives one number")


def _problem_type(program: Builder, module: Any) -> Any:
    made: list[Any] = []
    for name, kind, dtype in program.layout.fields:
        if kind == "pile":
            continue
        if kind != "scalar":
            made.append(elements.pointer_type(program.layout.seen(name)))
        elif dtype == "bool":
            made.append(types.boolean)
        else:
            made.append(types.int64 if dtype in NARROW else getattr(types, dtype))
    made += [elements.pointer_type(program.layout.of_graph(name)) for name in program.topology]
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
    (r"\b(?:half|locked)\((\w+), \w+\)", r"a field of \1"),
    (r"\bflags\b", "a field of bool"),
    (r"\bpacked\(\w+\)", "a field of integers"),
    (r"\b(\w+\d)\*", r"a field of \1"),
    (r"\bunicode_type\b", "a str"),
    (r"^Numba's print\(\) function implementation does not support keyword arguments\.", "print takes no keywords"),
    (r"Literal\[str\]\(([^()]*)\)", r"the str '\1'"),
    (r"Literal\[\w+\]\(([^()]*)\)", r"\1"),
    (r"^(Cannot cast .*? to [^:]*):.*", r"\1"),
)


def _readable(reason: str) -> str:
    """A reason of numba's without the names of its types and ours."""
    for pattern, word in _WORDS:
        reason = re.sub(pattern, word, reason)
    return reason


#: What messages do not name as the place of an error.
_OWN_FOLDERS = tuple(str(Path(__file__).parents[2] / name) for name in ("backends", "compile"))

#: Words of messages of our own, which numba wraps into its own.
_OURS = (
    "op='or' works on", "works on integers of", "works on numbers of", "scalars take no atomics", "fr.hash takes",
    "an index is an integer", "no field goes along with",
    "fr.random takes", *promotion.REFUSALS,
)  # fmt: skip


def _place(text: str) -> str:
    """The first place in a user's file that a message names."""
    own = (os.path.dirname(numba.__file__), *_OWN_FOLDERS, str(cache_folder()))
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
