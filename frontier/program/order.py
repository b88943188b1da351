"""The order (priority) in which a loop processes its pending elements: small keys first.

Most programs are correct in any order, and faster in a good one: shortest paths relax each edge about once if near
vertices come first. Others are correct in one order only: peeling a graph to its k-cores removes the vertices of least
degree. Order is therefore a property of the loop, as in GraphIt's priority extension (Zhang et al., CGO 2020) and
Julienne (Dhulipala, Blelloch, Shun, SPAA 2017). How it is implemented is up to the schedule.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.errors import FrontierError
from frontier.functors.functor import arguments

if TYPE_CHECKING:
    from frontier.program.problem import Problem

__all__ = ["Order", "by", "display_name", "expansion", "own_name"]

Functor = Callable[..., Any]

#: What rewrites loops with an order, ``prepare`` of :mod:`frontier.operators.order.loops`, and then ``remarks`` there:
#: it registers both here.
expansion: list[Callable[..., Any]] = []

_OWN = re.compile(r"([a-z]+)(\d+)[a-z]+__")


def own_name(what: str, number: int, dtypes: str) -> str:
    """Name of a field that a loop with an order adds to its problem.

    Parameters
    ----------
    what : str
        What it holds, such as ``"limit"``.
    number : int
        Which of a program's ordered loops it belongs to.
    dtypes : str
        Letters for dtypes. Loops of other programs on the problem may have such a field, too, of another dtype.
    """
    return f"{what}{number}{dtypes}__"


def display_name(name: str) -> str:
    """What a reader calls a field: ``p.name``; a loop's own ``order.limit``, that of the next loop ``order2.limit``."""
    own = _OWN.fullmatch(name)
    if own is None:
        return f"p.{name}"
    what, number = own[1], int(own[2])
    return f"order{number + 1 if number else ''}.{what}"


@dataclass(frozen=True)
class Order:
    """An order of a loop, made by :func:`by`.

    Examples
    --------
    >>> fr.by("distance", delta=2.0)
    by('distance', delta=2.0)
    """

    key: str | Functor
    delta: float | str | None = None
    exact: bool = False
    into: str | None = None
    adds: str | None = None
    caps: str | None = None
    most: str | Functor | None = None

    def kind(self, p: Problem) -> str:
        """Kind of the keys' dtype: ``"i"``, ``"u"`` or ``"f"``; keys by a functor are floats."""
        if callable(self.key):
            return "f"
        dtype = p.fields[self.key].dtype
        assert dtype is not None
        return str(dtype.kind)

    def elements(self, p: Problem) -> str:
        """Kind of the pending elements: ``"vertex"`` or ``"edge"``."""
        if isinstance(self.key, str):
            return p.fields[self.key].kind
        return "vertex" if "v" in arguments(self.key, "element") else "edge"

    def __repr__(self) -> str:
        key = repr(self.key) if isinstance(self.key, str) else self.key.__name__
        most = self.most.__name__ if callable(self.most) else self.most
        set_ = {"delta": self.delta, "exact": self.exact or None, "into": self.into, "adds": self.adds,
                "caps": self.caps, "most": most}  # fmt: skip
        return f"by({', '.join([key, *(f'{name}={value!r}' for name, value in set_.items() if value is not None)])})"


