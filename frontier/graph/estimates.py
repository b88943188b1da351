"""Estimates of the bytes that a graph, and a primitive on it, take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from frontier.errors import GraphError
from frontier.graph.by_degree import arrays_by_degree
from frontier.graph.by_weight import arrays_by_weight
from frontier.system.plugins import import_all, import_installed

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = ["MemoryEstimate", "Needs", "estimate", "register_memory", "register_needs"]


@dataclass(frozen=True)
class MemoryEstimate:
    """The bytes that a graph, and a program on it, take; ``int(estimate)`` is the total.

    If the edges of the graph are spread over several GPUs, these are the bytes on the GPU that holds most of them, and
    ``each`` says what every GPU holds; ``elsewhere``, what they share in the host's memory or on a disk.

    Attributes
    ----------
    csr : int
        Offsets, targets and weights.
    in_edges : int
        In-edges, if they are built or needed and not shared with the out-edges.
    columns : int
        Columns, labels (for objects: the references), and other arrays already derived.
    fields : int
        The fields of the primitive or program, and its frontiers.
    making : int
        Temporary memory for building the in-edges; not included in the total.
    each : tuple of int
        The total on each of several GPUs; one that is named twice has two parts. Empty if edges are in one piece.
    elsewhere : int
        Bytes of edges that are in no memory of several GPUs; not included in the total.
    """

    csr: int
    in_edges: int
    columns: int
    fields: int
    making: int = 0
    each: tuple[int, ...] = ()
    elsewhere: int = 0

    @property
    def total(self) -> int:
        """The sum, without temporary memory."""
        return self.csr + self.in_edges + self.columns + self.fields

    def __int__(self) -> int:
        return self.total

    def __str__(self) -> str:
        rows = [("graph", self.csr), ("in-edges", self.in_edges), ("columns", self.columns)]
        rows += [("fields", self.fields), ("total", self.total)]
        rows += [("for a while", self.making)] if self.making else []
        rows += [(f"GPU {part}", size) for part, size in enumerate(self.each)]
        rows += [("elsewhere", self.elsewhere)] if self.elsewhere else []
        return "\n".join(f"{name:11}{size / 2**20:12,.1f} MiB" for name, size in rows)


@dataclass(frozen=True)
class Needs:
    """What a primitive needs beside a graph.

    Attributes
    ----------
    fields : int
        Bytes of its fields and frontiers.
    in_edges, edge_ids : bool
        Whether it walks in-edges, or may, and whether it needs the edge slot of each.
    spread : int
        Bytes of those fields of which each of several GPUs has the elements of its own vertices, besides what it has
        while a program runs.
    """

    fields: int = 0
    in_edges: bool = False
    edge_ids: bool = False
    spread: int = 0


_primitives: dict[str, Callable[[Graph], Needs]] = {}


def register_memory(
    primitive: str,
    bytes_per_vertex: int,
    *,
    in_edges: bool = False,
    edge_ids: bool = False,
    pulls: bool = False,
    slots: int = 0,
) -> None:
    """Tell ``Graph.memory_estimate`` how much memory a primitive needs in addition to the graph.

    A primitive that has a :class:`frontier.registry.Plan` does not need this.

    Parameters
    ----------
    primitive : str
        Its name.
    bytes_per_vertex : int
        Bytes of its fields and frontiers for each vertex.
    in_edges : bool
        Whether it uses in-edges.
    edge_ids : bool
        Whether it also needs the edge slot of each in-edge (weights, edge fields).
    pulls : bool
        Whether its searches may pull, which uses in-edges.
    slots : int
        How many of the values per vertex count edge slots; in graphs with 2**31 slots or more these are twice as wide.
    """

    def needs(g: Graph) -> Needs:
        wide = slots * (g.offsets.itemsize - 4)
        walked = in_edges or (pulls and g.placement.backend.may_pull(g))
        return Needs(g.num_vertices * (bytes_per_vertex + wide), walked, edge_ids)

    register_needs(primitive, needs)


def register_needs(primitive: str, needs: Callable[[Graph], Needs]) -> None:
    """Tell ``Graph.memory_estimate`` what a primitive needs beside a graph, by a function of the graph."""
    _primitives[primitive] = needs


def estimate(graph: Graph, primitive: str | None, in_edges: bool, bytes_per_vertex: int) -> MemoryEstimate:
    """Do the work of ``Graph.memory_estimate``."""
    needs = Needs() if primitive is None else _needs_of(primitive, graph)
    beside = graph.num_vertices * bytes_per_vertex + needs.fields
    how = graph._topology.spread
    if how is None:
        return _of_share(graph, needs, in_edges, beside, 1.0)
    slots, resident = (how.bounds[1:] - how.bounds[:-1]).tolist(), how.resident
    vertices = (how.starts[1:] - how.starts[:-1]).tolist()

    def of(share: float, owned: int = 0) -> MemoryEstimate:
        own = needs.spread * owned // max(graph.num_vertices, 1)
        return _of_share(graph, needs, in_edges, beside + own, share)

    parts = zip(slots, vertices, strict=True)
    found = [of(part / max(graph.num_slots, 1) * resident, owned) for part, owned in parts]
    making = {} if how.edges is None else {"making": 0}  # on the host
    rest = round((1 - resident) * (int(of(1.0)) - int(of(0.0))))
    return replace(max(found, key=int), each=tuple(map(int, found)), elsewhere=rest, **making)


def _of_share(graph: Graph, needs: Needs, in_edges: bool, beside: int, share: float) -> MemoryEstimate:
    """The bytes where a share of the edges is, of out-edges and of in-edges, and all else is whole."""
    topology, built = graph._topology, graph._topology.built()
    in_lists = in_edges or needs.in_edges or "in_lists" in built
    permutation = (needs.in_edges and needs.edge_ids) or "in_edges" in built
    columns = [topology.labels, *topology.vertices.values()]
    columns += [built.get(name) for name in ("out_degree", "out_weight", "in_degree")]
    columns += [*arrays_by_weight(graph), *arrays_by_degree(graph)]
    shared = making = 0
    if in_lists and not graph.symmetric:
        shared = topology.offsets.nbytes + int(topology.ends.nbytes * share)
        ready = ("in_edges" if permutation else "in_lists") in built
        making = 0 if ready else int(_making(graph, permutation) * share)
    numbers = graph.num_slots * topology.offsets.itemsize if permutation else 0
    return MemoryEstimate(
        csr=topology.offsets.nbytes + int(_bytes(topology.ends, topology.weights) * share),
        in_edges=shared + int(numbers * share),
        columns=_bytes(*columns) + int(_bytes(*topology.edges.values(), built.get("sources")) * share),
        fields=beside,
        making=making,
    )


def _bytes(*arrays: Any) -> int:
    return sum(array.nbytes for array in arrays if array is not None)


def _making(graph: Graph, permutation: bool) -> int:
    """Bytes that sorting edges takes, less those of the sources and slots that stay."""
    from frontier.graph.build_arrays import bytes_for

    targets, offsets = graph.id_dtype.itemsize, graph._topology.offsets.itemsize
    kept = targets + (offsets if permutation else 0)
    return bytes_for(graph.num_slots, both=False, carry=permutation) - graph.num_slots * kept


def _needs_of(primitive: str, graph: Graph) -> Needs:
    if primitive in _primitives:
        return _primitives[primitive](graph)
    import_all("primitives")
    import_installed("primitives")
    if primitive in _primitives:
        return _primitives[primitive](graph)
    known = ", ".join(sorted(_primitives)) or "none is registered"
    raise GraphError(f"nothing is known of the memory of {primitive!r}: {known}")
