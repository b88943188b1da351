"""Balances, and rules for switching between push and pull, that are registered: those of users, and most shipped ones.

A schedule selects them by name. The modules that register what the package itself adds are in one folder, and those of
installed packages in entry points; both are imported when a schedule has a name that is unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from frontier.errors import FrontierError
from frontier.system.plugins import import_all, import_installed

__all__ = [
    "OWN", "is_users_balance", "register_balance", "register_switch", "registered", "registered_balance",
    "registered_switch",
]  # fmt: skip

#: Names that every backend knows without registration, by choice.
OWN = {"balance": ("auto", "thread", "merge_path"), "switch": ("beamer",)}

#: The folder whose modules register what the package itself adds.
SHIPPED = "operators.advance.ablations"

#: Name -> backend -> function that adds the phases, whether it needs the scan of degrees.
_balances: dict[str, dict[str, tuple[Callable[..., None], bool]]] = {}

#: Name -> rule.
_switches: dict[str, Callable[..., Any]] = {}


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
        Whether it needs the prefix sum of the frontier's degrees, ``builder.frontiers.scan_of(source)``, and their sum,
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
    if name in OWN["balance"]:
        return None
    registered("balance", name)
    found = _balances.get(name, {})
    if backend not in found:
        raise FrontierError(f"the balance {name!r} is registered for {', '.join(sorted(found))}, not for {backend}")
    return found[backend]


def is_users_balance(name: str, backend: str) -> bool:
    """Whether a balance is not the package's own: what its phases touch is not known."""
    found = registered_balance(name, backend)
    return found is not None and not found[0].__module__.startswith("frontier.")


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
    ...     return source.count * 2 > builder.capacity("vertex")
    >>> fr.register_switch("half", half)
    >>> fr.bfs(fr.path(4), 0, schedule=fr.Schedule(switch="half")).level
    array([0, 1, 2, 3], dtype=int32)
    """
    _check_name("switch", name)
    _check_owner("switch", name, _switches.get(name, rule), rule)
    _switches[name] = rule


def registered_switch(name: str) -> Callable[..., Any] | None:
    """Return the rule that is registered by a name; None for the default."""
    if name in OWN["switch"]:
        return None
    registered("switch", name)
    return _switches[name]


def registered(choice: str, value: object) -> list[str]:
    """Return the names that are registered for a choice. If the value is none of them, look for more first."""
    if choice not in OWN:
        return []
    table, kind = (_balances, "balances") if choice == "balance" else (_switches, "switches")
    if value not in [*table]:
        import_all(SHIPPED)
        import_installed(kind)
    return sorted(table)


def _check_name(choice: str, name: str) -> None:
    """Raise FrontierError unless something may be registered by a name."""
    if not (isinstance(name, str) and name.isidentifier()) or name in OWN[choice]:
        raise FrontierError(f"a {choice} cannot be called {name!r}: it takes an identifier that no shipped one has")
    import_all(SHIPPED)  # a module of it that is being imported registers itself at its end


def _check_owner(choice: str, name: str, known: Callable[..., Any], new: Callable[..., Any]) -> None:
    """Raise FrontierError if another module has registered a name; a module may do so again."""
    if known.__module__ != new.__module__:
        raise FrontierError(f"a {choice} cannot be called {name!r}: {known.__module__} has registered one")
