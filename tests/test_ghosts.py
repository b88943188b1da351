"""Steps that look at edges of other ranks, on graphs in parts: ghost lists, and ghost slots of in-edges."""

from __future__ import annotations

import numpy as np
import pytest
from test_ranks import mpirun, processes

import frontier as fr
from frontier.distributed.ranks import halo
from frontier.memory import detection

pytestmark = pytest.mark.skipif(detection.simulated(), reason="no kernels are in it")

PLACES = ("ranks:1", "ranks:2", "ranks:3", "ranks:4", "ranks:3,python", "ranks:4,2d")


def triangle(p, u, v, w, uv, uw, vw):
    fr.atomic_add(p.corner, w, 1)
    fr.atomic_add(p.corner, v, 100)
    fr.atomic_add(p.beside, uv, 1 + p.length[vw])
    fr.atomic_add(p.first, uw, fr.weight(p, vw))
    return 3 * uw - vw


def stretch(p, edge):
    p.length[edge] = p.length[edge] * 3 % 7


def near(p, v):
    best = -1
    for e in fr.neighbours(p, v):
        best = max(best, fr.target(p, e) * fr.weight(p, e) + p.length[e])
        p.own[e] = best
    p.total[v] = best


def beyond(p, src, dst):
    for e in fr.neighbours(p, dst):
        if fr.target(p, e) == src:
            fr.atomic_add(p.corner, src, p.length[e] + fr.source(p, e))
    return dst % 3 == 0


def before(p, src, dst, edge, weight):
    fr.atomic_add(p.corner, dst, edge + p.length[edge] * weight + fr.degree(p, src))
    for e in fr.neighbours(p, src):
        fr.atomic_add(p.corner, dst, fr.target(p, e) * p.length[e])
    return src % 3 == 0


def slot_of(p, edge):
    return edge


def weighed(p, src, edge):
    return edge + src * p.length[edge] + p.sum


def degrees(p, v):
    found = 0
    for e in fr.neighbours(p, v):
        found += fr.target(p, e)
    return found


def halves(p, src, dst):
    return (src + dst) / 2 + p.mean


STEPS = {
    "triangles": [fr.Intersect(triangle, "sum", into="sum", over="edges")],
    "fields that change": [
        fr.Intersect(triangle, "sum", into="sum", over="edges"), fr.Compute(stretch, over="edges"),
        fr.Intersect(triangle, "sum", into="sum", over="edges"),
    ],
    "own lists": [fr.Compute(near, over="vertices")],
    "lists of far ends": [fr.Advance(beyond, over="few"), fr.Advance(beyond, over="vertices")],
    "in-edges": [fr.Advance(before, edges="in", over="few"), fr.Advance(before, edges="in", over="vertices")],
    "both ways": [fr.Advance(beyond, over="vertices"), fr.Advance(before, edges="in", over="vertices")],
    "slots of in-edges": [fr.Advance(before, edges="in", output="edge", over="vertices")],
    "scans": [
        fr.Scan(weighed, "first", total="sum", over="edges"), fr.Scan(degrees, "total", over="vertices"),
        fr.Scan(degrees, "total", over="few"), fr.Scan(halves, "real", total="mean", over="edges"),
    ],
    "gathered": [fr.Gather(slot_of, "max", into="total", over="vertices")],
}


def graph(directed, place="cpu"):
    """With parallel edges, self-loops and vertices without edges."""
    draw = np.random.default_rng(7)
    src, dst = (draw.random((2, 300)) ** 2 * 60).astype(int)
    return fr.from_edges(
        src, dst, draw.integers(1, 9, 300), num_vertices=64, directed=directed, duplicates="keep", placement=place
    )


