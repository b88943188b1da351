"""Intersect on the GPU: of an edge's two lists the shorter is walked, and its entries are looked up in the longer.

A warp takes 32 edges, lays their shorter lists in a row and gives each lane one entry after another; so no lane waits
for a neighbour's longer list. Edges whose shorter list is long as well, between two hubs, are left to a second sweep,
in which a whole block walks it. Neighbouring edges go to different blocks there, for hubs' edges lie together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.functors import arguments
from frontier.lowering.ir import Node
from frontier.lowering.phases import VALUE
from frontier.lowering.variables import FLOATS, SLOT
from frontier.operators.cuda.elementwise import OPS, combined
from frontier.operators.phases import accumulate, frontier, indented, start

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.registers import Register
    from frontier.operators.intersect import Intersect

__all__ = ["lower"]

#: Entries of a shorter list beyond which a block walks it. No list of a bounded build is longer.
LONG = 1024

#: Edge ``x``: where the shorter list begins and ends, and the longer. ``turned`` says that the shorter is v's.
LISTS = [
    "u = np.int64(sources[x])",
    "v = np.int64(targets[x])",
    "near = I(offsets[u])",
    "near_end = I(offsets[u + 1])",
    "far = I(offsets[v])",
    "far_end = I(offsets[v + 1])",
    "turned = I(near_end - near) > I(far_end - far)",
    "if turned:",
    "    near, far = far, near",
    "    near_end, far_end = far_end, near_end",
]


def lower(step: Intersect, b: CudaProgram, register: Register) -> None:
    """A phase that calls the functor, and reduces what it returns if the step does."""
    parameters = frontier(b, register, "edge")
    parameters["sources"] = b.sources()
    parameters["offsets"], parameters["targets"] = b.lists("out")
    ends = {"u": "u", "v": "v", "w": "common", "uv": "x", "uw": "uw", "vw": "vw"}
    one = [b.call(step.fn, "common", ends, VALUE if step.op is not None else "")]
    begin, end, real = [], [], False
    after: list[Node] = []
    if step.op is not None and step.into is not None:
        dtype = b.layout.dtype(step.into)
        real = dtype.startswith("float") and step.op not in ("any", "all")
        type_, memory = ("float", "F") if real else ("int", "C")
        identity = start(step.op, dtype)
        one = accumulate(step.op, one[0], dtype)
        begin = [f"result = {identity}"]
        end = [f"keep_{type_}({memory}, slot, {OPS[step.op]}, result)"]
        after = combined(b, SLOT, step.op, step.into, real)
        if real:
            parameters["F"] = FLOATS
    pairs = _pairs(one)
    named = [line for line in LISTS[:2] if line[0] in arguments(step.fn, "common")]
    bounded = b.narrow or b.build.bounded
    body = [
        *begin,
        "lane = np.int32(w & 31)",
        "first = w - lane",
        "while first < total:",
        *indented(_warp(named, pairs, bounded)),
        # Sums of floats depend on who adds what: that must be the same in every run.
        "    first += W" if real else "    first = next_elements(C, slot, W)",
        *([] if bounded else _blocks(pairs)),
        *end,
    ]
    made = b.function(f"intersect_{step.fn.__name__}", parameters, body)
    b.phase(made, after, "intersect: find the common neighbours of both ends", [step.fn])


def _warp(named: list[str], pairs: list[str], bounded: bool) -> list[str]:
    """Lines in which a warp works on 32 edges: ``begun`` is where a lane's edge begins in the row of entries."""
    length = "length = np.int32(near_end - near)"
    return [
        "i = first + lane",
        "mine = np.int64(0)",
        "length = np.int32(0)",
        "turned = False",
        "near = I(0)",
        "far = I(0)",
        "far_end = I(0)",
        "if i < total:",
        "    x = element_at(queue, everything, i)",
        *indented(LISTS),
        "    mine = x",
        *indented([length] if bounded else [f"if I(near_end - near) <= I({LONG}):", f"    {length}"]),
        "upto = running(length, lane)",
        "begun = np.int32(upto - length)",
        "entries = np.int32(shuffle(upto, 31))",
        "base = I(near - I(begun))",
        "its_far = far",
        "its_end = far_end",
        "turns = ballot(turned)",
        "done = np.int32(0)",
        "while done < entries:",
        "    at = np.int32(done + lane)",
        "    j = owner(begun, at)",
        "    x = np.int64(shuffle(mine, j))",
        "    k = I(I(shuffle(base, j)) + I(at))",
        "    far = I(shuffle(its_far, j))",
        "    far_end = I(shuffle(its_end, j))",
        "    turned = np.uint32(np.uint32(turns >> np.uint32(j)) & np.uint32(1)) != np.uint32(0)",
        "    if at < entries:",
        *indented([*named, *pairs], 2),
        "    done = np.int32(done + np.int32(32))",
    ]


def _blocks(pairs: list[str]) -> list[str]:
    """Lines in which blocks look through all edges again, and walk what the warps have left, all threads together."""
    return [
        "t = thread_index()",
        "blocks = np.int64(num_blocks())",
        "masks = uint32_shared(WARPS)",
        "begin_ = np.int64(block_index())",
        "while begin_ < total:",
        "    i = begin_ + t * blocks",
        "    waits = False",
        "    if i < total:",
        "        x = element_at(queue, everything, i)",
        *indented(LISTS, 2),
        f"        waits = I(near_end - near) > I({LONG})",
        "    votes = ballot(waits)",
        "    if lane == 0:",
        "        masks[t >> 5] = votes",
        "    if sync_or(waits):",
        "        for q in range(block_size() >> 5):",
        "            pending = np.uint32(masks[q])",
        "            while pending != np.uint32(0):",
        "                j = 32 * q + find_first(pending)",
        "                pending = np.uint32(pending & np.uint32(pending - np.uint32(1)))",
        "                x = element_at(queue, everything, begin_ + j * blocks)",
        *indented(LISTS, 4),
        "                k = I(near + I(t))",
        "                while k < near_end:",
        *indented(pairs, 5),
        "                    k = I(k + I(block_size()))",
        "        sync()",
        "    begin_ += block_size() * blocks",
    ]


def _pairs(one: list[str]) -> list[str]:
    """Lines that find slot ``k`` of the shorter list in the longer one, and do something for every pair."""
    return [
        "common = np.int64(targets[k])",
        "low = far",
        "high = far_end",
        "while low < high:",
        "    middle = I(low + I(I(high - low) >> I(1)))",
        "    if np.int64(targets[middle]) < common:",
        "        low = I(middle + I(1))",
        "    else:",
        "        high = middle",
        "while low < far_end and np.int64(targets[low]) == common:",
        "    uw = np.int64(low if turned else k)",
        "    vw = np.int64(k if turned else low)",
        *indented(one),
        "    low = I(low + I(1))",
    ]
