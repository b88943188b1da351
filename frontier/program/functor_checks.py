"""Check functors against a problem: the names of fields, and uses of them that no backend allows."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from frontier.errors import FunctorError
from frontier.functors import atomics
from frontier.functors.captures import Captures
from frontier.functors.functor import helpers, line_of, location, names_used
from frontier.functors.numbers import OF_BOOLS
from frontier.functors.rules import check_rules, place_of, unknown_field
from frontier.program.effects import Effects, effects
from frontier.program.pairs import why_none

if TYPE_CHECKING:
    from frontier.program.problem import Field, Problem

__all__ = ["check_functor", "check_plain", "check_width"]


def check_functor(fn: Callable[..., Any], p: Problem) -> Effects | None:
    """Return the effects of a functor; raise FunctorError for unknown names and uses that no backend allows.

    None on a backend that interprets, for functors that look at what happens, by ``breakpoint`` for example.
    """
    parts, looks = check_plain(fn, p)
    try:
        found = effects(fn)
    except FunctorError:
        if looks:
            return None
        raise
    for name in sorted(found.fields):
        if name not in p.fields:
            raise FunctorError(f"{place_of(parts, name)}: {unknown_field(name, p.fields)}")
        kind = p.fields[name].kind
        if kind == "pile":
            raise FunctorError(f"{place_of(parts, name)}: p.{name} is a pile; functors do not see piles")
        for used in sorted(found.dimensions.get(name, ())):
            _check_indices(name, p.fields[name], used, parts)
        indexed = {*found.reads.get(name, ()), *found.writes.get(name, ())} - {""}
        if kind == "scalar" and indexed and name not in found.atomics:
            raise FunctorError(f"{place_of(parts, name)}: p.{name}[...]: p.{name} is a scalar, without an index")
        if kind == "scalar" and name in found.atomics:
            raise FunctorError(f"{place_of(parts, name)}: p.{name} {atomics.SCALAR_MESSAGE}")
    for names in found.sums:
        if all(p.fields[name].dtype == bool for name in names.split()):
            raise FunctorError(f"{location(fn)}: {OF_BOOLS}")
    for name, operations in found.atomics.items():
        for operation in operations:
            try:
                atomics.check_atomic(operation, p.fields[name].dtype)
            except FunctorError as error:
                raise FunctorError(f"{place_of(parts, name)}: p.{name}: {error}") from None
    for name, operations in found.carried.items():
        _check_carried(f"{place_of(parts, name)}: fr.atomic_{min(operations)}(p.{name}, ...)", name, operations, p)
    return found


def check_plain(fn: Callable[..., Any], p: Problem) -> tuple[list[Callable[..., Any]], bool]:
    """A function and all that it calls, and whether they look at what happens; raise FunctorError for what none may do.

    Unlike :func:`check_functor` this asks nothing of a problem in it.
    """
    captures = Captures((fn,))
    reached = captures.parts[fn].reached()
    parts: list[Callable[..., Any]] = [part.function for part in reached]
    for part in parts:
        _check_globals(part)
    looking = p.graph.placement.backend.interprets
    looks = check_rules(fn, reached, looking)
    return parts, looks | captures.check(looking)


def _check_indices(name: str, field: Field, used: str, parts: list[Callable[..., Any]]) -> None:
    """Refuse two indices of a field with one value a vertex or edge, and one of a field with several.

    ``used`` is the number of indices (then ``i`` if the second is the functor's argument ``i``), the number of lines
    from where the function begins, and its name.
    """
    many = used[0]
    made_by = getattr(parts[0], "made_by", "")
    if many == "1" and field.width and made_by:
        raise FunctorError(
            f"{made_by}: field {name!r} has {field.width} values each, and semirings take fields with one: write a "
            f"functor, which may use p.{name}[v, i]"
        )
    if many == "1" and field.width:
        _refuse(name, used, parts, f"with one index: it has {field.width} values each, p.{name}[v, i]")
    if many == "2" and not field.width and field.kind != "scalar":
        _refuse(name, used, parts, f"with several indices: it has one value each, p.{name}[v]")


def check_width(fn: Callable[..., Any], found: Effects, p: Problem, width: int) -> None:
    """Raise FunctorError if the argument ``i``, which goes up to ``width``, is an index of fewer values."""
    for name, uses in sorted(found.dimensions.items()):
        field = p.fields[name]
        for used in sorted(uses):
            if used.startswith("2i ") and 0 < field.width < width:
                _refuse(name, used, [fn, *helpers(fn)], f"has {field.width} values each, and i goes up to {width - 1}")


def _refuse(name: str, used: str, parts: list[Callable[..., Any]], wrong: str) -> None:
    _, line, function = used.split(" ", 2)
    part = next((part for part in parts if part.__name__ == function), parts[0])
    raise FunctorError(f"{location(part, part.__code__.co_firstlineno + int(line))}: p.{name}[...] {wrong}")


def _check_carried(place: str, name: str, operations: set[str], p: Problem) -> None:
    """Refuse a fourth argument of atomics where no field goes along with the first."""
    combine = next((pair.combine for pair in p._pairs if pair.key == name), None)
    if combine is None:
        raise FunctorError(f"{place}: {why_none(p.fields, name)}")
    if operations != {combine}:
        raise FunctorError(f"{place}: with a fourth argument only atomic_{combine}, as p.{name} has {combine=}")
    backend = p.graph.placement.backend
    if not (backend.keeps_pairs or backend.interprets):
        raise FunctorError(f"{place}: the {backend.name} backend does not know fields that go along with others yet; "
                           "use the cpu or the python backend")  # fmt: skip


def _check_globals(fn: Callable[..., Any]) -> None:
    for name in names_used(fn.__code__)[0]:
        if name not in fn.__globals__ and not hasattr(builtins, name):
            raise FunctorError(f"{location(fn, line_of(fn.__code__, name))}: name {name!r} is not defined")
