"""A text file while it is read: unpacking, lines, blocks, progress, and errors that name file and line."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from io import BufferedReader, BytesIO
from typing import Any, BinaryIO, NoReturn

from frontier.display.progress import Task
from frontier.errors import GraphError
from frontier.io._packing import DAMAGE, PACKINGS
from frontier.memory.host import HOST
from frontier.system.atomic_write import STREAMS
from frontier.system.regular_files import described

__all__ = ["Source", "opened", "shown"]

_PART = 4 * 2**20  # bytes of an archive that are read at a time
_SKIPPED = 2**16  # bytes that are passed over at a time
_LINE = 2**26  # bytes of a line that are read at once


def shown(token: bytes | str | None) -> str:
    """A token of a file as error messages show it; None is the end of the file."""
    if token is None:
        return "the end of the file"
    text = token.decode("utf-8", "replace") if isinstance(token, bytes) else token
    text = text.strip()
    if not text:
        return "the end of the line"
    return repr(text if len(text) <= 40 else text[:37] + "...")


@contextlib.contextmanager
def opened(path: str, given: Any = None) -> Iterator[BufferedReader]:
    """Open a file to read its bytes, or take one that is open; problems become one GraphError each."""
    try:
        with contextlib.nullcontext(_buffered(path, given)) if given else open(path, "rb", opener=_opened) as file:
            if not file.peek(1):  # the size of a pipe is 0 whatever comes through it
                raise GraphError(f"{path}:1: expected a graph, found an empty file")
            yield file
    except FileNotFoundError:
        raise GraphError(f"{path}: there is no such file") from None
    except OSError as error:
        raise GraphError(f"{path}: cannot be read: {error.strerror or error}") from None


def _opened(path: str, flags: int) -> int:
    """A file, a pipe or a terminal; what else there is may go on without end."""
    handle = os.open(path, flags)
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or os.isatty(handle) or path.startswith(STREAMS):
        return handle
    os.close(handle)
    raise OSError(errno.EINVAL, f"it is {described(mode)}, not a file", path)


def _buffered(path: str, given: Any) -> BufferedReader:
    """An open file as one that can be looked into."""
    given = getattr(given, "buffer", given)  # of a text file
    if isinstance(given, BufferedReader):
        return given
    data = given.read()
    if not isinstance(data, bytes):
        raise GraphError(f"{path}: expected a file open for reading bytes, found {type(given).__name__}")
    return BufferedReader(BytesIO(data))


class Source:
    """The lines of a text file, packed or not.

    Parameters
    ----------
    path : str
        Its name, for messages.
    file : BufferedReader
        The file, open; perhaps a pipe.
    packing : str
        How its bytes are packed, as in ``PACKINGS``, or empty. What is said of bytes below is of unpacked ones.
    progress : bool, optional
        Whether to show progress on stderr; None: in a terminal or a notebook, after two seconds.
    """

    def __init__(self, path: str, file: BufferedReader, packing: str, progress: bool | None) -> None:
        self.path = path
        self.line = 0  # lines read so far
        self._file = file
        self._stream: BinaryIO = file
        self.packing = packing
        if packing:
            self._stream = PACKINGS[packing].read(path, file)
        self._held: list[tuple[bytes, int]] = []  # lines that come again, and how many bytes of the file each is
        self._last = 0  # bytes of the line that was read last
        self._before = 0  # bytes of the file before these
        self._before_packing = ""
        self._size = os.fstat(file.fileno()).st_size if _regular(file) else None
        self._read = 0  # bytes that came out of blocks
        self._task = Task(os.path.basename(path), self._size, "MiB", wanted=progress)

    def fail(self, line: int | None, expected: str, found: str) -> NoReturn:
        """Refuse the file."""
        self._task.end()
        at = self.line if line is None else line
        if self._before:
            at += _lines_in(self.path, self._before, self._before_packing)
        raise GraphError(f"{self.path}:{max(at, 1)}: expected {expected}, found {found}") from None

    def readline(self) -> bytes | None:
        """The next line without its end, or None at the end of the file."""
        if self._held:
            line, self._last = self._held.pop(0)
        else:
            with self._unpacking():
                line = self._line()
            if not line:
                return None
            if self.line == 0:
                line = line.removeprefix(b"\xef\xbb\xbf")
            self._last = len(line)
        self.line += 1
        return line.rstrip(b"\r\n")

    def put_back(self, line: bytes) -> None:
        """Make ``line``, the last that was read, the next line again."""
        self._held.insert(0, (line + b"\n", self._last))
        self.line -= 1

    def peek(self) -> bytes | None:
        """The line after the last one, which stays the next; None at the end of the file."""
        last = self._last
        line = self.readline()
        if line is not None:
            self.put_back(line)
        self._last = last
        return line

    def blocks(self, size: int) -> Iterator[bytes]:
        """The rest in blocks of about ``size`` bytes, each ending with the end of a line.

        ``line`` is for the caller to count.
        """
        with self._task:
            while True:
                head, self._held = b"".join(line for line, _ in self._held), []
                with self._unpacking():
                    body = self._stream.read(size)
                    tail = b"" if body.endswith(b"\n") else self._line()
                block = head + body + tail if head or tail else body
                if not block:
                    break
                yield block if block.endswith(b"\n") else block + b"\n"
                self._read += len(block)
                self._task.at(self._read if self._size is None else self._file.tell())

    def range_of_lines(self) -> tuple[int, int]:
        """Where the rest begins, and how many bytes it has, which are unpacked to be counted; of no pipe."""
        assert self._size is not None
        begin = self._stream.tell() - sum(size for _, size in self._held)
        if not self.packing:
            return begin, self._size - begin
        while self.read(_SKIPPED):
            pass
        return begin, self._stream.tell() - begin

    def read(self, size: int) -> bytes:
        """So many bytes that follow, or all that are left."""
        with self._unpacking():
            return self._stream.read(size)

    def rest_of_line(self) -> bytes:
        """What follows up to the end of a line."""
        with self._unpacking():
            return self._line()

    def head(self, size: int) -> bytes:
        """About so many bytes that come next, if nothing has been read; they stay in the file."""
        with self._unpacking():
            return self._stream.peek(size)[:size]  # type: ignore[attr-defined, no-any-return]

    def _line(self) -> bytes:
        """What follows up to the end of a line, which may not be longer than memory."""
        line = self._stream.readline(_LINE)
        if len(line) < _LINE:
            return line
        parts = [line]
        while parts[-1] and not parts[-1].endswith(b"\n"):
            HOST.check_room(3 * len(parts) * _LINE, f"a line of {self.path}", "it is perhaps no text")
            parts.append(self._stream.readline(_LINE))
        return b"".join(parts)

    def skip(self, size: int) -> None:
        """Leave out so many bytes that follow."""
        while size > 0 and (part := self.read(min(size, _SKIPPED))):
            size -= len(part)

    @classmethod
    def of_lines(cls, path: str, file: BufferedReader, lo: int, hi: int, first: int) -> Source:
        """The lines that begin at the bytes lo to hi - 1 of a file; ``first`` is where one begins."""

        def line_from(at: int) -> int:
            if at <= first:
                return first
            file.seek(at - 1)  # which may end a line
            file.readline()
            return file.tell()

        begin, end = line_from(lo), line_from(hi)
        file.seek(begin)
        return cls.of_text(path, file.read(max(end - begin, 0)), begin)

    @classmethod
    def of_text(cls, path: str, text: bytes, begin: int, packing: str = "") -> Source:
        """Lines that are in memory, and where in the file the first begins."""
        made = cls(path, BufferedReader(BytesIO(text)), "", progress=False)
        made._before, made._before_packing = begin, packing
        return made

    def left(self) -> int | None:
        """Bytes that are still to be read, where that is known."""
        if self._size is None or self.packing:
            return None
        return self._size - self._file.tell() + sum(len(line) for line, _ in self._held)

    def seekable(self) -> BinaryIO:
        """The file itself where one can go back in it, else all of it in memory."""
        if not self.packing and self._file.seekable():
            return self._file
        data = BytesIO()
        with self._unpacking():
            while part := self._stream.read(_PART):
                HOST.check_room(2 * data.tell(), f"{self.path} in memory", "unpack it into a file")
                data.write(part)
        data.seek(0)
        return data

    @contextlib.contextmanager
    def _unpacking(self) -> Iterator[None]:
        try:
            yield
        except EOFError:
            self.fail(None, f"more {PACKINGS[self.packing].name} data", "the end of the file: it is cut off")
        except DAMAGE as error:
            self.fail(None, f"{PACKINGS[self.packing].name} data", f"something else ({error})")


def _lines_in(path: str, length: int, packing: str) -> int:
    """How many lines end in the first bytes of a file."""
    found = 0
    with open(path, "rb") as file:
        stream: Any = PACKINGS[packing].read(path, file) if packing else file
        while length > 0 and (part := stream.read(min(length, _PART))):
            found += part.count(b"\n")
            length -= len(part)
    return found


def _regular(file: BufferedReader) -> bool:
    """Whether it is a file on a disk, whose size says how much there is to read."""
    try:
        return stat.S_ISREG(os.fstat(file.fileno()).st_mode)
    except OSError:  # it is in memory
        return False
