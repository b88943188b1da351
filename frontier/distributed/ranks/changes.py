"""What a step has changed on a part.

A part changes elements that others own in its own copy of the field. The changes go to the owners, who merge them
(:mod:`frontier.distributed.merge`); the part's copy gets its old values back. Where a part adds to elements of which it
is not told, its copy is 0 during the step: a stale value there could be too large for the sum to show.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frontier.graph.sparse_offsets import SparseOffsets
from frontier.memory.arrays import namespace_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.distributed.merge import Change, Written
    from frontier.program.frontiers import Frontier
    from frontier.program.problem import Problem
    from frontier.program.step import Step

__all__ = ["Before", "bits_differ", "changes", "distinct", "places", "stays", "values_of"]


class Before(NamedTuple):
    """What a step may change of a field.

    Attributes
    ----------
    ids : ndarray or None
        The elements; None for all.
    values : ndarray
        With which the step begins.
    kept : ndarray or None
        Those that this part has of them, if the step begins with others.
    """

    ids: NDArray[Any] | None
    values: NDArray[Any]
    kept: NDArray[Any] | None = None


# ---- fields ----------------------------------------------------------------------------------------------


def places(step: Step, each: Written, mine: Frontier) -> NDArray[Any] | None:
    """The elements of a field that a step may write when it runs on ``mine``; None: any, or too many to list."""
    if each.indices <= ({"v", step.near} if mine.kind == "vertex" else {"edge", "uv"}):
        return mine.ids
    g = mine.graph
    if g.placement.massively_parallel:  # where a whole field is compared as quickly as a list of it
        return None
    few = g.num_vertices // 8
    if mine.kind == "vertex" and len(mine.ids) < few and step.far and each.indices <= {step.near, step.far}:
        offsets: Any = g.offsets if step.far == "dst" else g.in_offsets
        ends = g.targets if step.far == "dst" else g.in_sources
        if isinstance(offsets, SparseOffsets):
            first, counts = offsets.lists(mine.ids)
        else:
            first = offsets[mine.ids]
            counts = offsets[mine.ids + 1] - first
        total = int(counts.sum())
        if total < few:
            slots = np.arange(total) + np.repeat(first - np.cumsum(counts) + counts, counts)
            return distinct(np.concatenate([mine.ids, ends[slots]]))
    return None


def distinct(ids: NDArray[Any]) -> NDArray[Any]:
    """Ids in ascending order, each once: ``numpy.unique`` hashes them first, which takes longer."""
    xp = namespace_of(ids)
    ids = xp.sort(ids)
    first = xp.ones(len(ids), bool)
    xp.not_equal(ids[1:], ids[:-1], out=first[1:])
    found: NDArray[Any] = ids[first]
    return found


def stays(p: Problem, name: str) -> bool:
    """Whether each part keeps its own elements of a field for itself: those of edges, if the graph is in parts."""
    return p.graph._topology.divided is not None and p.fields[name].kind == "edge"


def values_of(
    p: Problem, step: Step, fields: Iterable[Written], mine: Frontier, others: Callable[[Written], list[slice]]
) -> dict[str, Before]:
    """Copy what a step is going to write, and let it begin with 0 where it adds to elements of ``others``."""
    found: dict[str, Before] = {}
    known: dict[frozenset[str], Any] = {}
    for each in fields:
        if stays(p, each.name):
            continue
        if each.indices not in known:
            known[each.indices] = places(step, each, mine)
        ids = known[each.indices]
        array = p.arrays[each.name]
        values = array.copy() if ids is None else array[ids]
        if not each.added:
            found[each.name] = Before(ids, values)
            continue
        found[each.name] = Before(ids, values.copy(), values)
        for part in others(each):
            at = part if ids is None else (ids >= part.start) & (ids < part.stop)
            found[each.name].values[at] = 0
    for name, (ids, values, kept) in found.items():  # when there is memory for all
        if kept is not None:
            _put(p.arrays[name], ids, values)
    return found


def _put(array: Any, ids: NDArray[Any] | None, values: NDArray[Any]) -> None:
    array[slice(None) if ids is None else ids] = values


def bits_differ(new: NDArray[Any], old: NDArray[Any]) -> Any:
    """Whether elements have changed: NaN may not have, and -0 may have become 0."""
    if new.dtype.kind == "f":
        bits, contiguous = f"u{new.dtype.itemsize}", namespace_of(new).ascontiguousarray
        new, old = contiguous(new).view(bits), contiguous(old).view(bits)  # one of two that lie side by side is not
    return new != old


def changes(p: Problem, before: dict[str, Before], stay: Container[str] = ()) -> dict[str, Change]:
    """Find what has changed since ``before``, and put the old values back, with which owners merge, but for some.

    Of what parts add, it is how much they have added.
    """
    found = {}
    for name, (ids, old, kept) in before.items():
        array = p.arrays[name]
        new = array if ids is None else array[ids]
        differ = bits_differ(new, old)
        if differ.ndim > 1:  # of several values, one at least
            differ = differ.any(axis=1)
        changed = namespace_of(array).flatnonzero(differ)
        at = changed if ids is None else ids[changed]
        found[name] = at, new[changed]
        if kept is not None:
            with np.errstate(all="ignore"):
                found[name] = at, new[changed] - old[changed]
            _put(array, ids, kept)
        elif name not in stay:
            array[at] = old[changed]
    return found
