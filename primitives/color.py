"""Colouring of the vertices: neighbours have different colours, and few colours are used.

A greedy algorithm visits the vertices in some order and gives each the least colour that none of its neighbours has.
In parallel, a vertex waits for its neighbours that come before it in that order, and no longer (Jones, Plassmann: A
parallel graph coloring heuristic, SIAM Journal on Scientific Computing 14, 1993). The order is by descending degree,
which needs few colours, and random among equal degrees (Welsh, Powell, 1967; Hasenplaug, Kaler, Schardl, Leiserson:
Ordering heuristics for parallel graph coloring, SPAA 2014).

Programs differ in how a vertex learns its neighbours' colours. It gathers them (:mod:`primitives._coloring_gathered`),
or is told, which takes less time on a GPU (:mod:`primitives._coloring_pushed`). Where no vertex has many edges, one
number for each vertex takes still less (:mod:`primitives._coloring_small`).

Other orders are given as a rank of each vertex, and the same program, without the step that computes ranks, finds what
the greedy algorithm would: by descending degree (Welsh, Powell), or the reverse of the order in which peeling removes
vertices (smallest last: Matula, Beck, 1983).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.primitives import _coloring_gathered as gathered
from frontier.primitives import _coloring_pushed as told
from frontier.primitives import _coloring_small as small
from frontier.primitives._arguments import check_seed
from frontier.primitives._coloring_gathered import ColoringGathered, ColoringInOrder
from frontier.primitives._coloring_pushed import Coloring, ColoringWithoutHubs
from frontier.primitives._coloring_small import ColoringOfLowDegrees, ColoringPacked
from frontier.primitives._oriented import simple
from frontier.primitives.onion_layers import onion_layers
from frontier.registry import Argument, primitive

__all__ = ["ColorResult", "Coloring", "ColoringInOrder", "ColoringWithoutHubs", "color"]

STRATEGIES = ("largest_log_first", "largest_first", "smallest_last")


@dataclass(frozen=True, eq=False, repr=False)
class ColorResult(fr.Result, columns=("color",)):
    """Result of :func:`color`.

    Attributes
    ----------
    color : ndarray, shape (n,)
        The colour of v, from 0, in the dtype of vertex ids.
    count : int
        Number of colours.
    """

    color: NDArray[Any]
    count: int


def _variant(g: fr.Graph) -> tuple[type[fr.Enactor], dict[str, Any]]:
    """Return the fastest program for a graph, and its fields; all find the same colours."""
    if not g.placement.massively_parallel or g.placement.divides:  # parts cannot set bits of each other's vertices
        return ColoringGathered, gathered.fields(g)
    if small.lowest_degrees(g):
        return ColoringOfLowDegrees, small.LOW
    if g.max_degree <= small.MOST:
        return ColoringPacked, small.PACKED
    return Coloring if told.classes(g) > 0 else ColoringWithoutHubs, told.fields(g)


def _colored(
    g: fr.Graph, program: type[fr.Enactor], fields: dict[str, Any], schedule: fr.Schedule | None
) -> ColorResult:
    """Return what one of the programs finds."""
    p = fr.Problem(
        g, color=fr.vertex(g.id_dtype, -1), **fields, rounds=fr.scalar("int64"), count=fr.scalar("int64")
    )
    if g.num_vertices:
        program(p, schedule).run()
    return ColorResult(p.color, int(p.count))


def _ranks(g: fr.Graph, strategy: str, schedule: fr.Schedule | None) -> Any:
    """Return the rank of each vertex of a simple graph by a strategy; lower ones are coloured first."""
    if strategy == "largest_first":
        return -g.out_degree.astype(np.int64)
    return -onion_layers(g, schedule=schedule).layer.astype(np.int64)


def _given_order(g: fr.Graph, order: Any) -> Any:
    """Return an order that a user gives, one number for each vertex, where the graph is."""
    ranks = np.asarray(order) if isinstance(order, (list, tuple, range)) else order
    if getattr(ranks, "shape", None) != (g.num_vertices,) or (g.num_vertices and ranks.dtype.kind not in "iub"):
        raise GraphError(f"order must have an integer for each of the {g.num_vertices} vertices")
    return g.placement.memory.moved(ranks.astype(np.int64))


@primitive(
    "color", "a colouring of the vertices",
    arguments=(
        Argument(
            "--strategy", "who is coloured first (default: largest_log_first)", type=str, choices=STRATEGIES
        ),
    ),
    report=lambda g, r: {"colours": r.count},
)  # fmt: skip
def color(
    g: fr.Graph,
    *,
    strategy: str = "largest_log_first",
    order: Any = None,
    seed: int = 0,
    schedule: fr.Schedule | None = None,
) -> ColorResult:
    """Give every vertex a colour, such that neighbours have different ones and few are used.

    Parameters
    ----------
    g : Graph
        The direction of edges does not matter, and self-loops are ignored. A directed graph is first copied without
        directions.
    strategy : {"largest_log_first", "largest_first", "smallest_last"}
        In which order vertices take the least colour that is free. ``largest_log_first``: by descending number of bits
        of their degree, and at random among these, which is the fastest. ``largest_first``: by descending degree, ties
        by id; these are the colours of NetworkX. ``smallest_last``: by descending onion layer, ties by id, which needs
        at most one colour more than the degeneracy; NetworkX has the same bound, and breaks ties in another way.
    order : array_like of int, shape (n,), optional
        An order of your own in place of the strategy: vertices of lower numbers come first, ties by id.
    seed : int
        Decides the order of vertices whose degrees have as many bits; another one gives other colours, perhaps fewer.
        The other strategies do not use it.
    schedule : Schedule, optional

    Returns
    -------
    ColorResult
        It depends on the graph, the order and the seed only. The number of colours is at most the highest degree plus
        one.

    Raises
    ------
    GraphError
        If there is no such strategy, or not one integer of an order for each vertex.

    Notes
    -----
    O(n + m) work. The number of passes is that of the longest path along which ranks rise, on a GPU among vertices
    that are no hubs; for these it needs 8 bytes for each edge slot. Elsewhere, a vertex that needs more than 62 colours
    walks its edges once more for each further 62, in a pass of its own.

    Examples
    --------
    >>> result = fr.color(fr.star(5))
    >>> result.count, result.color
    (2, array([0, 1, 1, 1, 1], dtype=int32))
    """
    check_seed(seed)
    if strategy not in STRATEGIES:
        raise GraphError(f"strategy={strategy!r}: choose from {', '.join(STRATEGIES)}")
    by_strategy = order is None and strategy != STRATEGIES[0]
    plain = simple(g) if g.directed or by_strategy else g
    if order is not None or by_strategy:
        ranks = _ranks(plain, strategy, schedule) if by_strategy else _given_order(g, order)
        return _colored(plain, ColoringInOrder, gathered.fields(plain, ranks), schedule)
    program, fields = _variant(plain)
    drawn = {"seed": fr.scalar("int64", seed)}
    found = _colored(plain, program, drawn | fields, schedule)
    if program is ColoringPacked and found.count > small.COLORS:  # more than it has bits for
        found = _colored(plain, ColoringWithoutHubs, drawn | told.fields(plain), schedule)
    return found
