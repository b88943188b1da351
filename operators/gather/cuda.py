"""Gather on the GPU, by in-degree class: a thread, a warp or a block processes a vertex, so no atomics are needed.

A warp takes 32 vertices. Its lanes process short lists individually; then the whole warp processes the longer ones, one
after another. The longest lists are put aside for a separate phase in which blocks process them, each taking the next
one when it has finished, so that no block is left with all the hubs. In a low-degree variant that processes few
vertices at a time, a few lanes share each list. In long lists every thread has four edges in flight, because numba's
loops would wait for each load. Of lists of medium length a warp processes two at once, see
:mod:`frontier.operators.gather.cuda_pairs`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.backends.least import LAST
from frontier.errors import FrontierError
from frontier.functors.functor import arguments
from frontier.lowering.frontier_state import PULL, PUSH_THREAD
from frontier.lowering.ir import Assign, Call, Counter, Value
from frontier.lowering.variables import TRACING
from frontier.operators.advance.edges import walked
from frontier.operators.elementwise.cuda import OPS
from frontier.operators.gather.cuda_pairs import Values, pairs
from frontier.operators.gather.phases import gathered, stored
from frontier.operators.shared.phases import frontier, indented, start
from frontier.operators.shared.reductions import ENDS
from frontier.program.effects import effects

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.gather import Gather

__all__ = ["lower"]

#: Degrees from which on a warp, and a block, processes a list. (On R-MAT 24 an iteration of PageRank takes 10.3 ms if
#: blocks process the hubs that they find, 8.2 ms if hubs from 4096 edges on are assigned dynamically, 6.8 from 1024.)
WARP, BLOCK = 16, 1024

#: Pieces of a warp (log2) from which on warps take pieces dynamically, and vertices of such a piece (log2).
#: (On R-MAT 24 an iteration of PageRank takes 7.1 ms if pieces are assigned statically, 5.3 so, 5.7 by pieces of 256;
#: if all degrees are similar, or warps have fewer pieces, it gains nothing.)
MANY, PIECE = 4, 7


def lower(step: Gather, b: CudaProgram, current: FrontierState) -> None:
    """A phase over the frontier; every vertex's values come together in an order that never changes."""
    if current.kinds != {"vertex"}:
        raise FrontierError("Gather runs over a frontier of vertices")
    b.sparse(current)
    dtype = b.layout.dtype(step.into)
    parameters: dict[str, Value] = {}
    parameters["offsets"], parameters["ends"] = b.lists(step.edges)
    if step.edges == "in":
        b.needs_in = True
    parameters["into"] = b.field(step.into)
    values = _values(step, b, parameters, dtype)
    first = parameters | frontier(b, current, "vertex") | {"tracing": TRACING}
    after = walked(PULL if step.edges == "in" else PUSH_THREAD, Counter("EXAMINED"))
    title, functors, writes = f"gather along {step.edges}-edges: {step.op}", [step.fn, step.where], [step.into]
    name = step.fn.__name__
    if b.low_degree:
        body = _lanes(values, b.build.lanes) if not b.build.dense else _lists(values, [], b)
        b.phase(b.function(name, first, body), after, title, functors, writes)
        return
    held = b.variable("held")
    aside = b.array("long_lists", f"long {BLOCK}", b.layout.ids)
    room = b.capacity("edge") // BLOCK + 1
    paired = values.harmless and b.build.dense  # betweenness, whose kernel has no registers to spare, loses by pairs
    b.low_occupancy = b.low_occupancy or paired
    body = _lists(values, [*_put_aside(), *_warps(values, paired)], b)
    after.append(Assign(held, Call("min", Counter("PILE_COUNT"), room)))
    made = b.function(name, first | {"aside": aside, "room": room}, body)
    b.phase(made, after, f"{title} over short lists", functors, writes)
    with b.when(held > 0):
        made = b.function(f"{name}_long", parameters | {"aside": aside, "held": held}, _blocks(values))
        b.phase(made, (), f"{title} over the long lists put aside", functors, writes)


def _values(step: Gather, b: CudaProgram, parameters: dict[str, Value], dtype: str) -> Values:
    """Return the lines that evaluate a step's functor."""
    lines = gathered(step, b, parameters, "e", "slot_of")
    loads = [line for line in lines if line.startswith((f"{step.far} = ", "slot_of = "))]
    found = effects(step.fn)
    ends = step.op in ENDS
    reads = step.where is None and found.exact and not found.writes and not found.atomics and not ends
    return Values(
        loads=loads,
        use=lines[len(loads) :],
        identity=f"np.int64({LAST})" if ends else start(step.op, dtype),
        store=stored(step, dtype),
        op="" if ends else str(OPS[step.op]),
        near=step.near in arguments(step.fn, "edge"),
        harmless=reads,
        ends=ends,
    )


