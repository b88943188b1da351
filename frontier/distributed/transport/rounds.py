"""Rounds: what parts tell each other after a step, errors first.

In a round every part gives each other a *note* of fixed length, and a message if it has one. Short messages travel with
the note. If any part has a longer one, a second collective moves those, from GPU to GPU if something carries arrays
there; then their heads travel with the note. Notes say whether a part has failed, and at which step it is, before
anybody waits for something that will not come.
"""

from __future__ import annotations

import operator
import pickle
import struct
import time
import traceback
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.python.interpreter import blaming
from frontier.errors import FrontierError
from frontier.memory.arrays import to_host
from frontier.memory.host import HOST

if TYPE_CHECKING:
    from frontier.backends.run.interrupts import deferred
    from frontier.distributed.transport.communicators import Communicator
    from frontier.distributed.transport.device_arrays import DeviceTransport
    from frontier.distributed.transport.messages import Message
    from frontier.memory.base import Memory

__all__ = ["Note", "Rounds", "checked_root", "common", "met", "sendable"]

#: A note: the number of the round, whether the part has failed or has noted Ctrl-C, lengths of its longest message, of
#: the one to the reader and of the heads of that, how much it has changed; then counts (of a frontier and eight piles)
#: and scalars.
_COUNTS, _SCALARS = 9, 2
_HEAD = struct.Struct(f"<7q{_COUNTS}q{_SCALARS}Q")

#: Bytes of a note with what travels along, and of the note alone.
BLOCK, HEAD = 512, _HEAD.size

#: Bytes of messages, or of their heads, that travel along.
ROOM = BLOCK - HEAD

#: The file in which functors are called where Python runs them.
_INTERPRETER = blaming.__code__.co_filename

#: Heads that are longer go before ids and values, which then begin at a multiple of so many bytes.
_ALIGNED = 8


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

    Parameters
    ----------
    comm : Communicator
    memory : Memory
        Where ids and values of messages lie.

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

    def __init__(self, comm: Communicator, memory: Memory = HOST) -> None:
        self.comm, self._memory = comm, memory
        self.waited = 0.0
        self.number = 0
        self.pressed: deferred | None = None
        self.stop = False
        self.error: Exception | None = None

    def alltoall(self, note: Note, messages: list[Message]) -> tuple[list[Note], list[Any]]:
        """Give every part a message of its own; what all have noted, and given this part, in the order of ranks."""
        return self._round(note, messages, False)

    def allgather(self, note: Note, message: Message) -> tuple[list[Note], list[Any]]:
        """Give every part the same message."""
        return self._round(note, [message] * self.comm.size, True)

    def _round(self, note: Note, messages: list[Message], alike: bool) -> tuple[list[Note], list[Any]]:
        comm, size = self.comm, self.comm.size
        if self.error is not None:
            note.error, self.error = self.error, None
        lengths = [len(each) for each in messages]
        stops = self.pressed is not None and self.pressed.pressed
        longest, words = max(lengths), note.words()
        blocks = bytearray(size * BLOCK)
        for rank, (each, length) in enumerate(zip(messages, lengths, strict=True)):
            at, head = rank * BLOCK, len(each.head)
            _HEAD.pack_into(
                blocks, at, self.number, note.error is not None, stops, longest, length, head, note.changed, *words
            )
            along = each.whole() if longest <= ROOM else each.head if head <= ROOM else b""
            blocks[at + HEAD : at + HEAD + len(along)] = along
        begun = time.perf_counter()
        came = comm.alltoall_blocks(blocks, BLOCK)
        told = [_HEAD.unpack_from(came, rank * BLOCK) for rank in range(size)]
        self.stop = any(each[2] for each in told)
        if any(each[1] for each in told):
            self._raise(note.error)
        if any(each[0] != self.number for each in told):
            raise common(FrontierError(
                "the ranks are at different steps: they must run the same program, each on one thread"
            ))  # fmt: skip
        self.number += 1
        comm.sent += sum(lengths) - lengths[comm.rank]
        lengths = [each[4] for each in told]
        found: list[Any] = [came[at * BLOCK + HEAD : at * BLOCK + HEAD + length] for at, length in enumerate(lengths)]
        if max(each[3] for each in told) > ROOM:
            found = self._moved(messages, lengths, [each[5] for each in told], came, alike)
        self.waited += time.perf_counter() - begun
        return [Note.read(each[6], each[7:], note) for each in told], found

    def _moved(
        self, messages: list[Message], lengths: list[int], heads: list[int], came: Any, alike: bool
    ) -> list[Any]:  # fmt: skip
        """Long messages of all parts; ``came`` are their notes."""
        comm, carrier = self.comm, self._carrier()
        if carrier is None:
            if alike:
                return comm.allgather_bytes(messages[0].whole(), lengths)
            return comm.alltoall_bytes([each.whole() for each in messages], lengths)
        lengths = [length - head + _before(head) for length, head in zip(lengths, heads, strict=True)]
        if alike:
            bodies = carrier.allgather_bytes(self._body(messages[0]), lengths)
        else:
            bodies = carrier.alltoall_bytes([self._body(each) for each in messages], lengths)
        found: list[Any] = []
        for rank, (head, body) in enumerate(zip(heads, bodies, strict=True)):
            at, before = rank * BLOCK + HEAD, _before(head)
            said = came[at : at + head] if not before else to_host(body[:before])[:head].tobytes()
            found.append((said, body[before:]))
        return found

    def _body(self, message: Message) -> Any:
        """What a carrier moves of a message: ids and values, and before them heads for which the note has no room."""
        before, memory = _before(len(message.head)), self._memory
        first = np.frombuffer(message.head.ljust(before, b"\0")[:before], np.uint8)
        parts = [memory.moved(first)] if before else []
        return memory.xp.concatenate([*parts, *message.parts]) if parts or message.parts else memory.moved(first)

    def _carrier(self) -> DeviceTransport | None:
        return None if self._memory is HOST else self.comm.carrier(self._memory)

    def _raise(self, error: Exception | None) -> None:
        """Raise the error of the first part that has one, on all."""
        if error is not None:
            _note_place(error)
        for rank, each in enumerate(self.comm.allgather(None if error is None else sendable(error))):
            if each is not None:
                each.add_note(f"(rank {rank} of {self.comm.size})")
                raise common(each)


