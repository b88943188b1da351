"""What GPUs give each other after a step, and how each merges what the others give.

Every GPU holds all fields and has run the step on its own elements, or along the edges of its own vertices. An element
that only its owner may write takes the owner's value. The rest is merged by the field's ``combine``, in the order of
the GPUs, so that all come to the same values.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.distributed.devices.compaction import joined
from frontier.distributed.ranks.merge import leaders_first
from frontier.program.frontiers import Frontier

if TYPE_CHECKING:
    from collections.abc import Iterable

    from frontier.distributed.devices.replicas import Replica
    from frontier.distributed.ranks.merge import Written

__all__ = ["Outcome", "flat", "given_bytes", "merge", "own_values", "united"]

#: Elements of a field, in ascending order or as a range, and their values.
Change = tuple[Any, Any]


@dataclass
class Outcome:
    """What a step did on one GPU.

    Attributes
    ----------
    frontier : Frontier or None
    piles, scalars : dict
    changed : dict of str to Change
        Of fields that are merged: the elements that have changed, and their values.
    owned : dict of str to Change
        Of fields that only owners write: its own elements and their values.
    """

    frontier: Frontier | None = None
    piles: dict[str, Frontier] = field(default_factory=dict)
    scalars: dict[str, Any] = field(default_factory=dict)
    changed: dict[str, Change] = field(default_factory=dict)
    owned: dict[str, Change] = field(default_factory=dict)


def flat(array: Any) -> Any:
    """A field of which changes are merged: of one that has several values each, every value is an element here."""
    return array.reshape(-1) if array.ndim > 1 else array


def own_values(replica: Replica, array: Any, kind: str, f: Frontier) -> Change:
    """The values of a field that only owners write: those of a frontier's own vertices, or of all that is owned."""
    if kind == "vertex" == f.kind and not f.is_all:
        ids = replica.owned(f).ids
        return ids, array[ids]
    own = slice(*replica.own[kind])
    return own, array[own]


def merge(replica: Replica, fields: Iterable[Written], told: list[Outcome]) -> None:
    """Bring what all GPUs have written into one GPU's fields."""
    moved, arrays = replica.memory.moved, replica.whole.arrays
    for rank, outcome in enumerate(told):
        if rank != replica.rank:
            for name, (ids, values) in outcome.owned.items():
                arrays[name][ids if isinstance(ids, slice) else moved(ids)] = moved(values)
    xp = replica.memory.xp
    chosen: dict[str, Any] = {}
    leaders = {each.with_ for each in fields}
    for each in leaders_first(each for each in fields if each.name in told[0].changed):
        parts = [tuple(map(moved, outcome.changed[each.name])) for outcome in told]
        array = flat(arrays[each.name])
        if each.with_ in chosen:
            _follow(array, parts, chosen[each.with_])
            if each.name in leaders:
                chosen[each.name] = chosen[each.with_]
            continue
        _apply(xp, array, each.combine, parts)
        if each.name in leaders:
            chosen[each.name] = _winners(xp, array, each.combine, parts)


def _apply(xp: Any, array: Any, combine: str, parts: list[Any]) -> None:
    if combine == "sum":
        base = [array[ids] for ids, _ in parts]
        for (ids, values), old in zip(parts, base, strict=True):
            array[ids] += values - old
        return
    for ids, values in reversed(parts):  # of changed copies alone: -1 may stand for no value yet
        array[ids] = values
    if combine in ("", "claim"):  # the first GPU has it
        return
    function = getattr(xp, _OF_ARRAYS[combine]) if combine in _OF_ARRAYS else _OPERATORS[combine]
    for ids, values in parts:
        array[ids] = function(array[ids], values)


#: How two arrays are combined: names of the module's functions, and operators. The ids of one GPU are distinct.
_OF_ARRAYS = {"min": "fmin", "max": "fmax"}
_OPERATORS = {"or": operator.or_, "and": operator.and_}


def _winners(xp: Any, array: Any, combine: str, parts: list[Any]) -> Any:
    """For each element the first GPU whose value it has got; the number of GPUs if none did."""
    winners = xp.full(len(array), len(parts), np.int32)
    for rank, (ids, values) in reversed(list(enumerate(parts))):
        if combine not in ("", "claim"):
            ids = ids[values == array[ids]]
        winners[ids] = rank
    return winners


def _follow(array: Any, parts: list[Any], winners: Any) -> None:
    """Take each element from the GPU that was chosen for it; from the first that changed it if none was."""
    none = len(parts)
    for rank, (ids, values) in reversed(list(enumerate(parts))):
        chosen = winners[ids]
        taken = (chosen == rank) | (chosen == none)
        array[ids[taken]] = values[taken]


def united(replica: Replica, parts: list[Frontier]) -> Frontier:
    """The elements that any GPU has found, on one GPU."""
    g, kind = replica.whole.graph, parts[0].kind
    if any(part.is_all for part in parts):
        return Frontier.all(g, kind)
    lists = [replica.memory.moved(part.ids) for part in parts]
    filled = [part for part in lists if len(part)]
    if len(filled) < 2:
        return Frontier._of(g, kind, ids=(filled or lists)[0])
    stamps, epoch = replica.stamps(kind, parts[0].capacity)
    return Frontier._of(g, kind, ids=joined(replica.memory, filled, stamps, epoch))


def given_bytes(outcome: Outcome) -> int:
    """Bytes that a GPU gives to each of the others."""
    arrays = [each for change in (*outcome.changed.values(), *outcome.owned.values()) for each in change]
    for part in (outcome.frontier, *outcome.piles.values()):
        if part is not None and not part.is_all:
            arrays.append(part.ids)
    return sum(each.nbytes for each in arrays if not isinstance(each, slice))
