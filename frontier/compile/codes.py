"""Numbers by which loop functions and the host communicate, on every backend."""

#: Ends of a run: the reasons why a loop function returns.
DONE, PAUSED, UNCONVERGED, NEED_IN_EDGES, CLAIMED_TWICE, BAD_VERTEX, RECORD_FULL, SINGLE, WRONG_KIND = range(9)
#: The run has reached deferred code, see ``Builder.defer``.
NEED_CODE = 9
#: A functor has raised; a bit of its own, for in one phase other things may go wrong too.
FUNCTOR_FAILED = 16
#: On the CPU, not the end of a run: other threads are to help with the next phase.
TOGETHER = 10

#: Words of the counters, before the slots, in which the first functor that raises is reported: its number plus 1, why,
#: and for an index or a number that does not fit, the field's number, the index, and the number.
FAILED, REASON, FIELD, INDEX, NUMBER = range(1, 6)
#: On the CPU: the moment from which on checked functors stop by themselves, in nanoseconds of the monotonic clock.
EXPIRES = 6
#: Reasons other than exceptions: a functor returned nothing where a number was expected; a check has failed; it is
#: late.
NOTHING, OUTSIDE, OVERFLOW, EXPIRED = 1, 2, 3, 4

#: Words of a row of a trace: step, pass, direction, in, out, edges, nanoseconds, brought.
ROW = 8
#: Words of a step's sums, before the rows: calls, edges, nanoseconds, brought.
SUMS = 4

#: Locks of fields that change together; a place in the fields has that of its last bits.
LOCKS = 4096

#: Elements of a block. Where changed elements are marked, every block has a mark too, so that most can be passed over.
BLOCK_BITS = 8
BLOCK = 1 << BLOCK_BITS


def blocks(count: int) -> int:
    """The number of blocks of so many elements."""
    return -(-count // BLOCK)
