"""A text file being read: gzip, lines, blocks, progress, and errors that name file and line."""

from __future__ import annotations

import contextlib
import gzip
import os
import sys
import time
import zlib
from collections.abc import Iterator
from typing import BinaryIO, NoReturn

from frontier.errors import GraphError

__all__ = ["Source", "opened", "shown"]

_SHOW_FROM = 50 * 2**20  # bytes of a file that are worth a progress bar


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
def opened(path: str) -> Iterator[BinaryIO]:
    """Open a file to read its bytes; problems become one GraphError each."""
    try:
        if os.path.isdir(path):
            raise GraphError(f"{path}: expected a file, found a folder")
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise GraphError(f"{path}:1: expected a graph, found an empty file")
            yield file
    except FileNotFoundError:
        raise GraphError(f"{path}: there is no such file") from None
    except OSError as error:
        raise GraphError(f"{path}: cannot be read: {error.strerror or error}") from None


class Source:
    """The lines of a text file, gzipped or not.

    Parameters
    ----------
    path : str
        Its name, for messages.
    file : BinaryIO
        The file, open.
    zipped : bool
        Whether its bytes are gzipped.
    progress : bool, optional
        Show a progress bar on stderr; None: if that is a terminal and the file is large.
    """

    def __init__(self, path: str, file: BinaryIO, zipped: bool, progress: bool | None) -> None:
        self.path = path
        self.line = 0  # lines read so far
        self._file = file
        self._stream: BinaryIO = file
        if zipped:
            self._stream = gzip.GzipFile(fileobj=file)  # type: ignore[assignment]
        self._held: bytes | None = None
        self._bar = Bar(path, os.fstat(file.fileno()).st_size, progress)

    def fail(self, line: int | None, expected: str, found: str) -> NoReturn:
        """Refuse the file."""
        self._bar.finish()
        at = self.line if line is None else line
        raise GraphError(f"{self.path}:{max(at, 1)}: expected {expected}, found {found}") from None

    def readline(self) -> bytes | None:
        """The next line without its end, or None at the end of the file."""
        line, self._held = self._held, None
        if line is None:
            with self._unzipping():
                line = self._stream.readline()
            if not line:
                return None
            if self.line == 0:
                line = line.removeprefix(b"\xef\xbb\xbf")
        self.line += 1
        return line.rstrip(b"\r\n")

    def put_back(self, line: bytes) -> None:
        """Make ``line`` the next line again."""
        self._held = line + b"\n"
        self.line -= 1

    def blocks(self, size: int) -> Iterator[bytes]:
        """The rest in blocks of about ``size`` bytes, each ending with the end of a line.

        ``line`` is for the caller to count.
        """
        while True:
            head, self._held = self._held or b"", None
            with self._unzipping():
                body = self._stream.read(size)
                tail = b"" if body.endswith(b"\n") else self._stream.readline()
            block = head + body + tail if head or tail else body
            if not block:
                break
            yield block if block.endswith(b"\n") else block + b"\n"
            self._bar.show(self._file.tell())
        self._bar.finish()

    def read(self) -> bytes:
        """All of the file."""
        with self._unzipping():
            return self._stream.read()

    @contextlib.contextmanager
    def _unzipping(self) -> Iterator[None]:
        try:
            yield
        except EOFError:
            self.fail(None, "more gzip data", "the end of the file: it is cut off")
        except (gzip.BadGzipFile, zlib.error) as error:
            self.fail(None, "gzip data", f"something else ({error})")


class Bar:
    """A progress bar on one line of stderr."""

    def __init__(self, path: str, size: int, wanted: bool | None) -> None:
        if wanted is None:
            wanted = size > _SHOW_FROM and sys.stderr is not None and sys.stderr.isatty()
        self._wanted = wanted
        self._name = os.path.basename(path)
        self._size = max(size, 1)
        self._begin = time.monotonic()
        self._drawn = False

    def show(self, done: int) -> None:
        """Draw the bar with so many bytes of the file read."""
        if not self._wanted:
            return
        self._drawn = True
        part = min(done / self._size, 1.0)
        rate = done / 2**20 / max(time.monotonic() - self._begin, 1e-9)
        drawn = "#" * int(30 * part)
        print(
            f"\r{self._name} [{drawn:<30}] {part:4.0%} {rate:6.0f} MiB/s",
            end="", file=sys.stderr, flush=True,
        )  # fmt: skip

    def finish(self) -> None:
        """End the bar's line, if it was drawn."""
        if self._drawn:
            print(file=sys.stderr, flush=True)
        self._drawn = self._wanted = False
