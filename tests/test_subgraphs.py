"""Induced subgraphs and contracted graphs: as NetworkX and plain sums have them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import networkx as nx
import numpy as np
import pytest
from compare import equal, workers
from conftest import SIMULATED, Backend
from strategies import random_graphs

import frontier as fr
from frontier.graph import build_sort, row_makers
from frontier.graph.build_sort import forward
from frontier.memory.arrays import to_host
from frontier.native import threads


def edges_of(g: fr.Graph, *values: Any) -> Counter[Any]:
    """How often each edge slot occurs, with its weight and further values."""
    weights = [] if g.weights is None else [to_host(g.weights)]
    columns = [to_host(g.sources), to_host(g.targets), *weights, *map(to_host, values)]
    return Counter(zip(*(column.tolist() for column in columns), strict=True))


def check_induced(g: fr.Graph, there: fr.Graph, ids: Any, chosen: Any) -> fr.Graph:
    """Compare with the edges between the chosen vertices; ``chosen`` says which in one of the ways to do so."""
    h = there.induced(chosen)
    kept = sorted(set(ids))
    new = {v: i for i, v in enumerate(kept)}
    expected: Counter[Any] = Counter()
    for (u, v, *more), times in edges_of(g, g.edges["name"]).items():
        if u in new and v in new:
            expected[new[u], new[v], *more] = times
    assert edges_of(h, h.edges["name"]) == expected
    equal(h.vertices["original"], kept)
    assert (h.directed, h.placement, h.num_vertices) == (g.directed, there.placement, len(kept))
    assert h.num_slots == expected.total()
    offsets, targets = to_host(h.offsets).tolist(), to_host(h.targets).tolist()
    for v in range(h.num_vertices):
        row = targets[offsets[v] : offsets[v + 1]]
        assert row == sorted(row)
    if h.num_vertices:
        fr.from_csr(
            to_host(h.offsets),
            to_host(h.targets),
            None if h.weights is None else to_host(h.weights),
            directed=h.directed,
        )  # fmt: skip - it checks that undirected graphs are symmetric
    return h


def test_induced_subgraphs(backend: Backend) -> None:
    for i, g in enumerate(random_graphs(30, seed=81, max_vertices=60, parallel=True)):
        rng = np.random.default_rng(i)
        g = g.with_columns(edges={"name": rng.integers(0, 99, g.num_edges)})
        mask = rng.random(g.num_vertices) < (0.5, 0.9, 0.1)[i % 3]
        ids = np.flatnonzero(mask)
        there = backend(g)
        ways = [mask, rng.permutation(ids), fr.Frontier(there, ids), set(ids.tolist()), [*ids, *ids]]
        check_induced(g, there, ids, ways[i % 5])


def test_all_and_none(backend: Backend) -> None:
    g = fr.karate(weights=(1, 9), seed=1)
    g = g.with_columns(edges={"name": np.arange(78)})
    there = backend(g)
    check_induced(g, there, range(34), fr.Frontier.all(there))
    check_induced(g, there, [], [])
    nothing = backend(fr.from_edges([], [], num_vertices=0))
    assert nothing.induced([]).num_vertices == 0


def test_labels_and_columns_are_kept_and_originals_compose(backend: Backend) -> None:
    g = backend(fr.from_edges(["a", "b", "c"], ["b", "c", "d"], vertices={"x": [0.5, 1.5, 2.5, 3.5]}))
    h = g.induced(["d", "b", "c"])
    assert h.labels.tolist() == ["b", "c", "d"]
    equal(h.vertices["x"], [1.5, 2.5, 3.5])
    equal(h.induced(["b", "d"]).vertices["original"], [1, 3])
    turned = h.reordered([2, 0, 1])
    equal(turned.vertices["original"], [3, 1, 2])
    equal(turned.induced(fr.Frontier(turned, [0, 2])).vertices["original"], [3, 2])
    assert fr.bfs(h, "b").path_to("d") == ["b", "c", "d"]


def test_without_directions(backend: Backend) -> None:
    names = ["a", "b", "c"]
    g = backend(fr.from_edges([0, 1, 1, 2], [1, 0, 2, 2], [3, 4, 5, 6], directed=True, labels=names,
                              vertices={"x": [1, 2, 3]}, edges={"k": [10, 20, 30, 40]}))  # fmt: skip
    h = g.undirected()
    assert (h.directed, h.labels.tolist(), h.num_edges, dict(h.edges)) == (False, names, 3, {})
    equal(h.weights, [7, 7, 5, 5, 6])
    equal(h.vertices["x"], [1, 2, 3])
    assert h.backend == g.backend
    least = g.undirected(duplicates="min")
    equal(least.weights, [3, 3, 5, 5, 6])
    equal(least.edges["k"], [10, 10, 30, 30, 40])
    equal(g.with_weights(None).undirected().weights, [2, 2, 1, 1, 1])
    assert h.undirected() is h
    with pytest.raises(fr.GraphError, match="duplicates must be one of"):
        g.undirected(duplicates="mean")


@pytest.mark.parametrize("directed", [False, True])
def test_induced_as_networkx(backend: Backend, directed: bool) -> None:
    g = fr.urand(6, 3, directed=directed, seed=2)
    if SIMULATED:
        g = fr.urand(4, 3, directed=directed, seed=2)
    ids = range(0, g.num_vertices, 2)
    h = backend(g).induced(ids)
    expected = g.to_networkx().subgraph(ids)
    original = to_host(h.vertices["original"])
    found = {(int(original[u]), int(original[v])) for u, v in h.to("cpu").to_networkx().edges}
    undirected = {tuple(sorted(edge)) for edge in expected.edges}
    assert found == (set(expected.edges) if directed else undirected)


def check_contracted(g: fr.Graph, there: fr.Graph, labels: Any, self_loops: str) -> None:
    """Compare with sums over the edges, an undirected one once."""
    h = there.contracted(labels, self_loops=self_loops)
    names, group = np.unique(np.asarray(to_host(labels), int), return_inverse=True)
    weights = np.ones(g.num_slots, int) if g.weights is None else g.weights
    expected: dict[Any, float] = {}
    for u, v, w in zip(g.sources.tolist(), g.targets.tolist(), weights.tolist(), strict=True):
        a, b = group[u], group[v]
        if (not g.directed and u > v) or (a == b and self_loops == "drop"):
            continue
        for edge in {(a, b)} if g.directed else {(a, b), (b, a)}:
            expected[edge] = expected.get(edge, 0) + w
    found = {(u, v): w for u, v, w in edges_of(h)}
    assert found.keys() == expected.keys()
    for edge, w in found.items():
        np.testing.assert_allclose(w, expected[edge], rtol=1e-12)
    assert h.num_slots == len(found)
    assert h.weights.dtype == (np.float64 if weights.dtype.kind == "f" else np.int64)
    equal(h.vertices["label"], names)
    equal(h.vertices["size"], np.bincount(group, minlength=len(names)))
    assert (h.directed, h.placement) == (g.directed, there.placement)


def test_contracted_graphs(backend: Backend) -> None:
    for i, g in enumerate(random_graphs(30, seed=82, max_vertices=50, parallel=True)):
        rng = np.random.default_rng(i)
        low, high = ((0, max(g.num_vertices, 1)), (0, 3), (-5, 5), (10**9, 10**9 + 4))[i % 4]
        labels = rng.integers(low, high, g.num_vertices)
        check_contracted(g, backend(g), labels, ("keep", "drop")[i % 2])


@pytest.mark.parametrize("duplicates", ["min", "max", "first", "last", "keep"])
def test_contracted_graphs_that_carry_edges(backend: Backend, duplicates: str) -> None:
    """Compare with building the same edges between groups."""
    for i, g in enumerate(random_graphs(10, seed=83, max_vertices=40, parallel=True)):
        g = g.with_columns(edges={"slot": np.arange(g.num_slots)})
        labels = np.random.default_rng(i).integers(3, 9, g.num_vertices)
        names, group = np.unique(labels, return_inverse=True)
        once = np.arange(g.num_slots) if g.directed else np.flatnonzero(g.sources <= g.targets)
        self_loops = ("keep", "drop")[i % 2]
        expected = fr.from_edges(
            group[g.sources[once]], group[g.targets[once]], None if g.weights is None else g.weights[once],
            num_vertices=len(names), directed=g.directed, duplicates=duplicates, self_loops=self_loops,
            edges={"slot": once},
        )  # fmt: skip
        h = backend(g).contracted(labels, self_loops=self_loops, duplicates=duplicates)
        assert (h.directed, h.num_slots) == (g.directed, expected.num_slots)
        equal(h.vertices["label"], names)
        assert edges_of(h, h.edges["slot"]) == edges_of(expected, expected.edges["slot"])


def test_a_spanning_tree_by_contraction(backend: Backend) -> None:
    """Boruvka: the lightest edge of every vertex joins, and the rest is the graph between components."""
    g = fr.rmat(7, 6, seed=3, weights=(1, 10**6))
    expected = fr.minimum_spanning_forest(g).weight
    h, total = backend(g), 0
    while h.num_slots:
        here = h.to("cpu")
        order = np.lexsort((here.weights, here.sources))
        lightest = order[np.unique(here.sources[order], return_index=True)[1]]
        joined = fr.from_edges(here.sources[lightest], here.targets[lightest], here.weights[lightest],
                               num_vertices=here.num_vertices)  # fmt: skip
        total += int(joined.weights.sum()) // 2
        h = h.contracted(fr.connected_components(joined).label, self_loops="drop", duplicates="min")
    assert total == expected


def test_contracted_by_a_yes_or_no(backend: Backend) -> None:
    g = fr.karate()
    there, many = backend(g), g.out_degree > 4
    check_contracted(g, there, there.placement.memory.moved(many), "keep")
    assert there.contracted(many).num_vertices == 2


def test_contracted_as_networkx(backend: Backend) -> None:
    g = fr.karate()
    labels = np.arange(34) % 5
    groups = [set(np.flatnonzero(labels == k).tolist()) for k in range(5)]
    expected = nx.quotient_graph(g.to_networkx(), groups, relabel=True)
    h = backend(g).contracted(labels, self_loops="drop").to("cpu")
    found = {(u, v): w for u, v, w in edges_of(h) if u < v}
    assert found == {(min(u, v), max(u, v)): w for u, v, w in expected.edges(data="weight")}


@pytest.mark.unsimulated("a large graph")
def test_several_workers(compiled: Backend) -> None:
    g = fr.rmat(10, 8, seed=5, weights=(1, 9))
    g = g.with_columns(edges={"name": np.arange(g.num_edges)})
    with workers(3):
        ids = np.flatnonzero(g.out_degree > 2)
        check_induced(g, compiled(g), ids, ids)
        check_contracted(g, compiled(g), np.arange(g.num_vertices) // 7, "keep")


@pytest.mark.unsimulated("large graphs")
@pytest.mark.parametrize("directed", [False, True])
def test_large_subgraphs_are_the_same_by_kernels(directed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """On one thread or several, and as array operations make them."""
    monkeypatch.setattr(build_sort, "_WORTH_THREADS", 1)
    rng = np.random.default_rng(1)
    src, dst = rng.integers(0, 3000, (2, 40000)) ** 3 // 3000**2
    plain = fr.from_edges(src, dst, num_vertices=3000, directed=directed, duplicates="keep")
    full = plain.with_weights(rng.random(plain.num_slots).astype(np.float32) if directed else plain.targets * 0 + 5)
    full = full.with_columns(edges={"name": rng.integers(0, 9, full.num_edges)}, vertices={"x": rng.random(3000)})
    for g in (plain, full, full.compressed()):
        for mask in (rng.random(3000) < 0.5, np.zeros(3000, bool), np.arange(3000) >= 1, np.arange(3000) < 9):
            made = []
            for count in (0, 1, 3):
                monkeypatch.setattr(row_makers, "sparing", lambda *_, count=count: count == 0)
                with workers(max(count, 1)):
                    made.append(g.induced(mask))
            for h in made[1:]:
                for name in ("offsets", "targets", "weights"):
                    one, other = getattr(made[0], name), getattr(h, name)
                    assert (one is None) == (other is None)
                    if one is not None:
                        equal(other, one)
                        assert other.dtype == one.dtype
                for kind in ("vertices", "edges"):
                    ours, theirs = getattr(made[0], kind), getattr(h, kind)
                    assert ours.keys() == theirs.keys()
                    for name, column in ours.items():
                        equal(theirs[name], column)


@pytest.mark.unsimulated("large graphs")
def test_subgraphs_are_made_by_all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    run = threads.run
    monkeypatch.setattr(threads, "run", lambda fn, count, *more: (seen.append(count), run(fn, count, *more)))
    monkeypatch.setattr(row_makers, "sparing", lambda *_: False)
    g = fr.rmat(14, 16, seed=1)
    with workers(3):
        for make in (lambda: g.induced(g.out_degree > 2), lambda: forward(g.sources, g.targets)):
            seen.clear()
            make()
            assert 3 in seen


@pytest.mark.unsimulated("large graphs")
@pytest.mark.parametrize("directed", [False, True])
def test_edges_of_large_graphs_are_added_up_first(directed: bool) -> None:
    """Compare with a matrix."""
    rng = np.random.default_rng(1)
    src, dst = rng.integers(0, 1500, (2, 20000)) ** 2 // 1500
    labels = rng.integers(0, 90, 1500) * 7
    group = labels // 7
    for weights in (rng.integers(-9, 10, 20000), rng.random(20000).astype(np.float32)):
        g = fr.from_edges(src, dst, weights, num_vertices=1500, directed=directed, duplicates="keep")
        assert g.num_slots > row_makers.FEW
        expected, there = np.zeros((90, 90)), np.zeros((90, 90), bool)
        np.add.at(expected, (group[src], group[dst]), weights)
        there[group[src], group[dst]] = True
        if not directed:
            there |= there.T
            expected += np.triu(expected.T, 1) + np.tril(expected.T, -1)
        for self_loops in ("keep", "drop"):
            there[np.diag_indices(90)] &= self_loops == "keep"
            found = []
            for count in (1, 3):
                with workers(count):
                    h = g.contracted(labels, self_loops=self_loops)
                equal(h.sources * 90 + h.targets, np.flatnonzero(there))
                np.testing.assert_allclose(h.weights, expected[there], rtol=1e-6)
                found.append(h.weights)
            equal(*found)


def test_sums_that_wrap_round_are_refused() -> None:
    ends = np.arange(1 << 14) % 100
    g = fr.from_edges(ends, ends + 100, np.full(1 << 14, 1 << 60), directed=True, duplicates="keep")
    with pytest.raises(fr.GraphError, match="more than int64 holds"):
        g.contracted(np.zeros(200, int))


def test_weights_beyond_int64_are_refused(backend: Backend) -> None:
    g = backend(fr.from_edges([0, 1, 2], [1, 2, 0], np.array([2**63 + 5, 1, 2], np.uint64)))
    with pytest.raises(fr.GraphError, match="as int64, and the greatest is 9223372036854775813: use float64"):
        g.contracted([0, 0, 1])
    assert sorted(g.contracted([0, 0, 1], duplicates="keep").weights.tolist()) == [1, 1, 2, 2, 2**63 + 5]


@pytest.mark.skipif(SIMULATED, reason="no kernels are in it")
def test_on_parts() -> None:
    g = fr.karate(weights=(1, 9), seed=1).with_columns(edges={"name": np.arange(78)})
    there = g.to("ranks:2")
    check_induced(g, there, range(0, 34, 3), range(0, 34, 3))
    check_contracted(g, there, np.arange(34) % 4, "keep")
    divided = fr.rmat(5, 4, seed=1, placement="ranks:2")
    with pytest.raises(fr.GraphError, match="a subgraph of a graph in parts"):
        divided.induced([0])
    with pytest.raises(fr.GraphError, match="a contracted graph of a graph in parts"):
        divided.contracted(np.zeros(32, int))


def test_wrong_arguments() -> None:
    g = fr.karate()
    for call, words in (
        (lambda: g.induced([34]), "vertex 34 does not exist"),
        (lambda: g.induced([-1]), "vertex -1 does not exist"),
        (lambda: g.induced([True]), "a mask of 1 bools"),
        (lambda: g.induced([0.5]), "ids or a mask"),
        (lambda: g.induced(fr.Frontier.all(g, kind="edge")), "a frontier of edges"),
        (lambda: g.contracted([1]), "1 labels, but there are 34 vertices"),
        (lambda: g.contracted(np.zeros(34)), "labels must be integers"),
        (lambda: g.contracted(np.zeros(34, int), self_loops="no"), "keep, drop"),
        (lambda: g.contracted(np.zeros(34, int), duplicates="no"), "duplicates must be one of sum, min"),
    ):
        with pytest.raises(fr.GraphError, match=words):
            call()
    with pytest.raises(fr.FrontierError, match="different graphs"):
        g.induced(fr.Frontier(fr.karate(), [1]))


# -- pairs of a vertex and a state ---------------------------------------------------------------------------

#: Letters 0 and 1; states 0 and 1 take turns by letter 1, and state 2 takes nothing.
TURNS = [[0, 1], [-1, 0], [-1, -1]]


@pytest.mark.parametrize("directed", [False, True])
def test_pairs_of_a_vertex_and_a_state(xp_graph, directed):
    g = fr.from_edges([0, 1, 1, 2, 2], [1, 2, 1, 0, 0], [7, 6, 5, 4, 3], directed=directed, duplicates="keep")
    letter = np.arange(g.num_slots) % 2 if directed else np.asarray(g.weights) % 2
    g = xp_graph(g.with_columns(edges={"letter": letter}))
    for given in ("letter", g.edges["letter"], letter.tolist()):
        h = g.with_states(TURNS, given)
        assert h.placement.name == g.placement.name
        assert (h.num_vertices, h.directed, h.labels) == (9, True, None)
        expected = sorted(
            (u * 3 + s, v * 3 + TURNS[s][a], w, e)
            for e, (u, v, a, w) in enumerate(zip(*map(tolist, (g.sources, g.targets, letter, g.weights)), strict=True))
            for s in range(3)
            if TURNS[s][a] >= 0
        )
        found = zip(*map(tolist, (h.sources, h.targets, h.weights, h.edges["edge"])), strict=True)
        assert sorted(found) == expected
        assert tolist(h.vertices["vertex"]) == [v for v in range(3) for _ in range(3)]
        assert tolist(h.vertices["state"]) == [0, 1, 2] * 3


def tolist(array):
    return array.tolist()


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def xp_graph(request):
    return lambda g: g.to(request.param)


@pytest.mark.parametrize(
    ("leads", "label", "message"),
    [
        ([0.5], None, "integers of shape"),
        ([], None, "integers of shape"),
        ([2, 0], None, "states are 0..1, and -1 is none; found 0 to 2"),
        ([[0]], [1] * 6, "labels are 0..0, as leads has 1 of them; found 1 to 1"),
        ([[0]], [0], "an integer for each of the 6 edge slots"),
        ([[0]], "colour", "no edge column 'colour'; it has none"),
    ],
)
def test_states_that_there_are_not(leads, label, message):
    with pytest.raises(fr.GraphError, match=message):
        fr.path(4).with_states(leads, label)


def test_a_graph_in_parts_has_no_states():
    with pytest.raises(fr.GraphError, match="a graph of states of a graph in parts"):
        fr.rmat(4, 2, seed=1, placement="ranks:2").with_states([0])


# -- some edges, and edges turned round ------------------------------------------------------------


def test_some_edges(backend: Backend) -> None:
    for i, g in enumerate(random_graphs(20, seed=331, max_vertices=20, weights=("int32", None), parallel=True)):
        g = g.with_columns(edges={"slot": np.arange(g.num_slots)}) if g.directed else g
        there, mask = backend(g), np.random.default_rng(i).random(g.num_slots) < 0.5
        both = mask if g.directed else mask | mask[g.in_edges]  # either slot of an edge
        weights = [] if g.weights is None else [g.weights[both].tolist()]
        expected = Counter(zip(g.sources[both].tolist(), g.targets[both].tolist(), *weights, strict=True))
        for chosen in (mask, np.flatnonzero(mask)[::-1], fr.Frontier(there, np.flatnonzero(mask), kind="edge")):
            h = there.edge_subgraph(chosen)
            assert edges_of(h) == expected
            assert (h.num_vertices, h.directed, h.placement) == (g.num_vertices, g.directed, there.placement)
            if g.directed:
                equal(h.edges["slot"], np.flatnonzero(mask))
            else:
                assert h.num_edges == fr.Graph(*map(to_host, (h.offsets, h.targets)), directed=False).num_edges


def test_some_edges_as_networkx_has_them() -> None:
    g, other = fr.karate(), nx.karate_club_graph()
    slots = [0, 5, 77, 155]
    ends = list(zip(g.sources[slots].tolist(), g.targets[slots].tolist(), strict=True))
    h = g.edge_subgraph(slots)
    expected = {frozenset(each) for each in other.edge_subgraph(ends).edges}
    assert {frozenset(each) for each in zip(h.sources.tolist(), h.targets.tolist(), strict=True)} == expected
    assert h.num_vertices == 34  # those without edges, too


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        (np.ones(3, bool), "a mask of 3 bools, but there are 6 edge slots"),
        ([6], "no edge slot 6"),
        ([-1], "no edge slot -1"),
        ([0.5], "edges are a frontier, edge slots or a mask"),
    ],
)
def test_edges_that_are_refused(edges: Any, words: str) -> None:
    with pytest.raises(fr.GraphError, match=words):
        fr.path(4).edge_subgraph(edges)


def test_edges_of_parts_and_of_a_frontier_of_vertices() -> None:
    g = fr.path(4)
    with pytest.raises(fr.GraphError, match="this is one of vertices"):
        g.edge_subgraph(fr.Frontier(g, [1]))
    assert g.edge_subgraph([]).num_edges == 0
    assert g.edge_subgraph({0, 2}).num_edges == 2


def test_reverse(backend: Backend) -> None:
    for g in random_graphs(20, seed=332, max_vertices=20, weights=("int32", None), parallel=True):
        g = g.with_columns(edges={"slot": np.arange(g.num_slots)}) if g.directed else g
        for there in (backend(g), backend(g.compressed())):
            h = there.reverse()
            if not g.directed:
                assert h is there
                continue
            slots = to_host(h.edges["slot"])
            equal(h.sources, g.targets[slots])
            equal(h.targets, g.sources[slots])
            assert sorted(slots) == list(range(g.num_slots))
            if g.weights is not None:
                equal(h.weights, g.weights[slots])
            equal(h.in_offsets, g.offsets)
            equal(h.in_sources, g.targets)
            assert edges_of(h.reverse()) == edges_of(g)
            assert (h.placement, h.directed) == (there.placement, True)


def test_reverse_keeps_names_and_columns() -> None:
    g = fr.from_edges(["a", "a", "b"], ["b", "c", "c"], directed=True).with_columns(vertices={"x": [1, 2, 3]})
    h = g.reverse()
    assert h.neighbors("c") == ["a", "b"]
    assert h.vertices["x"].tolist() == [1, 2, 3]
    assert fr.bfs(h.to("python"), "c")["a"] == 1
