"""``print`` in functors for the target of :mod:`nvptx_target`: one call of ``vprintf``, which CUDA's driver has."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, errors, types
from numba.cpython.unicode import UnicodeModel

from frontier.backends.cuda.compile.nvptx_target import lower_builtin, register_model

__all__: list[str] = []

_BYTES = ir.IntType(8).as_pointer()


# numba loads constant strings, too, though they are printed by what their types say.
register_model(types.UnicodeType)(UnicodeModel)


@lower_builtin(print, types.VarArg(types.Any))
def _print(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Write one line. All values take eight bytes, as ``vprintf`` finds them side by side."""
    made = [_printed(context, builder, *each) for each in zip(signature.args, args, strict=True)]
    values = [value for _, inner in made for value in inner]
    line = context.insert_const_string(builder.module, " ".join(form for form, _ in made) + "\n")
    given = ir.Constant(_BYTES, None)
    if values:
        given = builder.bitcast(
            cgutils.alloca_once_value(builder, cgutils.make_anonymous_struct(builder, values)), _BYTES
        )
    kind = ir.FunctionType(ir.IntType(32), [_BYTES, _BYTES])
    builder.call(cgutils.get_or_insert_function(builder.module, kind, "vprintf"), [line, given])
    return context.get_dummy_value()


def _printed(context: Any, builder: Any, kind: Any, value: Any) -> tuple[str, list[Any]]:
    """What a format has for a value, and what is filled in; as numba-cuda writes it."""

    def text(constant: str) -> Any:
        return context.insert_const_string(builder.module, constant)

    if isinstance(kind, types.StringLiteral):
        return "%s", [text(kind.literal_value)]
    if isinstance(kind, types.NoneType):
        return "%s", [text("None")]
    if isinstance(kind, (types.Boolean, types.BooleanLiteral)):
        return "%s", [builder.select(value, text("True"), text("False"))]
    if isinstance(kind, types.Float):
        return "%f", [context.cast(builder, value, kind, types.float64)]
    if isinstance(kind, types.Integer):
        form, wide = ("%llu", types.uint64) if kind in types.unsigned_domain else ("%lld", types.int64)
        return form, [context.cast(builder, value, kind, wide)]
    plain = isinstance(kind, types.BaseTuple) and not isinstance(kind, types.BaseNamedTuple)
    if plain:
        parts = zip(kind.types, cgutils.unpack_tuple(builder, value), strict=True)
        inner = [_printed(context, builder, *each) for each in parts]
        end = ",)" if len(inner) == 1 else ")"
        return f"({', '.join(form for form, _ in inner)}{end}", [each for _, values in inner for each in values]
    raise errors.TypingError(f"print takes numbers, strings that are constants, and tuples of these, not {kind}")
