"""Intersect on the GPU: the entries of the shorter of an edge's two lists are looked up in the longer one.

A warp takes 32 edges, concatenates their shorter lists and assigns consecutive entries to its lanes, so no lane waits
for a longer list of another. Edges whose shorter list is long as well, between two hubs, are left to a second
traversal, in which a whole block processes one. There, neighbouring edges go to different blocks, because edges of hubs
are adjacent.

If the frontier contains all edges, those of a vertex with a long list are done together, by a table of its entries
(:mod:`frontier.operators.intersect.cuda_table`), and this leaves them out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.functors.functor import arguments
from frontier.lowering.ir import Call
from frontier.lowering.kernels import Callee, Constant, Made
from frontier.lowering.phases import VALUE
from frontier.lowering.variables import FLOATS
from frontier.operators.intersect.cuda_table import calling, tabled, tabling
from frontier.operators.shared.cuda import collecting, keeping, reduce_by
from frontier.operators.shared.phases import frontier

if TYPE_CHECKING:
    from frontier.backends.cuda.compile.runtime_words import CURSOR, WARPS
    from frontier.backends.cuda.device.appends import element_at
    from frontier.backends.cuda.device.machine import (
        ballot,
        block_index,
        block_size,
        fetch_add,
        find_first,
        num_blocks,
        shuffle,
        sync,
        sync_or,
        thread_index,
    )
    from frontier.backends.cuda.device.names import I, uint32_shared
    from frontier.backends.cuda.device.reductions import inclusive_scan
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.intersect import Intersect

__all__ = ["lower"]

#: Length of the shorter list beyond which a block processes it; low-degree variants have no longer lists.
LONG = 1024


def next_elements(C, slot, W):
    """The position of the next 32 elements that no warp has taken; the first W are assigned. All lanes call it."""
    taken = np.int64(0)
    if np.int32(thread_index() & np.int32(31)) == np.int32(0):
        taken = fetch_add(C, slot + CURSOR, np.int64(32))
    return np.int64(W) + np.int64(shuffle(taken, 0))


def owner(begun, at):
    """The last lane whose items begin at or before position ``at``; lanes ask for different ones. All lanes call it."""
    found = np.int32(0)
    for d in (16, 8, 4, 2, 1):
        probe = np.int32(found + np.int32(d))
        if np.int32(shuffle(begun, probe)) <= at:
            found = probe
    return found


def intersecting(
    pairs: Callee,
    identity: float,
    real: bool,
    op: int,
    join: Callee,
    reduces: bool,
    fixed: bool,
    bounded: bool,
    u_named: bool,
    v_named: bool,
    tables: Callee,
) -> Callable[..., Any]:
    """Calls the functor for every pair of slots with the same far end in the two lists of an edge (u, v)."""
    keep = keeping(op, join, real)
    has_tables = tables is not None

    def of_edge(sources, targets, offsets, everything, x):
        """Beginning and end of the shorter of an edge's two lists, and of the longer; whether the shorter is v's.

        The shorter one is empty if the edge has been left to tables.
        """
        u = np.int64(sources[x])
        v = np.int64(targets[x])
        near = I(offsets[u])
        near_end = I(offsets[u + 1])
        far = I(offsets[v])
        far_end = I(offsets[v + 1])
        if has_tables and everything and tabled(I(near_end - near), I(far_end - far)):
            near_end = near
        turned = I(near_end - near) > I(far_end - far)
        if turned:
            near, far = far, near
            near_end, far_end = far_end, near_end
        return near, near_end, far, far_end, turned

    def phase(p, C, slot, w, W, everything, queue, total, n, sources, lists, F):
        offsets, targets = lists.offsets, lists.ends
        result = np.float64(identity) if real else np.int64(identity)
        if has_tables and everything:
            result = tables(p, C, slot, n, offsets, targets, result)
        lane = np.int32(w & 31)
        first = w - lane
        while first < total:
            # A warp takes 32 edges; begun is where those of the lane's shorter list begin in the row of all entries.
            i = first + lane
            mine = np.int64(0)
            length = np.int32(0)
            turned = False
            near = I(0)
            far = I(0)
            far_end = I(0)
            if i < total:
                mine = element_at(queue, everything, i)
                near, near_end, far, far_end, turned = of_edge(sources, targets, offsets, everything, mine)
                if bounded or I(near_end - near) <= I(LONG):
                    length = np.int32(near_end - near)
            upto = inclusive_scan(length, lane)
            begun = np.int32(upto - length)
            entries = np.int32(shuffle(upto, 31))
            base = I(near - I(begun))
            its_far = far
            its_end = far_end
            turns = ballot(turned)
            done = np.int32(0)
            while done < entries:
                at = np.int32(done + lane)
                j = owner(begun, at)
                x = np.int64(shuffle(mine, j))
                k = I(I(shuffle(base, j)) + I(at))
                far = I(shuffle(its_far, j))
                far_end = I(shuffle(its_end, j))
                turned = np.uint32(np.uint32(turns >> np.uint32(j)) & np.uint32(1)) != np.uint32(0)
                if at < entries:
                    u = np.int64(sources[x]) if u_named else 0
                    v = np.int64(targets[x]) if v_named else 0
                    result = pairs(p, C, slot, targets, u, v, x, k, far, far_end, turned, result)
                done = np.int32(done + np.int32(32))
            if fixed:  # sums of floats depend on which thread adds what, so that must be the same in every run
                first += W
            else:
                first = next_elements(C, slot, W)
        if not bounded:
            # Blocks go over all edges again, and process those that the warps have left with all of their threads.
            t = thread_index()
            blocks = np.int64(num_blocks())
            masks = uint32_shared(WARPS)
            begin = np.int64(block_index())
            while begin < total:
                i = begin + t * blocks
                waits = False
                if i < total:
                    x = element_at(queue, everything, i)
                    near, near_end, far, far_end, turned = of_edge(sources, targets, offsets, everything, x)
                    waits = I(near_end - near) > I(LONG)
                votes = ballot(waits)
                if lane == 0:
                    masks[t >> 5] = votes
                if sync_or(waits):
                    for q in range(block_size() >> 5):
                        pending = np.uint32(masks[q])
                        while pending != np.uint32(0):
                            j = np.int32(32 * q + find_first(pending))
                            pending = np.uint32(pending & np.uint32(pending - np.uint32(1)))
                            x = element_at(queue, everything, begin + j * blocks)
                            near, near_end, far, far_end, turned = of_edge(sources, targets, offsets, everything, x)
                            u = np.int64(sources[x]) if u_named else 0
                            v = np.int64(targets[x]) if v_named else 0
                            k = I(near + I(t))
                            while k < near_end:
                                result = pairs(p, C, slot, targets, u, v, x, k, far, far_end, turned, result)
                                k = I(k + I(block_size()))
                    sync()
                begin += block_size() * blocks
        if reduces:
            keep(C, F, slot, result)

    return phase


def finding(call: Callee) -> Callable[..., Any]:
    """Return a function that searches slot ``k`` of the shorter list in the longer one, and calls the functor."""

    def pairs(p, C, slot, targets, u, v, x, k, far, far_end, turned, result):
        common = np.int64(targets[k])
        low = far
        high = far_end
        while low < high:
            middle = I(low + I(I(high - low) >> I(1)))
            if np.int64(targets[middle]) < common:
                low = I(middle + I(1))
            else:
                high = middle
        while low < far_end and np.int64(targets[low]) == common:
            uw = np.int64(low if turned else k)
            vw = np.int64(k if turned else low)
            result = call(p, C, slot, u, v, common, x, uw, vw, result)
            low = I(low + I(1))
        return result

    return pairs


def lower(step: Intersect, b: CudaProgram, current: FrontierState) -> None:
    """Add the phase, which calls the functor, and reduces what it returns if the step does."""
    given = frontier(b, current, "edge")
    given["sources"] = b.sources()
    given["lists"] = Call("Lists", *b.lists("out"), 0, 0)
    names = arguments(step.fn, "common")
    reduces = step.op is not None and step.into is not None
    add: Constant = None
    constants: dict[str, Constant] = {"identity": 0, "real": False, "op": 0, "join": None}
    fixed = False
    if step.reduction is not None and step.into is not None:
        dtype = b.layout.dtype(step.into)
        constants = collecting(b, step.reduction, dtype)
        add = constants.pop("add")
        fixed = bool(constants["real"]) or np.dtype(dtype).kind not in step.reduction.exact
        if constants["real"]:
            given["F"] = FLOATS
    value = b.calling(step.fn, "common", ("u", "v", "w", "uv", "uw", "vw"), VALUE if reduces else "")
    call = Made(calling, {"value": value, "add": add})
    pairs = Made(finding, {"call": call})
    tables: Constant = None
    if not b.low_degree:
        b.scratch = True
        given["n"] = b.capacity("vertex")
        named = {"uw_named": "uw" in names, "v_named": "v" in names, "wide": b.layout.ids == "int64"}
        tables = Made(tabling, {"pairs": pairs, "call": call, **named})
    constants |= {
        "pairs": pairs,
        "tables": tables,
        "reduces": reduces,
        "fixed": fixed,
        "bounded": b.low_degree or b.build.bounded,
        "u_named": "u" in names,
        "v_named": "v" in names,
    }
    made = b.kernel(f"intersect_{step.fn.__name__}", intersecting, given, **constants)
    title = "intersect: find the common neighbours of both ends"
    if step.reduction is not None and step.into is not None:
        reduce_by(b, made, step.reduction, step.into, title, step.fn, constants)
    else:
        b.phase(made, (), title, [step.fn])
