"""Memory of running loops: queues, scans, bitmaps, stamps; kept with a graph and used again.

A fresh array costs a page fault for every 4 KiB, as much as a short traversal; so workspaces go back to a
pool of their graph when a run ends.
"""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from frontier.graph import Graph

__all__ = ["Workspace", "address_of", "give_back", "take"]

_pool: weakref.WeakKeyDictionary[Graph, list[Workspace]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()

#: Workspaces that a graph keeps for later runs.
KEPT = 2


def address_of(array: np.ndarray) -> int:
    """Where an array lies."""
    return int(array.__array_interface__["data"][0])  # a third of the time of .ctypes


class Workspace:
    """Arrays by name, made when first asked for."""

    def __init__(self, graph: Graph) -> None:
        self.arrays: dict[Any, np.ndarray] = {}
        self.epochs: dict[str, int] = {}
        self._addresses: dict[Any, int] = {}
        n, m = graph.num_vertices, graph.num_edges
        self._made = {
            "vertex_queue": (graph.targets.dtype, n + 1),
            "edge_queue": (graph.offsets.dtype, m + 1),
            "scan": (graph.offsets.dtype, n + 1),
            "bits": (np.dtype(np.uint64), (n + 63) // 64 + 1),
            "marks": (np.dtype(np.int64), n + 2),
            "vertex_stamps": (np.dtype(np.int32), n + 1),
            "edge_stamps": (np.dtype(np.int32), m + 1),
        }

    def array(self, name: str, role: str, length: int | None = None) -> np.ndarray:
        """The array of a name; stamps begin as 0."""
        dtype, usual = self._made.get(role, (np.dtype(np.int64), 0))
        size = usual if length is None else length
        key = (name, role, size)
        if key not in self.arrays:
            make = np.zeros if role.endswith("stamps") else np.empty
            self.arrays[key] = make(size, dtype)
        return self.arrays[key]

    def address(self, name: str, role: str, length: int | None = None) -> int:
        """Where the array of a name lies."""
        key = (name, role, length)
        if key not in self._addresses:
            self._addresses[key] = address_of(self.array(name, role, length))
        return self._addresses[key]

    def graph_address(self, graph: Graph, role: str) -> int:
        """Where an array of the graph lies; the graph itself, kept here, would never be freed."""
        if role not in self._addresses:
            self._addresses[role] = address_of(getattr(graph, role))
        return self._addresses[role]

    def epoch(self, name: str, role: str) -> int:
        """An epoch that no entry of some stamps holds yet."""
        value = self.epochs.get(name, 0) + 1
        if value > 2**30:  # long before int32 would wrap within a run
            self.array(name, role)[:] = 0
            value = 1
        self.epochs[name] = value
        return value


def take(graph: Graph) -> Workspace:
    """A workspace for one run."""
    with _lock:
        free = _pool.setdefault(graph, [])
        return free.pop() if free else Workspace(graph)


def give_back(graph: Graph, workspace: Workspace) -> None:
    """Keep a workspace for later runs on the graph."""
    with _lock:
        free = _pool.setdefault(graph, [])
        if len(free) < KEPT:
            free.append(workspace)
