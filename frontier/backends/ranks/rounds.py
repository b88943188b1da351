"""Rounds: what parts tell each other after a step, errors first.

In a round every part gives each other a *note* of fixed length, and a message if it has one. Short messages travel with
the note. If any part has a longer one, a second collective moves those. Notes say whether a part has failed, and at
which step it is, before anybody waits for something that will not come.
"""

from __future__ import annotations

import pickle
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.errors import FrontierError

if TYPE_CHECKING:
    from collections.abc import Callable

    from frontier.backends.interrupts import deferred
    from frontier.backends.ranks.communicators import Communicator

__all__ = ["Note", "Rounds", "common"]

#: Bytes of a note with what travels along, and of the note alone.
BLOCK, HEAD = 512, 136
#: Words of a note: the step, whether the part has failed or has noted Ctrl-C, lengths of its longest message and of the
#: one to the reader, how much it has changed; then nine counts (of a frontier and eight piles) and two scalars.
_STEP, _FAILED, _STOP, _LONGEST, _LENGTH, _CHANGED, _COUNTS, _SCALARS = 0, 1, 2, 3, 4, 5, 6, 15


@dataclass
class Note:
    """What a part says to all others in a round.

    Attributes
    ----------
    error : Exception, optional
        Why it cannot go on.
    changed : int
        How many elements it has changed or found.
    counts : list of int
        Sizes of its portions of frontiers.
    scalars : list of arrays of one element
    """

    error: Exception | None = None
    changed: int = 0
    counts: list[int] = field(default_factory=list)
    scalars: list[Any] = field(default_factory=list)

    def words(self) -> Any:
        """Return it as numbers of 64 bits."""
        made = np.zeros(HEAD // 8, np.int64)
        made[_FAILED], made[_CHANGED] = self.error is not None, self.changed
        made[_COUNTS : _COUNTS + len(self.counts)] = self.counts
        for at, value in enumerate(self.scalars, _SCALARS):
            made[at : at + 1].view(np.uint8)[: value.nbytes] = value.view(np.uint8)
        return made

    @classmethod
    def read(cls, words: Any, like: Note) -> Note:
        """Return the note of another part, with as many counts and scalars of the same dtypes as one's own."""
        counts = words[_COUNTS : _COUNTS + len(like.counts)].tolist()
        scalars = [words[at : at + 1].view(each.dtype)[:1] for at, each in enumerate(like.scalars, _SCALARS)]
        return cls(None, int(words[_CHANGED]), counts, scalars)


class Rounds:
    """The rounds of one part's run.

    Attributes
    ----------
    waited : float
        Seconds in the rounds so far.
    number : int
        How many there were.
    pressed : deferred, optional
        Ctrl-C as this part has noted it.
    stop : bool
        Whether some part had noted it in the last round, as all know.
    """

    def __init__(self, comm: Communicator) -> None:
        self.comm = comm
        self.waited = 0.0
        self.number = 0
        self.pressed: deferred | None = None
        self.stop = False

    def deal(self, note: Note, messages: list[bytes]) -> tuple[list[Note], list[Any]]:
        """Give every part a message of its own; what all have noted, and given this part, in the order of ranks."""
        return self._round(note, messages, lambda lengths: self.comm.dealt(messages, lengths))

    def share(self, note: Note, message: bytes) -> tuple[list[Note], list[Any]]:
        """Give every part the same message."""
        return self._round(note, [message] * self.comm.size, lambda lengths: self.comm.shared(message, lengths))

    def _round(
        self, note: Note, messages: list[bytes], move: Callable[[list[int]], list[Any]]
    ) -> tuple[list[Note], list[Any]]:
        comm = self.comm
        blocks = np.zeros((comm.size, BLOCK), np.uint8)
        words = blocks[:, :HEAD].view(np.int64)
        words[:] = note.words()
        words[:, _STEP] = self.number
        words[:, _STOP] = self.pressed is not None and self.pressed.pressed
        words[:, _LENGTH] = [len(each) for each in messages]
        words[:, _LONGEST] = longest = max(map(len, messages))
        if 0 < longest <= BLOCK - HEAD:
            for block, message in zip(blocks, messages, strict=True):
                block[HEAD : HEAD + len(message)] = np.frombuffer(message, np.uint8)
        begun = time.perf_counter()
        came = comm.blocks(blocks)
        told = came[:, :HEAD].view(np.int64)
        self.stop = bool(told[:, _STOP].any())
        if told[:, _FAILED].any():
            self._raise(note.error)
        if (told[:, _STEP] != self.number).any():
            raise common(FrontierError("the ranks are at different steps: they must run the same program"))
        self.number += 1
        comm.sent += sum(map(len, messages)) - len(messages[comm.rank])
        longest, lengths = int(told[:, _LONGEST].max()), told[:, _LENGTH].tolist()
        found = [block[HEAD : HEAD + length] for block, length in zip(came, lengths, strict=True)]
        if longest > BLOCK - HEAD:
            found = move(lengths)
        self.waited += time.perf_counter() - begun
        return [Note.read(each, note) for each in told], found

    def _raise(self, error: Exception | None) -> None:
        """Raise the error of the first part that has one, on all."""
        for rank, each in enumerate(self.comm.gather(None if error is None else _sendable(error))):
            if each is not None:
                each.add_note(f"(rank {rank} of {self.comm.size})")
                raise common(each)


def _sendable(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # whatever pickling may raise: then its text is sent
        return FrontierError(f"{type(error).__name__}: {error}")
    return error


def common(error: Any) -> Any:
    """Mark an error that all parts raise, so that it is printed once."""
    error.of_all_ranks = True
    return error
