"""The words of a helper's mailbox, see :mod:`frontier.backends.cpu.teams`; this module must not import numba."""

from __future__ import annotations

__all__ = [
    "ASLEEP", "BYTES", "CALLED", "CAME", "FUNCTION", "IDLE", "MISSED", "NUMBER", "OPEN", "PATIENCE", "STATE", "TABLE",
    "TAKEN", "THREAD", "WAITED", "WORKERS", "WORTH",
]  # fmt: skip

#: What the state may be.
IDLE, ASLEEP, OPEN, TAKEN, WAITED = range(5)

# On a line of the cache for each way in which words are used: what is offered, and what the helper says of itself.
STATE = 0
FUNCTION, TABLE, NUMBER, WORKERS = 8, 9, 10, 11
#: Its thread's number in the system, and when it came, which is when it took up the first offer after it was woken.
THREAD, CAME = 16, 17
#: The owner's: work of phases with which it was not asked to help, from how much on it is asked again, and woken; and
#: when it was last woken.
MISSED, WORTH, PATIENCE, CALLED = 24, 25, 26, 27

BYTES = 256
