"""The class HaloUpdates: before a step of a graph in parts, what it looks at of other ranks' edges is made current."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from frontier.distributed.ranks.halo import Lists, Slots
from frontier.distributed.ranks.remote_reads import RemoteReads, needs
from frontier.program.effects import effects

if TYPE_CHECKING:
    from collections.abc import Iterable

    from frontier.distributed.ranks.step_problem import StepProblem
    from frontier.distributed.transport.communicators import Communicator
    from frontier.program.frontiers import Frontier
    from frontier.program.step import Step

__all__ = ["HaloUpdates"]


class HaloUpdates:
    """What a run has of other ranks' edges; all ranks call everything together.

    Arrays of the graph never change, and stay with the graph. Fields of edges are brought again when a step has
    written them.

    Parameters
    ----------
    placed : StepProblem
        The part's problem. What is borrowed comes to the host, and goes from there to where steps run.
    comm : Communicator
    interprets : bool
        Whether an interpreter runs the part, which looks up the ends of in-edges by their slots.
    """

    def __init__(self, placed: StepProblem, comm: Communicator, interprets: bool) -> None:
        self._placed, self._comm, self._interprets = placed, comm, interprets
        self._p, self._graph = placed.problem, placed.host.graph
        self._needs: dict[Step, RemoteReads] = {}
        #: Fields that are current, by identity of their arrays, because Swap exchanges names.
        self._lists: set[int] = set()
        self._slots: set[int] = set()

    def before(self, step: Step, own: Frontier, everything: bool) -> None:
        """Bring what a step looks at when it runs on ``own``, this rank's share, perhaps of all elements."""
        if step not in self._needs:
            self._needs[step] = self._of(step)
        made = self._needs[step]
        if made.lists:
            ghosts = self._graph.cached("ghost lists", lambda: Lists(self._graph, self._comm))
            on_host = self._placed.frontier_back(own)
            assert on_host is not None
            if ghosts.bring(self._of_graph(made.lists), step, on_host, everything):
                self._lists.clear()
            self._refresh(ghosts, made.lists, self._lists)
        if made.slots:
            beside = self._graph.cached("ghost slots", lambda: Slots(self._graph, self._comm))
            beside.bring(self._of_graph(made.slots))
            self._refresh(beside, made.slots, self._slots)
        for fn, _ in step.functors():
            self.changed(effects(fn).writes)

    def _of(self, step: Step) -> RemoteReads:
        made = needs(step, self._p)
        if made.numbered and self._interprets:
            made = replace(made, slots=made.slots | {"sources", "targets"})
        return made

    def changed(self, names: Iterable[str]) -> None:
        """Note that fields are written, by a step or by the host."""
        arrays = {id(self._p.arrays[name]) for name in names if name in self._p.arrays}
        self._lists -= arrays
        self._slots -= arrays

    def _of_graph(self, names: frozenset[str]) -> frozenset[str]:
        return names - self._p.fields.keys()

    def _refresh(self, ghosts: Any, names: frozenset[str], current: set[int]) -> None:
        """Bring fields again that have changed, and everything to where steps run."""
        self._placed.bring_ghosts(ghosts)
        arrays = self._p.arrays
        stale = [name for name in sorted(names & arrays.keys()) if id(arrays[name]) not in current]
        if stale:
            self._placed.bring_back(stale)
            ghosts.refresh([self._placed.host.arrays[name] for name in stale])
            self._placed.bring(stale, whole=True)
            current.update(id(arrays[name]) for name in stale)
