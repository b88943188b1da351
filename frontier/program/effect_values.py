"""What a functor compares the elements of its fields with, and which values it gives them."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from frontier.program.effect_analysis import Reader

__all__ = ["atomic_values", "compared", "given", "negated", "offers", "reads"]


def compared(reader: Reader, name: str, depth: int = 0) -> set[str]:
    """Return the integers with which a variable is compared by ``==`` or ``!=``; ``any`` if it is used otherwise."""
    from numba.core import ir

    found: set[str] = set()
    for block in reader.ir.blocks.values():
        for statement in block.body:
            if all(var.name != name for var in reads(statement)):
                continue
            made = getattr(statement, "value", None)
            if isinstance(statement, ir.Assign) and isinstance(made, ir.Var) and depth < 20:
                found |= compared(reader, statement.target.name, depth + 1)
            elif isinstance(made, ir.Expr) and made.op == "binop" and made.fn in (operator.eq, operator.ne):
                other = made.rhs if made.lhs.name == name else made.lhs
                found.add(_integer(reader, other))
            else:
                found.add("any")
    return found


def offers(reader: Reader, field: str, index: Any, value: Any) -> str:
    """Return how a value for dst is made of the element at src and the weight of the edge, as ``Effects.relaxes``."""
    from numba.core import ir

    made = reader.definition(value)
    parts: tuple[Any, ...] = ()
    if isinstance(made, ir.Expr) and made.op == "binop" and made.fn is operator.add:
        how, parts = "weight", (made.lhs, made.rhs)
    elif isinstance(made, ir.Expr) and made.op == "call" and reader.meaning(made.func) == ("value", min):
        how, parts = "cap", tuple(made.args)
    if len(parts) != 2 or reader.index(index) != "dst":
        return "any"
    for one, other in (parts, parts[::-1]):
        read = reader.definition(one)
        reads = getattr(read, "op", "") == "getitem" and reader.field(read.value) == field
        if reads and reader.index(read.index) == "src" and reader.index(other) == "weight":
            return how
    return "any"


def negated(reader: Reader) -> str:
    """The field of which a functor returns minus the element at ``v``; empty if it returns anything else."""
    from numba.core import ir

    last = [block.body[-1] for block in reader.ir.blocks.values()]
    if len(last) != 1 or not isinstance(last[0], ir.Return):
        return ""
    made = reader.definition(last[0].value)
    if not (isinstance(made, ir.Expr) and made.op == "unary" and made.fn is operator.neg):
        return ""
    read = reader.definition(made.value)
    at_v = getattr(read, "op", "") == "getitem" and reader.index(read.index) == "v"
    return reader.field(read.value) if at_v else ""


def given(reader: Reader, value: Any) -> str:
    """Return what a value is: an integer, ``id`` for one of the functor's ids, ``p.name`` for a scalar, or ``any``."""
    made = reader.meaning(value)
    if isinstance(made, tuple) and made[0] == "field":
        return f"p.{made[1]}"
    if isinstance(made, tuple) and made[0] == "index":
        return "id" if made[1] in ("src", "dst", "v", "u", "edge") else "any"
    return _integer(reader, value)


def atomic_values(reader: Reader, operation: str, arguments: list[Any]) -> tuple[set[str], str]:
    """Return what an atomic compares an element with, itself and by what it returns, and what it gives it."""
    if operation != "cas" or len(arguments) != 4:
        return {"any"}, "any"
    return {_integer(reader, arguments[2]), *compared(reader, reader.target)}, given(reader, arguments[3])


def _integer(reader: Reader, var: Any) -> str:
    made = reader.meaning(var)
    constant = isinstance(made, tuple) and made[0] == "value" and type(made[1]) is int
    return str(made[1]) if constant else "any"


def reads(statement: Any) -> list[Any]:
    """The variables that a statement reads."""
    from numba.core import ir

    if isinstance(statement, ir.Del):
        return []
    found = statement.list_vars()
    if isinstance(statement, ir.Assign):
        found = [var for var in found if var is not statement.target]
    return list(found)
