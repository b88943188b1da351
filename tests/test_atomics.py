"""Atomics: the value, the old value, every dtype, many workers at one place; what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from compare import equal, workers

import frontier as fr
from frontier.functors.atomics import check_atomic

N = 3000
INTEGERS = ("int32", "int64", "uint32", "uint64")
NUMBERS = (*INTEGERS, "float32", "float64")


def problem(g):
    fields = {f"a_{dtype}": fr.vertex(dtype, 5) for dtype in NUMBERS}
    return fr.Problem(
        g, first=fr.vertex("int64"), place=fr.array(np.zeros(N, np.int64)), edges=fr.edge("int64"), won=fr.array([0]),
        **fields,
    )  # fmt: skip


def pile_up(p, v):
    """Everything at vertex 0, and a bit of it at vertex v % 7."""
    fr.atomic_add(p.a_int32, 0, 1)
    fr.atomic_add(p.a_int64, v % 7, -v)
    fr.atomic_add(p.a_uint32, 0, 3)
    fr.atomic_add(p.a_uint64, v % 7, v)
    fr.atomic_add(p.a_float32, 0, 0.5)
    fr.atomic_add(p.a_float64, v % 7, 0.25)
    fr.atomic_max(p.a_int32, 8, v)
    fr.atomic_min(p.a_int64, 8, -v)
    fr.atomic_max(p.a_uint32, 9, v)
    fr.atomic_min(p.a_uint64, 9, v + 2)
    fr.atomic_min(p.a_float32, 10, -v / 2)
    fr.atomic_max(p.a_float64, 10, v / 4)
    fr.atomic_or(p.a_int64, 11, 1 << (v % 40))
    fr.atomic_or(p.a_uint32, 11, 1 << (v % 20))


def tickets(p, v):
    """The old values of an add are a permutation; one call alone wins a compare-and-swap."""
    p.place[fr.atomic_add(p.first, 0, 1)] += v
    if fr.atomic_cas(p.first, 1, 0, v + 1) == 0:
        fr.atomic_add(p.won, 0, 1)


PILE_UP, TICKETS = fr.Compute(pile_up, over="vertices"), fr.Compute(tickets, over="vertices")


@pytest.mark.parametrize("count", [1, 4])
def test_nothing_is_lost(agree, count):
    p, _ = agree(fr.path(N), problem, lambda p: PILE_UP(p), count)
    v = np.arange(N)
    assert p.a_int32[0] == 5 + N
    assert p.a_float64.sum() == 5 * N + N / 4 - 5 + v[-1] / 4
    assert (p.a_int32[8], p.a_int64[8], p.a_float32[10]) == (N - 1, 1 - N, (1 - N) / 2)
    assert p.a_int64[11] == 2**40 - 1


@pytest.mark.parametrize("count", [1, 4])
def test_old_values(backend, count):
    p = problem(backend(fr.path(N)))
    with workers(count):
        TICKETS(p)
    assert sorted(p.place.tolist()) == list(range(N))
    assert p.won[0] == 1
    assert 1 <= p.first[1] <= N


def one_by_one(p, i):
    """Old and new values, one after another in one call."""
    p.place[0] = fr.atomic_add(p.a_int32, 0, 2)
    p.place[1] = fr.atomic_min(p.a_int32, 0, 6)
    p.place[2] = fr.atomic_max(p.a_int32, 0, 9)
    p.place[3] = fr.atomic_exch(p.a_int32, 0, 4)
    p.place[4] = fr.atomic_or(p.a_int32, 0, 3)
    p.place[5] = fr.atomic_cas(p.a_int32, 0, 1, 50)
    p.place[6] = fr.atomic_cas(p.a_int32, 0, 7, 60)
    p.place[7] = p.a_int32[0]
    fr.atomic_add(p.edges, 0, 1)


ONE_BY_ONE = fr.Compute(one_by_one, over=1)


def test_they_return_the_old_value(agree):
    p, _ = agree(fr.path(N), problem, lambda p: ONE_BY_ONE(p))
    assert p.place[:8].tolist() == [5, 7, 6, 9, 4, 7, 7, 60]
    assert p.edges[0] == 1


def test_plain_calls():
    """Outside a program they work on arrays of NumPy, with the same meaning."""
    a = np.array([5, 6])
    assert fr.atomic_add(a, 1, 4) == 6
    assert fr.atomic_min(a, 0, 9) == 5
    assert fr.atomic_cas(a, 1, 10, 3) == 10
    assert a.tolist() == [5, 3]
    with pytest.raises(fr.FunctorError, match="scalars take no atomics"):
        fr.atomic_add(5, 0, 1)


@pytest.mark.parametrize("name", ["add", "min", "max", "cas", "exch", "or"])
def test_dtypes(name):
    for dtype in NUMBERS:
        if name in ("cas", "exch", "or") and dtype.startswith("float"):
            with pytest.raises(
                fr.FunctorError, match=f"atomic_{name} works on integers of 32 or 64 bits, not on {dtype}"
            ):
                check_atomic(name, dtype)
        else:
            check_atomic(name, dtype)
    for dtype in ("int8", "uint16", "bool"):
        with pytest.raises(fr.FunctorError, match="of 32 or 64 bits"):
            check_atomic(name, dtype)


def unsigned(p, v):
    p.difference[v] = p.small[v] - p.large[v]
    p.before[v] = fr.atomic_add(p.small, v, 1) - p.two
    p.byte[v] = p.byte[v] + 3


def test_narrow_unsigned_integers_are_computed_with_as_signed_ones(backend):
    g = backend(fr.path(5))
    p = fr.Problem(
        g,
        small=fr.vertex("uint32", np.arange(5)),
        large=fr.vertex("uint32", 3),
        difference=fr.vertex("int64"),
        before=fr.vertex("float64"),
        byte=fr.vertex("uint8", 250),
        two=fr.scalar("uint16", 2),
    )
    fr.compute(p, fr.Frontier.all(g), unsigned)
    equal(p.difference, np.arange(5) - 3)
    equal(p.before, np.arange(5) - 2.0)
    equal(p.small, np.arange(5) + 1)
    equal(p.byte, 253)


def at_half(p, v):
    fr.atomic_add(p.x, v / 2, 1)


def swapped_at_half(p, v):
    fr.atomic_cas(p.x, v / 2, 0, 1)


@pytest.mark.unsimulated("its atomics cut the index off")
@pytest.mark.parametrize("fn", [at_half, swapped_at_half])
def test_an_index_is_an_integer(backend, fn):
    p = fr.Problem(backend(fr.path(4)), x=fr.vertex("int64"))
    with pytest.raises(fr.FunctorError, match="an index is an integer"):
        fr.compute(p, range(4), fn)
