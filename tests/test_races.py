"""A missing atomic is said: who, where, which field, and what to do. What is right is left in peace."""

from __future__ import annotations

import inspect
import warnings

import pytest

import frontier as fr
from frontier.program import races

G = fr.grid(3, 3, weights=(1, 9), seed=1)


@pytest.fixture(autouse=True)
def anew():
    races._registry.clear()


def problem(g):
    return fr.Problem(
        g, c=fr.vertex("int64"), d=fr.vertex("int64"), e=fr.edge("int64"), best=fr.vertex("float64"),
        parent=fr.vertex("int32", -1), a=fr.array([0] * 1000), total=fr.scalar("int64"), source=fr.scalar("int32"),
    )  # fmt: skip


def counts_dst(p, src, dst):
    p.c[dst] += 1


def counts_src(p, src, dst):
    p.d[src] = p.d[src] + p.c[dst]


def lowers(p, src, dst, weight):
    p.best[dst] = min(p.best[dst], p.best[src] + weight)


def by_a_variable(p, src, dst):
    old = p.c[dst]
    new = old + 1
    if new > 3:
        p.c[dst] = new
    return True


def bump(field, x):
    field[x] += 1


def by_helper(p, src, dst):
    add(p, dst)


def add(p, x):
    p.c[x] += 1


def of_parent(p, v):
    p.c[p.d[v]] += 1


def histogram(p, v):
    p.a[v % 10] += 1


def same(p, v):
    p.a[0] += 1


def of_neighbours(p, v):
    for e in fr.neighbours(p, v):
        p.c[fr.target(p, e)] += 1


def ends_of_edges(p, src):
    p.c[src] += 1


def corners(p, u, v, w):
    p.c[w] += 1


MISSING = {
    "advance": (
        fr.Advance(counts_dst), counts_dst, 1, r"p\.c\[dst\].*this advance.*fr\.atomic_add\(p\.c, dst, \.\.\.\)"
    ),
    "src": (fr.Advance(counts_src), counts_src, 1, r"p\.d\[src\]"),
    "min": (fr.Advance(lowers), lowers, 1, r"p\.best\[dst\]"),
    "variable": (fr.Advance(by_a_variable), by_a_variable, 4, r"p\.c\[dst\]"),
    "helper": (fr.Advance(by_helper), add, 1, r"p\.c\[dst\]"),
    "parent": (fr.Compute(of_parent), of_parent, 1, r"p\.c\[\.\.\.\].*this compute"),
    "histogram": (fr.Compute(histogram), histogram, 1, r"p\.a\[\.\.\.\]"),
    "same": (fr.Filter(same), same, 1, r"p\.a\[\.\.\.\].*this filter"),
    "neighbours": (fr.Compute(of_neighbours), of_neighbours, 2, r"p\.c\[\.\.\.\]"),
    "edges": (fr.Compute(ends_of_edges, over="edges"), ends_of_edges, 1, r"p\.c\[src\]"),
    "intersect": (fr.Intersect(corners, over="edges"), corners, 1, r"p\.c\[w\].*this intersect"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISSING)
def test_a_missing_atomic(backend, name):
    step, fn, line, message = MISSING[name]
    p = problem(backend(G))
    with pytest.warns(fr.FrontierWarning, match=message) as caught:
        step(p, fr.Frontier.all(p.graph))
    assert len(caught) == 1
    text = str(caught[0].message)
    assert f"{fn.__name__} ({__file__}:{inspect.getsourcelines(fn)[1] + line}) changes" in text
    assert len(text.splitlines()) == 1
    assert (caught[0].filename, caught[0].lineno) == (__file__, inspect.getsourcelines(fn)[1] + line)


def test_it_is_said_once(backend):
    p = problem(backend(G))
    with warnings.catch_warnings():  # compilers change the filters, and Python then forgets what it has said
        warnings.simplefilter("ignore")
        fr.advance(p, fr.Frontier.all(p.graph), counts_dst)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(2):
            fr.Advance(counts_dst)(problem(p.graph), fr.Frontier.all(p.graph))
    ours = [warning for warning in caught if issubclass(warning.category, fr.FrontierWarning)]
    assert len(ours) == 1


# -- what is right ------------------------------------------------------------------------------------------


def own(p, v):
    p.c[v] += 1
    p.a[16 * v + 3] += p.c[v]
    for k in range(4):
        p.a[v * 16 + k] = p.a[v * 16 + k] + k
    for e in fr.neighbours(p, v):
        p.e[e] += fr.target(p, e)


def atomic(p, src, dst, edge):
    fr.atomic_add(p.c, dst, 1)
    p.e[edge] += 1
    p.d[dst] = p.c[src] + p.c[dst]  # of another field
    p.best[dst] = p.best[src]  # at another index


def claims(p, src, dst):
    if fr.atomic_cas(p.parent, dst, -1, src) == -1:
        p.c[dst] = p.c[dst] + 1
        return True
    return False


def edge_own(p, src, dst, edge):
    p.e[edge] *= 2


def counted(p, i):
    p.a[i] += i
    p.a[2 * i + 1] -= 1


def alone(p, v):
    p.c[v] += 1
    p.a[0] += 1


FINE = {
    "own": fr.Compute(own),
    "atomic": fr.Advance(atomic),
    "claims": fr.Advance(claims, unique="claimed"),
    "edge": fr.Compute(edge_own, over="edges"),
    "count": fr.Compute(counted, over=9),
    "one vertex": fr.Compute(alone, over="source"),
}


@pytest.mark.parametrize("name", FINE)
def test_what_needs_no_atomic(backend, name):
    p = problem(backend(G))
    FINE[name](p, fr.Frontier.all(p.graph))
