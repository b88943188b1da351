"""The process of a rank: it answers one request after the other, until its worker is gone."""

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

from frontier.distributed.clusters import edges
from frontier.distributed.clusters.rows import extent, rows
from frontier.distributed.clusters.store import Store
from frontier.distributed.clusters.workers import Reply, versions
from frontier.distributed.transport import communicators, rendezvous
from frontier.distributed.transport.communicators import Ended
from frontier.distributed.transport.rounds import sendable
from frontier.distributed.transport.sockets import Sockets
from frontier.errors import FrontierError, FrontierWarning, RanksError

__all__ = ["main"]


class Rank:
    """A method for each request, which returns the reply.

    Attributes
    ----------
    busy, pressed : int
        The numbers of the request that is being answered, and of the one that Ctrl-C stops.
    """

    def __init__(self) -> None:
        self.busy = self.pressed = 0
        self._store = Store()
        self._comm: Sockets
        self._server: socket.socket

    def answer(self, number: int, name: str, given: tuple[Any, ...]) -> Reply:
        """Answer a request."""
        self.busy = number
        try:
            found: Reply = getattr(self, name)(*given)
        except Exception as error:  # of any kind: it is raised in the client
            return _failed(error)
        finally:
            self.busy = 0
        return found

    # ---- together with the other ranks -------------------------------------------------------------------------

    def listen(self, host: str) -> Reply:
        """Listen for other ranks; return the port, and what else the client must know of this process."""
        self._server = rendezvous.listen(host)
        return "value", {
            "port": self._server.getsockname()[1], "host": socket.gethostname(),
            "devices": os.environ.get("CUDA_VISIBLE_DEVICES"), "process": os.getpid(),
            "versions": versions(),
        }  # fmt: skip

    def connect(self, rank: int, addresses: list[tuple[str, int]], secret: bytes, device: str | None) -> Reply:
        """Connect with the other ranks; see only one GPU, if ``device`` names one."""
        if device is not None:
            os.environ["CUDA_VISIBLE_DEVICES"] = device
        self._comm = rendezvous.connect(rank, self._server, addresses, secret)
        communicators.use(self._comm)
        return "value", None

    def call(self, data: bytes, number: int, dropped: list[str]) -> Reply:
        """Call a function together with all other ranks; rank 0 replies with its result."""
        self._store.drop(dropped)
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

    def _stoppable(self, data: bytes, number: int) -> Reply:
        """Call a function, during which alone Ctrl-C has an effect."""
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

    def _called(self, data: bytes, number: int) -> Reply:
        try:
            function, given, named = self._store.loads(data)
            found = self._store.dumps(function(*given, **named), number)
        except RanksError as error:
            return "lost", str(error)
        except Ended as error:
            return "waited", str(error)
        except (Exception, SystemExit) as error:
            result = vars(error).pop("result", None)  # of NotConvergedError
            with contextlib.suppress(Exception):  # a result that cannot be sent is left out
                return *_failed(error), self._store.dumps(result, number)
            return *_failed(error), None
        return "value", found if self._comm.rank == 0 else None

    # ---- each rank for itself ----------------------------------------------------------------------------------

    def add_partition(self, name: str, place: int, columns: dict[str, Any]) -> Reply:
        """Add a partition of a table to a graph that will be built."""
        edges.add_partition(name, place, columns)
        return "value", None

    def discard(self, name: str) -> Reply:
        """Discard the partitions of a graph that will not be built."""
        edges.discard(name)
        return "value", None

    def part(self, key: str, name: str) -> Reply:
        """Return this rank's entries of an array."""
        return "value", self._store.part(key, name, self._comm.rank, self._comm.size)

    def extent(self, data: bytes) -> Reply:
        """Return the range of this rank's rows of a result, and the columns without rows."""
        result, graph = self._store.loads(data)
        rank, size = self._comm.rank, self._comm.size
        own = extent(result, graph, rank, size)
        return "value", (own.start, own.stop, rows(result, graph, rank, size, none=True))

    def rows(self, data: bytes) -> Reply:
        """Return this rank's rows of a result."""
        result, graph = self._store.loads(data)
        return "value", rows(result, graph, self._comm.rank, self._comm.size)


def _failed(error: BaseException) -> Reply:
    """Return the reply for an error, with the traceback if it is not one of Frontier's own."""
    where = "" if isinstance(error, FrontierError) else "".join(traceback.format_exception(error))
    if not isinstance(error, Exception):  # SystemExit
        error = FrontierError(f"the function has ended its process: {error!r}")
    return "error", sendable(error), where


def main() -> None:
    """Answer requests from standard input on standard output; what functions print goes to standard error."""
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")  # the buffer may hold requests already
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 open until the process ends
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    rank, inbox = Rank(), queue.SimpleQueue[Any]()
    threading.Thread(target=_listen, args=(requests, rank, inbox), daemon=True, name="frontier requests").start()
    while True:
        message = inbox.get()
        try:
            pickle.dump(rank.answer(*message), replies, 5)
            replies.flush()
        except OSError:  # the worker is gone
            os._exit(1)


def _listen(requests: Any, rank: Rank, inbox: queue.SimpleQueue[Any]) -> None:
    """Receive requests, even while the rank is busy; end the process when its worker is gone."""
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
    except BaseException:  # the rank would answer no more requests
        traceback.print_exc(file=sys.stderr)
        os._exit(1)
