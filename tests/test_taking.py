"""Objects that are no graph, problem, frontier or functor: taken where that is clear, refused by one line otherwise."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import frontier as fr
from frontier import registry
from frontier.functors.functor import arguments

nx = pytest.importorskip("networkx", reason="NetworkX is not installed")
sparse = pytest.importorskip("scipy.sparse", reason="SciPy is not installed")
pd = pytest.importorskip("pandas", reason="pandas is not installed")

PAIRS = [(0, 1), (1, 2), (2, 3)]
G = fr.from_edges(PAIRS)


def visit(p, src, dst):
    return fr.atomic_cas(p.parent, dst, -1, src) == -1


class BFS(fr.Enactor):
    loop = fr.Loop(fr.Advance(visit))


def problem(g: Any) -> fr.Problem:
    return fr.Problem(g, parent=fr.vertex("int32", -1))


# -- graphs ---------------------------------------------------------------------------------------------


def named() -> Any:
    made = nx.Graph()
    made.add_edges_from([("b", "a"), ("a", "d"), ("d", "c")])
    return made


GRAPHS = {
    "networkx": lambda: nx.path_graph(4),
    "scipy": lambda: sparse.csr_array(nx.to_numpy_array(nx.path_graph(4))),
    "pairs": lambda: PAIRS,
    "array": lambda: np.array(PAIRS),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_primitives_take_what_graphs_are_made_of(name: str) -> None:
    made = GRAPHS[name]()
    np.testing.assert_array_equal(fr.bfs(made, 0).level, [0, 1, 2, 3])
    np.testing.assert_array_equal(fr.connected_components(made).label, [0, 0, 0, 0])
    np.testing.assert_allclose(fr.pagerank(made).rank, fr.pagerank(fr.path(4)).rank)
    np.testing.assert_allclose(fr.betweenness(made).centrality, fr.betweenness(fr.path(4)).centrality)
    result = fr.bfs(made, 0)
    assert fr.verify.bfs(made, result).passed
    if name not in ("pairs", "array"):  # which have no weights
        np.testing.assert_array_equal(fr.sssp(g=made, source=0).distance, [0, 1, 2, 3])


def test_a_primitive_of_a_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_entries", dict(registry.primitives()))

    @registry.primitive("order", "number of vertices", report=lambda g, r: {"vertices": r})
    def order(g: fr.Graph, *, more: int = 0) -> int:
        """Count the vertices."""
        return g.num_vertices + more

    assert order.__doc__ == "Count the vertices."
    assert order(PAIRS, more=3) == 7
    entry = registry.primitives()["order"]
    assert entry.function is order
    assert (entry.summary, entry.columns, entry.takes_source) == ("number of vertices", (), False)
    with pytest.raises(TypeError, match="colour"):
        registry.primitive("order", "another", colour="red")(order)


@pytest.mark.parametrize("name", GRAPHS)
def test_problems_take_what_graphs_are_made_of(name: str) -> None:
    p = problem(GRAPHS[name]())
    p.parent[0] = 0
    BFS(p).run([0])
    np.testing.assert_array_equal(p.parent, [0, 0, 1, 2])
    assert isinstance(p.graph, fr.Graph)


def test_vertices_of_networkx_by_their_names_in_their_order() -> None:
    found = fr.bfs(named(), "a")
    assert dict(zip(named(), found.level.tolist(), strict=True)) == {"b": 1, "a": 0, "d": 1, "c": 2}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("roads.gr", r"takes a Graph first, not 'roads.gr': fr.read\('roads.gr'\) reads a file"),
        (pd.DataFrame({"a": [0], "dst": [1]}), "no column is called like a source: say source= and target=, of a, dst"),
        (None, "not NoneType: make one with fr.from_edges, fr.from_networkx"),
        (3, "not int: make one"),
        (fr.Graph, "not the class Graph: make one"),
        (problem(G), r"not Problem: that of the problem is its attribute \.graph"),
        (fr.Frontier(G, [0]), r"not Frontier: that of the frontier is its attribute \.graph"),
        (np.eye(4), "not ndarray: make one"),
        (np.eye(3), r"an array of shape \(3, 3\) may be edges or a matrix: say fr.from_edges"),
        ([1, 2, 3], r"from_edges takes the ends .*from_edges\(\[\(0, 1\), \(1, 2\)\]\)"),
    ],
)
@pytest.mark.parametrize("who", ["bfs", "Problem"])
def test_what_is_no_graph(value: Any, message: str, who: str) -> None:
    with pytest.raises(fr.GraphError, match=message) as caught:
        fr.bfs(value, 0) if who == "bfs" else fr.Problem(value)
    assert len(str(caught.value).splitlines()) == 1


# -- lists of edges ---------------------------------------------------------------------------------------


def test_edges_in_one_list() -> None:
    g = fr.from_edges([(0, 1), (1, 2)], directed=True)
    assert (g.targets.tolist(), g.sources.tolist(), g.weights) == ([1, 2], [0, 1], None)
    g = fr.from_edges([(0, 1, 2.5), (1, 2, 0.5)], directed=True)
    np.testing.assert_array_equal(g.weights, [2.5, 0.5])
    g = fr.from_edges([("a", "b"), ("b", "c")])
    assert g.labels.tolist() == ["a", "b", "c"]
    g = fr.from_edges(np.array([[0, 1, 7], [1, 2, 8], [2, 3, 9]]), directed=True)
    np.testing.assert_array_equal(g.weights, [7, 8, 9])
    g = fr.from_edges(np.array([[0.0, 1.0, 0.5]]), directed=True)
    assert (g.targets.tolist(), g.weights.tolist()) == ([1], [0.5])
    g = fr.from_edges(((v, v + 1) for v in range(3)), weights=[1, 2, 3])
    assert (g.num_edges, g.max_weight) == (3, 3)
    assert fr.from_edges([]).num_vertices == 0


@pytest.mark.parametrize("edges", [[1, 2], 5, "ab", [(0, 1), (1, 2, 3)], [(0,)], ["ab", "cd"], [(0, 1, 2, 3)]])
def test_lists_that_are_no_edges(edges: Any) -> None:
    with pytest.raises(fr.GraphError, match=r"or one list of pairs, or triples with a weight: from_edges\(\[\(0, 1\)"):
        fr.from_edges(edges)


def test_weights_given_twice() -> None:
    with pytest.raises(fr.GraphError, match="given twice"):
        fr.from_edges([(0, 1, 2)], weights=[1])


# -- problems and frontiers --------------------------------------------------------------------------------


@pytest.mark.parametrize("some", [[0], (0,), {0}, range(1), np.array([0]), [True, False, False, False]])
def test_ids_where_a_frontier_is_expected(some: Any) -> None:
    p = problem(G)
    assert fr.advance(p, some, visit) == fr.Frontier(G, [1])
    assert fr.Advance(visit)(p, [1]) == fr.Frontier(G, [0, 2])
    p = problem(G)
    assert isinstance(fr.compute(p, some, touch), fr.Frontier)
    near, far = fr.split(p, some, touch)
    assert (len(near), len(far)) == (0, 1)


def touch(p, v):
    p.parent[v] = v


class Free(fr.Enactor):
    def step(self, frontier):
        return fr.advance(self.problem, frontier, visit)


F = fr.Frontier(G, [0])
P = problem(G)

MISTAKES = [
    (lambda: fr.advance(F, P, visit), r"Advance\(visit\) takes a Problem first, not Frontier: the problem comes first"),
    (lambda: fr.advance(G, F, visit), r"not Graph: fr.Problem\(g, name=fr.vertex\(...\), ...\) makes one of a graph"),
    (lambda: fr.Advance(visit)(F, P), "the problem comes first, then the frontier"),
    (lambda: fr.advance(P, visit, F), r"plain Python function, not Frontier: Frontier\(1 vertex: 0\)"),
    (lambda: fr.advance(P, "all", visit), r"a frontier is expected, not 'all': make one with fr.Frontier\(g, ids\)"),
    (lambda: fr.advance(P, 0, visit), "a frontier is expected, not int"),
    (lambda: fr.advance(P, P, visit), "a frontier is expected, not Problem"),
    (lambda: fr.advance(P, [7], visit), r"vertex 7 does not exist: valid are 0\.\.3"),
    (lambda: fr.advance(P, ["a"], visit), "integers, not <U1"),
    (lambda: fr.advance(P, fr.Frontier(fr.path(4), [0]), visit), "frontiers of different graphs do not mix"),
    (lambda: fr.Frontier(nx.path_graph(3), [0]), "not of networkx.Graph: take that of the problem"),
    (lambda: fr.Frontier(P, [0]), "of frontier.Problem: take that of the problem, p.graph"),
    (lambda: BFS(G), r"BFS\(problem\) takes a Problem first, not Graph"),
    (lambda: BFS(BFS), r"BFS\(problem\) takes a Problem first, not the class BFS"),
    (lambda: BFS.run(F), r"BFS\(problem\)\.run\(frontier\), not BFS\.run\(frontier\)"),
    (lambda: BFS(P).run("a"), "a frontier is expected, not 'a'"),
    (lambda: fr.Advance(visit).run(F), r"Advance\(visit\) is a step: call it, step\(p, f\); an Enactor"),
    (lambda: fr.Loop(BFS), r"a Loop is made of steps; to run what BFS does, put its loop there: BFS\.loop"),
    (lambda: fr.Loop(BFS(P)), r"put its loop there: BFS\.loop"),
    (lambda: fr.Loop(visit), r"a Loop is made of steps such as fr\.Advance\(fn\), not of <function visit"),
    (lambda: Free(P).run(), r"Free\.run needs a frontier"),
    (lambda: fr.bfs(G, "a"), "no vertex 'a': vertices are 0 to 3"),
    (lambda: fr.Problem(G, parent=3), r"make fields with fr\.vertex"),
]


@pytest.mark.parametrize(("call", "message"), MISTAKES)
def test_mistakes(call: Any, message: str) -> None:
    with pytest.raises(fr.FrontierError, match=message) as caught:
        call()
    assert len(str(caught.value).splitlines()) == 1


def test_free_enactors_take_ids() -> None:
    p = problem(G)
    p.parent[0] = 0
    Free(p).run([0])
    np.testing.assert_array_equal(p.parent, [0, 0, 1, 2])


# -- functors ------------------------------------------------------------------------------------------------


def without_problem(src, dst):
    return True


def vertex_first(v):
    return True


@pytest.mark.parametrize(
    ("fn", "place", "message"),
    [
        (without_problem, "edge", r"without_problem .*the problem comes first.*: def without_problem\(p, src, dst\)"),
        (vertex_first, "vertex", r"def vertex_first\(p, v\)"),
        (functools.partial(visit, None), "edge", r"a plain Python function, not partial: .*; a def may call it"),
        (BFS, "edge", "a plain Python function, not type"),
        (max, "edge", "not builtin_function_or_method: <built-in function max>; a def may call it"),
        ("visit", "edge", "a plain Python function, not str: 'visit'$"),
        (lambda p, v, k=3: True, "vertex", "argument 'k' must be plain: no default, .* found by their names"),
    ],
)
def test_what_is_no_functor(fn: Any, place: str, message: str) -> None:
    with pytest.raises(fr.FunctorError, match=message):
        arguments(fn, place)
