"""Intersect: the common neighbours of the endpoints of every edge in the frontier.

``cuda_table`` is for vertices with long lists.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.errors import FrontierError
from frontier.functors.functor import arguments, location
from frontier.operators.shared.kernels import kernels
from frontier.operators.shared.reductions import check_into, combination, find, reduced, registered
from frontier.program.frontiers import Frontier
from frontier.program.step import Functor, Operator, Over, check_field

if TYPE_CHECKING:
    from frontier.backends.python.interpreter import Context
    from frontier.graph.graph import Graph
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.program.problem import Problem
    from frontier.program.schedule import Schedule

__all__ = ["Intersect"]


class Intersect(Operator):
    """Call the functor for every edge (u, v) of the frontier and every common out-neighbour w of u and v.

    Parameters
    ----------
    fn : function of the problem and any of ``u, v, w`` (vertices), ``uv, uw, vw`` (edge slots)
        Called exactly once for every slot ``uv`` of the frontier and every pair of an out-edge ``uw`` of u and an
        out-edge ``vw`` of v with the same target w. So with parallel edges there is one call for every such pair, and
        with self-loops w may be u or v. Many calls share a vertex, so the functor must use atomics to write.
    op : {"sum", "min", "max", "any", "all", "or"}, or the name of a registered reduction, optional
        Reduces the functor's values, as Reduce does. Without it, they are ignored.
    into : str, optional
        Name of the scalar for the result; needed with ``op``. If there is no call, it gets the operation's identity.
    over, schedule
        See :class:`frontier.program.step.Step`.

    Notes
    -----
    The frontier does not change. Adjacency lists are sorted, so two lists of similar length are merged; a list many
    times longer than the other is searched instead. An undirected edge has two slots, so over all edges each triangle
    is visited six times.

    Examples
    --------
    >>> class Triangles(fr.Enactor):
    ...     loop = fr.Sequence(fr.Intersect(lambda p, u, v, w: u < v and v < w, "sum", "count"))
    >>> p = fr.Problem(fr.complete(5), count=fr.scalar("int64"))
    >>> int(Triangles(p).run(fr.Frontier.all(p.graph, "edge")).count)
    10
    """

    name = "intersect"
    passes_through = True
    divides = True
    near = "u"  # an edge belongs to the owner of its source
    reads_lists = True

    def __init__(
        self,
        fn: Functor,
        op: str | None = None,
        into: str | None = None,
        over: Over = None,
        schedule: Schedule | None = None,
    ) -> None:
        super().__init__(over, schedule)
        if (op is None) != (into is None):
            raise FrontierError(f"Intersect(op={op!r}, into={into!r}): both or neither")
        self.reduction = find(op, "Intersect") if op is not None else None
        self.fn, self.op, self.into = fn, op, into
        arguments(fn, "common")

    def functors(self) -> Iterator[tuple[Functor, str]]:
        yield self.fn, "common"

    def valued(self) -> Iterator[tuple[Functor, str]]:
        if self.op is not None:
            yield self.fn, "Intersect"

    def partial(self) -> Iterator[tuple[str, Any]]:
        if self.into is not None:
            yield self.into, self.reduction

    def combining(self) -> Iterator[Functor]:
        yield from registered(self.reduction)

    def into_fields(self) -> Iterator[tuple[Functor, str]]:
        if self.into is not None:
            yield self.fn, self.into

    def check(self, p: Problem) -> None:
        super().check(p)
        if self.op is not None and self.into is not None:
            check_field(p, self.into, ("scalar",), "into")
            check_into(self.op, self.reduction, self.into, p.scalars[self.into].dtype, "Intersect")

    def interpret(self, context: Context, f: Frontier) -> Frontier:
        """Run on the python backend."""
        from frontier.backends.python.view import stored

        if f.kind != "edge":
            raise FrontierError("Intersect runs over a frontier of edges")
        value = context.functor(self.fn, arguments(self.fn, "common"))
        values = (value(triple) for slot in f.ids.tolist() for triple in _common(f.graph, slot))
        if self.reduction is None or self.into is None:
            for _ in values:
                pass
            return f
        scalar = context.problem.scalars[self.into]
        combine = combination(self.reduction, scalar.dtype, context.plain)
        result = reduced(self.reduction, values, scalar.dtype, location(self.fn), combine)
        scalar[0] = stored(f"p.{self.into}", result, scalar.dtype)
        return f

    def lower(self, builder: Builder, current: FrontierState) -> None:
        """Add the phase of this step to a loop function."""
        if current.kinds != {"edge"}:
            raise FrontierError("Intersect runs over a frontier of edges")
        kernels(builder, "intersect").lower(self, builder, current)


def _common(g: Graph, uv: int) -> Iterator[dict[str, Any]]:
    """What the functor may ask for, for every pair of slots that lead from an edge's ends to one vertex."""
    u, v = int(g.sources[uv]), int(g.targets[uv])
    first = int(g.offsets[v])
    others = g.targets[first : int(g.offsets[v + 1])]
    for uw in range(int(g.offsets[u]), int(g.offsets[u + 1])):
        w = g.targets[uw]
        for vw in range(first + np.searchsorted(others, w), first + np.searchsorted(others, w, side="right")):
            triple = {"u": u, "v": v, "w": w, "uv": uv, "uw": uw, "vw": vw}
            yield {name: np.int64(number) for name, number in triple.items()}
