"""The interpreter of steps and loops, which defines their meaning in as few lines as possible.

A run is a generator that pauses at every pass boundary, so that it can be stopped and resumed there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier import tracing
from frontier.backends.python.arithmetic import numbered
from frontier.backends.python.record import Record
from frontier.backends.python.view import View, stored
from frontier.backends.run.interrupts import deferred
from frontier.errors import FrontierError, FunctorError, NotConvergedError
from frontier.functors.functor import arguments, location
from frontier.memory.disk import reading
from frontier.program.frontiers import Frontier
from frontier.program.loop import Loop, Sequence
from frontier.program.over import count_over, frontier_over
from frontier.program.step import Operator
from frontier.program.time_limit import check as check_time

if TYPE_CHECKING:
    from frontier.program.order import Order
    from frontier.program.problem import Problem
    from frontier.program.schedule import Schedule
    from frontier.program.step import Functor, Step

__all__ = ["Context", "Interpretation", "blaming", "start"]

#: A run: pauses at pass boundaries (with an error, if it must not go on), gives the next frontier.
Run = Generator[NotConvergedError | None, None, Frontier | None]


#: How NumPy begins to say what it does not compute.
_OF_NUMPY = ("Integers to negative", "numpy boolean", "The numpy boolean", "ufunc '", "negative shift")


def blaming(fn: Functor, copy: Callable[..., Any]) -> Callable[..., Any]:
    """A functor's copy, whose errors name the functor."""
    place = location(fn)

    def call(*values: Any, **named: Any) -> Any:
        try:
            return copy(*values, **named)
        except FunctorError as error:
            raise error if str(error).startswith(place) else FunctorError(f"{place}: {error}") from error
        except (NameError, ArithmeticError) as error:
            raise FunctorError(f"{place}: {error}") from error
        except (TypeError, ValueError) as error:
            if not str(error).startswith(_OF_NUMPY):
                raise
            raise FunctorError(f"{place}: {error}") from error

    return call


