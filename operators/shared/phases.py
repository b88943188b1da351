"""The parts that phases share on every backend: elements, calls of functors, combining values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.compile.keys import bits_of, integer, key_down, key_up
from frontier.functors.functor import arguments
from frontier.lowering.frontier_state import HOW
from frontier.lowering.inputs import Derived
from frontier.lowering.ir import Assign, Call, Const, Expr, Node, Value, cast
from frontier.lowering.kernels import Callee, Constant, Made
from frontier.lowering.variables import DIRECTION, SEEN
from frontier.operators.shared.reductions import REDUCTIONS, identity, shipped

if TYPE_CHECKING:
    from frontier.compile.functors.overloads import truth
    from frontier.lowering.builder import Builder, Functor
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.shared.reductions import Reduction

__all__ = [
    "adding", "adjacency", "calling", "combining", "elements", "frontier", "identity_of", "join_of", "nearer",
    "reduction", "slot_of_edge", "visited", "walked",
    "weight_of_edge",
]  # fmt: skip


def frontier(b: Builder, current: FrontierState, kind: str) -> dict[str, Value]:
    """Parameters for the elements of a frontier."""
    of = b.frontiers
    return {"everything": of.everything(current), "queue": of.queue(current, kind), "total": current.count}


def elements(b: Builder, current: FrontierState, kind: str) -> dict[str, Value]:
    """The same for kernels that use ``everything`` in ``element_at`` alone, which knows a range from a list."""
    return frontier(b, current, kind) | {"everything": b.frontiers.in_a_row(current, kind)}


def walked(how: int, seen: Expr) -> list[Node]:
    """Nodes that note for the trace how edges were walked, and how many."""
    return [Assign(DIRECTION, Const(how, " ".join(HOW[how]).strip())), Assign(SEEN, seen)]


def _identity(op: str, dtype: str) -> tuple[str, float]:
    """The identity, and the dtype in which values accumulate."""
    value = identity(REDUCTIONS[op], np.dtype(dtype))
    if op not in ("any", "all", "or") and dtype.startswith("float"):
        return "float64", float(value)
    return "int64", min(int(value), 2**63 - 1)


def identity_of(op: str, dtype: str) -> Expr:
    """The identity, typed as what values accumulate in."""
    return cast(*_identity(op, dtype))


# ---- kernels ---------------------------------------------------------------------------------------------


def calling(
    b: Builder, fn: Functor, kind: str, given: dict[str, Value], wants: str = "", rows: bool = False
) -> Made:
    """Return a function that calls a functor for an element ``x``; adds the parameter ``edges`` if it needs it.

    ``wants`` is :data:`VALUE` for steps that go on with the value. With ``rows`` each element has several values, and
    the function takes the number of one after the element.
    """
    if rows and kind == "vertex":
        return Made(of_value, {"functor": b.calling(fn, "value", ("v", "i"), wants)})
    if kind != "edge":
        return Made(of_one, {"functor": b.calling(fn, kind, ("v",) if kind == "vertex" else ("i",), wants)})
    place = "edge value" if rows else "edge"
    names = arguments(fn, place)
    given["edges"] = Call(
        "Edges",
        b.sources() if "src" in names else 0,
        b.lists("out")[1] if "dst" in names else 0,
        b.weights() if "weight" in names else 0,
    )
    functor = b.calling(fn, place, ("src", "dst", "edge", "weight", *(("i",) if rows else ())), wants)
    named = {name: name in names for name in ("src", "dst", "weight")}
    return Made(of_edge_value if rows else of_edge, {"functor": functor, **named})


def of_one(functor: Callee) -> Callable[..., Any]:
    """Return a function that calls a functor of a vertex, or of a number."""

    def call(p, C, slot, x, edges):
        return functor(p, C, slot, x)

    return call


def of_value(functor: Callee) -> Callable[..., Any]:
    """Return a function that calls a functor of a vertex and of the number of one of its values."""

    def call(p, C, slot, x, c, edges):
        return functor(p, C, slot, x, c)

    return call


def of_edge(functor: Callee, src: bool, dst: bool, weight: bool) -> Callable[..., Any]:
    """Return a function that calls a functor of an edge, and loads what it takes of the edge's ends and weight."""

    def call(p, C, slot, x, edges):
        source = np.int64(edges.sources[x]) if src else 0
        target = np.int64(edges.targets[x]) if dst else 0
        value = edges.weights[x] if weight else 0
        return functor(p, C, slot, source, target, x, value)

    return call


def of_edge_value(functor: Callee, src: bool, dst: bool, weight: bool) -> Callable[..., Any]:
    """The same for a functor of an edge and of the number of one of its values."""

    def call(p, C, slot, x, c, edges):
        source = np.int64(edges.sources[x]) if src else 0
        target = np.int64(edges.targets[x]) if dst else 0
        value = edges.weights[x] if weight else 0
        return functor(p, C, slot, source, target, x, value, c)

    return call


def reduction(op: str, dtype: str) -> dict[str, Constant]:
    """Constants ``add``, ``identity`` and ``real`` of a shipped reduction into a field or scalar of a dtype."""
    accumulated, value = _identity(op, dtype)
    real = accumulated == "float64"
    takes = REDUCTIONS[op].takes
    return {"add": Made(adding, {"op": op, "takes": takes, "real": real}), "identity": value, "real": real}


