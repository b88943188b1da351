"""The in-edges of a rank's vertices, of a graph in parts: each edge is sent to the owner of its target.

As when the graph is built, edges go piece by piece, and are written to their places in arrays as long as those of the
whole graph.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from frontier.distributed.ranks.building import turns
from frontier.distributed.ranks.degree_counts import sorted_out
from frontier.distributed.ranks.local_rows import blocks
from frontier.distributed.ranks.row_filling import count, places, scatter
from frontier.graph.build_sort import sorted_rows
from frontier.graph.graph import Graph
from frontier.graph.topology import read_only
from frontier.memory.reserved import reserved

if TYPE_CHECKING:
    from collections.abc import Iterator

    from frontier.distributed.transport.communicators import Communicator
    from frontier.graph.topology import Array

__all__ = ["in_graph", "number_in_edges", "turned"]

#: Edges that each rank sends at a time, at least.
LEAST = 1 << 13


def in_graph(g: Graph, comm: Communicator, weighted: bool) -> Graph:
    """Return a graph whose edges are the in-edges of this rank's vertices; all ranks call this together.

    It is said to be symmetric, so that in-edges are taken for what they are called there, edges, and weights lie beside
    them.
    """
    starts = g._topology.ranks.starts
    offsets = _in_offsets(g, starts, comm)
    first, end = int(starts[comm.rank]), int(starts[comm.rank + 1])
    sources = reserved(g.num_slots, g.id_dtype)
    weights = reserved(g.num_slots, g.weights.dtype) if weighted and g.weights is not None else None
    begins = offsets[first : end + 1].astype(np.int64)
    cursor = begins[:-1].copy()
    for target, source, *weight in _received(g, starts, comm, weights is not None):
        at = places(cursor, target - first)
        scatter(sources, at, source)
        if weights is not None:
            scatter(weights, at, weight[0])
    del cursor
    for begin, stop in itertools.pairwise(blocks(begins)):
        own = slice(int(begins[begin]), int(begins[stop]))
        ids = np.repeat(np.arange(stop - begin, dtype=sources.dtype), np.diff(begins[begin : stop + 1]))
        carried = None if weights is None else weights[own]
        rows = sorted_rows(ids, sources[own], g.num_vertices, weights=carried, num_sources=stop - begin)
        sources[own] = rows.targets
        if weights is not None:
            weights[own] = rows.weights
    return Graph(offsets, sources, weights, directed=False, placement=g.placement, check=False)


def turned(g: Graph, first: int, end: int) -> Graph:
    """The same for an interpreter, which takes the ends of an in-edge by its slot: their sources are far, then."""
    lo, hi = int(g.offsets[first]), int(g.offsets[end])
    near, slots = reserved(g.num_slots, g.id_dtype), reserved(g.num_slots, g.offsets.dtype)
    near[lo:hi] = np.repeat(np.arange(first, end, dtype=near.dtype), np.diff(g.offsets[first : end + 1]))
    slots[lo:hi] = np.arange(lo, hi, dtype=slots.dtype)
    made = Graph(g.offsets, near, g.weights, directed=True, placement=g.placement, check=False)
    made._topology.derived.update(sources=g.targets, in_lists=(g.offsets, g.targets), in_edges=slots)
    return made


def number_in_edges(g: Graph, comm: Communicator) -> bool:
    """Give a rank's part the in-edges of its vertices with their slots; all ranks call this together."""
    starts = g._topology.ranks.starts
    first, end = int(starts[comm.rank]), int(starts[comm.rank + 1])
    offsets = g.offsets if g.symmetric else _in_offsets(g, starts, comm)
    slots, sources = reserved(g.num_slots, g.offsets.dtype), reserved(g.num_slots, g.id_dtype)
    begins = offsets[first : end + 1].astype(np.int64)
    cursor = begins[:-1].copy()
    for target, slot in _received(g, starts, comm, numbered=True):
        slots[places(cursor, target - first)] = slot
    for begin, stop in itertools.pairwise(blocks(begins)):
        own = slice(int(begins[begin]), int(begins[stop]))
        rows = np.repeat(np.arange(stop - begin), np.diff(begins[begin : stop + 1]))
        slots[own] = slots[own][np.lexsort((slots[own], rows))]  # so by sources, too
        sources[own] = np.searchsorted(g.offsets, slots[own], side="right") - 1
    if not g.symmetric:
        g._topology.derived["in_lists"] = read_only(offsets), read_only(sources)
    g._topology.derived["in_edges"] = read_only(slots)
    return True


def _in_offsets(g: Graph, starts: Array, comm: Communicator) -> Array:
    offsets: Array = np.zeros(g.num_vertices + 1, g.offsets.dtype)
    count(offsets[1:], g.targets[_own(g, starts, comm)])
    comm.allreduce(offsets)
    np.cumsum(offsets, out=offsets)
    return offsets


def _own(g: Graph, starts: Array, comm: Communicator) -> slice:
    return slice(int(g.offsets[starts[comm.rank]]), int(g.offsets[starts[comm.rank + 1]]))


def _received(
    g: Graph, starts: Array, comm: Communicator, weighted: bool = False, numbered: bool = False
) -> Iterator[tuple[Array, ...]]:
    """Targets, sources (or slots) and weights of edges that end at this rank's vertices, piece by piece."""
    mine = _own(g, starts, comm)
    count = turns(g.num_slots, comm.size, LEAST)
    cuts = [mine.start + (mine.stop - mine.start) * turn // count for turn in range(count + 1)]
    for lo, hi in itertools.pairwise(cuts):
        slots = np.arange(lo, hi, dtype=g.offsets.dtype)
        arrays = [g.targets[lo:hi], slots]
        if not numbered:
            arrays[1] = (np.searchsorted(g.offsets, slots, side="right") - 1).astype(g.id_dtype)
        if weighted and g.weights is not None:
            arrays.append(g.weights[lo:hi])
        owner = np.searchsorted(starts[1:], arrays[0], side="right")
        told = comm.alltoall(sorted_out(owner, arrays, comm.size))
        yield tuple(np.concatenate(parts) for parts in zip(*told, strict=True))
