"""What a functor must not contain: one table, and the check of a functor's bytecode against it on every backend.

Compiled code can handle numbers, bools and tuples of them. For anything else a compiler would give an error in its own
words, or the meaning would differ from Python's. So it is refused before the first run, with the line and an
alternative, on the python backend, too: a program that runs there runs everywhere. Only what is useful for debugging
(``breakpoint``, ``assert``, f-strings) is accepted on that backend.
"""

from __future__ import annotations

import builtins
import dis
import inspect
import math
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from frontier.errors import FunctorError
from frontier.functors.captured import calls_in
from frontier.functors.functor import inner_codes, line_of, location
from frontier.functors.numbers import fits

if TYPE_CHECKING:
    from frontier.functors.captured import Captured

__all__ = ["RULES", "Rule", "check_rules", "check_value", "offences", "place_of", "unknown_field"]


@dataclass(frozen=True)
class Rule:
    """One thing that functors, and the functions that they call, cannot do.

    Attributes
    ----------
    what : str
        The thing, in a few words.
    instead : str
        What to do instead.
    looking : bool
        Whether it is let through on the python backend, as a means to look at a program.
    """

    what: str
    instead: str
    looking: bool = False


RULES = {
    "list": Rule("lists and comprehensions", "use a tuple, a loop, fr.scratch, or a field of the problem"),
    "dict": Rule("dicts", "use a field of the problem, or `if` and `elif`"),
    "set": Rule("sets", "use a tuple, as in `x in (1, 2)`"),
    "recursion": Rule("recursion (a call of itself, directly or through others)", "use a loop, or a field as a stack"),
    "generator": Rule("generators, `yield` and `await`", "use a loop"),
    "inner": Rule("`*` and `**` among the arguments of a function inside it", "name each argument"),
    "star": Rule("starred assignments (`a, *b = ...`)", "name each element"),
    "match": Rule("patterns with structure in `match`", "match numbers only"),
    "walrus": Rule("assignments within expressions (`:=`)", "assign on a line of its own"),
    "try": Rule("`try`", "test the condition beforehand, with `if`"),
    "raise": Rule("`raise` and `assert`", "write an error code to a field, or use the python backend", looking=True),
    "with": Rule("`with`", "do it on the host, between runs"),
    "import": Rule("`import`", "import at the top of the file"),
    "global": Rule("assignments to variables outside (`global`, `nonlocal`)", "write to a field, or return the value"),
    "del": Rule("`del`", "omit it: variables end with the call"),
    "class": Rule("classes", "define them outside; functors work on numbers"),
    "wide": Rule("integers of more than 64 bits", "use floats, or fewer digits"),
    "matmul": Rule("`@`", "multiply element by element, in a loop"),
    "is": Rule("`is` between values", "compare with `==`; `is None` works"),
    "text": Rule("f-strings", "`print` takes several values: `print('v', v)`", looking=True),
    "breakpoint": Rule("`breakpoint`", "use it on the python backend", looking=True),
    "type": Rule("`isinstance` and `type`", "omit it: the type of a number differs between backends"),
    "any": Rule("`any`, `all`, `sorted` and `reversed`", "use a loop, or `or` and `and`"),
    "builtin": Rule(
        "builtins that create or take objects (`str`, `list`, `getattr`, `open`, ...)", "functors work on numbers only"
    ),
    "hash": Rule("`hash`", "use `fr.hash`"),
    "random": Rule("Python's `random` and `np.random`", "use `fr.random(seed, i)`"),
    "math": Rule(
        "a function of `math` or NumPy that cannot be compiled (`math.comb`, `math.isclose`, `np.heaviside`, ...)",
        "write it with operators, or with other functions",
    ),
    "arrays": Rule(
        "NumPy functions that create or take arrays (`np.zeros`, `np.sum`, ...)",
        "use a field of the problem; functions from number to number, such as `np.sqrt`, work",
    ),
}

