"""Gather of the most frequent value, against a count of every vertex's values."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from compare import WORKERS, equal, workers
from conftest import SIMULATED, Backend
from hypothesis import given
from hypothesis import strategies as st
from strategies import frontiers, graphs

import frontier as fr
from frontier.memory.arrays import to_host


def problem(g: fr.Graph) -> fr.Problem:
    n, m = g.num_vertices, g.num_slots
    slots = np.arange(m)
    return fr.Problem(
        g,
        label=fr.vertex("int32", np.arange(n) * 37 % 5 - 2),
        steep=fr.vertex("bool", np.arange(n) * 37 % 4 == 0),
        vote=fr.edge("int64", slots * 11 % 3 - (2**63 - 1) * (slots % 2) - slots % 2),
        large=fr.edge("uint64", (slots * 11 % 3).astype("uint64") + np.uint64(2**63 - 1)),
        price=fr.edge("uint32", (2**32 - 1 - slots * 7 % 3).astype("uint32")),
        whole=fr.vertex("int64", -99),
        narrow=fr.vertex("int32", -99),
        mask=fr.vertex("uint32", 99),
        most=fr.vertex("uint64", 99),
    )


def label_in(p, src):
    return p.label[src]


def label_out(p, dst):
    return p.label[dst]


def vote(p, edge):
    return p.vote[edge]


def large(p, edge):
    return p.large[edge]


def price(p, edge):
    return p.price[edge]


def both(p, src, dst, weight):
    return p.label[src] * 3 - p.label[dst] % 2 + int(weight) % 2


def flag(p, src, dst):
    return src < dst


def flat_in(p, src):
    return not p.steep[src]


def flat_out(p, dst):
    return not p.steep[dst]


def none(p, src):
    return False


STEPS = {
    "labels": fr.Gather(label_in, "mode", into="narrow"),
    "labels, out": fr.Gather(label_out, "mode", into="narrow", edges="out"),
    "int64, as far as it goes": fr.Gather(vote, "mode", into="whole"),
    "int64, out": fr.Gather(vote, "mode", into="whole", edges="out"),
    "uint64": fr.Gather(large, "mode", into="most", where=flat_in),
    "uint64, out": fr.Gather(large, "mode", into="most", edges="out"),
    "uint32": fr.Gather(price, "mode", into="mask"),
    "of all there is": fr.Gather(both, "mode", into="whole"),
    "truths, out": fr.Gather(flag, "mode", into="whole", edges="out"),
    "with a condition": fr.Gather(label_in, "mode", into="narrow", where=flat_in),
    "with a condition, out": fr.Gather(label_out, "mode", into="whole", edges="out", where=flat_out),
    "of no edge": fr.Gather(label_in, "mode", into="mask", where=none),
}


def expected(p: Any, step: fr.Gather, v: int) -> int:
    """By counting."""
    g = p.graph
    src, dst = to_host(g.sources), to_host(g.targets)
    near, far = (dst, src) if step.edges == "in" else (src, dst)
    values = []
    for slot in np.flatnonzero(near == v).tolist():
        u, w = int(src[slot]), int(dst[slot])
        if step.where is none or (step.where is not None and p.steep[far[slot]]):
            continue
        weight = 0 if g.weights is None else int(to_host(g.weights)[slot])
        known = {
            label_in: lambda u=u: p.label[u],
            label_out: lambda w=w: p.label[w],
            vote: lambda slot=slot: p.vote[slot],
            large: lambda slot=slot: p.large[slot],
            price: lambda slot=slot: p.price[slot],
            both: lambda u=u, w=w, weight=weight: int(p.label[u]) * 3 - int(p.label[w]) % 2 + weight % 2,
            flag: lambda u=u, w=w: u < w,
        }
        values.append(int(known[step.fn]()))
    kind = np.asarray(getattr(p, step.into)).dtype
    if not values:
        return int(np.iinfo(kind).max) if kind.kind == "u" else -1
    times = Counter(values)
    return min(value for value in times if times[value] == max(times.values()))


@pytest.mark.parametrize("name", STEPS)
@given(st.data())
def test_random_graphs(agree: Any, name: str, data: st.DataObject) -> None:
    g = data.draw(graphs(weights="int32"))
    f = data.draw(frontiers(g))
    step = STEPS[name]
    p, _ = agree(
        g, problem,
        lambda p: step(p, fr.Frontier.all(p.graph) if f.is_all else fr.Frontier(p.graph, f.host_ids())),
        data.draw(st.sampled_from(WORKERS)),
    )  # fmt: skip
    before = {"whole": -99, "narrow": -99, "mask": 99, "most": 99}[step.into]
    found = to_host(getattr(p, step.into))
    for v in range(g.num_vertices):
        assert int(found[v]) == (expected(p, step, v) if v in f else before)


# ---- lists of every length ---------------------------------------------------------------------------------

#: Lengths around those at which a GPU takes another way.
LENGTHS = (0, 1, 2, 7, 8, 9, 31, 32, 33, 40, 64, 65, 200, 1023, 1024, 2000)

#: Values of the edges of a list: how they are made of the places in it.
VALUES = {
    "equal": lambda i: i * 0 - 7,
    "different": lambda i: i * 2654435761 % 4294967296 - 2**31,
    "descending": lambda i: -i,
    "few": lambda i: i * 7919 % 5 * (2**40),
    "one twice": lambda i: np.where(i == len(i) - 1, 1, i),
    "free slots": lambda i: np.where(i % 2 == 0, -(2**63), i),
}


def lists(values: str, lengths: tuple[int, ...] = LENGTHS) -> tuple[fr.Graph, Any, list[int]]:
    """A graph with out-lists of these lengths, the values of its edges, and the most frequent ones."""
    n = len(lengths)
    src = np.repeat(np.arange(n), lengths)
    g = fr.from_edges(src, np.zeros(len(src), int), num_vertices=n, directed=True, duplicates="keep")
    votes = np.concatenate([VALUES[values](np.arange(length)) for length in lengths])
    modes = []
    for v in range(n):
        times = Counter(votes[src == v].tolist())
        modes.append(min((value for value in times if times[value] == max(times.values())), default=-1))
    return g, votes, modes


def modes_of(g: fr.Graph, votes: Any, ids: Any = None) -> Any:
    p = fr.Problem(g, vote=fr.edge("int64", votes), whole=fr.vertex("int64", -99))
    step = fr.Gather(vote, "mode", into="whole", edges="out")
    step(p, fr.Frontier.all(g) if ids is None else fr.Frontier(g, ids))
    return to_host(p.whole)


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("count", [1, 3])
def test_lists_of_every_length(backend: Backend, values: str, count: int) -> None:
    g, votes, modes = lists(values)
    with workers(count):
        equal(modes_of(backend(g), votes), modes)
    some = [3, 5, 8, 15, 14, 1]
    with workers(count):
        found = modes_of(backend(g), votes, some)
    equal(found[some], np.array(modes)[some])
    assert set(np.delete(found, some).tolist()) == {-99}


@pytest.mark.parametrize("values", ["different", "one twice", "free slots"])
def test_tables_that_have_no_room(cuda: Backend, values: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The values are divided into classes."""
    monkeypatch.setattr("frontier.backends.run.worker_tables.MOST", 64)
    g, votes, modes = lists(values, (40, 300, 1500, 0, 5))
    with workers(2):
        equal(modes_of(cuda(g), votes), modes)


