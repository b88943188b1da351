"""Kernels: the functions of phases, which are plain Python functions made by factories.

A *factory* is a function at the top level of a module of an operator. It returns the function of a phase, as a closure
over what is known when a program is made: functors and constants. A branch on a captured bool is decided at compile
time, and the branch not taken is dead code, which is neither typed nor compiled, and need not even have a type::

    def filtering(keep, *, scanned):
        elements, put = over_elements(), appending(scanned)

        def phase(p, C, slot, w, W, everything, queue, total, out):
            for x in elements(C, slot, w, W, everything, queue, total):
                ...
                if scanned:                       # a constant
                    ...

        return phase

On the CPU a phase may loop over a generator, which the translator puts in place of the loop.

Names that a kernel does not find in its own module are those of the generated module (the backend's runtime). A
kernel's module imports them under ``TYPE_CHECKING``, so readers of the file see where they come from, and numba is
imported only to compile.

The generated text says which factories are called with which arguments, and contains digests of their sources, so these
are part of the cache key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, MappingProxyType
from typing import Any

__all__ = ["Callee", "Constant", "Factory", "FunctorCall", "FunctorName", "Kernel", "Made", "digest", "parameters"]

Factory = Callable[..., Any]

#: What a kernel calls, as its factory is given it: a function, or None where nothing is called.
Callee = Any


@dataclass(frozen=True)
class FunctorName:
    """A functor that is called as it is; ``name`` is the program's for it."""

    name: str


@dataclass(frozen=True)
class FunctorCall:
    """What calls a functor with all that is known of an element: the functor takes of it what it has asked for.

    ``call(p, C, slot, *ends)``: after it, whatever the functor does, the worker goes on (see
    :mod:`frontier.compile.functors.guards`). ``call(C, slot, *ends)`` for functions that take no problem.

    Attributes
    ----------
    name : str
        The program's, for the functor.
    number : int
        By which the host knows it.
    order : tuple of int
        Which of the ends the functor takes, in its own order.
    value : bool
        Whether it is an error to return nothing.
    problem : bool
        Whether it takes the problem.
    """

    name: str
    number: int
    order: tuple[int, ...]
    value: bool = False
    problem: bool = True


@dataclass(frozen=True)
class Made:
    """What a factory gives for some constants."""

    factory: Factory
    constants: Mapping[str, Constant] = field(default_factory=lambda: MappingProxyType({}))


Constant = bool | int | float | str | None | FunctorName | FunctorCall | Made


@dataclass(frozen=True)
class Kernel:
    """The function of one phase: its name in the program, and how it is made."""

    name: str
    made: Made


@cache
def parameters(factory: Factory) -> tuple[str, ...]:
    """The parameters of the phase's function that a factory makes, after those that all have."""
    code = factory.__code__
    (inner,) = (each for each in code.co_consts if isinstance(each, CodeType) and each.co_name == "phase")
    names = inner.co_varnames[: inner.co_argcount]
    assert names[:5] == ("p", "C", "slot", "w", "W"), factory
    return tuple(names[5:])


# ---- what a kernel's code depends on ---------------------------------------------------------------------


@cache
def digest(factory: Factory) -> str:
    """Hash of the files in which a factory and the functions that it reaches are written, and of the constants."""
    files: set[str] = set()
    values: dict[str, str] = {}
    seen: set[Any] = set()
    waiting: list[Any] = [factory]
    while waiting:
        function = waiting.pop()
        if function in seen:
            continue
        seen.add(function)
        files.add(function.__code__.co_filename)
        for name in _names(function.__code__):
            value = function.__globals__.get(name)
            if isinstance(value, FunctionType):
                waiting.append(value)
            elif isinstance(value, (bool, int, float, str)):
                values[f"{function.__module__}.{name}"] = repr(value)
    made = hashlib.sha256(repr(sorted(values.items())).encode())
    for content in sorted(map(_content, files)):
        made.update(content.encode())
    return made.hexdigest()[:32]


def _names(code: CodeType) -> Iterator[str]:
    """Global names that a function, or one within it, uses."""
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names(each)


@cache
def _content(path: str) -> str:
    """Hash of a file, read once in a process: what is imported does not change with it."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
