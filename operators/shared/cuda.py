"""Reductions on the GPU, with the user's functions too: among the lanes of a warp, the threads of a block, all blocks.

Each factory makes a function that combines values by the runtime's operation ``op`` or, if ``join`` is not None, by a
user's function: ``join(C, slot, a, b)``. All lanes, or all threads of the block, must call what is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.cuda.compile.runtime_words import MAX, MIN, OR, SUM, WARPS
from frontier.lowering.ir import Assign, Call, Node, Together, Value, Var
from frontier.lowering.kernels import Callee, Constant
from frontier.lowering.variables import FLOATS, SLOT, WORDS
from frontier.operators.shared.phases import combining, identity_of, join_of
from frontier.operators.shared.reductions import REDUCTIONS

if TYPE_CHECKING:
    from frontier.backends.cuda.device.machine import (
        block_index,
        block_size,
        num_blocks,
        shuffle,
        shuffle_down,
        sync,
        thread_index,
    )
    from frontier.backends.cuda.device.names import float64_shared, int64_shared
    from frontier.backends.cuda.device.reductions import (
        block_reduce,
        combine,
        keep_float,
        keep_int,
        lanes_reduce,
        partials,
        warp_reduce,
    )
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.builder import Functor
    from frontier.operators.shared.reductions import Reduction

__all__ = [
    "among_lanes", "collecting", "combined", "halves", "in_block", "in_warp", "keeping", "operation", "reduce_by",
    "two",
]  # fmt: skip

_NUMBERS = {"": 0, "SUM": SUM, "MIN": MIN, "MAX": MAX, "OR": OR}


def folded(op, first, second):
    """One step of two reductions by a warp: its lower half goes on with the first, its upper half with the second.

    All lanes call it.
    """
    lane = np.int32(thread_index() & np.int32(31))
    upper = lane >= np.int32(16)
    return combine(op, second if upper else first, shuffle(first if upper else second, np.int32(lane ^ np.int32(16))))


def operation(made: Reduction) -> int:
    """The runtime's number of the operation that combines partial results; 0 for reductions that users registered."""
    return _NUMBERS[made.runtime]


# ---- parts of kernels ------------------------------------------------------------------------------------


def two(op: int, join: Callee) -> Callable[..., Any]:
    """Combines two values."""
    own = join is not None

    def bring(C, slot, a, b):
        if own:
            return join(C, slot, a, b)
        return combine(op, a, b)

    return bring


def among_lanes(op: int, join: Callee) -> Callable[..., Any]:
    """Reduces each group of ``lanes`` lanes (a power of two); only the group's first lane gets the result."""
    own = join is not None

    def reduce(C, slot, value, lanes):
        if own:
            part = np.int32(thread_index() & np.int32(lanes - 1))
            d = np.int32(lanes >> 1)
            while d > np.int32(0):
                other = shuffle_down(value, d)
                if part < d:  # a user's function may raise, so it is not called for results that nobody reads
                    value = join(C, slot, value, other)
                d = np.int32(d >> np.int32(1))
            return value
        return lanes_reduce(op, value, lanes)

    return reduce


def in_warp(op: int, join: Callee) -> Callable[..., Any]:
    """Reduces the lanes of a warp; only lane 0 gets the result."""
    own, lanes = join is not None, among_lanes(op, join)

    def reduce(C, slot, value):
        if own:
            return lanes(C, slot, value, np.int32(32))
        return warp_reduce(op, value)

    return reduce


def halves(op: int, join: Callee) -> Callable[..., Any]:
    """One step of two reductions by a warp: its lower half goes on with the first, its upper half with the second."""
    own = join is not None

    def fold(C, slot, first, second):
        if own:
            lane = np.int32(thread_index() & np.int32(31))
            upper = lane >= np.int32(16)
            other = shuffle(first if upper else second, np.int32(lane ^ np.int32(16)))
            return join(C, slot, second if upper else first, other)
        return folded(op, first, second)

    return fold


