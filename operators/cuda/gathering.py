"""Gather on the GPU, by in-degree class: a thread, a warp or a block for every vertex, so without atomics.

A warp takes 32 vertices. Lanes walk short lists themselves, then the whole warp walks the longer ones, one after
another; what is longer still is put aside and walked by the block. In a narrow build that works on
few vertices at a time a few lanes share each list. A block has room for so many of them; the rest its warps walk,
so the last bits of a float may differ between runs where there are more. Loops over long lists have four edges of
a thread in flight: numba's loops otherwise wait for each load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.errors import FrontierError
from frontier.lowering.registers import PULL, PUSH_THREAD
from frontier.operators.cuda.elementwise import OPS
from frontier.operators.phases import frontier, gathered, indented, start

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.registers import Register
    from frontier.operators.gather import Gather

__all__ = ["lower"]

#: Degrees from which on a warp, and a block, walks a list.
WARP, BLOCK = 16, 4096
#: Long lists that a block can put aside; more are walked by their warps.
ASIDE = 512


def lower(step: Gather, b: CudaProgram, register: Register) -> None:
    """A phase over the frontier; every vertex's values come together in an order that never changes."""
    if register.kinds != {"vertex"}:
        raise FrontierError("Gather runs over a frontier of vertices")
    b.sparse(register)
    dtype = b.layout.dtype(step.into)
    parameters = frontier(b, register, "vertex")
    parameters["offsets"], parameters["ends"] = b.lists(step.edges)
    if step.edges == "in":
        b.needs_in = True
    parameters["into"] = f"{dtype}_at(a_{step.into})"
    parameters["tracing"] = "tracing"
    one = gathered(step, b, parameters, "e", "slot_of")
    identity = start(step.op, dtype)
    store = "truth(result)" if dtype == "bool" else "result"
    if b.narrow and not b.build.sweeps:
        body = _shared(one, identity, store, OPS[step.op], b.build.lanes)
    else:
        body = _body(one, identity, store, OPS[step.op], b.narrow)
    b.phase(
        b.function(step.fn.__name__, parameters, body),
        after=(f"direction = {PULL if step.edges == 'in' else PUSH_THREAD}", f"seen = {b.counter('EXAMINED')}"),
    )


def _walk(one: list[str], stride: str) -> list[str]:
    """Lines that walk every ``stride``-th edge from ``k`` to ``end``, four at a time while there are four."""
    unrolled = []
    for i in range(4):
        unrolled += [f"e = I(k + I({i} * {stride}))", *one]
    return [
        f"while k < I(end - I(3 * {stride})):",
        *indented(unrolled),
        f"    k = I(k + I(4 * {stride}))",
        "while k < end:",
        "    e = k",
        *indented(one),
        f"    k = I(k + {stride})",
    ]


def _shared(one: list[str], identity: str, store: str, op: str, lanes: int) -> list[str]:
    """All lists are short: as many lanes as there are edges, so that all loads of a vertex are in flight at once."""
    return [
        "lane = np.int32(w & 31)",
        f"part = np.int32(lane & np.int32({lanes - 1}))",
        "examined = np.int64(0)",
        f"first = ((w - lane) >> 5) * {32 // lanes}",
        "while first < total:",
        f"    i = first + (lane >> {lanes.bit_length() - 1})",
        "    x = np.int64(0)",
        "    k = I(0)",
        "    end = I(0)",
        "    if i < total:",
        "        x = element_at(queue, everything, i)",
        "        k = I(I(offsets[x]) + I(part))",
        "        end = I(offsets[x + 1])",
        "        if tracing and part == 0:",
        "            examined += end - k",
        f"    result = {identity}",
        "    while k < end:",
        "        e = k",
        *indented(one, 2),
        f"        k = I(k + I({lanes}))",
        f"    result = lanes_reduce({op}, result, {lanes})",
        "    if part == 0 and i < total:",
        f"        into[x] = {store}",
        f"    first += (W >> 5) * {32 // lanes}",
        "if tracing:",
        "    add_up(C, slot, EXAMINED, examined)",
    ]


def _body(one: list[str], identity: str, store: str, op: str, narrow: bool) -> list[str]:
    return [
        "lane = np.int32(w & 31)",
        "examined = np.int64(0)",
        "aside = int64_shared(FREE)",
        "fill = int32_shared(WORDS)",
        "empty_buffer()",
        "sync()",
        "first = w - lane",
        "while first < total:",
        "    i = first + lane",
        "    mine = np.int64(0)",
        "    begin_ = I(0)",
        "    stop = I(0)",
        "    if i < total:",
        "        mine = element_at(queue, everything, i)",
        "        begin_ = I(offsets[mine])",
        "        stop = I(offsets[mine + 1])",
        "        examined += stop - begin_",
        f"    short = I(stop - begin_) < I({WARP}) or {narrow}",
        "    if i < total and short:",
        "        x = mine",
        f"        result = {identity}",
        "        k = begin_",
        "        end = stop",
        *indented(_walk(one, "I(1)"), 2),
        f"        into[x] = {store}",
        *([] if narrow else indented(_warps(one, identity, store, op))),
        "    first += W",
        *([] if narrow else _blocks(one, identity, store, op)),
        "if tracing:",
        "    add_up(C, slot, EXAMINED, examined)",
    ]


def _warps(one: list[str], identity: str, store: str, op: str) -> list[str]:
    """The warp's own long lists, one after another; the longest are put aside."""
    return [
        "waits = i < total and not short",
        f"if waits and I(stop - begin_) >= I({BLOCK}):",
        "    at = fetch_add(fill, 0, np.int32(1))",
        f"    if at < {ASIDE}:",
        "        aside[at] = mine",
        "        waits = False",
        "pending = ballot(waits)",
        "while pending != np.uint32(0):",
        "    leader = find_first(pending)",
        "    pending = np.uint32(pending & np.uint32(pending - np.uint32(1)))",
        "    x = np.int64(shuffle(mine, leader))",
        "    k = I(I(shuffle(begin_, leader)) + I(lane))",
        "    end = I(shuffle(stop, leader))",
        f"    result = {identity}",
        *indented(_walk(one, "I(32)")),
        f"    result = warp_reduce({op}, result)",
        "    if lane == 0:",
        f"        into[x] = {store}",
    ]


def _blocks(one: list[str], identity: str, store: str, op: str) -> list[str]:
    """The lists that were put aside."""
    memory = "float64_shared(WARPS)" if "float" in identity else "int64_shared(WARPS)"
    return [
        "sync()",
        f"held = min(fill[0], np.int32({ASIDE}))",
        "stride = I(block_size())",
        "for j in range(held):",
        "    x = aside[j]",
        "    k = I(I(offsets[x]) + I(thread_index()))",
        "    end = I(offsets[x + 1])",
        f"    result = {identity}",
        *indented(_walk(one, "stride")),
        f"    result = block_reduce({op}, result, {memory})",
        "    if thread_index() == 0:",
        f"        into[x] = {store}",
    ]
