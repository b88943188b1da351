"""The printer of loop functions on the CPU: one thread executes them, others help it with large phases.

The loop function is called with the number of a worker. Worker 0, the owner of the run, goes through all blocks. At a
phase that is worth it, it writes all variables to the table, and goes on when helpers have been offered the phase
(:mod:`frontier.backends.cpu.teams`). A helper calls the same function: it reads the variables, which lead it to the
block of the phase at once, executes shares of it, and returns.
"""

from __future__ import annotations

from frontier.lowering.blocks import Flow, Lines
from frontier.lowering.ir import Phase, Var, walk
from frontier.lowering.printer import Printer, indented
from frontier.lowering.variables import CODE, SLOT, WORDS, WORKER, WORKERS

__all__ = ["TeamPrinter"]

#: What is not in the table, and what a helper knows all the same.
_KNOWN = {"F", "LOCAL", SLOT.name, WORDS.name, WORKER.name, WORKERS.name}

#: The work of a phase of which nothing is known.
_MUCH = 1 << 40


class TeamPrinter(Printer):
    """Text of a loop function in which ``w`` is the share at hand, and ``W`` the number of shares of the phase."""

    def phase(self, flow: Flow, node: Phase) -> None:
        """Add a phase: into how many shares it is divided, then, in a block of its own, what executes them."""
        self._check(node)
        work = str(_MUCH) if node.work is None else self.value(node.work)
        flow.add(Lines([f"work = {work}", "W = shares_of(C, work, workers)"]))
        flow.place(flow.label())
        flow.add(Lines([
            "if W > ready:",
            "    code = TOGETHER",
            "    break",
            "slot = begin(C, t, own, workers, work, deadline)",
            "if own > 0:",
            "    w = next_share(C, slot, own, W)",
            "while w >= 0:",
            *indented([*map(self.value, node.calls), "w = next_share(C, slot, own, W)"]),
            "if own > 0:",
            "    break",
            "w = 0",
            "ready = 1",
        ]))  # fmt: skip
        self.ended(flow, node)

    def _check(self, node: Phase) -> None:
        """A helper finds all that a phase takes in the table."""
        known = _KNOWN | {var.name for var in self.program.table().values()}
        for call in node.calls:
            lacking = {each.name for each in walk(call) if isinstance(each, Var)} - known
            assert not lacking, (node.title, lacking)

    def head(self) -> list[str]:
        """All that a worker has: the table holds it."""
        return ["def run(address, w, workers):", *indented([
            "T = int64_at(address)",
            *self.loads(),
            "now = clock()",
            "deadline = now + nanoseconds",
            "own = w",
            "W = workers",
            "ready = np.int64(1)",
            "if own > 0:",
            "    W = C[SHARES]",
            "    ready = W",
        ])]  # fmt: skip

    def function(self) -> list[str]:
        """Lines of the loop function."""
        again = [
            "if own > 0:",
            "    return",
            *self.written(),
            f"if {self.read(CODE)} != TOGETHER:",
            "    return",
            "offer(C, work, W, workers, this_function(), address)",
            "ready = W",
        ]
        machine = ["while True:", *indented(self.machine())]
        start = ["stop = np.int64(0)", "code = np.int64(DONE)", "work = np.int64(0)", "while True:"]
        return [*self.head(), *indented(start), *indented([*machine, *again], 2)]
