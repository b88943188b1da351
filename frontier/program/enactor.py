"""The class Enactor, which runs a declared loop on a problem."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as SequenceOf
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from frontier.display import html
from frontier.display.progress import Task
from frontier.errors import FrontierError, NotConvergedError
from frontier.memory.shortage import explained
from frontier.program.execution import Execution, explain, start
from frontier.program.loop import Sequence
from frontier.program.prepared import PreparedRun
from frontier.program.problem import Problem
from frontier.program.step import Step
from frontier.program.taking import Elements, check_problem, frontier_of
from frontier.program.time_limit import check, within

if TYPE_CHECKING:
    from frontier.memory.placement import Placement
    from frontier.program.frontiers import Frontier
    from frontier.program.schedule import Schedule

__all__ = ["Enactor"]


class Enactor:
    """Run the class attribute ``loop`` on a problem.

    A subclass sets ``loop`` to a step, or to a tuple of steps that run one after another. Alternatively it overrides
    :meth:`step` with one pass in plain Python, which then runs operator by operator.

    Parameters
    ----------
    problem : Problem
    schedule : Schedule, optional
        Used for every choice that the schedules of the steps leave open.

    Attributes
    ----------
    passes : int
        Number of passes, of all loops, that have begun in the current run.

    Examples
    --------
    >>> def lower(p, src, dst):
    ...     return fr.atomic_min(p.label, dst, p.label[src]) > p.label[src]
    >>> class SmallestLabel(fr.Enactor):
    ...     loop = fr.Loop(fr.Advance(lower))
    >>> g = fr.from_edges([0, 1, 3], [1, 2, 4])
    >>> p = fr.Problem(g, label=fr.vertex("int64", range(5)))
    >>> SmallestLabel(p).run(fr.Frontier.all(g)).label
    array([0, 0, 0, 3, 3])
    """

    loop: ClassVar[Step | SequenceOf[Step] | None] = None
    _program: ClassVar[Sequence]

    def __init__(self, problem: Problem, schedule: Schedule | None = None) -> None:
        if type(problem) is not Problem:
            check_problem(problem, f"{type(self).__name__}(problem)")
        self.problem = problem
        self.schedule = schedule
        self.passes = 0
        self._execution: Execution | None = None

    @classmethod
    def program(cls) -> Step:
        """The loop as one step."""
        loop = cls.loop
        if loop is None:
            raise FrontierError(f"{cls.__name__} declares no loop and overrides no step")
        if isinstance(loop, Step):
            return loop
        if not isinstance(loop, (tuple, list)):
            raise FrontierError(f"{cls.__name__}.loop is a step, as fr.Loop(...), or a tuple of steps, not {loop!r}")
        if "_program" not in cls.__dict__ or cls._program.steps != tuple(loop):
            cls._program = Sequence(*loop)  # kept: compiled code is found by the step's identity
        return cls._program

    def step(self, frontier: Frontier) -> Frontier:
        """One pass in plain Python; override it instead of declaring a loop."""
        raise NotImplementedError

    def run(
        self,
        frontier: Elements | None = None,
        *,
        on_step: Callable[[Enactor], Any] | None = None,
        max_steps: int | None = None,
        timeout: float | None = None,
    ) -> Problem:
        """Run from the beginning to the end; the problem holds the result.

        Parameters
        ----------
        frontier : Frontier, or a list of vertices, optional
            The frontier with which the first pass starts, unless the loop itself says it (``over``, ``take``).
        on_step : function of the enactor, optional
            Called after every pass; if it returns True the run pauses there (see :meth:`resume`).
        max_steps : int, optional
            More passes than this, over all loops, raise NotConvergedError.
        timeout : float, optional
            Seconds after which the run stops at the next pass boundary and raises RunTimeoutError. Compiling before the
            first pass does not count. With ``FRONTIER_CHECK=1`` on the CPU, functors stop within their own loops, too,
            and the run cannot go on. Not where several parts run a program together.

        Raises
        ------
        RunTimeoutError
            After ``timeout``. :meth:`resume` continues the run.
        NotConvergedError
            At ``max_steps``. :meth:`resume` continues the run.
        KeyboardInterrupt
            Ctrl-C stops the run at the next pass boundary; :meth:`resume` continues it.

        Examples
        --------
        >>> class Count(fr.Enactor):
        ...     loop = fr.Loop(fr.Set(total=lambda p: p.total + 1), times=5)
        >>> int(Count(fr.Problem(fr.path(2), total=fr.scalar("int64"))).run().total)
        5
        """
        if not isinstance(self, Enactor):
            raise FrontierError("an enactor runs on a problem: BFS(problem).run(frontier), not BFS.run(frontier)")
        self._check_limits(on_step, max_steps, timeout)
        self.passes = 0
        if type(self).step is not Enactor.step:
            with within(timeout):
                return self._run_steps(frontier, on_step, max_steps)
        self._execution = start(self.program(), self.problem, frontier, self.schedule)
        return self._go_on(self._execution, on_step, max_steps, timeout)

    def prepare(self) -> PreparedRun:
        """Return a function that runs the enactor many times on its problem, in the same memory.

        ``run(frontier, **values)`` gives all fields their declared initial values, but for ``values``, and runs to the
        end. Nothing is allocated or analysed again, so a call takes little more than the run itself.

        Raises
        ------
        FrontierError
            The fields are in parts, on ranks.

        Examples
        --------
        >>> from frontier.primitives.bfs import BFS, bfs_problem
        >>> search = BFS(bfs_problem(fr.path(4), 0)).prepare()
        >>> search(source=3).level
        array([3, 2, 1, 0], dtype=int32)
        >>> search(source=0).level
        array([0, 1, 2, 3], dtype=int32)
        """
        if not isinstance(self, Enactor):
            raise FrontierError("an enactor is prepared on a problem: BFS(problem).prepare(), not BFS.prepare()")
        return PreparedRun(self)

    def resume(
        self,
        *,
        on_step: Callable[[Enactor], Any] | None = None,
        max_steps: int | None = None,
        timeout: float | None = None,
    ) -> Problem:
        """Continue a run that was stopped at a pass boundary; arguments and errors are those of :meth:`run`.

        Examples
        --------
        >>> def visit(p, dst):
        ...     return fr.atomic_exch(p.seen, dst, 1) == 0
        >>> class Search(fr.Enactor):
        ...     loop = fr.Loop(fr.Advance(visit))
        >>> search = Search(fr.Problem(fr.path(5), seen=fr.vertex("int64")))
        >>> search.run([0], on_step=lambda enactor: enactor.passes == 2).seen
        array([1, 1, 1, 0, 0])
        >>> search.resume().seen
        array([1, 1, 1, 1, 1])
        """
        self._check_limits(on_step, max_steps, timeout)
        execution = self._execution
        if execution is None or not self.paused:
            raise FrontierError("there is no run to go on with")
        return self._go_on(execution, on_step, max_steps, timeout)

    def _go_on(
        self,
        execution: Execution,
        on_step: Callable[[Enactor], Any] | None,
        max_steps: int | None,
        timeout: float | None,
    ) -> Problem:
        if timeout is not None:
            with within(timeout):
                return self._go_on(execution, on_step, max_steps, None)
        with Task(type(self).__name__, unit="passes", ask=lambda: (execution.passes, None)):
            return self._to_the_end(execution, on_step, max_steps)

    def _to_the_end(
        self, execution: Execution, on_step: Callable[[Enactor], Any] | None, max_steps: int | None
    ) -> Problem:
        while self._execution is not None:
            self._within(max_steps)
            left = None if max_steps is None else max_steps - self.passes
            if on_step is not None:
                left = 1
            try:
                begun = execution.proceed(left)
            except MemoryError as error:
                raise explained(error, f"running {type(self).__name__}") from None
            finally:
                self.passes = execution.passes
            stop = on_step is not None and begun > 0 and on_step(self) is True
            if execution.done:
                self._execution = None
            elif stop:
                break
            else:
                check(type(self).__name__, self.passes)
        return self.problem

    def explain(self, frontier: Elements | None = None, *, backend: Placement | str | None = None) -> str:
        """Return the program that the loop is lowered to, as pseudo-code: ``print(BFS(p).explain())``.

        It shows phases with the fields that each reads and writes, barriers, and the control flow between them. Nothing
        is run or compiled. The page "What a loop becomes" explains an example.

        Parameters
        ----------
        frontier : Frontier, or a list of vertices, optional
            As for :meth:`run`; it only matters whether it contains vertices (the default) or edges.
        backend : str or Placement, optional
            The backend whose program is shown; by default that of the graph. For ``"python"``, which has no program,
            that of ``"cpu"`` is shown. ``"cuda"`` needs no GPU.

        Raises
        ------
        FrontierError
            If the enactor overrides :meth:`step`: then there is no loop.

        Examples
        --------
        >>> class Count(fr.Enactor):
        ...     loop = fr.Loop(fr.Set(total=lambda p: p.total + 1), times=5)
        >>> "total" in Count(fr.Problem(fr.path(2), total=fr.scalar("int64"))).explain()
        True
        """
        if not isinstance(self, Enactor):
            raise FrontierError("an enactor explains itself on a problem: BFS(problem).explain(), not BFS.explain()")
        if type(self).step is not Enactor.step:
            name = type(self).__name__
            raise FrontierError(
                f"{name} overrides step: free Python becomes no program. Declare a loop, as fr.Loop(...), or ask "
                "a step of it: fr.Advance(...).explain(problem)"
            )
        return explain(self.program(), self.problem, frontier, self.schedule, backend)

    def _repr_html_(self) -> str:
        """What the loop becomes on the problem, for notebooks."""
        return html.preformatted(self.explain())

    @property
    def paused(self) -> bool:
        """Whether a run was stopped before its end."""
        return self._execution is not None and not self._execution.done

    def _within(self, max_steps: int | None) -> None:
        if max_steps is not None and self.passes >= max_steps:
            raise NotConvergedError(
                f"{type(self).__name__} is not done after {self.passes} passes", self.problem
            )

    def _run_steps(
        self,
        given: Elements | None,
        on_step: Callable[[Enactor], Any] | None,
        max_steps: int | None,
    ) -> Problem:
        frontier: Frontier | None = frontier_of(self.problem, given)
        if frontier is None:
            raise FrontierError(f"{type(self).__name__}.run needs a frontier to start with")
        while frontier:
            self._within(max_steps)
            frontier = self.step(frontier)
            self.passes += 1
            if on_step is not None and on_step(self) is True:
                break
            if frontier:
                check(type(self).__name__, self.passes)
        return self.problem

    def _check_limits(self, on_step: Any, max_steps: Any, timeout: Any) -> None:
        _check_limits(on_step, max_steps, timeout)
        if timeout is not None and (backend := self.problem.graph.placement.backend).divides:
            raise FrontierError(f"timeout={timeout!r}: the parts of {backend.name!r} stop together; use max_steps=")


def _check_limits(on_step: Any, max_steps: Any, timeout: Any) -> None:
    """Raise FrontierError for arguments of a run that cannot be meant."""
    if timeout is not None:
        known = isinstance(timeout, (int, float, np.integer, np.floating)) and not isinstance(timeout, bool)
        if not (known and timeout > 0):
            raise FrontierError(f"timeout={timeout!r}: a number of seconds, more than 0")
    if on_step is not None and not callable(on_step):
        raise FrontierError(f"on_step={on_step!r}: a function of the enactor, called after every pass")
    if max_steps is not None and not isinstance(max_steps, (int, np.integer)):
        raise FrontierError(f"max_steps={max_steps!r}: a number of passes")
