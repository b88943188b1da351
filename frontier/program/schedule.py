"""Schedule: how steps are carried out. It never changes an answer.

What an algorithm does (functors, loop) and how it is carried out are kept apart, as in GraphIt
(Zhang et al., OOPSLA 2018).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any, TypeVar

from frontier.errors import FrontierError

__all__ = ["ResolvedSchedule", "Schedule", "register_balance", "registered_balance"]

_CHOICES: dict[str, tuple[str, ...]] = {
    "direction": ("auto", "push", "pull"),
    "balance": ("auto", "thread", "block", "twc", "merge_path", "degree_classes"),
    "dedup": ("auto", "claim", "bitmap"),
    "switch": ("beamer", "gunrock", "hubs"),
    "queue": ("append", "scan"),
    "order": ("auto", "near_far", "sliding", "buckets"),
}

#: What users have registered: (name, backend) -> what adds the phases, and whether it wants the scan of degrees.
_balances: dict[tuple[str, str], tuple[Callable[..., None], bool]] = {}

_POSITIVE = ("alpha", "beta", "do_a", "do_b", "gamma")
_FLAGS = ("hub_cache", "fuse", "deterministic")

Outer = TypeVar("Outer", bound="Schedule")


@dataclass(frozen=True, repr=False)
class Schedule:
    """How to run a step, a loop or an enactor.

    What is not set is None, and as the schedule around says: a step's is taken over its loop's, that over
    the enactor's, that over the defaults (:class:`ResolvedSchedule`). What is set holds, also where it is the default:
    ``direction="auto"`` on a step decides in every pass though the enactor's schedule says ``"push"``.

    Parameters
    ----------
    direction : {"auto", "push", "pull"}, optional
        Push walks the out-edges of the frontier; pull lets every vertex for which ``where`` holds
        look for frontier vertices among its in-edges. ``auto`` decides in every pass by ``switch``.
    balance : {"auto", "thread", "block", "twc", "merge_path", "degree_classes"}, optional
        How a push shares edges among workers. On a GPU: ``thread``, a few lanes for a vertex; ``block``, the threads
        of a block share the edges of as many vertices; ``twc``, a block, a warp or threads by the length of the list;
        ``merge_path``, equal chunks of edges, also within one vertex; ``degree_classes``, four queues by degree.
        ``auto`` decides. The cpu backend knows ``thread`` and ``merge_path``; it runs the others as ``merge_path``.
    dedup : {"auto", "claim", "bitmap"}, optional
        How ``unique="exact"`` removes duplicates: a stamp for each vertex, or a bit.
    switch : {"beamer", "gunrock", "hubs"}, optional
        Rule of ``direction="auto"``. ``beamer``: pull while the frontier has more than 1/alpha of the edges not
        yet walked; push again when it has fewer than 1/beta of the vertices (Beamer, Asanovic,
        Patterson: Direction-optimizing breadth-first search, SC 2012); with the default constants, never on graphs of
        fewer than 2,048 edge slots. ``gunrock``: pull once, when an estimate of the edges of a push exceeds ``do_a``
        times one of those of a pull, until it is less than ``do_b`` times that.
        ``hubs``: pull as soon as more than ``gamma`` of all hubs are in the frontier, and to the end (Enterprise; Liu
        and Huang, SC 2015).
    alpha, beta : float, optional
        Beamer's constants.
    do_a, do_b : float, optional
        Gunrock's constants.
    gamma : float, optional
        Enterprise's constant.
    hub_degree : int or "auto", optional
        Hubs are the vertices of a higher degree than this. ``auto`` is the degree that about 1,000 vertices exceed (in
        graphs of fewer than 16,000 vertices a sixteenth of them).
    queue : {"append", "scan"}, optional
        How the next frontier is written on a GPU: appended to a queue while edges are visited; or marked in an array
        with an entry for every vertex, which is then scanned for the queue; and of several pulls in a row, those after
        the first go over a queue of the vertices that still wait, where the functors show that no other can come into
        question (Enterprise). The cpu backend appends.
    hub_cache : bool, optional
        Whether a pull on a GPU keeps the frontier's hubs in shared memory, and looks for them first (Enterprise).
    order : {"auto", "near_far", "sliding", "buckets"}, optional
        How loops with ``order=`` keep it, where it only saves work. ``near_far``: elements with keys below a limit are
        worked on until there are none, the others wait in a pile (Davidson et al., IPDPS 2014). ``sliding``: they wait
        in the frontier, and the limit follows the wave; for a loop of one Advance. ``buckets``: they wait in a few
        piles by their keys, and one after another is worked on (Julienne, SPAA 2017); also where the order is exact,
        if keys are integers and it has no delta. ``auto``: sliding on a GPU where all lists are short, else near_far.
    fuse : bool, optional
        Whether a declared loop runs as one compiled function. ``False`` returns to Python after every
        step, for tracing and debugging.
    deterministic : bool, optional
        The same bits in every run: on the cpu backend by running on one thread. The cuda backend refuses it.
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
    fuse: bool | None = None
    deterministic: bool | None = None

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value is not None and value not in choices and not (name == "balance" and _is_registered(value)):
                raise FrontierError(f"Schedule({name}={value!r}): choose from {', '.join(choices)}")
        for name in _FLAGS:
            value = getattr(self, name)
            if value is not None and value not in (True, False):
                raise FrontierError(f"Schedule({name}={value!r}): True or False")
        if not all(value is None or value > 0 for value in (getattr(self, name) for name in _POSITIVE)):
            raise FrontierError(f"Schedule: {', '.join(_POSITIVE[:-1])} and {_POSITIVE[-1]} must be positive")
        asked = self.hub_degree
        if asked is not None and asked != "auto" and not (isinstance(asked, int) and asked >= 0):
            raise FrontierError(f"Schedule(hub_degree={asked!r}): a number of edges, or 'auto'")

    def __hash__(self) -> int:
        """Of few choices: every run asks for it, and equal schedules are nearly always one and the same."""
        return hash((self.direction, self.balance, self.queue, self.fuse))

    def __repr__(self) -> str:
        """What is set."""
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._set().items())})"

    def _set(self) -> dict[str, Any]:
        """What is set, by name."""
        own = ((f.name, getattr(self, f.name)) for f in fields(self))
        return {name: value for name, value in own if value is not None}

    def but(self, **changes: Any) -> Schedule:
        """A copy with some choices changed; None takes a choice back."""
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
    """A schedule in which every choice is made: by default the usual ones. See :class:`Schedule`."""

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
    fuse: bool = True
    deterministic: bool = False

    def resolved(self) -> ResolvedSchedule:
        """Itself."""
        return self


