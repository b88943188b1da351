"""Text of a loop function: names, blocks and phases; what frontiers are is added by :mod:`frontier.lowering.builder`.

The function is a machine with one state variable, ``pc``: blocks of straight text, each of which says
which comes next. All workers run the same blocks and keep the same variables; work is divided only inside
phases, which end in a barrier. What steers (counts, tests of loops, Set) is computed by every worker for
itself from the same values, so it needs no barrier and no broadcast. All variables are 64-bit integers
that are saved when the function returns and loaded when it is called again: so a run can stop at any
boundary and go on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

from frontier.adjacency import hidden
from frontier.captures import Captured, capture
from frontier.functors import arguments, plain
from frontier.lowering.layout import Layout
from frontier.lowering.registers import VARIABLES, Register
from frontier.schedule import ResolvedSchedule

__all__ = ["NARROW", "VALUE", "Deferred", "Functor", "Text", "checking"]

Functor = Callable[..., Any]

#: Integers that functors get 64 bits wide, so that no sum or difference of theirs wraps.
NARROW = ("int8", "int16", "int32", "uint8", "uint16", "uint32")

#: For calls of functors whose value is computed with: to return nothing is an error there, and no otherwise.
VALUE = "_value"


def checking() -> bool:
    """Whether compiled functors are to check every access: ``FRONTIER_CHECK=1``."""
    return os.environ.get("FRONTIER_CHECK", "0") not in ("", "0")


def _wide(array: str) -> str:
    """Text for an array as functors see it: narrow integers are read as int64."""
    return f"wide_{array}" if array.startswith(("int8", "int16", "int32")) else array


@dataclass(frozen=True)
class Deferred:
    """What is compiled only when a run first comes to it.

    Attributes
    ----------
    instead : list of str
        The block that stands in its place until then.
    blocks, functions : slice
        Where it stands in the program's.
    """

    instead: list[Any]
    blocks: slice
    functions: slice


class Text:
    """Text of one loop function in the making.

    Attributes
    ----------
    inputs : dict of str to str
        Variables that are only read -> what the host puts there (an array's role).
    state : dict of str to None
        Variables that are saved between calls, in order.
    functors : dict
        Functor -> its name in the text.
    captures : dict
        Functor -> what it takes from outside, which is compiled with it.
    functions : list of str
        Texts of the phases.
    steps : list of str
        Names of the steps, for the trace.
    records : dict of str to str
        Name of a record -> kind of its elements.
    deferred : list of Deferred
        What is compiled only when a run first comes to it.
    checks : bool
        Whether functors check every access to a field.
    topology : list of str
        Arrays of the graph that functors ask for, which get them as hidden fields of the problem.
    """

    #: Whose text it is; the operators make their phases for it.
    backend = "cpu"

    #: Whether all lists are known to be short, so that a pull is not worth while.
    narrow = False

    def __init__(self, layout: Layout, schedule: ResolvedSchedule) -> None:
        self.layout, self.schedule = layout, schedule
        self.inputs: dict[str, str] = {}
        self.state: dict[str, None] = {}
        self.functors: dict[Functor, str] = {}
        self.captures: dict[Functor, Captured] = {}
        self.functions: list[str] = []
        self.deferred: list[Deferred] = []
        self.steps: list[str] = []
        self.records: dict[str, str] = {}
        self.topology: list[str] = []
        self.checks = checking()
        self.blocks: list[list[Any]] = []  # lines, or lists of lines filled in later
        self.want = ""
        self.swaps = False  # whether fields are exchanged
        self.needs_in = False  # in-lists from the start
        self.needs_in_edges = False  # the permutation too
        self.loops: list[list[str]] = []
        self._registers = 0
        self._places: dict[tuple[bool, int], int] = {}
        self._counter = 0
        self._indent = 3
        self.block()

    @property
    def title(self) -> str:
        """What is said to be compiled."""
        return " ".join(self.steps) + " with pull" * bool(self.deferred)

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
        return self.functors.setdefault(fn, f"fn{len(self.functors)}_{plain(fn.__name__)}")

    def captured(self, fn: Functor) -> Captured:
        """What a functor took from outside when the program was asked for: that is compiled."""
        if fn not in self.captures:
            self.captures[fn] = capture(fn)
        return self.captures[fn]

    def problem(self) -> str:
        """Text for the problem as functors see it."""
        numbers = {name: number for number, name in enumerate(self.checked_fields())}
        texts = [
            f"checked_{numbers[name]}({text}, {length})" if name in numbers else text
            for name, text, length in self._fields()
        ]
        return f"P({', '.join(texts)})"

    def checked_fields(self) -> list[str]:
        """Names of the fields whose every access is checked, by their numbers."""
        return [name for name, _, length in self._fields() if length] if self.checks else []

    def checkers(self) -> list[str]:
        """Lines that give the names of what makes checked fields."""
        return [f"checked_{number} = checked({number})" for number in range(len(self.checked_fields()))]

    def _fields(self) -> list[tuple[str, str, str]]:
        """Name, text and, where it is an array and they are asked for, text for the length of what functors see."""
        found = []
        for name, kind, dtype in self.layout.fields:
            if kind == "scalar":
                found.append((name, f"np.int64(s_{name})" if dtype in NARROW else f"s_{name}", ""))
            elif kind != "pile":
                found.append((name, _wide(f"{dtype}_at(a_{name})"), self._length(name, kind)))
        for name in self.topology:
            length = self._length(name, "vertex" if name == "offsets" else "edge")
            more = " + 1" if length and name == "offsets" else ""
            found.append((hidden(name), _wide(self._of_graph(name)), length + more))
        return found

    def _length(self, name: str, kind: str) -> str:
        if not self.checks:
            return ""
        if kind == "array":
            return self.input(f"len_{name}", f"length {name}")
        return self.input("n" if kind == "vertex" else "m", "n" if kind == "vertex" else "m")

    def _of_graph(self, name: str) -> str:
        """Text for an array of the graph that functors ask for."""
        if name in ("offsets", "targets"):
            return self.lists("out")[name == "targets"]
        return self.sources() if name == "sources" else self.weights()

    def number(self, fn: Functor) -> int:
        """Number by which compiled code names a functor to the host."""
        self.functor(fn)
        return list(self.functors).index(fn)

    def decided(self, fn: Functor, wants: str = "") -> str:
        """Name of a variable that gets the value of a functor of the problem alone; the run ends if it raises.

        All workers call it alike, so all leave here. ``wants`` is :data:`VALUE`, or "".
        """
        made = self.unique("decided")
        call = f"tried{wants}({self.functor(fn)}, C, {self.number(fn)}, {self.problem()})"
        self.line(f"{made}, failed = {call}", "if failed:", "    code = FUNCTOR_FAILED", "    break")
        return made

    def call(self, fn: Functor, place: str, ends: dict[str, str], wants: str = "") -> str:
        """Text for a call of a functor inside a phase, with what its arguments are there."""
        if "weight" in ends and (self.layout.weights or "float").lstrip("u").startswith("int"):
            ends = ends | {"weight": f"np.int64({ends['weight']})"}
        inner = "".join(f", {ends[name]}" for name in arguments(fn, place))
        return f"guarded{wants}({self.functor(fn)}, C, slot, {self.number(fn)}, p{inner})"

    def count_over(self, over: int | str | None) -> str:
        """Text for the number of calls of a functor of ``i``: what ``over=`` says, or the scalar of that name holds."""
        return f"max(np.int64(s_{over}), np.int64(0))" if isinstance(over, str) else str(over)

    def register(self) -> Register:
        """A register for a scope."""
        made = Register(self._registers, places=self._places)
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

    @contextmanager
    def defer(self, label: int) -> Iterator[None]:
        """Begin a labelled block; it and what is added within are compiled when a run first comes there."""
        self.place(label)
        self.leave("NEED_CODE")
        instead = self.blocks.pop()
        self.blocks.append(instead[:1])
        blocks, functions = len(self.blocks) - 1, len(self.functions)
        yield
        self.deferred.append(
            Deferred(instead, slice(blocks, len(self.blocks)), slice(functions, len(self.functions)))
        )

    def without_deferred(self) -> Self:
        """The same program, but that the run leaves with ``NEED_CODE`` where something deferred begins.

        Variables and labels are the same, so the run can go on in the whole program where it left.
        """
        made = copy(self)
        made.blocks, made.functions, made.deferred = list(self.blocks), list(self.functions), []
        for part in reversed(self.deferred):  # the last one first, so that the others stay where they are
            made.blocks[part.blocks] = [part.instead]
            del made.functions[part.functions]
        return made

    def leave(self, code: str, detail: str = "0") -> None:
        """Return to the host from this block; the next call begins with it again."""
        self.line(f"code = {code}", f"detail = {detail}", "break")

    def counter(self, word: str) -> str:
        """Text for a counter of the phase that has just ended."""
        return f"C[slot + {word}]"

    def barrier(self) -> tuple[str, str]:
        """Lines that enter and leave a phase."""
        return "slot = begin(C, t, w, W, deadline)", "arrivals = finish(C, arrivals, W)"

    def phase(self, *call: str, after: tuple[str, ...] = ()) -> None:
        """Work that is divided among the workers, then a barrier, then decisions from its counters."""
        enter, leave = self.barrier()
        self.line(
            enter,
            *call,
            leave,
            "t += 1",
            f"stop |= {self.counter('STOP')}",
        )
        found = self.counter("ERROR")
        self.line(f"if {found} != 0:", f"    code = {found}", "    break")
        self.line(*after)
        rest = self.label()
        self.line("if single:", f"    pc = {rest}", "    code = SINGLE", "    break")
        self.place(rest)

    def function(self, stem: str, parameters: dict[str, str], body: list[str]) -> str:
        """Add a phase's function: the text that calls it.

        ``parameters`` maps its own names to what the loop function passes.
        """
        name = self.unique(plain(stem))
        head = ", ".join(["p", "C", "slot", "w", "W", *parameters])
        self.functions.append("\n".join([f"def {name}({head}):", *("    " + line for line in body)]))
        return f"{name}({', '.join([self.problem(), 'C', 'slot', 'w', 'W', *parameters.values()])})"
