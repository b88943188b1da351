"""Which fields a divided step writes, and how changes of several parts are merged; refused is what cannot be merged.

An element that only the part that owns it writes needs no merging. Anything else needs the field's ``combine``, or
atomics of one kind, which say as much.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.distributed.merge import Written
from frontier.distributed.ranks.remote_reads import at_own_edges
from frontier.errors import FunctorError
from frontier.functors.functor import location
from frontier.program.effects import effects
from frontier.program.step import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from frontier.program.problem import Problem
    from frontier.program.step import Step

__all__ = ["check_writes", "companions", "written"]

#: Atomic -> the combine of a field that is changed by no other means.
_IMPLIED = {"add": "sum", "min": "min", "max": "max", "or": "or", "cas": "claim"}

#: Combines that merge the changes of an atomic besides the one that it implies; of bools, "or" is the same as "max".
_ALSO = {"or": {"max"}, "max": {"or"}}

_HELP = "declare the field with combine=, which says how their changes are merged"
_HELP_ROWS = (
    "of a field of several values, changes are merged where a step makes them by one kind of atomic alone (add, min, "
    "max or or); everything else is written at the vertex or edge on which the step runs"
)


def check_writes(step: Step, p: Problem) -> None:
    """Raise FunctorError if a step changes elements of several parts, and nothing says how changes are merged."""
    for each in walk(step):
        if each.divides and not each.counted:
            written(each, p)


def written(step: Step, p: Problem, in_blocks: bool = False) -> list[Written]:
    """The fields that a divided step writes, and how changes are merged.

    With ``in_blocks``, several parts run it for the same elements, each along some of their edges.
    """
    found: dict[str, Written] = {}
    ignores = step.passes_through and not any(step.partial())  # what functors return
    answers = {"add"} if ignores else {"add", "add returned"}
    own = {"u", "uv", "uw"} if step.near == "u" else {"v", "edge", step.near}  # v of Intersect is the other end
    if in_blocks:
        own = {"v"}
    for fn, _ in step.functors():
        touched = effects(fn)
        if not touched.writes_known:
            raise FunctorError(f"{location(fn)}: it is not known what it writes, so parts cannot merge its changes")
        for name, indices in touched.writes.items():
            for field in (name, *companions(p, name, name in touched.carried)):
                alone = indices <= own or (p.fields[field].kind == "edge" and at_own_edges(step, touched, field))
                operations = touched.atomics.get(field, set())
                if not alone:
                    _check_atomics(p, field, operations, location(fn))
                if "any" in indices and operations & {"cas", "exch"}:
                    raise FunctorError(
                        f"{location(fn)} exchanges p.{field} at an index of its own making: what it finds there is the "
                        "state of one part only, so the ranks backend cannot merge what several parts decide"
                    )
                if not alone and touched.answers.get(field, set()) & answers:
                    raise FunctorError(
                        f"{location(fn)} uses what atomic_add(p.{field}, ...) returns: other parts add there too, and "
                        "the sum is known when the step has ended: let the next step read it"
                    )
                rows = p.fields[field].width > 0
                if rows:
                    combine = "" if alone else _combine_rows(step, field, operations)
                else:
                    alike = touched.stored.get(field) == {"alike"}
                    combine = "" if alone else _combine(p, field, operations, alike)
                if combine is None:
                    raise FunctorError(
                        f"{location(fn)} writes p.{field} at {_worded(indices)}, which other parts may write too: "
                        f"{_HELP_ROWS if rows else _HELP}"
                    )
                if combine == "sum" and p.fields[field].dtype == bool:
                    combine = "or"  # a sum of bools is any of them, of those that have changed
                if field not in found or combine or not indices <= found[field].indices:
                    before = found[field].indices if field in found else frozenset()
                    found[field] = Written(field, combine, p.fields[field].with_ or "", before | indices)
    for _, name in step.into_fields():
        if name in p.arrays and name not in found:
            found[name] = Written(name, "", "", frozenset({"v"}))
    return [each for each in found.values() if each.name in p.arrays]


def companions(p: Problem, key: str, carried: bool) -> Iterator[str]:
    """The fields that go along with one where a functor's atomics change both."""
    if carried:
        yield from (pair.other for pair in p._pairs if pair.key == key)


def _check_atomics(p: Problem, name: str, operations: set[str], where: str) -> None:
    """Refuse an atomic whose changes would be lost as the field's ``combine`` merges them."""
    field = p.fields[name]
    for each in sorted(operations & {"add", "min", "max", "or"}):
        also = _ALSO.get(each, set()) if field.dtype == bool else set()
        if field.combine is not None and field.combine not in {_IMPLIED[each]} | also:
            raise FunctorError(
                f"{where} changes p.{name} by atomic_{each}, and what several parts make of it would be merged by "
                f"combine={field.combine!r}: declare the field with combine={_IMPLIED[each]!r}"
            )


def _combine(p: Problem, name: str, operations: set[str], alike: bool) -> str | None:
    field = p.fields[name]
    if field.combine is not None:
        return field.combine
    if field.with_ is not None:
        return "claim"
    if not operations:
        return "claim" if alike else None
    return _IMPLIED.get(min(operations)) if len(operations) == 1 else None


def _combine_rows(step: Step, name: str, operations: set[str]) -> str | None:
    """The same for a field of several values: parts tell whole rows, and do not say which values have changed."""
    stored = any(name in effects(fn).stored for fn, _ in step.functors())
    return _IMPLIED.get(min(operations)) if operations in ({"add"}, {"min"}, {"max"}, {"or"}) and not stored else None


def _worded(indices: set[str]) -> str:
    return " and ".join("an index of its own making" if each == "any" else each for each in sorted(indices))
