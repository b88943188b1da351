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

from frontier.distributed.ranks.block_graphs import numbered, sent, taken
from frontier.distributed.ranks.local_problem import in_parts
from frontier.distributed.ranks.remote_reads import names_of
from frontier.distributed.ranks.write_set import written
from frontier.errors import FunctorError
from frontier.program.effects import effects

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.distributed.ranks.grid import Grid
    from frontier.distributed.transport.communicators import Communicator
    from frontier.program.problem import Problem
    from frontier.program.step import Step

__all__ = ["block_of", "in_block", "runs_in_blocks"]


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
        g, make = p.graph, numbered if slots else sent if in_parts(p) else taken
        key = f"block {grid.rank} of {grid.rows} x {grid.columns}, inwards {inwards}, slots {slots}, {_sum(starts)}"
        made = copy.copy(p)  # with the same dicts of arrays, scalars and piles
        vars(made).update(graph=g.cached(key, lambda: make(g, grid, starts, comm, inwards)), workspace={})
        p.workspace["block", inwards, slots] = made
    return made


def _sum(starts: NDArray[Any]) -> int:
    return zlib.crc32(starts.tobytes())