@pytest.mark.parametrize("edges", ["in", pytest.param("out", marks=pytest.mark.unsimulated("as the other, and slow"))])
def test_edges_in_the_memory_of_the_host(cuda: Backend, edges: str) -> None:
    """Lists are brought window by window."""
    n, rng = (60 if SIMULATED else 3000), np.random.default_rng(1)
    lengths = np.concatenate([[1100, 40, 0], np.arange(n - 3) % 12])
    near, far = np.repeat(np.arange(n), lengths), rng.integers(0, n, lengths.sum())
    ends = (far, near) if edges == "in" else (near, far)
    g = fr.from_edges(*ends, num_vertices=n, directed=True, duplicates="keep")
    label = np.arange(n) * 37 % 5
    found = []
    for there in (g, g.to("cuda", edges="host")):
        p = fr.Problem(there, label=fr.vertex("int64", label), narrow=fr.vertex("int32"))
        fr.Gather(label_in if edges == "in" else label_out, "mode", into="narrow", edges=edges, over="vertices")(p)
        found.append(to_host(p.narrow))
    equal(found[1], found[0])


# ---- elsewhere ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("there", ["ranks:2", "ranks:3,python", "ranks:4,2d"])
@pytest.mark.parametrize("name", ["labels", "labels, out", "with a condition", "of no edge"])
def test_ranks(there: str, name: str) -> None:
    g = fr.rmat(6, 4, seed=2, directed=True)
    found = []
    for placed in (g, g.to(there)):
        p = problem(placed)
        STEPS[name](p, fr.Frontier(placed, range(0, 64, 2)))
        found.append(np.asarray(getattr(p, STEPS[name].into)))
    equal(found[1], found[0])
    q = problem(g)
    q.whole[:] = [expected(q, STEPS[name], v) for v in range(64)]
    equal(found[0][::2].astype("int64"), q.whole[::2])


