"""Problem: first values, what the host reads and writes, piles, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from compare import ids

import frontier as fr

G = fr.from_edges([0, 1, 2, 2], [1, 2, 3, 0], [1.0, 2.0, 3.0, 4.0], directed=True)


def test_first_values():
    p = fr.Problem(
        G,
        a=fr.vertex("int32"),
        b=fr.vertex("float32", 2.5),
        c=fr.vertex("int64", [4, 3, 2, 1]),
        d=fr.edge("bool", True),
        e=fr.scalar("uint8", 200),
        f=fr.array([1.5, 2.5]),
        g=fr.pile(),
        h=fr.pile("edge"),
        i=fr.vertex(np.float64, np.inf),
    )
    assert (p.a.tolist(), p.a.dtype) == ([0] * 4, np.int32)
    assert (p.b.tolist(), p.b.dtype) == ([2.5] * 4, np.float32)
    assert p.c.tolist() == [4, 3, 2, 1]
    assert (p.d.tolist(), p.d.dtype) == ([True] * 4, np.bool_)
    assert (p.e, p.e.dtype) == (200, np.uint8)
    assert p.f.tolist() == [1.5, 2.5]
    assert ids(p.g) == ("vertex", [])
    assert ids(p.h) == ("edge", [])
    assert np.isinf(p.i).all()
    assert repr(p).startswith("Problem(<Graph")
    assert {"a", "e", "g", "graph"} <= set(dir(p))


def test_arrays_given_are_copied():
    values = np.arange(4)
    p = fr.Problem(G, a=fr.vertex("int64", values), b=fr.array(values))
    values[:] = 9
    assert p.a.tolist() == p.b.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("dtype", [">i4", "<i4", ">f8", ">u2"])
def test_fields_of_another_order_of_bytes(backend, dtype):
    a = fr.array(np.arange(3, dtype=dtype))
    p = fr.Problem(backend(fr.path(4)), x=fr.vertex(dtype, np.arange(4)), s=fr.scalar(dtype, 3), a=a)
    fr.compute(p, range(4), added)
    assert p.x.tolist() == [5, 6, 7, 8]
    assert p.x.dtype.isnative
    with pytest.raises(fr.FrontierError, match="float16"):
        fr.vertex(">f2")


def added(p, v):
    p.x[v] += p.s + p.a[2]


def test_two_problems_of_one_description_share_nothing():
    fields = {"a": fr.vertex("int64", np.arange(4)), "b": fr.array([1, 2]), "c": fr.scalar("int32"), "d": fr.pile()}
    p, q = fr.Problem(G, **fields), fr.Problem(G, **fields)
    p.a[0], p.b[0], p.c, p.d = 7, 7, 7, [2]
    assert (q.a[0], q.b[0], q.c, len(q.d)) == (0, 1, 0, 0)


def test_the_host_writes_by_assignment():
    p = fr.Problem(G, a=fr.vertex("int32"), b=fr.scalar("float64"), far=fr.pile(), later=fr.pile("edge"))
    held = p.a
    p.a = [4, 3, 2, 1]
    assert held is p.a
    assert held.tolist() == [4, 3, 2, 1]
    p.a = 5.0
    assert held.tolist() == [5] * 4
    p.b = 2
    p.b += 0.5
    assert p.b == 2.5
    p.far = [3, 3, 1]
    assert ids(p.far) == ("vertex", [1, 3])
    p.far |= fr.Frontier(G, [0])
    assert ids(p.far) == ("vertex", [0, 1, 3])
    p.later = fr.Frontier.all(G, "edge")
    assert p.later.is_all


def test_unsigned_fields_refuse_minus_one():
    with pytest.raises(fr.FrontierError, match=r"'a' of uint32 holds 0..4294967295: -1 does not fit"):
        fr.Problem(G, a=fr.vertex("uint32", -1))
    p = fr.Problem(G, a=fr.vertex("uint32"), b=fr.scalar("uint8"))
    with pytest.raises(fr.FrontierError, match="-1 does not fit"):
        p.a = -1
    with pytest.raises(fr.FrontierError, match="256 does not fit"):
        p.b = 256


@pytest.mark.parametrize(
    ("field", "message"),
    [
        (lambda: fr.vertex("int8", 128), "holds -128..127: 128 does not fit"),
        (lambda: fr.vertex("int32", 0.5), "not a whole number"),
        (lambda: fr.vertex("int32", np.nan), "not a whole number"),
        (lambda: fr.vertex("int32", np.inf), "not fit"),
        (lambda: fr.vertex("int32", "x"), "holds int32"),
        (lambda: fr.vertex("float64", "x"), "holds float64"),
        (lambda: fr.vertex("float64", None), "holds float64"),
        (lambda: fr.vertex("int32", [1, 2, 3]), r"shape \(3,\), but there are 4 vertices"),
        (lambda: fr.edge("int32", [[1]]), r"shape \(1, 1\), but there are 4 edges"),
        (lambda: fr.vertex("complex128"), "not complex128"),
        (lambda: fr.vertex("float16"), "use float32"),
        (lambda: fr.vertex("U3"), "fields hold integers"),
        (lambda: fr.vertex("nonsense"), "nonsense"),
        (lambda: fr.vertex("int32", combine="mean"), "combine='mean': choose from"),
        (lambda: fr.vertex("float64", combine="or"), "is for integers and bools, and the field holds float64"),
        (lambda: fr.array([[1, 2], [3, 4]]), "one-dimensional"),
        (lambda: fr.array(["a"]), "fields hold integers"),
        (lambda: fr.pile("vertices"), "not 'vertices'"),
        (lambda: fr.scalar("int32", [1, 2]), "but it is a scalar"),
        (lambda: 5, "make fields with fr.vertex"),
    ],
)
def test_what_is_no_field(field, message):
    with pytest.raises(fr.FrontierError, match=message):
        fr.Problem(G, a=field())


@pytest.mark.parametrize("name", ["graph", "fields", "arrays", "_hidden", "class", "two words", ""])
def test_names_that_are_taken(name):
    with pytest.raises(fr.FrontierError, match="cannot be called"):
        fr.Problem(G, **{name: fr.scalar("int32")})


def test_names_that_other_tuples_have_are_free(backend):
    p = fr.Problem(
        backend(G), count=fr.scalar("int64", 2), index=fr.vertex("int64"), run=fr.scalar("int32", 3), w=fr.array([7])
    )
    fr.compute(p, fr.Frontier.all(p.graph), tuple_names)
    assert p.index.tolist() == [12 + v for v in range(4)]


def tuple_names(p, v):
    p.index[v] += p.count + p.run + p.w[0] + v


def test_a_field_that_is_not_there():
    p = fr.Problem(G, level=fr.vertex("int32"), far=fr.pile())
    with pytest.raises(AttributeError, match="no field 'levle'; it has level, far"):
        print(p.levle)
    with pytest.raises(AttributeError, match="no field 'levle'"):
        p.levle = 3
    with pytest.raises(fr.FrontierError, match="shape"):
        p.level = [1, 2]
    with pytest.raises(fr.GraphError, match="vertex 4 does not exist"):
        p.far = [4]
    with pytest.raises(fr.FrontierError, match="holds vertex ids, not edge ids"):
        p.far = fr.Frontier(G, [0], "edge")
    with pytest.raises(fr.FrontierError, match="different graphs"):
        p.far = fr.Frontier(fr.path(3), [0])


def test_a_problem_without_fields(backend):
    p = fr.Problem(backend(G))
    f = fr.filter(p, fr.Frontier.all(p.graph), odd)
    assert ids(f) == ("vertex", [1, 3])


def odd(p, v):
    return v % 2 == 1


def test_fields_that_do_not_fit_into_memory(monkeypatch):
    long, short = fr.path(13), fr.path(12)
    monkeypatch.setattr("frontier.memory.host.HostMemory.small", 0)
    monkeypatch.setattr("frontier.memory.limits.free", lambda: (99, ""))
    with pytest.raises(fr.FrontierMemoryError, match=r"at least 104 bytes are needed .*, 99 are free .*narrower"):
        fr.Problem(long, x=fr.vertex("float64"))
    assert isinstance(fr.Problem(short, x=fr.vertex("float64")), fr.Problem)


def even(p, v):
    return v % 2 == 0


def test_equal_steps_are_kept_once_for_a_problem():
    p = fr.Problem(fr.path(6), x=fr.vertex("int64"))
    everything = fr.Frontier.all(p.graph)
    for _ in range(3):  # a step made anew in every pass of a Python loop must not be compiled anew
        assert ids(fr.Filter(even)(p, everything)) == ("vertex", [0, 2, 4])
        assert ids(fr.filter(p, everything, even)) == ("vertex", [0, 2, 4])
    assert len([key for key in p.workspace if key[0] == "step"]) == 1
