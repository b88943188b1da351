"""The graph in functors: a vertex's edges as a range of slots, and the target, source and weight of a slot.

These are the plain Python definitions, which the python backend runs; :mod:`frontier.backends.overloads` has those for
compiled code. A functor that uses them gets the graph's arrays as hidden fields of the problem.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from frontier.errors import FunctorError
from frontier.functors.numbers import Range

__all__ = ["ARRAYS", "NEEDS", "degree", "hidden", "neighbours", "source", "target", "weight"]

#: The graph's arrays that functors may ask for.
ARRAYS = ("offsets", "sources", "targets", "weights")


def hidden(name: str) -> str:
    """Name of the field that holds an array of the graph."""
    return f"{name}__"


def _array(p: Any, name: str) -> Any:
    try:
        return getattr(p, hidden(name))
    except AttributeError:
        raise FunctorError("fr.neighbours and the like take the problem first, and work in functors only") from None


def neighbours(p: Any, v: Any) -> range:
    """Return the slots of the out-edges of a vertex: ``for e in fr.neighbours(p, v): u = fr.target(p, e)``.

    Slots are in the order of the targets.
    """
    offsets = _array(p, "offsets")
    return cast(range, Range(int(offsets[v]), int(offsets[v + 1])))


def degree(p: Any, v: Any) -> Any:
    """Return the number of edges that :func:`neighbours` returns for a vertex."""
    offsets = _array(p, "offsets")
    return offsets[v + 1] - offsets[v]


def target(p: Any, e: Any) -> Any:
    """Return the target of the edge with a slot."""
    return _array(p, "targets")[e]


def source(p: Any, e: Any) -> Any:
    """Return the source of the edge with a slot."""
    return _array(p, "sources")[e]


def weight(p: Any, e: Any) -> Any:
    """Return the weight of the edge with a slot; integers have 64 bits."""
    found = _array(p, "weights")[e]
    return np.int64(found) if isinstance(found, np.integer) else found


#: Which arrays each of them needs.
NEEDS = {neighbours: "offsets", degree: "offsets", target: "targets", source: "sources", weight: "weights"}