def by(
    key: str | Functor, *, delta: float | str | None = None, exact: bool = False, into: str | None = None,
    adds: str | None = None, caps: str | None = None, most: str | Functor | None = None,
) -> Order:  # fmt: skip
    """Order a loop by priority, small keys first: ``fr.Loop(..., order=fr.by("distance"))``.

    The loop keeps a set of pending elements, at first those of its frontier. Each pass removes pending elements with
    small keys and processes them; the elements that its steps produce become pending. The loop ends when none is
    pending. If a pass lowers the key of an element, it must also produce that element, as an Advance does whose functor
    returns True for it.

    Parameters
    ----------
    key : str, or function of the problem and ``v`` (of edges: ``edge``) -> number
        The name of a vertex or edge field of numbers, or a function that computes the key. It is read when an element
        becomes pending or is taken, and must not be NaN.
    delta : float or str, optional
        How far apart the keys of one pass may be: a number, or the name of a scalar. By default ``"auto"``: computed
        from the graph's weights and adapted during the run. With ``exact=True``, the width of a window, see below.
    exact : bool
        By default the order only saves work: a pass may process further elements, so the result must not depend on the
        order. With ``True``, a pass processes exactly the pending elements with the least key. With ``delta`` as well,
        passes process elements whose key is less than k + ``delta``, where k was the least key when this window began;
        the next window begins when there are none.
    into : str, optional
        With ``exact=True``: a scalar that is set to the least key (at the beginning of the window) before each pass.

    adds : {"weight"}, optional
        A promise about the functor of the loop's only Advance: it offers ``dst`` the key of ``src`` plus the weight of
        the edge, accepts ``dst`` where that lowers its key, and does nothing else. (It may refuse offers.) Then edges
        may be visited in ascending order of weight, and most of them never (``Schedule(order="by_weight")``). Need not
        be said where :func:`frontier.effects` shows it: the key is a field, which ``atomic_min`` changes.
    caps : {"weight"}, optional
        The same where keys are minus the width of a path: it offers the width of ``src``, or the weight if that is
        less. Edges are visited in descending order then. Need not be said where the key is a function that returns
        minus the element of a field, which ``atomic_max`` changes.
    most : str or function of the problem -> number, optional
        The greatest key of interest, which may fall during the run: the functor refuses all offers above it. Where
        edges are visited by weight, those that could only make such offers never are.

    Returns
    -------
    Order

    Examples
    --------
    >>> def relax(p, src, dst, weight):
    ...     new = p.distance[src] + weight
    ...     return new < fr.atomic_min(p.distance, dst, new)
    >>> class Distances(fr.Enactor):
    ...     loop = fr.Loop(fr.Advance(relax), order=fr.by("distance"))
    >>> g = fr.from_edges([0, 0, 1], [1, 2, 2], [1.0, 5.0, 2.0], directed=True)
    >>> p = fr.Problem(g, distance=fr.vertex("float64", [0, np.inf, np.inf]))
    >>> Distances(p).run([0]).distance
    array([0., 1., 3.])
    """
    if callable(key):
        if arguments(key, "element") not in (("v",), ("edge",)):
            raise FrontierError(f"fr.by({key.__name__}): the key of a vertex is a function of p and v, that of an edge "
                                "one of p and edge")  # fmt: skip
    elif not isinstance(key, str):
        raise FrontierError(f"fr.by({key!r}): the name of a field, or a function of the problem and v")
    if isinstance(delta, str):
        suits = delta == "auto" or delta.isidentifier()
    else:
        number = isinstance(delta, (int, float, np.integer, np.floating)) and not isinstance(delta, bool)
        suits = delta is None or (number and 0 < delta < math.inf)
    if not suits:
        raise FrontierError(f"fr.by(delta={delta!r}): a positive number, the name of a scalar, or 'auto'")
    if exact and delta == "auto":
        raise FrontierError("fr.by(delta='auto', exact=True): the width of an exact window is a number, or a scalar's")
    if into is not None and not exact:
        raise FrontierError(f"fr.by(into={into!r}): only with exact=True is there a least key")
    if adds not in (None, "weight"):
        raise FrontierError(f"fr.by(adds={adds!r}): 'weight', or nothing")
    if caps not in (None, "weight") or (caps and adds):
        raise FrontierError(f"fr.by(caps={caps!r}): 'weight', or nothing; and not with adds=")
    if callable(most):
        arguments(most, "scalars")
    elif most is not None and not isinstance(most, str):
        raise FrontierError(f"fr.by(most={most!r}): the name of a scalar, or a function of the problem")
    width = delta.item() if isinstance(delta, np.generic) else delta
    return Order(key, width, bool(exact), into, adds, caps, most)
