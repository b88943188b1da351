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
    "an id is the value": _gather(its_id, "min"),
    "ids are compared": _gather(no_loop),
    "values are ids": _gather(through_a_field),
    "a vertex by its id": _gather(of_first),
    "the degree of a vertex by its id": _gather(degree_of_first),
    "ids are hashed": fr.Compute(hashed, over="vertices"),
    "ids find elements of an array": fr.Compute(in_an_array, over="vertices"),
    "edge fields": _gather(of_an_edge),
    "numbers find vertices": fr.Compute(numbered, over=16),
    "perhaps another vertex": fr.Compute(either, over="vertices"),
    "the far end": fr.Gather(of_source, "argmin", into="total", over="vertices"),
    "in place": fr.Gather(lambda p, src: p.total[src] + 1, "max", into="total", inplace=True, over="vertices"),
    "a vertex": fr.Compute(lambda p, v: None, over="first"),
    "another operator": fr.Sequence(
        fr.Filter(lambda p, v: p.x[v] % 2 == 0), fr.Reduce(lambda p, v: p.x[v], "sum", into="first"), over="vertices"
    ),
    "an order": fr.Loop(fr.Advance(lambda p, src, dst: False), order=fr.by("x"), over="vertices"),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_programs_that_see_the_numbering(reason: str) -> None:
    g = web()
    extra = {"table": fr.array(np.zeros(64)), "on_edges": fr.edge("int64"), "first": fr.scalar("int64")}
    p = fr.Problem(g, x=fr.vertex("int64", 1), y=fr.vertex("float64"), total=fr.vertex("int64"), **extra)
    assert renumbers(lambda: fr.Sequence(_gather(of_source), schedule=BY_DEGREE)(p))
    assert not renumbers(lambda: fr.Sequence(REFUSED[reason], schedule=BY_DEGREE)(p))


def test_graphs_and_frontiers_that_stay() -> None:
    step = fr.Sequence(fr.Gather(of_source, "sum", into="total"), schedule=BY_DEGREE)
    for g in (web().compressed(), web().to("cpu", edges="disk")):
        p = problem(g)
        assert not renumbers(lambda p=p: step(p, fr.Frontier.all(p.graph)))
    assert not renumbers(lambda: fr.pagerank(web().to("ranks:2,python"), tolerance=1e-2, schedule=BY_DEGREE))
    p = problem(web())
    assert not renumbers(lambda: step(p, [1, 2]))
    piled = fr.Problem(web(), x=fr.vertex("int64"), total=fr.vertex("int64"), pile=fr.pile())
    assert not renumbers(lambda: step(piled, fr.Frontier.all(piled.graph)))
