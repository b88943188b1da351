"""Frontiers on the GPU whose lists lie in the host's memory: in which order they are read, and whether where they lie.

What a pass over a part of the vertices costs is estimated in bytes, on the device and in every pass: lists that are
read where they lie, five thirds of their bytes; windows, all bytes of those that have any of these lists. (HyTGraph and
Subway choose like this between ways to transfer; there the host decides.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frontier.lowering.frontier_state import ALL, BITS
from frontier.lowering.inputs import Buffer
from frontier.lowering.ir import Assign, Call, Choice, Expr, Together, Value, Var, both, cast, equal, expression
from frontier.lowering.variables import EPOCH, SLOT, WORDS, WORKER, WORKERS, pointer

if TYPE_CHECKING:
    from frontier.backends.cuda.program import CudaProgram
    from frontier.lowering.frontier_state import FrontierState
    from frontier.operators.shared.cuda_stream import Stream

__all__ = ["nearly_ascending", "prepare_stream"]

#: A frontier of at most so many vertices is read as it is; one with more, and more than one of so many, in order. Lists
#: in no order are read at 4.8 GB/s, and in order at 30, if they are one of 25 (H100, 40 edges each); to put a frontier
#: in order takes 20 microseconds and the time of a bit for each vertex.
MANY, ONE_IN = 16384, 1024

#: For windows, one with more than one of so many is: then to go over all vertices takes a tenth of the time that its
#: lists do.
SPARSE = 256

#: Bytes that a stream brings in the time in which so many bytes of lists are read where they lie, in order: 55 and
#: 33 GB/s, whether lists have 16, 30 or 40 edges, and from one of three down to one of 30.
STREAMED, READ = 5, 3


def nearly_ascending(b: CudaProgram, current: FrontierState, scan: str) -> None:
    """Put a large frontier of vertices nearly in the order of ids, with a prefix sum of its degrees.

    Then its lists are read nearly as they lie, each line of the cache once. Where several GPUs share a step, its
    frontier comes from a bitmap, as a rule, and so is in order.
    """
    if b.frontiers.ascending or not _may_be_reordered(current):
        return
    with b.when(both(b.frontiers.other_than(current, BITS, ALL), _large(b, current, ONE_IN))):
        b.frontiers.bitmap(current, "uint32")
        b.frontiers.queue_of_bits(current, scan)


def prepare_stream(b: CudaProgram, current: FrontierState, stream: Stream, edges: str) -> Expr:
    """Choose whether windows are brought, put the frontier in order for them, and return whether they are.

    They are for all vertices, and for those whose lists cost more where they lie than the windows that have them.
    """
    chosen = b.variable("streams", "streams")
    b.set(stream.everything, 1 if current.whole else Choice(b.frontiers.all_of_its_own(current), 1, 0))
    b.set(chosen, stream.everything)
    if _may_be_reordered(current) and not current.whole:
        with b.when(both(equal(chosen, 0), _large(b, current, SPARSE))):
            _ascending(b, current)
            gain = b.variable("gain", "gain")
            estimating = Call(
                "gain_of_windows", WORDS, SLOT, WORKER, WORKERS, b.frontiers.queue(current, "vertex"), current.count,
                b.lists(edges)[0], stream.size, STREAMED, READ, *stream.costs(),
            )  # fmt: skip
            after = [
                Together(gain, Call("combined_int", WORDS, SLOT, Var("SUM"), 0)),
                Assign(chosen, Choice(gain > 0, 1, 0)),
            ]
            b.phase(estimating, after, "estimate what lists cost where they lie, and in windows")
    return chosen > 0


def _may_be_reordered(current: FrontierState) -> bool:
    """Whether a frontier can be written anew: not what a loop records, nor what has no memory for many."""
    return not (current.few or current.record)


def _large(b: CudaProgram, current: FrontierState, one_in: int) -> Expr:
    """Whether a frontier has many vertices, and more than one of so many of all."""
    return both(current.count > MANY, current.count > b.capacity("vertex") // one_in)


def _ascending(b: CudaProgram, current: FrontierState) -> None:
    """Put a frontier of vertices in the order of ids, exactly, so that each window has a range of it.

    The vertices are stamped, and listed in the order of the stamps. (From a bitmap, blocks append in any order.)
    """
    before, found, n = b.variable("before"), b.variable("found"), b.capacity("vertex")
    b.set(EPOCH, EPOCH + 1)
    stamps: tuple[Value, ...] = (b.array("stamps", Buffer("vertex_stamps"), "int32"), cast("int32", EPOCH))
    marks = b.divided("mark_queue", *stamps, b.frontiers.queue(current, "vertex"), current.count)
    b.phase(marks, title="mark the frontier")
    degrees = b.lists("out")[0]
    counted = [Assign(before, SLOT), Together(found, Call("combined_int", WORDS, SLOT, Var("SUM"), 0))]
    b.phase(Call("count_marks", WORDS, SLOT, *stamps, n, degrees), counted, "count the marks")
    queue, scan = b.frontiers.target(current, "vertex")
    written = pointer(b.layout.ids, queue), pointer(b.layout.offsets, scan), b.mode(""), degrees, n
    after = [
        *b.frontiers.produced(current, "vertex", ""),
        Assign(current.count, found & 0xFFFFFFFF),
        Assign(current.edges, expression(0)),
    ]
    b.phase(Call("write_marks", WORDS, SLOT, before, *stamps, n, *written), after, "list the marked vertices in order")
