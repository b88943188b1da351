"""``queue="scan"``: accepted vertices are only stamped, and a second phase makes the next queue of the stamps.

This removes duplicates for free, but goes over all vertices (Liu and Huang: Enterprise, SC 2015). For pulls,
``queue="scan"`` means a queue that shrinks: see ``shrink.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from frontier.lowering.ir import Assign, Call, Expr, Node, Together, Value, Var, both, cast, no
from frontier.lowering.variables import SLOT, WORDS, WORKER, WORKERS
from frontier.operators.advance.cuda.edges import Dedup, next_epoch, stamps
from frontier.operators.elementwise.cuda import queue_of

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.frontier_state import FrontierState

__all__ = ["MARK", "list_marks"]


def taking() -> Callable[..., Any]:
    """Return the test, which marks the item, and lets nothing be appended."""

    def take(out, item, stamped):
        out.stamps[item] = out.epoch
        return False

    return take


def _after(b: CudaProgram, source: FrontierState, target: FrontierState, next_scan: str) -> None:
    large = both(no(b.frontiers.unscanned(source)), source.edges > (b.capacity("vertex") >> 2))
    list_marks(b, target, next_scan, large if b.written(next_scan) else None)


def list_marks(b: CudaProgram, target: FrontierState, next_scan: str, large: Expr | None) -> None:
    """Make the next queue of the vertices that are stamped with the present epoch.

    As a rule, warps go over the stamps side by side, which leaves the queue unordered. Where ``large`` holds, each
    block goes over a contiguous piece of them, which leaves it in order; that takes another phase, in which blocks
    count.
    """
    made, next_scan = queue_of(b, target, "vertex", next_scan)
    queue, scan, capacity, degrees, *_ = made.arguments
    out = (queue, scan, b.mode(next_scan), degrees, capacity)
    if large is None:
        _marks_by_warps(b, target, next_scan, out)
        return
    with b.when(large) as branch:
        _marks_by_blocks(b, target, next_scan, out)
    with b.otherwise(branch):
        _marks_by_warps(b, target, next_scan, out)


def _stamps(b: CudaProgram) -> tuple[Value, ...]:
    """The stamps, the present epoch, and how many stamps there are."""
    return *stamps(b).values(), b.capacity("vertex")


def _marks_by_blocks(b: CudaProgram, target: FrontierState, next_scan: str, out: tuple[Value, ...]) -> None:
    before, found = b.variable("before"), b.variable("found")
    counted = [
        Assign(before, SLOT),
        Together(found, Call("combined_int", WORDS, SLOT, Var("SUM"), 0)),
    ]
    b.phase(Call("count_marks", WORDS, SLOT, *_stamps(b), out[3]), counted, "count the marks")
    after: list[Node] = [
        *b.frontiers.produced(target, "vertex", next_scan),
        Assign(target.count, found & 0xFFFFFFFF),
        Assign(target.edges, found >> 32),
    ]
    b.phase(Call("write_marks", WORDS, SLOT, before, *_stamps(b), *out), after, "list the marked vertices in order")


def _marks_by_warps(b: CudaProgram, target: FrontierState, next_scan: str, out: tuple[Value, ...]) -> None:
    b.scratch = True
    size = 8 if b.layout.ids == "int64" else 4
    warp = Call("thread_index") >> cast("int32", 5)
    held = Call(f"{b.layout.ids}_shared", Var("FREE") + size * Call("part_of_warp") * warp)
    call = Call("queue_of_marks", WORDS, SLOT, b.big, WORKER, WORKERS, *_stamps(b), *out, held)
    b.phase(call, b.frontiers.produced(target, "vertex", next_scan), "list the marked vertices")


MARK = Dedup(
    chosen=lambda step, b: b.schedule.queue == "scan",
    taking=taking,
    given=stamps,
    before=next_epoch,
    after=_after,
    appends=False,
)
