"""Translate the expressions of generated code to LLVM instructions; each has a type and a value."""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.core.typeconv.castgraph import Conversion
from numba.np.numpy_support import from_dtype

from frontier.compile.elements import Flags, Narrow, Packed, Sparse
from frontier.compile.functors.guards import Call, Guard
from frontier.compile.functors.overloads import truth
from frontier.compile.functors.wrapping import without_nsw
from frontier.compile.keys import bits_of, integer
from frontier.compile.translation.texts import Calling, Written

if TYPE_CHECKING:
    from frontier.compile.translation.translator import Translator

__all__ = ["Expressions", "word"]

_OPERATORS: dict[type[ast.AST], Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne, ast.USub: operator.neg, ast.Invert: operator.invert,
}  # fmt: skip

_BUILTINS = {"min": min, "max": max}

word = partial(ir.Constant, ir.IntType(64))


def _root(node: ast.expr) -> str | None:
    """The name that attributes of attributes begin with."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


class Expressions:
    """What one function's statements compute with.

    Attributes
    ----------
    builder : llvmlite.ir.IRBuilder
        Where instructions are added.
    variables : dict
        Name -> its type and its place.
    parameters : dict
        Name -> type and value of a parameter that is never assigned to.
    wraps : bool
        Whether integers that overflow wrap around, as in reductions, which are functions of users or like them. Kernels
        themselves have no integers that overflow, and LLVM may make use of that.
    """

    def __init__(self, translator: Translator, builder: Any, names: Mapping[str, Any]) -> None:
        self.translator, self.builder, self.globals = translator, builder, names
        self.context = translator.context
        self.variables: dict[str, tuple[Any, Any]] = {}
        self.parameters: dict[str, tuple[Any, Any]] = {}
        self.wraps = False
        self.path: tuple[int, ...] = ()  # the branches and loops within which the present statement stands
        self._begun: dict[str, tuple[int, ...]] = {}  # and those within which variables were assigned to first

    # ---- variables -----------------------------------------------------------------------------------

    def store(self, name: str, kind: Any, value: Any) -> None:
        """Assign to a variable, whose type is that of its first value.

        Where every path leads past both assignments, it may become a variable of another type.
        """
        if name in self.variables and self._begun[name] == self.path and not self._holds(self.variables[name][0], kind):
            del self.variables[name]
        if name not in self.variables:
            # At the function's beginning, where LLVM expects what it is to keep in registers.
            with self.builder.goto_entry_block():
                self.variables[name] = kind, self.builder.alloca(self.context.get_value_type(kind), name=name)
            self._begun[name] = self.path
        own, place = self.variables[name]
        self.builder.store(self.cast(value, kind, own, name), place)

    def cast(self, value: Any, kind: Any, wanted: Any, what: str = "a value") -> Any:
        """A value as one of another type that can hold it."""
        if kind == wanted:
            return value
        if not self._holds(wanted, kind):
            raise TypingError(f"{what} is {wanted} and cannot become {kind}")
        return self.context.cast(self.builder, value, kind, wanted)

    def _holds(self, wanted: Any, kind: Any) -> bool:
        """Whether a type has all values of another."""
        conversion = self.translator.typing.can_convert(kind, wanted)
        return conversion is not None and conversion <= Conversion.safe

    # ---- expressions ---------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> tuple[Any, Any]:
        """Type and value of an expression."""
        if isinstance(node, ast.Name) and node.id in self.variables:
            kind, place = self.variables[node.id]
            return kind, self.builder.load(place)
        if isinstance(node, ast.Name) and node.id in self.parameters:
            return self.parameters[node.id]
        if isinstance(node, ast.Attribute) and self._local(_root(node)):
            return self._member(self.value(node.value), node.attr)
        if isinstance(node, (ast.Constant, ast.Name, ast.Attribute)):
            return self._constant(self.object(node))
        if isinstance(node, ast.Call) and not node.keywords:
            function = self.object(node.func)
            if isinstance(function, Guard):
                return self._guarded(function, self.object(node.args[0]), [self.value(each) for each in node.args[1:]])
            return self._called(function, [self.value(each) for each in node.args])
        if isinstance(node, ast.Subscript):
            return self._element(self.value(node.value), self.value(node.slice))
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
        if isinstance(node, ast.Name):
            raise TypingError(f"a kernel uses {node.id!r}, which the runtime of this backend does not have")
        raise TypingError(f"a text cannot have {ast.unparse(node)!r}")

    def _local(self, name: str | None) -> bool:
        return name in self.variables or name in self.parameters

    def _member(self, given: tuple[Any, Any], name: str) -> tuple[Any, Any]:
        """What a namedtuple holds by a name."""
        kind, value = given
        at = kind.fields.index(name)
        return kind.types[at], self.builder.extract_value(value, at)

    def _constant(self, value: Any) -> tuple[Any, Any]:
        if isinstance(value, bool):
            return types.boolean, ir.Constant(ir.IntType(1), value)
        if isinstance(value, int):
            return types.int64, word(value)
        if isinstance(value, float):
            return types.float64, ir.Constant(ir.DoubleType(), value)
        if value is None:
            return types.none, self.context.get_dummy_value()
        if isinstance(value, np.generic):
            kind = from_dtype(np.dtype(type(value)))
            return kind, self.context.get_constant(kind, value.item())
        raise TypingError(f"a text cannot have the constant {value!r}")

    def _called(self, function: Any, given: list[tuple[Any, Any]]) -> tuple[Any, Any]:
        kinds, values = [kind for kind, _ in given], [value for _, value in given]
        if isinstance(function, Written):
            return self.translator.call(self.builder, function, kinds, values)
        if isinstance(function, Calling):
            return self._calling(function, given)
        if isinstance(function, FunctionType) and self.translator.is_plain(function):
            if self.translator.copies:
                return self.translator.call(self.builder, self.translator.marked(function), kinds, values)
            return self.inlined(function, given)
        if function is truth:
            return types.boolean, self._truth(*given[0])
        if function in (integer, bits_of) and isinstance(kinds[0], (types.Integer, types.Boolean)):
            return types.int64, self._cast_to(types.int64, *given[0])  # numba would compile a function for it
        if function in (min, max):
            return self._extreme(function, *given)
        if isinstance(function, types.Number):
            return function, self._cast_to(function, *given[0])
        if isinstance(function, type) and issubclass(function, np.generic):
            kind = from_dtype(np.dtype(function))
            return kind, self._cast_to(kind, *given[0])
        if isinstance(function, type) and issubclass(function, tuple):
            made = types.NamedTuple(kinds, function)
            return made, self.context.make_tuple(self.builder, made, values)
        return self.operation(function, kinds, values)

    def inlined(self, function: Any, given: list[tuple[Any, Any]]) -> tuple[Any, Any]:
        """Type and value of the call of a plain function, which is translated at this place."""
        raise NotImplementedError

    def _calling(self, call: Calling, given: list[tuple[Any, Any]]) -> tuple[Any, Any]:
        """Call a functor with those of the ends that it takes; integers reach it 64 bits wide."""
        first, rest = (given[:1], given[1:]) if call.problem else ([], given)
        counters, slot, *ends = rest
        words = [counters, slot, (types.int64, word(call.number))]
        taken = [self._wide(*ends[i]) for i in call.order]
        return self._guarded(call.guard, call.functor, [*words, *first, *taken])

    def _wide(self, kind: Any, value: Any) -> tuple[Any, Any]:
        wide = types.int64 if isinstance(kind, types.Integer) else kind
        return wide, self._cast_to(wide, kind, value)

    def _guarded(self, guard: Guard, functor: Any, given: list[tuple[Any, Any]]) -> tuple[Any, Any]:
        """Call a functor, which may raise."""
        words, rest = [value for _, value in given[: guard.words]], given[guard.words :]
        typing = self.translator.typing
        call = Call(typing, typing.resolve_value_type(functor), tuple(kind for kind, _ in rest), guard.value)
        pairs = zip(call.signature.args, rest, strict=True)
        values = [self.context.cast(self.builder, value, kind, wanted) for wanted, (kind, value) in pairs]
        return guard.type(call), guard.generate(call, self.context, self.builder, words, values)

    def _element(self, array: tuple[Any, Any], index: tuple[Any, Any]) -> tuple[Any, Any]:
        """Load an element."""
        arrays = self.translator.arrays
        own: dict[type, Any] = {
            Flags: arrays.load, Narrow: arrays.load_wide, Packed: arrays.load_packed, Sparse: arrays.load_sparse,
        }  # fmt: skip
        return self._operate(own.get(type(array[0]), operator.getitem), array, index)

    def operation(self, function: Any, kinds: list[Any], values: list[Any]) -> tuple[Any, Any]:
        """Call what numba knows."""
        kind, value = self.translator.operation(self.builder, function, kinds, values)
        if self.wraps:
            without_nsw(value)
        return kind, value

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
        known = self.known(node.test)
        if known is not None:
            return self.value(node.body if known else node.orelse)
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

    def known(self, node: ast.expr) -> bool | None:
        """Whether a condition on constants of a closure holds; None where it is not known before the program runs."""
        if isinstance(node, ast.Name) and not self._local(node.id):
            value = self.globals.get(node.id, 0)
            return bool(value) if value is None or isinstance(value, bool) else None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            known = self.known(node.operand)
            return None if known is None else not known
        if isinstance(node, ast.BoolOp):
            decides = isinstance(node.op, ast.Or)
            for each in node.values:
                known = self.known(each)
                if known is None or known == decides:
                    return known
            return not decides
        return None

    def condition(self, node: ast.expr) -> Any:
        """An expression as one bit."""
        known = self.known(node)
        if known is not None:
            return ir.Constant(ir.IntType(1), known)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.builder.not_(self.condition(node.operand))
        if not isinstance(node, ast.BoolOp):
            return self._truth(*self.value(node))
        both = isinstance(node.op, ast.And)
        values = [each for each in node.values if self.known(each) is not both]  # those others decide nothing
        if len(values) == 1:
            return self.condition(values[0])
        end = self.builder.append_basic_block("decided")
        decided = []
        for each in values[:-1]:
            test = self.condition(each)
            decided.append(self.builder.block)
            rest = self.builder.append_basic_block("else")
            self.builder.cbranch(test, *((rest, end) if both else (end, rest)))
            self.builder.position_at_end(rest)
        last = self.condition(values[-1])
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
