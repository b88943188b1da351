"""Orders that are kept exactly: a pass processes the elements with the least key, or those of a window from it on.

Pending elements are marked in a field of bools, because elements may come back with any key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.operators.elementwise.compute import Compute
from frontier.operators.elementwise.filter import Filter
from frontier.operators.elementwise.reduce import Reduce
from frontier.operators.elementwise.split import Split
from frontier.operators.fields.set import Set
from frontier.operators.order.functors import (
    aside,
    first,
    least,
    lower,
    lowest_of,
    near_of,
    put,
    take,
    waits,
    window,
)
from frontier.program.loop import Loop, Sequence

if TYPE_CHECKING:
    from frontier.operators.order.names import Names
    from frontier.program.order import Order
    from frontier.program.step import Step

__all__ = ["exact", "exact_pass"]


def exact(loop: Loop, order: Order, names: Names) -> Step:
    """Everyone else waits in one pile, which is looked through for the next least key."""
    near, lowest = names.fn(near_of(names.key)), names.fn(lowest_of(names.key))
    begin: tuple[Step, ...] = (
        *names.emptied(loop),
        Compute(names.fn(put), over=loop.over),
        Split(names.fn(aside), rest=names["far"], over=loop.over),
    )
    found: tuple[Step, ...] = (Filter(names.fn(waits)), Reduce(names.key, "min", into=names["least"]))
    last: tuple[Step, ...]
    if order.delta is None:
        found += (Split(lowest, rest=names["far"]),)
        last = (
            Reduce(names.key, "min", into=names["lower"]),
            names.set(least=lower),
            Split(lowest, rest=names["far"]),
        )
    else:
        begin += (*names.begin(loop), names.set(delta=first))
        found += (names.set(limit=window), Split(near, rest=names["far"]))
        last = (Split(near, rest=names["far"]),)
    inner = Loop(*exact_pass(loop, order, names), *last, until=loop.until, schedule=loop.schedule)
    return Sequence(*begin, Loop(*found, inner, take=names["far"], until=loop.until))


def exact_pass(loop: Loop, order: Order, names: Names) -> tuple[Step, ...]:
    """A pass over elements that wait no more from now on, and those that it gives wait again."""
    into = (Set(**{order.into: names.fn(least)}),) if order.into is not None else ()
    return (*into, Compute(names.fn(take)), *names.steps(loop), Compute(names.fn(put)))