def combining(b: Builder, made: Reduction, dtype: str) -> dict[str, Constant]:
    """Constants ``add``, ``identity`` and ``real`` of any reduction, whose ``add`` may call a user's function."""
    join = join_of(b, made, dtype)
    if join is None:
        found = reduction(made.name, dtype)
        return found | {"add": Made(apart, {"add": found["add"]})}
    real = join.constants["real"]
    add = Made(joining_values, {"join": join, "takes": made.takes, "real": real})
    return {"add": add, "identity": made.start(np.dtype(dtype)).item(), "real": real}


def join_of(b: Builder, made: Reduction, dtype: str) -> Made | None:
    """What calls a user's function for two results; None for shipped reductions."""
    if made.runtime:
        return None
    real = made.real(np.dtype(dtype))
    return Made(joining, {"combine": b.combining(made.combine, "float64" if real else "int64"), "real": real})


def apart(add: Callee) -> Callable[..., Any]:
    """A shipped combination, which needs no place to note what went wrong."""

    def bring(C, slot, result, value):
        return add(result, value)

    return bring


def joining(combine: Callee, real: bool) -> Callable[..., Any]:
    """What makes one result of two by a user's function."""

    def join(C, slot, first, second):
        made = combine(C, slot, first, second)
        return np.float64(made) if real else integer(made)

    return join


def joining_values(join: Callee, takes: str, real: bool) -> Callable[..., Any]:
    """What brings one more value into a result by a user's function, as :func:`adding` does by one that is shipped."""
    take = taking(takes, real)

    def bring(C, slot, result, value):
        return join(C, slot, result, np.float64(take(value)) if real else take(value))

    return bring


def adding(op: str, takes: str, real: bool) -> Callable[..., Any]:
    """Return a function that combines a value with a result, a float64 if ``real`` and an int64 if not."""
    combine, take = shipped(op), taking(takes, real)

    def add(result, value):
        return combine(result, take(value))

    return add


def taking(takes: str, real: bool) -> Callable[..., Any]:
    """Return a function that converts a functor's value to what is combined."""
    truths, bits = takes == "truth", takes == "bits"

    def take(value):
        if truths:
            return np.int64(truth(value))
        if bits:
            return bits_of(value)
        if real:
            return value
        return integer(value)

    return take


def nearer(op: str) -> Callable[..., Any]:
    """Return a function for argmin (argmax) that combines an edge with the best one so far, of key ``best``."""

    def least(best, result, value, far):
        key = key_up(value)
        if key < best or (key == best and far < result):
            best = key
            result = far
        return best, result

    def greatest(best, result, value, far):
        key = key_down(value)
        if key < best or (key == best and far < result):
            best = key
            result = far
        return best, result

    return {"argmin": least, "argmax": greatest}[op]


def slot_of_edge(renumbered: bool) -> Callable[..., Any]:
    """Return a function that gives the slot of the edge at place ``k``; ``renumbered`` as :func:`adjacency` has it."""

    def slot_at(lists, k):
        return np.int64(lists.in_edges[k]) if renumbered else np.int64(k)

    return slot_at


def weight_of_edge(weighted: bool) -> Callable[..., Any]:
    """Return a function that gives the weight of the edge of slot ``e``, or 0 unless ``weighted``."""

    def weight_at(lists, e):
        return lists.weights[e] if weighted else 0

    return weight_at


def visited(
    b: Builder, direction: str, names: Sequence[str], edge: bool, by_weight: bool
) -> tuple[Call, dict[str, Constant]]:
    """Lists that an advance walks, as :func:`adjacency` gives them, or those that are sorted by weight.

    The constant ``placed``, whether weights are read by place, is true of the latter.
    """
    if not by_weight:
        lists, constants = adjacency(b, direction, names, edge)
        return lists, constants | {"placed": False}
    numbered, layout = edge or "edge" in names, b.layout
    assert layout.weights is not None

    def sorted_(part: str, dtype: str) -> Expr:
        return b.array(f"{part}_by_weight_{direction}", Derived(f"{part} by weight", direction), dtype)

    slots: Value = sorted_("slots", layout.offsets) if numbered else 0
    ends, weights = sorted_("ends", layout.ids), sorted_("weights", layout.weights)
    made = Call("Lists", b.lists(direction)[0], ends, slots, weights)
    return made, {"renumbered": numbered, "weighted": "weight" in names, "placed": True}


def adjacency(b: Builder, direction: str, names: Sequence[str], edge: bool = False) -> tuple[Call, dict[str, Constant]]:
    """Lists of a direction, and what of an edge is loaded for functors that take these names.

    The lists are :class:`frontier.compile.argument_tuples.Lists`. Constants: ``renumbered``, whether the slot of an
    edge is looked up by its place among the in-edges (``edge`` asks for it in any case), and ``weighted``. Weights of
    mirrored graphs are the same for both.
    """
    weighted = "weight" in names
    named = edge or "edge" in names or (weighted and not b.layout.mirrored)
    renumbered = direction == "in" and named
    offsets, ends = b.lists(direction)
    made = Call("Lists", offsets, ends, b.in_edges() if renumbered else 0, b.weights() if weighted else 0)
    return made, {"renumbered": renumbered, "weighted": weighted}
