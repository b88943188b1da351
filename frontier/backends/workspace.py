"""Memory of running loops: queues, scans, bitmaps, stamps; kept with a graph and used again.

A fresh array costs a page fault for every 4 KiB, as much as a short traversal; so workspaces go back to a
pool of their graph when a run ends.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from frontier.graph import Graph

__all__ = ["Workspace", "take"]

_pool: weakref.WeakKeyDictionary[Graph, list[Workspace]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()

#: Workspaces that a graph keeps for later runs.
KEPT = 2


class Workspace:
    """Arrays by name, made when first asked for.

    Parameters
    ----------
    graph : Graph
    xp : module
        NumPy or CuPy: where the arrays lie.
    address_of : callable
        Where an array lies.
    """

    def __init__(self, graph: Graph, xp: Any, address_of: Callable[[Any], int]) -> None:
        self.xp, self.address_of = xp, address_of
        self.arrays: dict[Any, Any] = {}
        self.epochs: dict[str, int] = {}
        self.prepared: dict[Any, Any] = {}  # what a backend keeps for later runs of a program
        self._addresses: dict[Any, int] = {}
        n, m = graph.num_vertices, graph.num_edges
        self._made = {
            "vertex_queue": (graph.targets.dtype, n + 1),
            "edge_queue": (graph.offsets.dtype, m + 1),
            "scan": (graph.offsets.dtype, n + 1),
            "few_vertex": (graph.targets.dtype, 64),
            "few_scan": (graph.offsets.dtype, 64),
            "bits": (np.dtype(np.uint64), (n + 63) // 64 + 1),
            "marks": (np.dtype(np.int64), n + 2),
            "vertex_stamps": (np.dtype(np.int32), n + 1),
            "edge_stamps": (np.dtype(np.int32), m + 1),
        }

    def array(self, name: str, role: str, length: int | None = None) -> Any:
        """The array of a name; stamps begin as 0."""
        dtype, usual = self._made.get(role, (np.dtype(np.int64), 0))
        size = usual if length is None else length
        key = (name, role, size)
        if key not in self.arrays:
            make = self.xp.zeros if role.endswith("stamps") else self.xp.empty
            self.arrays[key] = make(size, dtype)
        return self.arrays[key]

    def address(self, name: str, role: str, length: int | None = None) -> int:
        """Where the array of a name lies."""
        key = (name, role, length)
        if key not in self._addresses:
            self._addresses[key] = self.address_of(self.array(name, role, length))
        return self._addresses[key]

    def graph_address(self, graph: Graph, role: str) -> int:
        """Where an array of the graph lies; the graph itself, kept here, would never be freed."""
        if role not in self._addresses:
            self._addresses[role] = self.address_of(getattr(graph, role))
        return self._addresses[role]

    def epoch(self, name: str, role: str) -> int:
        """An epoch that no entry of some stamps holds yet."""
        value = self.epochs.get(name, 0) + 1
        if value > 2**30:  # long before int32 would wrap within a run
            self.array(name, role)[:] = 0
            value = 1
        self.epochs[name] = value
        return value

    def give_back(self, graph: Graph) -> None:
        """Keep this for later runs on the graph."""
        with _lock:
            free = _pool.setdefault(graph, [])
            if len(free) < KEPT:
                free.append(self)


def take(graph: Graph, xp: Any, address_of: Callable[[Any], int]) -> Workspace:
    """A workspace for one run."""
    with _lock:
        free = _pool.setdefault(graph, [])
        return free.pop() if free else Workspace(graph, xp, address_of)
