"""Processes that talk over sockets of their own: here threads, each of which is one of them."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
import time

import numpy as np
import pytest

from frontier.distributed.transport import rendezvous
from frontier.distributed.transport.communicators import Ended
from frontier.distributed.transport.rendezvous import connect, listen
from frontier.distributed.transport.sockets import Sockets
from frontier.errors import FrontierError, RanksError

SECRET = b"of these"


def together(size, does, secrets=None):
    """Let each rank do something; what each returns, or the exception that it raises."""
    servers = [listen("127.0.0.1") for _ in range(size)]
    addresses = [("127.0.0.1", server.getsockname()[1]) for server in servers]
    found = [None] * size

    def run(rank):
        try:
            comm = connect(rank, servers[rank], addresses, (secrets or [SECRET] * size)[rank])
        except Exception as error:
            found[rank] = error
            return
        with contextlib.closing(comm):
            try:
                found[rank] = does(comm)
            except Exception as error:
                found[rank] = error

    threads = [threading.Thread(target=run, args=(rank,), daemon=True) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "it hangs"
    return found


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_everything_arrives(size):
    rng = np.random.default_rng(1)
    given = rng.integers(0, 9, (size, size, 3 << 20), np.uint8)  # more than sockets hold

    def talk(comm):
        rank = comm.rank
        assert comm.allgather((rank, "x" * 3)) == [(each, "xxx") for each in range(size)]
        assert comm.allgather("y" * 1000 * rank) == ["y" * 1000 * each for each in range(size)]
        lengths = [1 + 1000 * (each + rank) for each in range(size)]
        mine = [given[rank, each, :length].tobytes() for each, length in enumerate(lengths)]
        came = comm.alltoall_bytes(mine, lengths)
        for other, each in enumerate(came):
            assert bytes(each) == given[other, rank, : lengths[other]].tobytes()
        whole = comm.allgather_bytes(given[rank, 0, : rank << 19].tobytes(), [other << 19 for other in range(size)])
        assert [bytes(each) for each in whole] == [given[other, 0, : other << 19].tobytes() for other in range(size)]
        blocks = np.repeat(np.arange(size, dtype=np.uint8), 2)
        assert comm.alltoall_blocks(bytearray([rank] * 2 * size), 2) == bytes(blocks)
        assert comm.alltoall([(rank, other) for other in range(size)]) == [(other, rank) for other in range(size)]
        for length in (0, 1, size, 1000):
            total = np.arange(length) * (rank + 1)
            comm.allreduce(total)
            assert total.tolist() == (np.arange(length) * (size * (size + 1) // 2)).tolist()
        big = comm.alltoall_bytes([given[rank, other] for other in range(size)], [3 << 20] * size)
        assert all(np.array_equal(each, given[other, rank]) for other, each in enumerate(big))
        return comm.neighbours, comm.local

    assert together(size, talk) == [(size, rank) for rank in range(size)]


def test_who_ends_early_ends_the_others_and_then_all_are_in_step():
    """Whatever was sent, and not taken, before the marks."""
    data = bytes(range(256)) * (1 << 14)

    def talk(comm):
        for turn in range(3):
            try:
                comm.allgather(turn)
                if comm.rank == 1:
                    comm.graphs += 1
                    raise ValueError("of rank 1")
                comm.allgather_bytes(data, [len(data)] * 3)
                said = "went on"
            except (ValueError, Ended) as error:
                said = str(error)
            comm.finish()
            assert comm.allgather(turn) == [turn] * 3
        return said, comm.graphs

    waits = "rank 1 of 3 has ended, and others wait for it", 3
    assert together(3, talk) == [waits, ("of rank 1", 3), waits]


def test_ranks_at_different_steps_are_told():
    def talk(comm):
        try:
            if comm.rank:
                comm.allgather_bytes(b"12", [2, 2])
            else:
                comm.allgather_bytes(b"123", [3, 3])
        except (FrontierError, Ended) as error:
            said = str(error)
        comm.finish()
        return said, comm.allgather(comm.rank)

    for said, after in together(2, talk):
        assert "the ranks are at different steps" in said or "has ended" in said
        assert after == [0, 1]


@pytest.mark.parametrize("does", ["leaves", "waits"])
def test_a_lost_rank_ends_the_others(does, monkeypatch):
    left = threading.Event()
    if does == "waits":
        monkeypatch.setenv("FRONTIER_RANKS_TIMEOUT", "0.5")

    def talk(comm):
        comm.allgather(0)
        if comm.rank == 2 and does == "leaves":
            return "left"
        if comm.rank == 2:
            left.wait(30)
            return "left"
        try:
            for _ in range(10):
                comm.allgather(0)
        except RanksError as error:
            with pytest.raises(RanksError, match=re.escape(str(error))):
                comm.finish()
            with pytest.raises(RanksError, match=re.escape(str(error))):
                comm.allgather(0)
            return str(error)
        finally:
            left.set()

    begun = time.monotonic()
    first, second, third = together(3, talk)
    assert time.monotonic() - begun < 20
    assert third == "left"
    for said in first, second:
        if does == "leaves":
            assert said.startswith("rank "), said
            assert "is lost" in said
        else:
            assert "not come to an exchange" in said or "is lost" in said


def test_only_who_knows_the_secret_belongs_to_them(monkeypatch):
    monkeypatch.setattr(rendezvous, "JOIN", 1.0)
    monkeypatch.setattr(rendezvous, "PATIENT", 0.5)
    found = together(2, lambda comm: comm.allgather(0), [SECRET, b"of others"])
    assert [type(each) for each in found] == [RanksError, RanksError]
    assert "have not reached rank 0" in str(found[0])


def test_strangers_that_connect_are_sent_away():
    server = listen("127.0.0.1")
    port = server.getsockname()[1]
    strangers = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
    strangers[0].sendall(b"GET / HTTP/1.1\r\n\r\n" + b"x" * 100)
    strangers[1].close()
    strangers[2].sendall(b"")
    strangers[2].shutdown(socket.SHUT_WR)
    other = listen("127.0.0.1")
    addresses = [("127.0.0.1", port), ("127.0.0.1", other.getsockname()[1])]
    found = []
    second = threading.Thread(target=lambda: found.append(connect(1, other, addresses, SECRET)), daemon=True)
    second.start()
    first = connect(0, server, addresses, SECRET)
    second.join(30)
    assert isinstance(first, Sockets)
    assert (first.rank, first.size, found[0].rank) == (0, 2, 1)
    for each in (first, found[0], strangers[0], strangers[2]):
        each.close()


def test_a_rank_that_cannot_be_reached_is_named():
    server = listen("127.0.0.1")
    with contextlib.closing(listen("127.0.0.1")) as closed:
        nobody = closed.getsockname()[1]
    with pytest.raises(RanksError, match=f"rank 1 cannot reach rank 0 at 127.0.0.1, port {nobody}: "):
        connect(1, server, [("127.0.0.1", nobody), ("127.0.0.1", server.getsockname()[1])], SECRET)
