"""What a prepared call keeps from one call to the next: its problems with their memory, and its runs.

While a prepared call runs, ``fr.Problem`` and the start of a run ask :class:`Kept` for what the last call had at the
same place. The code of primitives does not know about it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from operator import is_
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from frontier import tracing
from frontier.memory.arrays import adopt, is_device, matching
from frontier.program.frontiers import Frontier
from frontier.program.pairs import pair_fillers
from frontier.program.step import captures_of
from frontier.program.values import fits, plain

if TYPE_CHECKING:
    from frontier.functors.captures import Captures
    from frontier.graph.graph import Graph
    from frontier.program.execution import Execution
    from frontier.program.problem import Field, Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["Kept", "KeptProblem", "Repeatable", "copied"]

#: Problems that a prepared call keeps at most, so that what makes one for each of many steps does not fill the memory.
MOST = 16


@runtime_checkable
class Repeatable(Protocol):
    """An execution that can begin again on the problem that it had."""

    @property
    def done(self) -> bool:
        """Whether it has come to its end."""

    def again(self, f: Frontier | None) -> bool:
        """Begin from another frontier; False if another run has the memory."""


class _Run(NamedTuple):
    """A run that is done, and on what it depends besides the problem."""

    schedule: ResolvedSchedule
    captures: Captures
    kind: str | None
    hidden: list[tuple[Any, Any]]  #: Hidden scalars, and with which values it began.
    fields: int  #: Their number: a run of another step may have added hidden ones.
    execution: Repeatable


class Kept:
    """The problems of a prepared call, in the order in which the last call made them.

    Parameters
    ----------
    graph : Graph
        Problems on other graphs are not kept, and neither are their runs.
    given : KeptProblem, optional
        One that is there before the first call.
    """

    def __init__(self, graph: Graph, given: KeptProblem | None = None) -> None:
        self._graph, self._given = graph, given
        self._problems: list[KeptProblem | None] = []
        self._next = 0

    def begin(self) -> None:
        """Start at the first problem again."""
        self._next = 0

    def forget(self) -> None:
        """Keep nothing: after an error arrays and runs may be in any state."""
        self._problems.clear()
        if self._given is not None:
            self._given.runs.clear()

    def take(self, p: Problem, graph: Graph, fields: dict[str, Field]) -> bool:
        """Make a new problem the one that the last call made here, with initial values; False if that is another."""
        if graph is not self._graph:
            return False
        at = self._next
        self._next += 1
        if at >= len(self._problems):
            return False
        known = self._problems[at]
        if known is None or not known.suits(fields):
            del self._problems[at:]
            return False
        object.__setattr__(p, "__dict__", known.store)
        known.reset(p, fields)
        return True

    def keep(self, p: Problem, graph: Graph, fields: dict[str, Field]) -> None:
        """Keep a problem that was made because there was none to take."""
        if graph is self._graph and len(self._problems) == self._next - 1 < MOST:
            self._problems.append(KeptProblem(p, fields) if p._store.reusable else None)

    def has(self, p: Problem) -> bool:
        """Whether it keeps a problem."""
        return self._runs_of(p) is not None

    def run_again(self, step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule) -> Execution | None:
        """Begin the run of a step on a problem once more; None if there was none like it."""
        runs = self._runs_of(p)
        known = None if runs is None else runs.get(step)
        if known is None or tracing.active() or not known.execution.done:
            return None
        if known.schedule is not schedule or known.kind != (None if f is None else f.kind):
            return None
        if known.fields != len(p.fields) or captures_of(step) is not known.captures:
            return None
        for scalar, value in known.hidden:
            scalar[0] = value
        return known.execution if known.execution.again(f) else None  # type: ignore[return-value]

    def keep_run(
        self, step: Step, p: Problem, f: Frontier | None, schedule: ResolvedSchedule, begun: Execution
    ) -> None:
        """Keep a run that has just begun."""
        runs = self._runs_of(p)
        if runs is None or tracing.active() or not isinstance(begun, Repeatable):
            return
        hidden = [(scalar, scalar[0]) for name, scalar in p.scalars.items() if name.endswith("__")]
        kind = None if f is None else f.kind
        runs[step] = _Run(schedule, captures_of(step), kind, hidden, len(p.fields), begun)

    def _runs_of(self, p: Problem) -> dict[Step, _Run] | None:
        """The runs that are kept of a problem, which has no reference to them: they have one to it."""
        store = vars(p)
        for known in (self._given, *self._problems):
            if known is not None and known.store is store:
                return known.runs
        return None


class KeptProblem:
    """A problem to be used again, as the attributes of the object that the last call had.

    Attributes
    ----------
    store : dict
        The attributes.
    runs : dict of Step to _Run
        Those that may begin again.
    """

    def __init__(self, p: Problem, fields: dict[str, Field]) -> None:
        self.store = vars(p)
        self.runs: dict[Step, _Run] = {}
        self._declared = dict(fields)
        self._empty = {name: Frontier(p.graph, (), made.init) for name, made in fields.items() if made.kind == "pile"}
        self._fills: _Fills | None = None

    def suits(self, fields: dict[str, Field]) -> bool:
        """Whether its fields are declared so, but for their initial values."""
        known = self._declared
        if len(known) == len(fields) and all(map(is_, map(known.get, fields), fields.values())):
            return True  # as nearly always
        return known.keys() == fields.keys() and all(_alike(made, known[name]) for name, made in fields.items())

    def reset(self, p: Problem, fields: dict[str, Field]) -> None:
        """Give all fields their initial values: those declared now, and those of hidden fields."""
        if fields is not self._declared and not all(map(is_, map(self._declared.get, fields), fields.values())):
            self._declared = dict(fields)
            p.fields.update(fields)
        declared = [fields.get(name) or p.fields[name] for name in p.arrays]
        if self._fills is None or not self._fills.suit(declared, p.arrays):
            self._fills = _Fills(p, dict(zip(p.arrays, declared, strict=True)))
        for fill in self._fills.calls:
            fill()
        if not self._fills.lasting:
            self._fills = None
        for name, value in p.scalars.items():
            made = fields.get(name) or p.fields[name]
            if not made.plain:
                fits(made.init, made.dtype, name, None)  # type: ignore[arg-type]  # scalars have one
            value[0] = made.init if made.plain else plain(made.init)
        for name in p.piles:
            p.piles[name] = self._empty[name] if name in self._empty else Frontier(p.graph, (), p.fields[name].init)


class _Fills:
    """What gives arrays their initial values, made once for the same declarations and arrays.

    Attributes
    ----------
    calls : list of callable
    lasting : bool
        Whether they may be called again: all values are numbers.
    """

    def __init__(self, p: Problem, declared: dict[str, Field]) -> None:
        memory, filled = p.graph.placement.memory, set()
        self._declared, self._arrays = list(declared.values()), list(p.arrays.values())
        self.lasting = all(made.plain for made in self._declared)
        if not self.lasting:
            declared = {name: made if made.plain else _kept_apart(made, p) for name, made in declared.items()}
        self.calls: list[Callable[[], Any]] = []
        if p._pairs and p.graph.placement.backend.keeps_pairs:
            for key, other, _, word in p._pairs:
                first, second = declared[key], declared[other]
                if word and first.plain and second.plain:
                    self.calls += pair_fillers(memory, p.arrays[key], p.arrays[other], first.init, second.init)
                    filled |= {key, other}
        for name, made in declared.items():
            if name not in filled:
                filler = p._store.filler(p, name, made.init) if made.plain else partial(_assign, p, name, made)
                self.calls.append(filler)

    def suit(self, declared: list[Field], arrays: dict[str, Any]) -> bool:
        """Whether they are of these declarations and arrays."""
        same = len(declared) == len(self._declared) and all(map(is_, declared, self._declared))
        return same and all(map(is_, arrays.values(), self._arrays))


def _kept_apart(made: Field, p: Problem) -> Field:
    """A field whose initial values are not in an array of the problem, as those of the last call's result are."""
    if not made.copy or made.kind == "pile":
        return made
    init = copied(made.init, p)
    return made if init is made.init else replace(made, init=init)


