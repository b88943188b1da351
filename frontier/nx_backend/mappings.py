"""Results by node: mappings over arrays, which become dictionaries when somebody needs one.

They are no subclasses of dict: code in C, such as that of json and orjson, reads the storage of a dict without asking,
and would take a lazy one for empty.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterable, Iterator, MutableMapping, ValuesView
from typing import Any

import numpy as np

from frontier.graph.topology import Array
from frontier.nx_backend.converted import ConvertedGraph
from frontier.nx_backend.settings import setting

__all__ = ["LazyDict", "by_node", "by_some", "each"]

#: After so many single look-ups per entry, and these, a dictionary is made: each takes as long as several entries do.
SHARE, FIRST = 8, 64


class LazyDict(MutableMapping[Any, Any]):
    """A dictionary whose keys are nodes, and whose values are made when they are asked for.

    It compares, prints, pickles and copies as a dict. Once changed, and after many look-ups, it holds one.

    Parameters
    ----------
    graph : ConvertedGraph
    vertices : ndarray, optional
        The vertices that have values, in the order of keys; default: all.
    value : callable
        ``value(i)`` returns the value of key i.
    values : callable
        Returns all values, in the order of keys.
    """

    __slots__ = ("_asked", "_dict", "_graph", "_value", "_values", "_vertices")
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        graph: ConvertedGraph,
        vertices: Array | None,
        value: Callable[[int], Any],
        values: Callable[[], Iterable[Any]],
    ) -> None:
        self._graph, self._vertices = graph, vertices
        self._value, self._values = value, values
        self._dict: dict[Any, Any] | None = None
        self._asked = 0

    def _real(self) -> dict[Any, Any]:
        """The dictionary, made if need be; the arrays are given up."""
        if self._dict is None:
            self._dict = dict(zip(self._keys(), self._values(), strict=True))
            del self._graph, self._vertices, self._value, self._values
        return self._dict

    def _keys(self) -> list[Any]:
        return self._graph.nodes if self._vertices is None else self._graph.names(self._vertices)

    def __getitem__(self, node: Any) -> Any:
        if self._dict is None:
            self._asked += 1
            if self._asked <= FIRST + len(self) // SHARE:
                return self._value(self._place(node))
        return self._real()[node]

    def _place(self, node: Any) -> int:
        """Which key a node is."""
        hash(node)  # raises TypeError as a dict does
        if node not in self._graph:
            raise KeyError(node)
        vertex = self._graph.vertex(node)
        if self._vertices is None:
            return vertex
        self._asked += FIRST // 16  # each of these look-ups goes through all keys
        found = np.flatnonzero(self._vertices == vertex)
        if not len(found):
            raise KeyError(node)
        return int(found[0])

    def __contains__(self, node: Any) -> bool:
        if self._dict is None:
            if self._vertices is None:
                hash(node)
                return node in self._graph
            return node in self._real()
        return node in self._dict

    def __len__(self) -> int:
        if self._dict is not None:
            return len(self._dict)
        return len(self._graph if self._vertices is None else self._vertices)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._keys() if self._dict is None else self._dict)

    def __reversed__(self) -> Iterator[Any]:
        keys: Any = self._keys() if self._dict is None else self._dict
        return iter(reversed(keys))

    def values(self) -> ValuesView[Any]:
        """The values, in the order of keys."""
        return _Values(self) if self._dict is None else self._dict.values()

    def items(self) -> ItemsView[Any, Any]:
        """Pairs of key and value."""
        return _Items(self) if self._dict is None else self._dict.items()

    def __setitem__(self, node: Any, value: Any) -> None:
        self._real()[node] = value

    def __delitem__(self, node: Any) -> None:
        del self._real()[node]

    def popitem(self) -> tuple[Any, Any]:
        """Remove the last pair and return it."""
        return self._real().popitem()

    def copy(self) -> dict[Any, Any]:
        """Return a dict with the same pairs."""
        return self._real().copy()

    __copy__ = copy

    def __eq__(self, other: object) -> bool:
        other = other._real() if isinstance(other, LazyDict) else other
        return self._real() == other if isinstance(other, dict) else NotImplemented

    def __or__(self, other: Any) -> Any:
        return self._real() | (other._real() if isinstance(other, LazyDict) else other)

    def __ror__(self, other: Any) -> Any:
        return other | self._real() if isinstance(other, dict) else NotImplemented

    def __ior__(self, other: Any) -> LazyDict:
        self.update(other)
        return self

    def __repr__(self) -> str:
        return repr(self._real())

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self._real(),)


class _Values(ValuesView[Any]):
    """The values of a :class:`LazyDict`, all at once when they are iterated."""

    def __iter__(self) -> Iterator[Any]:
        mapping: Any = self._mapping  # type: ignore[attr-defined]
        found: Iterable[Any] = mapping._values() if mapping._dict is None else mapping._dict.values()
        return iter(found)


class _Items(ItemsView[Any, Any]):
    """The pairs of a :class:`LazyDict`."""

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        mapping: Any = self._mapping  # type: ignore[attr-defined]
        if mapping._dict is not None:
            return iter(mapping._dict.items())
        return zip(mapping._keys(), mapping._values(), strict=True)


def each(
    graph: ConvertedGraph, vertices: Array | None, value: Callable[[int], Any], values: Callable[[], Iterable[Any]]
) -> Any:
    """A mapping by node whose values are made when asked for; a dict, if settings say ``lazy=False``."""
    made = LazyDict(graph, vertices, value, values)
    return made if setting("lazy") else made._real()


def by_node(graph: ConvertedGraph, values: Array) -> Any:
    """The values of all nodes, as Python numbers."""
    return each(graph, None, lambda i: values[i].item(), values.tolist)


def by_some(graph: ConvertedGraph, vertices: Array, values: Array) -> Any:
    """The values ``values[vertices]`` of some nodes, in the order of ``vertices``."""
    return each(graph, vertices, lambda i: values[vertices[i]].item(), lambda: values[vertices].tolist())
