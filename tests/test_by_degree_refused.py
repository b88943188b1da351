"""Programs and graphs that do not run on a copy in order of degree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_by_degree import BY_DEGREE, of_source, problem, renumbers, web

import frontier as fr


def its_id(p, src):
    return src


def no_loop(p, src, dst):
    return p.x[src] if src != dst else 0


def through_a_field(p, src):
    return p.x[p.x[src] % p.num_vertices]


def of_first(p, src):
    return p.x[src] + p.x[0]


def degree_of_first(p, src):
    return fr.degree(p, 0) + p.x[src]


def hashed(p, v):
    p.x[v] = fr.hash(v) % 64


def in_an_array(p, v):
    p.table[v] = p.x[v]


def of_an_edge(p, edge):
    return p.on_edges[edge]


def numbered(p, i):
    p.x[i] = i


def either(p, v):
    u = v
    if p.x[v] > 2:
        u = 0
    p.x[v] = fr.degree(p, u)


def _gather(fn: Any, op: str = "sum", **options: Any) -> fr.Step:
    return fr.Gather(fn, op, into="total", over="vertices", **options)


REFUSED = {
    "its_id uses src as a value": _gather(its_id, "min"),
    "no_loop uses dst as a value": _gather(no_loop),
    "through_a_field uses p.x of any vertex": _gather(through_a_field),
    "of_first uses p.x of any vertex": _gather(of_first),
    "degree_of_first looks up edges or degrees": _gather(degree_of_first),
    "hashed uses v as a value": fr.Compute(hashed, over="vertices"),
    "in_an_array finds elements of p.table by ids": fr.Compute(in_an_array, over="vertices"),
    "of_an_edge uses the edge field p.on_edges": _gather(of_an_edge),
    "numbered uses p.x of any vertex": fr.Compute(numbered, over=16),
    "either uses v as a value": fr.Compute(either, over="vertices"),
    "Gather(of_source) depends on it": fr.Gather(of_source, "argmin", into="total", over="vertices"),
    "Gather(<lambda>) depends on it": _gather(lambda p, src: p.total[src] + 1, "max", inplace=True),
    "Compute(<lambda>) runs over first": fr.Compute(lambda p, v: None, over="first"),
    "Filter(<lambda>) depends on it": fr.Sequence(
        fr.Filter(lambda p, v: p.x[v] % 2 == 0), fr.Reduce(lambda p, v: p.x[v], "sum", into="first"), over="vertices"
    ),
    "Loop(Advance(<lambda>)) depends on it": fr.Loop(
        fr.Advance(lambda p, src, dst: False), order=fr.by("x"), over="vertices"
    ),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_programs_that_see_the_numbering(reason: str) -> None:
    g = web()
    extra = {"table": fr.array(np.zeros(64)), "on_edges": fr.edge("int64"), "first": fr.scalar("int64")}
    p = fr.Problem(g, x=fr.vertex("int64", 1), y=fr.vertex("float64"), total=fr.vertex("int64"), **extra)
    assert renumbers(lambda: fr.Sequence(_gather(of_source), schedule=BY_DEGREE)(p))
    step = fr.Sequence(REFUSED[reason], schedule=BY_DEGREE)
    assert not renumbers(lambda: step(p))
    assert step.explain(p).startswith(f"# The graph keeps its numbering: {reason}.\n")


def test_graphs_and_frontiers_that_stay() -> None:
    step = fr.Sequence(fr.Gather(of_source, "sum", into="total"), schedule=BY_DEGREE)
    compressed, on_disk = web().compressed(), web().to("cpu", edges="disk")
    for g, reason in ((compressed, "its lists are compressed"), (on_disk, "its edges lie on the disk")):
        p = problem(g)
        assert not renumbers(lambda p=p: step(p, fr.Frontier.all(p.graph)))
        assert f"keeps its numbering: {reason}" in step.explain(p)
    assert not renumbers(lambda: fr.pagerank(web().to("ranks:2,python"), tolerance=1e-2, schedule=BY_DEGREE))
    p = problem(web())
    assert not renumbers(lambda: step(p, [1, 2]))
    assert "keeps its numbering: it begins with some elements only" in step.explain(p, [1, 2])
    piled = fr.Problem(web(), x=fr.vertex("int64"), total=fr.vertex("int64"), pile=fr.pile())
    assert not renumbers(lambda: step(piled, fr.Frontier.all(piled.graph)))
    assert "keeps its numbering: the problem has piles" in step.explain(piled)
