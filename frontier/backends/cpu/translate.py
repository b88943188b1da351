"""Translate the source of a loop function to LLVM in one pass, without numba's type inference.

numba infers the types of all variables of a function iteratively, which takes most of the time to compile. Generated
code does not need that: in it a variable has the type of its first assignment. So it is translated statement by
statement, and each operation uses numba's own implementation for the types of its operands. Functors, which may be any
Python, are compiled by numba.

Generated code may contain: assignments to names, tuples of names and elements, with or without an operator; ``if``,
``while``, ``for`` over a ``range``; blocks that set ``pc`` to the next block; calls of functions marked by
:func:`gives`, of functors, of numba's intrinsics, of NumPy's number types, of namedtuples, ``min``, ``max`` and
``truth``; numbers, constants of modules and closures, and attributes of namedtuples.

Phases are closures. If a factory has captured a bool or None, a branch on it is decided here, and the branch not taken
is not translated. A plain function is translated anew at every call, so its arguments may have any types, and variables
of the caller may be passed to it and returned.
"""

from __future__ import annotations

import ast
from collections import ChainMap
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.callconv import CPUCallConv
from numba.core.errors import TypingError
from numba.extending import intrinsic

from frontier.backends.cpu.statements import Body
from frontier.backends.cpu.texts import Written

__all__ = ["translated"]


def translated(written: Written, name: str) -> Any:
    """Return an intrinsic that adds a function of this name to the module in which it is called.

    It is one of C that Python calls (``METH_FASTCALL``) with three integers as arguments, and does what the written one
    does with them; the call that leaves it does nothing.
    """

    @intrinsic
    def leave(typingctx):
        def generate(context, builder, signature, args):
            translator = Translator(context, builder.module)
            translator.export(written, [types.int64] * 3, name)
            return context.get_dummy_value()

        return types.void(), generate

    return leave


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


class _CallConv(CPUCallConv):
    def return_status_propagate(self, builder: Any, status: Any) -> None:
        """Go on: the functions here have no status to return. What they call gives 0 if it fails."""


@cache
def _class(base: Any) -> Any:
    return type("SteadyContext", (base,), {"call_conv": property(_CallConv)})


def _steady(context: Any) -> Any:
    """A context in which calls of what numba has compiled do not make the caller return."""
    made = context.subtarget()
    made.__class__ = _class(type(context))  # type: ignore[arg-type]
    return made


def _callable(module: Any, inner: Any, name: str) -> None:
    """A function of Python's for one that takes integers: from an array of objects, and without the GIL."""
    pointer, long = ir.IntType(8).as_pointer(), ir.IntType(64)

    def call(name: str, result: Any, *args: Any) -> Any:
        kind = ir.FunctionType(result, [arg.type for arg in args])
        return builder.call(cgutils.get_or_insert_function(module, kind, name), args)

    made = ir.Function(module, ir.FunctionType(pointer, [pointer, pointer.as_pointer(), long]), name)
    builder = ir.IRBuilder(made.append_basic_block("entry"))
    places = [builder.gep(made.args[1], [ir.Constant(long, i)]) for i in range(len(inner.args))]
    given = [call("PyLong_AsLongLong", long, builder.load(place)) for place in places]
    state = call("PyEval_SaveThread", pointer)
    builder.call(inner, given)
    call("PyEval_RestoreThread", ir.VoidType(), state)
    builder.ret(call("PyLong_FromLongLong", pointer, ir.Constant(long, 0)))


class Translator:
    """The functions of one LLVM module: each is made once for each combination of argument types."""

    def __init__(self, context: Any, module: Any) -> None:
        self.context, self.module = _steady(context), module
        self._program: dict[str, Any] = {}
        self.typing = context.typing_context
        self._made: dict[Any, tuple[Any, Any]] = {}
        self._known: dict[Any, tuple[Any, Any]] = {}

    def export(self, written: Written, kinds: list[Any], name: str) -> None:
        """Make a function of this name that Python can call; what its module has, kernels of other modules have too."""
        self._program = written.function.__globals__
        made = self._function(written, kinds, types.none, f"{name}.loop")
        # It is long but takes nanoseconds, as it does no work itself; optimising it would be half of LLVM's work.
        made.attributes.add("optnone")
        _callable(self.module, made, name)

    def call(self, builder: Any, written: Written, kinds: list[Any], args: list[Any]) -> tuple[Any, Any]:
        """Call a written function, which is translated first."""
        key = (written, tuple(kinds))
        if key not in self._made:
            given = [getattr(types, name) for name in written.types]
            result = types.none if not given else given[0] if len(given) == 1 else types.Tuple(given)
            self._made[key] = result, self._function(written, kinds, result, f"{written.__name__}.{len(self._made)}")
        result, made = self._made[key]
        value = builder.call(made, self.context.get_arg_packer(kinds).as_arguments(builder, args))
        return result, value if written.types else self.context.get_dummy_value()

    def _function(self, written: Written, kinds: list[Any], result: Any, name: str) -> Any:
        packer = self.context.get_arg_packer(kinds)
        given = self.context.get_value_type(result) if written.types else ir.VoidType()
        made = ir.Function(self.module, ir.FunctionType(given, packer.argument_types), name)
        made.linkage = "internal"
        if not written.types:  # phases and appends: copies of them elsewhere would only be more to compile
            made.attributes.add("noinline")
        definition = self.definition(written.function)
        builder = ir.IRBuilder(made.append_basic_block("entry"))
        body = Body(self, builder, self.names(written.function), result)
        values = packer.from_arguments(builder, made.args)
        body.enter(definition, zip(kinds, values, strict=True))
        body.statements(definition.body)
        if not builder.block.is_terminated:
            builder.ret_void()
        return made

    def definition(self, function: Any) -> Definition:
        """The syntax tree of a function."""
        return _definition(function.__code__, function.__globals__.get("__text__"))

    def names(self, function: Any) -> Mapping[str, Any]:
        """What a function finds by name: in its closure, its module, and last in the program's module."""
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        return ChainMap({name: cell.cell_contents for name, cell in cells}, function.__globals__, self._program)

    def operation(self, builder: Any, function: Any, kinds: list[Any], args: list[Any]) -> tuple[Any, Any]:
        """Call whatever numba knows: an operator, an intrinsic, a functor."""
        key = (function, tuple(kinds))
        if key not in self._known:
            kind = self.typing.resolve_value_type(function)
            signature = self.typing.resolve_function_type(kind, tuple(kinds), {})
            if signature is None:
                raise TypingError(f"{function} does not take {kinds}")
            self._known[key] = signature, self.context.get_function(kind, signature)
        signature, implementation = self._known[key]
        pairs = zip(kinds, signature.args, args, strict=True)
        cast = [self.context.cast(builder, value, kind, wanted) for kind, wanted, value in pairs]
        return types.unliteral(signature.return_type), implementation(builder, cast)
