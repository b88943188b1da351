"""What a rank keeps for the program: graphs and long arrays, of which the program gets only what they are.

Whatever a function returns is pickled, and what is kept stands there as a key (the persistent ids of :mod:`pickle`).
The program sends such keys back in what it asks. All ranks pickle the same in the same order; so they have the same
keys, and can ask each other for arrays that are in parts.
"""

from __future__ import annotations

import io
import pickle
from collections import Counter
from collections.abc import Iterable
from typing import Any

import cloudpickle
import numpy as np

from frontier.backends.ranks.fields import FieldInParts
from frontier.backends.ranks.parts import InParts
from frontier.errors import FrontierError, RanksError
from frontier.graph.graph import Graph
from frontier.program.problem import Problem

__all__ = ["Keeper", "slots_of"]

#: Arrays of so many values go to the program at once; longer ones when it looks at them.
SHORT = 1 << 16


class Keeper:
    """What one rank keeps."""

    def __init__(self) -> None:
        self._kept: dict[str, Any] = {}
        self._keys: dict[int, str] = {}

    def dumps(self, value: Any, number: int) -> bytes:
        """Pickle what the call of a number has returned; all ranks call this together."""
        file = io.BytesIO()
        _Pickler(file, self, number).dump(value)
        return file.getvalue()

    def loads(self, data: bytes) -> Any:
        """Return what the program sends."""
        return _Unpickler(io.BytesIO(data), self).load()

    def keep(self, value: Any, kind: str) -> str:
        """Keep something, and return its key; ``kind`` makes a key for what is new."""
        key = self._keys.get(id(value))
        if key is None:
            key = self._keys[id(value)] = kind
            self._kept[key] = value
        return key

    def found(self, key: str, name: str = "") -> Any:
        """Return what is kept, or an array of a graph."""
        if key not in self._kept:
            raise RanksError("the ranks have not returned the same: they must run the same program")
        value = self._kept[key]
        return getattr(value, name) if name else value

    def drop(self, keys: Iterable[str]) -> None:
        """Keep some things no longer."""
        for key in keys:
            if key in self._kept:
                del self._keys[id(self._kept.pop(key))]

    def part(self, key: str, name: str, rank: int, size: int) -> Any:
        """Return a rank's share of the entries of an array; nobody else is asked."""
        value = self.found(key)
        if name == "sources":
            part = value._topology.divided.parts[0]
            return part.sources[slots_of(value)]
        value = getattr(value, name) if name else value
        if isinstance(value, FieldInParts | InParts):
            return value.own
        return value[len(value) * rank // size : len(value) * (rank + 1) // size]


def slots_of(graph: Graph) -> slice:
    """Return the slots of a rank's own edges, of a graph in parts."""
    own = graph._topology.divided.slots(0)
    return slice(own.start, own.stop)


class _Pickler(cloudpickle.Pickler):
    def __init__(self, file: Any, keeper: Keeper, number: int) -> None:
        super().__init__(file, protocol=5)
        self._keeper, self._number, self._seen = keeper, number, Counter[str]()

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
        """The key of a value; those of the same kind are counted, so that ranks which differ in one agree in others."""
        self._seen[kind] += 1
        return self._keeper.keep(value, f"{self._number} {kind} {self._seen[kind]}")

    def _facts(self, graph: Graph) -> dict[str, Any]:
        """What the program knows of a graph."""
        labels, weights = graph.labels, graph.weights
        return {
            "num_vertices": graph.num_vertices, "num_edges": graph.num_edges, "num_slots": graph.num_slots,
            "directed": graph.directed, "shown": repr(graph),
            "weights": None if weights is None else weights.dtype.str,
            "labels": None if labels is None else (self._kept(labels, "labels"), labels.dtype.str),
        }  # fmt: skip


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: Any, keeper: Keeper) -> None:
        super().__init__(file)
        self._keeper = keeper

    def persistent_load(self, key: Any) -> Any:
        return self._keeper.found(*key)
