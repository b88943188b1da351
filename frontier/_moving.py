"""A graph at another backend: its arrays shared where they can be, copied once where they cannot.

A copy knows the graph that it is of, and the first keeps its copies, so going there and back gives the same arrays.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from frontier import device
from frontier._topology import Topology
from frontier.memory import check_room

if TYPE_CHECKING:
    from frontier.graph import Graph

__all__ = ["moved"]


def moved(graph: Graph, backend: str) -> Graph:
    """Do the work of ``Graph.to``."""
    if backend == "auto" and device.is_cuda(graph.backend):
        return graph
    name = device.resolved(backend)
    if name == graph.backend:
        return graph
    if not device.is_cuda(name):
        return graph._wrap(_host_topology(graph), name)
    if device.is_cuda(graph.backend):
        return graph.to("cpu").to(name)
    return _origin(graph, name) or graph._once(f"copy on {name}", lambda: _on_device(graph, name))


def _origin(graph: Graph, place: str) -> Graph | None:
    """The graph that this one is a copy of, if it is at that place and still there."""
    where, topology = graph._topology.derived.get("origin", ("", lambda: None))
    found = topology() if where == place else None
    return None if found is None else graph._wrap(found, place)


def _on_device(graph: Graph, name: str) -> Graph:
    top = graph._topology
    arrays = [top.offsets, top.targets, top.weights, *top.vertices.values(), *top.edges.values()]
    built = top.built()
    arrays += [*built.get("in_lists", ()), built.get("in_edges")]
    needed = sum(array.nbytes for array in arrays if array is not None)
    check_room(needed, "the arrays of the graph", device.HINT, name)
    with device.using(name, "the arrays of the graph"):
        made = top.copied(lambda array: device.moved(array, name, copy=True))
        device.synchronize(name)  # whichever stream reads them next
    made.derived["origin"] = ("cpu", weakref.ref(top))
    return graph._wrap(made, name)


def _host_topology(graph: Graph) -> Topology:
    if not device.is_cuda(graph.backend):
        return graph._topology
    origin = _origin(graph, "cpu")
    if origin is not None:
        return origin._topology

    def copy() -> Topology:
        made = graph._topology.copied(device.to_host)
        made.derived["origin"] = (graph.backend, weakref.ref(graph._topology))
        return made

    return graph._once("copy on cpu", copy)
