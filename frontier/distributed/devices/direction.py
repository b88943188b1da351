"""The choice between push and pull for all GPUs alike.

A push walks along the out-edges of a GPU's own vertices, a pull along their in-edges. If one GPU pushed while another
pulled, edges between their vertices would be walked along twice or not at all. So the choice is made once for all, by
the whole frontier.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from frontier.lowering.frontier_state import SMALL
from frontier.program.schedule import ResolvedSchedule

if TYPE_CHECKING:
    from frontier.distributed.devices.replicas import Replica
    from frontier.graph.graph import Graph
    from frontier.program.frontiers import Frontier

__all__ = ["Direction"]


class Direction:
    """The choice for one step, by Beamer's rule.

    It is that of the operator Advance, with ``switch="beamer"``, whatever rule a schedule names.

    Parameters
    ----------
    g : Graph
    step : Advance
    schedule : ResolvedSchedule
    """

    def __init__(self, g: Graph, step: Any, schedule: ResolvedSchedule) -> None:
        self._n, self._m = g.num_vertices, g.num_slots
        self._asked, self._alpha, self._beta = schedule.direction, schedule.alpha, schedule.beta
        usual = (self._alpha, self._beta) == (ResolvedSchedule.alpha, ResolvedSchedule.beta)
        self._least = SMALL if usual else 0
        self._again = 0 if step.unique == "claimed" else self._m
        self._edges = step.edges
        self.begin()

    def begin(self) -> None:
        """A loop begins."""
        self._pulls, self._unexplored, self._last = False, self._m, 0

    def of(self, replica: Replica, f: Frontier) -> str:
        """The direction for a frontier, which is on one GPU: ``"push"`` or ``"pull"``."""
        if self._asked != "auto":
            return self._asked
        count, edges = len(f), self._walked(replica, f)
        if self._pulls:
            shrinks = count < self._last and count * self._beta < self._n
            self._pulls = not (shrinks and edges < (self._n >> 3) + self._unexplored)
        else:
            self._pulls = self._m >= self._least and edges * self._alpha > self._unexplored and edges > self._n >> 3
        self._last = count
        self._unexplored -= edges
        if self._unexplored <= 0:
            self._unexplored = self._again
        return "pull" if self._pulls else "push"

    def _walked(self, replica: Replica, f: Frontier) -> int:
        """How many edges a push walks along."""
        if f.is_all:
            return self._m
        g = replica.whole.graph
        with replica.memory.using("the edges of a frontier"):
            if f.kind == "edge":
                ids = (g.targets if self._edges == "out" else g.sources)[f.ids]
            else:
                ids = f.ids
            offsets = g.offsets if self._edges == "out" else g.in_offsets
            return int((offsets[ids + 1] - offsets[ids]).sum())
