"""The fields of one loop with an order, and copies of the template functors that use them."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.operators.elementwise.filter import Filter
from frontier.operators.fields.set import Set
from frontier.operators.order.functors import aside, counted, given, key_of
from frontier.operators.order.offers import any_key, most_of
from frontier.program.loop import Loop
from frontier.program.order import own_name
from frontier.program.problem import edge, pile, scalar, vertex

if TYPE_CHECKING:
    from frontier.program.problem import Field, Problem
    from frontier.program.step import Step

__all__ = ["BUCKETS", "Names"]

Functor = Callable[..., Any]

#: The piles of the schedule ``buckets``: the current one, the next ones, and one for elements beyond the last.
BUCKETS = ("due", "second", "third", "fourth", "fifth", "sixth", "seventh", "far")

#: The loop's own scalars that are integers, and those that hold keys, limits and widths of buckets.
COUNTS = ("rounds", "work", "batch", "waiting", "waited", "bucket")
KEYS, LIMITS, PLACES = ("least", "lower"), ("limit", "delta", "first"), ("base", "width")

#: Those of windows on lists sorted by weight: numbers of edges, and what they are estimated from.
EDGES = ("left", "spent", "tail", "enough", "looks", "pulls", "pushes")
ESTIMATES = ("pulled", "heaviest")

#: The loop's own fields: those that the templates name.
OWN = (*COUNTS, *KEYS, *LIMITS, *PLACES, *EDGES, *ESTIMATES, *BUCKETS, "settled", "waits")


class Names:
    """The names of one loop's own fields, and functors in which they stand for the templates' names.

    Parameters
    ----------
    number : int
        Which of a program's ordered loops it is.
    loop : Loop
    p : Problem
    how : str
        How its order is implemented, as the schedule names it.

    Attributes
    ----------
    key : function
        Gives the key of an element.
    most : function
        Gives the greatest key of interest.
    kind : str
        Of the elements: ``"vertex"`` or ``"edge"``.
    whole, wholly : bool
        Whether keys are integers; whether limits are too.
    """

    def __init__(self, number: int, loop: Loop, p: Problem, how: str) -> None:
        order = loop.order
        assert order is not None
        self.kind, self.whole = order.elements(p), order.kind(p) in "iu"
        self.exact, self.how, self.buckets = order.exact, how, how == "buckets"
        self.wholly = self.whole and self.exact and _whole(order.delta, p)
        dtypes = f"{'n' if self.whole else 'f'}{'n' if self.wholly else 'f'}{self.kind[0]}"
        self._renamed = {name: own_name(name, number, dtypes) for name in OWN}
        if loop.count is not None:
            self._renamed["count"] = loop.count
        if isinstance(order.key, str):
            self._renamed["key"] = order.key
        if isinstance(order.delta, str) and order.delta != "auto":
            self._renamed["given"] = order.delta
        if isinstance(order.most, str):
            self._renamed["most"] = order.most
        self.key = self.fn(key_of) if isinstance(order.key, str) else order.key
        self.most = self.fn(most_of) if isinstance(order.most, str) else order.most or any_key

    def __getitem__(self, name: str) -> str:
        return self._renamed[name]

    def fn(self, template: Functor, **others: str) -> Functor:
        """A functor with the loop's names in it, and others; for loops over edges its argument is ``edge``."""
        code = template.__code__
        renamed = self._renamed | others
        names = tuple(renamed.get(name, name) for name in code.co_names)
        variables = tuple("edge" if name == "v" and self.kind == "edge" else name for name in code.co_varnames)
        made = code.replace(co_names=names, co_varnames=variables)
        return types.FunctionType(made, template.__globals__, template.__name__, None, template.__closure__)

    def set(self, **values: Any) -> Set:
        """A Set of the loop's own scalars."""
        return Set(**{self[name]: self.fn(value) if callable(value) else value for name, value in values.items()})

    def fields(self) -> dict[str, Field]:
        """The loop's own fields."""
        places = PLACES if self.buckets else ()
        made: dict[str, Field] = {name: scalar("int64") for name in COUNTS if self.buckets or name != "bucket"}
        made |= {name: scalar("int64" if self.whole else "float64") for name in KEYS}
        made |= {name: scalar("int64" if self.wholly else "float64") for name in LIMITS}
        made |= {name: scalar("float64") for name in places}
        if self.how == "by_weight":
            made |= {name: scalar("int64") for name in EDGES} | {name: scalar("float64") for name in ESTIMATES}
            made |= {"due": pile(self.kind), "settled": pile(self.kind)}
        made |= {name: pile(self.kind) for name in (BUCKETS if self.buckets else ("far",))}
        if self.exact:
            made["waits"] = (vertex if self.kind == "vertex" else edge)("bool")
        return {self[name]: each for name, each in made.items()}

    def steps(self, loop: Loop) -> tuple[Step, ...]:
        """The steps of a pass, counted if the loop says so."""
        count = (Set(**{loop.count: self.fn(counted)}),) if loop.count is not None else ()
        return (*count, *loop.steps)

    def begin(self, loop: Loop) -> tuple[Step, ...]:
        """The first width, where a scalar holds it; else the host writes it."""
        assert loop.order is not None
        named = isinstance(loop.order.delta, str) and loop.order.delta != "auto"
        return (self.set(first=given),) if named else ()

    def emptied(self, loop: Loop) -> tuple[Step, ...]:
        """Clear the pending elements, which an earlier run has left if ``until`` ended it."""
        piles = BUCKETS if self.buckets else ("far",)
        if loop.until is None:
            return ()
        return tuple(Loop(Filter(self.fn(aside)), take=self[name]) for name in piles)

    def rounding(self, p: Problem) -> float:
        """The dtype of keys, and of limits that are compared with them."""
        dtypes = [p.arrays[name].dtype for name in self.key.__code__.co_names if name in p.arrays]
        narrow = not self.whole and np.dtype(np.float32) in dtypes
        return 2 * float(np.finfo(np.float32 if narrow else np.float64).eps)


def _whole(delta: float | str | None, p: Problem) -> bool:
    """Whether a width is an integer."""
    if isinstance(delta, str):
        return delta in p.scalars and p.scalars[delta].dtype.kind in "iu"
    return delta is None or isinstance(delta, int)
