"""The class Schedule: how steps are carried out. It never changes an answer.

The algorithm (functors and loop) is separated from the way in which it is carried out, as in GraphIt
(Zhang et al., OOPSLA 2018).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any, TypeVar

import numpy as np

from frontier.errors import FrontierError
from frontier.system.plugins import import_all, import_installed

__all__ = [
    "ResolvedSchedule", "Schedule", "register_balance", "register_switch", "registered_balance", "registered_switch",
]  # fmt: skip

_CHOICES: dict[str, tuple[str, ...]] = {
    "direction": ("auto", "push", "pull"),
    "balance": ("auto", "thread", "merge_path"),
    "dedup": ("auto", "claim", "bitmap"),
    "switch": ("beamer",),
    "queue": ("append", "scan"),
    "order": ("auto", "near_far", "sliding", "buckets"),
}

#: Registered balances: name -> backend -> function that adds the phases, whether it needs the scan of degrees.
_balances: dict[str, dict[str, tuple[Callable[..., None], bool]]] = {}

#: Registered rules for switching between push and pull, by name.
_switches: dict[str, Callable[..., Any]] = {}

#: Choices to which names are added: what is registered, and the entry points of packages that register more.
_ADDED: dict[str, tuple[dict[str, Any], str]] = {"balance": (_balances, "balances"), "switch": (_switches, "switches")}

#: The folder whose modules register what the package itself adds.
_SHIPPED = "operators.advance.ablations"

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
        four queues by degree. ``auto`` chooses. The cpu backend has ``thread`` and ``merge_path``; it runs the others
        as ``merge_path``.
    dedup : {"auto", "claim", "bitmap"}, optional
        How ``unique="exact"`` removes duplicates on a GPU: by a stamp of each vertex, or by a bit.
    switch : {"beamer", "gunrock", "hubs"}, optional
        Rule of ``direction="auto"``. ``beamer``: pull while the frontier has more than 1/alpha of the unexplored edges;
        push again when it has fewer than 1/beta of the vertices (Beamer, Asanovic,
        Patterson: Direction-optimizing breadth-first search, SC 2012); with the default constants, never pull on graphs
        of fewer than 2,048 edge slots. ``gunrock``: switch to pull when the estimated number of edges of a push exceeds
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
    order : {"auto", "near_far", "sliding", "buckets"}, optional
        How loops with ``order=`` keep their pending elements, if the order only saves work. ``near_far``: elements with
        keys below a limit are processed until there are none, the others are in a pile (Davidson et al., IPDPS 2014).
        ``sliding``: they stay in the frontier, and the limit follows the wave; for a loop of one Advance. ``buckets``:
        they are in several piles by key, which are processed one after another (Julienne, SPAA 2017); also if the order
        is exact, the keys are integers and there is no delta. ``auto``: ``sliding`` on a GPU if all adjacency lists are
        short, else ``near_far``.
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
    fuse: bool | None = None
    deterministic: bool | None = None

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value is None or value in choices:
                continue
            more = _registered(name, value)
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
    fuse: bool = True
    deterministic: bool = False

    def resolved(self) -> ResolvedSchedule:
        """Return the schedule itself."""
        return self


_DEFAULTS = ResolvedSchedule()


@lru_cache(maxsize=256)
def _filled(schedule: Schedule) -> ResolvedSchedule:
    """Return the same object for equal schedules, so that caches by identity also work for a new equal schedule."""
    return schedule.over(_DEFAULTS)


def register_balance(name: str, backend: str, lower: Callable[..., None], *, scanned: bool = False) -> None:
    """Add a load-balancing strategy for pushes on a backend, which ``Schedule(balance=name)`` then selects.

    Parameters
    ----------
    name : str
        An identifier that is not the name of a shipped balance.
    backend : str
        ``"cpu"``, ``"cuda"`` or the name of a registered backend to whose programs it adds phases.
    lower : callable
        ``lower(step, builder, source, target, next_scan)`` adds the phases that visit every edge of the frontier
        ``source`` once and append what the functor accepts to ``target``. It is called when a program is made, once
        for every Advance that may push.

        ``step`` is the Advance. ``builder`` is the program in the making, to which nodes are added
        (:class:`frontier.lowering.builder.Builder`). ``source`` and ``target`` hold the variables of a frontier
        (:class:`frontier.lowering.frontier_state.FrontierState`); usually they are the same, since a frontier has two
        queues. ``source`` is everything, or a queue of ``source.count`` ids. ``next_scan`` is the prefix sum of degrees
        that the next step wants to find beside the ids of ``target``: ``"out"``, ``"in"`` or ``""``. It may be ignored,
        by passing on ``""``.
    scanned : bool
        Whether it needs the prefix sum of the frontier's degrees, ``builder.scan_of(source)``, and their sum,
        ``source.edges``. (For everything, the offsets of the graph's lists are the prefix sum.)

    Raises
    ------
    FrontierError
        The name is not an identifier, or is that of a shipped balance, or of one that another module has registered.

    Notes
    -----
    In traces it has the name that ``lower`` gives to ``finish``, as ``pushed_by(name)`` of
    ``frontier.lowering.frontier_state``.

    Steps with ``part=``, and those of loops with ``order="sliding"``, use the balance ``thread`` whatever the schedule
    says. "Adding a balance" on the page Design has an example with a kernel of its own.

    An installed package names the module that calls this function in the entry points ``frontier.balances``. The module
    is imported when a schedule names a balance that is unknown.

    Examples
    --------
    >>> def lower(step, builder, source, target, next_scan):  # doctest: +SKIP
    ...     ...  # add the phases that visit the edges of source
    >>> fr.register_balance("mine", "cpu", lower)  # doctest: +SKIP
    """
    _check_name("balance", name)
    _check_owner("balance", name, _balances.get(name, {}).get(backend, (lower,))[0], lower)
    _balances.setdefault(name, {})[backend] = lower, scanned


def registered_balance(name: str, backend: str) -> tuple[Callable[..., None], bool] | None:
    """Return the balance that is registered by a name for a backend; None for those that every backend has.

    Raises
    ------
    FrontierError
        It is registered for other backends only.
    """
    if name in _CHOICES["balance"]:
        return None
    _registered("balance", name)
    found = _balances.get(name, {})
    if backend not in found:
        raise FrontierError(f"the balance {name!r} is registered for {', '.join(sorted(found))}, not for {backend}")
    return found[backend]


def register_switch(name: str, rule: Callable[..., Any]) -> None:
    """Add a rule by which ``direction="auto"`` chooses push or pull, which ``Schedule(switch=name)`` then selects.

    Parameters
    ----------
    name : str
        An identifier that no shipped rule has.
    rule : callable
        ``rule(step, builder, source)`` adds the decision of every pass to the program, and returns the condition under
        which the pass pulls, an expression (:mod:`frontier.lowering.ir`). It is called when a program is made, once for
        every Advance that may push and pull, with the arguments that a balance gets: see :func:`register_balance`.
        It may use the constants of ``builder.schedule``.

    Raises
    ------
    FrontierError
        The name is not an identifier, or is that of a shipped rule, or of one that another module has registered.

    Notes
    -----
    ``operators/advance/ablations/gunrock.py`` is a short model.

    An installed package names the module that calls this function in the entry points ``frontier.switches``. The module
    is imported when a schedule names a rule that is unknown.

    Examples
    --------
    >>> def half(step, builder, source):
    ...     return builder.size(source) * 2 > builder.capacity("vertex")
    >>> fr.register_switch("half", half)
    >>> fr.bfs(fr.path(4), 0, schedule=fr.Schedule(switch="half")).level
    array([0, 1, 2, 3], dtype=int32)
    """
    _check_name("switch", name)
    _check_owner("switch", name, _switches.get(name, rule), rule)
    _switches[name] = rule


def registered_switch(name: str) -> Callable[..., Any] | None:
    """Return the rule that is registered by a name; None for the default."""
    if name in _CHOICES["switch"]:
        return None
    _registered("switch", name)
    return _switches[name]


def _registered(choice: str, value: object) -> list[str]:
    """Return the names that are registered for a choice. If the value is none of them, look for more first."""
    if choice not in _ADDED:
        return []
    table, kind = _ADDED[choice]
    if value not in [*table]:
        import_all(_SHIPPED)
        import_installed(kind)
    return sorted(table)


def _check_name(choice: str, name: str) -> None:
    """Raise FrontierError unless something may be registered by a name."""
    if not (isinstance(name, str) and name.isidentifier()) or name in _CHOICES[choice]:
        raise FrontierError(f"a {choice} cannot be called {name!r}: it takes an identifier that no shipped one has")
    import_all(_SHIPPED)  # a module of it that is being imported registers itself at its end


def _check_owner(choice: str, name: str, known: Callable[..., Any], new: Callable[..., Any]) -> None:
    """Raise FrontierError if another module has registered a name; a module may do so again."""
    if known.__module__ != new.__module__:
        raise FrontierError(f"a {choice} cannot be called {name!r}: {known.__module__} has registered one")
