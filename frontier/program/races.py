"""Warn of elements that several calls of a functor update without an atomic, so that updates are lost."""

from __future__ import annotations

import dis
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from frontier.errors import FrontierWarning
from frontier.functors.functor import arguments, helpers, location
from frontier.program.effects import Effects

if TYPE_CHECKING:
    from frontier.program.problem import Problem
    from frontier.program.step import Step

__all__ = ["warn_of_races"]

#: What has been said, so that it is said once.
_registry: dict[Any, Any] = {}


def warn_of_races(step: Step, fn: Callable[..., Any], place: str, found: Effects, p: Problem) -> None:
    """Warn of what a functor changes at an index that is not its call's own.

    An edge's own is its slot, a vertex's the vertex, a count's ``i``; of Intersect, which calls a functor many times
    for an edge, nothing is.
    """
    if not found.updates or _one_call(step, p):
        return
    named = {*arguments(fn, place)}
    rows = "i" in named and len(named) > 1
    own = {"edge"} if named & {"src", "dst", "edge", "weight"} else {"v", "i"}
    for name, indices in found.updates.items():
        if {"cas", "exch"} & found.atomics.get(name, set()) or p.fields[name].kind not in ("vertex", "edge", "array"):
            continue
        # Where every value of an element has a call of its own, a field with one value each is nobody's own.
        mine = own if not rows or p.fields[name].width else set()
        shared = sorted(index for index in indices if not mine & {*index.split()})
        if shared and not _claims(found, shared):
            part, line = _where(fn, name)
            index = shared[0] if shared[0] != "any" and " " not in shared[0] else "..."
            text = (
                f"{location(part, line)} changes p.{name}[{index}], which other calls of this {step.name} may change "
                f"at the same time, and changes are lost: use fr.atomic_add(p.{name}, {index}, ...), or another atomic"
            )
            code = part.__code__
            warnings.warn_explicit(text, FrontierWarning, code.co_filename, line, part.__module__, _registry)


def _claims(found: Effects, shared: list[str]) -> bool:
    """Whether the functor claims elements by an atomic at such an index, and so may be the only one to change them."""
    for name, operations in found.atomics.items():
        if {"cas", "exch"} & operations and found.writes[name] & {*shared}:
            return True
    return False


def _one_call(step: Step, p: Problem) -> bool:
    """Whether the step calls its functor once only: for the vertex that a scalar holds."""
    if not step.once_each:
        return False
    return step.over in (0, 1) or (step.over in p.scalars and not step.counted)


def _where(fn: Callable[..., Any], name: str) -> tuple[Any, int]:
    """The function, and its line, that writes to a field by what it was."""
    for part in (fn, *helpers(fn)):
        stores: set[int] = set()
        names: list[int] = []
        for instruction in dis.get_instructions(part):
            line = instruction.positions.lineno if instruction.positions is not None else None
            if line is None:
                continue
            if instruction.opname == "STORE_SUBSCR":
                stores.add(line)
            elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and instruction.argval == name:
                names.append(line)
        for line in names:
            if line in stores:
                return part, line
    return fn, fn.__code__.co_firstlineno
