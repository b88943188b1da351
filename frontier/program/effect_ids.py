"""Which ids a functor uses for more than to find elements of fields: then what it does depends on the numbering."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from frontier.functors.adjacency import NEEDS, degree
from frontier.functors.functor import is_hashable, is_helper
from frontier.program.effect_values import reads

if TYPE_CHECKING:
    from frontier.program.effect_analysis import Reader

__all__ = ["used_as_values"]


def used_as_values(reader: Reader, atomics: Collection[Any]) -> Iterator[str]:
    """Yield the arguments that a function uses in another way than as indices of fields, or in ``fr.degree``.

    ``any`` if it asks for slots, or for the degree of something else. What helpers do with ids, their own readers see.
    """
    for block in reader.ir.blocks.values():
        for statement in block.body:
            called = _called(reader, statement)
            indices = [var.name for var in _indices(reader, statement, called, atomics)]
            if called in NEEDS and not (called is degree and indices):
                yield "any"
            for var in reads(statement):
                if var.name in indices:
                    indices.remove(var.name)  # it may be used once more
                else:
                    yield from _ids(reader, var.name)


def _ids(reader: Reader, name: str) -> set[str]:
    """The arguments that a variable may be, or of two indices the first."""
    from numba.core import ir

    found, seen, pending = set(), set(), [name]
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        for made in reader.definitions.get(name, ()):
            if isinstance(made, ir.Expr) and made.op == "cast":
                made = made.value
            elif isinstance(made, ir.Expr) and made.op == "build_tuple":
                made = made.items[0] if len(made.items) == 2 else made
            given = reader.given.get(made.index) if isinstance(made, ir.Arg) else None
            if isinstance(given, tuple) and given[0] == "index":
                found.add(given[1])
            if isinstance(made, ir.Var):
                pending.append(made.name)
    return found


def _called(reader: Reader, statement: Any) -> Any:
    """The function that a statement calls, if it is known."""
    made = getattr(statement, "value", None)
    callee = reader.meaning(made.func) if made is not None and getattr(made, "op", "") == "call" else None
    called = callee[1] if isinstance(callee, tuple) and callee[0] == "value" else None
    return called if is_hashable(called) else None


def _indices(reader: Reader, statement: Any, called: Any, atomics: Collection[Any]) -> list[Any]:
    """The variables that a statement only uses as indices, or gives another name, or hands to a helper."""
    from numba.core import ir

    if isinstance(statement, ir.SetItem):
        return [statement.index] if reader.field(statement.target) else []
    made = getattr(statement, "value", None) if isinstance(statement, ir.Assign) else None
    op = getattr(made, "op", "")
    if isinstance(made, ir.Var):
        return [made]
    if made is None or op == "cast":
        return [] if made is None else [made.value]
    if op == "getitem":
        return [made.index] if reader.field(made.value) else []
    if op == "build_tuple" and len(made.items) == 2:
        return list(made.items[:1])
    if op == "call" and called in atomics:
        return list(made.args[1:2]) if made.args and reader.field(made.args[0]) else []
    if op == "call" and (called is degree or (called not in reader.stack and is_helper(called) and not made.kws)):
        return [var for var in made.args if reader.index(var) != "any"]
    return []
