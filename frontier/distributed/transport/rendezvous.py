"""The rendezvous of processes without a launcher: each listens, and connects to those of lower rank.

Both ends of a connection prove that they know a common secret, by an HMAC of a random challenge. The secret itself is
never sent here.
"""

from __future__ import annotations

import hmac
import os
import socket
import time
from typing import TYPE_CHECKING

from frontier.distributed.transport.communicators import LENGTH
from frontier.distributed.transport.sockets import Sockets
from frontier.distributed.transport.streams import Stream
from frontier.errors import RanksError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["connect", "listen"]

#: Seconds for all processes to reach each other when they begin.
JOIN = 60.0

#: Seconds for a process that has connected to say who it is, and how many connections may wait.
PATIENT, BACKLOG = 5.0, 1024

#: Options of TCP that detect a host which has vanished: keep-alive probes, in seconds, and the longest time for an
#: acknowledgement, in milliseconds.
PROBES = {"TCP_KEEPIDLE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 4, "TCP_USER_TIMEOUT": 30_000}

#: Bytes of a challenge, and of a proof.
_NONCE = 32


def listen(host: str) -> socket.socket:
    """Return a listening socket, at an address of this host, or at all of them if ``host`` is not its own."""
    family = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0][0]
    try:
        return socket.create_server((host, 0), family=family, backlog=BACKLOG)
    except OSError:  # in a container the address that others use may not be its own
        return socket.create_server(("", 0), family=family, backlog=BACKLOG)


def connect(rank: int, server: socket.socket, addresses: Sequence[tuple[str, int]], secret: bytes) -> Sockets:
    """Connect this process with all others, which call this at the same time.

    Parameters
    ----------
    rank : int
    server : socket
        From :func:`listen`. It is closed.
    addresses : sequence of pairs
        Host and port of each process, by rank.
    secret : bytes
        Known to these processes alone.

    Raises
    ------
    RanksError
        If not all can be reached.
    """
    streams, until = {}, time.monotonic() + JOIN
    with server:
        for other in range(rank):
            host, port = addresses[other]
            try:
                line = socket.create_connection((host, port), max(until - time.monotonic(), 1))
                _introduce(line, rank, secret)
            except OSError as error:
                raise RanksError(f"rank {rank} cannot reach rank {other} at {host}, port {port}: {error}") from None
            streams[other] = _stream(line)
        while len(streams) < len(addresses) - 1:
            server.settimeout(max(until - time.monotonic(), 1))
            try:
                line, _ = server.accept()
            except OSError:
                late = sorted({*range(rank + 1, len(addresses))} - {*streams})
                raise RanksError(f"ranks {late} have not reached rank {rank} at {addresses[rank]}") from None
            who = _welcomed(line, secret)
            if who is None or not rank < who < len(addresses) or who in streams:
                line.close()
            else:
                streams[who] = _stream(line)
    return Sockets(rank, streams)


def _introduce(line: socket.socket, rank: int, secret: bytes) -> None:
    """Tell the process that listens who this is, and check its proof."""
    asked, own = _read(line, _NONCE), os.urandom(_NONCE)
    said = rank.to_bytes(LENGTH, "little") + own
    line.sendall(said + _proof(secret, asked + said))
    if not hmac.compare_digest(_read(line, _NONCE), _proof(secret, own + asked)):
        raise OSError("another program listens there")


def _welcomed(line: socket.socket, secret: bytes) -> int | None:
    """Return the rank of a process that has connected; None if it cannot prove that it belongs to these."""
    try:
        line.settimeout(PATIENT)
        asked = os.urandom(_NONCE)
        line.sendall(asked)
        said, proof = _read(line, LENGTH + _NONCE), _read(line, _NONCE)
        if not hmac.compare_digest(proof, _proof(secret, asked + said)):
            return None
        line.sendall(_proof(secret, said[LENGTH:] + asked))
    except OSError:
        return None
    return int.from_bytes(said[:LENGTH], "little")


def _proof(secret: bytes, text: bytes) -> bytes:
    return hmac.digest(secret, text, "sha256")


def _read(line: socket.socket, size: int) -> bytes:
    """Receive so many bytes."""
    found = b""
    while len(found) < size:
        part = line.recv(size - len(found))
        if not part:
            raise OSError("it has closed the connection")
        found += part
    return found


def _stream(line: socket.socket) -> Stream:
    """Return a stream that notices when the other host has vanished."""
    line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in PROBES.items():
        if hasattr(socket, name):  # each system has some
            line.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return Stream(line)
