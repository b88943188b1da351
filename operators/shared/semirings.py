"""``fr.semiring`` and ``fr.relax``: the functors of products of a matrix and a vector over a semiring.

The functors are templates, in which ``p.x`` and ``p.w`` stand for the fields that the caller names, and ``src`` for the
far end. What comes out is a plain functor, as a user would have written it.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from frontier.errors import FrontierError
from frontier.functors.atomics import atomic_max, atomic_min, atomic_or
from frontier.operators.shared.reductions import GATHERED, REDUCTIONS

if TYPE_CHECKING:
    from frontier.program.step import Functor

__all__ = ["relax", "semiring"]

# ---- multiplication ----------------------------------------------------------------------------------------


def times(x, w):
    """The product."""
    return x * w


def plus(x, w):
    """The sum."""
    return x + w


def least(x, w):
    """The lesser."""
    return min(x, w)


def most(x, w):
    """The greater."""
    return max(x, w)


def both(x, w):
    """Whether neither is zero."""
    return x != 0 and w != 0


#: What takes a value of the far end and a weight.
OF_BOTH: dict[str, Functor] = {"times": times, "plus": plus, "min": least, "max": most, "and": both}


def with_weight(times):
    """The weight is the graph's."""

    def product(p, src, weight):
        return times(p.x[src], weight)

    return product


def with_field(times):
    """The weight is in a field of edges."""

    def product(p, src, edge):
        return times(p.x[src], p.w[edge])

    return product


def first(p, src):
    """The value of the far end."""
    return p.x[src]


def second(p, weight):
    """The weight."""
    return weight


def second_field(p, edge):
    """The weight, which is in a field of edges."""
    return p.w[edge]


def pair(p):
    """1 for each edge."""
    return 1


def secondi(p, src):
    """The far end itself."""
    return src


#: All of them, as messages list them; those that take the value of a far end, and those that take a weight.
PRODUCTS = (*OF_BOTH, "first", "second", "pair", "secondi")
VALUED, WEIGHTED = (*OF_BOTH, "first"), (*OF_BOTH, "second")

# ---- addition ----------------------------------------------------------------------------------------------

#: The operations of Gather that GraphBLAS calls otherwise. Its "any" takes any value, which no result should depend on.
SUMS = {"plus": "sum", "and": "all"}
NOT_SUMS = (*SUMS.values(), "any")


def lower(p, dst, new):
    """Keep the lesser of two; true if that is the new one."""
    return new < p.x[dst] and new < atomic_min(p.x, dst, new)


def raised(p, dst, new):
    """Keep the greater of two; true if that is the new one."""
    return new > p.x[dst] and new > atomic_max(p.x, dst, new)


def joined(p, dst, new):
    """Keep the bits of both; true if the new one has further ones."""
    return new & ~p.x[dst] != 0 and new & ~atomic_or(p.x, dst, new) != 0


#: What may be repeated without harm, so that a value can be improved where it is.
KEPT: dict[str, Functor] = {"min": lower, "max": raised, "or": joined}


def relaxing(product, keep):
    """Improve the value of dst by the edge's product."""

    def relax(p, src, dst):
        return keep(p, dst, product(p, src))

    return relax


def relaxing_with_weight(product, keep):
    """The same, with the graph's weight."""

    def relax(p, src, dst, weight):
        return keep(p, dst, product(p, src, weight))

    return relax


def relaxing_with_field(product, keep):
    """The same, with a field of edges."""

    def relax(p, src, dst, edge):
        return keep(p, dst, product(p, src, edge))

    return relax


# ---- what users call ---------------------------------------------------------------------------------------


def semiring(name: str, x: str | None = None, *, weight: str | None = None, edges: str = "in") -> dict[str, Any]:
    """Make the arguments of a Gather that multiplies the graph's matrix by a vector: ``fr.Gather(**semiring(...))``.

    ``fr.Gather(**fr.semiring("plus_times", "x"), into="y")`` sets ``y[v]`` to the sum of ``x[u] * weight`` over the
    edges from u to v.

    Parameters
    ----------
    name : str
        ``"min_plus"`` and the like: addition, underscore, multiplication. Additions are the operations of Gather:
        ``plus`` (sum), ``min``, ``max``, ``or`` (of bits), ``and`` (all), ``argmin``, ``argmax``, ``mode``, and
        registered reductions. Multiplications of x[u] and the weight are ``times``, ``plus``, ``min``, ``max``, ``and``
        (neither is zero), ``first`` (x[u]), ``second`` (the weight), ``pair`` (1) and ``secondi`` (u itself).
    x : str, optional
        The vector: a vertex field. ``second``, ``pair`` and ``secondi`` take none.
    weight : str, optional
        An edge field with the weights; without it they are the graph's.
    edges : {"in", "out"}
        ``"in"`` multiplies the transposed matrix, ``y[v]`` over edges u -> v; ``"out"`` the matrix itself, ``y[v]``
        over edges v -> u.

    Returns
    -------
    dict
        ``fn``, a functor as one could have written it, ``op`` and ``edges``.

    Raises
    ------
    FrontierError
        There is no such semiring, or it takes other arguments.

    Examples
    --------
    >>> import frontier as fr
    >>> g = fr.from_edges([0, 0, 1], [1, 2, 2], [2.0, 5.0, 4.0], directed=True).to("python")
    >>> p = fr.Problem(g, x=fr.vertex("float64", [1, 10, 100]), y=fr.vertex("float64"))
    >>> _ = fr.Gather(**fr.semiring("plus_times", "x"), into="y", over="vertices")(p)
    >>> p.y
    array([ 0.,  2., 45.])
    """
    add, multiply = _parts("semiring", name, [*SUMS, *(op for op in (*REDUCTIONS, *GATHERED) if op not in NOT_SUMS)])
    _check("semiring", name, multiply, x, weight, edges)
    return {"fn": _product(name, multiply, x, weight, edges == "out"), "op": SUMS.get(add, add), "edges": edges}


