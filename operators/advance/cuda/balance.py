"""Choose the load balancing of a push on the GPU, among two and the registered ones.

Each balance is a module with a function ``lower``, which adds its phases to the program; its arguments are those of
:func:`push`. Two calls prepare the frontier for it, by a phase of their own if that is necessary:
``b.frontiers.sparse`` makes a bitmap a queue of ids, and ``b.frontiers.scanned`` in addition computes the prefix sum of
the degrees unless the step before wrote it. A frontier that is everything stays as it is: no queue exists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.lowering.frontier_state import ALL
from frontier.lowering.ir import both
from frontier.operators.advance.cuda import merge_path, thread
from frontier.operators.advance.cuda.edges import deduplication
from frontier.operators.shared.cuda_far import nearly_ascending
from frontier.program.registered import registered_balance

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.advance import Advance

__all__ = ["push"]

#: A frontier of at most so many vertices, with so many edges each on average, is small.
SMALL, EDGES = 65536, 16

#: Name -> function that adds the phases, whether it needs the scan of the frontier's degrees.
OWN = {"thread": (thread.lower, False), "merge_path": (merge_path.lower, True)}


def push(step: Advance, b: CudaProgram, source: FrontierState, target: FrontierState, next_scan: str) -> None:
    """Add a push; on several GPUs, one of few edges may claim what it accepts at the owners.

    Parameters
    ----------
    step : Advance
    b : CudaProgram
        The program in the making, to which nodes are added. ``b.low_degree``: it is for graphs whose lists are all
        short; ``b.build.bounded``: for graphs on which a few lanes can process any list.
    source, target : FrontierState
        The variables of the frontier that is read, and of the one that is written: as a rule the same, since a frontier
        has two queues, which change roles after the phase.
    next_scan : {"out", "in", ""}
        Of which degrees the next step wants the prefix sum beside the ids of the new queue.
    """
    few = b.acceptance.few(step, source, target) if b.acceptance is not None else None
    if few is None:
        with b.locally(step, target):
            _push(step, b, source, target, next_scan)
        return
    b.frontiers.scanned(source, step.edges)
    with b.when(few) as branch, b.locally(step, target, "claim"):
        balance = thread if b.build.short and step.hold is None else merge_path
        balance.lower(step, b, source, target, "out")
    with b.otherwise(branch), b.locally(step, target):
        _push(step, b, source, target, next_scan)


def _push(step: Advance, b: CudaProgram, source: FrontierState, target: FrontierState, next_scan: str) -> None:
    """Add the phases of the schedule's balance; ``auto`` decides on the device, in every pass."""
    if b.build.streams:
        # In order, reading in place takes less time than windows of all lists, unless nearly all of them are wanted.
        nearly_ascending(b, source, step.edges)
    balance = b.schedule.balance
    if balance == "auto" and b.low_degree:
        balance = "thread"
    if balance != "auto":
        lower, scanned = registered_balance(balance, b.backend) or OWN[balance]
        if scanned:
            b.frontiers.scanned(source, step.edges)
        else:
            b.frontiers.sparse(source)
            if not b.low_degree and not step.may_pull(b.schedule) and deduplication(step, b) != "cull":
                next_scan = ""  # the next push of this step would not look at the scan either
        lower(step, b, source, target, next_scan)
        return
    b.frontiers.scanned(source, step.edges)
    if not b.build.bounded:
        merge_path.lower(step, b, source, target, next_scan)
        return
    small = both(source.count <= SMALL, source.edges <= EDGES * source.count, b.frontiers.other_than(source, ALL))
    with b.when(small) as branch:
        thread.lower(step, b, source, target, next_scan)
    with b.otherwise(branch):
        merge_path.lower(step, b, source, target, next_scan)
