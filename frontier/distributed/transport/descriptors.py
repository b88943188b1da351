"""File descriptors that processes of one host give each other, over sockets of the host."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from frontier.system.launched import patience

if TYPE_CHECKING:
    from frontier.distributed.transport.communicators import Communicator

__all__ = ["Descriptors"]

#: How many go in one message; the kernel takes 253.
MOST = 128


class Descriptors:
    """Gives file descriptors from each process to all others, which use it together; ``name`` is the same for all."""

    def __init__(self, comm: Communicator, name: str) -> None:
        self._comm, self._name = comm, name
        self._heard = socket.socket(socket.AF_UNIX)
        self._heard.bind(self._address(comm.rank))
        self._heard.listen(comm.size)
        self._heard.settimeout(patience())

    def _address(self, rank: int) -> str:
        return f"\0frontier {self._name} {rank}"  # of no file, and gone with the process

    def allgather_bytes(self, given: list[int], counts: list[int]) -> list[list[int]]:
        """Give the same ones to all others, and return those of all, of which it is known how many they are."""
        others = [rank for rank in range(self._comm.size) if rank != self._comm.rank]
        self._comm.allgather(None)  # all listen
        for rank in others if given else ():
            with socket.socket(socket.AF_UNIX) as line:
                line.settimeout(patience())
                line.connect(self._address(rank))
                line.sendall(bytes([self._comm.rank]))
                for at in range(0, len(given), MOST):
                    socket.send_fds(line, [b"."], given[at : at + MOST])
        found: list[list[int]] = [[] for _ in counts]
        for _ in range(sum(counts[rank] > 0 for rank in others)):
            line, _ = self._heard.accept()
            with line:
                line.settimeout(patience())
                rank = line.recv(1)[0]
                while len(found[rank]) < counts[rank]:
                    _, some, _, _ = socket.recv_fds(line, 1, MOST)
                    if not some:
                        raise OSError(f"rank {rank} has sent no descriptors")
                    found[rank] += some
        return found
