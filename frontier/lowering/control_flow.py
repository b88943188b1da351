"""The class ControlFlow: assignments, branches, loops and phases as nodes of a program in the making."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any, Self

from frontier.lowering.ir import (
    Assign,
    Branch,
    Call,
    Deferred,
    Exit,
    Expr,
    Leave,
    Loop,
    Node,
    Phase,
    Region,
    Resume,
    Value,
    Var,
    expression,
)
from frontier.lowering.phases import Functor, Phases
from frontier.lowering.variables import WORKER, WORKERS
from frontier.program.layout import Layout
from frontier.program.schedule import ResolvedSchedule

__all__ = ["ControlFlow"]


class ControlFlow(Phases):
    """Nodes of one program in the making.

    Attributes
    ----------
    nodes : list of Node
        The program so far.
    deferred, left_out : list of Deferred
        What is compiled only when a run first comes to it, and what of that is not part of this program.
    loops : list of list of Node
        Of the program and of every loop around the step at hand: nodes that run where it begins.
    """

    def __init__(self, layout: Layout, schedule: ResolvedSchedule) -> None:
        super().__init__(layout, schedule)
        self.nodes: list[Node] = []
        self.loops: list[list[Node]] = []
        self.deferred: list[Deferred] = []
        self.left_out: list[Deferred] = []
        self._within = self.nodes  # where nodes are added

    def add(self, *nodes: Node) -> None:
        """Add nodes."""
        self._within.extend(nodes)

    def set(self, target: Var | Any, value: Value) -> None:
        """Assign a value to a variable."""
        self.add(Assign(target, expression(value)))

    @contextmanager
    def inside(self, nodes: list[Node]) -> Iterator[None]:
        """Within this context, nodes are added to the given list."""
        outer, self._within = self._within, nodes
        try:
            yield
        finally:
            self._within = outer

    @contextmanager
    def when(self, condition: Expr) -> Iterator[Branch]:
        """Within this context, nodes are executed only if the condition holds; see also ``otherwise``."""
        branch = Branch(condition)
        self.add(branch)
        with self.inside(branch.yes):
            yield branch

    @contextmanager
    def otherwise(self, branch: Branch) -> Iterator[None]:
        """Within this context, nodes are executed if the condition of :meth:`when` did not hold."""
        with self.inside(branch.no):
            yield

    @contextmanager
    def region(self, title: str) -> Iterator[None]:
        """Within this context, nodes form a group."""
        made = Region(title)
        self.add(made)
        with self.inside(made.body):
            yield

    # ---- loops ---------------------------------------------------------------------------------------------

    @contextmanager
    def loop(self, title: str = "") -> Iterator[None]:
        """Within this context, nodes are repeated until :meth:`leave_loop`."""
        made = Loop(title=title)
        self.add(made)
        with self.inside(made.body):
            yield

    def leave_loop(self, *, when: Expr | None = None, unless: Expr | None = None) -> None:
        """Leave the innermost loop."""
        self.add(Exit(when, unless))

    def at_loop_start(self, *nodes: Node) -> None:
        """Nodes that run where the innermost loop begins."""
        self.loops[-1].extend(nodes)

    # ---- phases --------------------------------------------------------------------------------------------

    def phase(
        self,
        call: Call,
        after: Sequence[Node] = (),
        title: str = "",
        functors: Sequence[Functor | None] = (),
        writes: Sequence[str] = (),
        *,
        work: Expr | None = None,
    ) -> None:
        """Work that is divided among the workers, then a barrier, then decisions from its counters.

        Parameters
        ----------
        call : Call
            What all workers call, as :meth:`kernel` or :meth:`divided` return it.
        after : sequence of Node
            What follows the barrier, such as :meth:`produced`; the same in all workers.
        title, functors, writes
            For ``explain``: what the phase does, the functors that it calls, and fields that it writes besides them.
        work : Expr, optional
            See :class:`frontier.lowering.ir.Phase`.
        """
        called = tuple(fn for fn in functors if fn is not None)
        self.add(Phase(call, list(after), title or call.function, called, tuple(writes), work=work))

    def divided(self, function: str, *arguments: Value) -> Call:
        """Call of a function of the runtime that is a phase by itself: its first arguments are the same in all."""
        return Call(function, WORKER, WORKERS, *arguments)

    # ---- deferred code, and returns to the host ------------------------------------------------------------

    @contextmanager
    def defer(self) -> Iterator[None]:
        """Within this context, nodes are compiled only when a run first reaches them."""
        made = Deferred()
        self.add(made)
        with self.inside(made.body):
            yield
        self.deferred.append(made)

    def without_deferred(self) -> Self:
        """The same program, but that the run leaves with ``NEED_CODE`` where something deferred begins.

        Variables and labels are the same, so the run can go on in the whole program where it left.
        """
        made = copy(self)
        made.deferred, made.left_out = [], self.deferred
        return made

    def leave(self, code: str, detail: Value | None = None) -> None:
        """Return to the host; the next call begins with the present block again."""
        self.add(Leave(code, detail))

    def resume(self) -> None:
        """A run that leaves after here goes on here."""
        self.add(Resume())
