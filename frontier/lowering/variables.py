"""The variables of a program, and the table in which the host keeps them between calls.

Every word of the table has a key. Keys that contain a name chosen by the user contain a colon, and no other keys do, so
they cannot clash.
"""

from __future__ import annotations

from frontier.functors.functor import plain
from frontier.lowering.inputs import Input, Number
from frontier.lowering.ir import Call, Expr, Value, Var
from frontier.program.layout import Layout
from frontier.program.order import display_name

__all__ = [
    "ALWAYS", "BEFORE", "BROUGHT", "BUDGET", "CODE", "CONTROL", "DETAIL", "DIRECTION", "EPOCH", "FLOATS", "NOW",
    "PASSES", "PC", "RING", "ROWS", "SEEN", "SLOT", "STOP", "TRACING", "WORDS", "WORKER", "WORKERS", "T", "Variables",
    "pointer",
]  # fmt: skip

#: First words of the table through which host and loop function talk; inputs and state follow.
CONTROL = ("counters", "budget", "nanoseconds", "single", "tracing", "ring", "rows", "code", "detail")

#: State of every loop function, besides what its steps keep.
ALWAYS = ("pc", "t", "arrivals", "passes", "before", "direction", "seen", "brought", "epoch")

#: Which worker this is, and how many there are; the counters as integers and as floats; the present phase's.
WORKER, WORKERS, WORDS, FLOATS, SLOT = Var("w"), Var("W"), Var("C"), Var("F"), Var("slot")
#: Number of barriers so far; why and where the function returns; how many passes it may begin, and has begun.
T, STOP, CODE, DETAIL, BUDGET, PASSES = (Var(name) for name in ("t", "stop", "code", "detail", "budget", "passes"))
#: Which block is next.
PC = Var("pc")
#: Of the step at hand, for the trace: its frontier before, how it walked edges, how many; and how many more than these
#: windows have brought from elsewhere.
BEFORE, DIRECTION, SEEN, BROUGHT, NOW = (Var(name) for name in ("before", "direction", "seen", "brought", "now"))
TRACING, RING, ROWS = Var("tracing", "bool"), Var("ring"), Var("rows")
#: The number that means "in this phase" in the array of stamps.
EPOCH = Var("epoch")

_FIXED = {
    each.name: each
    for each in (PC, T, PASSES, BEFORE, DIRECTION, SEEN, BROUGHT, EPOCH, BUDGET, TRACING, RING, ROWS, CODE, DETAIL)
}


def pointer(dtype: str, address: Value) -> Expr:
    """An array of a dtype at an address."""
    return Call(f"{dtype}_at", address)


class Variables:
    """The variables of one program.

    Attributes
    ----------
    inputs : dict of str to Input
        Keys of the variables that are only read -> what the host puts there.
    state : dict of str to Var
        The variables that are saved when the function returns and loaded when it is called again, by their keys.
    scalars : dict of str to Var
        The problem's scalars, by their names.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.inputs: dict[str, Input] = {}
        self._inputs: dict[str, Var] = {}
        self._numbers = 0
        self.state = {name: _FIXED.get(name, Var(name)) for name in ALWAYS}
        self.scalars = {
            name: Var(self.name("s", name), dtype, display_name(name)) for name, dtype in layout.of_kind("scalar")
        }
        for name, _ in layout.of_kind("vertex", "edge", "array"):
            self.state[f"field:{name}"] = Var(self.name("a", name), meaning=display_name(name))

    def name(self, *stem: str) -> str:
        """A name that nothing else in the program has: it begins with some words, and ends in a number of its own."""
        self._numbers += 1
        return f"{plain('_'.join(stem))}_{self._numbers}"

    def local(self, stem: str, dtype: str = "int64", meaning: str = "") -> Var:
        """A variable that is used within one block."""
        return Var(self.name(stem), dtype, meaning or stem)

    def variable(self, stem: str, meaning: str = "") -> Var:
        """A variable of its own, kept between calls."""
        made = Var(self.name(stem), meaning=meaning or stem)
        self.state[made.name] = made
        return made

    def keep(self, key: str, meaning: str = "") -> Var:
        """The variable of a key, kept between calls."""
        if key not in self.state:
            self.state[key] = Var(self.name(*key.split(":")), meaning=meaning)
        return self.state[key]

    def input(self, key: str, given: Input, meaning: str = "") -> Var:
        """A variable that the host sets: the address of an array, or a number."""
        if key not in self._inputs:
            self._inputs[key] = Var(self.name(*key.split(":")), meaning=meaning or key)
        self.inputs[key] = given
        return self._inputs[key]

    def parameter(self, number: int, meaning: str = "") -> Var:
        """A number of a step, which the host sets: programs that differ in nothing else are compiled once."""
        return self.input(self.name("parameter"), Number(number), meaning or str(number))

    def field(self, name: str) -> Expr:
        """A field of the problem, as an array."""
        return pointer(self.layout.dtype(name), self.state[f"field:{name}"])

    def table(self) -> dict[str, Var]:
        """All words of the table in their order: key -> variable."""
        table = {name: _FIXED.get(name, Var(name)) for name in CONTROL}
        table |= {key: self._inputs[key] for key in self.inputs}
        table |= {f"scalar:{name}": var for name, var in self.scalars.items()}
        return table | self.state
