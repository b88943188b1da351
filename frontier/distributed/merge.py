"""What ``combine=`` and ``with_=`` mean: how one value is made of the copies that members of a group have changed.

Members are parts of a process, processes or GPUs. Each has run a step on copies of the fields. What they have changed
is merged in the order of members, by the field's ``combine``; an element that nobody has changed keeps its value. A
field that is declared ``with_=`` another one, its *leader*, takes its value from the *winner*: the first member whose
value the leader has got.

Changes are arrays of NumPy or CuPy here. Kernels merge by :mod:`frontier.distributed.devices.combining_phases`, which
is made of the same :func:`operation`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frontier.memory.arrays import namespace_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from frontier.program.problem import Problem
    from frontier.program.step import Step

__all__ = ["OPERATIONS", "Change", "Operation", "Written", "leaders_first", "merge", "merge_scalars", "operation"]


class Operation(NamedTuple):
    """What makes one value of two.

    Attributes
    ----------
    arrays : function
        Of two arrays of NumPy or CuPy.
    values : function
        Of two numbers, which the compiler of kernels knows.
    """

    arrays: Callable[[Any, Any], Any]
    values: Callable[[Any, Any], Any]


#: The operation of a ``combine``. A sum adds up what members have added; of claims the first member's value counts.
OPERATIONS = {
    "min": Operation(np.fmin, min),
    "max": Operation(np.fmax, max),
    "sum": Operation(np.add, operator.add),
    "or": Operation(np.bitwise_or, operator.or_),
    "and": Operation(np.bitwise_and, operator.and_),
}


def operation(combine: str) -> Operation | None:
    """The operation of a ``combine``; None where the first value counts, as of claims, and where only owners write."""
    return OPERATIONS.get(combine)


@dataclass(frozen=True)
class Written:
    """A field that a step writes.

    Attributes
    ----------
    name : str
    combine : str
        How changes of several members are merged; ``""`` if only the owner of an element writes it.
    with_ : str
        The field whose winner decides; ``""`` if there is none.
    indices : frozenset of str
        Where functors write: their parameters, or ``"any"``.
    added : frozenset of str
        The audiences at whose elements parts add to 0, and tell what they have added instead of the value that they
        have got; empty if they know the owners' values.
    """

    name: str
    combine: str
    with_: str = ""
    indices: frozenset[str] = frozenset({"any"})
    added: frozenset[str] = frozenset()


#: Elements of a field that a member has changed, each once, and their values.
Change = tuple["NDArray[Any]", "NDArray[Any]"]

#: Elements, ascending, and the winner of each.
_Winners = tuple["NDArray[Any]", "NDArray[Any]"]


def leaders_first(fields: Iterable[Written]) -> list[Written]:
    """Return fields in an order in which each comes after its leader."""
    known = {each.name: each for each in fields}

    def depth(name: str) -> int:
        return 1 + depth(known[name].with_) if name in known else 0

    return sorted(known.values(), key=lambda each: depth(each.name))


def merge(
    arrays: Mapping[str, NDArray[Any]], fields: Iterable[Written], changes: Sequence[Mapping[str, Change]]
) -> None:
    """Bring the changes of all members, in their order, into arrays that have the values before them."""
    winners: dict[str, _Winners] = {}
    leaders = {each.with_ for each in fields}
    for each in leaders_first(fields):
        array, parts = arrays[each.name], [member[each.name] for member in changes]
        if each.with_ in winners:
            _follow(array, parts, winners[each.with_])
            if each.name in leaders:
                winners[each.name] = winners[each.with_]
            continue
        _combine(array, each, parts)
        if each.name in leaders:
            winners[each.name] = _winners(array, each.combine, parts)


def _combine(array: NDArray[Any], each: Written, parts: list[Change]) -> None:
    made = operation(each.combine)
    with np.errstate(all="ignore"):
        if each.combine != "sum":  # of changed copies alone: -1 may stand for no value yet, where the least one counts
            for ids, values in reversed(parts):
                array[ids] = values
        elif not each.added:
            parts = [(ids, values - array[ids]) for ids, values in parts]
        if made is not None:
            for ids, values in parts:  # distinct ids, so that no ufunc.at is needed
                array[ids] = made.arrays(array[ids], values)


def _winners(array: NDArray[Any], combine: str, parts: list[Change]) -> _Winners:
    xp = namespace_of(array)
    some = [(member, ids) for member, (ids, _) in enumerate(parts) if len(ids)]
    if len(some) == 1:
        ((member, ids),) = some
        return xp.sort(ids), xp.full(len(ids), member)
    ids = xp.concatenate([ids for ids, _ in parts])
    members = xp.concatenate([xp.full(len(ids), member) for member, (ids, _) in enumerate(parts)])
    if operation(combine):
        has = xp.concatenate([values for _, values in parts]) == array[ids]
        ids, members = ids[has], members[has]
    keys = xp.sort(ids.astype(np.int64) * len(parts) + members)
    ids = keys // len(parts)
    first = xp.ones(len(ids), bool)  # of equal ids the first, so the lowest member
    xp.not_equal(ids[1:], ids[:-1], out=first[1:])
    return ids[first], keys[first] % len(parts)


def _follow(array: NDArray[Any], parts: list[Change], winners: _Winners) -> None:
    """Take each element from its winner; from the first member that has changed it if there is none."""
    led, winner = winners
    for member, (ids, values) in reversed(list(enumerate(parts))):
        if not len(led):
            array[ids] = values
            continue
        xp = namespace_of(array)
        at = xp.minimum(xp.searchsorted(led, ids), len(led) - 1)
        taken = (led[at] != ids) | (winner[at] == member)
        array[ids[taken]] = values[taken]


def merge_scalars(p: Problem, step: Step, told: Sequence[Sequence[Any]], plain: Callable[..., Any]) -> None:
    """Set the scalars into which a step reduces to what all members have got, each in the order of scalars.

    ``plain`` makes functions of registered reductions callable.
    """
    for at, (name, reduction) in enumerate(step.partial()):
        scalar = p.scalars[name]
        scalar[0] = reduction.merged([each[at][0] for each in told], scalar.dtype, plain)
