"""NumPy's arithmetic in compiled functors: a pass over numba's intermediate representation, on any target.

In numba ``0.5`` is a float64 and int32 + int32 is widened. In NumPy a literal or captured number adopts the type of the
other operand, and int32 stays int32. So the types of a functor are inferred once, operands are converted to the type in
which NumPy computes, and operations on which numba differs become calls of :mod:`frontier.backends.arithmetic`. If
anything has changed, the types are inferred again. A functor of 64-bit numbers does not change.

A value is *weak* if it is made only of Python numbers. A variable that is weak on one path and a float32 on another is
a float32 in computations, but is kept in 64 bits, so that storing it changes nothing.
"""

from __future__ import annotations

import math
import operator
from functools import lru_cache
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from frontier.backends import arithmetic
from frontier.functors.numbers import WHOLE_ONLY, refused_float

__all__ = ["promoting"]

#: How messages of this pass begin.
REFUSALS = (
    WHOLE_ONLY, arithmetic.OF_BOOLS[:22], arithmetic.OF_UNSIGNED[:22], arithmetic.MIXED[:28], arithmetic.NO_BITS,
    arithmetic.TOO_LARGE[:25],
)  # fmt: skip

#: What a weak value is made of: an integer or a float.
WEAK = ("int", "float")

_ORDER = {"int": 0, "float": 1}


def promoting(inference: Any, ir: ModuleType, types: ModuleType, errors: ModuleType) -> type:
    """A pass like numba's ``NopythonTypeInference`` whose types follow NumPy; for one target's own modules."""
    tools = SimpleNamespace(ir=ir, types=types, refuse=errors.TypingError)

    class Promotion(inference):
        def run_pass(self, state: Any) -> bool:
            _spell_out(state, tools)
            super().run_pass(state)
            if _Promoter(state, tools).run():
                super().run_pass(state)
            _check_stores(state, tools)
            return True

    Promotion._name = "frontier_promotion"
    return Promotion


@lru_cache(maxsize=4096)
def result_of(fn: Any, *kinds: str) -> str | None:
    """Dtype of an operation's result in NumPy; None where it has none. ``int`` and ``float`` are weak."""
    ones = [1 if kind == "int" else 1.0 if kind == "float" else np.dtype(kind).type(1) for kind in kinds]
    try:
        with np.errstate(all="ignore"):
            made = fn(*ones)
    except TypeError:
        return None
    if type(made) in (bool, int, float):
        return "bool" if type(made) is bool else type(made).__name__
    return str(np.asarray(made).dtype)


def _spell_out(state: Any, tools: SimpleNamespace) -> None:
    """Make ``pow(a, b)`` and ``divmod(a, b)`` the operations that they stand for."""
    ir, func = tools.ir, state.func_ir
    for block in func.blocks.values():
        body: list[Any] = []
        for statement in block.body:
            expr = statement.value if isinstance(statement, _any(ir, "Assign")) else None
            if isinstance(expr, _any(ir, "Expr")) and expr.op == "call" and len(expr.args) == 2 and not expr.kws:
                called, made = _known(func, ir, expr.func), None
                if called is pow:
                    made = ir.Expr.binop(operator.pow, *expr.args, expr.loc)
                elif called is divmod:
                    parts = []
                    for fn in (operator.floordiv, operator.mod):
                        value = ir.Expr.binop(fn, *expr.args, expr.loc)
                        parts.append(block.scope.redefine("$promoted", expr.loc))
                        body.append(ir.Assign(value, parts[-1], expr.loc))
                        func._definitions[parts[-1].name].append(value)
                    made = ir.Expr.build_tuple(parts, expr.loc)
                if made is not None:
                    definitions = func._definitions[statement.target.name]
                    definitions[:] = [made if one is expr else one for one in definitions]
                    statement.value = made
            body.append(statement)
        block.body = body


def _known(func: Any, ir: ModuleType, var: Any) -> Any:
    """What a variable is known to be; None if that is not known."""
    made = func._definitions.get(var.name, ())
    if len(made) != 1:
        return None
    if isinstance(made[0], _any(ir, "Global", "FreeVar", "Const")):
        return made[0].value
    if isinstance(made[0], _any(ir, "Var")):
        return _known(func, ir, made[0])
    if isinstance(made[0], _any(ir, "Expr")) and made[0].op == "getattr":
        return getattr(_known(func, ir, made[0].value), made[0].attr, None)
    return None


_COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
_SHIFTS = {operator.lshift: arithmetic.shifted_left, operator.rshift: arithmetic.shifted_right}
_DIVISIONS = {operator.floordiv: arithmetic.floor_divided, operator.mod: arithmetic.remainder}

#: Operations and their forms that change a variable.
_PLAIN = {
    getattr(operator, f"i{name}"): getattr(operator, name)
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift")
} | {operator.iand: operator.and_, operator.ior: operator.or_, operator.ixor: operator.xor}

