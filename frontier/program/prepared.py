"""Prepared calls: a primitive or an enactor that is called many times on one graph, in the same memory.

The first call makes what every call needs: problems with their fields, compiled code, the memory of runs. A later call
gives the fields their initial values, and runs. What it skips takes more time than a search of a small graph.

While a prepared call runs, ``fr.Problem`` and the start of a run ask :class:`Kept` for what the last call had at the
same place. The code of primitives does not know about it.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, ParamSpec, Protocol, TypeVar, runtime_checkable

import numpy as np

from frontier import results, tracing
from frontier.errors import FrontierError, NotConvergedError
from frontier.memory import reuse
from frontier.memory.arrays import adopt, is_device, matching
from frontier.program.frontiers import Frontier
from frontier.program.pairs import fill_pair
from frontier.program.step import captures_of
from frontier.program.values import fits, plain

if TYPE_CHECKING:
    from frontier.functors.captures import Captures
    from frontier.graph.graph import Graph
    from frontier.program.enactor import Enactor
    from frontier.program.execution import Execution
    from frontier.program.problem import Field, Problem
    from frontier.program.schedule import ResolvedSchedule
    from frontier.program.step import Step

__all__ = ["GraphFunction", "Kept", "PreparedCall", "PreparedRun", "Repeatable"]

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

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
    hidden: dict[str, Any]
    fields: int  #: Their number: a run of another step may have added hidden ones.
    execution: Repeatable


class Kept:
    """The problems of a prepared call, in the order in which the last call made them.

    Parameters
    ----------
    graph : Graph
        Problems on other graphs are not kept, and neither are their runs.
    given : _Problem, optional
        One that is there before the first call.
    """

    def __init__(self, graph: Graph, given: _Problem | None = None) -> None:
        self._graph, self._given = graph, given
        self._problems: list[_Problem | None] = []
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
            self._problems.append(_Problem(p, fields) if p._store.in_one_memory else None)

    def has(self, p: Problem) -> bool:
        """Whether it keeps a problem."""
        return self._runs_of(p) is not None

    def run_again(
        self, step: Step, renumbered: bool, p: Problem, f: Frontier | None, schedule: ResolvedSchedule
    ) -> Execution | None:
        """Begin the run of a step on a problem once more, ``renumbered`` or not; None if there was none like it."""
        runs = self._runs_of(p)
        known = None if runs is None else runs.get((step, renumbered))
        if known is None or tracing.active() or not known.execution.done:
            return None
        if known.schedule is not schedule or known.kind != (None if f is None else f.kind):
            return None
        if known.fields != len(p.fields):
            return None
        if captures_of(step) is not known.captures:
            return None
        for name, value in known.hidden.items():
            p.scalars[name][0] = value
        return known.execution if known.execution.again(f) else None  # type: ignore[return-value]

    def keep_run(
        self, step: Step, renumbered: bool, p: Problem, f: Frontier | None, schedule: ResolvedSchedule,
        begun: Execution,
    ) -> None:  # fmt: skip
        """Keep a run that has just begun."""
        runs = self._runs_of(p)
        if runs is None or tracing.active() or not isinstance(begun, Repeatable):
            return
        hidden = {name: value[0] for name, value in p.scalars.items() if name.endswith("__")}
        kind = None if f is None else f.kind
        runs[step, renumbered] = _Run(schedule, captures_of(step), kind, hidden, len(p.fields), begun)

    def _runs_of(self, p: Problem) -> dict[tuple[Step, bool], _Run] | None:
        """The runs that are kept of a problem, which has no reference to them: they have one to it."""
        store = vars(p)
        for known in (self._given, *self._problems):
            if known is not None and known.store is store:
                return known.runs
        return None


class _Problem:
    """A problem to be used again, as the attributes of the object that the last call had."""

    def __init__(self, p: Problem, fields: dict[str, Field]) -> None:
        self.store = vars(p)
        self.runs: dict[tuple[Step, bool], _Run] = {}
        self._declared = dict(fields)
        self._empty = {name: Frontier(p.graph, (), made.init) for name, made in fields.items() if made.kind == "pile"}

    def suits(self, fields: dict[str, Field]) -> bool:
        """Whether its fields are declared so, but for their initial values."""
        known = self._declared
        return known.keys() == fields.keys() and all(
            made is known[name] or _alike(made, known[name]) for name, made in fields.items()
        )

    def reset(self, p: Problem, fields: dict[str, Field]) -> None:
        """Give all fields their initial values: those declared now, and those of hidden fields."""
        memory, filled = p.graph.placement.memory, set()
        if not all(made.plain for made in fields.values()):
            fields = {name: made if made.plain else _kept_apart(made, p) for name, made in fields.items()}
        if p._pairs and p.graph.placement.backend.keeps_pairs:
            for key, other, _, word in p._pairs:
                first, second = fields[key], fields[other]
                if word and first.plain and second.plain:
                    fill_pair(memory, p.arrays[key], p.arrays[other], first.init, second.init)
                    filled |= {key, other}
        for name, made in p.fields.items():
            if name in filled:
                continue
            made = fields.get(name, made)
            if made.kind == "scalar":
                if not made.plain:
                    fits(made.init, made.dtype, name, None)  # type: ignore[arg-type]  # scalars have one
                p.scalars[name][0] = made.init if made.plain else plain(made.init)
            elif made.kind == "pile":
                p.piles[name] = self._empty[name] if name in self._empty else Frontier(p.graph, (), made.init)
            elif made.plain:
                memory.fill(p.arrays[name], made.init)
            else:
                _assign(p, name, made)


def _kept_apart(made: Field, p: Problem) -> Field:
    """A field whose initial values are not in an array of the problem, as those of the last call's result are."""
    if not made.copy or made.kind == "pile":
        return made
    init = _copied(made.init, p)
    return made if init is made.init else replace(made, init=init)


