"""From the text of a loop function to LLVM, in one pass and without numba's inference of types.

numba infers the types of all variables of a function by going over it again and again, which takes most of the
seconds of compiling. The texts that Frontier makes need none of that: in them a variable has the type of what is
assigned to it first. So they are translated statement by statement, each operation by numba's own implementation for
its operands' types; functors, which may be any Python, are left to numba.

What texts may consist of: assignments to names, tuples of names and elements, with or without an operator; ``if``,
``while``, ``for`` over a ``range``; calls of functions marked by :func:`gives`, of functors, of numba's intrinsics,
of NumPy's number types, of namedtuples, ``min``, ``max`` and ``truth``; numbers and global constants.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.typeconv.castgraph import Conversion
from numba.extending import intrinsic
from numba.np.numpy_support import from_dtype

from frontier.backends.cpu.texts import Written
from frontier.backends.guards import Call, Guard
from frontier.backends.overloads import truth

__all__ = ["translated"]

_OPERATORS: dict[type[ast.AST], Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne, ast.USub: operator.neg, ast.Invert: operator.invert,
}  # fmt: skip

_BUILTINS = {"min": min, "max": max}

_long = partial(ir.Constant, ir.IntType(64))


def translated(written: Written, begun: Callable[[], None] = lambda: None) -> Any:
    """An intrinsic that does what a written function with three integers as arguments does.

    ``begun`` is called when it is really compiled, not found on disk.
    """

    @intrinsic
    def call(typingctx, address, w, W):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
            begun()
            Translator(context, builder.module).call(builder, written, list(signature.args), list(args))
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, types.int64), generate

    return call


@cache
def _definitions(path: str, text: str | None) -> dict[str, ast.FunctionDef]:
    """The functions of a module, by name; ``text`` where the module was not made from a file."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8") if text is None else text)
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


class Translator:
    """The functions of one LLVM module: each is made once for each combination of argument types."""

    def __init__(self, context: Any, module: Any) -> None:
        self.context, self.module = context, module
        self.typing = context.typing_context
        self._made: dict[Any, Any] = {}
        self._known: dict[Any, tuple[Any, Any]] = {}

    def call(self, builder: Any, written: Written, kinds: list[Any], args: list[Any]) -> tuple[Any, Any]:
        """Call a written function, which is translated first; an error that a functor raises goes on to the caller."""
        given = [getattr(types, name) for name in written.types]
        result = types.none if not given else given[0] if len(given) == 1 else types.Tuple(given)
        key = (written, tuple(kinds))
        if key not in self._made:
            self._made[key] = self._function(written, kinds, result)
        convention = self.context.call_conv
        status, value = convention.call_function(builder, self._made[key], result, kinds, args)
        with cgutils.if_unlikely(builder, status.is_error):
            builder.store(status.excinfoptr, builder.function.args[1])
            builder.ret(status.code)
        return result, value

    def _function(self, written: Written, kinds: list[Any], result: Any) -> Any:
        convention = self.context.call_conv
        made = ir.Function(
            self.module, convention.get_function_type(result, kinds), f"{written.__name__}.{len(self._made)}"
        )
        made.linkage = "internal"
        definition = self._definition(written)
        names = [argument.arg for argument in definition.args.args]
        convention.decorate_function(made, names, kinds)
        builder = ir.IRBuilder(made.append_basic_block("entry"))
        values = convention._get_arg_packer(kinds).from_arguments(builder, convention.get_arguments(made))
        body = Body(self, builder, written.function.__globals__, result)
        for name, kind, value in zip(names, kinds, values, strict=True):
            body.store(name, kind, value)
        body.statements(definition.body)
        if not builder.block.is_terminated:
            body.leave(types.none, self.context.get_dummy_value())
        return made

    def _definition(self, written: Written) -> ast.FunctionDef:
        function = written.function
        return _definitions(function.__code__.co_filename, function.__globals__.get("__text__"))[written.__name__]

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


