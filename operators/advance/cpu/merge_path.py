"""Push, balance ``merge_path``: workers take equal pieces of the frontier's *edges*.

The scan of the frontier's degrees lays its edges in one row; whoever is free takes the next piece, finds by
binary search whose edges begin there, and may end within another vertex's list. So a hub is shared. After
Davidson et al. (IPDPS 2014) and Gunrock's LB; the scan is made where the frontier is appended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.lowering.ir import Call, Choice, Counter, Expr, Value, cast
from frontier.lowering.registers import PUSH
from frontier.lowering.variables import EPOCH, pointer
from frontier.operators.advance.edges import edge_lines, pushing, walked
from frontier.operators.cpu.elementwise import collect, last_flush, output
from frontier.operators.phases import indented

if TYPE_CHECKING:
    from frontier.lowering.builder import Builder
    from frontier.lowering.registers import Register
    from frontier.operators.advance import Advance

__all__ = ["accept", "finish", "lower", "taken"]


#: Edges below which sharing costs more than it saves.
LEAST = 256


def accept(
    step: Advance, b: Builder, target: Register, want: str, parameters: dict[str, Value]
) -> tuple[list[str], bool]:
    """Lines for one edge ``k`` of ``x``: conditions, the functor, and what it accepts; whether a scan is made."""
    lines, call, where = edge_lines(step, b, parameters)
    if step.output is None:
        take, scanned = [call], False
    else:
        scanned = output(b, target, step.output, want, parameters)
        edge = "e" if "in_edges" in parameters else "k"
        item = step.far if step.output == "vertex" else edge
        take = [f"if truth({call}):", *indented(taken(step, b, item, scanned, parameters))]
    if where is not None:
        take = [f"if truth({where}):", *indented(take)]
    return [*lines, *take], scanned


def taken(step: Advance, b: Builder, item: str, scanned: bool, parameters: dict[str, Value]) -> list[str]:
    """Lines that take an item into the next frontier, once."""
    take = collect(item, scanned)
    if step.output != "vertex" or step.unique == "claimed":
        return take
    parameters["stamps"] = b.array("stamps", "stamps", "int32")
    parameters["epoch"] = cast("int32", EPOCH)
    return [f"if stamps[{item}] != epoch and exchange(stamps, {item}, epoch) != epoch:", *indented(take)]


def finish(
    step: Advance, b: Builder, made: Call, target: Register, want: str, scanned: bool, seen: Expr, how: int
) -> None:
    """The phase itself: stamps of its own, then what it has produced and held. ``how`` is for the trace."""
    if step.output == "vertex" and step.unique != "claimed":
        b.set(EPOCH, EPOCH + 1)
    after = walked(how, seen)
    if step.output is not None:
        after += b.produced(target, step.output, want if scanned else "")
    if step.held is not None:
        after.append(b.assign(step.held, Counter("PILE_COUNT")))
    b.phase(made, after, pushing(step, how), [step.fn, step.where, step.hold])


def lower(step: Advance, b: Builder, source: Register, target: Register, want: str) -> None:
    """Add the phase that pushes along all edges of ``source`` and appends to ``target``."""
    offsets, ends = b.lists(step.edges)
    everything = b.everything(source)
    parameters: dict[str, Value] = {
        "everything": everything,
        "queue": b.queue(source, "vertex"),
        "scan": Choice(everything, offsets, pointer(b.layout.offsets, b.scan_of(source))),
        "count": source.count,
        "total": source.edges,
        "offsets": offsets,
        "ends": ends,
    }
    inner, scanned = accept(step, b, target, want, parameters)
    body = [
        "fill = 0",
        "edges = 0",
        f"size = piece(total, W, {LEAST}, 16384)",
        "first = w * size",
        "while first < total:",
        "    at = first",
        "    stop = min(at + size, total)",
        "    i = source_at(scan, count, at)",
        "    while at < stop:",
        "        x = i if everything else np.int64(queue[i])",
        "        start = np.int64(offsets[x]) + at - np.int64(scan[i])",
        "        end = min(np.int64(offsets[x + 1]), start + stop - at)",
        "        for k in range(start, end):",
        *indented(inner, 3),
        "        at += end - start",
        "        i += 1",
        "    first = next_piece(C, slot, W, size)",
    ]
    if step.output is not None:
        body.append(last_flush(scanned))
    made = b.function(f"push_{step.fn.__name__}", parameters, body)
    finish(step, b, made, target, want, scanned, source.edges, PUSH)
