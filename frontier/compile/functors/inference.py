"""Type inference by NumPy's rules: the dtype of every variable of a functor, as NumPy would compute it.

numba's own inference has run before, and says in which type each variable is held. What NumPy would make of it is the
variable's *kind*: a dtype's name, or ``int`` or ``float`` if the value is weak, or None if it is no number. Weak values
are made only of Python numbers, and adopt the type of what they are combined with. A kind is ``"unknown"`` until all
that it depends on is known.
"""

from __future__ import annotations

import operator
from functools import lru_cache
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from frontier.compile.functors import arithmetic
from frontier.functors.functor import is_hashable

__all__ = ["WEAK", "Kinds", "common_kind", "ir_classes", "is_computed", "known_value", "operation_of", "result_of"]

#: What a weak value is made of: an integer or a float.
WEAK = ("int", "float")

_ORDER = {"int": 0, "float": 1}


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


class Kinds:
    """The kind of every variable of one function.

    Parameters
    ----------
    state : numba.core.compiler.StateDict
        Of the compilation, after numba's type inference.
    tools : namespace
        The modules ``ir`` and ``types`` of the target.
    """

    def __init__(self, state: Any, tools: SimpleNamespace) -> None:
        self.ir, self.types = tools.ir, tools.types
        self.func, self.typemap = state.func_ir, state.typemap
        self.kinds: dict[str, str | None] = {}
        self.elements: dict[str, str] = {}  # of tuples of weak numbers
        self._find()

    def of(self, *variables: Any) -> list[str | None]:
        """Kinds of some variables."""
        return [self.kinds.get(var.name, "unknown") for var in variables]

    def held(self, var: Any) -> str | None:
        """The dtype in which numba holds a variable."""
        return self._of_type(self.typemap.get(var.name))

    def value(self, var: Any) -> Any:
        """What a variable is known to be, such as a constant or a function; None if that is not known."""
        return known_value(self.func, self.ir, var)

    def _of_type(self, found: Any) -> str | None:
        types = self.types
        if isinstance(found, types.Boolean):
            return "bool"
        if isinstance(found, (types.Integer, types.Float)):
            return str(getattr(found, "literal_type", found))
        if isinstance(found, types.Optional):
            return self._of_type(found.type)
        return None

    def _find(self) -> None:
        """By going on until nothing changes: kinds only become stronger."""
        assigned = [
            (statement.target.name, statement.value)
            for block in self.func.blocks.values()
            for statement in block.body
            if isinstance(statement, ir_classes(self.ir, "Assign"))
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
        return self._of_type(self.typemap.get(name))

    def _kind(self, name: str, value: Any) -> str | None:
        ir = self.ir
        if isinstance(value, ir_classes(ir, "Const", "Global", "FreeVar")):
            return self._kind_of_object(name, value.value)
        if isinstance(value, ir_classes(ir, "Var")):
            if value.name in self.elements:
                self.elements[name] = self.elements[value.name]
            return self.kinds.get(value.name, "unknown")
        if isinstance(value, ir_classes(ir, "Expr")):
            return self._kind_of_expression(name, value)
        return self._of_type(self.typemap.get(name))

    def _kind_of_object(self, name: str, value: Any) -> str | None:
        if type(value) in (int, float):
            return type(value).__name__
        if type(value) is tuple and value and all(type(one) in (int, float) for one in value):
            self.elements[name] = max((type(one).__name__ for one in value), key=_ORDER.__getitem__)
        return self._of_type(self.typemap.get(name))

    def _kind_of_expression(self, name: str, expr: Any) -> str | None:
        own = self._of_type(self.typemap.get(name))
        if expr.op in ("binop", "inplace_binop"):
            kinds = self.of(expr.lhs, expr.rhs)
            if "unknown" in kinds:
                return "unknown"
            made = None if None in kinds else result_of(operation_of(expr), *kinds)
            return made if made is not None and is_computed(made) else own
        if expr.op == "unary":
            (kind,) = self.of(expr.value)
            if kind == "unknown" or kind in WEAK:
                return kind if expr.fn is not operator.not_ else "bool"
            return result_of(expr.fn, kind) if kind and expr.fn is not operator.not_ else own
        if expr.op == "cast":
            return self.kinds.get(expr.value.name, "unknown")
        if expr.op == "phi":
            found = [self.kinds.get(var.name, "unknown") for var in expr.incoming_values if self._is_defined(var)]
            met = {kind for kind in found if kind != "unknown"}
            return self._joined(name, met) if met else "unknown"
        if expr.op in ("build_tuple", "getiter", "iternext", "pair_first", "getitem", "static_getitem", "exhaust_iter"):
            return self._kind_of_element(name, expr, own)
        if expr.op == "getattr":
            module = self.value(expr.value)
            if isinstance(module, ModuleType):
                return self._kind_of_object(name, getattr(module, expr.attr, None))
        return self._kind_of_call(expr, own) if expr.op == "call" else own

    def _kind_of_call(self, expr: Any, own: str | None) -> str | None:
        called = self.value(expr.func)
        if called is float:
            return "float64"
        if called is abs and self.of(*expr.args)[0] in WEAK:
            return self.of(*expr.args)[0]
        if is_hashable(called) and called in arithmetic.CALLS and len(expr.args) == 1:
            return "int64"
        if not _keeps(called) or len(expr.args) < 2:
            return own
        kinds = self.of(*expr.args)
        if "unknown" in kinds:
            return "unknown"
        return own if None in kinds or own is None or own == "bool" else common_kind(kinds)

    def _kind_of_element(self, name: str, expr: Any, own: str | None) -> str | None:
        """Of something taken from a tuple of weak numbers."""
        if expr.op == "build_tuple":
            kinds = self.of(*expr.items)
            if kinds and all(kind in WEAK for kind in kinds):
                self.elements[name] = common_kind(kinds)
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
        while isinstance(made, ir_classes(self.ir, "Var")) or getattr(made, "op", "") == "exhaust_iter":
            found = self.func._definitions.get(getattr(made, "value", made).name, ())
            made = found[0] if len(found) == 1 else None
        if getattr(made, "op", "") != "build_tuple" or not -len(made.items) <= expr.index < len(made.items):
            return None
        return made.items[expr.index]

    def _is_defined(self, var: Any) -> bool:
        return var is not self.ir.UNDEFINED and hasattr(var, "name")


def _keeps(called: Any) -> bool:
    """Whether what a function gives is of the type in which its arguments come together."""
    return called is min or called is max or isinstance(called, np.ufunc)


def known_value(func: Any, ir: ModuleType, var: Any) -> Any:
    """What a variable is known to be; None if that is not known."""
    made = func._definitions.get(var.name, ())
    if len(made) != 1:
        return None
    if isinstance(made[0], ir_classes(ir, "Global", "FreeVar", "Const")):
        return made[0].value
    if isinstance(made[0], ir_classes(ir, "Var")):
        return known_value(func, ir, made[0])
    if isinstance(made[0], ir_classes(ir, "Expr")) and made[0].op == "getattr":
        return getattr(known_value(func, ir, made[0].value), made[0].attr, None)
    return None


def operation_of(expr: Any) -> Any:
    """The operation of an expression, without its form that changes a variable."""
    return expr.fn if expr.op == "binop" else expr.immutable_fn


def common_kind(kinds: list[str | None]) -> str:
    """The kind to which NumPy promotes values of several kinds, of which none is None."""
    weak = [kind for kind in kinds if kind in WEAK]
    if len(weak) == len(kinds):
        return max(weak, key=_ORDER.__getitem__)
    return str(np.result_type(*[0 if k == "int" else 0.0 if k == "float" else np.dtype(k) for k in kinds]))


def is_computed(kind: str) -> bool:
    """Whether it is a type in which functors compute."""
    return kind in ("float32", "float64") or kind in WEAK or kind == "bool" or "int" in kind


def ir_classes(ir: Any, *names: str) -> Any:
    """Classes of numba's intermediate form; numba-cuda has its own, and meets numba's as well."""
    found: list[type] = []
    for name in names:
        both = getattr(ir, f"{name.lower()}_types", None)
        found.extend(both if both is not None else [getattr(ir, name)])
    return tuple(found)
