"""Builder: collects the text of a loop function, block by block.

The function is a machine with one state variable, ``pc``: blocks of straight text, each of which says
which comes next. All workers run the same blocks and keep the same variables; work is divided only inside
phases, which end in a barrier. What steers (counts, tests of loops, Set) is computed by every worker for
itself from the same values, so it needs no barrier and no broadcast. All variables are 64-bit integers
that are saved when the function returns and loaded when it is called again: so a run can stop at any
boundary and go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from frontier.functors import arguments
from frontier.lowering.layout import Layout
from frontier.lowering.registers import ALL, BITS, IN, OUT, QUEUE, VARIABLES, Register
from frontier.schedule import Schedule

__all__ = ["NARROW", "Builder"]

Functor = Callable[..., Any]

#: Integers that functors get 64 bits wide, so that no sum or difference of theirs wraps.
NARROW = ("int8", "int16", "int32", "uint8", "uint16", "uint32")


class Builder:
    """Text of one loop function in the making.

    Attributes
    ----------
    inputs : dict of str to str
        Variables that are only read -> what the host puts there (an array's role).
    state : dict of str to None
        Variables that are saved between calls, in order.
    functors : dict
        Functor -> its name in the text.
    functions : list of str
        Texts of the phases.
    steps : list of str
        Names of the steps, for the trace.
    records : dict of str to str
        Name of a record -> kind of its elements.
    """

    def __init__(self, layout: Layout, schedule: Schedule) -> None:
        self.layout, self.schedule = layout, schedule
        self.inputs: dict[str, str] = {}
        self.state: dict[str, None] = {}
        self.functors: dict[Functor, str] = {}
        self.functions: list[str] = []
        self.steps: list[str] = []
        self.records: dict[str, str] = {}
        self.blocks: list[list[Any]] = []  # lines, or lists of lines filled in later
        self.want = ""
        self.swaps = False  # whether fields are exchanged
        self.needs_in = False  # in-lists from the start
        self.may_need_in = False  # in-lists if a pull is ever chosen
        self.needs_in_edges = False  # the permutation too
        self.loops: list[list[str]] = []
        self._registers = 0
        self._counter = 0
        self._indent = 3
        self.block()

    # ---- names ---------------------------------------------------------------------------------------

    def unique(self, stem: str) -> str:
        """A name that is not used yet."""
        self._counter += 1
        return f"{stem}_{self._counter}"

    def variable(self, stem: str) -> str:
        """A variable of its own, kept between calls."""
        return self.keep(self.unique(stem))

    def keep(self, name: str) -> str:
        """A variable kept between calls."""
        self.state[name] = None
        return name

    def input(self, name: str, role: str) -> str:
        """A variable that the host sets: the address of an array, or a number."""
        self.inputs[name] = role
        return name

    def array(self, name: str, role: str, dtype: str) -> str:
        """Text for an array whose address the host gives."""
        return f"{dtype}_at({self.input(name, role)})"

    def functor(self, fn: Functor) -> str:
        """Name of a functor in the text."""
        return self.functors.setdefault(fn, f"fn{len(self.functors)}_{_plain(fn.__name__)}")

    def problem(self) -> str:
        """Text for the problem as functors see it."""
        fields = []
        for name, kind, dtype in self.layout.fields:
            if kind == "scalar":
                fields.append(f"np.int64(s_{name})" if dtype in NARROW else f"s_{name}")
            elif kind != "pile":
                fields.append(f"{dtype}_at(a_{name})")
        return f"P({', '.join(fields)})"

    def value(self, fn: Functor) -> str:
        """Text for the value of a functor of the problem alone."""
        return f"{self.functor(fn)}({self.problem()})"

    def call(self, fn: Functor, place: str, ends: dict[str, str]) -> str:
        """Text for a call of a functor inside a phase, with what its arguments are there."""
        inner = "".join(f", {ends[name]}" for name in arguments(fn, place))
        return f"{self.functor(fn)}(p{inner})"

    def register(self) -> Register:
        """A register for a scope."""
        made = Register(self._registers)
        self._registers += 1
        for name in VARIABLES:
            self.keep(getattr(made, name))
        return made

    # ---- arrays of the graph -----------------------------------------------------------------------------

    def lists(self, edges: str) -> tuple[str, str]:
        """Texts for offsets and far ends of out- or in-lists."""
        offsets, ids = self.layout.offsets, self.layout.ids
        if edges == "out":
            return self.array("g_offsets", "offsets", offsets), self.array("g_targets", "targets", ids)
        return self.array("g_in_offsets", "in_offsets", offsets), self.array("g_in_sources", "in_sources", ids)

    def in_edges(self) -> str:
        """Text for the out-edge slot of every in-edge."""
        self.needs_in_edges = True
        return self.array("g_in_edges", "in_edges", self.layout.offsets)

    def weights(self) -> str:
        """Text for the weights."""
        assert self.layout.weights is not None
        return self.array("g_weights", "weights", self.layout.weights)

    def sources(self) -> str:
        """Text for the source of every edge slot."""
        return self.array("g_sources", "sources", self.layout.ids)

    # ---- text ------------------------------------------------------------------------------------------------

    def line(self, *lines: str) -> None:
        """Add lines to the current block."""
        self.blocks[-1].extend("    " * self._indent + line for line in lines)

    def label(self) -> int:
        """Number of a block to be placed later."""
        self._counter += 1
        return self._counter

    def place(self, label: int) -> None:
        """End the current block here and begin the labelled one."""
        if self.blocks:
            self.goto(label)
        self.blocks.append([f"        if pc == {label}:"])

    def block(self) -> None:
        """Begin a new block after the current one."""
        self.place(self.label() if self.blocks else 0)

    def goto(self, label: int) -> None:
        """Go to a labelled block."""
        self.line(f"pc = {label}", "continue")

    def unless(self, condition: str, label: int) -> None:
        """Go to a label unless a condition holds."""
        self.line(f"if not ({condition}):", f"    pc = {label}", "    continue")

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """Text within it runs only if the condition holds."""
        after = self.label()
        self.unless(condition, after)
        yield
        self.place(after)

    def leave(self, code: str, detail: str = "0") -> None:
        """Return to the host from this block; the next call begins with it again."""
        self.line(f"code = {code}", f"detail = {detail}", "break")

    def phase(self, *call: str, after: tuple[str, ...] = ()) -> None:
        """Work that is divided among the workers, then a barrier, then decisions from its counters."""
        self.line(
            "slot = begin(C, t, w, W, deadline)",
            *call,
            "arrivals = finish(C, arrivals, W)",
            "t += 1",
            "stop |= C[slot + STOP]",
            "if C[slot + ERROR] != 0:",
            "    code = C[slot + ERROR]",
            "    break",
            *after,
        )
        rest = self.label()
        self.line("if single:", f"    pc = {rest}", "    code = SINGLE", "    break")
        self.place(rest)

    def function(self, stem: str, parameters: dict[str, str], body: list[str]) -> str:
        """Add a phase's function: the text that calls it.

        ``parameters`` maps its own names to what the loop function passes.
        """
        name = self.unique(_plain(stem))
        head = ", ".join(["p", "C", "slot", "w", "W", *parameters])
        self.functions.append("\n".join([f"def {name}({head}):", *("    " + line for line in body)]))
        return f"{name}({', '.join([self.problem(), 'C', 'slot', 'w', 'W', *parameters.values()])})"

    # ---- frontiers ---------------------------------------------------------------------------------------------

    def capacity(self, kind: str) -> str:
        """Name of the number of vertices, or of edge slots."""
        return self.input("n" if kind == "vertex" else "m", "n" if kind == "vertex" else "m")

    def target(self, register: Register, kind: str) -> tuple[str, str]:
        """Addresses of the queue (and of its scan) that the next frontier is written to."""
        ids = "ids" if kind == "vertex" else "slots"
        a = self.input(register.buffer(ids, "a"), f"{kind}_queue")
        b = self.input(register.buffer(ids, "b"), f"{kind}_queue")
        queue = f"({a} if {register.side} else {b})"
        if kind == "edge":
            return queue, queue
        a = self.input(register.buffer("scan", "a"), "scan")
        b = self.input(register.buffer("scan", "b"), "scan")
        return queue, f"({a} if {register.side} else {b})"

    def scan_of(self, register: Register) -> str:
        """Address of the scan of the register's own side."""
        a = self.input(register.buffer("scan", "a"), "scan")
        b = self.input(register.buffer("scan", "b"), "scan")
        return f"({b} if {register.side} else {a})"

    def produced(self, register: Register, kind: str, want: str) -> tuple[str, ...]:
        """Lines after a phase that wrote the next frontier to :meth:`target`."""
        form = {"": QUEUE, "out": OUT, "in": IN}[want if kind == "vertex" else ""]
        queue, _ = self.target(register, kind)
        return (
            f"{register.queue} = {queue}",
            f"{register.side} = 1 - {register.side}",
            f"{register.count} = C[slot + COUNT]",
            f"{register.edges} = C[slot + EDGES]",
            f"{register.form} = {form}",
            f"{register.kind} = {int(kind == 'edge')}",
        )

    def for_kinds(self, register: Register, emit: Callable[[str], None]) -> None:
        """Emit text for each kind of elements that the register may hold here."""
        kinds = sorted(register.kinds, reverse=True)
        if len(kinds) == 1:
            emit(kinds[0])
            return
        end = self.label()
        for kind in kinds:
            other = self.label()
            self.unless(f"{register.kind} == {int(kind == 'edge')}", other)
            emit(kind)
            self.goto(end)
            self.place(other)
        self.place(end)

    def local(self, name: str) -> str:
        """Text for a worker's own array of collected elements."""
        return f"int64_at({self.input(name, 'local')} + w * (8 * LOCAL))"

    def sparse(self, register: Register) -> None:
        """Make the register's frontier a queue (or all), if a pull may have left a bitmap."""
        if register.dense:
            with self.when(f"{register.form} == {BITS}"):
                self._queue_of_bits(register, "out")

    def _queue_of_bits(self, register: Register, want: str) -> None:
        queue, scan = self.target(register, "vertex")
        offsets, _ = self.lists(want)
        self.phase(
            f"queue_of_bits(C, slot, w, W, uint64_at({register.bits}), {self.capacity('vertex')}, {offsets}, "
            f"{self.layout.ids}_at({queue}), {self.layout.offsets}_at({scan}), "
            f"{self.local('local_ids')}, {self.local('local_prefix')})",
            after=self.produced(register, "vertex", want),
        )

    def scanned(self, register: Register, want: str) -> None:
        """Make it all, or a queue with the scan of its degrees in one direction."""
        form = OUT if want == "out" else IN
        if register.dense:
            with self.when(f"{register.form} == {BITS}"):
                self._queue_of_bits(register, want)
        with self.when(f"{register.form} != {form} and {register.form} != {ALL}"):
            offsets, _ = self.lists(want)
            queue = f"{self.layout.ids}_at({register.queue})"
            before = self.variable("before")
            self.phase(
                f"scan_sums(C, slot, w, W, {queue}, {register.count}, {offsets})",
                after=(f"{before} = slot", f"{register.edges} = partial_total(C, slot, W)"),
            )
            self.phase(
                f"scan_write(C, {before}, w, W, {queue}, {self.layout.offsets}_at({self.scan_of(register)}), "
                f"{register.count}, {offsets})",
                after=(f"{register.form} = {form}",),
            )

    def copy(self, register: Register, kind: str, queue: str, count: str, after: tuple[str, ...] = ()) -> None:
        """Make a copy of a queue of ids the register's frontier."""
        target, _ = self.target(register, kind)
        element = self.layout.element(kind)
        self.phase(
            f"copy_queue(w, W, {element}_at({queue}), False, {element}_at({target}), 0, {count})",
            after=(
                f"{register.queue} = {target}",
                f"{register.side} = 1 - {register.side}",
                f"{register.count} = {count}",
                f"{register.edges} = 0",
                f"{register.form} = {QUEUE}",
                f"{register.kind} = {int(kind == 'edge')}",
                *after,
            ),
        )

    # ---- what steps without phases do ------------------------------------------------------------------------------

    def assign(self, scalar: str, text: str) -> str:
        """Line that gives a scalar a value, in its own dtype."""
        dtype = self.layout.dtype(scalar)
        return f"s_{scalar} = truth({text})" if dtype == "bool" else f"s_{scalar} = np.{dtype}({text})"

    def set_scalars(self, values: dict[str, Any]) -> None:
        """All values are computed before any is assigned."""
        names = {name: self.unique("value") for name in values}
        for name, value in values.items():
            text = self.value(value) if callable(value) else repr(value)
            self.line(self.assign(name, text).replace(f"s_{name} = ", f"{names[name]} = ", 1))
        for name, made in names.items():
            self.line(f"s_{name} = {made}")

    def swap(self, first: str, second: str) -> None:
        """Exchange two fields: addresses, or a scalar's values, or what a pile is made of."""
        self.swaps = True
        kind = next(kind for name, kind, _ in self.layout.fields if name == first)
        stems = ["s"] if kind == "scalar" else ["a"]
        if kind == "pile":
            self.pile(first), self.pile(second)
            stems = ["pile", "held", "epoch", "stamps"]
        for stem in stems:
            a, b = f"{stem}_{first}", f"{stem}_{second}"
            self.line(f"{a}, {b} = {b}, {a}")

    def pile(self, name: str) -> str:
        """Declare what a pile is made of; the kind of its elements."""
        for stem in ("pile", "held", "epoch", "stamps"):
            self.keep(f"{stem}_{name}")
        return self.layout.dtype(name)

    def take(self, name: str, register: Register) -> None:
        """The pile's content becomes the frontier; the pile is empty after."""
        kind = self.pile(name)
        register.kinds = frozenset({kind})
        self.copy(
            register, kind, f"pile_{name}", f"held_{name}", (f"held_{name} = 0", f"epoch_{name} += 1")
        )


def _plain(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else "functor"
