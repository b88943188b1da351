"""NumPy's arithmetic in compiled functors: a pass over numba's intermediate representation, on any target.

In numba ``0.5`` is a float64 and int32 + int32 is widened. In NumPy a literal or captured number adopts the type of the
other operand, and int32 stays int32. So numba infers the types of a functor, and
:mod:`frontier.compile.functors.inference` those that NumPy would compute with. Operands are converted to the latter,
and operations on which numba differs become calls of :mod:`frontier.compile.functors.arithmetic`. If anything has
changed, numba infers the types again. A functor of 64-bit numbers does not change.

A value is *weak* if it is made only of Python numbers. A variable that is weak on one path and a float32 on another is
a float32 in computations, but is kept in 64 bits, so that storing it changes nothing.
"""

from __future__ import annotations

import math
import operator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from frontier.compile.functors import arithmetic
from frontier.compile.functors.inference import (
    WEAK,
    Kinds,
    common_kind,
    ir_classes,
    is_computed,
    known_value,
    operation_of,
    result_of,
)
from frontier.functors.functor import is_hashable
from frontier.functors.numbers import WHOLE_ONLY, refused_float

__all__ = ["promoting"]

#: How messages of this pass begin.
REFUSALS = (
    WHOLE_ONLY, arithmetic.OF_BOOLS[:22], arithmetic.OF_UNSIGNED[:22], arithmetic.MIXED[:28], arithmetic.NO_BITS,
    arithmetic.TOO_LARGE[:25],
)  # fmt: skip


def promoting(inference: Any, ir: ModuleType, types: ModuleType, errors: ModuleType) -> type:
    """A pass like numba's ``NopythonTypeInference`` whose types follow NumPy; for one target's own modules."""
    tools = SimpleNamespace(ir=ir, types=types, refuse=errors.TypingError)

    class Promotion(inference):
        def run_pass(self, state: Any) -> bool:
            _spell_out(state, tools)
            asked = state.return_type
            super().run_pass(state)
            if _Promoter(state, tools).run():
                state.return_type = asked  # or what was inferred before would be what is asked for now
                super().run_pass(state)
            _check_stores(state, tools)
            return True

    Promotion._name = "frontier_promotion"
    return Promotion


def _spell_out(state: Any, tools: SimpleNamespace) -> None:
    """Make some calls what they stand for, before numba infers types.

    ``pow(a, b)`` and ``divmod(a, b)`` become operations. ``math.floor``, ``ceil`` and ``trunc`` become our own, since
    numba-cuda's give floats, which do not go where integers are expected.
    """
    ir, func = tools.ir, state.func_ir
    for block in func.blocks.values():
        body: list[Any] = []

        def new(value: Any, loc: Any, body: list[Any] = body, scope: Any = block.scope) -> Any:
            var = scope.redefine("$promoted", loc)
            body.append(ir.Assign(value, var, loc))
            func._definitions[var.name].append(value)
            return var

        for statement in block.body:
            expr = statement.value if isinstance(statement, ir_classes(ir, "Assign")) else None
            if isinstance(expr, ir_classes(ir, "Expr")) and expr.op == "call" and not expr.kws:
                called, made = known_value(func, ir, expr.func), None
                if called is pow and len(expr.args) == 2:
                    made = ir.Expr.binop(operator.pow, *expr.args, expr.loc)
                elif called is divmod and len(expr.args) == 2:
                    parts = [
                        new(ir.Expr.binop(fn, *expr.args, expr.loc), expr.loc)
                        for fn in (operator.floordiv, operator.mod)
                    ]
                    made = ir.Expr.build_tuple(parts, expr.loc)
                elif called in _WHOLE_OF_MATH and len(expr.args) == 1:
                    own = arithmetic.CALLS[called]
                    expr.func = new(ir.Global(own.__name__, own, expr.loc), expr.loc)
                if made is not None:
                    definitions = func._definitions[statement.target.name]
                    definitions[:] = [made if one is expr else one for one in definitions]
                    statement.value = made
            body.append(statement)
        block.body = body


