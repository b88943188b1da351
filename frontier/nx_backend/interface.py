"""What NetworkX calls: conversion of graphs, whether a function can and should run, and the functions themselves."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import cache, wraps
from typing import Any

from frontier.errors import GraphError
from frontier.nx_backend.converted import ConvertedGraph, convert
from frontier.nx_backend.reasons import reason_against
from frontier.nx_backend.settings import apply_threads
from frontier.nx_backend.topics import MODULE_OF

__all__ = ["backend"]

#: Below so many nodes NetworkX is faster: a call here takes a third of a millisecond to one, and the conversion of a
#: graph about as long as a traversal by NetworkX.
LEAST = {"traversal": 1000, "paths": 1000, "components": 500}

#: Those of all these topics that take longer than a traversal.
SLOW = ("all_pairs", "average_", "wiener_", "global_", "articulation_", "bridges", "has_bridges", "is_biconnected")


class Backend:
    """The object behind the entry point ``networkx.backends``; its attributes are functions by their NetworkX names."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in MODULE_OF:
            raise AttributeError(f"the backend frontier has no {name}")
        return _guarded(name)

    @staticmethod
    def convert_from_nx(
        graph: Any,
        *,
        edge_attrs: Mapping[str, Any] | None = None,
        node_attrs: Mapping[str, Any] | None = None,
        preserve_edge_attrs: bool = False,
        preserve_node_attrs: bool = False,
        preserve_graph_attrs: bool = False,
        name: str | None = None,
        graph_name: str | None = None,
    ) -> ConvertedGraph:
        """Convert a graph of NetworkX; attributes are read when a function asks for them."""
        return convert(graph)

    @staticmethod
    def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
        """Give back the graph that was converted; anything else as it is."""
        return result.to_networkx() if isinstance(result, ConvertedGraph) else result

    @staticmethod
    def can_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool | str:
        """Whether a function can be called with these arguments, or why not."""
        return reason_against(_function(name), args, kwargs) or True

    @staticmethod
    def should_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool | str:
        """Whether a function is worth a conversion, or why not."""
        least = 0 if name.startswith(SLOW) else LEAST.get(MODULE_OF[name], 0)
        graph = args[0] if args else next(iter(kwargs.values()))
        if least and (count := len(graph)) < least:
            return f"NetworkX is faster on a graph of {count} nodes, with conversion on fewer than {least}"
        return True


@cache
def _function(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(importlib.import_module(f"frontier.nx_backend.{MODULE_OF[name]}"), name)
    return found


@cache
def _guarded(name: str) -> Callable[..., Any]:
    """A function with the settings applied; what Frontier refuses is left to NetworkX."""
    function = _function(name)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        apply_threads()
        try:
            return function(*args, **kwargs)
        except GraphError as error:
            raise NotImplementedError(str(error)) from error

    return call


backend = Backend()
