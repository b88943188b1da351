"""Advance: from the frontier along its edges to the next frontier.

For every visited edge the functor decides whether its far end (or the edge itself) is in the next frontier. ``python``
defines the meaning. ``lower`` chooses the phases, and ``switch`` between push and pull. ``cpu`` and ``cuda`` have the
kernels: one file for each load-balancing strategy of a push, and one for pull. ``sample`` is ``fr.sample``, ``unique``
the operator Unique. ``lists`` are those that are sorted by weight, ``edges`` is what all balances share, ``heads`` are
lists for pulls along edges far away, ``holding`` is for steps that hold some vertices back, and ``parting`` for those
that put some aside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from frontier.errors import FrontierError
from frontier.functors.functor import arguments
from frontier.graph.by_weight import why_not_by_weight
from frontier.operators.advance.sample import Sample
from frontier.operators.shared.reductions import REDUCTIONS
from frontier.program.frontiers import Frontier
from frontier.program.step import Functor, Operator, Over

if TYPE_CHECKING:
    from frontier.backends.python.interpreter import Context
    from frontier.lowering.builder import Builder
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.elementwise.split import Split
    from frontier.program.problem import Problem
    from frontier.program.schedule import Schedule

__all__ = ["Advance"]


class Advance(Operator):
    """Visit the edges of the frontier; the far ends that the functor accepts are the next frontier.

    The far end of an edge is the endpoint that is not in the frontier: ``dst``, or ``src`` with ``edges="in"``.

    Parameters
    ----------
    fn : function of the problem and any of ``src, dst, edge, weight`` -> bool
        Called once for every visited edge. ``src`` and ``dst`` are always source and target as the graph stores them,
        in push and in pull, along out-edges and in-edges.
    where : function of the problem and the far end -> bool, optional
        Only edges whose far end satisfies it are visited. It may be evaluated before any, some or
        all of the far end's edges; a pull stops searching for a vertex when it is false.
    output : {"vertex", "edge", None}
        What the next frontier consists of: accepted far ends, or accepted edges. None: the frontier does not change.
    unique : {"exact", "claimed", "cull"}
        ``exact``: the step removes duplicates. ``claimed``: a promise that the functor accepts an element at most
        once in a step, as with a compare-and-swap. ``cull``: a promise that processing an element twice is harmless.
    edges : {"out", "in"}
        ``"in"`` follows in-edges: the vertex of the frontier is ``dst`` and the far end is ``src``.
    part : slice or Sample, optional
        Visit only this part of each vertex's edges: ``slice(0, 2)`` the first two, ``fr.sample(2)`` two random ones.
    stop : function of the problem, the vertex of the frontier and ``weight`` -> bool, optional
        Visit each vertex's edges in ascending order of weight, up to the first for which this is true. It must stay
        true for all that follow. It may be evaluated before or after calls at other edges have changed fields. The
        graph needs lists sorted by weight, which are made once: see :meth:`frontier.Graph.sorted_by_weight`.
    descending : bool
        With ``stop``: the heaviest edges come first.
    over, schedule
        See :class:`frontier.program.step.Step`.

    Notes
    -----
    Over a frontier of edges it is advance over the set of their far ends. Work: the edges of the
    frontier in push; in pull at most the in-edges of the vertices for which ``where`` holds.
    With ``part`` it is a push with the balance ``thread``, which is slow for very long adjacency lists; also with
    ``stop`` it is a push.

    What the functor writes may be read by its calls at other edges in the same step. Where a round must see only the
    values of the round before, write to a second field and Swap, or use Gather.

    Modelled on Gunrock's advance (Wang et al., PPoPP 2016) and Ligra's edgeMap.

    Examples
    --------
    >>> def visit(p, dst):
    ...     return fr.atomic_cas(p.level, dst, -1, p.depth) == -1
    >>> class Levels(fr.Enactor):
    ...     loop = fr.Loop(fr.Advance(visit), count="depth")
    >>> p = fr.Problem(fr.path(4), level=fr.vertex("int32", [0, -1, -1, -1]), depth=fr.scalar("int32"))
    >>> Levels(p).run(fr.Frontier(p.graph, [0])).level
    array([0, 1, 2, 3], dtype=int32)
    """

    name = "advance"
    exchanges_inside = True
    fills_record = True
    divides = True
    chooses_direction = True

    #: What holds vertices back, and the scalar that counts them; see :mod:`frontier.operators.advance.holding`.
    hold: Functor | None = None
    held: str | None = None
    #: What keeps vertices in the next frontier, and the Split that adds the others to a pile; see
    #: :mod:`frontier.operators.advance.parting`.
    keep: Functor | None = None
    split: Split | None = None

    def __init__(
        self,
        fn: Functor,
        where: Functor | None = None,
        output: str | None = "vertex",
        unique: str = "exact",
        edges: str = "out",
        part: slice | Sample | None = None,
        stop: Functor | None = None,
        descending: bool = False,
        over: Over = None,
        schedule: Schedule | None = None,
    ) -> None:
        super().__init__(over, schedule)
        _choose("output", output, ("vertex", "edge", None))
        _choose("unique", unique, ("exact", "claimed", "cull"))
        _choose("edges", edges, ("out", "in"))
        self.fn, self.where, self.output, self.unique, self.edges = fn, where, output, unique, edges
        self.part = _checked_part(part)
        self.passes_through = output is None
        arguments(fn, "edge")
        self.near, self.far = ("src", "dst") if edges == "out" else ("dst", "src")
        if where is not None:
            arguments(where, self.far)
        self.stop, self.descending = stop, descending and stop is not None
        if stop is not None:
            arguments(stop, f"{self.near} weight")
            if self.part is not None:
                raise FrontierError("Advance(part=..., stop=...): choose one of them")

    def functors(self) -> Iterator[tuple[Functor, str]]:
        yield self.fn, "edge"
        if self.where is not None:
            yield self.where, self.far
        if self.stop is not None:
            yield self.stop, f"{self.near} weight"

    def stands_on(self, f: Frontier) -> Frontier:
        from frontier.operators.advance.python import standing

        return f if f.kind == "vertex" else Frontier(f.graph, standing(self, f))

    def splits(self, p: Problem) -> bool:
        return self.part is None and self.hold is None and self.stop is None and self.keep is None

    def partial(self) -> Iterator[tuple[str, Any]]:
        if self.held is not None:
            yield self.held, REDUCTIONS["sum"]

    def check(self, p: Problem) -> None:
        super().check(p)
        if isinstance(self.part, Sample):
            self.part.check(p)
        reason = "" if self.stop is None else why_not_by_weight(p.graph)
        if reason:
            raise FrontierError(f"{self!r} needs lists sorted by weight, which the graph cannot have: {reason}")

    def wants(self, after: str) -> str:
        return after if self.own else "" if self.part or self.stop else self.edges

    def kinds_after(self, kinds: frozenset[str], piles: Mapping[str, str]) -> frozenset[str]:
        return frozenset({self.output}) if self.output else kinds

    def may_pull(self, schedule: Schedule) -> bool:
        """Pull needs vertices to come out; left to choose, only a ``where`` makes it worth while."""
        if self.output == "edge" or self.part or self.stop or self.hold or self.keep or schedule.direction == "push":
            return False
        return self.where is not None or schedule.direction == "pull"

    def interpret(self, context: Context, f: Frontier) -> Frontier:
        """Run on the python backend."""
        from frontier.operators.advance.python import interpret

        return interpret(self, context, f)

    def lower(self, builder: Builder, current: FrontierState) -> None:
        """Add the phases of this step to a loop function."""
        from frontier.operators.advance.lower import lower

        lower(self, builder, current)


def _choose(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    if value not in choices:
        raise FrontierError(f"Advance({name}={value!r}): choose from {', '.join(map(repr, choices))}")


def _checked_part(part: slice | Sample | None) -> tuple[int, int | None] | Sample | None:
    if part is None or isinstance(part, Sample):
        return part
    if not isinstance(part, slice):
        raise FrontierError(f"part={part!r}: a slice, as slice(0, 2), or fr.sample(k)")
    first, stop, stride = part.start or 0, part.stop, part.step
    if stride not in (None, 1) or first < 0 or (stop is not None and stop < 0):
        raise FrontierError(f"part={part!r}: a slice with non-negative ends and no stride")
    if first == 0 and stop is None:
        return None
    return first, stop
