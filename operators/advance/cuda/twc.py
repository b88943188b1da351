"""Push, balance ``twc``: lists of three sizes, walked by the block, by a warp, or shared by threads.

A block takes as many vertices as it has threads. Those with a list as long as the block vote who leads, and all
threads walk the leader's list; then warps walk the lists of more than 32 edges among their own; what is left is shared
as by ``block``. Merrill's and Gunrock's per-warp-and-CTA balance (Wang et al., PPoPP 2016).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.lowering.ir import Counter
from frontier.lowering.registers import PUSH_TWC
from frontier.operators.advance.cuda.block import Parts, blocks_of, shared_edges
from frontier.operators.advance.cuda.edges import finish
from frontier.operators.phases import frontier, indented

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.registers import Register
    from frontier.operators.advance import Advance

__all__ = ["lower"]

#: A list of more edges is a warp's.
WARP = 32


def lower(step: Advance, b: CudaProgram, source: Register, target: Register, want: str) -> None:
    """Add the phase that pushes along all edges of ``source`` and appends to ``target``."""
    parts = Parts(step, b, target, want, frontier(b, source, "vertex"))
    body = [
        *parts.begin(),
        "leader = int32_shared(LEADER)",
        "found = int64_shared(FOUND)",
        *blocks_of([*_by_block(parts), *_by_warps(parts), *shared_edges(parts, b.big)]),
        *parts.end(),
    ]
    made = b.function(f"push_{step.fn.__name__}", parts.parameters, body)
    finish(step, b, made, source, target, parts.want, Counter("EXAMINED"), PUSH_TWC)


def _by_block(parts: Parts) -> list[str]:
    """Lines in which all threads walk the longest lists; of those who want to lead, the last to say so does."""
    return [
        "while sync_or(I(stop - begin_) >= I(block_size())):",
        "    if I(stop - begin_) >= I(block_size()):",
        "        leader[0] = t",
        "    sync()",
        "    if leader[0] == t and I(stop - begin_) >= I(block_size()):",
        "        found[0] = mine",
        "        found[1] = begin_",
        "        found[2] = stop",
        "        stop = begin_",
        "    sync()",
        "    x = found[0]",
        "    at = found[1]",
        "    last = found[2]",
        *indented(parts.strip("t - lane", "block_size()")),
    ]


def _by_warps(parts: Parts) -> list[str]:
    """Lines in which a warp walks the long lists of its lanes, one after another."""
    return [
        f"pending = ballot(I(stop - begin_) > I({WARP}))",
        "while pending != np.uint32(0):",
        "    chosen = find_first(pending)",
        "    pending = np.uint32(pending & np.uint32(pending - np.uint32(1)))",
        "    x = np.int64(shuffle(mine, chosen))",
        "    at = np.int64(shuffle(begin_, chosen))",
        "    last = np.int64(shuffle(stop, chosen))",
        *indented(parts.strip("0", "32")),
        f"if I(stop - begin_) > I({WARP}):",
        "    stop = begin_",
    ]
