"""Constants of functors described as text: equal only for values that are the same in compiled code.

Descriptions are tuples of strings, numbers and bytes. They are the same in every process, so they serve as keys of code
that is kept on disk. A value that cannot be described exactly is refused.
"""

from __future__ import annotations

import struct
import sys
import types
from typing import Any

import numpy as np

from frontier.functors.numbers import fits

__all__ = ["KNOWN", "PLAIN", "Indescribable", "class_text", "code_text", "plain_text"]

#: Packages whose functions numba knows by name; their modules stay what they are in compiled code.
KNOWN = ("builtins", "math", "cmath", "operator", "_operator", "numpy", "numba")

#: What numba may know functions of by name.
_NAMED = (*KNOWN, "frontier")

#: Types of numbers and the like, which are described by themselves.
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), np.generic, np.dtype)


class Indescribable(Exception):
    """A value cannot be described exactly."""


def plain_text(value: Any) -> Any:
    """Describe a value that holds no function."""
    kind = type(value)
    if value is None or value is ... or kind in (bool, str, bytes):
        return kind.__name__, ascii(value)
    if kind is int and fits(value):
        return "int", hex(value)
    if kind is float:
        return "float", struct.pack("<d", value)
    if kind is complex:
        return "complex", struct.pack("<dd", value.real, value.imag)
    if isinstance(value, np.generic) and not isinstance(value, (np.void, np.object_)):
        return "scalar", repr(value.dtype), value.tobytes()
    if isinstance(value, np.dtype) and not value.hasobject:
        return "dtype", repr(value), value.itemsize
    if kind is slice:
        return "slice", plain_text(value.start), plain_text(value.stop), plain_text(value.step)
    if any(base.__name__ == "Type" and base.__module__.startswith("numba.") for base in kind.__mro__):
        return "numba type", kind.__qualname__, str(value)
    if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
        defaults = tuple(map(plain_text, value.__new__.__defaults__ or ()))
        return class_text(value), defaults
    if (path := _path(value)) is not None:
        return "named", *path
    raise Indescribable


def class_text(kind: type) -> Any:
    """Describe a class by its name, and the fields of a named tuple."""
    return "class", kind.__module__, kind.__qualname__, getattr(kind, "_fields", ())


def _path(value: Any) -> tuple[str, str] | None:
    """Module and name of a function or class that numba knows by name."""
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    module = "numpy" if isinstance(value, np.ufunc) else getattr(value, "__module__", None)
    if not isinstance(name, str) or not isinstance(module, str) or module.partition(".")[0] not in _NAMED:
        return None
    found: Any = sys.modules.get(module)
    for word in name.split("."):
        found = getattr(found, word, None)
    return (module, name) if found is value else None


def code_text(code: types.CodeType) -> Any:
    """Describe bytecode, with all functions inside it."""
    return (
        "code", code.co_code, code.co_flags, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount,
        code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_exceptiontable,
        tuple(map(_constant, code.co_consts)),
    )  # fmt: skip


def _constant(value: Any) -> Any:
    """Describe a constant of bytecode."""
    if isinstance(value, types.CodeType):
        return code_text(value)
    if isinstance(value, tuple):
        return "tuple", *map(_constant, value)
    if isinstance(value, frozenset):
        return "frozenset", *sorted(map(_constant, value), key=repr)
    if type(value) is int:  # however large: the rules refuse it where it matters
        return "int", hex(value)
    return plain_text(value)
