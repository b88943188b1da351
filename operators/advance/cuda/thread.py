"""Push, balance ``thread``: a few lanes share the list of one frontier vertex.

Needs no scan and no memory of the block, so a pass costs little more than its chain of loads; a hub would hold
up its lanes. Every edge has a lane of its own where lists are short, so that also the atomics of functors overlap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.lowering.registers import PUSH_THREAD
from frontier.operators.advance.cuda.edges import accept, append, finish
from frontier.operators.cpu.elementwise import indented
from frontier.operators.cuda.elementwise import frontier, output

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.registers import Register
    from frontier.operators.advance import Advance

__all__ = ["far_ends", "lower"]


def lower(step: Advance, b: CudaProgram, source: Register, target: Register, want: str) -> None:
    """Add the phase that pushes along (a part of) the edges of every vertex of ``source``."""
    parameters = frontier(b, source, "vertex")
    parameters["offsets"], parameters["ends"] = b.lists(step.edges)
    parameters["carried"] = b.carried(source, step.edges)
    parameters["starts"] = f"{b.layout.offsets}_at({b.scan_of(source)})"
    parameters["tracing"] = "tracing"
    parameters["slots"] = b.capacity("edge")
    inner, want = accept(step, b, target, want, parameters)
    inner = _ahead(step, b, inner, want, parameters)
    lanes = _lanes(step, b)
    body = [
        "lane = np.int32(w & 31)",
        f"part = np.int32(lane & np.int32({lanes - 1}))",
        "seen = np.int64(0)",
        f"first = ((w - lane) >> 5) * {32 // lanes}",
        "while first < total:",
        f"    i = first + (lane >> {lanes.bit_length() - 1})",
        "    x = np.int64(0)",
        "    k = I(0)",
        "    end = I(0)",
        "    ahead = np.int64(0)",
        "    if i < total:",
        *indented(_list(step), 2),
        "    while any_lane(k < end):",
        "        ok = False",
        "        item = np.int64(0)",
        *(["        begun = I(0)"] if b.mode(want) == "START" else []),
        "        if k < end:",
        *indented(inner, 3),
        *indented(append(step, b, want), 2),
        f"        k = I(k + I({lanes}))",
        "        if k < end:",
        "            ahead = np.int64(ends[k])",
        f"    first += (W >> 5) * {32 // lanes}",
        "if tracing:",
        "    add_up(C, slot, EXAMINED, seen)",
    ]
    made = b.function(f"push_{step.fn.__name__}", parameters, body)
    finish(step, b, made, target, want, b.counter("EXAMINED"), PUSH_THREAD)


def _lanes(step: Advance, b: CudaProgram) -> int:
    """Lanes of a list: fewer where only a part of it is walked."""
    if step.part is not None and isinstance(step.part, tuple) and step.part[1] is not None:
        length = max(step.part[1] - step.part[0], 1)
        return min(b.build.lanes, 1 << (length - 1).bit_length())
    return b.build.lanes


def _list(step: Advance) -> list[str]:
    """Lines that find vertex ``x`` and its edges ``k`` to ``end``; the first of them is read before ``end`` is known."""
    lines = [
        "x = element_at(queue, everything, i)",
        "if carried:",
        "    k = I(starts[i])",
        "else:",
        "    k = I(offsets[x])",
    ]
    first, last = step.part or (0, None)
    if first:
        lines.append(f"k = I(k + I({first}))")
    lines += [
        "if I(k + I(part)) < slots:",
        "    ahead = np.int64(ends[I(k + I(part))])",
        "end = I(offsets[x + 1])",
    ]
    if last is not None:
        lines.append(f"end = I(min(end, I(k + I({max(last - first, 0)}))))")
    return [
        *lines,
        "if tracing and part == 0:",
        "    seen += max(end - k, 0)",
        "k = I(k + I(part))",
    ]


def _ahead(step: Advance, b: CudaProgram, inner: list[str], want: str, parameters: dict[str, str]) -> list[str]:
    """The lines of an edge with its far end read ahead; and where that one's list begins, read beside the condition."""
    lines = [line.replace("np.int64(ends[k])", "ahead") for line in inner]
    if b.mode(want) != "START":
        return lines
    parameters["following"] = b.lists(want)[1]
    made = []
    for line in lines:
        made.append(line)
        if line == f"{step.far} = ahead":
            made.append(f"begun = I(degrees[{step.far}])")
        if line.strip() == "ok = True":
            made.append(line.replace("ok = True", "prefetch(following, begun)"))
    return made


def far_ends(step: Advance, b: CudaProgram, edges: Register, vertices: Register) -> None:
    """Add the phase that makes the set of the far ends of some edges."""
    parameters = frontier(b, edges, "edge")
    # The far end of an edge is the same whichever way it is walked from here on.
    parameters["ends"] = b.lists("out")[1] if step.edges == "out" else b.sources()
    parameters["stamps"] = b.array("stamps", "stamps", "int32")
    parameters["epoch"] = f"np.int32({b.keep('epoch')})"
    want = output(b, vertices, "vertex", "" if step.part else step.edges, parameters)
    body = [
        "lane = w & 31",
        "first = w - lane",
        "while first < total:",
        "    ok = False",
        "    item = np.int64(0)",
        "    i = first + lane",
        "    if i < total:",
        "        far = np.int64(ends[element_at(queue, everything, i)])",
        "        if stamps[far] != epoch and exchange(stamps, far, epoch) != epoch:",
        "            ok = True",
        "            item = far",
        f"    append(C, slot, {b.big}, out, out_scan, {b.mode(want)}, degrees, capacity, ok, item)",
        "    first += W",
    ]
    b.line("epoch += 1")
    b.phase(b.function("far_ends", parameters, body), after=b.produced(vertices, "vertex", want))
