"""Prints a kernel whose GPUs meet at some of its barriers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.backends.cuda.printers import LeaderPrinter
from frontier.distributed.devices.meeting_words import COMPUTED, MERGED, sums_at
from frontier.lowering.ir import Counter, Phase, expression
from frontier.lowering.variables import CODE, STOP

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram
    from frontier.distributed.devices.peers import Peers

__all__ = ["PeersPrinter"]


class PeersPrinter(LeaderPrinter):
    """Prints a kernel whose GPUs meet at some of its barriers."""

    def __init__(self, program: CudaProgram, peers: Peers) -> None:
        super().__init__(program)
        self.peers = peers

    def started(self) -> list[str]:
        """For a trace: when a phase begins."""
        return ["begun = clock()"] if self.program.build.traced else []

    def worked(self) -> list[str]:
        """For a trace: the first thread adds up how long phases of exchange, and others, have taken."""
        if not self.program.build.traced:
            return []
        box, at = self._by_thread(self.peers.box), self._by_thread(expression(sums_at(self.peers.parts)))
        exchanges = [number for number, phase in self._calls.items() if phase in self.peers.exchanges]
        kind = " or ".join(f"call == {number}" for number in exchanges) or "False"
        return ["if w == 0:", f"    {box}[{at} + ({MERGED} if {kind} else {COMPUTED})] += clock() - begun"]

    def announced(self, call: str) -> list[str]:
        """Lines that number the meetings."""
        return [f"if {self._meets(call)}:", f"    {self.place(self.peers.meetings)} += 1"]

    def noted(self, phase: Phase) -> list[str]:
        """Only what all know together ends a run; what this GPU finds alone it tells at the next meeting."""
        stopped, failed = self.place(self.peers.stopped), self.place(self.peers.failed)
        error, stop = self.counter(Counter("ERROR")), self.counter(Counter("STOP"))
        if not phase.meets:
            return [f"{stopped} |= {stop}", f"if {error} != 0:", f"    {failed} = {error}"]
        error = self.counter(Counter("ALL_ERROR"))
        return [
            f"{stopped} = 0",
            f"{self.place(STOP)} |= {self.counter(Counter('ALL_STOP'))}",
            f"if {error} != 0:",
            f"    {self.assigned(CODE, error)}",
            "    break",
        ]

    def meeting(self, arrivals: str) -> list[str]:
        """Lines of the barrier at the end of a phase, at which all GPUs may meet."""
        peers = self.peers
        who = ", ".join(map(self._by_thread, (peers.box, peers.boxes, peers.rank, peers.parts)))
        when = ", ".join(self.place(var) for var in (peers.meetings, peers.stopped, peers.failed))
        return [
            f"if {self._meets('call')}:",
            f"    meet(C, slot, {arrivals}, {self.program.big}, {who}, {when})",
            "else:",
            *(f"    {line}" for line in super().meeting(arrivals)),
        ]

    def _meets(self, call: str) -> str:
        numbers = [number for number, phase in self._calls.items() if phase.meets]
        return " or ".join(f"{call} == {number}" for number in numbers) or "False"