class Context:
    """What a step needs to run: the problem as functors see it, and the trace."""

    def __init__(self, p: Problem, schedule: Schedule) -> None:
        self.problem, self.schedule = p, schedule
        self.records: dict[str, Record] = {}
        self.passes = 0
        self._noted: dict[str, Any] = {}
        self._targets = self._plain_lists()
        self._numbered: dict[Any, Any] = {}
        self.refresh()

    def _plain_lists(self) -> Any:
        """Return what must stay in memory: compressed lists would be made plain at every access."""
        return self.problem.graph.targets

    def refresh(self) -> None:
        """Look at the fields anew, after two were exchanged."""
        self._view = View(self.problem)

    def functor(self, fn: Functor, names: tuple[str, ...]) -> Callable[[dict[str, Any]], Any]:
        """The functor as a function of a dict of its arguments."""
        copy = blaming(fn, numbered(fn, self._numbered))

        def call(ends: dict[str, Any]) -> Any:
            return copy(self._view, **{name: ends[name] for name in names})

        return call

    def plain(self, fn: Functor) -> Callable[..., Any]:
        """A function that takes no problem, as functors are called."""
        return blaming(fn, numbered(fn, self._numbered))

    def edge(self, slot: int) -> dict[str, Any]:
        """Ends, slot and weight of one edge of the graph."""
        g = self.problem.graph
        ends = {"src": np.int64(g.sources[slot]), "dst": np.int64(g.targets[slot]), "edge": np.int64(slot)}
        if g.weights is not None:
            weight = g.weights[slot]
            ends["weight"] = np.int64(weight) if weight.dtype.kind in "iu" else weight
        return ends

    def each(self, fn: Functor, f: Frontier | int | None, values: str = "") -> Iterator[Any]:
        """Call a functor for every element: its values one after another.

        With the name of a field in ``values``, once for each of an element's values there.
        """
        if f is None:
            raise FrontierError(f"{location(fn)} needs a frontier to run on, or over=")
        kind = f.kind if isinstance(f, Frontier) else "count"
        place = kind if not values else "value" if kind == "vertex" else "edge value"
        call = self.functor(fn, arguments(fn, place))
        if isinstance(f, int):
            elements: Iterator[dict[str, Any]] = ({"i": np.int64(i)} for i in range(f))
        elif kind == "vertex":
            elements = ({"v": np.int64(v)} for v in f.ids.tolist())
        else:
            elements = (self.edge(slot) for slot in f.ids.tolist())
        if values:
            columns = [np.int64(i) for i in range(self.problem.fields[values].width)]
            elements = ({**element, "i": i} for element in elements for i in columns)
        for element in elements:
            yield call(element)

    def note(self, **facts: Any) -> None:
        """Facts about the step that is running, for the trace."""
        self._noted.update(facts)

    # ---- running ---------------------------------------------------------------------------------

    def run(self, step: Step, f: Frontier | None) -> Run:
        """Run one step: the next frontier, of the current scope or of the step's own."""
        if isinstance(step, Loop):
            return (yield from self._loop(step, f))
        if isinstance(step, Sequence):
            if isinstance(step.over, str):
                f = frontier_over(self.problem, step.over)
            return (yield from self._steps(step.steps, f))
        own: Any = f if step.over is None else step.over
        if isinstance(own, str):
            p = self.problem
            own = count_over(p, own) if step.counted else frontier_over(p, own, step.row_field)
        assert isinstance(step, Operator)
        after = self._one(step, own)
        return f if isinstance(own, int) else after

    def _one(self, step: Operator, f: Any) -> Any:
        if not tracing.active():
            return step.interpret(self, f)
        self._noted = {}
        begun = time.perf_counter()
        after = step.interpret(self, f)
        seconds = time.perf_counter() - begun
        tracing.add(
            backend="python", step=repr(step), number=self.passes, seconds=seconds,
            size_in=_size(f), size_out=_size(after), **self._noted,
        )  # fmt: skip
        return after

    def _steps(self, steps: tuple[Step, ...], f: Frontier | None) -> Run:
        for step in steps:
            after = yield from self.run(step, f)
            # A step with a frontier of its own leaves the current one alone.
            f = f if step.own else after
        return f

    def _loop(self, loop: Loop, f: Frontier | None) -> Run:
        p = self.problem
        if isinstance(loop.over, str):
            f = frontier_over(p, loop.over)
        elif loop.take is not None:
            f = Frontier(p.graph, (), p.piles[loop.take].kind)  # what it gives if there is no pass
        if loop.order is not None:
            return (yield from self._ordered(loop, loop.order, f))
        if loop.record is not None:
            self.records.setdefault(loop.record, Record(loop.record)).begin()
        for passes, feed in enumerate(self._feeds(loop, f)):
            while loop.max_steps is not None and passes >= loop.max_steps:
                yield NotConvergedError(f"{loop!r} is not done after {passes} passes", p)
            yield None
            # Nothing of this pass has run before the boundary, so a run may be stopped there.
            f = feed()
            self.passes += 1
            if loop.replay is None:
                self._count(loop, None)
            if loop.record is not None:
                self._record(loop.record, f)
            self._left = yield from self._steps(loop.steps, f)
            f = self._left
            if loop.until is not None and self.functor(loop.until, ())({}):
                break
        return f

    def _ordered(self, loop: Loop, order: Order, f: Frontier | None) -> Run:
        """A loop of which each pass takes those with small keys of the elements that wait."""
        p = self.problem
        if f is None:
            raise FrontierError(loop.lacks())
        if len(f) and f.kind != order.elements(p):
            raise FrontierError(f"{loop!r}: its keys are of {order.elements(p)} elements, and the frontier's are not")
        waiting, limit, least = f, None, None
        delta = p.scalars[order.delta][0] if order.delta in p.scalars else order.delta
        while waiting:
            yield None
            keys = np.array(self._keys(order, waiting))
            if delta is None or delta == "auto":  # a pass may take all if nothing is said
                taken = waiting if not order.exact else self._part(waiting, keys == keys.min())
                least = keys.min()
            else:
                if limit is None or not ((keys < limit) | (keys <= least)).any():
                    least = keys.min()
                    limit = least + delta
                # If the limit is not higher, since the least key is infinite or absorbs delta: elements with that key.
                taken = self._part(waiting, (keys < limit) | (keys <= least))
            if order.into is not None:
                scalar = p.scalars[order.into]
                scalar[0] = stored(f"p.{order.into}", least, scalar.dtype)
            self.passes += 1
            self._count(loop, None)
            after = yield from self._steps(loop.steps, taken)
            assert after is not None
            waiting = (waiting - taken) | after
            if loop.until is not None and self.functor(loop.until, ())({}):
                break
        return Frontier(p.graph, (), f.kind)

    def _keys(self, order: Order, f: Frontier) -> list[Any]:
        if isinstance(order.key, str):
            return list(self.problem.arrays[order.key][f.ids])
        return list(self.each(order.key, f))

    def _part(self, f: Frontier, which: Any) -> Frontier:
        return Frontier._of(f.graph, f.kind, ids=f.ids[which])

    def _feeds(self, loop: Loop, f: Frontier | None) -> Iterator[Callable[[], Frontier | None]]:
        """What gives each pass its frontier; tested before the pass."""
        p = self.problem
        self._left = f
        if loop.take is not None:
            while p.piles[loop.take]:
                yield partial(self._taken, loop.take)
        elif loop.replay is not None:
            if loop.replay not in self.records:
                raise FrontierError(f"replay={loop.replay!r}: no loop before this one records it")
            recorded = self.records[loop.replay].passes
            for number in range(len(recorded), 0, -1):
                yield partial(self._replayed, loop, recorded, number)
        elif loop.times is not None:
            times = loop.times if isinstance(loop.times, int) else int(p.scalars[loop.times][0])
            for _ in range(times):
                yield self._what_is_left
        elif loop.unfed:
            while True:
                yield self._what_is_left
        else:
            if f is None:
                raise FrontierError(loop.lacks())
            while self._left:
                yield self._what_is_left

    def _what_is_left(self) -> Frontier | None:
        return self._left

    def _taken(self, pile: str) -> Frontier:
        piles = self.problem.piles
        taken = piles[pile]
        piles[pile] = Frontier(taken.graph, (), taken.kind)
        return taken

    def _replayed(self, loop: Loop, recorded: list[Frontier], number: int) -> Frontier:
        self._count(loop, number)
        return recorded[number - 1]

    def _count(self, loop: Loop, number: int | None) -> None:
        if loop.count is not None:
            scalar = self.problem.scalars[loop.count]
            made = int(scalar[0]) + 1 if number is None else number
            scalar[0] = stored(f"p.{loop.count}", made, scalar.dtype)

    def _record(self, name: str, f: Frontier | None) -> None:
        assert f is not None
        self.records[name].add(f)


