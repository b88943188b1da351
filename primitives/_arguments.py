"""Arguments of primitives: checks, and vertices by their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.errors import GraphError, NegativeWeightError
from frontier.memory.arrays import adopt, is_device

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.graph.graph import Graph

__all__ = [
    "check_lengths",
    "check_number",
    "check_seed",
    "check_signed",
    "check_weights",
    "named",
    "values_of_vertices",
]


def check_number(name: str, value: Any, holds: Callable[[Any], Any], words: str) -> float:
    """Return an argument as Python's float; raise GraphError, with words on what must be, unless a condition holds."""
    try:
        if holds(value):
            return float(value)
    except (TypeError, ValueError, ArithmeticError):  # no number, several, or none that a float holds
        if value is None or isinstance(value, (str, bytes)):
            words = f"it is no number; {words}"
    raise GraphError(f"{name}={value!r}: {words}")


def check_seed(seed: Any) -> None:
    """Raise GraphError for a seed that no scalar of int64 holds."""
    check_number("seed", seed, lambda x: -(2**63) <= x < 2**63 and x == int(x), "a whole number of 64 bits")


def check_weights(g: Graph, who: str, plural: bool = False, scaled: bool = False) -> None:
    """Raise GraphError if weights are negative, infinite, or so large that their sum may be, unless they get scaled."""
    if g.weights is None or not g.num_slots:
        return
    verb = "need" if plural else "needs"
    if g.min_weight < 0:
        raise NegativeWeightError(f"{who} {verb} weights that are not negative; the least is {g.min_weight}")
    if not np.isfinite(g.max_weight):
        raise GraphError(f"{who} {verb} finite weights")
    if not scaled and float(g.max_weight) > np.finfo(np.float64).max / g.num_slots:
        raise GraphError(f"{who} {verb} weights with a finite sum, and the greatest is {g.max_weight}: divide them")


def check_lengths(g: Graph) -> None:
    """Raise an error if weights are negative, or a path so long as there might be one is too long for int64."""
    if g.min_weight is not None and g.min_weight < 0:
        raise NegativeWeightError(f"shortest paths need weights that are not negative; the least is {g.min_weight}")
    if g.weights is None or g.weights.dtype.kind not in "iu" or g.weights.dtype.itemsize < 8:
        return
    if (g.max_weight or 0) * g.num_vertices >= 2**62:
        raise GraphError("distances by these integer weights may not fit into 64 bits: use weights of float64")


def check_signed(g: Graph, who: str) -> None:
    """Raise GraphError if a weight is too large for int64."""
    if g.weights is not None and g.weights.dtype == np.uint64 and g.num_slots and int(g.max_weight) >= 2**63:
        raise GraphError(f"{who} needs weights below 2**63: use weights of float64")


def named(g: Graph, ids: Any) -> Any:
    """Return a vertex, or an array of vertices, as users name them: by labels, if the graph has labels."""
    return ids if g.labels is None else g.labels[ids]


def values_of_vertices(g: Graph, name: str, given: Any) -> NDArray[np.float64]:
    """Return an argument that is a number for each vertex, or a mapping from vertices (labels) to numbers, as an array.

    Vertices that a mapping lacks have 0. The array lies on the host, or on a GPU if the given one does.
    """
    mapping = hasattr(given, "items")
    values = list(given.values()) if mapping else given
    try:
        array = adopt(values, name) if is_device(values) else np.asarray(values)
        if array.dtype.kind == "c":
            raise TypeError
        made: NDArray[np.float64] = array.astype(np.float64)
    except (ValueError, TypeError, OverflowError):
        raise GraphError(f"{name} holds numbers, not {values!r}") from None
    if mapping:
        found = np.zeros(g.num_vertices)
        found[[g.vertex_id(vertex) for vertex in given]] = made
        return found
    if made.shape != (g.num_vertices,):
        raise GraphError(f"{name} of shape {made.shape}, but there are {g.num_vertices} vertices")
    return made