def in_block(op: int, join: Callee) -> Callable[..., Any]:
    """Reduces the threads of a block; only thread 0 gets the result."""
    own = join is not None
    warp = in_warp(op, join)

    def reduce(C, slot, value, memory):
        if own:
            t = thread_index()
            value = warp(C, slot, value)
            sync()
            if (t & np.int32(31)) == np.int32(0):
                memory[t >> np.int32(5)] = value
            sync()
            if t == np.int32(0):
                for i in range(1, block_size() >> np.int32(5)):
                    value = join(C, slot, value, memory[i])
            return value
        return block_reduce(op, value, memory)

    return reduce


def keeping(op: int, join: Callee, real: bool) -> Callable[..., Any]:
    """Stores the block's result where all blocks can read it: in the slot's row."""
    own = join is not None
    block = in_block(op, join)

    def keep(C, F, slot, value):
        if own:
            if real:
                value = block(C, slot, np.float64(value), float64_shared(WARPS))
                if thread_index() == np.int32(0):
                    F[partials(slot) + block_index()] = value
            else:
                value = block(C, slot, np.int64(value), int64_shared(WARPS))
                if thread_index() == np.int32(0):
                    C[partials(slot) + block_index()] = value
        elif real:
            keep_float(F, slot, op, value)
        else:
            keep_int(C, slot, op, value)

    return keep


def bringing(join: Callee, identity: float, real: bool) -> Callable[..., Any]:
    """The first warp combines the blocks' results in the slot ``before``, always in the same order."""
    warp = in_warp(0, join)

    def phase(p, C, slot, w, W, before, F):
        if w < 32:
            value = np.float64(identity) if real else np.int64(identity)
            i = w
            while i < num_blocks():
                kept = F[partials(before) + i] if real else C[partials(before) + i]
                value = join(C, slot, value, kept)
                i += 32
            value = warp(C, slot, value)
            if w == 0:
                if real:
                    F[partials(slot)] = value
                else:
                    C[partials(slot)] = value

    return phase


# ---- lowering --------------------------------------------------------------------------------------------


def reduce_by(
    b: CudaProgram, call: Call, made: Reduction, into: str, title: str, fn: Functor, constants: dict[str, Constant]
) -> None:
    """Add a phase in which blocks keep results, and what combines these in their order into a scalar."""
    real = bool(constants["real"])
    if made.runtime:
        b.phase(call, combined(b, SLOT, made.name, into, real), title, [fn])
        return
    before = b.variable("before")
    b.phase(call, [Assign(before, SLOT)], title, [fn])
    # A user's function may raise. If that happens in a phase, all blocks learn of it and end together.
    given: dict[str, Value] = {"before": before, "F": FLOATS if real else 0}
    parts = {name: constants[name] for name in ("join", "identity", "real")}
    joined = b.kernel(f"combine_{made.combine.__name__}", bringing, given, **parts)
    result = b.local("result", "float64" if real else "int64", f"the {made.name} of the blocks' results")
    kept = Call("kept_float", FLOATS, SLOT) if real else Call("kept_int", WORDS, SLOT)
    after = [Together(result, kept), b.assign(into, result)]
    b.phase(joined, after, f"combine the {b.sharers}' results: {made.name}")


def combined(b: CudaProgram, slot: Var, op: str, into: str, real: bool) -> list[Node]:
    """Nodes after a phase in which blocks kept results of a shipped reduction: they combine these into a scalar."""
    dtype = b.layout.dtype(into)
    function, memory = ("combined_float", FLOATS) if real else ("combined_int", WORDS)
    result = b.local("result", "float64" if real else "int64", f"the {op} of the blocks' results")
    call = Call(function, memory, slot, Var(REDUCTIONS[op].runtime), identity_of(op, dtype))
    return [Together(result, call), b.assign(into, result)]


def collecting(b: CudaProgram, made: Reduction, dtype: str) -> dict[str, Constant]:
    """Constants ``add``, ``identity`` and ``real`` of a reduction, and ``op`` and ``join`` for its results."""
    return combining(b, made, dtype) | {"op": operation(made), "join": join_of(b, made, dtype)}
