"""Runs on a copy of the graph whose vertices are numbered by descending degree; the problem sees no difference.

Many programs use ids for nothing but to find elements of fields: ranks, centralities, sums over neighbours. They may
run on the copy of :mod:`frontier.graph.by_degree` with permuted fields, where gathers on skewed graphs are faster.
"""

from __future__ import annotations

import contextlib
import copy
import os
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from frontier import tracing
from frontier.errors import FunctorError, NotConvergedError
from frontier.graph import by_degree
from frontier.graph.by_weight import has_room_beside, why_not_plain
from frontier.program.effects import effects
from frontier.program.frontiers import Frontier
from frontier.program.kept_problems import Repeatable
from frontier.program.layout import Layout
from frontier.program.loop import Loop
from frontier.program.step import captures_of, walk
from frontier.program.swapping import swaps_of, with_partners

if TYPE_CHECKING:
    from frontier.graph.by_degree import ByDegree
    from frontier.program.effects import Effects
    from frontier.program.execution import Execution
    from frontier.program.problem import Field, Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

    Begin = Callable[[Problem, Frontier | None], Execution]

__all__ = ["copy_for", "remark", "renumbered"]

#: Runs of a graph before a copy is made: it takes as long as 10 to 25 passes, and saves about a third of each.
RUNS = 3

#: A loop of fewer passes is not worth permuting fields.
PASSES = 4


def copy_for(step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule, again: bool) -> ByDegree | None:
    """Return the copy of the graph on which a run is to take place, or None.

    By itself a run makes it after some such runs of the graph, or if it will be run ``again``, and where that leaves
    room.
    """
    wanted, g = _wanted(step, p, schedule), p.graph
    if not wanted or _why_not(step, p, f):
        return None
    if wanted in ("in", "out"):
        runs: list[int] = g.cached("runs that may be by degree", lambda: [0])
        runs[0] += 1
        if not (runs[0] > RUNS or again) or not by_degree.pays(g, wanted):
            return None
        if not (by_degree.has_by_degree(g) or has_room_beside(g)):
            return None
    with contextlib.suppress(MemoryError):  # the graph itself takes none
        return by_degree.by_degree(g)
    return None


def remark(step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule) -> str:
    """Say that a run would take place on a copy that is there, or that it is told to make; or why none can; or nothing.

    Why none can, it says where one was asked for, or might make long gathers faster.
    """
    wanted, g = _wanted(step, p, schedule), p.graph
    reason = _why_not(step, p, f) if wanted else ""
    if reason:
        return f"The graph keeps its numbering: {reason}."
    if wanted == "by_degree" or (wanted and by_degree.has_by_degree(g) and by_degree.pays(g, wanted)):
        return "Vertices are numbered by descending degree; fields are permuted before and after."
    return ""


def _wanted(step: Step, p: Problem, schedule: ResolvedSchedule) -> str:
    """``by_degree`` for a run that is to take place on a copy; ``in`` or ``out`` if it may gain by that; or nothing."""
    g, own = p.graph, None if step.schedule is None else step.schedule.numbering
    asked = schedule.numbering if own is None else own
    if asked != "auto":
        return "" if asked == "as_given" else asked
    exact = schedule.deterministic or os.environ.get("FRONTIER_CHECK") == "1"  # whose messages tell ids
    if g.num_slots < by_degree.SLOTS or g.placement.backend.interprets or exact:
        return ""
    return _gathers_for_long(step, p)


def _gathers_for_long(step: Step, p: Problem) -> str:
    """Along which edges a loop of some passes gathers first; empty if there is none."""
    known: list[tuple[int | str | None, str]] | None = step.__dict__.get("_gathers")
    if known is None:
        loops = [part for part in walk(step) if isinstance(part, Loop)]
        known = step.__dict__["_gathers"] = [
            (loop.times, "in" if part.near == "dst" else "out")
            for loop in loops for part in walk(loop) if part.gains_by_degree
        ]  # fmt: skip
    for times, edges in known:
        passes = p.scalars[times][0] if times in p.scalars else times
        if passes is None or isinstance(passes, str) or passes >= PASSES:
            return edges
    return ""


# ---- programs that do the same however vertices are numbered ---------------------------------------------------------


def _why_not(step: Step, p: Problem, f: Frontier | None) -> str:
    """Return why a run cannot take place on a copy; empty if it can. Asked once for problems that are alike."""
    if not (f is None or (f.is_all and f.kind == "vertex")):
        return "it begins with some elements only"
    if not p._store.in_one_memory or p.graph.placement.divides:
        return "fields are divided"
    if reason := why_not_plain(p.graph):
        return reason
    captures, layout = captures_of(step), Layout.of(p)
    known = step.__dict__.setdefault("_any_numbering", {})
    if known.get(layout, (None,))[0] is not captures:
        reason = next(filter(None, (_sees(part, p.fields) for part in walk(step))), "")
        reason = reason or ("the problem has piles or pairs" if p.piles or p._pairs else "")
        known[layout] = captures, "a functor uses what may change outside" if captures.refused else reason
    found: str = known[layout][1]
    return found


