"""Printers of loop kernels: one for control flow executed by all threads, one for control flow executed by a leader.

Between two phases there is little to do. But if all 48 warps of a multiprocessor do it, that takes longer than the
barrier, and variables that all threads keep take registers from the phases. So in the general variant the variables are
in shared memory. The first thread of every block, its leader, executes the control flow up to the next phase, while the
others wait; then all threads read what the phase needs from shared memory. Low-degree variants have one block per
multiprocessor and are faster the other way: every thread keeps the variables and executes the control flow redundantly.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from frontier.backends.cuda.compile.runtime_words import MOST
from frontier.errors import FrontierError
from frontier.lowering.blocks import Block, Flow, Lines
from frontier.lowering.ir import Assign, Branch, Counter, Expr, Item, Node, Phase, Together, Var, inside, walk
from frontier.lowering.phases import NARROW
from frontier.lowering.printer import Printer, indented
from frontier.lowering.variables import BUDGET, CODE, CONTROL, DETAIL, NOW, PC, SLOT, STOP, T

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram

__all__ = ["LeaderPrinter", "ThreadPrinter"]

#: The number of the phase that is called next; 0 means none.
CALL = Var("call")


def _signature(program: CudaProgram) -> str:
    """The kernel's parameters: the words of the table, by value, so that they take no registers."""
    # These two are constants of the text, see Build.
    names = [f"given_{var.name}" if key in ("tracing", "single") else var.name for key, var in program.table().items()]
    assert names[0] == CONTROL[0]
    return f"def run(address, {', '.join(names)}):"


_BEGIN = [
    "w = worker()",
    "W = workers()",
    "T = int64_at(address)",
    "C = int64_at(counters)",
    "F = float64_at(counters)",
    "K = int64_shared(0)",
]


def _counted(phase: Phase) -> set[str]:
    """The words of counters that are read after a phase."""
    return {part.word for node in phase.after for part in _expressions(node) if isinstance(part, Counter)}


def _expressions(node: Node) -> Iterator[Expr]:
    """All expressions in a node that contains no phase."""
    if isinstance(node, Branch):
        yield from walk(node.condition)
        for each in (*node.yes, *node.no):
            yield from _expressions(each)
    elif isinstance(node, (Assign, Together)):
        yield from walk(node.value)


class ThreadPrinter(Printer):
    """Prints a kernel in which every thread keeps the variables and executes the control flow."""

    program: CudaProgram

    def counter(self, counter: Counter) -> str:
        """Text for a counter of the phase that has just ended."""
        return f"K[{self.word(counter)}]"

    def phase(self, flow: Flow, node: Phase) -> None:
        """Add a phase, which ends at a barrier of all threads."""
        enter = f"slot = begin(C, slot, t, w, deadline, {self.program.low_degree})"
        flow.add(Lines([enter, *map(self.value, node.calls), *self._barrier(node)]))
        self.ended(flow, node)

    def _barrier(self, phase: Phase) -> list[str]:
        """The barrier. Other words than the count are read only if the phase counts more than its elements."""
        words = _counted(phase)
        whole = "True" if words & {"PILE_COUNT", "BUCKETS"} else "tracing" if "EXAMINED" in words else "False"
        met = [f"grid_barrier_packed(C, slot, {whole}, {phase.arrived}, {phase.waits})"]
        return [*met, "read_buckets(C, slot)"] if "BUCKETS" in words else met

    def head(self) -> list[str]:
        """The lines with which the kernel begins."""
        return [_signature(self.program), *indented([
            *_BEGIN,
            "slot = previous_slot(t)",
            "now = np.int64(0)",
            "deadline = np.int64(0)",
            "if w == 0:",
            "    now = clock()",
            "    deadline = now + nanoseconds",
        ])]  # fmt: skip


