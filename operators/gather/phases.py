"""The parts of a gather's phases on every backend: the adjacency lists, and the code for one edge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.backends.least import LAST
from frontier.functors.functor import arguments
from frontier.lowering.phases import VALUE
from frontier.operators.shared.phases import accumulate, adjacency, found, indented, reduction, start
from frontier.operators.shared.reductions import ENDS

if TYPE_CHECKING:
    from frontier.lowering.builder import Builder
    from frontier.lowering.ir import Call, Value
    from frontier.lowering.kernels import Constant
    from frontier.operators.gather import Gather

__all__ = ["begun", "gathered", "gathering_edges", "stored"]


def begun(step: Gather, dtype: str) -> list[str]:
    """Lines with which the reduction of a vertex's edges begins."""
    if step.op in ENDS:
        return [f"best = np.int64({LAST})", f"result = np.int64({LAST})"]
    return [f"result = {start(step.op, dtype)}"]


def stored(step: Gather, dtype: str) -> str:
    """Text for what the field gets in the end."""
    if step.op in ENDS:
        return f"(result if result != np.int64({LAST}) else np.int64(-1))"
    return "truth(result)" if dtype == "bool" else "result"


def gathered(step: Gather, b: Builder, parameters: dict[str, Value], k: str, slot: str) -> list[str]:
    """Lines that bring the value of edge ``k`` of vertex ``x`` into ``result``; ``slot`` is a name for its out-edge."""
    dtype = b.layout.dtype(step.into)
    names = {*arguments(step.fn, "edge"), *(arguments(step.where, step.far) if step.where else ())}
    lines = [f"{step.far} = np.int64(ends[{k}])"]
    ends = {"src": "src", "dst": "dst", "edge": f"np.int64({k})", "weight": f"weights[{k}]", step.near: "x"}
    if step.edges == "in" and ("edge" in names or ("weight" in names and not b.layout.mirrored)):
        parameters["in_edges"] = b.in_edges()
        lines.append(f"{slot} = np.int64(in_edges[{k}])")
        ends |= {"edge": slot, "weight": f"weights[{slot}]"}
    if "weight" in names:
        parameters["weights"] = b.weights()
    call = b.call(step.fn, "edge", ends, VALUE)
    one = found(step.op, call, step.far) if step.op in ENDS else accumulate(step.op, call, dtype)
    if step.where is not None:
        one = [f"if truth({b.call(step.where, step.far, ends)}):", *indented(one)]
    return [*lines, *one]


def gathering_edges(step: Gather, b: Builder) -> tuple[Call, dict[str, Constant]]:
    """The lists that a gather walks, and constants: what is called for an edge, what is loaded, the reduction.

    Functors are called with ``(near, far, edge, weight)``, conditions with the far end.
    """
    lists, edges = adjacency(b, step.edges, arguments(step.fn, "edge"))
    ends = (step.near, step.far, "edge", "weight")
    constants: dict[str, Constant] = {
        "value": b.calling(step.fn, "edge", ends, VALUE),
        "where": b.calling(step.where, step.far, (step.far,)) if step.where is not None else None,
        **edges,
    }
    if step.op in ENDS:
        return lists, constants | {"op": step.op}
    dtype = b.layout.dtype(step.into)
    if step.reduction is not None and step.reduction.runtime:
        constants |= reduction(step.op, dtype)
    return lists, constants | {"flag": dtype == "bool"}
