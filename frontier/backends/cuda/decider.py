"""The text of a loop kernel in which one thread of each block decides what comes next.

Between two phases there is little to do, but if all 48 warps of a processor do it, it takes longer than the barrier;
and variables that all threads keep take the registers that phases need. So the variables lie in shared memory, the
first thread of every block works through the blocks of the machine up to the next phase, and the others wait for it.
What phases take of the variables, all threads read from there. (Narrow builds, of one block a processor, are faster
the other way: there every thread keeps and decides alike.)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from frontier.backends.cuda.runtime_words import MOST
from frontier.errors import FrontierError
from frontier.lowering.module import kept, lines_of, words
from frontier.lowering.text import NARROW

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram

__all__ = ["loop", "phase"]

#: Variables of every kernel, besides what a program keeps.
OWN = ("call", "slot", "stop", "code", "detail", "budget", "now")

#: What all threads of a block compute together after a phase's barrier, in the lines of its decisions.
_TOGETHER = re.compile(r"\b(combined_(?:int|float)|partial_total)\((?:[^()]|\([^()]*\))*\)")

_ASSIGNED = re.compile(r"^(\s*[^=<>!]*?)( [-+|]?= )(.*)$")


def phase(program: CudaProgram, call: tuple[str, ...], after: tuple[str, ...]) -> None:
    """Leave the decisions for a phase; they go on after its barrier."""
    together: list[str] = []

    def shared(found: re.Match[str]) -> str:
        kind = "float" if found[1] == "combined_float" else "int"
        name = f"{'real_' if kind == 'float' else ''}together_{len(together)}"
        program.results[name] = None
        together.append(f"{name} = {found[0]}")
        return name

    # All counters are in K, those of buckets too.
    decided = [_TOGETHER.sub(shared, line) for line in after if not line.startswith("read_buckets")]
    program.calls[len(program.calls) + 1] = call, together
    rest = program.label()
    program.line(f"call = {len(program.calls)}", f"pc = {rest}", "break")
    program.blocks.append([f"        if pc == {rest}:"])
    program.line(
        "t += 1",
        "stop |= K[STOP]",
        "if K[ERROR] != 0:",
        "    code = K[ERROR]",
        "    break",
        *decided,
    )
    if program.build.single:
        rest = program.label()
        program.line(f"pc = {rest}", "code = SINGLE", "break")
        program.blocks.append([f"        if pc == {rest}:"])


class _Names:
    """Where in shared memory variables lie, and texts with these places in them."""

    def __init__(self, program: CudaProgram) -> None:
        self.scalars = dict(program.layout.of_kind("scalar"))
        fields = {f"a_{name}" for name, _ in program.layout.of_kind("vertex", "edge", "array")}
        constant = set() if program.swaps else fields  # parameters, if they never change
        names = [*OWN, *program.results, *(name for name in kept(program) if name not in constant)]
        names = list(dict.fromkeys([*names, *(f"s_{name}" for name in self.scalars)]))
        if len(names) > MOST:
            raise FrontierError(f"a loop of so many steps ({len(names)} variables) is too large for one kernel")
        self.places = {name: i for i, name in enumerate(names)}
        self._any = re.compile(r"\b(" + "|".join(sorted(map(re.escape, names), key=len, reverse=True)) + r")\b")

    def place(self, name: str) -> str:
        """Text for the memory of a variable."""
        real = name.startswith("real_") or self._dtype(name).startswith("float")
        return f"{'VF' if real else 'V'}[{self.places[name]}]"

    def _dtype(self, name: str) -> str:
        return self.scalars.get(name[2:], "") if name.startswith("s_") else ""

    def value(self, name: str) -> str:
        """Text for the value of a variable."""
        dtype = self._dtype(name)
        if dtype == "bool":
            return f"({self.place(name)} != 0)"
        if dtype in ("float32", "int64", "uint64") or dtype in NARROW:
            return f"np.{dtype}({self.place(name)})"
        return self.place(name)

    def read(self, text: str) -> str:
        """A text in which variables are only read."""
        return self._any.sub(lambda found: self.value(found[1]), text)

    def line(self, text: str) -> str:
        """A line of decisions: what stands before an assignment is written."""
        found = _ASSIGNED.match(text)
        if found is None or found[1].lstrip().startswith(("if ", "elif ", "while ", "for ")):
            return self.read(text)
        target = self._any.sub(lambda name: self.place(name[1]), found[1])
        value = self.read(found[3])
        if self._dtype(found[1].strip()) == "bool":
            value = f"np.int64({value})"
        return f"{target}{found[2]}{value}"


def loop(program: CudaProgram, signature: str) -> str:
    """The text of the kernel."""
    at, names = words(program), _Names(program)
    scalars = program.layout.of_kind("scalar")
    begin = [name for name in [*kept(program), *(f"s_{name}" for name, _ in scalars)] if name in names.places]
    lines = [
        signature,
        "    w = worker()",
        "    W = workers()",
        "    T = int64_at(address)",
        "    C = int64_at(counters)",
        "    F = float64_at(counters)",
        "    K = int64_shared(0)",
        "    V = int64_shared(VARIABLES)",
        "    VF = float64_shared(VARIABLES)",
        "    deadline = np.int64(0)",
        "    if thread_index() == 0:",
        *(f"        {names.place(name)} = {name}" for name in begin),
        f"        {names.place('slot')} = previous_slot({names.place('t')})",
        f"        {names.place('stop')} = 0",
        f"        {names.place('code')} = DONE",
        f"        {names.place('detail')} = 0",
        f"        {names.place('budget')} = budget",
        "    if w == 0:",
        f"        {names.place('now')} = clock()",
        f"        deadline = {names.place('now')} + nanoseconds",
        "    while True:",
        "        if thread_index() == 0:",
        f"            {names.place('call')} = 0",
        "            while True:",
        *("        " + names.line(line) for line in lines_of(program)),
        f"            if {names.place('call')} != 0:",
        f"                {names.place('slot')} = following({names.place('slot')})",
        f"                {names.place('arrivals')} += num_blocks()",
        "        sync()",
        f"        call = {names.place('call')}",
        "        if call == 0:",
        "            break",
        f"        slot = {names.place('slot')}",
        f"        clear_next(C, slot, {names.place('t')}, w, deadline)",
    ]
    for i, (number, (call, _)) in enumerate(program.calls.items()):
        lines.append(f"        {'elif' if i else 'if'} call == {number}:")
        lines += ["            " + _own(names, line) for line in call]
    lines.append(f"        meet(C, slot, {names.place('arrivals')}, {program.big})")
    for number, (_, together) in program.calls.items():
        if together:
            lines += [f"        if call == {number}:", "            sync()"]
        for line in together:
            name, text = line.split(" = ", 1)
            lines.append(f"            found = {_own(names, text)}")
            lines += ["            if thread_index() == 0:", f"                {names.place(name)} = found"]
    lines.append("    if w == 0:")
    for name in ("code", "detail", *kept(program)):
        lines.append(f"        T[{at[name]}] = {names.place(name) if name in names.places else name}")
    for name, dtype in scalars:
        lines.append(f"        {dtype}_at(T[{at[f'p_{name}']}])[0] = {names.value(f's_{name}')}")
    return "\n".join(lines)


def _own(names: _Names, text: str) -> str:
    """A text of a phase's call; its slot every thread has by itself."""
    parts = re.split(r"(\bslot\b)", text)
    return "".join(part if part == "slot" else names.read(part) for part in parts)
