"""The graph in functors: a vertex's edges as a range of slots, and the target, source and weight of a slot.

These are the plain Python definitions, which the python backend runs; :mod:`frontier.compile.functors.overloads` has
those for compiled code. A functor that uses them gets the graph's arrays as hidden fields of the problem.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, cast, overload

import numpy as np

from frontier.errors import FunctorError
from frontier.functors.numbers import Range

__all__ = ["ARRAYS", "NEEDS", "NEEDS_IN", "degree", "hidden", "neighbours", "source", "target", "weight"]

#: The graph's arrays that functors may ask for.
ARRAYS = ("offsets", "sources", "targets", "weights", "in_offsets", "in_edges")


def hidden(name: str) -> str:
    """Name of the field that holds an array of the graph."""
    return f"{name}__"


def _array(p: Any, name: str) -> Any:
    try:
        return getattr(p, hidden(name))
    except AttributeError:
        raise FunctorError("fr.neighbours and the like take the problem first, and work in functors only") from None


def _direction(edges: Any) -> str:
    """Name of the offsets of lists of out- or in-edges."""
    if edges not in ("out", "in"):
        raise FunctorError(f"{edges!r}: write \"out\" or \"in\"")
    return "offsets" if edges == "out" else "in_offsets"


@overload
def neighbours(p: Any, v: Any, edges: Literal["out"] = "out") -> range: ...


@overload
def neighbours(p: Any, v: Any, edges: Literal["in"]) -> Iterable[int]: ...


def neighbours(p: Any, v: Any, edges: str = "out") -> range | Iterable[int]:
    """Return the slots of the edges of a vertex: ``for e in fr.neighbours(p, v): u = fr.target(p, e)``.

    Slots are in the order of the targets. With ``"in"``, written as it stands there, they are those of the edges that
    end at the vertex, in the order of their sources: ``for e in fr.neighbours(p, v, "in"): u = fr.source(p, e)``. That
    is for whole graphs, not for graphs in parts.

    Examples
    --------
    >>> def far_from_members(p, v):
    ...     for e in fr.neighbours(p, v):
    ...         if p.member[fr.target(p, e)]:
    ...             return False
    ...     return True
    >>> p = fr.Problem(fr.path(4), member=fr.vertex("bool", [True, False, False, False]))
    >>> sorted(fr.filter(p, fr.Frontier.all(p.graph), far_from_members))
    [0, 2, 3]
    """
    offsets = _array(p, _direction(edges))
    found = Range(int(offsets[v]), int(offsets[v + 1]))
    if edges == "out":
        return cast(range, found)
    slots = _array(p, "in_edges")
    return (cast(int, np.int64(slots[i])) for i in found)


def degree(p: Any, v: Any, edges: str = "out") -> Any:
    """Return the number of edges that :func:`neighbours` returns for a vertex.

    Examples
    --------
    >>> p = fr.Problem(fr.star(4))
    >>> sorted(fr.filter(p, fr.Frontier.all(p.graph), lambda p, v: fr.degree(p, v) == 1))
    [1, 2, 3]
    """
    offsets = _array(p, _direction(edges))
    return offsets[v + 1] - offsets[v]


def target(p: Any, e: Any) -> Any:
    """Return the target of the edge with a slot.

    Examples
    --------
    >>> def to_zero(p, edge):
    ...     return fr.target(p, edge) == 0
    >>> p = fr.Problem(fr.star(4))
    >>> len(fr.filter(p, fr.Frontier.all(p.graph, "edge"), to_zero))
    3
    """
    return _array(p, "targets")[e]


def source(p: Any, e: Any) -> Any:
    """Return the source of the edge with a slot.

    Examples
    --------
    >>> def between_even(p, edge):
    ...     return fr.source(p, edge) % 2 == 0 and fr.target(p, edge) % 2 == 0
    >>> p = fr.Problem(fr.complete(4))
    >>> len(fr.filter(p, fr.Frontier.all(p.graph, "edge"), between_even))
    2
    """
    return _array(p, "sources")[e]


def weight(p: Any, e: Any) -> Any:
    """Return the weight of the edge with a slot; integers have 64 bits.

    Examples
    --------
    >>> def heavy(p, edge):
    ...     return fr.weight(p, edge) > 1
    >>> p = fr.Problem(fr.from_edges([0, 1], [1, 2], [0.5, 2.0], directed=True))
    >>> len(fr.filter(p, fr.Frontier.all(p.graph, "edge"), heavy))
    1
    """
    found = _array(p, "weights")[e]
    return np.int64(found) if isinstance(found, np.integer) else found


#: Which array each of them needs, of out-edges.
NEEDS = {neighbours: "offsets", degree: "offsets", target: "targets", source: "sources", weight: "weights"}

#: Which arrays they need of in-edges.
NEEDS_IN = {neighbours: ("in_offsets", "in_edges"), degree: ("in_offsets",)}