class Body:
    """One function's statements, translated in the order in which they stand."""

    def __init__(self, translator: Translator, builder: Any, names: dict[str, Any], result: Any) -> None:
        self.translator, self.builder, self.globals, self.result = translator, builder, names, result
        self.context = translator.context
        self.variables: dict[str, tuple[Any, Any]] = {}
        self.loops: list[tuple[Any, Any]] = []  # where continue and break go

    # ---- variables -----------------------------------------------------------------------------------

    def store(self, name: str, kind: Any, value: Any) -> None:
        """Assign to a variable, whose type is that of its first value."""
        if name not in self.variables:
            # At the function's beginning, where LLVM expects what it is to keep in registers.
            with self.builder.goto_entry_block():
                self.variables[name] = kind, self.builder.alloca(self.context.get_value_type(kind), name=name)
        own, place = self.variables[name]
        self.builder.store(self.cast(value, kind, own, name), place)

    def cast(self, value: Any, kind: Any, wanted: Any, what: str = "a value") -> Any:
        """A value as one of another type that can hold it."""
        if kind == wanted:
            return value
        conversion = self.translator.typing.can_convert(kind, wanted)
        if conversion is None or conversion > Conversion.safe:
            raise TypingError(f"{what} is {wanted} and cannot become {kind}")
        return self.context.cast(self.builder, value, kind, wanted)

    # ---- statements ----------------------------------------------------------------------------------

    def statements(self, nodes: list[ast.stmt]) -> None:
        """Translate statements up to one after which nothing is reached."""
        for node in nodes:
            if self.builder.block.is_terminated:
                return
            getattr(self, f"_{type(node).__name__.lower()}")(node)

    def _expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # what a function is for
            self.value(node.value)

    def _pass(self, node: ast.Pass) -> None:
        pass

    def _assign(self, node: ast.Assign) -> None:
        (target,) = node.targets
        if not isinstance(target, ast.Tuple):
            self._assign_one(target, *self.value(node.value))
            return
        if isinstance(node.value, ast.Tuple):
            values = [self.value(each) for each in node.value.elts]
        else:
            kind, value = self.value(node.value)
            values = list(zip(kind.types, cgutils.unpack_tuple(self.builder, value), strict=True))
        for each, (kind, value) in zip(target.elts, values, strict=True):
            self._assign_one(each, kind, value)

    def _assign_one(self, target: ast.expr, kind: Any, value: Any) -> None:
        if isinstance(target, ast.Name):
            self.store(target.id, kind, value)
            return
        assert isinstance(target, ast.Subscript)
        (array, place), (index, at) = self.value(target.value), self.value(target.slice)
        self.operation(operator.setitem, [array, index, kind], [place, at, value])

    def _augassign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self._assign_one(node.target, *self._binary(node.op, node.target, node.value))
            return
        assert isinstance(node.target, ast.Subscript)
        (array, place), (index, at) = self.value(node.target.value), self.value(node.target.slice)
        old = self.operation(operator.getitem, [array, index], [place, at])
        kind, value = self._operate(node.op, old, self.value(node.value))
        self.operation(operator.setitem, [array, index, kind], [place, at, value])

    def _if(self, node: ast.If) -> None:
        test, ended = self.condition(node.test), []
        with self.builder.if_else(test) as (then, otherwise):
            for branch, nodes in ((then, node.body), (otherwise, node.orelse)):
                with branch:
                    self.statements(nodes)
                    ended.append(self.builder.block.is_terminated)
        if all(ended):
            self.builder.unreachable()

    def _while(self, node: ast.While) -> None:
        head, body, end = (self.builder.append_basic_block(name) for name in ("while", "do", "done"))
        self.builder.branch(head)
        self.builder.position_at_end(head)
        if isinstance(node.test, ast.Constant) and node.test.value is True:
            self.builder.branch(body)
        else:
            self.builder.cbranch(self.condition(node.test), body, end)
        self._loop(body, node.body, head, end)
        self.builder.position_at_end(end)

    def _for(self, node: ast.For) -> None:
        """Over a range: the counter is its own, so that the body may assign to the variable."""
        assert isinstance(node.target, ast.Name)
        assert isinstance(node.iter, ast.Call)
        ends = [self._cast_to(types.int64, *self.value(each)) for each in node.iter.args]
        first, last = (ends[0], ends[1]) if len(ends) == 2 else (_long(0), ends[0])
        builder = self.builder
        with builder.goto_entry_block():
            counter = builder.alloca(ir.IntType(64))
        builder.store(first, counter)
        head, body, following, end = (builder.append_basic_block(name) for name in ("for", "do", "next", "done"))
        builder.branch(head)
        builder.position_at_end(head)
        builder.cbranch(builder.icmp_signed("<", builder.load(counter), last), body, end)
        builder.position_at_end(body)
        self.store(node.target.id, types.int64, builder.load(counter))
        self._loop(body, node.body, following, end)
        builder.position_at_end(following)
        builder.store(builder.add(builder.load(counter), _long(1), flags=["nsw"]), counter)
        builder.branch(head)
        builder.position_at_end(end)

    def _loop(self, block: Any, nodes: list[ast.stmt], again: Any, end: Any) -> None:
        self.builder.position_at_end(block)
        self.loops.append((again, end))
        self.statements(nodes)
        self.loops.pop()
        if not self.builder.block.is_terminated:
            self.builder.branch(again)

    def _continue(self, node: ast.Continue) -> None:
        self.builder.branch(self.loops[-1][0])

    def _break(self, node: ast.Break) -> None:
        self.builder.branch(self.loops[-1][1])

    def _return(self, node: ast.Return) -> None:
        if node.value is None:
            self.leave(types.none, self.context.get_dummy_value())
        else:
            self.leave(*self.value(node.value))

    def leave(self, kind: Any, value: Any) -> None:
        """Return a value."""
        made = self.context.get_return_value(self.builder, self.result, self.cast(value, kind, self.result, "a result"))
        self.context.call_conv.return_value(self.builder, made)

    # ---- expressions ---------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> tuple[Any, Any]:
        """Type and value of an expression."""
        if isinstance(node, ast.Name) and node.id in self.variables:
            kind, place = self.variables[node.id]
            return kind, self.builder.load(place)
        if isinstance(node, (ast.Constant, ast.Name, ast.Attribute)):
            return self._constant(self.object(node))
        if isinstance(node, ast.Call):
            function = self.object(node.func)
            if isinstance(function, Guard):
                return self._guarded(function, self.object(node.args[0]), [self.value(each) for each in node.args[1:]])
            return self._called(function, [self.value(each) for each in node.args])
        if isinstance(node, ast.Subscript):
            return self._operate(operator.getitem, self.value(node.value), self.value(node.slice))
        if isinstance(node, ast.BinOp):
            return self._binary(node.op, node.left, node.right)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._binary(node.ops[0], node.left, node.comparators[0])
        if isinstance(node, ast.Tuple):
            kinds, values = zip(*(self.value(each) for each in node.elts), strict=True)
            made = types.Tuple(kinds)
            return made, self.context.make_tuple(self.builder, made, list(values))
        if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
            return self._operate(node.op, self.value(node.operand))
        if isinstance(node, (ast.UnaryOp, ast.BoolOp)):
            return types.boolean, self.condition(node)
        if isinstance(node, ast.IfExp):
            return self._choice(node)
        raise TypingError(f"a text cannot have {ast.unparse(node)!r}")

    def object(self, node: ast.expr) -> Any:
        """What a constant, a global name or an attribute of a module stands for."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Attribute):
            return getattr(self.object(node.value), node.attr)
        for names in (self.globals, _BUILTINS):
            if isinstance(node, ast.Name) and node.id in names:
                return names[node.id]
        raise TypingError(f"a text cannot have {ast.unparse(node)!r}")

    def _constant(self, value: Any) -> tuple[Any, Any]:
        if isinstance(value, bool):
            return types.boolean, ir.Constant(ir.IntType(1), value)
        if isinstance(value, int):
            return types.int64, _long(value)
        if isinstance(value, float):
            return types.float64, ir.Constant(ir.DoubleType(), value)
        raise TypingError(f"a text cannot have the constant {value!r}")

    def _called(self, function: Any, given: list[tuple[Any, Any]]) -> tuple[Any, Any]:
        kinds, values = [kind for kind, _ in given], [value for _, value in given]
        if isinstance(function, Written):
            return self.translator.call(self.builder, function, kinds, values)
        if function is truth:
            return types.boolean, self._truth(*given[0])
        if function in (min, max):
            return self._extreme(function, *given)
        if isinstance(function, type) and issubclass(function, np.generic):
            kind = from_dtype(np.dtype(function))
            return kind, self._cast_to(kind, *given[0])
        if isinstance(function, type) and issubclass(function, tuple):
            made = types.NamedTuple(kinds, function)
            return made, self.context.make_tuple(self.builder, made, values)
        return self.operation(function, kinds, values)

    def _guarded(self, guard: Guard, functor: Any, given: list[tuple[Any, Any]]) -> tuple[Any, Any]:
        """Call a functor, which may raise."""
        words, rest = [value for _, value in given[: guard.words]], given[guard.words :]
        typing = self.translator.typing
        call = Call(typing, typing.resolve_value_type(functor), tuple(kind for kind, _ in rest), guard.value)
        pairs = zip(call.signature.args, rest, strict=True)
        values = [self.context.cast(self.builder, value, kind, wanted) for wanted, (kind, value) in pairs]
        return guard.type(call), guard.generate(call, self.context, self.builder, words, values)

    def operation(self, function: Any, kinds: list[Any], values: list[Any]) -> tuple[Any, Any]:
        """Call what numba knows."""
        return self.translator.operation(self.builder, function, kinds, values)

    def _binary(self, op: ast.AST, left: ast.expr, right: ast.expr) -> tuple[Any, Any]:
        return self._operate(op, self.value(left), self.value(right))

    def _operate(self, op: Any, *given: tuple[Any, Any]) -> tuple[Any, Any]:
        function = _OPERATORS.get(type(op), op)
        return self.operation(function, [kind for kind, _ in given], [value for _, value in given])

    def _cast_to(self, wanted: Any, kind: Any, value: Any) -> Any:
        return value if kind == wanted else self.context.cast(self.builder, value, kind, wanted)

    def _extreme(self, function: Any, first: tuple[Any, Any], second: tuple[Any, Any]) -> tuple[Any, Any]:
        """The smaller or larger of two numbers; the first if they are equal, as in Python."""
        kind = self.translator.typing.unify_types(first[0], second[0])
        a, b = (kind, self._cast_to(kind, *first)), (kind, self._cast_to(kind, *second))
        _, other = self._operate(operator.lt if function is min else operator.gt, b, a)
        return kind, self.builder.select(other, b[1], a[1])

    def _choice(self, node: ast.IfExp) -> tuple[Any, Any]:
        test = self.condition(node.test)
        found: list[tuple[Any, Any, Any]] = []
        with self.builder.if_else(test) as (then, otherwise):
            for branch, chosen in ((then, node.body), (otherwise, node.orelse)):
                with branch:
                    kind, value = self.value(chosen)
                    value = self.cast(value, kind, found[0][0]) if found else value
                    found.append((kind, value, self.builder.block))
        made = self.builder.phi(found[0][1].type)
        for _, value, block in found:
            made.add_incoming(value, block)
        return found[0][0], made

    # ---- conditions ----------------------------------------------------------------------------------

    def condition(self, node: ast.expr) -> Any:
        """An expression as one bit."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.builder.not_(self.condition(node.operand))
        if not isinstance(node, ast.BoolOp):
            return self._truth(*self.value(node))
        both = isinstance(node.op, ast.And)
        end = self.builder.append_basic_block("decided")
        decided = []
        for each in node.values[:-1]:
            test = self.condition(each)
            decided.append(self.builder.block)
            rest = self.builder.append_basic_block("else")
            self.builder.cbranch(test, *((rest, end) if both else (end, rest)))
            self.builder.position_at_end(rest)
        last = self.condition(node.values[-1])
        block = self.builder.block
        self.builder.branch(end)
        self.builder.position_at_end(end)
        made = self.builder.phi(ir.IntType(1))
        for before in decided:
            made.add_incoming(ir.Constant(ir.IntType(1), not both), before)
        made.add_incoming(last, block)
        return made

    def _truth(self, kind: Any, value: Any) -> Any:
        """Whether a value means yes; nothing means no."""
        if isinstance(kind, types.NoneType):
            return ir.Constant(ir.IntType(1), False)
        if isinstance(kind, types.Optional):
            pair = self.context.make_helper(self.builder, kind, value)
            there = self.context.cast(self.builder, pair.valid, types.boolean, types.boolean)
            return self.builder.and_(there, self._truth(kind.type, pair.data))
        if isinstance(kind, types.Boolean):
            return value
        if isinstance(kind, types.Number):
            zero = self.context.get_constant(kind, 0)
            compare = self.builder.icmp_signed if isinstance(kind, types.Integer) else None
            return compare("!=", value, zero) if compare else self.builder.fcmp_unordered("!=", value, zero)
        raise TypingError(f"the functor returned {kind}, where True or False was expected")