def _copied(values: Any, p: Problem) -> Any:
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


class _Prepared:
    """What one thread calls at a time."""

    _call: Callable[..., Any]

    def __init__(self, graph: Graph, given: _Problem | None = None) -> None:
        self._kept = Kept(graph, given)
        self._lock = threading.Lock()

    def _repeat(self, given: Any, named: dict[str, Any]) -> Any:
        if not self._lock.acquire(blocking=False):
            raise FrontierError(f"{self!r} is running already: prepare one for each thread")
        try:
            self._kept.begin()
            with reuse.using(self._kept):
                return self._call(given, named)
        except BaseException:
            self._kept.forget()
            raise
        finally:
            self._lock.release()


class PreparedCall(_Prepared, Generic[Result]):
    """A primitive on one graph, to be called many times; made by its ``prepare``.

    Every call uses the memory of the call before: **the arrays of a result are those of the next one.** Copy what is to
    stay, as ``result.level.copy()``. One thread calls it at a time.

    Examples
    --------
    >>> search = fr.bfs.prepare(fr.karate())
    >>> [int(search(source).level.max()) for source in range(4)]
    [3, 3, 3, 3]
    """

    def __init__(self, function: Callable[..., Result], graph: Graph, named: dict[str, Any]) -> None:
        super().__init__(graph)
        self._function, self._graph, self._named = function, graph, named
        signature = inspect.signature(function)
        signature.bind_partial(graph, **named)  # or TypeError, as a call would raise
        self._order = list(signature.parameters)[1:]

    def __call__(self, *given: Any, **named: Any) -> Result:
        """Call the primitive with the arguments after the graph; those of ``prepare`` hold unless given here."""
        options = self._named
        if given and options:
            options = {name: value for name, value in options.items() if name not in self._order[: len(given)]}
        made: Result = self._repeat(given, {**options, **named})
        return made

    def _call(self, given: tuple[Any, ...], named: dict[str, Any]) -> Result:
        with self._graph.placement.memory.using(self._function.__name__):
            try:
                made = self._function(self._graph, *given, **named)
            except NotConvergedError as error:
                self._attach(error.result)
                raise
        self._attach(made)
        return made

    def _attach(self, made: Any) -> None:
        """Give a result the names of the graph."""
        if isinstance(made, results.Result):
            made.attach_graph(self._graph)

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self._named.items())
        return f"fr.{self._function.__name__}.prepare({self._graph!r}{options})"


class GraphFunction(Protocol[Parameters, Result]):
    """A function of a graph: called as it is written, or prepared for many calls on one graph."""

    def __call__(self, *given: Parameters.args, **named: Parameters.kwargs) -> Result:
        """Call it."""

    def prepare(self, g: Any, /, **options: Any) -> PreparedCall[Result]:
        """Return the function for one graph, to be called with its other arguments many times in the same memory.

        The arrays of a result are those of the next one: copy what is to stay.

        Parameters
        ----------
        g : Graph
        **options
            Arguments for all calls.

        Examples
        --------
        >>> search = fr.bfs.prepare(fr.path(4))
        >>> search(3).level
        array([3, 2, 1, 0], dtype=int32)
        """


class PreparedRun(_Prepared):
    """An enactor on its problem, to be run many times; made by :meth:`frontier.Enactor.prepare`."""

    def __init__(self, enactor: Enactor) -> None:
        p = enactor.problem
        self._enactor = enactor
        self._problem = _Problem(p, p.fields)
        super().__init__(p.graph, self._problem)
        if not p._store.in_one_memory:
            raise FrontierError(f"prepare() runs in one memory, and the fields of {p!r} are in parts")

    def __call__(self, frontier: Any = None, **values: Any) -> Problem:
        """Run from the initial values of all fields, but for ``values``: a field by its name.

        Returns
        -------
        Problem
            The enactor's; the next call changes its fields.
        """
        made: Problem = self._repeat(frontier, values)
        return made

    def _call(self, frontier: Any, values: dict[str, Any]) -> Problem:
        p = self._enactor.problem
        values = {name: _copied(value, p) for name, value in values.items()}
        self._problem.reset(p, self._problem._declared)
        for name, value in values.items():
            setattr(p, name, value)
        return self._enactor.run(frontier)

    def __repr__(self) -> str:
        return f"{type(self._enactor).__name__}({self._enactor.problem!r}).prepare()"