def _before(head: int) -> int:
    """Bytes that heads take before ids and values; none if they travel with the note."""
    return -(-head // _ALIGNED) * _ALIGNED if head > ROOM else 0


def _note_place(error: Exception) -> None:
    """Note at which line a functor has raised, if Python has run it: tracebacks do not travel."""
    frames = traceback.extract_tb(error.__traceback__)
    calls = [i for i, each in enumerate(frames) if (each.filename, each.name) == (_INTERPRETER, "call")]
    if calls and not isinstance(error, FrontierError):  # whose message names the functor
        error.add_note("".join(traceback.format_list(frames[calls[-1] + 1 :])).rstrip())


def sendable(error: Exception) -> Exception:
    """Return an error as other processes may get it."""
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
        told = comm.allgather((doing, given))
    purposes = [each[0] if isinstance(each, tuple) and len(each) == 2 else "is elsewhere" for each in told]
    if any(each != doing for each in purposes):
        who = {each: purposes.index(each) for each in reversed(purposes)}
        said = ", ".join(f"rank {rank} {each}" for each, rank in sorted(who.items(), key=lambda item: item[1]))
        raise common(FrontierError(
            f"{said}: the ranks must run the same program, and ask together for what is in parts (docs/ranks.md)"
        ))  # fmt: skip
    return [each[1] for each in told]


def checked_root(root: Any, size: int) -> int | None:
    """Return the rank for which all others are asked, or None for all, before they are.

    Raises
    ------
    FrontierError
        If there is no such rank.
    """
    if root is None:
        return None
    valid = f"ranks are 0 to {size - 1}" if size > 1 else "the only rank is 0"
    if isinstance(root, bool) or not hasattr(root, "__index__"):
        raise FrontierError(f"root must be an integer, not {root!r}: {valid}")
    rank = operator.index(root)
    if not 0 <= rank < size:
        raise FrontierError(f"root={root!r}: {valid}")
    return rank


def common(error: Any) -> Any:
    """Mark an error that all parts raise, so that it is printed once."""
    error.of_all_ranks = True
    return error