def relax(name: str, x: str, *, weight: str | None = None, edges: str = "out") -> dict[str, Any]:
    """Make the arguments of an Advance that adds such products to the vector itself: ``fr.Advance(**relax(...))``.

    ``fr.Advance(**fr.relax("min_plus", "distance"))`` sets ``distance[dst]`` to ``distance[src] + weight`` if that is
    less, and accepts dst then; with it, a loop computes shortest paths.

    Parameters
    ----------
    name : str
        Addition ``min``, ``max`` or ``or``, underscore, a multiplication of :func:`semiring` that takes x:
        ``times``, ``plus``, ``min``, ``max``, ``and`` or ``first``.
    x : str
        The vector: a vertex field of 32 or 64 bits, for ``or`` of integers.
    weight : str, optional
        An edge field with the weights; without it they are the graph's.
    edges : {"out", "in"}
        With ``"in"``, ``x[src]`` is improved by ``x[dst]``.

    Returns
    -------
    dict
        ``fn``, a functor as one could have written it, and ``edges``.

    Raises
    ------
    FrontierError
        There is no such semiring, or it takes other arguments.

    Examples
    --------
    >>> import frontier as fr
    >>> g = fr.from_edges([0, 0, 1], [1, 2, 2], [2.0, 5.0, 4.0], directed=True).to("python")
    >>> p = fr.Problem(g, width=fr.vertex("float64", [float("inf"), 0, 0]))
    >>> _ = fr.Loop(fr.Advance(**fr.relax("max_min", "width")))(p, fr.Frontier(g, [0]))
    >>> p.width
    array([inf,  2.,  5.])
    """
    add, multiply = _parts("relax", name, list(KEPT), VALUED)
    _check("relax", name, multiply, x, weight, edges)
    return {"fn": _relaxation(name, add, multiply, x, weight, edges == "in"), "edges": edges}


def _parts(who: str, name: Any, sums: list[str], products: tuple[str, ...] = PRODUCTS) -> tuple[str, str]:
    add, _, multiply = name.rpartition("_") if isinstance(name, str) else ("", "", "")
    if add not in sums or multiply not in products:
        raise FrontierError(
            f"{who}({name!r}): an addition of {', '.join(sums)}, an underscore and a multiplication of "
            f"{', '.join(products)}, such as 'min_plus'"
        )
    return add, multiply


def _check(who: str, name: str, multiply: str, x: Any, weight: Any, edges: Any) -> None:
    """Raise FrontierError unless a product takes what is given."""
    if (multiply in VALUED) != (x is not None):
        takes = "takes values of a vertex field: name it" if x is None else "takes no field of vertices"
        raise FrontierError(f"{who}({name!r}, {x!r}): {multiply!r} {takes}")
    if weight is not None and multiply not in WEIGHTED:
        raise FrontierError(f"{who}({name!r}, weight={weight!r}): {multiply!r} takes no weights")
    for field in (x, weight):
        if field is not None and not (isinstance(field, str) and field.isidentifier()):
            raise FrontierError(f"{who}({name!r}): a field is given by its name, not {field!r}")
    if edges not in ("in", "out"):
        raise FrontierError(f"{who}({name!r}, edges={edges!r}): choose from 'in', 'out'")


# The same functor for the same arguments, so that steps which are made again and again find their code.


@lru_cache(maxsize=256)
def _product(name: str, multiply: str, x: str | None, weight: str | None, swapped: bool) -> Functor:
    if multiply in OF_BOTH:
        template = (with_weight if weight is None else with_field)(OF_BOTH[multiply])
    elif multiply == "second":
        template = second if weight is None else second_field
    else:
        template = {"first": first, "pair": pair, "secondi": secondi}[multiply]
    return _named(template, name, x, weight, swapped, "semiring")


@lru_cache(maxsize=256)
def _relaxation(name: str, add: str, multiply: str, x: str, weight: str | None, swapped: bool) -> Functor:
    of_weights = relaxing_with_weight if weight is None else relaxing_with_field
    template = of_weights if multiply in WEIGHTED else relaxing
    product = _product(name, multiply, x, weight, False)
    return _named(template(product, _named(KEPT[add], name, x)), name, None, None, swapped, "relax")


def _named(
    template: Callable[..., Any],
    name: str,
    x: str | None = None,
    weight: str | None = None,
    swapped: bool = False,
    who: str = "",
) -> Functor:
    """A template with the caller's names of fields in it; ``swapped`` for the other direction of edges.

    ``who`` has made it, for messages: nobody has written the line of the template that they would name otherwise.
    """
    fields, ends = {"x": x or "x", "w": weight or "w"}, {"src": "dst", "dst": "src"} if swapped else {}
    code = template.__code__.replace(
        co_name=name,
        co_names=tuple(fields.get(word, word) for word in template.__code__.co_names),
        co_varnames=tuple(ends.get(word, word) for word in template.__code__.co_varnames),
    )
    made = types.FunctionType(code, template.__globals__, name, None, template.__closure__)
    if who:
        made.__dict__["made_by"] = f"fr.{who}({name!r})"
    return made
