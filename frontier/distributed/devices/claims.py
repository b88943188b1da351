"""Which steps claim vertices: of these, GPUs tell each other bits instead of values.

A field is *claimed* if it goes from one negative value to ids or other integers, and all that steps want to know of
elements that other GPUs own is whether that has happened: they compare with this value, and exchange it. ``parent`` of
a breadth-first search is one. A step claims if it accepts a vertex just where it changes such a field of it; fields
that it stores to in the same calls, such as ``level``, are those of whoever has claimed the vertex.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.program.effects import effects

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from frontier.program.effects import Effects
    from frontier.program.problem import Problem
    from frontier.program.step import Step

__all__ = ["FEW", "Claim", "claim_of", "free_values"]

#: A push claims at the owners if all GPUs together have at most so many edges to walk, and vertices to walk from.
FEW = 1 << 15


@dataclass(frozen=True)
class Claim:
    """What a step claims.

    Attributes
    ----------
    field : str
        Where it notes that.
    along : tuple of str
        Other fields that it stores to in the same calls.
    alike : tuple of (str, str)
        Those of them to which it stores one value in all calls, each with that: an integer, or ``p.name`` for a scalar.
    """

    field: str
    along: tuple[str, ...]
    alike: tuple[tuple[str, str], ...]


def free_values(
    steps: Iterable[Step], p: Problem, own: Mapping[Step, Collection[str]], others: Collection[str]
) -> dict[str, int]:
    """Return the fields that may be claimed, each with the value of an element that is not.

    Parameters
    ----------
    steps : iterable of Step
        All steps of a program.
    own : mapping of Step to collection of str
        The indices that are a GPU's own elements.
    others : collection of str
        Fields that are no candidates.
    """
    tests: dict[str, set[str]] = {}
    puts: dict[str, set[str]] = {}
    for step in steps:
        for fn, _ in step.functors():
            made = effects(fn)
            for name, found in made.tests.items():
                if not made.reads.get(name, set()) | made.writes.get(name, set()) <= set(own[step]):
                    tests.setdefault(name, set()).update(found)
            for name, found in made.puts.items():
                puts.setdefault(name, set()).update(found)
        for _, name in step.into_fields():
            puts.setdefault(name, set()).add("any")
    free = {}
    for name, found in tests.items():
        kept = name in p.arrays and name not in others and p.arrays[name].dtype.kind == "i"
        if kept and len(found) == 1 and found != {"any"}:
            value, holds = int(next(iter(found))), np.iinfo(p.arrays[name].dtype)
            if holds.min <= value < 0 and not any(_may_be(put, value, holds) for put in puts.get(name, ())):
                free[name] = value
    return free


def _may_be(put: str, value: int, holds: np.iinfo[Any]) -> bool:
    """Whether what a field gets, as effects name it, may be a value; integers that it cannot hold become others."""
    if put == "id":
        return False
    return put == "any" or put.startswith("p.") or int(put) == value or not holds.min <= int(put) <= holds.max


def claim_of(step: Step, p: Problem, combine: Mapping[str, str], free: Mapping[str, int]) -> Claim | None:
    """Return what a step claims, or None; ``combine`` says how its changes are merged."""
    writers = [made for made in (effects(fn) for fn, _ in step.functors()) if made.writes]
    accepts = step.divides and step.far and getattr(step, "output", None) == "vertex" and not step.passes_through
    more = [getattr(step, "part", None), getattr(step, "hold", None), *step.fills(), *step.into_fields()]
    if not accepts or len(writers) != 1 or any(each is not None for each in more):
        return None
    made = writers[0]
    (field,) = made.along.get("", {""})
    if field not in free or p.fields[field].with_ or made.writes[field] != {step.far} or combine[field] != "claim":
        return None
    along = sorted(name for name, lead in made.along.items() if name and lead == {field})
    if set(made.writes) != {field, *along} or not all(_goes_along(p, name, field, made, combine) for name in along):
        return None
    alike = [(name, next(iter(made.puts[name]))) for name in along if _alike(p, name, made)]
    return Claim(field, tuple(along), tuple(alike))


def _goes_along(p: Problem, name: str, field: str, made: Effects, combine: Mapping[str, str]) -> bool:
    """Whether a field is to have the value of the GPU that has claimed the vertex."""
    if p.fields[name].kind != "vertex":
        return False
    return p.fields[name].with_ == field or combine.get(name) == "claim" or _alike(p, name, made)


def _alike(p: Problem, name: str, made: Effects) -> bool:
    """Whether one value is stored: an integer, or a scalar's."""
    puts = made.puts.get(name, set())
    (value,) = puts if len(puts) == 1 else ("any",)
    return value not in ("any", "id") and (not value.startswith("p.") or value[2:] in p.scalars)
