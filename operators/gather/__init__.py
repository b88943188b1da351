"""Gather: combine a value of every edge of a vertex to one value per vertex (neighbour reduce).

``phases`` is what backends share. ``cuda_kernels`` are those of most gathers on a GPU, ``cuda_pairs`` and ``cuda_rows``
of some; ``cpu_mode`` and ``cuda_mode`` find the most frequent value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from frontier.errors import FrontierError, FunctorError
from frontier.functors.functor import arguments, location
from frontier.operators.shared.kernels import kernels
from frontier.operators.shared.reductions import (
    ENDS,
    GATHERED,
    MODE,
    Reduction,
    check_into,
    combination,
    find,
    least,
    most_frequent,
    reduced,
    registered,
)
from frontier.program.frontiers import Frontier
from frontier.program.step import Functor, Operator, Over, check_alone, check_field

if TYPE_CHECKING:
    from frontier.backends.python.interpreter import Context
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.program.problem import Problem
    from frontier.program.schedule import Schedule

__all__ = ["Gather"]


class Gather(Operator):
    """Set ``p.into[v]`` to a reduction of the functor's values over the edges of v.

    Parameters
    ----------
    fn : function of the problem and any of ``src, dst, edge, weight`` -> number
        Without side effects. It must not read the field ``into``, unless ``inplace``. If ``into`` has several values a
        vertex, it takes ``i`` as well, and is called for each of them: what it returns is reduced to ``p.into[v, i]``.
    op : {"sum", "min", "max", "any", "all", "or", "argmin", "argmax", "mode"}, or the name of a registered reduction
        Floats accumulate in float64, integers in int64; a vertex without edges gets the identity of the operation.
        ``"or"`` is bitwise. ``"argmin"`` and ``"argmax"`` give the far end of the edge with the least or the greatest
        value: of several, the one with the smallest id; -1 if there is no edge. They rank NaN after all numbers.
        ``"mode"`` gives the most frequent of the values, which are integers: of several, the smallest; -1 if there is
        no edge, in an unsigned field the greatest number of its dtype.
    into : str
        A vertex field; one with several values (``shape=``) not with ``"argmin"``, ``"argmax"`` and ``"mode"``.
    edges : {"in", "out"}
        Whose edges: v is ``dst`` of its in-edges, or ``src`` of its out-edges.
    where : function of the problem and the far end -> bool, optional
        Only edges whose far end satisfies it count.
    inplace : bool
        Allow the functor to read ``into`` (Gauss-Seidel); results then depend on the schedule.
    over, schedule
        See :class:`frontier.program.step.Step`.

    Notes
    -----
    The frontier does not change. Work: the edges of the frontier. No atomics.

    Examples
    --------
    >>> class Sum(fr.Enactor):
    ...     loop = fr.Sequence(fr.Gather(lambda p, src: p.x[src], "sum", "total"))
    >>> p = fr.Problem(fr.star(4), x=fr.vertex("float64", [1, 2, 3, 4]), total=fr.vertex("float64"))
    >>> Sum(p).run(fr.Frontier.all(p.graph)).total
    array([9., 1., 1., 1.])
    """

    name = "gather"
    exchanges_inside = True
    passes_through = True
    divides = True

    def __init__(
        self,
        fn: Functor,
        op: str | Reduction,
        into: str,
        edges: str = "in",
        where: Functor | None = None,
        inplace: bool = False,
        over: Over = None,
        schedule: Schedule | None = None,
    ) -> None:
        super().__init__(over, schedule)
        if edges not in ("in", "out"):
            raise FrontierError(f"Gather(edges={edges!r}): choose from 'in', 'out'")
        self.reduction = None if op in GATHERED else find(op, "Gather", GATHERED)
        self.op = str(op) if self.reduction is None else self.reduction.name
        self.fn, self.into, self.edges = fn, into, edges
        self.where, self.inplace = where, inplace
        self.any_numbering = op not in ENDS and not inplace
        self.gains_by_degree = self.any_numbering and op != "mode"
        self.rows = _takes_i(fn)
        self.place = "edge value" if self.rows else "edge"
        arguments(fn, self.place)
        self.near, self.far = ("dst", "src") if edges == "in" else ("src", "dst")
        if where is not None:
            arguments(where, self.far)

    def functors(self) -> Iterator[tuple[Functor, str]]:
        yield self.fn, self.place
        if self.where is not None:
            yield self.where, self.far

    def valued(self) -> Iterator[tuple[Functor, str]]:
        yield self.fn, "Gather"

    def combining(self) -> Iterator[Functor]:
        yield from registered(self.reduction)

    def into_fields(self) -> Iterator[tuple[Functor, str]]:
        yield self.fn, self.into

    def splits(self, p: Problem) -> bool:
        """Whether what it gets from some edges can be combined: not ends or modes, nor truths that were numbers."""
        made = self.reduction
        if made is None or not made.runtime or self.inplace:
            return False
        return made.takes == "truth" or p.arrays[self.into].dtype.kind != "b"

    def folds(self) -> Iterator[tuple[str, Reduction]]:
        if self.reduction is not None:
            yield self.into, self.reduction

    def check(self, p: Problem) -> None:
        super().check(p)
        check_field(p, self.into, ("vertex",), "into", rows=True)
        self._check_rows(p.fields[self.into].width)
        check_alone(p, self.into, f"Gather(into={self.into!r})")
        check_into(self.op, self.reduction, self.into, p.arrays[self.into].dtype, "Gather")
        from frontier.program.functor_checks import check_functor, check_width

        for fn, _ in self.functors():
            found = check_functor(fn, p)
            if found is None:
                continue
            check_width(fn, found, p, p.fields[self.into].width)
            if self.into in found.reads and not self.inplace:
                raise FunctorError(
                    f"{location(fn)} reads field {self.into!r}, which this Gather writes: results would depend "
                    "on the order; gather into another field and Swap, or say inplace=True"
                )
            if found.writes:
                raise FunctorError(
                    f"{location(fn)} writes field {min(found.writes)!r}: the functor of a Gather has no side effects"
                )

    def _check_rows(self, width: int) -> None:
        """Raise unless the functor takes ``i`` where the field has several values, and only there."""
        if self.rows and not width:
            raise FunctorError(f"{location(self.fn)} takes i, but field {self.into!r} has one value each")
        if width and not self.rows:
            raise FrontierError(
                f"into: field {self.into!r} has {width} values each: the functor of a Gather into it takes i, too"
            )
        if width and self.op in GATHERED:
            raise FrontierError(f"into: field {self.into!r} has {width} values each, which {self.op!r} cannot give")

    def interpret(self, context: Context, f: Frontier) -> Frontier:
        """Run on the python backend."""
        from frontier.backends.python.view import stored

        if f.kind != "vertex":
            raise FrontierError("Gather runs over a frontier of vertices")
        g = context.problem.graph
        field = context.problem.arrays[self.into]
        value = context.functor(self.fn, arguments(self.fn, self.place))
        allowed = None if self.where is None else context.functor(self.where, arguments(self.where, self.far))
        made, edges = self.reduction, 0
        combine = combination(made, field.dtype, context.plain) if made is not None else None
        for v in f.ids.tolist():
            slots = (
                range(int(g.offsets[v]), int(g.offsets[v + 1]))
                if self.edges == "out"
                else g.in_edges[int(g.in_offsets[v]) : int(g.in_offsets[v + 1])].tolist()
            )
            edges += len(slots)
            ends = (context.edge(slot) for slot in slots)
            seen = (e for e in ends if allowed is None or allowed(e))
            if self.rows:
                assert made is not None
                those = list(seen)
                for i in np.arange(field.shape[1]):
                    values = (value({**e, "i": i}) for e in those)
                    result = reduced(made, values, field.dtype, location(self.fn), combine)
                    field[v, i] = stored(f"p.{self.into}[{v}, {i}]", result, field.dtype)
                continue
            if self.op == MODE:
                result = most_frequent((value(e) for e in seen), field.dtype, location(self.fn))
            elif made is None:
                result = least(self.op, ((value(e), e[self.far]) for e in seen))
            else:
                result = reduced(made, (value(e) for e in seen), field.dtype, location(self.fn), combine)
            field[v] = stored(f"p.{self.into}[{v}]", result, field.dtype)
        context.note(edges=edges, direction="pull" if self.edges == "in" else "push")
        return f

    def lower(self, builder: Builder, current: FrontierState) -> None:
        """Add the phase of this step to a loop function."""
        kernels(builder, "gather").lower(self, builder, current)


def _takes_i(fn: Functor) -> bool:
    code = getattr(fn, "__code__", None)
    return code is not None and "i" in code.co_varnames[1 : code.co_argcount]
