"""What ``over=`` of a step names: its own frontier, a count, or all values of a field."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from frontier.errors import FrontierError
from frontier.functors.functor import PLACES, arguments, location
from frontier.program.frontiers import Frontier

if TYPE_CHECKING:
    from frontier.program.problem import Problem

__all__ = ["Over", "check_values", "count_over", "frontier_over", "start_of"]

#: What ``over=`` accepts: "vertices", "edges", a pile, a scalar that holds a vertex or a count, a field with several
#: values, or a count.
Over = str | int | None

_COUNTS = (
    "a functor of i runs over a count, a scalar that holds one, or a field with several values a vertex or edge "
    "(shape=)"
)


def start_of(p: Problem, over: Over, counted: bool = False) -> tuple[str, str]:
    """Return what ``over`` names in a problem; with ``counted`` it must be a count.

    Returns
    -------
    form : {"all", "pile", "single", "count"}
    kind : {"vertex", "edge", "count"}
    """
    if isinstance(over, int):
        return "count", "count"
    if counted:
        if over in p.fields and p.fields[over].width:
            more = "v, i" if p.fields[over].kind == "vertex" else "edge, i (or src, dst, weight)"
            raise FrontierError(f"over={over!r}: a functor over the values of this field takes {more}, not i alone")
        if over not in p.scalars:
            raise FrontierError(f"over={over!r}: {_COUNTS}")
        if p.scalars[over].dtype.kind not in "iu":
            raise FrontierError(f"over={over!r}: the scalar holds {p.scalars[over].dtype}, not a count")
        return "count", "count"
    if over == "vertices":
        return "all", "vertex"
    if over == "edges":
        return "all", "edge"
    if over in p.piles:
        return "pile", p.piles[over].kind
    if over in p.scalars:
        if p.scalars[over].dtype.kind not in "iu":
            raise FrontierError(f"over={over!r}: the scalar holds {p.scalars[over].dtype}, not a vertex")
        return "single", "vertex"
    raise FrontierError(f"over={over!r}: 'vertices', 'edges', a pile or a scalar of the problem")


def check_values(name: str, functors: Iterable[tuple[Callable[..., Any], str]], p: Problem) -> None:
    """Raise FrontierError unless ``over=`` names a field with several values, of elements that the functors take."""
    made = p.fields.get(name)
    for fn, place in functors:
        if name in p.scalars:
            arguments(fn, "count")  # which says what it may take
        if made is None or not made.width:
            raise FrontierError(f"over={name!r}: {_COUNTS}")
        offered, each = ("value", "a vertex") if made.kind == "vertex" else ("edge value", "an edge")
        if not {*arguments(fn, place)} <= {*PLACES[offered]}:
            raise FrontierError(
                f"over={name!r}: the field has several values {each}, so {location(fn)} may take "
                f"{', '.join(PLACES[offered])}, not {', '.join(arguments(fn, place))}"
            )


def frontier_over(p: Problem, over: str, values: str = "") -> Frontier:
    """Return the frontier that ``over`` names in the current state of the problem; of ``values`` all its elements."""
    if values:
        return Frontier.all(p.graph, p.fields[values].kind)
    form, kind = start_of(p, over)
    if form == "all":
        return Frontier.all(p.graph, kind)
    if form == "pile":
        return p.piles[over]
    return Frontier(p.graph, [int(p.scalars[over][0])])


def count_over(p: Problem, over: str) -> int:
    """Return the count that a scalar holds now; a negative value counts as 0, as in ``range``."""
    return max(0, int(p.scalars[over][0]))