#: Functions of ``math`` that give integers.
_WHOLE_OF_MATH = (math.floor, math.ceil, math.trunc)

_COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
_SHIFTS = {operator.lshift: arithmetic.shifted_left, operator.rshift: arithmetic.shifted_right}
_DIVISIONS = {operator.floordiv: arithmetic.floor_divided, operator.mod: arithmetic.remainder}

#: Operations on two bools for which Python and NumPy disagree.
_OF_NUMBERS = (operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.pow, operator.lshift,
               operator.rshift, operator.truediv)  # fmt: skip

#: Operations on integers whose result may overflow.
_GROWING = {operator.add: "+", operator.sub: "-", operator.mul: "*", operator.pow: "**", operator.lshift: "<<"}


class _Promoter:
    """Rewrites one function."""

    def __init__(self, state: Any, tools: SimpleNamespace) -> None:
        self.ir, self.refuse, self.func = tools.ir, tools.refuse, state.func_ir
        self.inferred = Kinds(state, tools)
        self.changed = False

    def run(self) -> bool:
        """Rewrite the function; whether anything has changed."""
        for block in self.func.blocks.values():
            made: list[Any] = []
            for statement in block.body:
                self._statement(statement, made, block.scope)
                made.append(statement)
            block.body = made
        return self.changed

    def _statement(self, statement: Any, made: list[Any], scope: Any) -> None:
        expr = statement.value if isinstance(statement, ir_classes(self.ir, "Assign")) else None
        if not isinstance(expr, ir_classes(self.ir, "Expr")):
            return
        if expr.op in ("binop", "inplace_binop"):
            self._binary(statement, expr, made, scope)
        elif expr.op == "unary":
            self._unary(statement, expr, made, scope)
        elif expr.op == "call":
            self._call(statement, expr, made, scope)

    def _binary(self, statement: Any, expr: Any, made: list[Any], scope: Any) -> None:
        fn, kinds = operation_of(expr), self.inferred.of(expr.lhs, expr.rhs)
        if None in kinds or "unknown" in kinds:
            return
        if all(kind in WEAK for kind in kinds):
            self._check_made(expr, fn)
            return
        left, right = kinds
        if left == right == "bool":
            if fn in _OF_NUMBERS:
                raise self.refuse(arithmetic.OF_BOOLS, loc=expr.loc)
            return
        if "uint64" in kinds and fn not in _COMPARISONS and self._minus(expr):
            raise self.refuse(arithmetic.OF_UNSIGNED, loc=expr.loc)
        expected = result_of(fn, *kinds)
        if expected is None:
            raise self.refuse(arithmetic.MIXED.format(*kinds), loc=expr.loc)
        if fn in _COMPARISONS:
            if "uint64" in kinds and any(kind in ("int8", "int16", "int32", "int64") for kind in kinds):
                self._compare(statement, expr, made, scope)
                return
            common = common_kind(kinds)
            if "float32" in kinds and common == "float32":
                self._cast_operands(expr, common, made, scope)
            return
        if not is_computed(expected):
            return  # a float16, say
        whole = expected not in ("float32", "float64")
        if whole:
            self._check_numbers(expr, expected)
        special = None
        if whole:
            special = _SHIFTS.get(fn) or _DIVISIONS.get(fn) or (arithmetic.power if fn is operator.pow else None)
        elif fn in _DIVISIONS:
            special = _DIVISIONS[fn]
        elif fn is operator.pow:
            special = arithmetic.real_power
        same = self.inferred.held(statement.target) == expected
        harmless = special is None or self._harmless(fn, whole, self.inferred.value(expr.rhs))
        if not same or not harmless:
            self._cast_operands(expr, expected, made, scope)
        if not harmless:
            self._replace(statement, special, [expr.lhs, expr.rhs], made, scope)
        if not same:
            self._cast_result(statement, expected, made, scope)

    def _check_numbers(self, expr: Any, expected: str) -> None:
        """Refuse numbers of the code that the type of the result does not hold, as NumPy does."""
        for var in (expr.lhs, expr.rhs):
            number = self.inferred.value(var)
            limits = np.iinfo(expected) if expected != "bool" else None
            if type(number) is int and limits is not None and not limits.min <= number <= limits.max:
                raise self.refuse(arithmetic.TOO_LARGE.format(number, expected), loc=expr.loc)

    def _check_made(self, expr: Any, fn: Any) -> None:
        """Refuse a number that is made of two of the code if 64 bits do not hold it: Python's would go on."""
        a, b = self.inferred.value(expr.lhs), self.inferred.value(expr.rhs)
        powers = fn in (operator.pow, operator.lshift)
        if type(a) is not int or type(b) is not int or fn not in _GROWING or (powers and b < 0):
            return
        long = powers and b > 64 and abs(a) > (fn is operator.pow)
        if long or not -(2**63) <= fn(a, b) < 2**64:
            raise self.refuse(arithmetic.TOO_LARGE.format(f"{a} {_GROWING[fn]} {b}", "int64"), loc=expr.loc)

    def _compare(self, statement: Any, expr: Any, made: list[Any], scope: Any) -> None:
        """uint64 with an integer that has a sign: numba would compare floats."""
        args = [expr.lhs, expr.rhs]
        order = self._new(self._applied(arithmetic.order, args, made, scope, expr.loc), made, scope, expr.loc)
        zero = self._new(self.ir.Const(0, expr.loc), made, scope, expr.loc)
        expr.lhs, expr.rhs = order, zero

    def _harmless(self, fn: Any, whole: bool, number: Any) -> bool:
        """Whether numba does what NumPy does if this is the right operand."""
        if type(number) not in (int, float):
            return False
        if fn in _DIVISIONS:
            return whole and number not in (0, -1)
        if fn is operator.pow and whole:
            return False  # its products would not wrap
        return type(number) is int and 0 <= number < 64

    def _minus(self, expr: Any) -> bool:
        return any(type(number := self.inferred.value(var)) is int and number < 0 for var in (expr.lhs, expr.rhs))

    def _unary(self, statement: Any, expr: Any, made: list[Any], scope: Any) -> None:
        (kind,) = self.inferred.of(expr.value)
        if kind in (None, "unknown") or kind in WEAK or expr.fn is operator.not_:
            return
        if kind == "bool":
            if expr.fn is not operator.invert:
                raise self.refuse(arithmetic.OF_BOOLS, loc=expr.loc)
            self._replace(statement, arithmetic.negated, [expr.value], made, scope)
        elif kind in ("float32", "float64") and expr.fn is operator.invert:
            raise self.refuse(arithmetic.NO_BITS, loc=expr.loc)
        elif self.inferred.held(statement.target) != kind:
            expr.value = self._cast(expr.value, kind, made, scope)
            self._cast_result(statement, kind, made, scope)

    def _call(self, statement: Any, expr: Any, made: list[Any], scope: Any) -> None:
        called = self.inferred.value(expr.func)
        if called in (min, max) and len(expr.args) > 1 and not expr.kws:
            self._extreme(statement, expr, called, made, scope)
            return
        if called is math.pow:  # which numba would compute with integers
            self._cast_real(expr, made, scope)
            return
        if isinstance(called, np.ufunc) and len(expr.args) > 1:
            self._cast_weak(expr, made, scope)
            return
        instead = arithmetic.CALLS.get(called) if is_hashable(called) else None
        if instead is None or expr.kws or not expr.args:
            return
        kinds = self.inferred.of(*expr.args)
        if "unknown" in kinds or None in kinds or (called is round and len(expr.args) > 1):
            return
        real = any(kind in ("float32", "float64", "float") for kind in kinds)
        if real or called is round:
            expr.func = self._global(instead, made, scope, expr.loc)
            self.changed = True

    def _cast_real(self, expr: Any, made: list[Any], scope: Any) -> None:
        """Integers become floats, as all that ``math`` takes."""
        kinds = self.inferred.of(*expr.args)
        if None in kinds or "unknown" in kinds or all(kind == "float32" for kind in kinds):
            return
        own = [self.inferred.held(var) for var in expr.args]
        expr.args = [
            var if kind == "float64" else self._cast(var, "float64", made, scope)
            for var, kind in zip(expr.args, own, strict=True)
        ]

    def _cast_weak(self, expr: Any, made: list[Any], scope: Any) -> None:
        """Weak arguments of NumPy's functions follow the others."""
        kinds = self.inferred.of(*expr.args)
        if None not in kinds and "unknown" not in kinds and common_kind(kinds) == "float32":
            expr.args = [
                self._cast(var, "float32", made, scope) if kind in WEAK else var
                for var, kind in zip(expr.args, kinds, strict=True)
            ]

    def _extreme(self, statement: Any, expr: Any, called: Any, made: list[Any], scope: Any) -> None:
        """``min`` and ``max`` as Python has them, of values of one type: NaN neither wins nor gives way."""
        kinds = self.inferred.of(*expr.args)
        if None in kinds or "unknown" in kinds:
            return
        common = common_kind(kinds)
        if common not in ("float32", "float64", "float"):
            return
        wanted = "float64" if common == "float" else common
        values = [
            var if self.inferred.held(var) == wanted else self._cast(var, wanted, made, scope)
            for var in expr.args
        ]
        chosen = arithmetic.least if called is min else arithmetic.greatest
        at = values[0]
        for value in values[1:-1]:
            at = self._new(self._applied(chosen, [at, value], made, scope, expr.loc), made, scope, expr.loc)
        self._replace(statement, chosen, [at, values[-1]], made, scope)

    # ---- new code -----------------------------------------------------------------------------------------

    def _new(self, value: Any, made: list[Any], scope: Any, loc: Any) -> Any:
        var = scope.redefine("$promoted", loc)
        made.append(self.ir.Assign(value, var, loc))
        self.func._definitions[var.name].append(value)
        return var

    def _global(self, value: Any, made: list[Any], scope: Any, loc: Any) -> Any:
        return self._new(self.ir.Global(value.__name__, value, loc), made, scope, loc)

    def _applied(self, fn: Any, args: list[Any], made: list[Any], scope: Any, loc: Any) -> Any:
        self.changed = True
        return self.ir.Expr.call(self._global(fn, made, scope, loc), args, (), loc)

    def _cast(self, var: Any, kind: str, made: list[Any], scope: Any) -> Any:
        """The variable's value in another type."""
        loc = var.loc
        return self._new(self._applied(np.dtype(kind).type, [var], made, scope, loc), made, scope, loc)

    def _cast_operands(self, expr: Any, kind: str, made: list[Any], scope: Any) -> None:
        for side in ("lhs", "rhs"):
            var = getattr(expr, side)
            if self.inferred.held(var) != kind:
                expr._kws[side] = self._cast(var, kind, made, scope)

    def _replace(self, statement: Any, fn: Any, args: list[Any], made: list[Any], scope: Any) -> None:
        statement.value = self._applied(fn, args, made, scope, statement.loc)

    def _cast_result(self, statement: Any, kind: str, made: list[Any], scope: Any) -> None:
        value = self._new(statement.value, made, scope, statement.loc)
        statement.value = self._applied(np.dtype(kind).type, [value], made, scope, statement.loc)


def _check_stores(state: Any, tools: SimpleNamespace) -> None:
    """Refuse floats where a field holds integers."""
    types = tools.types
    for block in state.func_ir.blocks.values():
        for statement in block.body:
            if not isinstance(statement, ir_classes(tools.ir, "SetItem", "StaticSetItem")):
                continue
            held = getattr(state.typemap.get(statement.target.name), "dtype", None)
            value = state.typemap.get(statement.value.name)
            value = value.type if isinstance(value, types.Optional) else value
            if isinstance(held, types.Integer) and isinstance(value, types.Float):
                raise tools.refuse(refused_float(held), loc=statement.loc)


