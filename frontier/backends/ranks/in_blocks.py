"""Steps along edges that run in a grid: on which graph a part runs them, and which steps cannot.

A part runs such a step on its *block*, a graph of its own with the edges that it holds. A vertex of the frontier has
edges in the blocks of several parts, so none of them sees its whole list. What functors change and accept at either end
goes to the owners of these vertices, and reductions over lists are made there, of what each block gives.

Other steps are divided by the owners of their elements, as without a grid. So are steps along edges that need more than
a block: a whole list at one place, slots of edges, look-ups of other edges, or writes at the near end that cannot be
merged.
"""

from __future__ import annotations

import copy
import itertools
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.ranks.grid import COLUMN
from frontier.backends.ranks.needs import names_of
from frontier.backends.ranks.own_part import in_parts
from frontier.backends.ranks.row_filling import count, places, scatter
from frontier.backends.ranks.writes import written
from frontier.errors import FunctorError
from frontier.graph.graph import Graph
from frontier.graph.topology import read_only
from frontier.partitions.partition import Partition
from frontier.program.effects import effects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from frontier.backends.ranks.communicators import Communicator
    from frontier.backends.ranks.grid import Grid
    from frontier.program.problem import Problem
    from frontier.program.step import Step

__all__ = ["block_of", "in_block", "runs_in_blocks"]

#: A part sends its edges in so many pieces at most, of so many edges at least.
PIECES, LEAST = 64, 1 << 17


def runs_in_blocks(step: Step, p: Problem) -> bool:
    """Whether each part can run a step on its block."""
    if not step.far or not step.splits(p) or (in_parts(p) and _takes_slots(step)):
        return False
    of_edges = {name for name, field in p.fields.items() if field.kind == "edge"}
    for fn, _ in step.functors():
        made = effects(fn)
        if not made.exact or made.topology:
            return False
        if of_edges & made.writes.keys() or any(made.reads[name] != {"edge"} for name in of_edges & made.reads.keys()):
            return False
        for name, where in made.writes.items():
            near = step.near in where or "any" in where
            if near and made.reads.get(name) and not made.atomics.get(name):
                return False  # it may build on what it has written for another edge of the vertex
    try:
        written(step, p, in_blocks=True)
    except FunctorError:
        return False
    return True


def _takes_slots(step: Step) -> bool:
    """Whether it asks for the slots of edges in the whole graph."""
    return "edge" in names_of(step) or getattr(step, "output", None) == "edge"


def in_block(step: Any) -> Any:
    """The step as it runs on its block: where edges keep their slots, they are the in-edges of a graph."""
    if not _takes_slots(step) or step.near == "dst":
        return step
    made = step.__dict__.get("_in_block")
    if made is None:
        made = copy.copy(step)
        made.edges = "in"  # and what is near and far stays
        step.__dict__["_in_block"] = made
    return made


def block_of(
    p: Problem, step: Step, grid: Grid, starts: NDArray[Any], comm: Communicator, interprets: bool
) -> Problem:
    """The problem on a part's block as a step walks it, with the same fields; all parts call this together."""
    slots, inwards = _takes_slots(step), step.near == "dst"
    if not slots and interprets:  # which takes the ends of an in-edge by its slot
        inwards = False
    made: Problem | None = p.workspace.get(("block", inwards, slots))
    if made is None:
        g, make = p.graph, _numbered if slots else _sent if in_parts(p) else _taken
        key = f"block {grid.rank} of {grid.rows} x {grid.columns}, inwards {inwards}, slots {slots}, {_sum(starts)}"
        made = copy.copy(p)  # with the same dicts of arrays, scalars and piles
        vars(made).update(graph=g.cached(key, lambda: make(g, grid, starts, comm, inwards)), workspace={})
        p.workspace["block", inwards, slots] = made
    return made


def _sum(starts: NDArray[Any]) -> int:
    return zlib.crc32(starts.tobytes())


# ---- the graph of a block --------------------------------------------------------------------------------

# Where a step walks in-edges, these are taken for edges: the graph is said to be symmetric, so that in-edges are what
# edges are, with their weights beside them.


