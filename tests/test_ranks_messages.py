"""What ranks tell each other: elements and values in few bytes, and long messages that do not go through the host."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier.distributed.transport.device_arrays import InProcess
from frontier.distributed.transport.messages import NOTHING, Section, packed, unpacked
from frontier.distributed.transport.rounds import ROOM, Note, Rounds
from frontier.distributed.transport.threads import Threads
from frontier.memory import detection
from frontier.memory.host import HOST

pytestmark = pytest.mark.skipif(detection.simulated(), reason="no kernels are in it")


@given(st.integers(1, 300), st.data())
def test_messages_have_what_was_packed_in_few_bytes(length, data):
    first = data.draw(st.integers(0, 10**6))
    sections, most, empty = [], 0, 0
    for _ in range(data.draw(st.integers(1, 4))):
        which = np.array(data.draw(st.lists(st.booleans(), min_size=length, max_size=length)))
        if sections and data.draw(st.booleans()):
            which = np.isin(np.arange(first, first + length), sections[-1].ids)
        ids = np.flatnonzero(which) + first
        dtype = data.draw(st.sampled_from([None, "int32", "int64", "uint64", "float64", "bool"]))
        some = data.draw(st.sampled_from([[7], [0, 3], [90, 110], [5, 300], [10**6, 10**6 + 70_000], [0, 2**31 - 1]]))
        each = data.draw(st.sampled_from([(), (1,), (3,)]))  # or rows
        count = len(ids) * math.prod(each)
        values = None if dtype is None else np.array(data.draw(st.lists(
            st.sampled_from(some), min_size=count, max_size=count)), dtype).reshape(-1, *each)  # fmt: skip
        optional = bool(sections) and data.draw(st.booleans())
        sections.append(Section(first, length, ids, values, optional))
        most += 0 if values is None else values.nbytes
        if len(ids) or not optional:
            most += 8 + min(2 * len(ids), -(-length // 8))
        if optional and len(ids):  # those before it that are optional and empty have heads now
            most += 8 * empty
        empty = empty + 1 if optional and not len(ids) else 0
    message = packed(sections)
    assert len(message) <= most
    assert len(message.whole()) == len(message)
    like = [(each.first, each.length, each.values, each.optional) for each in sections]
    for data in (message.whole(), (message.head, message.body())):
        for (ids, values), each in zip(unpacked(data, like), sections, strict=True):
            assert np.array_equal(ids, each.ids)
            assert (values is None) == (each.values is None)
            if values is not None:
                assert (values.dtype, values.shape) == (each.values.dtype, each.values.shape)
                assert values.tobytes() == each.values.tobytes()


def test_optional_sections_that_follow_each_other():
    """An empty one between others: the next must not be taken for it."""
    none, one = np.array([], np.int64), np.array([5])
    for which in ([1, 0, 1], [0, 0, 1], [0, 1, 0, 0, 1], [1, 0, 0], [0, 0, 0, 1, 1]):
        sections = [Section(0, 9, [none, one][some], [none, one][some], at > 0) for at, some in enumerate(which)]
        like = [(0, 9, one, at > 0) for at in range(len(which))]
        for (ids, values), some in zip(unpacked(packed(sections).whole(), like), which, strict=True):
            assert ids.tolist() == values.tolist() == [5] * some


def test_elements_and_values_that_repeat_take_no_bytes():
    ids = np.arange(0, 1000, 5)
    once = len(packed([Section(0, 1000, ids)]))
    assert once == 8 + 125
    assert len(packed([Section(0, 1000, ids), Section(0, 1000, ids, np.full(200, 3, np.int32))])) == once + 8 + 4
    assert len(packed([Section(0, 1000, np.arange(1000))])) == 8
    assert packed([Section(0, 1000, ids[:0]), Section(0, 1000, ids[:0], ids[:0])]) is NOTHING


@pytest.mark.parametrize(("step", "size"), [(1 / 20, 0.5), (1, 1), (300, 2), (2**20, 4), (2**40, 8)])
@pytest.mark.parametrize("least", [0, -(2**62)])
def test_integers_that_lie_close_together_take_fewer_bytes(step, size, least):
    every, values = np.arange(200), least + (np.arange(200) * step).astype(np.int64)
    message = packed([Section(0, 200, every, values)])
    assert len(message) == 8 + (8 if size < 8 else 0) + 200 * size
    ((ids, found),) = unpacked(message.whole(), [(0, 200, values, False)])
    assert np.array_equal(ids, every)
    assert np.array_equal(found, values)


DEALT = InProcess.alltoall_bytes


def told(members, memory, messages, alike):
    """What each part is told in a round, where messages lie in some memory."""
    found = [None] * len(members)

    def tell(member):
        rounds = Rounds(member, memory)
        mine = messages[member.rank]
        found[member.rank] = (rounds.allgather(Note(), mine[0]) if alike else rounds.alltoall(Note(), mine))[1]

    with ThreadPoolExecutor(len(members)) as pool:
        list(pool.map(tell, members))
    return found


@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("sections", [1, 5, 60])
@pytest.mark.parametrize("length", [3, 700])
def test_messages_may_be_carried_without_the_host(monkeypatch, alike, sections, length):
    """Their heads travel with the note, or before ids and values where there are many."""
    rng, carried = np.random.default_rng(sections + length), []
    monkeypatch.setattr(InProcess, "alltoall_bytes", lambda self, *given: carried.append(1) or DEALT(self, *given))

    def section(at):
        ids = np.flatnonzero(rng.random(length) < 0.6)
        return Section(0, length, ids, rng.integers(0, 10 ** (at % 9), len(ids)).astype([np.int64, np.int32][at % 2]))

    given = [[[section(at) for at in range(sections)] for _ in range(3)] for _ in range(3)]
    messages = [[packed(each) for each in mine] for mine in given]
    carrying = type(HOST)()  # a memory of which nobody says that it is the host's
    for memory in (HOST, carrying):
        found = told(Threads(3).members, memory, messages, alike)
        for rank, mine in enumerate(found):
            for sender, data in enumerate(mine):
                sent = given[sender][0 if alike else rank]
                like = [(each.first, each.length, each.values, False) for each in sent]
                for (ids, values), each in zip(unpacked(data, like), sent, strict=True):
                    assert np.array_equal(ids, each.ids)
                    assert np.array_equal(values, each.values)
    longest = max(len(each) for mine in messages for each in (mine[:1] if alike else mine))
    assert len(carried) == (3 if longest > ROOM else 0)
