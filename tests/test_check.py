"""``FRONTIER_CHECK=1``: compiled functors check every index, and every integer that they store."""

from __future__ import annotations

import numpy as np
import oracles
import pytest
from compare import equal, workers

import frontier as fr
from frontier.program import execution


def read(p, v):
    p.level[v] = p.level[v + 1]


def write(p, v):
    p.level[v - 1] = v


def add(p, v):
    fr.atomic_add(p.big, v * 2, 1)


def swap(p, v):
    fr.atomic_cas(p.level, -1 - v, 1, 2)


def flag(p, v):
    p.flag[v + 1] = True


def narrow(p, v):
    p.big[v] = p.byte[v + 1]


def table(p, v):
    p.big[v] = p.table[v]


def helper(field, i):
    return field[i + 9]


def by_helper(p, v):
    p.big[v] = helper(p.level, v)


def too_large(p, v):
    p.byte[v] = v * 100


def negative(p, v):
    p.byte[v] = v - 1


def edge_field(p, src, dst, edge):
    return p.mark[edge + 1] > 0


def far(p, dst):
    return p.level[dst + 1] == 0


def anything(p, dst):
    return p.level[dst] >= 0


def count_up(p, v):
    p.level[v] += 1


def past(p):
    return p.table[p.turn + 1] > 9


def of_scalars(p):
    return p.table[3 + p.turn]


def neighbour(p, v):
    p.big[v] = fr.degree(p, v + 1)


#: Steps, and patterns of what is said of the one functor that goes wrong.
WRONG = [
    (fr.Compute(read), r"read \(.*\): p\.level\[9\]: valid are 0\.\.8"),
    (fr.Compute(write), r"write \(.*\): p\.level\[-1\]: valid are 0\.\.8"),
    (fr.Compute(add), r"add \(.*\): p\.big\[1\d\]: valid are 0\.\.8"),
    (fr.Compute(swap), r"swap \(.*\): p\.level\[-\d\]: valid are 0\.\.8"),
    (fr.Compute(flag), r"flag \(.*\): p\.flag\[9\]: valid are 0\.\.8"),
    (fr.Compute(narrow), r"narrow \(.*\): p\.byte\[9\]: valid are 0\.\.8"),
    (fr.Compute(table), r"table \(.*\): p\.table\[\d\]: valid are 0\.\.2"),
    (fr.Compute(by_helper), r"by_helper \(.*\): p\.level\[\d+\]: valid are 0\.\.8"),
    (fr.Compute(too_large), r"too_large \(.*\): p\.byte\[\d\] = \d00: overflow, the field holds uint8"),
    (fr.Compute(negative), r"negative \(.*\): p\.byte\[0\] = -1: overflow, the field holds uint8"),
    (fr.Compute(neighbour), r"neighbour \(.*\): fr\.neighbours or a sister of it: offsets\[10\]: valid are 0\.\.9"),
    (fr.Advance(edge_field), r"edge_field \(.*\): p\.mark\[16\]: valid are 0\.\.15"),
    (fr.Advance(anything, where=far), r"far \(.*\): p\.level\[9\]: valid are 0\.\.8"),
    (fr.Set(turn=of_scalars), r"of_scalars \(.*\): p\.table\[3\]: valid are 0\.\.2"),
    (fr.Loop(fr.Compute(count_up), times=9, count="turn", until=past), r"past \(.*\): p\.table\[3\]: valid are 0\.\.2"),
]


@pytest.fixture
def checked(monkeypatch):
    monkeypatch.setenv("FRONTIER_CHECK", "1")


def problem(g: fr.Graph, length: int = 3) -> fr.Problem:
    return fr.Problem(
        g,
        level=fr.vertex("int32"),
        big=fr.vertex("int64"),
        byte=fr.vertex("uint8"),
        flag=fr.vertex("bool"),
        mark=fr.edge("float32"),
        table=fr.array(np.arange(length)),
        turn=fr.scalar("int64"),
    )


@pytest.mark.parametrize(("step", "said"), WRONG, ids=[said.split()[0] for _, said in WRONG])
def test_a_wrong_access_names_functor_field_index_and_range(compiled, checked, step, said):
    """And what comes after it on the same problem is as good as ever."""
    g = compiled(fr.path(9))
    for count in (1, 2):
        p = problem(g)
        with workers(count):
            with pytest.raises(fr.FunctorError, match=said):
                execution.run(fr.Sequence(step, over="vertices"), p)
            before = p.level.copy()
            execution.run(fr.Sequence(fr.Compute(count_up), over="vertices"), p)
            equal(p.level, before + 1)


def test_the_length_is_that_of_the_problem_at_hand(compiled, checked):
    """Problems of one layout share code."""
    g = compiled(fr.path(9))
    step = fr.Sequence(fr.Compute(table), over="vertices")
    for length in (9, 5, 20):
        p = problem(g, length)
        if length < 9:
            with pytest.raises(fr.FunctorError, match=rf"p\.table\[\d\]: valid are 0\.\.{length - 1}"):
                execution.run(step, p)
        else:
            execution.run(step, p)
            equal(p.big, range(9))


def test_the_environment_is_read_when_code_is_made(compiled, monkeypatch):
    g = compiled(fr.path(9))
    step = fr.Sequence(fr.Compute(too_large), over="vertices")
    for value, checks in (("0", False), ("1", True), ("", False)):
        monkeypatch.setenv("FRONTIER_CHECK", value)
        p = problem(g)
        if checks:
            with pytest.raises(fr.FunctorError, match="overflow"):
                execution.run(step, p)
        else:
            execution.run(step, p)


@pytest.mark.parametrize("count", [1, 2])
def test_what_is_right_stays_right(compiled, checked, count):
    g = compiled(fr.rmat(5, 4, seed=2, weights=(1, 9)))
    with workers(count):
        equal(fr.bfs(g, 0).level, oracles.bfs_levels(g, 0))
        equal(fr.sssp(g, 0).distance, oracles.sssp_distances(g, 0))
        fr.verify.pagerank(g, fr.pagerank(g)).raise_if_failed()
        fr.verify.connected_components(g, fr.connected_components(g)).raise_if_failed()
        fr.verify.betweenness(g, fr.betweenness(g)).raise_if_failed()
