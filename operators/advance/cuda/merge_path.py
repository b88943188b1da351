"""Push, balance ``merge_path``: blocks take equal pieces of the frontier's *edges*.

The scan of the frontier's degrees lays its edges in one row; a block takes a tile of it, finds by sorted search
whose edges these are, and stages those vertices in shared memory, where every thread finds the source of its own
edge. So a hub is shared by many blocks. What is accepted is collected in shared memory and appended with one atomic
for the whole block. After Davidson et al. (IPDPS 2014) and Gunrock's LB.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.lowering.ir import Choice, Value
from frontier.lowering.registers import PUSH
from frontier.lowering.variables import pointer
from frontier.operators.advance.cuda.edges import accept, converged, finish, way
from frontier.operators.phases import indented

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.registers import Register
    from frontier.operators.advance import Advance

__all__ = ["lower"]


def _scratch(b: CudaProgram) -> list[str]:
    """Lines that lay a tile's arrays into the block's scratch memory."""
    ids, offsets = (8 if name == "int64" else 4 for name in (b.layout.ids, b.layout.offsets))
    return [
        f"bases = {b.block_memory(b.layout.offsets)}",
        f"vertices = {b.block_memory(b.layout.ids, f'{offsets} * TILE')}",
        f"buffer = {b.block_memory(b.layout.ids, f'{offsets + ids} * TILE')}",
        f"keys = {b.block_memory('int32', f'{offsets + 2 * ids} * TILE')}",
    ]


def lower(step: Advance, b: CudaProgram, source: Register, target: Register, want: str) -> None:
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
    inner, want = accept(step, b, target, want, parameters)
    append, strict = step.output is not None and way(step, b) != "mark", way(step, b) != "cull"
    where = f"out, out_scan, {b.mode(want).name}, degrees, capacity, buffer, {strict}"
    inside = [*converged(step, b), "put(buffer, ok, item)"] if append else []
    body = [
        *_scratch(b),
        "t = thread_index()",
        "empty_buffer()",
        "tile = tile_size(total)",
        "first = block_index() * tile",
        "while first < total:",
        "    last = min(first + tile, total)",
        "    low, high = tile_sources(scan, count, first, last)",
        "    while low < high:",
        *indented(_stage(), 2),
        *indented(_edges(inner, inside), 2),
        "        low += many",
        "        sync()",
        *([f"    flush(C, slot, {b.big}, {where})"] if append else []),
        "    first += tile * num_blocks()",
    ]
    made = b.function(f"push_{step.fn.__name__}", parameters, body)
    finish(step, b, made, source, target, want, source.edges, PUSH)


def _stage() -> list[str]:
    """Lines that stage the tile's sources; a tile that has more (they have no edges) takes several turns."""
    return [
        "many = min(high - low, TILE)",
        "j = np.int64(t)",
        "while j < many:",
        "    x = element_at(queue, everything, low + j)",
        "    begun = np.int64(scan[low + j])",
        "    keys[j] = max(begun - first, 0)",
        "    vertices[j] = x",
        "    bases[j] = offsets[x] - begun",
        "    j += block_size()",
        "at = first",
        "stop = last",
        "if low + many < high:",
        "    stop = min(last, np.int64(scan[low + many]))",
        "at = max(first, np.int64(scan[low]))",
        "sync()",
    ]


def _edges(inner: list[str], inside: list[str]) -> list[str]:
    """Lines in which every thread visits one edge after another; ``inside`` is what all do after each."""
    return [
        "while at < stop:",
        "    ok = False",
        "    item = np.int64(0)",
        "    position = I(at + t)",
        "    if position < stop:",
        "        j = source_in(keys, many, np.int32(position - first))",
        "        x = np.int64(vertices[j])",
        "        k = I(bases[j] + position)",
        *indented(inner, 2),
        *indented(inside),
        "    at += block_size()",
    ]