def _taken(g: Graph, grid: Grid, starts: NDArray[Any], comm: Communicator, inwards: bool) -> Graph:
    """A block of a graph that is there as a whole."""
    offsets, far, slots = _lists(g, grid, starts, inwards)
    weights = None if g.weights is None else g.weights[slots]
    return Graph(offsets, far, weights, directed=not inwards, placement=g.placement)


def _numbered(g: Graph, grid: Grid, starts: NDArray[Any], comm: Communicator, inwards: bool) -> Graph:
    """The same as the in-edges of a graph that has all edges, so that each keeps its slot."""
    offsets, far, slots = _lists(g, grid, starts, inwards)
    made = Graph(g.offsets, g.targets, g.weights, directed=True, placement=g.placement)
    derived, lists = made._topology.derived, (read_only(offsets), read_only(far))
    derived.update(in_lists=lists, in_edges=read_only(slots.astype(g.offsets.dtype)))
    made._topology.recipes["sources"] = lambda: g.sources
    return made


def _lists(g: Graph, grid: Grid, starts: NDArray[Any], inwards: bool) -> tuple[NDArray[Any], ...]:
    """Offsets, far ends and slots of a block of a whole graph, by sources or by targets."""
    edges = Partition(g, "2d", grid.rows, grid.columns, starts).block(grid.rank)
    near, far, slots = edges.sources, edges.targets, edges.slots
    if inwards:
        order = np.argsort(edges.targets, kind="stable")
        near, far, slots = edges.targets, edges.sources[order], slots[order]
    offsets = np.zeros(g.num_vertices + 1, g.offsets.dtype)
    np.cumsum(np.bincount(near, minlength=g.num_vertices), out=offsets[1:])
    return offsets, far, slots


def _sent(g: Graph, grid: Grid, starts: NDArray[Any], comm: Communicator, inwards: bool) -> Graph:
    """A block of a graph in parts: owners of sources send edges to the parts of their column, piece by piece."""
    offsets = np.zeros(g.num_vertices + 1, g.offsets.dtype)
    for (near,) in _received(g, grid, starts, comm, inwards, only_near=True):
        count(offsets[1:], near)
    np.cumsum(offsets, out=offsets)
    far = np.empty(int(offsets[-1]), g.id_dtype)
    weights = None if g.weights is None else np.empty(len(far), g.weights.dtype)
    cursor = offsets[:-1].astype(np.int64)
    for near, ends, *values in _received(g, grid, starts, comm, inwards):
        at = places(cursor, near)
        scatter(far, at, ends)
        if weights is not None:
            scatter(weights, at, values[0])
    return Graph(offsets, far, weights, directed=not inwards, placement=g.placement)


def _received(
    g: Graph, grid: Grid, starts: NDArray[Any], comm: Communicator, inwards: bool, only_near: bool = False
) -> Iterator[tuple[NDArray[Any], ...]]:
    """Near ends, far ends and weights of the edges of a part's block, piece by piece."""
    lo, hi = (int(g.offsets[starts[rank]]) for rank in (comm.rank, comm.rank + 1))
    turns = max(1, min(PIECES, g.num_slots // (comm.size * LEAST)))
    column = grid.members[COLUMN]
    for begin, end in itertools.pairwise(lo + (hi - lo) * turn // turns for turn in range(turns + 1)):
        sources = np.searchsorted(g.offsets, np.arange(begin, end, dtype=g.offsets.dtype), side="right") - 1
        targets = g.targets[begin:end]
        ends = sources.astype(targets.dtype), targets
        arrays = [*(reversed(ends) if inwards else ends)][: 1 if only_near else 2]
        if g.weights is not None and not only_near:
            arrays.append(g.weights[begin:end])
        owners = column.start + np.searchsorted(starts[1:], targets, side="right") % grid.rows
        there = (np.flatnonzero(owners == rank) for rank in range(comm.size))
        told = comm.deal([[array[at] for array in arrays] for at in there])
        yield tuple(np.concatenate(parts) for parts in zip(*told, strict=True))
