"""Translate the source of a loop function to LLVM in one pass, without numba's type inference.

numba infers the types of all variables of a function iteratively, which takes most of the time to compile. Generated
code does not need that: in it a variable has the type of its first assignment. So it is translated statement by
statement, and each operation uses numba's own implementation for the types of its operands. Functors, which may be any
Python, are compiled by numba.

Generated code may contain: assignments to names, tuples of names and elements, with or without an operator; ``if``,
``while``, ``for`` over a ``range``, a tuple of numbers or what a generator yields; blocks that set ``pc`` to the next
block; calls of functions marked by :mod:`frontier.compile.translation.texts`, of functors, of numba's intrinsics, of
NumPy's number types, of namedtuples, ``min``, ``max`` and ``truth``; numbers, constants of modules and closures, and
attributes of namedtuples.

Phases are closures. If a factory has captured a bool or None, a branch on it is decided here, and the branch not taken
is not translated. A function whose callers get copies of it is translated once for each combination of argument types.
"""

from __future__ import annotations

import ast
from collections import ChainMap
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError

from frontier.compile.translation.statements import Body
from frontier.compile.translation.texts import RUNTIME, Written

__all__ = ["Translator"]


class Definition:
    """The syntax tree of a function: its parameters, those that it assigns to, and its statements."""

    def __init__(self, node: ast.FunctionDef) -> None:
        self.parameters = [each.arg for each in node.args.args]
        self.body = node.body
        names = (each for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))
        self.assigned = frozenset(self.parameters) & {each.id for each in names}


@cache
def _functions(path: str, text: str | None) -> dict[tuple[str, int], ast.FunctionDef]:
    """The functions of a module by name and first line; ``text`` where the module was not made from a file."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8") if text is None else text)
    found = {}
    waiting: list[Any] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef):
            found[node.name, min([node.lineno, *(each.lineno for each in node.decorator_list)])] = node
            waiting += node.body
    return found


@cache
def _definition(code: CodeType, text: str | None) -> Definition:
    return Definition(_functions(code.co_filename, text)[code.co_name, code.co_firstlineno])


class Translator:
    """The functions of one LLVM module: each is made once for each combination of argument types.

    Attributes
    ----------
    arrays : namespace
        How a target loads and stores elements of bools and of narrow integers (``load``, ``store``, ``load_wide``,
        ``store_narrow``), and ids of compressed lists (``load_packed``), and doubly compressed offsets
        (``load_sparse``).
    copies : bool
        Whether callers of plain functions get copies of a function made for that; else they are translated in place.
    narrow_ranges : bool
        Whether a ``range`` of int32 counts in int32.
    """

    arrays: SimpleNamespace
    copies = False
    narrow_ranges = False

    def __init__(self, context: Any, module: Any, names: dict[str, Any]) -> None:
        self.context, self.module, self._program = context, module, names
        self.typing = context.typing_context
        self._count = 0
        self._made: dict[Any, tuple[Any, Any]] = {}
        self._known: dict[Any, tuple[Any, Any]] = {}
        self._plain: dict[FunctionType, Written] = {}

    def is_plain(self, function: FunctionType) -> bool:
        """Whether a function is to be translated; numba knows others, or they are made for it."""
        return not function.__module__.startswith(RUNTIME)

    def marked(self, function: FunctionType) -> Written:
        """A plain function as one of which callers get copies."""
        if function not in self._plain:
            self._plain[function] = Written(function, None)
        return self._plain[function]

    def call(self, builder: Any, written: Written, kinds: list[Any], args: list[Any]) -> tuple[Any, Any]:
        """Call a written function, which is translated first."""
        key = (written, tuple(kinds))
        if key not in self._made:
            self._count += 1
            self._made[key] = self.function(written, kinds, f"{written.__name__}.{self._count}")
        result, made = self._made[key]
        value = builder.call(made, self.context.get_arg_packer(kinds).as_arguments(builder, args))
        return result, self.context.get_dummy_value() if result == types.none else value

    def function(self, written: Written, kinds: list[Any], name: str) -> tuple[Any, Any]:
        """Translate a function for arguments of these types; gives the type of what it returns, and the function."""
        packer = self.context.get_arg_packer(kinds)
        given = None
        if written.types is not None:
            found = [getattr(types, each) for each in written.types]
            given = types.none if not found else found[0] if len(found) == 1 else types.Tuple(found)
        made = ir.Function(self.module, ir.FunctionType(self._returned(given), packer.argument_types), name)
        made.linkage = "internal"
        self.decorate(made, written)
        definition = self.definition(written.function)
        builder = ir.IRBuilder(made.append_basic_block("entry"))
        body = Body(self, builder, self.names(written.function), given)
        body.wraps = self.wraps(written.function)
        values = packer.from_arguments(builder, made.args)
        body.enter(definition, zip(kinds, values, strict=True))
        body.statements(definition.body)
        if not builder.block.is_terminated:
            builder.ret_void()
        if given is None:
            given = types.none if body.result is None else body.result
            _retype(made, ir.FunctionType(self._returned(given), packer.argument_types))
        return given, made

    def _returned(self, kind: Any) -> Any:
        return ir.VoidType() if kind is None or kind == types.none else self.context.get_value_type(kind)

    def decorate(self, made: Any, written: Written) -> None:
        """Say what LLVM is to do with a function."""
        if written.types is None:
            made.attributes.add("alwaysinline")
        elif not written.types:  # phases and appends: copies of them elsewhere would only be more to compile
            made.attributes.add("noinline")

    def wraps(self, function: Any) -> bool:
        """Whether integers of a function wrap around, see Expressions."""
        return False

    def definition(self, function: Any) -> Definition:
        """The syntax tree of a function."""
        return _definition(function.__code__, function.__globals__.get("__text__"))

    def names(self, function: Any) -> Mapping[str, Any]:
        """What a function finds by name: in its closure, its module, and last in the program's module."""
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        return ChainMap({name: cell.cell_contents for name, cell in cells}, function.__globals__, self._program)

    def kind_of(self, function: Any) -> Any:
        """Numba's type of a function."""
        return self.typing.resolve_value_type(function)

    def operation(self, builder: Any, function: Any, kinds: list[Any], args: list[Any]) -> tuple[Any, Any]:
        """Call whatever numba knows: an operator, an intrinsic, a functor."""
        key = (function, tuple(kinds))
        if key not in self._known:
            kind = self.kind_of(function)
            signature = self.typing.resolve_function_type(kind, tuple(kinds), {})
            if signature is None:
                raise TypingError(f"{function} does not take {kinds}")
            self._known[key] = signature, self.context.get_function(kind, signature)
        signature, implementation = self._known[key]
        pairs = zip(kinds, signature.args, args, strict=True)
        cast = [self.context.cast(builder, value, kind, wanted) for kind, wanted, value in pairs]
        return types.unliteral(signature.return_type), implementation(builder, cast)


def _retype(made: Any, kind: Any) -> None:
    """Give a function another type of result, which is known only when it has been translated."""
    made.ftype, made.type = kind, kind.as_pointer()
    made.return_value = ir.ReturnValue(made, kind.return_type)
