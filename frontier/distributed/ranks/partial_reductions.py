"""Reductions over adjacency lists of which each part has reduced some edges: owners reduce what all have got.

What parts have got is combined in the order of ranks, in float64 for floats and in int64 for all others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.distributed.merge import OPERATIONS
from frontier.memory.arrays import namespace_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from frontier.distributed.merge import Change
    from frontier.program.frontiers import Frontier
    from frontier.program.problem import Problem

__all__ = ["fold", "partial"]

def partial(p: Problem, name: str, reduction: Any, mine: Frontier) -> Change:
    """What this part has reduced at vertices that have edges here, ascending, but for identities."""
    array, ids = p.arrays[name], mine.ids
    values = array[ids]
    some = values != np.asarray(reduction.identity(array.dtype)).astype(array.dtype)[()]
    if some.ndim > 1:
        some = some.any(axis=1)
    ids, values = ids[some], values[some]
    order = namespace_of(ids).argsort(ids)
    return ids[order].astype(np.int64), values[order]


def fold(array: NDArray[Any], reduction: Any, own: NDArray[Any], told: Iterable[Change]) -> None:
    """Set own elements, ascending, to the reduction of what all parts have told."""
    wide = np.float64 if reduction.real(array.dtype) else np.int64
    combine = OPERATIONS[reduction.runtime.lower()].arrays
    xp = namespace_of(array)
    total = xp.full((len(own), *array.shape[1:]), reduction.identity(array.dtype), wide)
    with np.errstate(all="ignore"):
        for ids, values in told:
            at = xp.searchsorted(own, ids)
            total[at] = combine(total[at], values.astype(wide))  # distinct ids, so that no ufunc.at is needed
        array[own] = total.astype(array.dtype)
