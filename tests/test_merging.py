"""What members of a group have changed is merged alike by arrays, by kernels, and by a loop over the members."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import frontier as fr
from frontier.backends.cuda.simulator.phases import phases
from frontier.compile.codes import BLOCK_BITS
from frontier.distributed.devices.block_phases import WORDS
from frontier.distributed.devices.combining_phases import changers, combining, following
from frontier.distributed.merge import OPERATIONS, Written, merge
from frontier.program.problem import COMBINES

N = 5
PAIRS = {"min": min, "max": max, "or": lambda a, b: a | b, "and": lambda a, b: a & b, "claim": lambda a, b: a}
DTYPES = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64")
#: Floats have no bits to combine, and a sum of bools is merged by "or".
REFUSED = {"or": ("float32", "float64"), "and": ("float32", "float64"), "sum": ("bool",)}


class Member:
    """What a member has changed of a field: which elements, and its copy of the field."""

    def __init__(self, old, touched, values):
        self.touched, self.values = touched, np.where(touched, values, old).astype(old.dtype)

    @property
    def change(self):
        ids = np.flatnonzero(self.touched)
        return ids, self.values[ids]


def members_of(old, count, data, like=None):
    """What members may have changed of a field; ``like``: at least what they have of another one."""
    made = []
    for member in range(count):
        touched = np.array(data.draw(st.lists(st.booleans(), min_size=N, max_size=N)))
        touched |= False if like is None else like[member].touched
        values = data.draw(st.lists(st.integers(0, 9), min_size=N, max_size=N))
        made.append(Member(old, touched, np.array(values).astype(old.dtype)))
    return made


def merged(old, combine, members, v):
    """One element by the members in their order, and its winner; None if nobody has changed it, or none has won."""
    news = [(rank, each.values[v].item()) for rank, each in enumerate(members) if each.touched[v]]
    if not news:
        return old[v].item(), None
    if combine == "sum":
        value = old[v].item() + sum(new - old[v].item() for _, new in news)
        value = np.array(value).astype(old.dtype).item()  # of unsigned integers, no less than 0
    else:
        value = news[0][1]
        for _, new in news[1:]:
            value = PAIRS[combine](value, new)
    return value, next((rank for rank, new in news if new == value), None)


def followed(old, members, v, winner):
    """One element of a field that follows another."""
    if winner is not None:
        return members[winner].values[v].item()
    return next((each.values[v].item() for each in members if each.touched[v]), old[v].item())


def seen_by_kernels(members, stale=None):
    """The tables that kernels see: copies, of which some are stale where nobody has changed them, and marks."""
    copies, marked, blocks = [], [], 1
    for each in members:
        copies.append(each.values if stale is None else np.where(each.touched, each.values, stale))
        told = np.zeros(WORDS * blocks + blocks, np.uint32)
        for v in np.flatnonzero(each.touched):
            told[v >> 5] |= np.uint32(1 << (v & 31))
            told[WORDS * blocks + (v >> BLOCK_BITS)] = 1
        marked.append(told)
    return copies, marked


def kernel(function):
    return phases({"uint32_at": lambda table: table})(function, "merge")


def at(table):
    return table


def by_kernels(old, combine, members, followers, rank, mirrored):
    """What the owner ``rank`` makes of all elements of a field and of one that follows it."""
    count, who_of = len(members), kernel(changers)
    copies, marked = seen_by_kernels(members)
    bases, lead = [old] * count, combining(at, combine, str(old.dtype))
    leader = SimpleNamespace(mine=copies[rank], fields=copies, marked=marked, bases=bases)
    theirs, told = seen_by_kernels(followers, None if mirrored else -7)
    bring, follow = kernel(lead), kernel(following(at, lead, at, mirrored))
    mine = followers[rank].values
    made = []
    for v in range(N):
        of_leader, of_follower = (who_of(each, count, 1, v) for each in (marked, told))
        made.append((
            np.asarray(bring(copies[rank], copies, of_leader, bases, rank, count, 1, v)).astype(old.dtype).item(),
            follow(mine, theirs, of_follower, leader, rank, count, 1, v).item(),
        ))  # fmt: skip
    return made


@pytest.mark.parametrize("combine", COMBINES)
@given(st.integers(1, 4), st.booleans(), st.data())
def test_arrays_and_kernels_merge_as_a_loop_does(combine, count, mirrored, data):
    """NaN is not among the values: of that and a number, arrays give the number, and kernels what came first."""
    dtype = data.draw(st.sampled_from([dtype for dtype in DTYPES if dtype not in REFUSED.get(combine, ())]))
    old = np.array(data.draw(st.lists(st.integers(0, 9), min_size=N, max_size=N))).astype(dtype)
    members = members_of(old, count, data)
    before = np.full(N, -1)
    followers = members_of(before, count, data, None if mirrored else members)
    last = members_of(before, count, data)

    arrays = {"x": old.copy(), "y": before.copy(), "z": before.copy()}
    fields = [Written("z", "claim", "y"), Written("y", "claim", "x"), Written("x", combine)]
    told = zip(members, followers, last, strict=True)
    merge(arrays, fields, [dict(zip("xyz", (each.change for each in some), strict=True)) for some in told])
    rank = data.draw(st.integers(0, count - 1))
    of_kernels = by_kernels(old, combine, members, followers, rank, mirrored)
    for v in range(N):
        value, winner = merged(old, combine, members, v)
        follower = followed(before, followers, v, winner)
        assert (arrays["x"][v], arrays["y"][v]) == (value, follower)
        assert arrays["z"][v] == followed(before, last, v, winner)
        assert of_kernels[v] == (value, follower)


def test_every_combine_that_can_be_declared_has_an_operation():
    assert {*OPERATIONS, "claim"} == set(COMBINES) == {*PAIRS, "sum"}


def test_what_is_added_to_zero_is_told_instead_of_the_value():
    array = np.array([5.0, np.nan])
    changes = [{"x": (np.array([0]), np.array([2.0]))}, {"x": (np.array([0]), np.array([-1.0]))}]
    merge({"x": array}, [Written("x", "sum", added=frozenset({"all"}))], changes)
    assert array[0] == 6.0


def test_of_rows_all_values_are_merged():
    array = np.array([[1, 8], [3, 4]])
    changes = [{"x": (np.array([0]), np.array([[7, 2]]))}, {"x": (np.array([0]), np.array([[5, 6]]))}]
    merge({"x": array}, [Written("x", "min")], changes)
    assert array.tolist() == [[5, 2], [3, 4]]


def test_fields_do_not_follow_each_other_in_a_circle():
    with pytest.raises(fr.FrontierError, match="goes round: a with b with a"):
        fr.Problem(fr.path(3), a=fr.vertex("int64", with_="b"), b=fr.vertex("int64", with_="a"))
