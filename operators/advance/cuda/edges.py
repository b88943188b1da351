"""What happens at one edge on the GPU: conditions, the functor, and whether its end is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.operators.advance.cpu.merge_path import edge_lines
from frontier.operators.cpu.elementwise import indented
from frontier.operators.cuda.elementwise import output

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.registers import Register
    from frontier.operators.advance import Advance

__all__ = ["accept", "append", "finish"]


def accept(
    step: Advance, b: CudaProgram, target: Register, after: str, parameters: dict[str, str]
) -> tuple[list[str], str]:
    """Lines for one edge ``k`` of ``x`` that set ``ok`` and ``item``; which scan the next queue gets."""
    lines, call, where = edge_lines(step, b, parameters)
    want = ""
    if step.output is None:
        take = [call]
    else:
        want = output(b, target, step.output, after, parameters)
        edge = "e" if "in_edges" in parameters else "k"
        item = step.far if step.output == "vertex" else f"np.int64({edge})"
        take = ["ok = True", f"item = {item}"]
        if step.output == "vertex" and step.unique != "claimed":
            parameters["stamps"] = b.array("stamps", "stamps", "int32")
            parameters["epoch"] = f"np.int32({b.keep('epoch')})"
            take = [
                f"if stamps[{item}] != epoch and exchange(stamps, {item}, epoch) != epoch:",
                *indented(take),
            ]
        take = [f"if truth({call}):", *indented(take)]
    if where is not None:
        take = [f"if truth({where}):", *indented(take)]
    return [*lines, *take], want


def append(step: Advance, b: CudaProgram, want: str) -> list[str]:
    """Lines with which a warp appends what its lanes have taken."""
    if step.output is None:
        return []
    if b.mode(want) == "START":
        return ["append_start(C, slot, out, out_scan, capacity, ok, item, begun)"]
    return [f"append(C, slot, {b.big}, out, out_scan, {b.mode(want)}, degrees, capacity, ok, item)"]


def finish(
    step: Advance, b: CudaProgram, made: str, target: Register, want: str, seen: str, how: int
) -> None:
    """The phase itself: stamps of its own, then what it has produced. ``how`` is for the trace."""
    if step.output == "vertex" and step.unique != "claimed":
        b.line("epoch += 1")
    after: tuple[str, ...] = (f"direction = {how}", f"seen = {seen}")
    if step.output is not None:
        after += b.produced(target, step.output, want)
    b.phase(made, after=after)
