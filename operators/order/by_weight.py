"""Orders of path lengths implemented on lists sorted by weight: most edges are never visited.

A functor that offers ``dst`` the key of ``src`` plus the weight does nothing at an edge that is too heavy. So, in
windows of keys as in delta-stepping (Meyer and Sanders, J. Algorithms 49, 2003):

1. A vertex pushes along its *light* edges only, those whose offer is still within the window. These are the first ones
   of its sorted list.
2. When that has come to an end, the keys of the window's vertices are final. Their other edges are pushed, or, where
   fewer edges are visited so, all vertices beyond the window pull: each walks its in-list in ascending order of weight,
   until even the least key of the window plus the weight is no better than what it has.
3. The next window begins at the least key of what is left. Once few edges are left, it has no end.

How many edges a push and a pull would visit is estimated from degrees, as if weights were distributed evenly. On R-MAT
and uniform graphs a tenth to a quarter of all edges are visited, where other orders visit each at least once.

Widest paths go by the same windows, from heavy edges to light ones: see :mod:`frontier.operators.order.offers`. Where
the order has a ``most``, every walk ends where no offer is below that, and windows that end beyond it are the last.

Keys of vertices outside the frontier count as infinite. Where some are not, there is a single window without an end,
and no pull: that is right for any keys.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.graph.by_weight import has_room_beside, lists_by_weight, share_of_different, why_not_by_weight
from frontier.operators.advance import Advance
from frontier.operators.elementwise.filter import Filter
from frontier.operators.elementwise.put import Put
from frontier.operators.elementwise.reduce import Reduce
from frontier.operators.elementwise.split import Split
from frontier.operators.fields.take import Take
from frontier.operators.order.functors import aside, first, key_of, near_of, one, waiting, zero
from frontier.operators.order.offers import caps, minus, pulled_of, pushed_of, sums, width_of
from frontier.operators.order.passes import is_single, key_field, offered
from frontier.operators.order.windows import (
    beyond_of,
    first_window,
    inside_of,
    known_of,
    left,
    looks,
    next_window,
    pulls,
    pushes,
    reached_of,
    tail,
    wider,
)
from frontier.program.loop import Loop, Sequence

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.operators.order.names import Names
    from frontier.program.order import Order
    from frontier.program.problem import Problem
    from frontier.program.step import Functor, Step

__all__ = ["TAIL", "by_weight", "sorted_for", "suits", "why_not", "worthwhile"]

#: Where windows pay: in graphs of at least so many edge slots, so many of them a vertex, and of whose vertices at a
#: distance of two as large a share differ. They do on R-MAT and uniform graphs (0.9), where a few windows reach
#: everything. Among nearest neighbours (0.1 to 0.6), on meshes and in the web (0.5) there are hundreds.
SLOTS, DEGREE, DIFFER = 2**20, 12.0, 0.8

#: The last window begins when one of so many edges is left.
TAIL = 16


def why_not(loop: Loop, p: Problem) -> str:
    """Return why a loop cannot go by weight; empty if it relaxes edges, and its graph can have sorted lists."""
    step, order, g = loop.steps[0], loop.order, p.graph
    assert order is not None
    if order.exact:
        return "the order is exact"
    if not is_single(loop) or not isinstance(step, Advance) or step.edges != "out" or step.where is not None:
        return "a pass is not a single Advance along out-edges, without where= and the like"
    offers = offered(loop)
    if not (offers or key_field(order)):
        return "its key may be anything, also where a light edge leads"
    if not offers:
        return f"{step.fn.__name__} is not known to offer the key and the weight of an edge (fr.by has adds= and caps=)"
    reason = "it is divided among GPUs or ranks" if g.placement.divides else why_not_by_weight(g)
    if reason:
        return f"the graph cannot have lists sorted by weight: {reason}"
    if offers == "weight" and not suits(g):
        return "there are negative weights, or no edges"
    return f"p.{key_field(order)} would round what is offered" if _rounds(order, p) else ""


def _rounds(order: Order, p: Problem) -> bool:
    """Whether a key holds fewer digits than what is offered: rounded, that may come to lie in the window."""
    field, weights = key_field(order), p.graph.weights
    if field not in p.fields or weights is None:
        return False
    held = p.fields[field].dtype  # a problem of which only the memory is estimated has no arrays
    return held is not None and "f" in (held.kind, weights.dtype.kind) and np.result_type(held, weights.dtype) != held


def suits(g: Graph) -> bool:
    """Whether a graph can have lists by weight, and windows of sums on them are right: no weight is negative."""
    least = None if g.placement.divides or why_not_by_weight(g) else g.min_weight
    return least is not None and bool(least >= 0)


def worthwhile(g: Graph) -> bool:
    """Whether searches of a graph are faster by lists sorted by weight."""
    if g.num_slots < SLOTS or g.traits.mean_degree < DEGREE or why_not_by_weight(g):
        return False
    return share_of_different(g) >= DIFFER


def sorted_for(g: Graph, again: bool) -> bool:
    """Make a graph's lists by weight if this is not its first search, or there will be more; whether they are there.

    The first search alone would take longer so. Where they would fill the memory, nobody has asked for them.
    """
    searches: list[int] = g.cached("searches by weight", lambda: [0])
    searches[0] += 1
    if (searches[0] > 1 or again) and has_room_beside(g):
        with contextlib.suppress(MemoryError):  # others take less
            lists_by_weight(g, "out")
            if not g.symmetric:
                lists_by_weight(g, "in")
    return g.is_sorted_by_weight


def by_weight(loop: Loop, names: Names, p: Problem) -> Step:
    """Return the program.

    Vertices that wait are in piles: in ``due`` for the next window, in ``far`` for later ones. ``settled`` has those of
    this window. A pass of the outer loop is a window.
    """
    (step,), most = loop.steps, names.most
    assert isinstance(step, Advance)
    assert loop.order is not None
    fn, due, far, settled = step.fn, names["due"], names["far"], names["settled"]
    key, width = _key(loop, names)
    near, beyond = names.fn(near_of(key)), names.fn(beyond_of(key))
    widths = 1.0 if names.whole else 0.0, names.rounding(p)
    made = caps(width, most) if width else sums(key, most)
    leaves, useless = names.fn(made.leaves), names.fn(made.useless)
    ends = names.fn(made.ends) if loop.order.most is not None else None
    pushed, pulled = names.fn(pushed_of(key, most)), names.fn(pulled_of(key, most))
    way: Any = {"descending": made.descending}
    light = Advance(fn, stop=leaves, unique=step.unique, schedule=step.schedule, **way)
    push = Loop(Advance(fn, stop=ends, schedule=step.schedule, **way), Put(far), times=names["pushes"])
    pull = Loop(
        Filter(beyond),
        Advance(fn, where=names.fn(inside_of(key)), stop=useless, output=None, edges="in", **way),
        Filter(names.fn(reached_of(key))),
        Put(far),
        over="vertices", times=names["pulls"],
    )  # fmt: skip
    windows = Loop(
        Loop(Put(settled), *names.steps(loop)[:-1], light, schedule=loop.schedule),
        Sequence(
            Take(settled),
            Reduce(pushed, "sum", into=names["spent"]),
            names.set(left=left, pulled=0.0, looks=looks),
            Loop(Reduce(pulled, "sum", into=names["pulled"], over="vertices"), times=names["looks"]),
            names.set(pulls=pulls, pushes=pushes),
            push,
        ),
        pull,
        Sequence(
            Take(far),
            Filter(beyond),
            Reduce(key, "min", into=names["least"]),
            Reduce(names.fn(one), "sum", into=names["waiting"]),
            names.set(delta=wider, waited=waiting, limit=next_window(*widths)),
            Split(near, rest=far),
            Put(due),
        ),
        take=due,
    )
    low = names.fn(reached_of(key))
    begin = Sequence(
        Filter(low),
        Reduce(names.fn(one), "sum", into=names["waited"]),
        Reduce(key, "min", into=names["least"]),
        names.set(limit=first_window(*widths), waited=zero),
        Split(near, rest=far),
        Put(due),
        over=loop.over,
    )
    return Sequence(
        *(cleared(names, pile) for pile in (due, far, settled)),
        *names.begin(loop),
        names.set(delta=first, left=tail),
        Reduce(key, "max", into=names["lower"], over="vertices"),
        Reduce(names.fn(known_of(key)), "sum", into=names["waiting"], over="vertices"),
        begin,
        windows,
    )


def _key(loop: Loop, names: Names) -> tuple[Functor, Functor | None]:
    """The key; and the width, where it is minus that. A float is, of any integer, and its width compares exactly."""
    order = loop.order
    assert order is not None
    if offered(loop) == "weight":
        return names.key, None
    if isinstance(order.key, str) or not key_field(order):
        return names.key, width_of(names.key)
    return names.fn(minus, key=key_field(order)), names.fn(key_of, key=key_field(order))


def cleared(names: Names, pile: str) -> Step:
    """Empty a pile, whatever a run before has left there."""
    return Loop(Filter(names.fn(aside)), take=pile)