_DEFAULTS = ResolvedSchedule()


@lru_cache(maxsize=256)
def _filled(schedule: Schedule) -> ResolvedSchedule:
    """The same object for equal schedules, so that what is kept by it is found as quickly for one made anew."""
    return schedule.over(_DEFAULTS)


def register_balance(name: str, backend: str, lower: Callable[..., None], *, scanned: bool = False) -> None:
    """Add a way to share a push's edges among workers: ``Schedule(balance=name)`` takes it on a backend.

    Parameters
    ----------
    name : str
        An identifier that no shipped balance has.
    backend : str
        ``"cpu"``, ``"cuda"`` or that of a registered backend whose programs it adds phases to.
    lower : callable
        ``lower(step, builder, source, target, want)``, as in ``operators/advance/cpu/thread.py``: adds the phases that
        visit the edges of the frontier ``source`` and append what the functor accepts to ``target``.
    scanned : bool
        Whether it wants the running sums of the frontier's degrees (``builder.scan_of(source)``).

    Raises
    ------
    FrontierError
        The name is none, or a shipped balance's.
    """
    if not (isinstance(name, str) and name.isidentifier()) or name in _CHOICES["balance"]:
        raise FrontierError(f"a balance cannot be called {name!r}: it takes an identifier that no shipped balance has")
    _balances[name, backend] = lower, scanned


def registered_balance(name: str, backend: str) -> tuple[Callable[..., None], bool] | None:
    """What users have registered under a name for a backend; None for shipped balances.

    Raises
    ------
    FrontierError
        It is registered for other backends only.
    """
    found = _balances.get((name, backend))
    if found is None and name not in _CHOICES["balance"]:
        there = ", ".join(sorted(where for each, where in _balances if each == name))
        raise FrontierError(f"the balance {name!r} is registered for {there}, not for {backend}")
    return found


def _is_registered(name: object) -> bool:
    return any(each == name for each, _ in _balances)
