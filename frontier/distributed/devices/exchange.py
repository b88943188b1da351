"""What GPUs give each other after a step, and how each merges what the others give.

Every GPU holds all fields and has run the step on its own elements, or along the edges of its own vertices. An element
that only its owner may write takes the owner's value. The rest is merged in the order of the GPUs
(:mod:`frontier.distributed.merge`), so that all come to the same values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from frontier.distributed.devices.compaction import joined
from frontier.distributed.merge import merge
from frontier.program.frontiers import Frontier

if TYPE_CHECKING:
    from collections.abc import Iterable

    from frontier.distributed.devices.replicas import Replica
    from frontier.distributed.merge import Written
    from frontier.distributed.walk import Outcome

__all__ = ["flat", "given_bytes", "own_values", "take", "united"]

def flat(array: Any) -> Any:
    """A field of which changes are merged: of one that has several values each, every value is an element here."""
    return array.reshape(-1) if array.ndim > 1 else array


def own_values(replica: Replica, array: Any, kind: str, f: Frontier) -> tuple[Any, Any]:
    """Return where and what only owners write of a field: at a frontier's own vertices, or at all that is owned."""
    if kind == "vertex" == f.kind and not f.is_all:
        ids = replica.owned(f).ids
        return ids, array[ids]
    own = slice(*replica.own[kind])
    return own, array[own]


def take(replica: Replica, fields: Iterable[Written], told: list[Outcome]) -> None:
    """Bring what all GPUs have written into one GPU's fields."""
    moved, arrays = replica.memory.moved, replica.whole.arrays
    for rank, outcome in enumerate(told):
        if rank != replica.rank:
            for name, (ids, values) in outcome.owned.items():
                arrays[name][ids if isinstance(ids, slice) else moved(ids)] = moved(values)
    names = told[0].changed
    changes = [{name: (moved(ids), moved(values)) for name, (ids, values) in each.changed.items()} for each in told]
    merge({name: flat(arrays[name]) for name in names}, [each for each in fields if each.name in names], changes)


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
