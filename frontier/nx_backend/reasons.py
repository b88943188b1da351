"""What a function cannot do, as text: ``can_run`` says it, and NetworkX then takes its own function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NoReturn, TypeVar

__all__ = ["lacks", "reason_against", "refuse"]

Function = TypeVar("Function", bound=Callable[..., Any])

#: Names of parameters that hold weights of edges.
_WEIGHTS = ("weight", "distance", "capacity")


def lacks(
    directed: str = "", multigraph: str = "", undirected: str = "", **parameters: str
) -> Callable[[Function], Function]:
    """Say what a function cannot do: a decorator.

    Parameters
    ----------
    directed, multigraph, undirected : str
        Why it cannot take such a graph.
    **parameters : str
        For a parameter that must have its default, or be None: what is missing otherwise.
    """

    def decorate(function: Function) -> Function:
        graphs = {"directed": directed, "multigraph": multigraph, "undirected": undirected}
        function.lacks = graphs | parameters  # type: ignore[attr-defined]
        return function

    return decorate


@cache
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function)


def reason_against(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """Why a function cannot be called with these arguments; empty if it can."""
    signature = _signature(function)
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError:
        return "NetworkX says which arguments it takes"
    for name in _WEIGHTS:
        if callable(given.get(name)):
            return f"{name}= is a function, which would be called for every edge"
    missing = getattr(function, "lacks", {})
    graph = next(iter(given.values()))
    if missing.get("directed") and graph.is_directed():
        return str(missing["directed"])
    if missing.get("undirected") and not graph.is_directed():
        return str(missing["undirected"])
    if missing.get("multigraph") and graph.is_multigraph():
        return str(missing["multigraph"])
    for name, why in missing.items():
        parameter = signature.parameters.get(name)
        value = given.get(name)
        if parameter is not None and value is not None and not _same(value, parameter.default):
            return f"{name}=: {why}"
    return ""


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


def refuse(reason: str) -> NoReturn:
    """Leave the call to NetworkX."""
    raise NotImplementedError(reason)