_OPCODES = {
    "list": ("BUILD_LIST",),
    "dict": ("BUILD_MAP", "BUILD_CONST_KEY_MAP"),
    "set": ("BUILD_SET",),
    "generator": ("YIELD_VALUE", "RETURN_GENERATOR", "GET_AWAITABLE"),
    "star": ("UNPACK_EX",),
    "match": ("MATCH_SEQUENCE", "MATCH_MAPPING", "MATCH_CLASS"),
    "try": ("PUSH_EXC_INFO", "SETUP_FINALLY"),
    "raise": ("RAISE_VARARGS",),
    "with": ("BEFORE_WITH", "BEFORE_ASYNC_WITH", "LOAD_SPECIAL"),
    "import": ("IMPORT_NAME",),
    "global": ("STORE_GLOBAL", "DELETE_GLOBAL"),
    "del": ("DELETE_FAST", "DELETE_NAME", "DELETE_SUBSCR", "DELETE_ATTR", "DELETE_DEREF"),
    "class": ("LOAD_BUILD_CLASS",),
    "text": ("FORMAT_VALUE", "FORMAT_SIMPLE", "FORMAT_WITH_SPEC", "BUILD_STRING"),
}
_BY_OPCODE = {opcode: rule for rule, opcodes in _OPCODES.items() for opcode in opcodes}

_OBJECTS = (
    "str", "repr", "ascii", "chr", "bin", "oct", "hex", "format", "list", "dict", "set", "frozenset", "bytes",
    "bytearray", "memoryview", "getattr", "setattr", "hasattr", "delattr", "callable", "id", "vars", "dir", "globals",
    "locals", "eval", "exec", "compile", "open", "input", "super", "object",
)  # fmt: skip
_BUILTINS = dict.fromkeys(_OBJECTS, "builtin")
_BUILTINS |= dict.fromkeys(("any", "all", "sorted", "reversed"), "any")
_BUILTINS |= dict.fromkeys(("isinstance", "issubclass", "type"), "type")
_BUILTINS |= {"hash": "hash", "breakpoint": "breakpoint"}

#: NumPy's functions, not among its ufuncs, that take one number and give one.
_SCALAR = ("around", "isclose", "nan_to_num", "round")

#: What compiled code knows of ``math``.
_MATH = (
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "copysign", "cos", "cosh", "degrees", "e",
    "erf", "erfc", "exp", "exp2", "expm1", "fabs", "floor", "frexp", "gamma", "gcd", "hypot", "inf", "isfinite",
    "isinf", "isnan", "ldexp", "lgamma", "log", "log10", "log1p", "log2", "nan", "nextafter", "pi", "pow", "radians",
    "sin", "sinh", "sqrt", "tan", "tanh", "tau", "trunc",
)  # fmt: skip

#: NumPy's ufuncs that it does not know.
_UFUNCS = ("bitwise_count", "frexp", "heaviside", "matmul", "matvec", "modf", "vecdot", "vecmat")


# ---- bytecode -------------------------------------------------------------------------------------------------


def _line(instruction: dis.Instruction, before: int) -> int:
    line = instruction.positions.lineno if instruction.positions is not None else None
    return before if line is None else line


def _instructions(code: types.CodeType) -> Iterator[tuple[dis.Instruction, int]]:
    """Instructions with their lines, without those that only prepare others."""
    line = code.co_firstlineno
    for instruction in dis.get_instructions(code):
        line = _line(instruction, line)
        if instruction.opname not in ("EXTENDED_ARG", "PUSH_NULL", "CACHE", "NOP", "RESUME", "MAKE_CELL"):
            yield instruction, line


