"""A stream to another process: frames, whose lengths both ends know, and marks for the end of a call.

Sending and receiving continue where they were interrupted, whatever was raised in between. So both ends are in step
again once they have received each other's mark.
"""

from __future__ import annotations

import socket
import struct
from collections import deque
from typing import Any

__all__ = ["Lost", "Stream"]

#: A frame begins with its length; a mark begins with all bits set, and two numbers follow.
_LENGTH, _MARK = struct.Struct("<Q"), struct.Struct("<2q")
_MARKED = b"\xff" * _LENGTH.size

#: A frame of at most so many bytes is sent together with its length.
_SHORT = 1 << 12

#: Bytes to receive at a time where they are dropped.
_SKIPPED = 1 << 16


class Lost(Exception):
    """The other process has closed the stream, or cannot be reached any more."""


class Stream:
    """One process's end of a stream.

    Parameters
    ----------
    sock : socket
        Connected. It does not block from now on.

    Attributes
    ----------
    mark : tuple of int, optional
        The numbers of the mark that has been received.
    strange : int, optional
        The length of a frame that is not the expected one. After it, everything up to the next mark is dropped.
    """

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        if sock.family != getattr(socket, "AF_UNIX", None):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sock = sock
        self.mark: tuple[int, ...] | None = None
        self.strange: int | None = None
        self._out: deque[memoryview] = deque()
        self._into = memoryview(b"")
        self._head, self._needs = bytearray(), _LENGTH.size  # of a length or a mark
        self._rest = 0  # bytes of a frame that are still to come

    def fileno(self) -> int:
        """Return the descriptor, for ``select``."""
        return self._sock.fileno()

    def close(self) -> None:
        """Close the stream, which the other end notices."""
        self._sock.close()

    # ---- sending ---------------------------------------------------------------------------------------------

    def give(self, data: Any) -> None:
        """Queue a frame."""
        view = memoryview(data).cast("B")
        head = _LENGTH.pack(len(view))
        self._out.extend([memoryview(head + bytes(view))] if len(view) <= _SHORT else [memoryview(head), view])

    def give_mark(self, *numbers: int) -> None:
        """Queue a mark."""
        self._out.append(memoryview(_MARKED + _MARK.pack(*numbers)))

    def sent(self) -> bool:
        """Send what can be sent without blocking; return whether the queue is empty.

        Raises
        ------
        Lost
        """
        while self._out:
            try:
                count = self._sock.send(self._out[0])
            except BlockingIOError:
                return False
            except OSError as error:
                raise Lost(error.strerror or str(error)) from None
            self._out[0] = self._out[0][count:]
            if not self._out[0]:
                self._out.popleft()
        return True

    # ---- receiving -------------------------------------------------------------------------------------------

    def take(self, into: Any) -> None:
        """Receive the next frame into a buffer of its length."""
        self._into = memoryview(into).cast("B")

    def came(self) -> bool:
        """Receive without blocking; return whether the frame has come, or a mark, or a frame of another length.

        Raises
        ------
        Lost
        """
        try:
            while self.mark is None and self.strange is None:
                if self._rest:
                    self._rest -= self._received(self._into[-self._rest :])
                    if not self._rest:
                        return True
                else:
                    self._next()
                    if self.mark is None and self._rest != len(self._into):
                        self.strange = self._rest
        except BlockingIOError:
            return False
        return True

    def skipped(self) -> bool:
        """Drop what is there up to a mark; return whether that has come.

        Raises
        ------
        Lost
        """
        spare = memoryview(bytearray(_SKIPPED))
        try:
            while self.mark is None:
                if self._rest:
                    self._rest -= self._received(spare[: self._rest])
                else:
                    self._next()
        except BlockingIOError:
            return False
        return True

    def forget(self) -> tuple[int, ...]:
        """Return the numbers of the mark, and expect frames again."""
        mark, self.mark, self.strange = self.mark, None, None
        assert mark is not None
        return mark

    def _next(self) -> None:
        """Receive the length of the next frame, or a mark."""
        while len(self._head) < self._needs:
            part = bytearray(self._needs - len(self._head))
            self._head += part[: self._received(memoryview(part))]
            if self._head == _MARKED:
                self._needs = len(_MARKED) + _MARK.size
        if self._needs == _LENGTH.size:
            (self._rest,) = _LENGTH.unpack(self._head)
        else:
            self.mark = _MARK.unpack(self._head[len(_MARKED) :])
        self._head, self._needs = bytearray(), _LENGTH.size

    def _received(self, into: memoryview) -> int:
        """Return how many bytes have been received, at least one; raise BlockingIOError if there are none yet."""
        try:
            count = self._sock.recv_into(into)
        except BlockingIOError:
            raise
        except OSError as error:
            raise Lost(error.strerror or str(error)) from None
        if not count:
            raise Lost("it has closed the connection")
        return count
