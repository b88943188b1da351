"""Fields with several values an edge: steps that run over all of them, and gathers that read them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import frontier as fr
from frontier.memory import detection
from frontier.memory.arrays import to_host
from frontier.program import execution

SIMULATED = detection.simulated()


def graph(directed: bool = True) -> fr.Graph:
    return fr.rmat(3 if SIMULATED else 6, 4, seed=2, directed=directed, weights=(1, 9))


def values(g: fr.Graph, width: int, dtype: str = "int64") -> Any:
    return np.random.default_rng(0).integers(0, 9, (g.num_slots, width)).astype(dtype)


def columns(p, edge, i):
    p.h[edge, i] = 2 * p.h[edge, i] + i


def ends(p, weight, i, dst, edge, src):
    p.h[edge, i] += i * (src - dst) * weight


def of_ends(p, src, i):
    return src * i


def of_value(p, edge, i):
    return p.h[edge, i] * (i + 1)


def two(p, edge, i):
    return 2


@pytest.mark.parametrize(("width", "dtype"), [(1, "float64"), (3, "int32"), (3, "int64"), (33, "float64")])
def test_steps_run_over_all_values(backend, width, dtype):
    g = graph()
    h = values(g, width, dtype)
    p = fr.Problem(
        backend(g), h=fr.edge(dtype, h, shape=width), sum=fr.scalar("int64"), total=fr.scalar(dtype),
        count=fr.scalar("int64"),
    )  # fmt: skip
    steps = (
        fr.Compute(columns, over="h"),
        fr.Compute(ends, over="h"),
        fr.Reduce(of_value, "sum", into="total", over="h"),
        fr.Reduce(of_ends, "sum", into="sum", over="h"),
        fr.Reduce(two, "sum", into="count", over="h"),
    )
    execution.run(fr.Loop(*steps, times=2), p)
    i, src, dst = np.arange(width), g.sources[:, None].astype("int64"), g.targets[:, None].astype("int64")
    for _ in range(2):
        h = 2 * h + i + i * (src - dst) * g.weights[:, None]
    assert (to_host(p.h) == h).all()
    assert p.total == (h * (i + 1)).sum()
    assert p.sum == (src * i).sum()
    assert p.count == 2 * h.size


def test_the_frontier_around_does_not_change(backend):
    g = backend(graph())
    p = fr.Problem(g, h=fr.edge("int64", shape=2))
    f = fr.Frontier(g, [1, 3])
    after = execution.run(fr.Sequence(fr.Compute(columns, over="h")), p, f)
    assert sorted(after) == [1, 3]
    assert (to_host(p.h) == [0, 1]).all()


def test_a_graph_without_edges(backend):
    p = fr.Problem(
        backend(fr.from_edges([], [], num_vertices=3)), h=fr.edge("int64", shape=2), total=fr.scalar("int64", 7)
    )
    fr.Compute(columns, over="h")(p)
    fr.Reduce(of_value, "sum", into="total", over="h")(p)
    assert p.total == 0


# ---- gathers -------------------------------------------------------------------------------------------------


def gated(p, src, edge, i):
    return p.h[edge, i] * p.x[src, i]


def gated_out(p, dst, edge, i):
    return p.h[edge, i] * p.x[dst, i]


def second(p, edge):
    return p.h[edge, 1]


def even(p, dst):
    return dst % 2 == 0


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("width", [2, 33])
def test_gathers_read_values_of_edges(backend, directed, width):
    g = graph(directed)
    n, h = g.num_vertices, values(g, width)
    x = np.random.default_rng(1).integers(0, 5, (n, width))
    p = fr.Problem(
        backend(g), h=fr.edge("int64", h, shape=width), x=fr.vertex("int64", x, shape=width),
        sum=fr.vertex("int64", shape=width), most=fr.vertex("int64", -1, shape=width), one=fr.vertex("int64"),
    )  # fmt: skip
    everything, some = fr.Frontier.all(p.graph), [0, 2, n - 1]
    fr.gather(p, everything, gated, "sum", into="sum")
    fr.gather(p, fr.Frontier(p.graph, some), gated_out, "max", into="most", edges="out", where=even)
    fr.gather(p, everything, second, "sum", into="one")
    sums, one = np.zeros((n, width), int), np.zeros(n, int)
    np.add.at(sums, g.targets, h * x[g.sources])
    np.add.at(one, g.targets, h[:, 1])
    assert (to_host(p.sum) == sums).all()
    assert (to_host(p.one) == one).all()
    least = np.iinfo("int64").min
    for v in range(n):
        slots = (g.sources == v) & (g.targets % 2 == 0)
        found = (h[slots] * x[g.targets[slots]]).max(axis=0, initial=least) if v in some else -1
        assert (to_host(p.most)[v] == found).all()


def highest(p, edge, i):
    return p.h[edge, i]


def exponential(p, dst, edge, i):
    p.h[edge, i] = math.exp(p.h[edge, i] - p.top[dst, i])


def share(p, dst, edge, i):
    p.h[edge, i] /= p.sum[dst, i]


def softmax(g: fr.Graph, h: Any) -> fr.Problem:
    """A softmax of the values of the edges that enter a vertex."""
    steps = fr.Sequence(
        fr.Gather(highest, "max", into="top", over="vertices"),
        fr.Compute(exponential, over="h"),
        fr.Gather(highest, "sum", into="sum", over="vertices"),
        fr.Compute(share, over="h"),
        fr.Gather(highest, "sum", into="top", over="vertices"),
    )
    width = h.shape[1]
    p = fr.Problem(
        g, h=fr.edge("float64", h, shape=width), top=fr.vertex("float64", shape=width),
        sum=fr.vertex("float64", shape=width),
    )  # fmt: skip
    execution.run(steps, p)
    return p


def softmax_by_numpy(g: fr.Graph, h: Any) -> Any:
    made = np.empty_like(h)
    for v in range(g.num_vertices):
        slots = g.targets == v
        made[slots] = np.exp(h[slots]) / np.exp(h[slots]).sum(axis=0)
    return made


def test_softmax_of_edges(backend):
    g = graph()
    h = np.random.default_rng(3).normal(size=(g.num_slots, 4))
    p = softmax(backend(g), h)
    assert np.allclose(to_host(p.h), softmax_by_numpy(g, h), rtol=1e-12)
    assert np.allclose(to_host(p.top), (g.in_degree > 0)[:, None], rtol=1e-12)


# ---- what is refused, and warned of ----------------------------------------------------------------------------


def of_vertex(p, v, i):
    p.x[v, i] = v + i


def alone(p, i):
    return i


def beyond(p, edge, i):
    p.h[edge, i] = 1


def mixed(p, v, edge, i):
    return 1


def test_what_does_not_fit_is_refused(backend):
    g = backend(graph())
    p = fr.Problem(
        g, h=fr.edge("int64", shape=2), wide=fr.edge("int64", shape=5), x=fr.vertex("int64", shape=5),
        y=fr.edge("int64"),
    )  # fmt: skip
    for fn, over, said in (
        (of_vertex, "h", r"has several values an edge, so of_vertex .* may take src, dst, edge, weight, i, not v"),
        (two, "x", r"has several values a vertex, so two .* may take v, i, not edge, i"),
        (alone, "h", "takes edge, i"),
        (alone, "x", "takes v, i"),
        (two, "y", "a field with several values a vertex or edge"),
        (two, "edges", "a functor of i runs over a count"),
        (two, 3, "no argument 'edge' here; there is i"),
        (beyond, "wide", r"p\.h\[\.\.\.\] has 2 values each, and i goes up to 4"),
    ):
        with pytest.raises(fr.FrontierError, match=said):
            execution.run(fr.Compute(fn, over=over), p)
    with pytest.raises(fr.FrontierError, match="over='h'"):
        execution.run(fr.Filter(two, over="h"), p)
    with pytest.raises(fr.FunctorError, match="no argument 'i' here"):
        fr.compute(p, fr.Frontier.all(g, "edge"), two)
    with pytest.raises(fr.FunctorError, match="mix arguments of a vertex"):
        fr.Compute(mixed, over="h")


def test_weights_are_asked_of_a_graph_that_has_some(backend):
    p = fr.Problem(backend(fr.path(4)), h=fr.edge("int64", shape=2))
    with pytest.raises(fr.GraphError, match="takes the weight of an edge"):
        execution.run(fr.Compute(ends, over="h"), p)


def at_end(p, dst, edge, i):
    p.x[dst, i] += p.h[edge, i]


def of_edge(p, edge, i):
    p.y[edge] += i


def own(p, edge, i):
    p.h[edge, i] += 1


def test_changes_that_are_lost(backend):
    p = fr.Problem(backend(graph()), h=fr.edge("int64", shape=2), y=fr.edge("int64"), x=fr.vertex("int64", shape=2))
    for fn in (at_end, of_edge):
        with pytest.warns(fr.FrontierWarning, match="changes are lost"):
            execution.run(fr.Compute(fn, over="h"), p)
    execution.run(fr.Compute(own, over="h"), p)  # a warning would be an error
    assert (to_host(p.h) == 1).all()


def outside(p, edge, i):
    p.h[edge + 1, i] = 1


def test_both_indices_are_checked(compiled, monkeypatch):
    monkeypatch.setenv("FRONTIER_CHECK", "1")
    p = fr.Problem(compiled(fr.path(5)), h=fr.edge("int32", shape=2))
    with pytest.raises(fr.FunctorError, match=r"p\.h\[8, \d\]: valid are 0\.\.7 and 0\.\.1"):
        execution.run(fr.Compute(outside, over="h"), p)