def _walk(values: Values, stride: str) -> list[str]:
    """Lines that walk every ``stride``-th edge from ``k`` to ``end``, several at a time while there are as many."""

    def together(count: int) -> list[str]:
        lines = []
        for i in range(count):
            lines += [f"e = I(k + I({i} * {stride}))", *values.one]
        return [*lines, f"k = I(k + I({count} * {stride}))"]

    return [
        *values.begin(),
        f"while k < I(end - I(3 * {stride})):",
        *indented(together(4)),
        f"if k < I(end - {stride}):",
        *indented(together(2)),
        "while k < end:",
        *indented(together(1)),
    ]


def _lanes(values: Values, lanes: int) -> list[str]:
    """Lower for short lists: one lane per edge, so that all loads of a vertex are in flight at once."""
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
        *indented(values.begin()),
        "    while k < end:",
        "        e = k",
        *indented(values.one, 2),
        f"        k = I(k + I({lanes}))",
        f"    {values.together('lanes', str(lanes))}",
        "    if part == 0 and i < total:",
        f"        into[x] = {values.store}",
        f"    first += (W >> 5) * {32 // lanes}",
        "if tracing:",
        "    add_up(C, slot, EXAMINED, examined)",
    ]


def _lists(values: Values, longer: list[str], b: CudaProgram) -> list[str]:
    """A lane for a list, ``longer`` lines for those of a warp's lists that are not short; without them all are."""
    short = f"i < last and I(stop - begin_) < I({WARP})" if longer else "i < last"
    each = [
        "i = first + lane",
        "mine = np.int64(0)",
        "begin_ = I(0)",
        "stop = I(0)",
        "if i < last:",
        "    mine = element_at(queue, everything, i)",
        "    begin_ = I(offsets[mine])",
        "    stop = I(offsets[mine + 1])",
        "    examined += stop - begin_",
        f"short = {short}",
        "if short:",
        "    x = mine",
        "    k = begin_",
        "    end = stop",
        *indented(_walk(values, "I(1)")),
        f"    into[x] = {values.store}",
        *longer,
    ]
    head = ["lane = np.int32(w & 31)", "examined = np.int64(0)"]
    if longer and not b.build.bounded:
        loop = _dealt(each)
    else:
        loop = ["first = w - lane", "last = total", "while first < total:", *indented(each), "    first += W"]
    return [*head, *loop, "if tracing:", "    add_up(C, slot, EXAMINED, examined)"]


def _dealt(each: list[str]) -> list[str]:
    """Return a loop in which warps take pieces of the frontier; if there are many, they take them dynamically."""
    return [
        "warps = W >> 5",
        f"many = total > W << {MANY}",
        f"shift = np.int64({PIECE}) if many else np.int64(5)",
        "piece = (w - lane) >> 5",
        "while piece << shift < total:",
        "    first = piece << shift",
        "    last = min(total, first + (np.int64(1) << shift))",
        "    while first < last:",
        *indented(each, 2),
        "        first += 32",
        "    taken = np.int64(0)",
        "    if many and lane == 0:",
        "        taken = fetch_add(C, slot + CURSOR, np.int64(1))",
        "    piece = warps + np.int64(shuffle(taken, 0)) if many else piece + warps",
    ]


def _put_aside() -> list[str]:
    """The longest lists are left for a phase of their own."""
    return [
        "waits = i < last and not short",
        f"if waits and I(stop - begin_) >= I({BLOCK}):",
        "    at = fetch_add(C, slot + PILE_COUNT, np.int64(1))",
        "    if at < room:",  # always, unless vertices come twice, as they may after culling
        "        aside[at] = mine",
        "        waits = False",
    ]


def _warps(values: Values, paired: bool) -> list[str]:
    """The warp's own long lists: perhaps pairs of those that are not very long, then one by one."""
    return [
        *(pairs(values) if paired else []),
        "pending = ballot(waits)",
        "while pending != np.uint32(0):",
        "    leader = find_first(pending)",
        "    pending = np.uint32(pending & np.uint32(pending - np.uint32(1)))",
        "    x = np.int64(shuffle(mine, leader))",
        "    k = I(I(shuffle(begin_, leader)) + I(lane))",
        "    end = I(shuffle(stop, leader))",
        *indented(_walk(values, "I(32)")),
        f"    {values.together('warp')}",
        "    if lane == 0:",
        f"        into[x] = {values.store}",
    ]


def _blocks(values: Values) -> list[str]:
    """Return a loop over the lists that were put aside, of which each block takes the next unclaimed one."""
    memory = "float64_shared(WARPS)" if "float" in values.identity else "int64_shared(WARPS)"
    return [
        "taken = int32_shared(WORDS)",
        "stride = I(block_size())",
        "going = True",
        "while going:",
        "    sync()",
        "    if thread_index() == 0:",
        "        taken[0] = np.int32(fetch_add(C, slot + CURSOR, np.int64(1)))",
        "    sync()",
        "    at = np.int64(taken[0])",
        "    going = at < held",
        "    if going:",
        "        x = np.int64(aside[at])",
        "        k = I(I(offsets[x]) + I(thread_index()))",
        "        end = I(offsets[x + 1])",
        *indented(_walk(values, "stride"), 2),
        f"        {values.together('block', memory)}",
        "        if thread_index() == 0:",
        f"            into[x] = {values.store}",
    ]
