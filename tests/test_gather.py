"""Gather: every operation over in- and out-edges, conditions, identities, dtypes; what it refuses."""

from __future__ import annotations

import importlib
import os

import numpy as np
import pool
import pytest
from compare import WORKERS, at, close, equal, host
from hypothesis import given
from hypothesis import strategies as st
from strategies import frontiers, graphs

import frontier as fr
from frontier.operators.shared.cpu_walks import begins_heavy, vertex_at
from frontier.program.execution import run

counts = st.sampled_from(WORKERS)
DTYPES = ("bool", "int8", "int32", "uint32", "int64", "float32", "float64")


def problem(g):
    n = g.num_vertices
    outputs = {f"o_{dtype}": fr.vertex(dtype, 1) for dtype in DTYPES}
    return fr.Problem(
        g,
        value=fr.vertex("int32", np.arange(n) * 5 % 17 - 3),
        real=fr.vertex("float32", (np.arange(n) * 5 % 17 - 3) / 4),
        price=fr.edge("int64", np.arange(g.num_slots) % 13),
        open=fr.vertex("bool", np.arange(n) % 3 > 0),
        **outputs,
    )


def both_ends(p, src, dst, edge, weight):
    return (p.value[src] * 2 + p.value[dst]) % 8 * (p.price[edge] % 3) + weight % 50


def real_ends(p, src, dst):
    return p.real[src] * 2 - p.real[dst]


def by_weight(p, src, weight):
    return p.value[src] * weight


def steep(p, src, dst):
    return p.value[src] > p.value[dst]


def one(p, src):
    return 1


STEPS = [
    fr.Gather(both_ends, "sum", into="o_int64"),
    fr.Gather(both_ends, "max", into="o_int64", edges="out"),
    fr.Gather(both_ends, "min", into="o_int64", where=pool.open_src),
    fr.Gather(both_ends, "sum", into="o_float64", edges="out", where=pool.open_dst),
    fr.Gather(by_weight, "sum", into="o_int64"),
    fr.Gather(by_weight, "sum", into="o_int64", edges="out"),
    fr.Gather(real_ends, "sum", into="o_float32"),
    fr.Gather(real_ends, "min", into="o_float64"),
    fr.Gather(real_ends, "max", into="o_float32", edges="out"),
    fr.Gather(real_ends, "any", into="o_bool"),
    fr.Gather(steep, "any", into="o_bool"),
    fr.Gather(steep, "all", into="o_bool", edges="out"),
    fr.Gather(steep, "all", into="o_int8"),
    fr.Gather(steep, "sum", into="o_uint32"),
    fr.Gather(steep, "max", into="o_bool"),
]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: f"{step.fn.__name__}-{step.op}-{step.into}-{step.edges}")
@given(st.data())
def test_backends_agree(agree, step, data):
    g = data.draw(graphs(weights="int32"))
    f = data.draw(frontiers(g))
    p, result = agree(g, problem, lambda p: step(p, at(p, f)), data.draw(counts))
    assert result == f
    beside = np.setdiff1d(np.arange(g.num_vertices), f.ids)
    assert (getattr(p, step.into)[beside] == 1).all()  # only the frontier's entries are written


def test_sums_by_hand(backend):
    g = backend(fr.from_edges([0, 1, 2, 2], [2, 2, 2, 0], [5, 6, 7, 8], num_vertices=4, directed=True))
    p = problem(g)
    everything = fr.Frontier.all(g)
    fr.gather(p, everything, one, "sum", into="o_int64")
    assert p.o_int64.tolist() == [1, 0, 3, 0]  # the in-degrees
    fr.gather(p, everything, one, "sum", into="o_int64", edges="out")
    assert p.o_int64.tolist() == [1, 1, 2, 0]


@pytest.mark.parametrize(
    ("op", "into", "identity"),
    [
        ("sum", "o_int32", 0), ("min", "o_int32", 2**31 - 1), ("max", "o_int32", -(2**31)),
        ("min", "o_float32", np.inf), ("max", "o_float64", -np.inf), ("any", "o_bool", False),
        ("all", "o_bool", True), ("min", "o_uint32", 2**32 - 1), ("max", "o_uint32", 0), ("min", "o_int8", 127),
    ],
)  # fmt: skip
def test_no_edges_give_the_identity(backend, op, into, identity):
    g = backend(fr.from_edges([0], [1], [1], num_vertices=3, directed=True))
    p = problem(g)
    fr.gather(p, fr.Frontier.all(g), one, op, into=into)
    assert getattr(p, into)[0] == getattr(p, into)[2] == identity
    assert getattr(p, into)[1] == 1


def relaxed(p, src):
    return p.o_float64[src] / 2 + 1


def writing(p, src):
    p.value[src] = 1
    return 1