def _sees(part: Step, fields: Mapping[str, Field]) -> str:
    """What in one step depends on the numbering of the vertices; empty if nothing does."""
    if not part.any_numbering:
        return f"{part!r} depends on it"
    if not (part.over in (None, "vertices", "edges") or part.counted or part.row_field):
        return f"{part!r} runs over {part.over}"
    for fn, _ in part.functors():
        try:
            found = _does_more(effects(fn), fields)
        except FunctorError:  # as the check says
            found = "cannot be read"
        if found:
            return f"{fn.__name__} {found}"
    return ""


def _does_more(found: Effects, fields: Mapping[str, Field]) -> str:
    """What a functor does but find elements of vertex fields by ids of vertices.

    Edge fields would need the places of slots, and to move one takes as long as 5 to 15 passes save.
    """
    ends = {"v", "src", "dst"}
    if not (found.exact and found.writes_known):
        return "calls what is not known"
    if ids := found.ids & {*ends, "edge"}:
        return f"uses {min(ids)} as a value"
    if "any" in found.ids:
        return "looks up edges or degrees"
    for name, indices in (*found.reads.items(), *found.writes.items()):
        kind = fields[name].kind if name in fields else "scalar"
        if kind == "edge":
            return f"uses the edge field p.{name}"
        if kind == "vertex" and indices - ends:
            return f"uses p.{name} of any vertex"
        if kind != "vertex" and indices & {*ends, "edge"}:
            return f"finds elements of p.{name} by ids"
    return ""


# ---- runs ------------------------------------------------------------------------------------------------------------


def _written(step: Step) -> set[str]:
    """The fields that a program may change."""
    found: set[str] = set()
    for part in walk(step):
        found |= {name for _, name in part.into_fields()}
        for fn, _ in part.functors():
            found |= effects(fn).writes.keys()
    return with_partners(found, swaps := swaps_of(step)).union(*swaps)


def renumbered(step: Step, begin: Begin, p: Problem, f: Frontier | None, made: ByDegree) -> Execution | None:
    """Begin a run on a copy; None if there is no room for the fields."""
    with contextlib.suppress(MemoryError):
        return Renumbered(_written(step), begin, p, f, made)
    return None


class Renumbered:
    """An execution on the copy of a graph, as one on the graph itself.

    Fields go to the copy whenever it goes on, and those that change come back when it stops, so that whoever looks at
    them in a pause, or changes them, finds them as always.

    Parameters
    ----------
    written : set of str
        The fields that may change.
    begin : callable
        Begins the execution on a problem, from a frontier or None.
    p : Problem
    f : Frontier or None
        All vertices, if any.
    made : ByDegree
    """

    def __init__(self, written: set[str], begin: Begin, p: Problem, f: Frontier | None, made: ByDegree) -> None:
        self._written, self._p, self._given, self._made = written, p, f, made
        self._there = q = copy.copy(p)
        xp, memory = p.graph.placement.memory.xp, p.graph.placement.memory
        with memory.using("the fields of a problem, with vertices by degree"):
            arrays = {name: xp.empty(p.arrays[name].shape, p.arrays[name].dtype) for name in self._moved()}
        vars(q).update(graph=made.graph, arrays={**p.arrays, **arrays}, workspace={})
        self._inner: Execution = begin(q, None if f is None else Frontier.all(made.graph))

    def _share(self, here: Problem, there: Problem) -> None:
        """Let one problem have the other's arrays that are not of vertices, which may have been exchanged."""
        moved = self._moved()
        there.arrays.update({name: array for name, array in here.arrays.items() if name not in moved})

    def _moved(self) -> list[str]:
        fields = self._p.fields
        return [name for name in self._p.arrays if fields[name].kind == "vertex"]

    @property
    def done(self) -> bool:
        """Whether it has come to its end."""
        return self._inner.done

    @property
    def passes(self) -> int:
        """Passes of all loops begun so far."""
        return self._inner.passes

    @property
    def frontier(self) -> Frontier | None:
        """The current frontier, which is all vertices or all edges."""
        found = self._inner.frontier
        return self._given if found is None or self._given is not None else Frontier.all(self._p.graph, found.kind)

    def again(self, f: Frontier | None) -> bool:
        """Begin on the same problem once more; False if another run has its memory, or it begins otherwise."""
        if f is not None and not (f.is_all and f.kind == "vertex"):
            return False
        if not isinstance(self._inner, Repeatable) or (f is None) != (self._given is None):
            return False
        self._given = f
        self._share(self._p, self._there)
        return self._inner.again(None if f is None else Frontier.all(self._made.graph))

    def proceed(self, passes: int | None = None) -> int:
        """Go on for at most so many passes; how many were begun."""
        if self.done:
            return 0
        self._permute(self._p, self._there, self._made.old, self._moved())
        try:
            return self._inner.proceed(passes)
        except NotConvergedError as error:
            error.result = self._p
            raise
        finally:
            changed = [name for name in self._moved() if name in self._written]
            self._permute(self._there, self._p, self._made.new, changed)

    def _permute(self, here: Problem, there: Problem, ids: Any, names: list[str]) -> None:
        """Copy vertex fields from one numbering to the other."""
        from frontier.graph.build_sort import take

        begun, memory = time.perf_counter(), self._p.graph.placement.memory
        for name in names:
            take(here.arrays[name], ids, there.arrays[name])
        self._share(here, there)
        if tracing.active():
            memory.synchronize()
            tracing.add_row(
                number=self.passes, step="renumber", seconds=time.perf_counter() - begun,
                backend=self._p.graph.backend,
            )  # fmt: skip
