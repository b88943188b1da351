"""Push, balance ``degree_classes``: four queues by degree; a vertex is processed by a thread, warp, block or the grid.

One phase sorts the frontier into the queues, and a second processes them, the longest lists first. This is Enterprise's
workload balancing (Liu and Huang, SC 2015); its four concurrent kernels are parts of one phase here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.cuda.compile.runtime_words import COUNT, EXAMINED, MORE
from frontier.lowering.frontier_state import pushed_by
from frontier.lowering.inputs import Buffer
from frontier.lowering.ir import Assign, Counter, Value, Var
from frontier.lowering.kernels import Callee, Made
from frontier.operators.advance.ablations.block import list_of, own_items, parts, walking
from frontier.operators.advance.cpu import merge_path
from frontier.operators.advance.cuda.edges import Edge, finish
from frontier.operators.shared.phases import elements
from frontier.program.registered import register_balance

if TYPE_CHECKING:
    from frontier.backends.cuda.device.collectives import block_prefix, share_of_block
    from frontier.backends.cuda.device.machine import (
        any_lane,
        block_index,
        block_size,
        fetch_add,
        num_blocks,
        sync,
        thread_index,
    )
    from frontier.backends.cuda.device.names import I, int64_shared, tracing
    from frontier.backends.cuda.device.reductions import add_up
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.advance import Advance

__all__ = ["lower"]

#: Degrees from which on a list is processed by a warp, by a block, by all blocks.
WARP, BLOCK, GRID = 32, 256, 65536


# Two arrays hold two queues each, one from the front and one from the back: together they have no more elements than
# the frontier.


def class_places(C, slot, kind):
    """Reserve a place for each thread's element in the queue of its class, ``kind``. All threads call it.

    Classes are 0 to 3; a negative one stands for no element. They are counted in the words COUNT, EXAMINED and the two
    after that.
    """
    t = thread_index()
    base = int64_shared(MORE)
    mine = np.int64(0)
    if kind >= np.int32(0):
        mine = np.int64(1) << np.int64(16 * kind)  # a block has fewer than 2**16 threads: one sum counts all four
    before, every = block_prefix(True, mine)
    if t < np.int32(4):
        many = (every >> np.int64(16 * t)) & 0xFFFF
        if many > 0:
            word = np.int64(COUNT) if t == np.int32(0) else np.int64(EXAMINED + t - 1)
            base[t] = fetch_add(C, slot + word, many)
    sync()
    place = np.int64(0)
    if kind >= np.int32(0):
        place = base[kind] + ((before >> np.int64(16 * kind)) & 0xFFFF)
    sync()
    return place


def classifying() -> Callable[..., Any]:
    """Sorts the frontier into the queues."""

    def phase(p, C, slot, w, W, everything, queue, total, offsets, small, large, n):
        t = thread_index()
        many = share_of_block(total)
        first = block_index() * many
        while first < total:
            mine, begin, stop = list_of(queue, everything, total, offsets, first + t, many, t)
            degree = I(stop - begin)
            kind = np.int32(-1)
            if degree > I(0):
                kind = np.int32(np.int32(degree >= I(WARP)) + np.int32(degree >= I(BLOCK)))
                kind = np.int32(kind + np.int32(degree >= I(GRID)))
            place = class_places(C, slot, kind)
            if kind == 0:
                small[place] = mine
            elif kind == 1:
                small[n - place] = mine
            elif kind == 2:
                large[place] = mine
            elif kind == 3:
                large[n - place] = mine
            first += many * num_blocks()

    return phase


def pushing(collect: Callee, walk: Callee, end: Callee) -> Callable[..., Any]:
    """Processes the three classes of long lists, the longest first, then the short ones, one per lane."""

    def phase(p, C, slot, w, W, small, large, n, many0, many1, many2, many3, lists, out):
        t = thread_index()
        lane = np.int32(t & np.int32(31))
        held = own_items(t)
        fill = np.int32(0)
        examined = np.int64(0)
        for turn in (3, 2, 1):
            # The class's queue, and what processes one of its lists: the grid, a block or a warp. One loop serves all
            # three classes, so that the functor is compiled only once.
            if turn == 3:
                many, q, step = many3, np.int64(0), np.int64(1)
                number, stride = w - lane, np.int64(W)
            elif turn == 2:
                many, q, step = many2, np.int64(block_index()), np.int64(num_blocks())
                number, stride = np.int64(t - lane), np.int64(block_size())
            else:
                many, q, step = many1, np.int64((w - lane) >> 5), np.int64(W >> 5)
                number, stride = np.int64(0), np.int64(32)
            while q < many:
                x = np.int64(small[n - q]) if turn == 1 else np.int64(large[q if turn == 2 else n - q])
                at = np.int64(lists.offsets[x])
                last = np.int64(lists.offsets[x + 1])
                if number == 0 and lane == 0:
                    examined += last - at
                fill = walk(p, C, slot, lists, out, held, fill, lane, x, at, last, number, stride)
                q += step
        first = w - lane
        while first < many0:
            x = np.int64(0)
            k = np.int64(0)
            last = np.int64(0)
            if first + lane < many0:
                x = np.int64(small[first + lane])
                k = np.int64(lists.offsets[x])
                last = np.int64(lists.offsets[x + 1])
            examined += last - k
            while any_lane(k < last):
                fill = collect(p, C, slot, lists, out, held, fill, k < last, x, k)
                k += 1
            first += W
        end(C, slot, out, held, fill)
        if tracing:
            add_up(C, slot, EXAMINED, examined)

    return phase


def lower(step: Advance, b: CudaProgram, source: FrontierState, target: FrontierState, next_scan: str) -> None:
    """Add the phases that push along all edges of ``source`` and append to ``target``."""
    queues: dict[str, Value] = {
        "small": b.array("classes_small", Buffer("vertex_queue"), b.layout.ids),
        "large": b.array("classes_large", Buffer("vertex_queue"), b.layout.ids),
        "n": b.capacity("vertex"),
    }
    counts = _classify(step, b, source, queues)
    edge = Edge.of(step, b, target, next_scan)
    collect, end = parts(edge, b)
    given = queues | {"lists": edge.lists, "out": edge.out} | {f"many{i}": each for i, each in enumerate(counts)}
    walk = Made(walking, {"collect": collect})
    made = b.kernel(f"push_{step.fn.__name__}", pushing, given, collect=collect, walk=walk, end=end)
    finish(step, b, made, source, target, edge.next_scan, Counter("EXAMINED"), pushed_by("degree_classes"))


def _classify(step: Advance, b: CudaProgram, source: FrontierState, queues: dict[str, Value]) -> list[Var]:
    """Add the phase that writes the queues; the variables that hold their lengths."""
    given = elements(b, source, "vertex") | queues | {"offsets": b.lists(step.edges)[0]}
    counts = [b.variable("members") for _ in range(4)]
    words = ("COUNT", "EXAMINED", "PILE_COUNT", "CURSOR")
    after = [Assign(count, Counter(word)) for count, word in zip(counts, words, strict=True)]
    made = b.kernel(f"classes_{step.fn.__name__}", classifying, given)
    b.phase(made, after, "sort the frontier by degree")
    return counts


register_balance("degree_classes", "cuda", lower)
register_balance("degree_classes", "cpu", merge_path.lower, scanned=True)  # a CPU has no such groups of threads
