"""The text of a loop function: expressions, control flow, blocks. A backend says what a phase is, who keeps variables.

Whoever keeps the variables computes the control flow from the same values, so that nothing is broadcast for it: one
thread or all, see the printers of the backends. Work is divided only inside phases.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from frontier.lowering.blocks import Block, Flow, Jump, Lines, laid_out
from frontier.lowering.builder import Builder
from frontier.lowering.ir import (
    Assign,
    Branch,
    Call,
    Choice,
    Const,
    Counter,
    Decide,
    Expr,
    Item,
    Leave,
    Node,
    Op,
    Phase,
    Swap,
    Together,
    Var,
    expression,
)
from frontier.lowering.variables import CODE, CONTROL, DETAIL, PC

__all__ = ["Printer", "indented", "number"]


def indented(lines: list[str], depth: int = 1) -> list[str]:
    """Lines within a block of text."""
    return ["    " * depth + line for line in lines]


def number(value: float) -> str:
    """Text of a number, also of one that Python has no literal for."""
    if isinstance(value, float) and not math.isfinite(value):
        return "np.nan" if math.isnan(value) else "np.inf" if value > 0 else "-np.inf"
    kind = bool if isinstance(value, bool) else float if isinstance(value, float) else int
    return kind.__repr__(value)  # not that of a class of the user's, which may be any text


class Printer:
    """Text of a program's loop function; a backend's printer adds :meth:`phase` and :meth:`head`.

    Parameters
    ----------
    program : Builder
    """

    def __init__(self, program: Builder) -> None:
        self.program = program

    # ---- expressions -----------------------------------------------------------------------------------------

    def read(self, var: Var) -> str:
        """Text for the value of a variable."""
        return var.name

    def place(self, var: Var) -> str:
        """Text for a variable that is assigned to."""
        return var.name

    def counter(self, counter: Counter) -> str:
        """Text for a counter of the phase that has just ended."""
        return f"C[slot + {self.word(counter)}]"

    def word(self, counter: Counter) -> str:
        """Text for the place of a counter among those of a phase."""
        return f"{counter.word} + {counter.more}" if counter.more else counter.word

    def value(self, made: Expr) -> str:
        """Text of an expression."""
        if isinstance(made, Var):
            return self.read(made)
        if isinstance(made, Const):
            return number(made.value)
        if isinstance(made, Call):
            return f"{made.function}({', '.join(map(self.value, made.arguments))})"
        if isinstance(made, Item):
            return f"{self.value(made.array)}[{self.value(made.index)}]"
        if isinstance(made, Counter):
            return self.counter(made)
        if isinstance(made, Choice):
            return f"({self.value(made.yes)} if {self.value(made.condition)} else {self.value(made.no)})"
        assert isinstance(made, Op), made
        if len(made.operands) == 1:
            return f"({made.symbol} {self.value(made.operands[0])})"
        return "(" + f" {made.symbol} ".join(map(self.value, made.operands)) + ")"

    # ---- control flow ------------------------------------------------------------------------------------------

    def lines(self, node: Node) -> list[str]:
        """Lines of a node without phases."""
        if isinstance(node, Lines):
            return node.lines
        if isinstance(node, Assign):
            return [self.assigned(node.target, self.value(node.value))]
        if isinstance(node, Together):
            return [self.assigned(node.target, self.value(node.value))]
        if isinstance(node, Swap):
            first, second = self.place(node.first), self.place(node.second)
            return [f"{first}, {second} = {second}, {first}"]
        if isinstance(node, Decide):
            return self._decide(node)
        if isinstance(node, Leave):
            detail = [] if node.detail is None else [self.assigned(DETAIL, self.value(expression(node.detail)))]
            return [self.assigned(CODE, node.code), *detail, "break"]
        assert isinstance(node, Branch), node
        made = [f"if {self.value(node.condition)}:", *indented(self._all(node.yes) or ["pass"])]
        return [*made, "else:", *indented(self._all(node.no))] if node.no else made

    def _all(self, nodes: list[Node]) -> list[str]:
        return [line for node in nodes for line in self.lines(node)]

    def assigned(self, target: Var | Item, text: str) -> str:
        """The line that gives a variable, or an element of an array, a value."""
        return f"{self.place(target) if isinstance(target, Var) else self.value(target)} = {text}"

    def _decide(self, node: Decide) -> list[str]:
        program = self.program
        functor, problem = program.functor(node.functor), self.value(node.problem)
        call = f"tried{node.wants}({functor}, C, {program.number(node.functor)}, {problem})"
        failed = [self.assigned(CODE, "FUNCTOR_FAILED"), "break"]
        return [f"{node.target.name}, failed = {call}", "if failed:", *indented(failed)]

    # ---- blocks --------------------------------------------------------------------------------------------

    def phase(self, flow: Flow, node: Phase) -> None:
        """Add a phase to the flow: its work, and where workers meet; see :meth:`ended`."""
        raise NotImplementedError

    def ended(self, flow: Flow, node: Phase) -> None:
        """Add what follows a phase: all that keep the variables find the same in its counters."""
        failed = self.counter(Counter("ERROR"))
        flow.add(Lines([
            "t += 1",
            f"stop |= {self.counter(Counter('STOP'))}",
            f"if {failed} != 0:",
            f"    code = {failed}",
            "    break",
        ]))  # fmt: skip
        flow.add(*node.after)
        rest = flow.label()
        flow.add(Lines(["if single:", f"    pc = {rest}", "    code = SINGLE", "    break"]))
        flow.place(rest)

    def machine(self) -> list[str]:
        """Lines of all blocks, for a loop without end."""
        blocks = Flow(self.program.nodes, self.phase, not self.program.left_out).blocks
        return [line for block, below in laid_out(blocks) for line in self._block(block, below)]

    def _block(self, block: Block, below: set[int]) -> list[str]:
        return [f"if {self.read(PC)} == {block.label}:", *indented(list(self._within(block.nodes, below)))]

    def _within(self, nodes: list[Node], below: set[int]) -> Iterator[str]:
        """Lines of a block; blocks ``below`` are gone to without ``continue``."""
        for i, node in enumerate(nodes):
            if not isinstance(node, Jump):
                yield from self.lines(node)
                continue
            go = self.assigned(PC, str(node.label))
            falls = node.label in below
            if node.always:
                yield go
                if not falls:
                    yield "continue"
                return
            if node.unless is not None:
                yield f"if not {self.value(node.unless)}:"
            else:
                assert node.when is not None
                yield f"if {self.value(node.when)}:"
            yield f"    {go}"
            if not falls:
                yield "    continue"
                continue
            yield "else:"
            yield from indented(list(self._within(nodes[i + 1 :], below)) or ["pass"])
            return

    # ---- the function ------------------------------------------------------------------------------------------

    def function(self) -> list[str]:
        """Lines of the loop function."""
        return [*self.head(), *indented(["stop = np.int64(0)", "code = np.int64(DONE)", "while True:"]),
                *indented(self.machine(), 2), *indented(self.tail())]  # fmt: skip

    def loads(self) -> list[str]:
        """Lines that read all variables from the table."""
        table, scalars = self.program.table(), self.program.scalars
        lines = []
        for i, (key, var) in enumerate(table.items()):
            if key == CONTROL[0]:
                lines += [f"C = int64_at(T[{i}])", f"F = float64_at(T[{i}])"]
            elif var in scalars.values():
                lines.append(f"{var.name} = {var.dtype}_at(T[{i}])[0]")
            else:
                lines.append(f"{var.name} = T[{i}]")
        return lines

    def head(self) -> list[str]:
        """Lines with which the function begins: how it is called, and all variables."""
        raise NotImplementedError

    def tail(self) -> list[str]:
        """One worker writes back what has changed."""
        return ["if w == 0:", *indented(self.written())]

    def written(self) -> list[str]:
        """Lines that write what has changed to the table."""
        program, lines = self.program, []
        kept = {CODE, DETAIL, *program.state.values()}
        for i, var in enumerate(program.table().values()):
            if var in kept:
                lines.append(f"T[{i}] = {self.read(var)}")
            elif var in program.scalars.values():
                lines.append(f"{var.dtype}_at(T[{i}])[0] = {self.read(var)}")
        return lines
