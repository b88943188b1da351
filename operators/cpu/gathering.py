"""Lowering of Gather: every vertex by one worker, so without atomics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.errors import FrontierError
from frontier.functors import arguments
from frontier.lowering.registers import PULL, PUSH_THREAD
from frontier.operators.cpu.elementwise import FROM_QUEUE, accumulate, frontier, indented, pieces, start

if TYPE_CHECKING:
    from frontier.lowering.builder import Builder
    from frontier.lowering.registers import Register
    from frontier.operators.gather import Gather

__all__ = ["lower"]


def lower(step: Gather, b: Builder, register: Register) -> None:
    """A phase over pieces of the frontier; the edges of a vertex are walked in order."""
    if register.kinds != {"vertex"}:
        raise FrontierError("Gather runs over a frontier of vertices")
    b.sparse(register)
    dtype = b.layout.dtype(step.into)
    parameters = frontier(b, register, "vertex")
    parameters["offsets"], parameters["ends"] = b.lists(step.edges)
    if step.edges == "in":
        b.needs_in = True
    parameters["into"] = f"{dtype}_at(a_{step.into})"
    names = {*arguments(step.fn, "edge"), *(arguments(step.where, step.far) if step.where else ())}
    find = [f"{step.far} = np.int64(ends[k])"]
    ends = {"src": "src", "dst": "dst", "edge": "k", "weight": "weights[k]"}
    ends[step.near] = "x"
    if step.edges == "in" and ("edge" in names or ("weight" in names and not b.layout.mirrored)):
        parameters["in_edges"] = b.in_edges()
        find.append("e = np.int64(in_edges[k])")
        ends |= {"edge": "e", "weight": "weights[e]"}
    if "weight" in names:
        parameters["weights"] = b.weights()
    one = accumulate(step.op, b.call(step.fn, "edge", ends), dtype)
    if step.where is not None:
        one = [f"if truth({b.call(step.where, step.far, ends)}):", *indented(one)]
    store = "truth(result)" if dtype == "bool" else "result"
    body = [
        FROM_QUEUE,
        f"result = {start(step.op, dtype)}",
        "for k in range(np.int64(offsets[x]), np.int64(offsets[x + 1])):",
        *indented([*find, *one]),
        f"into[x] = {store}",
        "examined += np.int64(offsets[x + 1]) - np.int64(offsets[x])",
    ]
    lines = ["examined = np.int64(0)", *pieces(body), "fetch_add(C, slot + EXAMINED, examined)"]
    b.phase(
        b.function(step.fn.__name__, parameters, lines),
        after=(f"direction = {PULL if step.edges == 'in' else PUSH_THREAD}", "seen = C[slot + EXAMINED]"),
    )
