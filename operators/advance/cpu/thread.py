"""Push, balance ``thread``: workers take pieces of the frontier's *vertices*.

Needs no scan, so it suits lists of bounded length: roads, and a ``part`` of every vertex's edges. A hub is
one worker's alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.lowering.ir import Counter, Value, cast
from frontier.lowering.registers import PUSH_THREAD
from frontier.lowering.variables import EPOCH
from frontier.operators.advance.cpu.merge_path import accept, finish, taken
from frontier.operators.cpu.elementwise import FROM_QUEUE, collect, last_flush, output, pieces
from frontier.operators.phases import frontier, indented
from frontier.operators.sample import Sample, sample_key, sample_place

if TYPE_CHECKING:
    from frontier.lowering.builder import Builder
    from frontier.lowering.registers import Register
    from frontier.operators.advance import Advance

__all__ = ["far_ends", "lower"]


def lower(step: Advance, b: Builder, source: Register, target: Register, want: str) -> None:
    """Add the phase that pushes along (a part of) the edges of every vertex of ``source``."""
    parameters = frontier(b, source, "vertex")
    parameters["offsets"], parameters["ends"] = b.lists(step.edges)
    inner, scanned = accept(step, b, target, want, parameters)
    walk = _sample(step.part, b, parameters, inner) if isinstance(step.part, Sample) else _slice(step.part, inner)
    if step.hold is not None:
        keep = ["kept += 1", *taken(step, b, "x", scanned, parameters)]
        waits = f"if truth({b.call(step.hold, 'vertex', {'v': 'x'})}):"
        walk = [waits, *indented(keep), "else:", *indented(walk)]
    lines = ["fill = 0", "edges = 0", "seen = np.int64(0)", "kept = np.int64(0)", *pieces([FROM_QUEUE, *walk])]
    if step.output is not None:
        lines.append(last_flush(scanned))
    lines.append("fetch_add(C, slot + EXAMINED, seen)")
    if step.held is not None:
        lines.append("fetch_add(C, slot + PILE_COUNT, kept)")
    made = b.function(f"part_{step.fn.__name__}", parameters, lines)
    finish(step, b, made, target, want, scanned, Counter("EXAMINED"), PUSH_THREAD)


def _slice(part: tuple[int, int | None] | None, inner: list[str]) -> list[str]:
    """Lines that visit the edges of ``x``, or a slice of them."""
    first, last = part or (0, None)
    return [
        f"start = np.int64(offsets[x]) + {first}",
        "end = np.int64(offsets[x + 1])",
        *([f"end = min(end, start + {max(last - first, 0)})"] if last is not None else []),
        "seen += max(end - start, 0)",
        "for k in range(start, end):",
        *indented(inner),
    ]


def _sample(part: Sample, b: Builder, parameters: dict[str, Value], inner: list[str]) -> list[str]:
    """Lines that visit random edges of ``x``."""
    parameters["seed"] = cast("int64", b.scalars[part.seed] if isinstance(part.seed, str) else part.seed)
    return [
        "start = np.int64(offsets[x])",
        "degree = np.int64(offsets[x + 1]) - start",
        f"key = {b.functor(sample_key)}(p, seed, x)",
        f"drawn = min(degree, {part.size})",
        "seen += drawn",
        "for draw in range(drawn):",
        f"    k = start + (draw if drawn == degree else {b.functor(sample_place)}(p, key, degree, draw))",
        *indented(inner),
    ]


def far_ends(step: Advance, b: Builder, edges: Register, vertices: Register) -> None:
    """Add the phase that makes the set of the far ends of some edges."""
    parameters = frontier(b, edges, "edge")
    # The far end of an edge is the same whichever way it is walked from here on.
    parameters["ends"] = b.lists("out")[1] if step.edges == "out" else b.sources()
    parameters["stamps"] = b.array("stamps", "stamps", "int32")
    parameters["epoch"] = cast("int32", EPOCH)
    want = "" if step.part else step.edges
    scanned = output(b, vertices, "vertex", want, parameters)
    take = [
        FROM_QUEUE,
        "far = np.int64(ends[x])",
        "if stamps[far] != epoch and exchange(stamps, far, epoch) != epoch:",
        *indented(collect("far", scanned)),
    ]
    body = ["fill = 0", "edges = 0", *pieces(take), last_flush(scanned)]
    b.set(EPOCH, EPOCH + 1)
    b.phase(b.function("far_ends", parameters, body), b.produced(vertices, "vertex", want), "list the far ends")