class LeaderPrinter(Printer):
    """Prints a kernel in which the first thread of every block executes the control flow, in shared memory."""

    program: CudaProgram

    def __init__(self, program: CudaProgram) -> None:
        super().__init__(program)
        self._calls: dict[int, Phase] = {}
        self._phases = 0
        self._of_thread = False  # whether what is printed is for all threads
        constant = set() if program.swaps else {var for key, var in program.state.items() if key.startswith("field:")}
        together = [node.target for node in inside(program.nodes) if isinstance(node, Together)]
        kept = [var for var in program.state.values() if var not in constant]
        own = [CALL, SLOT, STOP, CODE, DETAIL, BUDGET, NOW, *together, *kept, *program.scalars.values()]
        self._places = {var: i for i, var in enumerate(dict.fromkeys(own))}
        self._begin = [*kept, *program.scalars.values()]
        if len(self._places) > MOST:
            raise FrontierError(
                f"a loop of so many steps ({len(self._places)} variables) is too large for one kernel"
            )

    # ---- variables ---------------------------------------------------------------------------------------------

    def place(self, var: Var) -> str:
        """Text for a variable that is assigned to."""
        if var not in self._places:
            return var.name
        return f"{'VF' if var.dtype.startswith('float') else 'V'}[{self._places[var]}]"

    def read(self, var: Var) -> str:
        """Text for the value of a variable."""
        if var not in self._places or (var is SLOT and self._of_thread):
            return var.name
        if var.dtype == "bool":
            return f"({self.place(var)} != 0)"
        scalar = var in self.program.scalars.values()
        if scalar and (var.dtype in ("float32", "int64", "uint64") or var.dtype in NARROW):
            return f"np.{var.dtype}({self.place(var)})"
        return self.place(var)

    def assigned(self, target: Var | Item, text: str) -> str:
        """The line that assigns a value to a variable or to an element of an array."""
        bool_ = isinstance(target, Var) and target in self._places and target.dtype == "bool"
        return super().assigned(target, f"np.int64({text})" if bool_ else text)

    def counter(self, counter: Counter) -> str:
        """Text for a counter of the phase that has just ended, those of buckets included."""
        return f"K[{self.word(counter)}]"

    def _by_thread(self, made: Expr) -> str:
        """Text of an expression that all threads compute; each has its own copy of the present slot."""
        self._of_thread = True
        try:
            return self.value(made)
        finally:
            self._of_thread = False

    # ---- blocks --------------------------------------------------------------------------------------------

    def phase(self, flow: Flow, node: Phase) -> None:
        """End the leader's decisions before a phase; they go on after its barrier."""
        self._phases += 1
        if not flow.left_out:
            self._calls[self._phases] = node
        rest = flow.label()
        go = self.assigned(PC, str(rest))
        flow.add(Lines([self.assigned(CALL, str(self._phases)), go, "break"]))
        flow.blocks.append(Block(rest))
        flow.add(Lines([f"{self.place(T)} += 1", *self.noted(node)]))
        flow.add(*(each for each in node.after if not isinstance(each, Together)))
        if self.program.build.single:
            rest = flow.label()
            flow.add(Lines([self.assigned(PC, str(rest)), self.assigned(CODE, "SINGLE"), "break"]))
            flow.blocks.append(Block(rest))

    def function(self) -> list[str]:
        """Lines of the kernel."""
        machine = self.machine()
        call, slot = self.place(CALL), self.place(SLOT)
        arrivals = self.place(self.program.state["arrivals"])
        return [
            _signature(self.program),
            *indented(self._beginning()),
            "    while True:",
            "        if thread_index() == 0:",
            f"            {call} = 0",
            "            while True:",
            *indented(machine, 4),
            f"            if {call} != 0:",
            f"                {slot} = following({slot})",
            f"                {arrivals} += num_blocks()",
            *indented(self.announced(call), 4),
            "        sync()",
            f"        call = {call}",
            "        if call == 0:",
            "            break",
            f"        slot = {slot}",
            *indented(self.started(), 2),
            f"        clear_next(C, slot, {self.place(T)}, w, deadline)",
            *indented(self._work(), 2),
            *indented(self.worked(), 2),
            *indented(self.meeting(arrivals), 2),
            *indented(self._together(), 2),
            *indented(self.tail()),
        ]

    def noted(self, phase: Phase) -> list[str]:
        """Lines by which the leader acts on what has happened in a phase besides its work."""
        error = self.counter(Counter("ERROR"))
        return [
            f"{self.place(STOP)} |= {self.counter(Counter('STOP'))}",
            f"if {error} != 0:",
            f"    {self.assigned(CODE, error)}",
            "    break",
        ]

    def announced(self, call: str) -> list[str]:
        """Lines by which the leader prepares the phase that comes next."""
        return []

    def started(self) -> list[str]:
        """Lines before a phase."""
        return []

    def worked(self) -> list[str]:
        """Lines between the work of a phase and its barrier."""
        return []

    def meeting(self, arrivals: str) -> list[str]:
        """Lines of the barrier at the end of a phase."""
        return [f"grid_barrier(C, slot, {arrivals}, {self.program.big})"]

    def _beginning(self) -> list[str]:
        """Lines by which the leader puts the variables into shared memory."""
        return [
            *_BEGIN,
            "V = int64_shared(VARIABLES)",
            "VF = float64_shared(VARIABLES)",
            "deadline = np.int64(0)",
            "if thread_index() == 0:",
            *(f"    {self.place(var)} = {var.name}" for var in self._begin),
            f"    {self.place(SLOT)} = previous_slot({self.place(T)})",
            f"    {self.assigned(STOP, '0')}",
            f"    {self.assigned(CODE, 'DONE')}",
            f"    {self.assigned(DETAIL, '0')}",
            f"    {self.assigned(BUDGET, 'budget')}",
            "if w == 0:",
            f"    {self.place(NOW)} = clock()",
            f"    deadline = {self.place(NOW)} + nanoseconds",
        ]

    def _work(self) -> list[str]:
        """Lines by which all threads carry out the phase that the leader has chosen."""
        lines = []
        for i, (number, phase) in enumerate(self._calls.items()):
            lines.append(f"{'elif' if i else 'if'} call == {number}:")
            lines += [f"    {self._by_thread(each)}" for each in phase.calls]
        return lines

    def _together(self) -> list[str]:
        """Lines for what all threads of a block compute together after a phase's barrier."""
        lines = []
        for number, phase in self._calls.items():
            nodes = [node for node in phase.after if isinstance(node, Together)]
            if nodes:
                lines += [f"if call == {number}:", "    sync()"]
            for node in nodes:
                found = "found_real" if node.target.dtype.startswith("float") else "found"
                lines += [
                    f"    {found} = {self._by_thread(node.value)}",
                    "    if thread_index() == 0:",
                    f"        {self.place(node.target)} = {found}",
                ]
        return lines
