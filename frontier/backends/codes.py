"""Numbers on which loop functions and the host agree, on every backend."""

#: Ends of a run: the reasons why a loop function returns.
DONE, PAUSED, UNCONVERGED, NEED_IN_EDGES, CLAIMED_TWICE, BAD_VERTEX, RECORD_FULL, SINGLE, WRONG_KIND = range(9)

#: Words of a row of a trace: step, pass, direction, in, out, edges, nanoseconds, form.
ROW = 8
#: Words of a step's sums, before the rows: calls, edges, nanoseconds.
SUMS = 3