#: Operations on two bools for which Python and NumPy disagree.
_OF_NUMBERS = (operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.pow, operator.lshift,
               operator.rshift, operator.truediv)  # fmt: skip

#: Operations on integers whose result may overflow.
_GROWING = {operator.add: "+", operator.sub: "-", operator.mul: "*", operator.pow: "**", operator.lshift: "<<"}


class _Promoter:
    """Goes through one function."""

    def __init__(self, state: Any, tools: SimpleNamespace) -> None:
        self.ir, self.types, self.refuse = tools.ir, tools.types, tools.refuse
        self.func, self.typemap = state.func_ir, state.typemap
        self.kinds: dict[str, str | None] = {}
        self.elements: dict[str, str] = {}  # of tuples of weak numbers
        self.changed = False

    def run(self) -> bool:
        """Rewrite the function; whether anything has changed."""
        self._find_kinds()
        for block in self.func.blocks.values():
            made: list[Any] = []
            for statement in block.body:
                self._statement(statement, made, block.scope)
                made.append(statement)
            block.body = made
        return self.changed

    # ---- kinds: the dtype of every variable as NumPy sees it ------------------------------------------------

    def _kind_of_type(self, found: Any) -> str | None:
        types = self.types
        if isinstance(found, types.Boolean):
            return "bool"
        if isinstance(found, (types.Integer, types.Float)):
            return str(getattr(found, "literal_type", found))
        if isinstance(found, types.Optional):
            return self._kind_of_type(found.type)
        return None

    def _find_kinds(self) -> None:
        """By going on until nothing changes: kinds only become stronger."""
        assigned = [
            (statement.target.name, statement.value)
            for block in self.func.blocks.values()
            for statement in block.body
            if isinstance(statement, _any(self.ir, "Assign"))
        ]
        defined: dict[str, set[str | None]] = {}
        again = True
        while again:
            again = False
            for name, value in assigned:
                kind = self._kind(name, value)
                seen = defined.setdefault(name, set())
                if kind not in seen and kind != "unknown":
                    seen.add(kind)
                    joined = self._joined(name, seen)
                    again = again or joined != self.kinds.get(name, "unknown")
                    self.kinds[name] = joined

    def _joined(self, name: str, kinds: set[str | None]) -> str | None:
        """The kind of a variable with several definitions."""
        given = kinds - set(WEAK)
        if not given:
            return max((kind for kind in kinds if kind), key=_ORDER.__getitem__)
        if len(given) == 1:
            return given.pop()
        return self._kind_of_type(self.typemap.get(name))

    def _kind(self, name: str, value: Any) -> str | None:
        ir = self.ir
        if isinstance(value, _any(ir, "Const", "Global", "FreeVar")):
            return self._kind_of_object(name, value.value)
        if isinstance(value, _any(ir, "Var")):
            if value.name in self.elements:
                self.elements[name] = self.elements[value.name]
            return self.kinds.get(value.name, "unknown")
        if isinstance(value, _any(ir, "Expr")):
            return self._kind_of_expression(name, value)
        return self._kind_of_type(self.typemap.get(name))

    def _kind_of_object(self, name: str, value: Any) -> str | None:
        if type(value) in (int, float):
            return type(value).__name__
        if type(value) is tuple and value and all(type(one) in (int, float) for one in value):
            self.elements[name] = max((type(one).__name__ for one in value), key=_ORDER.__getitem__)
        return self._kind_of_type(self.typemap.get(name))

    def _kind_of_expression(self, name: str, expr: Any) -> str | None:
        own = self._kind_of_type(self.typemap.get(name))
        if expr.op in ("binop", "inplace_binop"):
            kinds = self._kinds(expr.lhs, expr.rhs)
            if "unknown" in kinds:
                return "unknown"
            made = None if None in kinds else result_of(_plain(expr), *kinds)
            return made if made is not None and _computed(made) else own
        if expr.op == "unary":
            (kind,) = self._kinds(expr.value)
            if kind == "unknown" or kind in WEAK:
                return kind if expr.fn is not operator.not_ else "bool"
            return result_of(expr.fn, kind) if kind and expr.fn is not operator.not_ else own
        if expr.op == "cast":
            return self.kinds.get(expr.value.name, "unknown")
        if expr.op == "phi":
            found = [self.kinds.get(var.name, "unknown") for var in expr.incoming_values if self._is_defined(var)]
            known = {kind for kind in found if kind != "unknown"}
            return self._joined(name, known) if known else "unknown"
        if expr.op in ("build_tuple", "getiter", "iternext", "pair_first", "getitem", "static_getitem", "exhaust_iter"):
            return self._kind_of_element(name, expr, own)
        if expr.op == "getattr":
            module = self._object(expr.value)
            if isinstance(module, ModuleType):
                return self._kind_of_object(name, getattr(module, expr.attr, None))
        return self._kind_of_call(expr, own) if expr.op == "call" else own

    def _kind_of_call(self, expr: Any, own: str | None) -> str | None:
        called = self._object(expr.func)
        if called is float:
            return "float64"
        if called is abs and self._kinds(*expr.args)[0] in WEAK:
            return self._kinds(*expr.args)[0]
        if _hashable(called) and called in arithmetic.CALLS and len(expr.args) == 1:
            return "int64"
        if not _keeps(called) or len(expr.args) < 2:
            return own
        kinds = self._kinds(*expr.args)
        if "unknown" in kinds:
            return "unknown"
        return own if None in kinds or own is None or own == "bool" else _common(kinds)

    def _kind_of_element(self, name: str, expr: Any, own: str | None) -> str | None:
        """Of something taken from a tuple of weak numbers."""
        if expr.op == "build_tuple":
            kinds = self._kinds(*expr.items)
            if kinds and all(kind in WEAK for kind in kinds):
                self.elements[name] = _common(kinds)
            return own
        element = self.elements.get(expr.value.name)
        if element is None:
            part = self._part(expr)
            return own if part is None else self.kinds.get(part.name, "unknown")
        if expr.op in ("getiter", "iternext", "exhaust_iter"):
            self.elements[name] = element
            return own
        return element

    def _part(self, expr: Any) -> Any:
        """The variable that an entry of a tuple was made of; None if that is not known."""
        if expr.op != "static_getitem" or type(expr.index) is not int:
            return None
        made: Any = expr.value
        while isinstance(made, _any(self.ir, "Var")) or getattr(made, "op", "") == "exhaust_iter":
            found = self.func._definitions.get(getattr(made, "value", made).name, ())
            made = found[0] if len(found) == 1 else None
        if getattr(made, "op", "") != "build_tuple" or not -len(made.items) <= expr.index < len(made.items):
            return None
        return made.items[expr.index]

    def _is_defined(self, var: Any) -> bool:
        return var is not self.ir.UNDEFINED and hasattr(var, "name")

    def _kinds(self, *variables: Any) -> list[str | None]:
        return [self.kinds.get(var.name, "unknown") for var in variables]

    def _object(self, var: Any) -> Any:
        return _known(self.func, self.ir, var)

    # ---- rewriting ----------------------------------------------------------------------------------------

    def _statement(self, statement: Any, made: list[Any], scope: Any) -> None:
        ir = self.ir
        if not isinstance(statement, _any(ir, "Assign")) or not isinstance(statement.value, _any(ir, "Expr")):
            return
        expr = statement.value
        if expr.op in ("binop", "inplace_binop"):
            self._binary(statement, expr, made, scope)
        elif expr.op == "unary":
            self._unary(statement, expr, made, scope)
        elif expr.op == "call":
            self._call(statement, expr, made, scope)

    def _binary(self, statement: Any, expr: Any, made: list[Any], scope: Any) -> None:
        fn, kinds = _plain(expr), self._kinds(expr.lhs, expr.rhs)
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
            common = _common(kinds)
            if "float32" in kinds and common == "float32":
                self._cast_operands(expr, common, made, scope)
            return
        if not _computed(expected):
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
        same = self._kind_of_type(self.typemap[statement.target.name]) == expected
        harmless = special is None or self._harmless(fn, whole, self._constant(expr.rhs))
        if not same or not harmless:
            self._cast_operands(expr, expected, made, scope)
        if not harmless:
            self._replace(statement, special, [expr.lhs, expr.rhs], made, scope)
        if not same:
            self._cast_result(statement, expected, made, scope)

    def _check_numbers(self, expr: Any, expected: str) -> None:
        """Refuse numbers of the code that the type of the result does not hold, as NumPy does."""
        for var in (expr.lhs, expr.rhs):
            number = self._constant(var)
            limits = np.iinfo(expected) if expected != "bool" else None
            if type(number) is int and limits is not None and not limits.min <= number <= limits.max:
                raise self.refuse(arithmetic.TOO_LARGE.format(number, expected), loc=expr.loc)

    def _check_made(self, expr: Any, fn: Any) -> None:
        """Refuse a number that is made of two of the code if 64 bits do not hold it: Python's would go on."""
        a, b = self._constant(expr.lhs), self._constant(expr.rhs)
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
        return any(type(number := self._constant(var)) is int and number < 0 for var in (expr.lhs, expr.rhs))

    def _constant(self, var: Any) -> Any:
        return self._object(var)

    def _unary(self, statement: Any, expr: Any, made: list[Any], scope: Any) -> None:
        (kind,) = self._kinds(expr.value)
        if kind in (None, "unknown") or kind in WEAK or expr.fn is operator.not_:
            return
        if kind == "bool":
            if expr.fn is not operator.invert:
                raise self.refuse(arithmetic.OF_BOOLS, loc=expr.loc)
            self._replace(statement, arithmetic.negated, [expr.value], made, scope)
        elif kind in ("float32", "float64") and expr.fn is operator.invert:
            raise self.refuse(arithmetic.NO_BITS, loc=expr.loc)
        elif self._kind_of_type(self.typemap[statement.target.name]) != kind:
            expr.value = self._cast(expr.value, kind, made, scope)
            self._cast_result(statement, kind, made, scope)

    def _call(self, statement: Any, expr: Any, made: list[Any], scope: Any) -> None:
        called = self._object(expr.func)
        if called in (min, max) and len(expr.args) > 1 and not expr.kws:
            self._extreme(statement, expr, called, made, scope)
            return
        if called is math.pow:  # which numba would compute with integers
            self._cast_real(expr, made, scope)
            return
        if isinstance(called, np.ufunc) and len(expr.args) > 1:
            self._cast_weak(expr, made, scope)
            return
        instead = arithmetic.CALLS.get(called) if _hashable(called) else None
        if instead is None or expr.kws or not expr.args:
            return
        kinds = self._kinds(*expr.args)
        if "unknown" in kinds or None in kinds or (called is round and len(expr.args) > 1):
            return
        real = any(kind in ("float32", "float64", "float") for kind in kinds)
        if real or called in (round, math.floor, math.ceil, math.trunc):
            expr.func = self._global(instead, made, scope, expr.loc)
            self.changed = True

    def _cast_real(self, expr: Any, made: list[Any], scope: Any) -> None:
        """Integers become floats, as all that ``math`` takes."""
        kinds = self._kinds(*expr.args)
        if None in kinds or "unknown" in kinds or all(kind == "float32" for kind in kinds):
            return
        own = [self._kind_of_type(self.typemap.get(var.name)) for var in expr.args]
        expr.args = [
            var if kind == "float64" else self._cast(var, "float64", made, scope)
            for var, kind in zip(expr.args, own, strict=True)
        ]

    def _cast_weak(self, expr: Any, made: list[Any], scope: Any) -> None:
        """Weak arguments of NumPy's functions follow the others."""
        kinds = self._kinds(*expr.args)
        if None not in kinds and "unknown" not in kinds and _common(kinds) == "float32":
            expr.args = [
                self._cast(var, "float32", made, scope) if kind in WEAK else var
                for var, kind in zip(expr.args, kinds, strict=True)
            ]

    def _extreme(self, statement: Any, expr: Any, called: Any, made: list[Any], scope: Any) -> None:
        """``min`` and ``max`` as Python has them, of values of one type: NaN neither wins nor gives way."""
        kinds = self._kinds(*expr.args)
        if None in kinds or "unknown" in kinds:
            return
        common = _common(kinds)
        if common not in ("float32", "float64", "float"):
            return
        wanted = "float64" if common == "float" else common
        values = [
            var if self._kind_of_type(self.typemap.get(var.name)) == wanted else self._cast(var, wanted, made, scope)
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
            if self._kind_of_type(self.typemap.get(var.name)) != kind:
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
            if not isinstance(statement, _any(tools.ir, "SetItem", "StaticSetItem")):
                continue
            held = getattr(state.typemap.get(statement.target.name), "dtype", None)
            value = state.typemap.get(statement.value.name)
            value = value.type if isinstance(value, types.Optional) else value
            if isinstance(held, types.Integer) and isinstance(value, types.Float):
                raise tools.refuse(refused_float(held), loc=statement.loc)


def _plain(expr: Any) -> Any:
    return expr.fn if expr.op == "binop" else expr.immutable_fn


def _common(kinds: list[str | None]) -> str:
    """The type in which values come together."""
    if all(kind in WEAK for kind in kinds):
        return max(kinds, key=_ORDER.__getitem__)  # type: ignore[arg-type,return-value]
    return str(np.result_type(*[0 if k == "int" else 0.0 if k == "float" else np.dtype(k) for k in kinds]))


def _computed(kind: str) -> bool:
    """Whether it is a type in which functors compute."""
    return kind in ("float32", "float64") or kind in WEAK or kind == "bool" or "int" in kind


def _any(ir: Any, *names: str) -> Any:
    """Classes of numba's intermediate form; numba-cuda has its own, and meets numba's as well."""
    found: list[type] = []
    for name in names:
        both = getattr(ir, f"{name.lower()}_types", None)
        found.extend(both if both is not None else [getattr(ir, name)])
    return tuple(found)


def _keeps(called: Any) -> bool:
    """Whether what a function gives is of the type in which its arguments come together."""
    return called is min or called is max or isinstance(called, np.ufunc)


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