def left(g, steps):
    """What steps leave, and the frontiers that they make."""
    p = fr.Problem(
        g, corner=fr.vertex("int64"), total=fr.vertex("int64"), beside=fr.edge("int64"), first=fr.edge("int64"),
        own=fr.edge("int64"), length=fr.edge("int64", np.arange(g.num_slots) % 11), sum=fr.scalar("int64"),
        few=fr.pile(), real=fr.edge("float64"), mean=fr.scalar("float64", 3),
    )  # fmt: skip
    p.few = fr.Frontier(g, [1, 2, 3, 9])
    found = [sorted(step(p)) for step in steps]
    return p.arrays, (int(p.sum), float(p.mean)), found


def same(found, expected, own=slice(None)):
    for name, array in expected[0].items():
        mine = own if len(array) != 64 else slice(None)
        assert np.array_equal(found[0][name][mine], array[mine]), name
    assert found[1:] == expected[1:]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", STEPS)
def test_edges_of_others_are_looked_at(place, directed, name, monkeypatch):
    monkeypatch.setattr(halo, "PIECE", 50)
    same(left(graph(directed, place), STEPS[name]), left(graph(directed), STEPS[name]))


def closes(p, u, v, w):
    fr.atomic_add(p.corner, w, 1)


def test_lists_stay_with_the_graph():
    g = fr.rmat(6, 5, seed=5, placement="ranks:3")
    sent = []
    for _ in range(2):
        p = fr.Problem(g, corner=fr.vertex("int64"))
        calls = []
        with pytest.MonkeyPatch.context() as patch:
            bring = halo._Ghosts._bring
            patch.setattr(halo._Ghosts, "_bring", lambda *given: (calls.append(1), bring(*given)))  # noqa: B023
            fr.Intersect(closes, over="edges")(p)
        sent.append(len(calls))
    assert sent[0] > 0
    assert sent[1] == 0


@pytest.mark.parametrize("steps", ["triangles", "gathered"])
def test_what_does_not_fit_is_said_before_it_is_fetched(steps, monkeypatch):
    g = fr.rmat(6, 5, seed=5, weights=(1, 9), placement="ranks:3")
    monkeypatch.setattr(halo.limits, "free", lambda: (9000, ""))
    if steps == "gathered":
        steps = "in-edges"
    with pytest.raises(MemoryError, match=r"which rank \d of 3 needs of others: at least [\d,]+ bytes are needed"):
        left(g, STEPS[steps])
    monkeypatch.undo()
    left(g, STEPS[steps])  # the graph is as it was


def hop(p, v):
    for e in fr.neighbours(p, v):
        for f in fr.neighbours(p, fr.target(p, e)):
            p.total[v] += fr.target(p, f)


def beside(p, src, dst):
    for e in fr.neighbours(p, dst):
        fr.atomic_add(p.length, e, 1)


def third(p, u, v, w, vw):
    fr.atomic_add(p.length, vw, 1)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (fr.Compute(hop, over="vertices"), "hop .* looks up edges, which may be those of other ranks"),
        (fr.Advance(beside, over="vertices"), r"beside .* writes p\.length, a field of edges, at edges that other"),
        (fr.Intersect(third, over="edges"), r"third .* writes p\.length, a field of edges, at edges that other"),
    ],
)
def test_what_would_be_the_whole_graph_is_refused(step, message):
    g = fr.rmat(5, 4, seed=3, placement="ranks:2")
    p = fr.Problem(g, length=fr.edge("int64", 0), total=fr.vertex("int64", 0))
    with pytest.raises(fr.FunctorError, match=message):
        step(p)


@processes
def test_processes_look_at_edges_of_others(tmp_path):
    made = mpirun(3, tmp_path, f"""
        import sys
        sys.path.insert(0, {str(__file__).rpartition("/")[0]!r})
        import frontier as fr
        from test_ghosts import STEPS, graph, left, same
        for directed in (False, True):
            whole, g = graph(directed), graph(directed, "ranks")
            own = slice(g.targets.first, g.targets.first + len(g.targets.own))
            for steps in STEPS.values():
                same(left(g, steps), left(whole, steps), own)
        print("right")
    """)  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    assert made.stdout.count("right") == 3