def _size(f: Any) -> int:
    return f if isinstance(f, int) else 0 if f is None else len(f)


class Interpretation:
    """An execution by the interpreter."""

    done: bool
    frontier: Frontier | None

    def __init__(
        self, step: Step, p: Problem, f: Frontier | None, schedule: Schedule, context: Context | None = None
    ) -> None:
        self.done = False
        self.frontier = f
        self._context = Context(p, schedule) if context is None else context
        self._given = f
        self._step = step
        self._run = self._context.run(step, f)
        self._at_boundary = False
        self._files = p.graph._topology.files() if p.graph.placement.edges is not None else []
        #: Whether it reads them where they are mapped; else windows of them are read, and compared then.
        self._compares = bool(self._files) and p.graph.placement.residence["fields"] == "host"

    @property
    def passes(self) -> int:
        """Passes of all loops begun so far."""
        return self._context.passes

    def proceed(self, passes: int | None = None) -> int:
        """Go on for at most so many passes; how many were begun."""
        begun = 0
        with deferred() as pending, np.errstate(all="ignore"):
            while not self.done:
                if self._at_boundary:
                    self._look(pending)
                    if begun == passes:
                        break
                    check_time(repr(self._step), self.passes)
                    begun += 1
                try:
                    with reading(self._files, zeros=True, compares=self._compares):
                        refusal = next(self._run)
                except StopIteration as end:
                    own = self._step.own and self._given is not None
                    self.frontier = self._given if own else end.value
                    self.done = True
                    break
                except BaseException:
                    self.done = True  # a generator that raised cannot go on
                    raise
                self._at_boundary = refusal is None
                if refusal is not None:
                    raise refusal
            self._look(pending)
        return begun

    def _look(self, pending: deferred) -> None:
        """Raise KeyboardInterrupt, at a pass boundary or the end, if Ctrl-C was pressed."""
        pending.check()


def start(step: Step, p: Problem, f: Frontier | None, schedule: Schedule) -> Interpretation:
    """Begin to interpret a step."""
    return Interpretation(step, p, f, schedule)