@lru_cache(maxsize=4096)
def offences(code: types.CodeType) -> tuple[tuple[str, int], ...]:
    """What a function's own code, and functions inside it, do that they must not: (rule, line), in order."""
    found = []
    for part in inner_codes(code):
        steps = list(_instructions(part))
        if part is not code and part.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
            found.append(("inner", part.co_firstlineno))
        spared = sum(_makes_tuple(step) for step, _ in steps)  # lists that become tuples at once, as in (*a, b)
        for i, (step, line) in enumerate(steps):
            after = steps[i + 1][0].opname if i + 1 < len(steps) else ""
            rule = _rule(step, after, steps[i - 1][0] if i else None, part is code, part)
            if step.opname == "STORE_DEREF" and _names_itself([step for step, _ in steps[max(i - 3, 0) : i]], step):
                rule = "recursion"
            if rule == "list" and spared:
                spared -= 1
            elif rule == "try":  # by the line of except or finally
                found.append((rule, steps[i + 1][1]))
            elif rule:
                found.append((rule, line))
    return tuple(found)


def _names_itself(before: list[dis.Instruction], store: dis.Instruction) -> bool:
    """Whether what is stored is a function inside this one that uses the variable which it is stored in."""
    made = any(step.opname == "MAKE_FUNCTION" for step in before)
    codes = [step.argval for step in before if isinstance(step.argval, types.CodeType)]
    return made and any(store.argval in code.co_freevars for code in codes[-1:])


def _makes_tuple(step: dis.Instruction) -> bool:
    return step.opname == "LIST_TO_TUPLE" or "LIST_TO_TUPLE" in (step.argrepr or "")


def _rule(
    step: dis.Instruction, after: str, before: dis.Instruction | None, outermost: bool, code: types.CodeType
) -> str:
    """Name of the rule that an instruction breaks, or ""."""
    name = step.opname
    if name in _BY_OPCODE:
        return _BY_OPCODE[name]
    if name == "COPY" and step.arg == 1 and after in ("STORE_FAST", "STORE_FAST_LOAD_FAST", "STORE_DEREF"):
        return "walrus" if not _chained(code, step) else ""
    if name == "LOAD_CONST" and isinstance(step.argval, frozenset):
        return "set"
    if name in ("LOAD_CONST", "RETURN_CONST") and _is_wide(step.argval):
        return "wide"
    if name == "STORE_DEREF" and outermost and step.argval in code.co_freevars:
        return "global"
    if name == "BINARY_OP" and "@" in step.argrepr:
        return "matmul"
    if name == "IS_OP" and before is not None and not (before.opname == "LOAD_CONST" and before.argval is None):
        return "is"
    return ""


def _is_wide(value: Any) -> bool:
    """Whether a constant is, or holds, an integer that neither int64 nor uint64 can be."""
    if type(value) is tuple:
        return any(map(_is_wide, value))
    return type(value) is int and not fits(value)


def _chained(code: types.CodeType, copy: dis.Instruction) -> bool:
    """Whether a value is copied for ``a = b = value``: stored twice, and by nothing else used."""
    steps = [step for step, _ in _instructions(code) if step.offset > copy.offset][:2]
    return len(steps) == 2 and steps[0].opname.startswith("STORE") and steps[1].opname.startswith(("STORE", "COPY"))


def _nothing(code: types.CodeType) -> int | None:
    """The line where a function may end without a value; None if there is none."""
    before = None
    for step, line in _instructions(code):
        if step.opname == "RETURN_CONST" and step.argval is None:
            return line
        nothing = before is not None and before.opname == "LOAD_CONST" and before.argval is None
        if step.opname == "RETURN_VALUE" and nothing:
            return line
        before = step
    return None


def _names(fn: types.FunctionType) -> Iterator[tuple[str, int]]:
    """Offences of the names that a function uses: builtins, NumPy, random."""
    cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
    for part in inner_codes(fn.__code__):
        steps = list(_instructions(part))
        for (step, line), (following, _) in zip(steps, [*steps[1:], steps[-1]], strict=True):
            name = step.argval
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                missing = name not in fn.__globals__
                if missing and name in _BUILTINS and hasattr(builtins, name):
                    yield _BUILTINS[name], line
                value = fn.__globals__.get(name)
            elif step.opname == "LOAD_DEREF" and name in cells:
                value = _content(cells[name])
            else:
                continue
            if isinstance(value, types.ModuleType):
                read = following.opname in ("LOAD_ATTR", "LOAD_METHOD")
                rule = _of_module(value, following.argval) if read else ""
            else:
                rule = _of_function(value)
            if rule:
                yield rule, line


