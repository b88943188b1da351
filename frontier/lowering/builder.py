"""The class Builder: one program in the making, to which operators add their nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any, Self

import numpy as np

from frontier.functors.functor import has_loop
from frontier.lowering.frontier_forms import Frontiers
from frontier.lowering.frontier_state import FrontierState
from frontier.lowering.inputs import WorkerArray
from frontier.lowering.ir import (
    Assign,
    Branch,
    Call,
    Const,
    Decide,
    Deferred,
    Exit,
    Expr,
    Leave,
    Local,
    Loop,
    Node,
    Phase,
    Swap,
    Value,
    Var,
    Way,
    cast,
    equal,
    expression,
)
from frontier.lowering.phases import VALUE, Functor, Phases
from frontier.lowering.variables import WORKER, WORKERS, pointer
from frontier.program.layout import Layout
from frontier.program.order import display_name
from frontier.program.schedule import ResolvedSchedule
from frontier.program.step import Step

__all__ = ["Builder", "Functor"]

#: How many edges' worth of work one call of a functor with a loop is, besides those of its list.
LOOPING = 16


class Builder(Phases):
    """One program in the making: its nodes, frontiers, scalars and piles.

    Attributes
    ----------
    nodes : list of Node
        The program so far.
    within : list of Node
        Where nodes are added.
    current_work : Local or None
        The work of a step that is being added.
    deferred, left_out : list of Deferred
        What is compiled only when a run first comes to it, and what of that is not part of this program.
    loops : list of list of Node
        Of the program and of every loop around the step at hand: nodes that run where it begins.
    frontiers : Frontiers
    given, result : FrontierState
        The frontier that the program starts with, and the one that it gives.
    steps : list of str
        Names of the steps, for the trace.
    records : dict of str to str
        Name of a record -> kind of its elements.
    into : dict
        Functor -> the field or scalar that gets its values.
    """

    #: Whose program it is; the operators make their phases for it.
    backend = "cpu"

    #: What divides the work of a phase, as in "the threads' results".
    sharers = "threads"

    #: Whether all lists are known to be short, so that a pull is not worth while.
    low_degree = False

    given: FrontierState
    result: FrontierState
    made: FrontierState  # of the scope lowered last
    whole: Step
    into: dict[Functor, str]

    def __init__(
        self, layout: Layout, schedule: ResolvedSchedule, frontiers: Callable[[Self], Frontiers] = Frontiers
    ) -> None:
        super().__init__(layout, schedule)
        self.nodes: list[Node] = []
        self.within = self.nodes
        self.current_work: Local | None = None
        self.loops: list[list[Node]] = []
        self.deferred: list[Deferred] = []
        self.left_out: list[Deferred] = []
        self.steps: list[str] = []
        #: How many steps it has, which is known at its end.
        self.number_of_steps = Const(0)
        self.records: dict[str, str] = {}
        self.next_scan = ""
        self.swaps = False  # whether fields are exchanged
        self.frontiers = frontiers(self)

    @property
    def described(self) -> str:
        """What runs the program, in words."""
        return "cpu: one function, run by one thread, which other threads help in phases that have enough work"

    @property
    def title(self) -> str:
        """Return the name of the program for the report that it is being compiled."""
        return " ".join(self.steps) + " with pull" * bool(self.deferred)

    def explained(self) -> str:
        """The program as pseudo-code."""
        from frontier.lowering.explain import explained

        return explained(self)

    # ---- nodes ---------------------------------------------------------------------------------------------

    def add(self, *nodes: Node) -> None:
        """Add nodes."""
        self.within.extend(nodes)

    def set(self, target: Var | Any, value: Value) -> None:
        """Assign a value to a variable."""
        self.add(Assign(target, expression(value)))

    @contextmanager
    def inside(self, nodes: list[Node]) -> Iterator[None]:
        """Within this context, nodes are added to the given list."""
        outer, self.within = self.within, nodes
        try:
            yield
        finally:
            self.within = outer

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
    def locally(
        self, step: Step | None = None, target: FrontierState | None = None, way: Way = "push"
    ) -> Iterator[None]:
        """Within this context, nodes are what a machine does with its own part of a frontier.

        All phases of a step are added so, and bookkeeping without a step. What is added outside is decided by what all
        machines have together: see :class:`frontier.lowering.ir.Local`.
        """
        made = Local("", step=step, target=target, way=way, kinds=target.kinds if target else frozenset())
        self.add(made)
        outer, self.current_work = self.current_work, made
        with self.inside(made.body):
            yield
        self.current_work = outer

    def for_kinds(self, current: FrontierState, emit: Callable[[str], None]) -> None:
        """Emit nodes for each kind of elements that the frontier may hold here."""
        *others, last = sorted(current.kinds, reverse=True)
        outer = self.within
        for kind in others:
            with self.when(equal(current.kind, int(kind == "edge"))) as branch:
                emit(kind)
            self.within = branch.no
        emit(last)
        self.within = outer

    # ---- loops ---------------------------------------------------------------------------------------------

    @contextmanager
    def loop(self, title: str = "", passes: Var | None = None) -> Iterator[None]:
        """Within this context, nodes are repeated until :meth:`leave_loop`; ``passes`` counts how often."""
        made = Loop(title=title, passes=passes)
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
    ) -> Phase:
        """Work that is divided among the workers, then a barrier, then decisions from its counters.

        Parameters
        ----------
        call : Call
            What all workers call, as :meth:`kernel` or :meth:`divided` return it.
        after : sequence of Node
            What follows the barrier, such as :meth:`.Frontiers.produced`; the same in all workers.
        title, functors, writes
            For ``explain``: what the phase does, the functors that it calls, and fields that it writes besides them.
        work : Expr, optional
            See :class:`frontier.lowering.ir.Phase`.
        """
        called = tuple(fn for fn in functors if fn is not None)
        made = Phase(call, list(after), title or call.function, called, tuple(writes), work=work)
        self.add(made)
        return made

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

    # ---- what phases are given -----------------------------------------------------------------------------

    def work_on(self, count: Value, fn: Functor | None = None, edges: bool = False) -> Expr:
        """The work on so many elements, for which a functor is called, each with its edges if there are ``edges``.

        A functor with a loop is taken to go over a list of edges, and some.
        """
        mean = self.capacity("edge") // Call("max", self.capacity("vertex"), 1) + 1
        looping = fn is not None and any(has_loop(part.function.__code__) for part in self.captured(fn).reached())
        each = mean * (LOOPING if looping else 1) if edges else mean + LOOPING if looping else expression(1)
        return expression(count) * each

    def local_array(self, key: str) -> Expr:
        """A worker's own array of collected elements."""
        return pointer("int64", self.input(key, WorkerArray("locals")) + WORKER * (8 * Var("LOCAL")))

    def places(self) -> Expr:
        """A worker's own array with an edge slot for each vertex; it may hold anything at first."""
        dtype = self.layout.offsets
        size = np.dtype(dtype).itemsize * self.capacity("vertex")
        return pointer(dtype, self.input("places", WorkerArray("places")) + WORKER * size)

    # ---- what steps without phases do ------------------------------------------------------------------------------

    def typed(self, scalar: str, value: Value) -> Expr:
        """A value as the scalar's dtype holds it."""
        dtype = self.layout.dtype(scalar)
        if dtype == "bool":
            return Call("truth", value)
        return cast(dtype, value if dtype.startswith("float") else Call("integer", value))

    def assign(self, scalar: str, value: Value) -> Assign:
        """Node that gives a scalar a value, in its own dtype."""
        return Assign(self.scalars[scalar], self.typed(scalar, value))

    def decided(self, fn: Functor, wants: str = "") -> Var:
        """A variable that gets the value of a functor of the problem alone; the run ends if it raises."""
        self.functor(fn)
        made = self.local("decided", "any", f"{fn.__name__}(p)")
        self.add(Decide(made, fn, self.problem(), wants))
        return made

    def set_scalars(self, values: dict[str, Any]) -> None:
        """All values are computed before any is assigned."""
        made = {}
        for name, value in values.items():
            wants = "" if self.layout.dtype(name) == "bool" else VALUE
            found = self.decided(value, wants) if callable(value) else value
            made[name] = self.local("value", self.layout.dtype(name), f"the new {display_name(name)}")
            self.set(made[name], self.typed(name, found))
        for name, value in made.items():
            self.set(self.scalars[name], value)

    def swap(self, first: str, second: str) -> None:
        """Exchange two fields: addresses, or a scalar's values, or what a pile is made of."""
        self.swaps = True
        kind = next(kind for name, kind, _ in self.layout.fields if name == first)
        if kind == "scalar":
            self.add(Swap(self.scalars[first], self.scalars[second]))
            return
        stems = ("pile", "held", "epoch", "stamps") if kind == "pile" else ("field",)
        if kind == "pile":
            self.pile(first)
            self.pile(second)
        for stem in stems:
            self.add(Swap(self.keep(f"{stem}:{first}"), self.keep(f"{stem}:{second}")))

    def pile(self, name: str) -> str:
        """Declare what a pile is made of; the kind of its elements."""
        for stem, meaning in (("pile", "{}"), ("held", "len({})"), ("epoch", ""), ("stamps", "")):
            self.keep(f"{stem}:{name}", meaning.format(display_name(name)))
        return self.layout.dtype(name)
