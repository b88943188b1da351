"""Lowering of Gather: every vertex by one worker, so without atomics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.errors import FrontierError
from frontier.lowering.ir import Counter
from frontier.lowering.registers import PULL, PUSH_THREAD
from frontier.operators.advance.edges import walked
from frontier.operators.cpu.elementwise import FROM_QUEUE, pieces
from frontier.operators.phases import begun, frontier, gathered, indented, stored

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
    parameters["into"] = b.field(step.into)
    one = gathered(step, b, parameters, "k", "e")
    body = [
        FROM_QUEUE,
        *begun(step, dtype),
        "for k in range(np.int64(offsets[x]), np.int64(offsets[x + 1])):",
        *indented(one),
        f"into[x] = {stored(step, dtype)}",
        "examined += np.int64(offsets[x + 1]) - np.int64(offsets[x])",
    ]
    lines = ["examined = np.int64(0)", *pieces(body), "fetch_add(C, slot + EXAMINED, examined)"]
    b.phase(
        b.function(step.fn.__name__, parameters, lines),
        walked(PULL if step.edges == "in" else PUSH_THREAD, Counter("EXAMINED")),
        f"gather along {step.edges}-edges: {step.op}",
        [step.fn, step.where],
        [step.into],
    )
