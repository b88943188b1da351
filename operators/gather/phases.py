"""The parts of a gather's phases on every backend: the adjacency lists, and the code for one edge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.functors.functor import arguments
from frontier.lowering.phases import VALUE
from frontier.operators.shared.phases import adjacency, combining
from frontier.operators.shared.reductions import MODE

if TYPE_CHECKING:
    from frontier.lowering.builder import Builder
    from frontier.lowering.ir import Call
    from frontier.lowering.kernels import Constant
    from frontier.operators.gather import Gather

__all__ = ["gathering_edges"]


def gathering_edges(step: Gather, b: Builder) -> tuple[Call, dict[str, Constant]]:
    """The lists that a gather walks, and constants: what is called for an edge, what is loaded, the reduction.

    Functors are called with ``(near, far, edge, weight)``, and the number of a value if the field has several for each
    vertex; conditions with the far end.
    """
    lists, edges = adjacency(b, step.edges, arguments(step.fn, step.place))
    ends = (step.near, step.far, "edge", "weight", *(("i",) if step.rows else ()))
    constants: dict[str, Constant] = {
        "value": b.calling(step.fn, step.place, ends, VALUE),
        "where": b.calling(step.where, step.far, (step.far,)) if step.where is not None else None,
        **edges,
    }
    dtype = b.layout.dtype(step.into)
    if step.op == MODE:
        return lists, constants | {"unsigned": dtype == "uint64"}
    if step.reduction is None:
        return lists, constants | {"op": step.op}
    return lists, constants | combining(b, step.reduction, dtype) | {"flag": dtype == "bool"}