def _recursion(part: Captured) -> Iterator[tuple[str, int]]:
    """Offences of the calls by which a function comes back to itself."""
    code = part.code
    for name, value in (*part.names.items(), *zip(code.co_freevars, part.cells, strict=True)):
        if any(part in called.reached() for called in calls_in(value)):
            yield "recursion", line_of(code, name) or code.co_firstlineno


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _of_module(module: types.ModuleType, name: str) -> str:
    if module.__name__ in ("random", "numpy.random") or (module.__name__ == "numpy" and name == "random"):
        return "random"
    if module is math:
        return "math" if name not in _MATH and hasattr(math, name) else ""
    if module.__name__ != "numpy":
        return ""
    numpy = sys.modules["numpy"]
    value = getattr(numpy, name, None)
    if name in _UFUNCS:
        return "math"
    plain = isinstance(value, (numpy.ufunc, type, int, float, numpy.generic)) or name in _SCALAR
    return "" if value is None or plain else "arrays"


def _of_function(value: Any) -> str:
    """The same for what a functor names without its module, as after ``from numpy import zeros``."""
    if type(getattr(value, "__self__", None)).__module__.startswith(("random", "numpy.random")):
        return "random"
    name = getattr(value, "__name__", None)
    if isinstance(name, str) and callable(value):
        for module in (math, sys.modules["numpy"]):
            if getattr(module, name, None) is value:
                return _of_module(module, name)
    return ""


# ---- checks ---------------------------------------------------------------------------------------------------


def check_rules(fn: Callable[..., Any], parts: list[Captured], looking: bool) -> bool:
    """Raise FunctorError if a functor, or a function that it calls, does what none may do.

    Parameters
    ----------
    fn : function
        The functor.
    parts : list of Captured
        The functor and the functions that it calls, directly or through others.
    looking : bool
        Whether what helps to look at a program is let through.

    Returns
    -------
    bool
        Whether something was let through.
    """
    looks = False
    for captured in parts:
        part = captured.function
        found = sorted((*offences(part.__code__), *_names(part), *_recursion(captured)), key=lambda one: one[1])
        for rule, line in found:
            if RULES[rule].looking and looking:
                looks = True
                continue
            if part is not fn and (part.__module__ or "").startswith("frontier."):
                where = location(fn, line_of(fn.__code__, part.__name__))
                raise FunctorError(
                    f"{where} calls {part.__name__}, which no functor can: it runs on the host, between runs"
                )
            whose = "" if part is fn else f", called by {fn.__name__},"
            raise FunctorError(
                f"{location(part, line)}{whose} uses {RULES[rule].what}, which no functor can: {RULES[rule].instead}"
            )
    return looks


def check_value(fn: Callable[..., Any], who: str) -> None:
    """Raise FunctorError if a functor whose value is needed may end without one."""
    line = _nothing(fn.__code__)
    if line is not None:
        raise FunctorError(
            f"{location(fn, line)} returns nothing on some path: {who} needs a number from every call; end every "
            "path with `return`"
        )


def place_of(parts: list[Callable[..., Any]], name: str) -> str:
    """Where some functions first name an attribute or a variable: (name, file, line) of the function that does."""
    for part in parts:
        line = line_of(part.__code__, name)
        if line is not None:
            return location(part, line)
    return location(parts[0])


def unknown_field(name: str, fields: Any) -> str:
    """Message for a field that a problem does not have, with the nearest name there is."""
    fields = [each for each in fields if not each.endswith("__")]  # the others are of programs that have run on it
    near = get_close_matches(name, [*fields, "num_vertices", "num_edges"], 1)  # which every problem has
    if name == "graph":
        return "the problem has no field 'graph'; functors read the graph by fr.neighbours(p, v), fr.degree(p, v), ..."
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"the problem has no field {name!r}; {hint}it has {', '.join(fields) or 'none'}"
