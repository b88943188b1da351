"""The shrinking queue of pulls: of several consecutive pulls, only the first scans all vertices.

Each pull records the vertices that are still unvisited: those with in-edges for which ``where`` holds after their
search. The next pull processes only these, and records again. (Liu and Huang: Enterprise, SC 2015.)

For a vertex that is not recorded, ``where`` must stay false. That is so under two conditions. First, only visits of a
vertex's own edges change what ``where`` reads of it, which :func:`waiting` finds from the functors. Second, nothing
else has run since the last pull, which is tested in every pass: no other phase has run, no fields have been swapped,
and the host, which may write fields at a boundary, was not called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.lowering.inputs import Buffer
from frontier.lowering.ir import Assign, Choice, Const, Counter, Expr, Node, Value, both, differ, equal, expression
from frontier.lowering.variables import BUDGET, STOP, T, pointer
from frontier.program.effects import effects

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram
    from frontier.operators.advance import Advance
    from frontier.program.layout import Layout

__all__ = ["Waiting", "waiting"]


def waiting(step: Advance, b: CudaProgram) -> Waiting | None:
    """The queue of a step whose pulls may use one, else None.

    It may not where a loop records its frontiers: bitmaps become queues after each pass, so pulls never follow directly
    on one another.
    """
    able = b.schedule.queue == "scan" and not b.low_degree and not b.build.single
    repeated = len(b.loops) > 1 and not b.records and step.output == "vertex"
    return Waiting(b) if able and repeated and _lasting(step, b.layout) else None


def _lasting(step: Advance, layout: Layout) -> bool:
    """Whether ``where``, once false for a vertex, stays so while nothing but the step's pulls runs.

    Once it is false, no edge of the vertex is visited, and visits of other vertices' edges write nothing of what
    ``where`` reads of this one.
    """
    if step.where is None:
        return False
    asked, visits = effects(step.where), effects(step.fn)
    own = {step.far}

    def kept(name: str) -> bool:
        """Whether a visit writes a field at its far end only; an index "" means that it is unknown where it writes."""
        pair = layout.pair(name)
        both = (name,) if pair is None else pair[:2]  # one goes along with the other
        return all(visits.writes.get(each, own) == own and "" not in visits.reads.get(each, own) for each in both)

    followed = asked.exact and visits.exact
    return followed and all(places == own and kept(name) for name, places in asked.reads.items())


class Waiting:
    """Two queues, of which a pull reads one and writes the other, and the variables that describe their content.

    Attributes
    ----------
    count, side : Var
        How many vertices wait, and in which queue.
    since, swaps : Var
        How many phases had begun, and how many fields been swapped, when they were recorded; -1 if the record is void.
    """

    def __init__(self, b: CudaProgram) -> None:
        self.count, self.side, self.since = (b.variable(f"waiting_{stem}") for stem in ("count", "side", "since"))
        self.swaps = b.variable("waiting_swaps")
        self._swaps = b.keep("swaps", "swaps")
        b.at_loop_start(Assign(self.since, Const(-1)))
        self._a, self._b = (b.input(f"waiting_{side}", Buffer("vertex_queue")) for side in "ab")
        self._ids = b.layout.ids

    @property
    def valid(self) -> Expr:
        """Whether the pull may process only the recorded vertices."""
        return both(equal(self.since, T), equal(self.swaps, self._swaps))

    def parameters(self, again: bool) -> dict[str, Value]:
        """Arguments of the first of several pulls, or (``again``) of a later one."""
        if not again:
            return {"waiting": pointer(self._ids, self._a)}
        return {
            "queue": pointer(self._ids, Choice(self.side, self._b, self._a)),
            "total": self.count,
            "waiting": pointer(self._ids, Choice(self.side, self._a, self._b)),
        }

    def after(self, again: bool) -> list[Node]:
        """Decisions after a pull: its record may be used, unless the run pauses before the next pass."""
        return [
            Assign(self.count, Counter("PILE_COUNT")),
            Assign(self.side, 1 - self.side if again else expression(0)),
            Assign(self.since, Choice(both(equal(STOP, 0), differ(BUDGET, 0)), T, -1)),
            Assign(self.swaps, self._swaps),
        ]
