"""The process of a rank beside a worker: it does one thing after another that it is asked, until its worker is gone."""

from __future__ import annotations

import _thread
import contextlib
import os
import pickle
import queue
import signal
import socket
import sys
import threading
import traceback
import warnings
from typing import Any

from frontier.backends.ranks import communicators
from frontier.backends.ranks.communicators import Ended
from frontier.backends.ranks.joining import joined, listening
from frontier.backends.ranks.rounds import sendable
from frontier.backends.ranks.sockets import Sockets
from frontier.clusters import handed
from frontier.clusters.keeping import Keeper
from frontier.clusters.rows import extent, rows
from frontier.clusters.versions import versions
from frontier.errors import FrontierError, FrontierWarning, RanksError

__all__ = ["main"]


class Rank:
    """What a rank can be asked for; each method's name is that of a request, and the reply says how it went.

    Attributes
    ----------
    busy, pressed : int
        The number of the request that it is at, and of that which is to be stopped.
    """

    def __init__(self) -> None:
        self.busy = self.pressed = 0
        self._keeper = Keeper()
        self._comm: Sockets
        self._server: socket.socket

    def answer(self, number: int, name: str, given: tuple[Any, ...]) -> tuple[Any, ...]:
        """Do what is asked."""
        self.busy = number
        try:
            found: tuple[Any, ...] = getattr(self, name)(*given)
        except Exception as error:  # whatever goes wrong is told to who asks
            return _failed(error)
        finally:
            self.busy = 0
        return found

    # ---- together with the other ranks -------------------------------------------------------------------------

    def listen(self, host: str) -> tuple[Any, ...]:
        """Let others connect; what the program must know of this process."""
        self._server = listening(host)
        return "value", {
            "port": self._server.getsockname()[1], "host": socket.gethostname(),
            "devices": os.environ.get("CUDA_VISIBLE_DEVICES"), "process": os.getpid(),
            "versions": versions(),
        }  # fmt: skip

    def join(self, rank: int, addresses: list[tuple[str, int]], secret: bytes, device: str | None) -> tuple[Any, ...]:
        """Connect with the others; of this rank's GPUs, use one."""
        if device is not None:
            os.environ["CUDA_VISIBLE_DEVICES"] = device
        self._comm = joined(rank, self._server, addresses, secret)
        communicators.use(self._comm)
        return "value", None

    def call(self, data: bytes, number: int, dropped: list[str]) -> tuple[Any, ...]:
        """Call a function as all other ranks do; rank 0 says what it has returned."""
        self._keeper.drop(dropped)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always", FrontierWarning)
            reply = self._stoppable(data, number)
        try:
            self._comm.finish()
        except RanksError as error:
            reply = "lost", str(error)
        for each in seen:
            if not issubclass(each.category, FrontierWarning):
                warnings.showwarning(each.message, each.category, each.filename, each.lineno)
        return *reply, [str(each.message) for each in seen if issubclass(each.category, FrontierWarning)]

    def _stoppable(self, data: bytes, number: int) -> tuple[Any, ...]:
        """Call a function, which Ctrl-C may stop; nothing else of this process may be stopped."""
        try:
            try:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                if self.pressed == self.busy:
                    raise KeyboardInterrupt
                return self._called(data, number)
            finally:
                signal.signal(signal.SIGINT, signal.SIG_IGN)
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            return ("interrupted",)

    def _called(self, data: bytes, number: int) -> tuple[Any, ...]:
        try:
            function, given, named = self._keeper.loads(data)
            found = self._keeper.dumps(function(*given, **named), number)
        except RanksError as error:
            return "lost", str(error)
        except Ended as error:
            return "waited", str(error)
        except (Exception, SystemExit) as error:
            result = vars(error).pop("result", None)  # of a run that has not converged
            with contextlib.suppress(Exception):  # what cannot be told is left out
                return *_failed(error), self._keeper.dumps(result, number)
            return *_failed(error), None
        return "value", found if self._comm.rank == 0 else None

    # ---- each rank for itself ----------------------------------------------------------------------------------

    def put(self, name: str, place: int, columns: dict[str, Any]) -> tuple[Any, ...]:
        """Take columns of some edges, of which a graph will be made."""
        handed.put(name, place, columns)
        return "value", None

    def forget(self, name: str) -> tuple[Any, ...]:
        """Forget edges of which no graph will be made."""
        handed.forget(name)
        return "value", None

    def part(self, key: str, name: str) -> tuple[Any, ...]:
        """Say this rank's entries of an array."""
        return "value", self._keeper.part(key, name, self._comm.rank, self._comm.size)

    def extent(self, data: bytes) -> tuple[Any, ...]:
        """Say which rows of a result this rank has: the first, the one after the last, and the columns without rows."""
        result, graph = self._keeper.loads(data)
        rank, size = self._comm.rank, self._comm.size
        own = extent(result, graph, rank, size)
        return "value", (own.start, own.stop, rows(result, graph, rank, size, none=True))

    def rows(self, data: bytes) -> tuple[Any, ...]:
        """Say this rank's rows of a result."""
        result, graph = self._keeper.loads(data)
        return "value", rows(result, graph, self._comm.rank, self._comm.size)


def _failed(error: BaseException) -> tuple[Any, ...]:
    """A reply that says what went wrong, and where if it is none of our own errors."""
    where = "" if isinstance(error, FrontierError) else "".join(traceback.format_exception(error))
    if not isinstance(error, Exception):  # SystemExit
        error = FrontierError(f"the function has ended its process: {error!r}")
    return "error", sendable(error), where


def main() -> None:
    """Do what comes in on standard input, and reply on standard output; what functions print goes to standard error."""
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")  # some of which may have been read already
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 as long as the process
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    rank, inbox = Rank(), queue.SimpleQueue[Any]()
    threading.Thread(target=_listen, args=(requests, rank, inbox), daemon=True, name="frontier requests").start()
    while True:
        message = inbox.get()
        try:
            pickle.dump(rank.answer(*message), replies, 5)
            replies.flush()
        except OSError:  # nobody listens any more
            os._exit(1)


def _listen(requests: Any, rank: Rank, inbox: queue.SimpleQueue[Any]) -> None:
    """Take requests, also while the rank is busy; end the process when its worker is gone."""
    try:
        while True:
            number, name, given = pickle.load(requests)
            if name != "interrupt":
                inbox.put((number, name, given))
                continue
            (rank.pressed,) = given
            if rank.busy == rank.pressed:
                _thread.interrupt_main()
    except EOFError:
        os._exit(0)
    except BaseException:  # as it could not be asked any more
        traceback.print_exc(file=sys.stderr)
        os._exit(1)
