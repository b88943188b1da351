"""A graph at another placement: arrays are shared if possible, and otherwise copied once.

A copy knows the graph that it was made from, and that graph keeps its copies. So moving a graph back and forth gives
the same arrays.
"""

from __future__ import annotations

import weakref
from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from frontier.memory.arrays import is_device, to_host
from frontier.memory.base import Memory
from frontier.memory.disk import lies_on_disk, reading
from frontier.memory.host import HOST
from frontier.memory.placement import EDGES, Placement

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.graph.topology import Topology

__all__ = ["made_on_host", "moved", "on_host", "plainly_on_host", "remade", "resident"]


def resident(graph: Graph, asked: Placement | str, edges: str | None, memory: int | str | None) -> Graph:
    """Do the work of ``Graph.to``."""
    if isinstance(asked, str) and EDGES in asked and edges is None and memory is None:  # as str(placement) says it
        asked, _, where = asked.partition(EDGES)
        edges = where.strip("'\"")
    if edges is None and memory is None:
        return moved(graph, asked)
    there = Placement.parse(asked)
    return moved(graph, there.backend.residing(graph, there, edges, memory))


def moved(graph: Graph, asked: Placement | str) -> Graph:
    """Return the graph at another placement."""
    here = graph.placement
    if asked == "auto" and here.massively_parallel:
        return graph
    there = Placement.parse(asked)
    if there is here or there == here:
        return graph
    divided = graph._topology.divided
    if divided is not None:  # all ranks do this together
        return moved(cast("Graph", graph._once("whole", divided.gathered)), there)
    if there.divides and graph._topology.packed:
        return moved(graph.decompressed(), there)
    if _shares(graph._topology, here, graph, there):
        return graph._wrap(graph._topology, there)
    if _parts(graph, there):
        name = f"copy on {there} {there.edges!r}"
        return _origin(graph, there) or graph._once(name, lambda: there.backend.spread(graph, there))
    if _lies_on_host(there) and not _lies_on_host(here):
        return graph._wrap(_host_topology(graph), there) if there.edges is None else on_host(graph).to(there)
    if not _lies_on_host(here):
        return on_host(graph).to(there)
    return _origin(graph, there) or graph._once(f"copy on {there} {there.edges!r}", lambda: _copy(graph, there))


def remade(graph: Graph, make: Callable[..., Graph], *given: Any) -> Graph:
    """Return a graph with other rows, made of a graph, where that is; spread over several memories, if that is.

    It is made as by :func:`made_on_host`, and also by the host if several GPUs share edges that have no room on them.
    """
    if graph._topology.spread is not None and graph.placement.edges is not None:
        with graph._topology.reading():
            return moved(make(on_host(graph), *map(_on_host, given)), graph.placement)
    return _spread_alike(graph, made_on_host(graph, make, *given))


def _spread_alike(graph: Graph, made: Graph) -> Graph:
    there = made.placement
    if graph._topology.spread is None or not _parts(made, there):
        return made
    spread: Graph = there.backend.spread(made, there)
    return spread


def on_host(graph: Graph) -> Graph:
    """Return a graph whose arrays are NumPy's: itself, or its copy on the host."""
    return graph if _lies_on_host(graph.placement) else moved(graph, "cpu")


def plainly_on_host(graph: Graph) -> Graph:
    """Return a graph whose arrays are NumPy's, and what is derived from them in the host's memory.

    It is not kept if edges are on a disk, as what is derived of it then goes there, too.
    """
    if graph.placement.memory is not HOST or graph.placement.edges is None:
        return on_host(graph)
    return graph._wrap(graph._topology.copied(lambda array, kind: array), Placement.parse("cpu"))


def made_on_host(graph: Graph, make: Callable[..., Graph], *given: Any) -> Graph:
    """Return a graph made of another one, where that is; by the host if edges lie on a disk and all else on a GPU.

    Arrays of a GPU that ``make`` is given come to the host, too.
    """
    with graph._topology.reading():
        if not _lies_apart(graph):
            return make(graph, *given)
        return moved(make(on_host(graph), *map(_on_host, given)), graph.placement)


def _lies_apart(graph: Graph) -> bool:
    edges = graph.placement.edges
    return edges is not None and edges.residence == "disk" and not _lies_on_host(graph.placement)


def _on_host(given: Any) -> Any:
    if isinstance(given, dict):
        return {name: _on_host(each) for name, each in given.items()}
    if hasattr(given, "host_ids"):  # a frontier, of the graph that is elsewhere
        return given.host_ids()
    return to_host(given) if is_device(given) else given


def _lies_on_host(placement: Placement) -> bool:
    """Whether its arrays are NumPy's; those of edges may be mapped files."""
    return placement.memory is HOST and (placement.edges is None or placement.edges.residence == "disk")


def _origin(graph: Graph, there: Placement) -> Graph | None:
    """The graph that this one is a copy of, if its arrays are there and it still exists."""
    found = graph._topology.derived.get("origin")
    topology = None if found is None else found[1]()
    if found is None or topology is None or not _shares(topology, found[0], graph, there):
        return None
    return graph._wrap(topology, there)


def _shares(top: Topology, here: Placement, graph: Graph, there: Placement) -> bool:
    """Whether arrays at one placement are what a graph needs at another: also in the same memories, if in several."""
    parts = () if top.spread is None else top.spread.memories
    return there.shares_arrays_with(here) and parts == _parts(graph, there)


def _parts(graph: Graph, there: Placement) -> tuple[Memory, ...]:
    """The memories over which the edges of a graph are spread at a placement; compressed ones are not."""
    return () if graph._topology.packed else there.backend.parts_for(graph.num_slots, there.edges)


def _copy(graph: Graph, there: Placement) -> Graph:
    top, what = graph._topology, "the arrays of the graph"
    needed: dict[Memory, int] = defaultdict(int)
    for kind, array in top.arrays():
        memory = there.memory_of(kind)
        if not (memory.residence == "disk" and lies_on_disk(array)):  # stays where it is
            needed[memory] += array.nbytes
    for memory, size in needed.items():
        memory.check_room(size, what)
    apart = there.memory is not graph.placement.memory
    copies = there.memory_of("edges").residence != "disk"
    with there.memory.using(what), reading(top.files(), zeros=True, compares=copies):
        made = top.copied(lambda array, kind: there.memory_of(kind).moved(array, copy=kind == "edges" or apart))
        there.memory.synchronize()  # whichever stream reads them next
    made.derived["origin"] = (graph.placement, weakref.ref(top))
    return graph._wrap(made, there)


def _host_topology(graph: Graph) -> Topology:
    origin = _origin(graph, Placement.parse("cpu"))
    if origin is not None:
        return origin._topology

    def copy() -> Topology:
        made = graph._topology.copied(lambda array, kind: to_host(array))
        made.derived["origin"] = (graph.placement, weakref.ref(graph._topology))
        return made

    return graph._once("copy on cpu", copy)
