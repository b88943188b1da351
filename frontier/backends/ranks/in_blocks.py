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
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.ranks.needs import names_of
from frontier.backends.ranks.own_part import in_parts
from frontier.backends.ranks.writes import written
from frontier.errors import FunctorError
from frontier.graph.graph import Graph
from frontier.partitions.partition import Partition
from frontier.program.effects import effects

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.backends.ranks.grid import Grid
    from frontier.program.problem import Problem
    from frontier.program.step import Step

__all__ = ["block_of", "runs_in_blocks"]


def runs_in_blocks(step: Step, p: Problem) -> bool:
    """Whether each part can run a step on its block."""
    if not step.far or not step.splits(p) or "edge" in names_of(step) or in_parts(p):
        return False
    for fn, _ in step.functors():
        made = effects(fn)
        if not made.exact or made.topology:
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


def block_of(p: Problem, grid: Grid, starts: NDArray[Any]) -> Problem:
    """The problem on a part's block, with the same fields."""
    made: Problem | None = p.workspace.get("block")
    if made is None:
        g = p.graph
        key = f"block {grid.rank} of {grid.rows} x {grid.columns}, {zlib.crc32(starts.tobytes())}"
        made = copy.copy(p)  # with the same dicts of arrays, scalars and piles
        vars(made).update(graph=g.cached(key, lambda: _block(g, grid, starts)), workspace={})
        p.workspace["block"] = made
    return made


def _block(g: Graph, grid: Grid, starts: NDArray[Any]) -> Graph:
    edges = Partition(g, "2d", grid.rows, grid.columns, starts).block(grid.rank)
    offsets = np.zeros(g.num_vertices + 1, g.offsets.dtype)
    np.cumsum(np.bincount(edges.sources, minlength=g.num_vertices), out=offsets[1:])
    weights = None if g.weights is None else g.weights[edges.slots]
    return Graph(offsets, edges.targets, weights, directed=True, placement=g.placement)
