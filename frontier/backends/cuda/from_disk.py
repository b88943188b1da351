"""A run on a graph whose edges lie on a disk: threads of the host read windows of edges ahead, and the GPU takes them.

The host walks through the program, and each step is a kernel. A step along edges is a kernel for each window that has
any of the lists it wants, which runs on the elements of that window; where the arrays of edges begin is said so that
slots keep their numbers. So steps need no kernels of their own for this. All windows of a step are known when it
begins, so while one is processed, the next ones are read: the whole window, or the pages of the wanted lists, whichever
takes less time. The GPU reads a window where it lies in the host's memory, as its link is much faster than a disk.

Steps push: a search then reads each list once. Steps that look for edges anywhere, as Intersect does, and prefix sums
over edges have all edges brought to the host's memory, and say so if these do not fit.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from frontier import tracing
from frontier.backends.cuda.disk_windows import array_of, ring_of, spans, whole
from frontier.backends.cuda.execution import CudaExecution, code_of
from frontier.backends.python.hosted import Hosted, alone
from frontier.backends.python.interpreter import Interpretation
from frontier.backends.run.file_windows import AHEAD
from frontier.functors.functor import arguments
from frontier.lowering.inputs import GraphArray, Input
from frontier.program.effects import effects
from frontier.program.frontiers import Frontier
from frontier.program.step import captures_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.program.problem import Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Operator, Step

__all__ = ["DiskExecution"]

#: The arrays of edges that kernels read at the slots of out-edges, and at those of in-edges.
BY_SLOT = (GraphArray("targets"), GraphArray("targets", "words"), GraphArray("weights"), GraphArray("sources"))
BY_IN_SLOT = (GraphArray("in_sources"), GraphArray("in_sources", "words"), GraphArray("in_edges"))
EDGES = (*BY_SLOT, *BY_IN_SLOT)


class DiskExecution(Interpretation):
    """One run of a step."""

    _context: _Walk

    def __init__(self, step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule) -> None:
        self._memory = p.graph.placement.memory
        with self._memory.using():
            super().__init__(step, p, f, schedule, _Walk(p, schedule))

    def proceed(self, passes: int | None = None) -> int:
        """Go on for at most so many passes; how many were begun."""
        with self._memory.using("a run"):
            return super().proceed(passes)

    @property
    def read(self) -> int:
        """Bytes of edges that were read from files."""
        return self._context.read


class _OfWindow(CudaExecution):
    """One step on the elements of a window; ``addresses`` are those of the arrays of edges."""

    def __init__(
        self, step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule, addresses: dict[GraphArray, int]
    ) -> None:
        self._addresses = addresses
        super().__init__(step, p, f, schedule)

    def _input(self, name: str, given: Input) -> int:
        return 0 if given in EDGES else super()._input(name, given)

    def _prepare(self, again: bool = False) -> None:
        super()._prepare(again)
        for name, given in self._program.inputs.items():
            if isinstance(given, GraphArray) and given in EDGES:
                self._set(name, self._addresses.get(given, 0))


class _Walk(Hosted):
    """The interpreter's walk through a program, with steps along edges run window by window."""

    #: Bytes read.
    read = 0

    def __init__(self, p: Problem, schedule: ResolvedSchedule) -> None:
        super().__init__(p, schedule)
        self._schedule = schedule

    def _one(self, step: Operator, f: Any) -> Any:
        if all(place == "scalars" for _, place in step.functors()):
            return step.interpret(self, f)
        inner = step if isinstance(f, int) or f is None else alone(step, "push")
        captures_of(inner)
        if not isinstance(f, Frontier):
            return self._run(inner, None, self._everything(step, inner, None))
        if _wants_all(step):
            return self._run(inner, f, self._everything(step, inner, f.kind))
        if step.far and f.kind == "edge":
            made = self._by_windows(step, inner, self._far_ends(step, f))
            return f if step.passes_through else made
        if step.far or (f.kind == "edge" and _takes_edges(step)):
            return self._by_windows(step, inner, f)
        return self._run(inner, f, {})

    def _run(self, inner: Any, f: Frontier | None, addresses: dict[GraphArray, int]) -> Frontier:
        with tracing.acting_as(0, self.passes):
            execution = _OfWindow(inner, self.problem, f, self._schedule, addresses)
            while not execution.done:
                execution.proceed()
        return cast(Frontier, execution.frontier)

    def _far_ends(self, step: Any, f: Frontier) -> Frontier:
        """The far ends of a frontier of edges, from which a step along edges goes on."""
        g = self.problem.graph
        ends = g.targets if step.edges == "out" else g.sources
        return Frontier(g, np.unique(ends[f.host_ids()]))

    def _wanted(self, step: Any, inner: Any, kind: str | None) -> dict[GraphArray, NDArray[Any]]:
        """The arrays of edges that the kernel of a step reads."""
        code = code_of(inner, self.problem, kind, self._schedule)
        found = set(code.program.inputs.values())
        if step.far == "dst" or kind == "edge":
            found -= set(BY_IN_SLOT)
        elif step.far == "src" and not _looks_around(step):
            found -= {*BY_SLOT} - {GraphArray("weights")}
        return {each: array_of(self.problem.graph, each) for each in EDGES if each in found}

    # ---- everything ------------------------------------------------------------------------------------------

    def _everything(self, step: Any, inner: Any, kind: str | None) -> dict[GraphArray, int]:
        """Addresses of all edges in the host's memory, for a step that may look for any of them."""
        if not _wants_all(step):
            return {}
        wanted = self._wanted(step, inner, kind)
        return {each: whole(self.problem.graph, each, array, step) for each, array in wanted.items()}

    # ---- by windows ------------------------------------------------------------------------------------------

    def _by_windows(self, step: Any, inner: Any, f: Frontier) -> Frontier:
        p, begun = self.problem, time.perf_counter()
        if not f:
            return self._run(inner, f, {})  # which gives results of no elements
        wanted = self._wanted(step, inner, f.kind)
        fixed = {}
        weights = GraphArray("weights")
        if step.far == "src" and wanted.keys() >= {weights, GraphArray("in_edges")}:  # read at the slots of out-edges
            fixed = {weights: whole(p.graph, weights, wanted.pop(weights), step)}
        parts = spans(p.graph, step, f)
        scalars: list[list[Any]] = [[] for _ in step.partial()]
        given = {name: p.scalars[name][0] for name, _ in step.partial()}
        found: list[Any] = []
        with ring_of(p.graph) as ring:
            before = ring.read
            ahead: list[dict[GraphArray, int]] = []
            try:
                for number, part in enumerate(parts):
                    while len(ahead) < min(number + AHEAD, len(parts)):
                        ahead.append(ring.begin(len(ahead), parts[len(ahead)].columns(wanted)))
                    ring.wait(number)
                    mine = Frontier._of(p.graph, f.kind, ids=part.ids)
                    for name, value in given.items():  # which functors may read: all windows see the same
                        p.scalars[name][0] = value
                    made = self._run(inner, mine, {**fixed, **ahead[number]})
                    if not step.passes_through:
                        found.append(made.ids)
                    for values, (name, _) in zip(scalars, step.partial(), strict=True):
                        values.append(p.scalars[name][0])
            finally:
                ring.leave()
            read = ring.read - before
        self.read += read
        for values, (name, reduction) in zip(scalars, step.partial(), strict=True):
            scalar = p.scalars[name]
            scalar[0] = reduction.merged(values, scalar.dtype, self.plain)
        next_ = f if step.passes_through else self._united(step, made.kind, found)
        if tracing.active():
            tracing.add_row(
                step=f"{step!r}: edges from the disk", number=self.passes, direction="stream", size_in=len(f),
                size_out=len(next_), seconds=time.perf_counter() - begun, backend="cuda", read=read,
            )  # fmt: skip
        return next_

    def _united(self, step: Any, kind: str, found: list[Any]) -> Frontier:
        """What the windows have found, each vertex once."""
        xp = self.problem.graph.placement.memory.xp
        ids = found[0] if len(found) == 1 else xp.concatenate(found)
        if len(found) > 1 and kind == "vertex" and getattr(step, "unique", "claimed") != "claimed":
            ids = xp.unique(ids)
        return Frontier._of(self.problem.graph, kind, ids=ids)


def _wants_all(step: Step) -> bool:
    """Whether it looks for edges anywhere, or adds up over them: a sum of one window goes on in the next."""
    return step.reads_lists or step.accumulates or _looks_around(step)


def _looks_around(step: Step) -> bool:
    """Whether its functors look for edges by themselves, by ``fr.neighbours`` and the like."""
    return any(effects(fn).topology & {"targets", "sources", "weights", "in_edges"} for fn, _ in step.functors())


def _takes_edges(step: Step) -> bool:
    """Whether its functors get ends or weights of edges."""
    return any({"src", "dst", "weight"} & {*arguments(fn, "edge")} for fn, _ in step.functors())