@pytest.mark.parametrize("edges", ["in", "out"])
def test_parts_of_a_gpu(cuda: Backend, edges: str) -> None:
    g = fr.rmat(4 if SIMULATED else 9, 6, seed=3, directed=True)
    name = "labels" if edges == "in" else "labels, out"
    found = []
    for there in (g, g.to("cuda:0,0")):
        p = problem(there)
        STEPS[name](p, fr.Frontier.all(there))
        found.append(to_host(p.narrow))
    equal(found[1], found[0])


def keep(p, v):
    p.narrow[v] = p.label[v]


def changed(p, v):
    return p.narrow[v] != p.label[v]


class Rounds(fr.Enactor):
    """Label propagation."""

    loop = fr.Loop(
        fr.Compute(keep, over="vertices"),
        fr.Gather(label_out, "mode", into="narrow", edges="out", over="vertices", where=flat_out),
        fr.Reduce(changed, "sum", into="moved", over="vertices"),
        fr.Swap("label", "narrow"),
        times=3,
    )


@pytest.mark.parametrize("there", ["python", "ranks:2"])
def test_a_program_of_several_rounds(there: str) -> None:
    g = fr.rmat(6, 4, seed=2)
    found = []
    for placed in (g, g.to(there)):
        p = fr.Problem(
            placed, label=fr.vertex("int32", np.arange(64)), narrow=fr.vertex("int32"),
            steep=fr.vertex("bool"), moved=fr.scalar("int64"),
        )  # fmt: skip
        Rounds(p).run()
        found.append((np.asarray(p.label).tolist(), int(p.moved)))
    assert found[1] == found[0]
    assert found[0][1] > 0


def test_nothing(backend: Backend) -> None:
    for n in (0, 3):
        g = fr.from_edges([], [], num_vertices=n)
        p = problem(backend(g))
        STEPS["labels"](p, fr.Frontier.all(p.graph))
        STEPS["uint64, out"](p, fr.Frontier.all(p.graph))
        equal(p.narrow, [-1] * n)
        equal(p.most, np.full(n, 2**64 - 1, "uint64"))


# ---- what is refused ---------------------------------------------------------------------------------------


def half(p, src):
    return 0.5


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (lambda: fr.Gather(label_in, "mode", into="real"), r"holds float64; mode needs integers"),
        (lambda: fr.Gather(label_in, "mode", into="steep"), r"holds bool; mode needs integers"),
        (lambda: fr.Gather(half, "mode", into="whole"), "a float does not go into"),
        (lambda: fr.Gather(label_in, "mode", into="label"), "reads field 'label', which this Gather writes"),
        (lambda: fr.Reduce(keep, "mode", into="total"), "choose from sum, min, max, any, all, or"),
    ],
)
def test_what_is_refused(backend: Backend, step: Any, message: str) -> None:
    g = backend(fr.karate())
    p = fr.Problem(
        g, label=fr.vertex("int32"), steep=fr.vertex("bool"), real=fr.vertex("float64"),
        whole=fr.vertex("int64"), total=fr.scalar("int64"),
    )  # fmt: skip
    with pytest.raises(fr.FrontierError, match=message):
        step()(p, fr.Frontier.all(g))
