"""``print`` in functors on the CPU.

Threads run functors without the GIL, and code is linked without the *environment* by which numba's own ``print`` makes
Python objects of values: that takes the GIL, fails for want of the environment, and leaves with the GIL. The ``print``
here takes the GIL, needs nothing but Python itself, writes one whole line to ``sys.stdout``, and gives the GIL back on
its only way out.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.core.lowering import Lower

__all__ = ["PrintingLower"]

_OBJECT = ir.IntType(8).as_pointer()
_INT, _LONG, _SIZE = ir.IntType(32), ir.IntType(64), ir.IntType(64)


class PrintingLower(Lower):
    """numba's translation of a function to LLVM, with another ``print``."""

    def lower_print(self, inst: Any) -> None:
        """Translate a call of ``print``; strings are constants."""
        signature = self.fndesc.calltypes[inst]
        kinds = [
            types.literal(inst.consts[i]) if isinstance(inst.consts.get(i), str) else kind
            for i, kind in enumerate(signature.args)
        ]
        function = self.context.typing_context.resolve_value_type(print)
        values = self.fold_call_args(function, signature, list(inst.args), inst.vararg, {})
        _Line(self.context, self.builder).write(kinds, values)


class _Line:
    """One line, written with the GIL held."""

    def __init__(self, context: Any, builder: Any) -> None:
        self.context, self.builder = context, builder

    def write(self, kinds: list[Any], values: list[Any]) -> None:
        """Write values of some types."""
        builder = self.builder
        for kind in kinds:
            _check(kind)
        state = self._call("PyGILState_Ensure", _INT)
        parts = [self._object(kind, value) for kind, value in zip(kinds, values, strict=True)]
        made: Any = ir.Constant(ir.IntType(1), 1)
        for part in parts:
            made = builder.and_(made, cgutils.is_not_null(builder, part))
        with builder.if_else(made, likely=True) as (then, otherwise):
            with then:
                form = self.context.insert_const_string(builder.module, " ".join(["%S"] * len(parts)) + "\n")
                self._call("PySys_FormatStdout", ir.VoidType(), form, *parts, fixed=1)
            with otherwise:  # no memory for an object
                self._call("PyErr_Clear", ir.VoidType())
        for part in parts:
            self._call("Py_DecRef", ir.VoidType(), part)
        self._call("PyGILState_Release", ir.VoidType(), state)

    def _call(self, name: str, result: Any, *args: Any, fixed: int | None = None) -> Any:
        """Call a function of Python's; after so many ``fixed`` arguments it takes any number."""
        kinds = [arg.type for arg in args[:fixed]]
        kind = ir.FunctionType(result, kinds, var_arg=fixed is not None)
        return self.builder.call(cgutils.get_or_insert_function(self.builder.module, kind, name), args)

    def _object(self, kind: Any, value: Any) -> Any:
        """A new reference to what Python has for a value; null if there is no memory for it."""
        builder = self.builder
        if isinstance(kind, types.StringLiteral):
            text = kind.literal_value.encode("utf-8", "backslashreplace")
            there = self.context.insert_const_bytes(builder.module, text)
            return self._call("PyUnicode_FromStringAndSize", _OBJECT, there, ir.Constant(_SIZE, len(text)))
        if isinstance(kind, types.NoneType):
            return self._text("None")
        if isinstance(kind, types.Optional):
            return self._optional(kind, value)
        if isinstance(kind, types.BaseTuple):
            return self._tuple(kind, value)
        if isinstance(kind, (types.Boolean, types.BooleanLiteral)):
            return self._call("PyBool_FromLong", _OBJECT, builder.zext(value, _LONG))
        if isinstance(kind, types.Float):
            double = value if kind.bitwidth == 64 else builder.fpext(value, ir.DoubleType())
            return self._call("PyFloat_FromDouble", _OBJECT, double)
        if kind.signed:
            return self._call("PyLong_FromLongLong", _OBJECT, _widened(value, builder.sext))
        return self._call("PyLong_FromUnsignedLongLong", _OBJECT, _widened(value, builder.zext))

    def _text(self, text: str) -> Any:
        return self._call("PyUnicode_FromString", _OBJECT, self.context.insert_const_string(self.builder.module, text))

    def _optional(self, kind: Any, value: Any) -> Any:
        builder = self.builder
        place = cgutils.alloca_once(builder, _OBJECT)
        inner = self.context.make_helper(builder, kind, value=value)
        with builder.if_else(cgutils.as_bool_bit(builder, inner.valid)) as (then, otherwise):
            with then:
                builder.store(self._object(kind.type, inner.data), place)
            with otherwise:
                builder.store(self._text("None"), place)
        return builder.load(place)

    def _tuple(self, kind: Any, value: Any) -> Any:
        """A tuple; null, too, if one of its elements is."""
        parts = zip(kind.types, cgutils.unpack_tuple(self.builder, value), strict=True)
        inner = [self._object(*each) for each in parts]
        form = self.context.insert_const_string(self.builder.module, f"({'N' * len(inner)})")
        return self._call("Py_BuildValue", _OBJECT, form, *inner, fixed=1)  # which takes over the references


def _widened(value: Any, widen: Any) -> Any:
    return value if value.type == _LONG else widen(value, _LONG)


def _check(kind: Any) -> None:
    """Raise TypingError for what cannot be printed."""
    inner: tuple[Any, ...] = (kind,)
    if isinstance(kind, types.BaseTuple) and not isinstance(kind, types.BaseNamedTuple):
        inner = getattr(kind, "types")  # noqa: B009 - which stubs of numba's do not know
    if isinstance(kind, types.Optional):
        inner = (kind.type,)
    if inner != (kind,):
        for each in inner:
            _check(each)
    elif not isinstance(kind, (types.Integer, types.Float, types.Boolean, types.NoneType, types.StringLiteral)):
        raise TypingError(f"{REFUSED}, not {kind}")


#: What a message says that refuses the rest.
REFUSED = "print takes numbers, strings that are constants, and tuples of these"
