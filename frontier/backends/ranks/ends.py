"""Where the functors of a step touch fields: at elements that the part owns, or at those of others too.

A part has the current values of its own elements. Of others it has copies (mirrors), which must be current only where a
functor touches them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.backends.ranks.pulling import standing_at_far_ends
from frontier.program.effects import effects
from frontier.program.step import walk

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from frontier.program.problem import Problem
    from frontier.program.step import Step

__all__ = ["added_to", "at_own", "mirrored", "of_others", "touched"]


def at_own(step: Step, kind: str, indices: Iterable[str]) -> bool:
    """Whether a step's indices into a field of some kind are elements that the part owns which runs the step."""
    if kind == "vertex":
        own = {step.near, "v"} if step.far else {step.near, "v", "src"} if step.near == "v" else {step.near}
    elif kind == "edge":  # an edge belongs to the owner of its source
        own = {"edge", "uv", "uw"} if step.near != "dst" else set()
    else:
        own = set()
    return set(indices) <= own


def of_others(step: Step, p: Problem) -> frozenset[str]:
    """Names of the arrays that a divided step reads or writes at elements of other parts."""
    found: set[str] = set()
    for fn, _ in step.functors():
        made = effects(fn)
        if not made.exact:
            return frozenset(p.arrays)
        for touches in (made.reads, made.writes):
            found |= {name for name, where in touches.items() if name in p.arrays and not _own(step, p, name, where)}
    return frozenset(found)


def added_to(program: Step, p: Problem, turning: Collection[Step]) -> frozenset[str]:
    """Names of the arrays to whose elements on other parts a program only adds, so that it never sees what is there.

    ``turning`` are the steps that may pull, when they stand at the other ends of edges.
    """
    names = {
        name for name, array in p.arrays.items()
        if array.dtype.kind != "b" and p.fields[name].combine in (None, "sum") and p.fields[name].with_ is None
    }  # fmt: skip
    names -= {field.with_ for field in p.fields.values() if field.with_ is not None}
    for step in walk(program):
        if not step.divides or step.counted:
            continue
        turned = [standing_at_far_ends(step)] if step in turning else []
        for fn, _ in step.functors():
            made = effects(fn)
            if not made.exact:
                return frozenset()
            for name in made.fields & names:
                where = made.reads.get(name, set())
                seen = not all(_own(each, p, name, where) for each in (step, *turned))
                adds = made.atomics.get(name) == {"add"} and name not in {**made.answers, **made.stored}
                if seen or not (adds or _own(step, p, name, made.writes.get(name, set()))):
                    names.discard(name)
    return frozenset(names)


def _own(step: Step, p: Problem, name: str, where: set[str]) -> bool:
    return at_own(step, p.fields[name].kind, where)


def touched(step: Step, p: Problem) -> frozenset[str]:
    """Names of the arrays that a step touches anywhere."""
    found: set[str] = {name for _, name in step.into_fields()}
    for fn, _ in step.functors():
        made = effects(fn)
        if not made.exact:
            return frozenset(p.arrays)
        found |= made.fields
    return frozenset(found & p.arrays.keys())


def mirrored(step: Step, p: Problem) -> frozenset[str]:
    """Names of the arrays of which a program touches elements of other parts, in any of its divided steps."""
    found: set[str] = set()
    for each in walk(step):
        if each.divides and not each.counted:
            found |= of_others(each, p)
    return frozenset(found)
