"""Rounds: what parts tell each other after a step, errors first.

In a round every part gives each other a *note* of fixed length, and a message if it has one. Short messages travel with
the note. If any part has a longer one, a second collective moves those. Notes say whether a part has failed, and at
which step it is, before anybody waits for something that will not come.
"""

from __future__ import annotations

import pickle
import struct
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.errors import FrontierError

if TYPE_CHECKING:
    from collections.abc import Callable

    from frontier.backends.interrupts import deferred
    from frontier.backends.ranks.communicators import Communicator

__all__ = ["Note", "Rounds", "common", "met"]

#: A note: the number of the round, whether the part has failed or has noted Ctrl-C, lengths of its longest message and
#: of the one to the reader, how much it has changed; then counts (of a frontier and eight piles) and scalars.
_COUNTS, _SCALARS = 9, 2
_HEAD = struct.Struct(f"<6q{_COUNTS}q{_SCALARS}Q")

#: Bytes of a note with what travels along, and of the note alone.
BLOCK, HEAD = 512, _HEAD.size


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

    def words(self) -> list[int]:
        """Return counts and scalars as numbers."""
        spare = [0] * (_COUNTS - len(self.counts) + _SCALARS - len(self.scalars))
        scalars = [int.from_bytes(each.tobytes().ljust(8, b"\0"), "little") for each in self.scalars]
        return self.counts + spare[: _COUNTS - len(self.counts)] + scalars + spare[_COUNTS - len(self.counts) :]

    @classmethod
    def read(cls, changed: int, words: tuple[int, ...], like: Note) -> Note:
        """Return the note of another part, with as many counts and scalars of the same dtypes as one's own."""
        given = zip(words[_COUNTS:], like.scalars, strict=False)
        scalars = [np.frombuffer(word.to_bytes(8, "little"), each.dtype, 1) for word, each in given]
        return cls(None, changed, list(words[: len(like.counts)]), scalars)


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
    error : Exception, optional
        Of this part alone, between two steps: the next round tells all.
    """

    def __init__(self, comm: Communicator) -> None:
        self.comm = comm
        self.waited = 0.0
        self.number = 0
        self.pressed: deferred | None = None
        self.stop = False
        self.error: Exception | None = None

    def deal(self, note: Note, messages: list[bytes]) -> tuple[list[Note], list[Any]]:
        """Give every part a message of its own; what all have noted, and given this part, in the order of ranks."""
        return self._round(note, messages, lambda lengths: self.comm.dealt(messages, lengths))

    def share(self, note: Note, message: bytes) -> tuple[list[Note], list[Any]]:
        """Give every part the same message."""
        return self._round(note, [message] * self.comm.size, lambda lengths: self.comm.shared(message, lengths))

    def _round(
        self, note: Note, messages: list[bytes], move: Callable[[list[int]], list[Any]]
    ) -> tuple[list[Note], list[Any]]:
        comm, size = self.comm, self.comm.size
        if self.error is not None:
            note.error, self.error = self.error, None
        lengths = [len(each) for each in messages]
        stops = self.pressed is not None and self.pressed.pressed
        longest, words = max(lengths), note.words()
        blocks, inside = bytearray(size * BLOCK), 0 < longest <= BLOCK - HEAD
        for rank, length in enumerate(lengths):
            at = rank * BLOCK
            _HEAD.pack_into(
                blocks, at, self.number, note.error is not None, stops, longest, length, note.changed, *words
            )
            if inside:
                blocks[at + HEAD : at + HEAD + length] = messages[rank]
        begun = time.perf_counter()
        came = comm.blocks(blocks, BLOCK)
        told = [_HEAD.unpack_from(came, rank * BLOCK) for rank in range(size)]
        self.stop = any(each[2] for each in told)
        if any(each[1] for each in told):
            self._raise(note.error)
        if any(each[0] != self.number for each in told):
            raise common(FrontierError("the ranks are at different steps: they must run the same program"))
        self.number += 1
        comm.sent += sum(lengths) - lengths[comm.rank]
        lengths = [each[4] for each in told]
        if max(each[3] for each in told) > BLOCK - HEAD:
            found = move(lengths)
        else:
            found = [came[at * BLOCK + HEAD : at * BLOCK + HEAD + length] for at, length in enumerate(lengths)]
        self.waited += time.perf_counter() - begun
        return [Note.read(each[5], each[6:], note) for each in told], found

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


def met(comm: Communicator, doing: str, given: Any) -> list[Any]:
    """Return what all ranks give for the same purpose, in the order of ranks; all call this together.

    Raises
    ------
    FrontierError
        If some are there for another purpose: one begins a run, for example, and the other asks for a result.
    """
    with comm.asking(doing):
        told = comm.gather((doing, given))
    purposes = [each[0] if isinstance(each, tuple) and len(each) == 2 else "is elsewhere" for each in told]
    if any(each != doing for each in purposes):
        who = {each: purposes.index(each) for each in reversed(purposes)}
        said = ", ".join(f"rank {rank} {each}" for each, rank in sorted(who.items(), key=lambda item: item[1]))
        raise common(FrontierError(
            f"{said}: the ranks must run the same program, and ask together for what is in parts (docs/ranks.md)"
        ))  # fmt: skip
    return [each[1] for each in told]


def common(error: Any) -> Any:
    """Mark an error that all parts raise, so that it is printed once."""
    error.of_all_ranks = True
    return error
