"""hold=: vertices that stay in the frontier, what is visited beside them, and how many they are.

That backends agree on single steps is in ``test_advance.py``.
"""

from __future__ import annotations

import numpy as np
import pool
import pytest
from compare import at, equal, host, ids
from hypothesis import given
from hypothesis import strategies as st
from strategies import frontiers, graphs

import frontier as fr
from frontier.errors import FrontierError, FunctorError
from frontier.operators.advance.holding import Holding
from frontier.program.execution import run


def nobody(p, v):
    return False


STEPS = {
    "plain": Holding(pool.every, hold=pool.late, held="total"),
    "not counted": Holding(pool.every, hold=pool.late),
    "nobody": Holding(pool.every, hold=nobody, held="total"),
}

@pytest.mark.parametrize("options", [{"queue": "scan"}, {"dedup": "bitmap"}, {"balance": "merge_path"}], ids=str)
@given(st.data())
def test_schedules_agree(agree, options, data):
    g = data.draw(graphs(weights="int32"))
    f = data.draw(frontiers(g))
    agree(g, pool.problem, lambda p: run(STEPS["plain"], p, at(p, f), fr.Schedule(**options)), 1)


@given(graphs(weights="int32"), st.data())
def test_what_waits_and_what_is_visited(backend, g, data):
    """By the definition, without a backend."""
    f = data.draw(frontiers(g))
    p = pool.problem(backend(g))
    out = STEPS["plain"](p, at(p, f))
    waits = f.mask & ~host(p).open
    visited = (f.mask & ~waits)[g.sources]
    equal(p.hits, visited)
    slot = np.arange(g.num_slots)
    accepts = (3 * g.sources + 5 * g.targets.astype(np.int64) + 7 * slot + g.weights) % 3 != 0
    reached = np.zeros(g.num_vertices, bool)
    reached[g.targets[visited & accepts]] = True
    assert ids(out) == ("vertex", np.flatnonzero(reached | waits).tolist())
    assert p.total == waits.sum()


#: What waits in one step is walked by the next, the other way or from its list's beginning.
SEQUENCES = {
    "in, then out": fr.Sequence(Holding(pool.ends, edges="in", hold=pool.late), STEPS["nobody"]),
    "out, then in": fr.Sequence(STEPS["not counted"], fr.Advance(pool.every, edges="in")),
    "ends of lists, then all": fr.Sequence(Holding(pool.ends, part=slice(1, None), hold=pool.late), STEPS["nobody"]),
    "samples, then all": fr.Sequence(Holding(pool.ends, part=fr.sample(1), hold=pool.late), STEPS["nobody"]),
}


@pytest.mark.parametrize("name", SEQUENCES)
@given(st.data())
def test_who_waited_is_walked_whole(agree, name, data):
    g = data.draw(graphs(weights="int32"))
    f = data.draw(frontiers(g))
    agree(g, pool.problem, lambda p: SEQUENCES[name](p, at(p, f)), 1)


# -- in loops ----------------------------------------------------------------------------------------


def reach(p, src, dst):
    return fr.atomic_cas(p.claim, dst, -1, src) == -1


def turn(p, v):
    """Every vertex waits until its turn has come."""
    return v % 4 > p.limit


def next_turn(p):
    return p.limit + 1


SEARCH = fr.Loop(Holding(reach, unique="claimed", hold=turn, held="total"), fr.Set(limit=next_turn))


@pytest.mark.parametrize("g", [fr.grid(7, 9), fr.rmat(6, 6, seed=1)], ids=["short lists", "hubs"])
def test_nothing_is_lost_in_a_loop(backend, g):
    """Frontiers that carry their lists, as those of short lists do on a GPU, and others."""
    p = pool.problem(backend(g))
    p.limit = 0
    p.claim[0] = 0
    SEARCH(p, fr.Frontier(p.graph, [0]))
    expected = fr.bfs(g, 0).level >= 0
    equal(host(p).claim >= 0, expected)


def test_everybody_waits_where_there_are_no_edges(backend):
    g = fr.from_edges([], [], num_vertices=3)
    p = pool.problem(backend(g))
    out = fr.Loop(Holding(pool.ends, hold=pool.always, held="total"), times=3)(p, fr.Frontier(p.graph, [0, 2]))
    assert ids(out) == ("vertex", [0, 2])
    assert p.total == 2


def test_a_trace_does_not_count_edges_of_who_waits(backend):
    g = fr.grid(3, 3)
    p = pool.problem(backend(g))
    with fr.trace() as trace:
        Holding(pool.ends, hold=pool.late)(p, fr.Frontier(p.graph, [0, 1, 4]))
    (row,) = (row for row in trace.rows if row.step.startswith("Advance"))
    visited = [v for v in (0, 1, 4) if host(p).open[v]]
    assert row.edges == g.out_degree[visited].sum()
    assert 0 < len(visited) < 3


# -- mistakes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("output", ["edge", None])
def test_who_waits_is_a_vertex(output):
    with pytest.raises(FrontierError, match="held vertices need output='vertex'"):
        Holding(pool.ends, output=output, hold=pool.late)


def test_held_names_a_scalar(backend):
    p = pool.problem(backend(fr.path(3)))
    with pytest.raises(FrontierError, match=r"held: field .seen. is of kind vertex"):
        Holding(pool.ends, hold=pool.late, held="seen")(p, fr.Frontier(p.graph, [0]))


def test_hold_is_asked_about_a_vertex():
    with pytest.raises(FunctorError, match="no argument 'src' here"):
        Holding(pool.ends, hold=reach)


def always(p, dst):
    return True


def test_claimed_and_held_at_once():
    """The python backend finds a promise that is not kept."""
    p = pool.problem(fr.path(2).to("python"))
    with pytest.raises(FunctorError, match="accepted a vertex that hold= keeps"):
        Holding(always, unique="claimed", hold=turn_of_one)(p, fr.Frontier(p.graph, [0, 1]))


def turn_of_one(p, v):
    return v == 1