def copied(values: Any, p: Problem) -> Any:
    """A copy of values that lie in an array of the problem, which changes when fields get initial values."""
    own = adopt(values) if is_device(values) else np.asarray(values)
    low, high = _extent(own)
    overlap = any(low < end and begin < high for begin, end in map(_extent, p.arrays.values()))
    return own.copy() if overlap else values


def _extent(array: Any) -> tuple[int, int]:
    """The address of the first byte of an array, and that after its last."""
    known = array.__array_interface__ if isinstance(array, np.ndarray) else array.__cuda_array_interface__
    steps = [(length - 1) * stride for length, stride in zip(array.shape, array.strides, strict=True) if length]
    begin = known["data"][0]
    return begin + sum(step for step in steps if step < 0), begin + sum(step for step in steps if step > 0) + 1


def _assign(p: Problem, name: str, made: Field) -> None:
    """Give an array initial values that are not one number."""
    p._store.look_at(p, {name})
    array = p.arrays[name]
    if not made.copy or (made.kind == "array" and "_replaced" in vars(p)):  # it may be somebody else's
        p.arrays[name] = p._store.make(p.graph, name, made, p._pairs)
    else:
        fits(made.init, array.dtype, name, len(array), width=made.width)
        array[...] = matching(made.init, array)


def _alike(a: Field, b: Field) -> bool:
    """Whether two fields have arrays of the same kind and length."""
    if (a.kind, a.dtype, a.combine, a.with_, a.width, a.copy) != (b.kind, b.dtype, b.combine, b.with_, b.width, b.copy):
        return False
    if a.kind == "pile":
        return bool(a.init == b.init)
    return a.kind != "array" or bool(a.init.shape == b.init.shape)
