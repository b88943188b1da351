"""Phases that several threads share: how the thread that runs a loop asks helpers for help, and how these wait for it.

The thread that has called the loop function, its *owner*, executes everything between phases. A phase with little work
it executes alone, and no other thread learns of it. A larger one is divided into *shares*: the owner writes the loop's
variables to the table, and offers the phase to its helpers. Whoever is free takes the next share. So a helper that
comes late, because another process has its core, finds less to do, or nothing, and nobody waits for it: the owner waits
only for those that have taken up the offer. All shares are executed, whoever does it, so what a phase computes does not
depend on which threads came.

A helper has a *mailbox*, which is its own for as long as its thread lives. Its state, and who changes it:

======  ==========================================================
IDLE    the helper looks at it again and again, for a short time
ASLEEP  (helper) it sleeps, until it is woken
OPEN    (owner) an offer; the owner may also take it back
TAKEN   (helper) it executes shares of the phase
WAITED  (owner) the same, and the owner sleeps until it is done
======  ==========================================================
"""

from __future__ import annotations

import numpy as np

from frontier.backends.cpu.intrinsics import (
    POINTERS,
    call_loop,
    clock,
    compare_exchange,
    fetch_add,
    load_acquire,
    sleep_while,
    store_release,
    time_of,
    wake,
)
from frontier.backends.cpu.mailbox import (
    ASLEEP,
    CALLED,
    CAME,
    FUNCTION,
    IDLE,
    MISSED,
    NUMBER,
    OPEN,
    PATIENCE,
    STATE,
    TABLE,
    TAKEN,
    THREAD,
    WAITED,
    WORKERS,
    WORTH,
)
from frontier.backends.cpu.runtime_words import ASKED, GRAIN, HELPERS, MAILBOXES, SHARE, SHARES, SINCE, WAKING, WOKEN
from frontier.compile.translation.texts import gives

__all__ = ["next_share", "offer", "serve", "shares_of"]

int64_at = POINTERS["int64"]

#: Nanoseconds for which a thread that waits looks again and again, before it sleeps.
SPIN = 20_000
#: A helper that came later than this after it was woken, or not at all, has no core of its own. It is next woken for
#: twice as much work, at most for so many times the usual.
SOON, MOST = 200_000, 256
#: For each nanosecond that a helper without a core has held up the owner, it is not asked for so much work: a phase of
#: microseconds is not worth waiting for milliseconds, so where there are too few cores the owner mostly works alone.
DEAR = 4
#: The most nanoseconds that count.
LONG = 20_000_000


@gives("int64")
def shares_of(C, work, workers):
    """Into how many shares a phase is divided: a worker with less than a grain of work costs more than it helps."""
    if workers == 1:
        return 1
    return max(min(work // C[GRAIN], workers), 1)


@gives()
def offer(C, work, W, workers, function, table):
    """Ask for help with a phase of W shares."""
    C[ASKED] += 1
    C[SHARES] = W
    C[SINCE] = clock()
    for i in range(min(W - 1, C[HELPERS])):
        box = int64_at(C[MAILBOXES + i])
        box[MISSED] += work
        if box[MISSED] >= box[WORTH]:
            box[FUNCTION] = function
            box[TABLE] = table
            box[NUMBER] = i + 1
            box[WORKERS] = workers
            if compare_exchange(box, STATE, IDLE, OPEN) == IDLE:
                box[MISSED], box[WORTH] = 0, 0
            elif box[MISSED] >= max(box[PATIENCE], C[WAKING]):
                call(C, box)


@gives()
def call(C, box):
    """Wake a helper that sleeps, when enough has been done without it to make up for that."""
    late = box[CAME] < box[CALLED] or box[CAME] > box[CALLED] + SOON
    box[PATIENCE] = min(2 * max(box[PATIENCE], C[WAKING]), MOST * C[WAKING]) if late else 0
    box[CALLED] = clock()
    box[MISSED], box[WORTH] = 0, 0
    C[WOKEN] += 1
    if compare_exchange(box, STATE, ASLEEP, OPEN) == ASLEEP:
        wake(box, STATE)


@gives("int64")
def next_share(C, slot, own, W):
    """A share of the phase that nobody executes yet; -1 if there is none, and for the owner all have been executed."""
    if W == 1:
        return -1
    share = fetch_add(C, slot + SHARE, 1) + 1
    if share < W:
        return share
    if own == 0:
        gather(C, W)
    return -1


@gives()
def gather(C, W):
    """Take back what nobody has taken up, and wait for those that have."""
    for i in range(min(W - 1, C[HELPERS])):
        box = int64_at(C[MAILBOXES + i])
        state = load_acquire(box, STATE)
        if state == OPEN:
            compare_exchange(box, STATE, OPEN, IDLE)
            state = load_acquire(box, STATE)
        if state >= TAKEN:
            wait_for(C, box)


@gives()
def wait_for(C, box):
    """Wait for a helper; note for how long it had no core, beyond what it may have saved."""
    spins, begun = 0, clock()
    until = begun + SPIN
    worked = np.int64(-1)
    while load_acquire(box, STATE) >= TAKEN:
        spins += 1
        if (spins & 63) == 0 and clock() > until:
            if worked < 0:
                worked = time_of(box[THREAD])
            compare_exchange(box, STATE, TAKEN, WAITED)
            sleep_while(box, STATE, WAITED)
    if worked >= 0:
        waited = clock() - until
        lost = waited - (time_of(box[THREAD]) - worked) - (begun - C[SINCE])
        if lost > 0:
            box[WORTH] += DEAR * min(lost, LONG)


@gives()
def serve(address, unused, none):
    """What the thread of a helper does for ever; ``address`` is that of its mailbox."""
    box = int64_at(address)
    while True:
        spins, until = 0, clock() + SPIN
        while load_acquire(box, STATE) != OPEN:
            spins += 1
            if (spins & 63) == 0 and clock() > until:
                compare_exchange(box, STATE, IDLE, ASLEEP)
                sleep_while(box, STATE, ASLEEP)
                if load_acquire(box, STATE) != ASLEEP:
                    until = clock() + SPIN
        if compare_exchange(box, STATE, OPEN, TAKEN) == OPEN:
            if box[CAME] < box[CALLED]:
                box[CAME] = clock()
            call_loop(box[FUNCTION], box[TABLE], box[NUMBER], box[WORKERS])
            if compare_exchange(box, STATE, TAKEN, IDLE) != TAKEN:
                store_release(box, STATE, IDLE)
                wake(box, STATE)
