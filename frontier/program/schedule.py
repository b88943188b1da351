"""The class Schedule: how steps are carried out. It never changes an answer.

The algorithm (functors and loop) is separated from the way in which it is carried out, as in GraphIt
(Zhang et al., OOPSLA 2018).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any, TypeVar

import numpy as np

from frontier.errors import FrontierError
from frontier.program.registered import OWN, registered

__all__ = ["ResolvedSchedule", "Schedule"]

_CHOICES: dict[str, tuple[str, ...]] = {
    "direction": ("auto", "push", "pull"),
    "balance": OWN["balance"],
    "dedup": ("auto", "claim", "bitmap"),
    "switch": OWN["switch"],
    "queue": ("append", "scan"),
    "order": ("auto", "near_far", "sliding", "buckets", "by_weight"),
    "numbering": ("auto", "as_given", "by_degree"),
}

_POSITIVE = ("alpha", "beta", "do_a", "do_b", "gamma")
_FLAGS = ("hub_cache", "fuse", "deterministic")

Outer = TypeVar("Outer", bound="Schedule")


@dataclass(frozen=True, repr=False)
class Schedule:
    """How to run a step, a loop or an enactor.

    A choice that is not set is None. It is inherited from the schedule of the surrounding loop, then the enactor, and
    finally from the defaults (:class:`ResolvedSchedule`). A choice that is set takes effect even if it equals the
    default: ``direction="auto"`` on a step decides in every pass although the enactor's schedule says ``"push"``.

    Parameters
    ----------
    direction : {"auto", "push", "pull"}, optional
        Push follows the edges of the frontier; in a pull every vertex for which ``where`` holds
        searches its in-edges for vertices of the frontier. ``auto`` decides in every pass by ``switch``.
    balance : {"auto", "thread", "block", "twc", "merge_path", "degree_classes"}, optional
        How a push divides edges among threads. On a GPU: ``thread``, a few lanes per vertex; ``block``, the threads of
        a block share the edges of as many vertices; ``twc``, a block, a warp or threads, depending on the degree;
        ``merge_path``, equal chunks of edges, which may begin and end within one vertex's list; ``degree_classes``,
        four queues by degree. ``auto`` chooses. The cpu backend has ``thread``, for graphs whose lists are all short,
        and ``merge_path``; it runs the others as ``merge_path``.
    dedup : {"auto", "claim", "bitmap"}, optional
        How ``unique="exact"`` removes duplicates on a GPU: by a stamp of each vertex, or by a bit.
    switch : {"beamer", "gunrock", "hubs"}, optional
        Rule of ``direction="auto"``. ``beamer``: pull while the frontier has more than 1/alpha of the unexplored edges;
        push again when it has fewer than 1/beta of the vertices (Beamer, Asanovic,
        Patterson: Direction-optimizing breadth-first search, SC 2012); with the default constants, never pull on graphs
        of fewer than 2,048 edge slots, and hardly again after a pull that walked twice as many edges as a push would
        have. ``gunrock``: switch to pull when the estimated number of edges of a push exceeds
        ``do_a`` times that of a pull, and back to push, once, when it is less than ``do_b`` times that.
        ``hubs``: switch to pull when more than the fraction ``gamma`` of all hubs is in the frontier, and stay there
        (Enterprise; Liu and Huang, SC 2015).
    alpha, beta : float, optional
        Beamer's constants.
    do_a, do_b : float, optional
        Gunrock's constants.
    gamma : float, optional
        Enterprise's constant.
    hub_degree : int or "auto", optional
        Hubs are the vertices whose degree is higher than this. ``auto`` sets it so that about 1,000 vertices are hubs
        (a sixteenth of the vertices in graphs of fewer than 16,000).
    queue : {"append", "scan"}, optional
        How the next frontier is written on a GPU. ``append``: elements are appended to a queue while edges are visited.
        ``scan``: vertices are marked in an array with one entry per vertex, from which the queue is then built; and of
        consecutive pulls, those after the first process only a queue of the vertices that are still unvisited, if the
        functors show that no others can be affected (Enterprise). The cpu backend always appends.
    hub_cache : bool, optional
        Whether a pull on a GPU keeps the hubs of the frontier in shared memory and searches them first (Enterprise).
    order : {"auto", "near_far", "sliding", "buckets", "by_weight"}, optional
        How loops with ``order=`` keep their pending elements, if the order only saves work. ``near_far``: elements with
        keys below a limit are processed until there are none, the others are in a pile (Davidson et al., IPDPS 2014).
        ``sliding``: they stay in the frontier, and the limit follows the wave; for a loop of one Advance. ``buckets``:
        they are in several piles by key, which are processed one after another (Julienne, SPAA 2017); also if the order
        is exact, the keys are integers and there is no delta. ``by_weight``: windows of keys on lists sorted by weight,
        where a pass visits only the edges that are light enough; for a loop of one Advance that relaxes edges (see
        ``adds`` and ``caps`` of :func:`frontier.by`), where weights are not negative or are not added; ``explain()``
        says why a loop goes by ``near_far`` all the same. ``auto``: ``by_weight`` on large graphs of
        high degree and short paths, once they have such lists (:meth:`frontier.Graph.sorted_by_weight`); ``sliding`` on
        a GPU if all adjacency lists are short; else ``near_far``.
    numbering : {"auto", "as_given", "by_degree"}, optional
        How a whole run numbers vertices: an enactor's, or that of a step that is called. ``by_degree``: it takes place
        on a copy of the graph, kept with it, whose vertices are in descending order of degree; fields are permuted
        before and after (``renumber`` in a trace). Only programs of Gather, Compute, Reduce, Set and Swap over all
        vertices or edges that use ids as indices of vertex fields and in ``fr.degree``, on graphs with plain lists in
        one memory; ``explain()`` says why others stay. (Ids that are only the first values of a field can be given with
        it.) ``auto``: where a loop gathers on a large graph and the copy is found to be faster, from the fourth
        such run on, and in prepared calls. Sums of floats are added in another order then.
    fuse : bool, optional
        Whether a declared loop runs as one compiled function. ``False`` returns to Python after every
        step, for tracing and debugging.
    deterministic : bool, optional
        Give bitwise equal results in every run. The cpu backend then uses one thread; the cuda backend refuses it.

    Examples
    --------
    >>> pull = fr.Schedule(direction="pull")
    >>> fr.bfs(fr.path(4), 0, schedule=pull).level
    array([0, 1, 2, 3], dtype=int32)
    """

    direction: str | None = None
    balance: str | None = None
    dedup: str | None = None
    switch: str | None = None
    alpha: float | None = None
    beta: float | None = None
    do_a: float | None = None
    do_b: float | None = None
    gamma: float | None = None
    hub_degree: int | str | None = None
    queue: str | None = None
    hub_cache: bool | None = None
    order: str | None = None
    numbering: str | None = None
    fuse: bool | None = None
    deterministic: bool | None = None

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value is None or value in choices:
                continue
            more = registered(name, value)
            if value not in more:
                raise FrontierError(f"Schedule({name}={value!r}): choose from {', '.join((*choices, *more))}")
        for name in _FLAGS:
            value = getattr(self, name)
            if value is not None and value not in (True, False):
                raise FrontierError(f"Schedule({name}={value!r}): True or False")
        numbers = [value for value in (getattr(self, name) for name in _POSITIVE) if value is not None]
        if not all(isinstance(value, (int, float, np.number)) and value > 0 for value in numbers):
            raise FrontierError(f"Schedule: {', '.join(_POSITIVE[:-1])} and {_POSITIVE[-1]} must be positive")
        asked = self.hub_degree
        if asked is not None and asked != "auto" and not (isinstance(asked, int) and asked >= 0):
            raise FrontierError(f"Schedule(hub_degree={asked!r}): a number of edges, or 'auto'")

    def __hash__(self) -> int:
        """Hash only a few choices, for speed: every run needs it, and equal schedules are usually the same object."""
        return hash((self.direction, self.balance, self.queue, self.fuse))

    def __repr__(self) -> str:
        """Show the choices that are set."""
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._set().items())})"

    def _set(self) -> dict[str, Any]:
        """Return the choices that are set, by name."""
        own = ((f.name, getattr(self, f.name)) for f in fields(self))
        return {name: value for name, value in own if value is not None}

    def replace(self, **changes: Any) -> Schedule:
        """Return a copy with some choices changed; None unsets a choice."""
        return replace(self, **changes)

    def over(self, outer: Outer) -> Outer:
        """Take what is set in this schedule, and the rest from the outer one."""
        own = self._set()
        return replace(outer, **own) if own else outer

    def resolved(self) -> ResolvedSchedule:
        """Take what is set in this schedule, and the rest from the defaults: what a run goes by."""
        return self._resolved

    @cached_property
    def _resolved(self) -> ResolvedSchedule:
        return _filled(self)


@dataclass(frozen=True, repr=False, eq=False)
class ResolvedSchedule(Schedule):
    """A schedule in which every choice is set; its defaults are those of Frontier. See :class:`Schedule`."""

    direction: str = "auto"
    balance: str = "auto"
    dedup: str = "auto"
    switch: str = "beamer"
    alpha: float = 15.0
    beta: float = 18.0
    do_a: float = 0.001
    do_b: float = 0.2
    gamma: float = 0.3
    hub_degree: int | str = "auto"
    queue: str = "append"
    hub_cache: bool = False
    order: str = "auto"
    numbering: str = "auto"
    fuse: bool = True
    deterministic: bool = False

    def resolved(self) -> ResolvedSchedule:
        """Return the schedule itself."""
        return self

    @cached_property
    def by_vertices(self) -> ResolvedSchedule:
        """The same, but with the balance ``thread`` where none is chosen."""
        return replace(self, balance="thread") if self.balance == "auto" else self


_DEFAULTS = ResolvedSchedule()


@lru_cache(maxsize=256)
def _filled(schedule: Schedule) -> ResolvedSchedule:
    """Return the same object for equal schedules, so that caches by identity also work for a new equal schedule."""
    return schedule.over(_DEFAULTS)
