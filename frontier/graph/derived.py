"""Data derived from a graph's rows and weights; computed once, on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.graph.compressing import compressed_ids
from frontier.graph.moving import plainly_on_host
from frontier.graph.packed import PackedIds
from frontier.graph.topology import Array, moved_ends, read_only
from frontier.memory.checksums import compare
from frontier.memory.disk import file_of

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.graph.row_makers import RowMaker

__all__ = [
    "in_degree", "in_edges", "in_lists", "largest", "max_degree", "num_loops", "out_degree", "out_weight", "smallest",
    "sources",
]  # fmt: skip


def _lies_apart(graph: Graph) -> bool:
    """Whether edges do not lie with the other arrays, as they do not fit there.

    Then what has their size is made on the host, and brought to where they are.
    """
    return graph.placement.edges is not None


def _from_host(graph: Graph, name: str, kind: str) -> Array:
    if name != "sources":  # which are made of offsets
        compare(graph._topology.files())
    made: Array = graph.placement.memory_of(kind).moved(getattr(plainly_on_host(graph), name))
    return made


def sources(graph: Graph) -> Array:
    """Source of each edge slot."""
    if _lies_apart(graph):
        return _from_host(graph, "sources", "edges")
    return _maker(graph).sources(graph.offsets, graph.id_dtype)


def _maker(graph: Graph) -> RowMaker:
    from frontier.graph.row_makers import row_maker

    return row_maker(graph.placement.memory)


def out_degree(graph: Graph) -> Array:
    """Number of edge slots of each vertex."""
    return graph.offsets[1:] - graph.offsets[:-1]


def out_weight(graph: Graph) -> Array:
    """Sum of the weights of each vertex's edge slots."""
    assert graph.weights is not None
    if _lies_apart(graph):
        return _from_host(graph, "out_weight", "fields")
    return _maker(graph).out_weight(graph.offsets, lambda: graph.sources, graph.weights)


def num_loops(graph: Graph) -> int:
    """Number of self-loops; sources that are there are used, others are not kept."""
    if _lies_apart(graph):
        compare(graph._topology.files())
        return num_loops(plainly_on_host(graph))
    there = graph._topology.built().get("sources")
    return _maker(graph).num_loops(graph._topology) if there is None else int((graph.targets == there).sum())


def max_degree(graph: Graph) -> int:
    """Largest number of edge slots of a vertex; degrees that are there are used, others are not kept."""
    degrees = graph._topology.built().get("out_degree")
    if degrees is None:
        degrees = out_degree(graph)
    return int(degrees.max()) if graph.num_vertices else 0


def in_degree(graph: Graph) -> Array:
    """Number of in-edges of each vertex of a directed graph; in-edges are not made for it."""
    if "in_lists" in graph._topology.derived:
        return graph.in_offsets[1:] - graph.in_offsets[:-1]
    if _lies_apart(graph):
        return _from_host(graph, "in_degree", "fields")
    return _maker(graph).in_degree(graph._topology)


def in_lists(graph: Graph) -> tuple[Array, Array | PackedIds]:
    """Offsets and sources of the in-edges."""
    from frontier.graph.build import transpose

    if _lies_apart(graph):
        compare(graph._topology.files())
        offsets, ends = plainly_on_host(graph)._in_lists()
        place = graph.placement
        return place.memory.moved(offsets), moved_ends(ends, lambda array, kind: place.memory_of(kind).moved(array))
    offsets, sources, _ = transpose(graph, permutation=False)
    return _alike(graph, offsets, sources)


def in_edges(graph: Graph) -> Array:
    """Edge slot of each in-edge; the lists that come with them are kept too."""
    from frontier.graph.build import transpose

    if _lies_apart(graph):
        return _from_host(graph, "in_edges", "edges")
    offsets, sources, slots = transpose(graph, permutation=True)
    if not graph.symmetric:
        graph._once("in_lists", lambda: _alike(graph, offsets, sources))
    assert slots is not None
    return slots.astype(graph.offsets.dtype, copy=False)


def _alike(graph: Graph, offsets: Array, sources: Array) -> tuple[Array, Array | PackedIds]:
    """In-lists in the dtypes of the out-lists, which may be wider than they need be; compressed if these are."""
    wide = offsets.astype(graph.offsets.dtype, copy=False), sources.astype(graph.id_dtype, copy=False)
    if graph._topology.packed:
        return read_only(wide[0]), compressed_ids(graph, wide[1])
    return read_only(wide[0]), read_only(wide[1])


def smallest(weights: Array | None) -> Any:
    """Smallest weight, as a Python number; None if there is none."""
    return None if weights is None or len(weights) == 0 else _undamaged(weights).min().item()


def largest(weights: Array | None) -> Any:
    """Largest weight, as a Python number; None if there is none."""
    return None if weights is None or len(weights) == 0 else _undamaged(weights).max().item()


def _undamaged(values: Array) -> Array:
    """Return an array, after a comparison with its checksums if it is a file that has some."""
    found = file_of(values) if isinstance(values, np.ndarray) else None
    if found is not None:
        compare([found[0]])
    return values