def test_it_must_not_read_what_it_writes(backend):
    p = problem(backend(fr.path(3)))
    with pytest.raises(fr.FunctorError, match=r"relaxed .*reads field 'o_float64'.*inplace=True"):
        fr.gather(p, fr.Frontier.all(p.graph), relaxed, "sum", into="o_float64")
    with pytest.raises(fr.FunctorError, match=r"writing .*writes field 'value'.*no side effects"):
        fr.gather(p, fr.Frontier.all(p.graph), writing, "sum", into="o_float64")


SETTLE = fr.Loop(fr.Gather(relaxed, "max", into="o_float64", inplace=True), times=60, over="vertices")


def test_inplace_lifts_this(backend):
    """Gauss-Seidel: whatever the order, the fixed point is the same."""
    p = problem(backend(fr.complete(5)))
    SETTLE(p)
    close(p.o_float64, 2.0)


def test_it_refuses(backend):
    g = backend(fr.path(3))
    p = problem(g)
    with pytest.raises(fr.FrontierError, match="'price' is of kind edge, not vertex"):
        fr.gather(p, fr.Frontier.all(g), one, "sum", into="price")
    with pytest.raises(fr.FrontierError, match="over a frontier of vertices"):
        fr.gather(p, fr.Frontier.all(g, "edge"), one, "sum", into="o_int64")
    with pytest.raises(fr.FrontierError, match="edges='both'"):
        fr.Gather(one, "sum", into="o_int64", edges="both")
    with pytest.raises(fr.GraphError, match="no weights"):
        fr.gather(p, fr.Frontier.all(g), by_weight, "sum", into="o_int64")
    with pytest.raises(fr.FunctorError, match="no argument 'dst' here; there is src"):
        fr.Gather(one, "sum", into="o_int64", where=pool.open_dst)


def weighed(p, src, weight):
    return p.real[src] * weight


@pytest.mark.parametrize(("op", "of"), [("sum", np.nansum), ("min", np.nanmin), ("max", np.nanmax)])
def test_floats_of_lists_of_every_length(backend, op, of):
    """Every edge counts once: of lists too short to go abreast, of others, and of what is left of these."""
    lengths = np.array([*range(1, 21), 67])
    rng = np.random.default_rng(3)
    src = np.concatenate([100 + rng.permutation(67)[:k] for k in lengths])
    dst = np.repeat(np.arange(len(lengths)), lengths)
    weights = rng.integers(1, 9, len(src)).astype(float)
    real = rng.integers(-500, 500, 167).astype(float)
    if op != "sum":
        real[100 + rng.permutation(67)[:5]] = np.nan  # which is never less or greater
        real[src[0]] = 7  # the only edge of a vertex
    g = fr.from_edges(src, dst, weights, num_vertices=167, directed=True)
    p = fr.Problem(backend(g), real=fr.vertex("float32", real), found=fr.vertex("float64"))
    fr.gather(p, fr.Frontier.all(p.graph), weighed, op, into="found")
    equal(host(p.found)[: len(lengths)], [of((real[src] * weights)[dst == v]) for v in range(len(lengths))])


def test_pieces_have_equally_many_edges():
    g = fr.rmat(10, 16, seed=1).reordered("degree")
    n, offsets = g.num_vertices, g.offsets
    assert offsets[64] > g.num_slots / 4  # a sixteenth of the vertices has more than a quarter of the edges
    bounds = np.array([vertex_at(g, n, first) for first in range(0, n + 1, 64)])
    assert (bounds[0], bounds[-1]) == (0, n)
    work = np.diff(bounds) + np.diff(offsets[bounds])
    assert (np.abs(work - work.mean()) <= g.traits.max_degree + 2).all()
    assert (np.abs(work[4:] - work.mean()) < work.mean() / 4).all()  # behind the hubs
    assert begins_heavy(g, n, 64)  # so they are looked for
    assert not begins_heavy(g, n, 4 * n)  # a piece for all
    assert not any(begins_heavy(even, even.num_vertices, 64) for even in (fr.grid(30, 40), fr.path(2)))


def far_value(p, src):
    return p.value[src]


def test_pieces_are_dealt_out_where_there_are_hubs(compiled, monkeypatch):
    """Warps take pieces of a frontier one after another, where it has more vertices than there are threads."""
    monkeypatch.setattr(importlib.import_module("frontier.operators.gather.cuda_walks"), "MANY", 0)
    n = 2600 if os.environ.get("NUMBA_ENABLE_CUDASIM") == "1" else 300_000
    rng = np.random.default_rng(1)
    src = np.concatenate((np.arange(1, 1501), rng.integers(0, n, 2 * n)))
    dst = np.concatenate((np.zeros(1500, int), rng.integers(0, n, 2 * n)))
    g = fr.from_edges(src, dst, num_vertices=n)
    assert g.in_degree.max() > 1024
    value = np.arange(n) * 5 % 17
    p = fr.Problem(compiled(g), value=fr.vertex("int64", value), sum=fr.vertex("int64", -1))
    run(fr.Sequence(fr.Gather(far_value, "sum", into="sum"), over="vertices"), p)
    equal(host(p.sum), np.bincount(g.targets, weights=value[g.sources], minlength=n).astype(np.int64))
