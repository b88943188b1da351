"""On a rank: the store of graphs and long arrays that the client has references to.

What a function returns is pickled, with a key in the place of each such object (a persistent id of :mod:`pickle`). The
client sends these keys back in later requests. All ranks pickle the same objects in the same order, so their keys are
the same, and they can exchange arrays in parts meanwhile.
"""

from __future__ import annotations

import io
import pickle
from collections import Counter
from collections.abc import Iterable
from typing import Any

import cloudpickle
import numpy as np

from frontier.distributed.ranks.fields import FieldInParts
from frontier.distributed.ranks.graphs import InParts
from frontier.errors import FrontierError, RanksError
from frontier.graph.graph import Graph
from frontier.program.problem import Problem

__all__ = ["Store", "slots_of"]

#: Arrays of up to so many values are sent to the client at once, longer ones when it looks at them.
SHORT = 1 << 16


class Store:
    """Objects of one rank, by key."""

    def __init__(self) -> None:
        self._kept: dict[str, Any] = {}
        self._keys: dict[int, str] = {}

    def dumps(self, value: Any, number: int) -> bytes:
        """Pickle what a call has returned, given its number; all ranks call this together."""
        file = io.BytesIO()
        _Pickler(file, self, number).dump(value)
        return file.getvalue()

    def loads(self, data: bytes) -> Any:
        """Unpickle what the client sends."""
        return _Unpickler(io.BytesIO(data), self).load()

    def keep(self, value: Any, new: str) -> str:
        """Keep an object, and return its key: ``new`` if it is not kept yet."""
        key = self._keys.get(id(value))
        if key is None:
            key = self._keys[id(value)] = new
            self._kept[key] = value
        return key

    def found(self, key: str, name: str = "") -> Any:
        """Return an object, or an attribute of it."""
        if key not in self._kept:
            raise RanksError("the ranks have not returned the same: they must run the same program")
        value = self._kept[key]
        return getattr(value, name) if name else value

    def drop(self, keys: Iterable[str]) -> None:
        """Drop objects."""
        for key in keys:
            if key in self._kept:
                del self._keys[id(self._kept.pop(key))]

    def part(self, key: str, name: str, rank: int, size: int) -> Any:
        """Return a rank's entries of an array, without asking other ranks."""
        value = self.found(key)
        if name == "sources":
            part = value._topology.ranks.parts[0]
            return part.sources[slots_of(value)]
        value = getattr(value, name) if name else value
        if isinstance(value, FieldInParts | InParts):
            return value.own
        return value[len(value) * rank // size : len(value) * (rank + 1) // size]


def slots_of(graph: Graph) -> slice:
    """Return the slots of a rank's own edges of a graph in parts."""
    own = graph._topology.ranks.slots(0)
    return slice(own.start, own.stop)


class _Pickler(cloudpickle.Pickler):
    def __init__(self, file: Any, store: Store, number: int) -> None:
        super().__init__(file, protocol=5)
        self._store, self._number, self._seen = store, number, Counter[str]()

    def persistent_id(self, value: Any) -> tuple[Any, ...] | None:
        if isinstance(value, Graph) and value._topology.divided is not None:
            return "graph", self._kept(value, "graph"), self._facts(value)
        if isinstance(value, np.ndarray | FieldInParts | InParts) and value.ndim == 1 and len(value) > SHORT:
            return "array", self._kept(value, f"{value.dtype} {len(value)}"), value.shape, value.dtype.str
        return None

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, Problem):
            raise FrontierError("a problem stays in the ranks: return fields of it, such as p.level")
        if isinstance(value, InParts):
            return np.array, (np.asarray(value),)
        if isinstance(value, Graph) and value.placement.divides:
            return value.to("cpu").__reduce__()
        return super().reducer_override(value)

    def _kept(self, value: Any, kind: str) -> str:
        """Return the key of a value. Kinds are counted apart: ranks that differ in one still agree in the others."""
        self._seen[kind] += 1
        return self._store.keep(value, f"{self._number} {kind} {self._seen[kind]}")

    def _facts(self, graph: Graph) -> dict[str, Any]:
        """Return what the client knows about a graph."""
        labels, weights = graph.labels, graph.weights
        return {
            "num_vertices": graph.num_vertices, "num_edges": graph.num_edges, "num_slots": graph.num_slots,
            "directed": graph.directed, "shown": repr(graph),
            "weights": None if weights is None else weights.dtype.str,
            "labels": None if labels is None else (self._kept(labels, "labels"), labels.dtype.str),
        }  # fmt: skip


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: Any, store: Store) -> None:
        super().__init__(file)
        self._store = store

    def persistent_load(self, key: Any) -> Any:
        return self._store.found(*key)
