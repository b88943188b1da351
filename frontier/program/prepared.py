"""Prepared calls: a primitive or an enactor that is called many times on one graph, in the same memory.

The first call makes what every call needs: problems with their fields, compiled code, the memory of runs. A later call
gives the fields their initial values, and runs. What it skips takes more time than a search of a small graph.
"""

from __future__ import annotations

import dataclasses
import inspect
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Protocol, TypeVar

from frontier import results
from frontier.errors import FrontierError, NotConvergedError
from frontier.memory import reuse
from frontier.memory.arrays import adopt, is_device
from frontier.program.kept_problems import Kept, KeptProblem, copied

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.program.enactor import Enactor
    from frontier.program.problem import Problem

__all__ = ["GraphFunction", "PreparedCall", "PreparedRun"]

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class _Prepared:
    """What one thread calls at a time."""

    _call: Callable[..., Any]

    def __init__(self, graph: Graph, given: KeptProblem | None = None) -> None:
        self._kept = Kept(graph, given)
        self._lock = threading.Lock()

    def _repeat(self, given: Any, named: dict[str, Any], finish: Callable[[Any], Any] | None = None) -> Any:
        if not self._lock.acquire(blocking=False):
            raise FrontierError(f"{self!r} is running already: prepare one for each thread")
        try:
            self._kept.begin()
            with reuse.using(self._kept):
                made = self._call(given, named)
                return made if finish is None else finish(made)
        except BaseException:
            self._kept.forget()
            raise
        finally:
            self._lock.release()


class PreparedCall(_Prepared, Generic[Result]):
    """A primitive on one graph, to be called many times; made by its ``prepare``.

    Every call uses the memory of the call before: **the arrays of a result are those of the next one.** Copy what is to
    stay, as ``result.level.copy()``, or give arrays of your own as ``out``. One thread calls it at a time.

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

    def __call__(self, *given: Any, out: Mapping[str, Any] | None = None, **named: Any) -> Result:
        """Call the primitive with the arguments after the graph; those of ``prepare`` hold unless given here.

        Parameters
        ----------
        out : dict of str to array, optional
            Arrays of your own for some of the result, by name: ``out={"level": mine}``. They have its dtype and shape,
            and lie where it does. The next call does not change them.
        """
        options = self._named
        if given and options:
            options = {name: value for name, value in options.items() if name not in self._order[: len(given)]}
        if out is not None and not isinstance(out, Mapping):
            raise FrontierError(f"out is a dict of arrays by their names in the result, not {type(out).__name__}")
        finish = None if out is None else partial(self._copied_to, out)
        made: Result = self._repeat(given, {**options, **named}, finish)
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

    def _copied_to(self, out: Mapping[str, Any], made: Any) -> Any:
        """A result of which some arrays are copies in memory that was given; if one is unsuitable, none is written."""
        copies = []
        for name, mine in out.items():
            found: Any = getattr(made, name, None)
            if not (hasattr(found, "dtype") and dataclasses.is_dataclass(made) and name in made.__dataclass_fields__):
                raise FrontierError(f"out={{{name!r}: ...}}: {type(made).__name__} has no array of that name")
            here = adopt(mine) if is_device(mine) else mine
            if type(here) is not type(found) or (here.dtype, here.shape) != (found.dtype, found.shape):
                raise FrontierError(
                    f"out={{{name!r}: ...}} must be an array of {found.dtype} and shape {found.shape} "
                    f"where the graph lies, {self._graph.placement}"
                )
            if not getattr(here.flags, "writeable", True):
                raise FrontierError(f"out={{{name!r}: ...}} is read-only")
            copies.append((here, found))
        for here, found in copies:
            here[...] = found
        made = dataclasses.replace(made, **out)
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
        self._problem = KeptProblem(p, p.fields)
        super().__init__(p.graph, self._problem)
        if not p._store.reusable:
            raise FrontierError(f"prepare() is for fields in one process, and those of {p!r} are in parts")

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
        with p.graph.placement.memory.using(type(self._enactor).__name__):
            if hasattr(frontier, "dtype"):  # it may lie in a field, as values may
                frontier = copied(frontier, p)
            values = {name: copied(value, p) for name, value in values.items()}
            self._problem.reset(p, self._problem._declared)
            for name, value in values.items():
                setattr(p, name, value)
            return self._enactor.run(frontier)

    def __repr__(self) -> str:
        return f"{type(self._enactor).__name__}({self._enactor.problem!r}).prepare()"
