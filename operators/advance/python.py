"""Advance on the python backend: edge by edge, with its promises checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from frontier.backends.python.view import stored
from frontier.errors import FunctorError
from frontier.functors.functor import arguments, location
from frontier.operators.advance.sample import Sample
from frontier.program.frontiers import Frontier

if TYPE_CHECKING:
    from frontier.backends.python.interpreter import Context
    from frontier.graph.graph import Graph
    from frontier.operators.advance import Advance

__all__ = ["interpret"]


def interpret(step: Advance, context: Context, f: Frontier) -> Frontier:
    """The meaning of Advance: visit every edge of the frontier once."""
    g = context.problem.graph
    seed = _seed(step, context)
    accept = context.functor(step.fn, arguments(step.fn, "edge"))
    allowed = None if step.where is None else context.functor(step.where, arguments(step.where, step.far))
    ends_at = None if step.stop is None else context.functor(step.stop, arguments(step.stop, f"{step.near} weight"))
    waits = None if step.hold is None else context.functor(step.hold, arguments(step.hold, "vertex"))
    accepted: dict[int, None] = {}
    held: dict[int, None] = {}
    edges = 0
    for near in standing(step, f).tolist():
        if waits is not None and waits({"v": np.int64(near)}):
            held[near] = None
            continue
        for edge in edges_of(g, step, near, seed):
            ends = context.edge(edge)
            if ends_at is not None and ends_at(ends):
                break
            edges += 1
            if allowed is not None and not allowed(ends):
                continue
            if not accept(ends):
                continue
            item = edge if step.output == "edge" else int(ends[step.far])
            if step.unique == "claimed" and step.output is not None and item in accepted:
                raise FunctorError(
                    f"{location(step.fn)} accepted {step.output} {item} twice in one step, "
                    "against unique='claimed'"
                )
            accepted[item] = None
    context.note(edges=edges, direction="push")
    if step.held is not None:
        scalar = context.problem.scalars[step.held]
        scalar[0] = stored(f"p.{step.held}", len(held), scalar.dtype)
    if step.output is None:
        return f
    if step.unique == "claimed" and accepted.keys() & held.keys():
        raise FunctorError(f"{location(step.fn)} accepted a vertex that hold= keeps, against unique='claimed'")
    accepted |= held
    result = Frontier(g, (), step.output)
    ids = np.fromiter(accepted, result.id_dtype, len(accepted))
    return Frontier._of(g, step.output, ids=ids)


def standing(step: Advance, f: Frontier) -> np.ndarray:
    """The vertices whose edges are visited: the frontier, or the set of its edges' far ends."""
    if f.kind == "vertex":
        return f.ids
    g = f.graph
    return np.unique((g.targets if step.edges == "out" else g.sources)[f.ids])


def _seed(step: Advance, context: Context) -> int:
    """The seed of a sample, as it is when the step begins."""
    if not isinstance(step.part, Sample):
        return 0
    seed = step.part.seed
    return int(context.problem.scalars[seed][0]) if isinstance(seed, str) else seed


def edges_of(g: Graph, step: Advance, near: int, seed: int) -> list[int]:
    """CSR slots of the edges of one vertex that the step visits."""
    if step.edges == "out":
        slots = list(range(int(g.offsets[near]), int(g.offsets[near + 1])))
    else:
        slots = g.in_edges[int(g.in_offsets[near]) : int(g.in_offsets[near + 1])].tolist()
    if isinstance(step.part, Sample):
        return [slots[i] for i in step.part.places(seed, near, len(slots))]
    if step.stop is not None:
        assert g.weights is not None
        return sorted(slots, key=g.weights.__getitem__, reverse=step.descending)
    first, stop = step.part or (0, None)
    return slots[first:stop]
