"""Subgraph matching: the monomorphisms that NetworkX finds, of which as many are one match as there are symmetries."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import oracles
import pytest
from compare import equal, host, workers
from conftest import SIMULATED, Backend
from hypothesis import given
from hypothesis import strategies as st
from networkx.algorithms.isomorphism import GraphMatcher
from strategies import graphs, random_graphs

import frontier as fr
from frontier.primitives import subgraph_match as module

#: Patterns by name, as NetworkX has them.
SHAPES = {
    "triangle": nx.complete_graph(3),
    "4-clique": nx.complete_graph(4),
    "square": nx.cycle_graph(4),
    "path": nx.path_graph(3),
}
OTHERS = {
    "vertex": nx.empty_graph(1),
    "edge": nx.path_graph(2),
    "star": nx.star_graph(3),
    "paw": nx.Graph([(0, 1), (1, 2), (2, 0), (2, 3)]),
    "diamond": nx.Graph([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]),
    "house": nx.Graph([(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)]),
}


def maps(big: nx.Graph, small: nx.Graph) -> set[tuple[int, ...]]:
    """All ways to put the vertices of a pattern on different vertices, each edge on an edge; labels must fit."""

    def fits(vertex: Any, wanted: Any) -> bool:
        return wanted.get("label") is None or wanted["label"] == vertex.get("label")

    found = GraphMatcher(big, small, node_match=fits).subgraph_monomorphisms_iter()
    inverse = ({j: v for v, j in each.items()} for each in found)
    return {tuple(each[j] for j in range(len(small))) for each in inverse}


def symmetries(small: nx.Graph) -> set[tuple[int, ...]]:
    """Those of the pattern, where a vertex goes to one for which the same label is wanted."""
    same = GraphMatcher(small, small, node_match=lambda a, b: a.get("label") == b.get("label"))
    return {tuple(each[j] for j in range(len(small))) for each in same.isomorphisms_iter()}


def check(g: fr.Graph, shape: str, labels: Any = None, of: Any = None) -> int:
    """Compare the number of matches and the matches themselves."""
    big, small = nx.Graph(oracles.networkx_graph(g)), {**SHAPES, **OTHERS}[shape].copy()
    big.remove_edges_from(list(nx.selfloop_edges(big)))
    pattern = shape if shape in SHAPES else fr.from_networkx(small)
    if labels is not None:
        nx.set_node_attributes(big, dict(enumerate(np.asarray(of).tolist())), "label")
        nx.set_node_attributes(small, dict(enumerate(labels)), "label")
    expected, same = maps(big, small), symmetries(small)
    result = fr.subgraph_match(g, pattern, labels=labels, vertex_labels=of, listed=True)
    assert result.matches is not None
    rows = [tuple(row) for row in host(result.matches).tolist()]
    classes = {frozenset(tuple(row[j] for j in each) for each in same) for row in rows}
    assert len(classes) == len(rows) == result.count  # no two rows are the same match
    assert frozenset().union(*classes) == expected if classes else not expected
    assert result.matches.shape == (result.count, len(small))
    assert fr.subgraph_match(g, pattern, labels=labels, vertex_labels=of).count == result.count
    return result.count


@pytest.mark.parametrize("shape", [*SHAPES, *OTHERS])
def test_many_graphs(backend: Backend, shape: str) -> None:
    count, largest = (10, 12) if backend.name != "python" else (4, 9)
    for g in random_graphs(count, seed=101, max_vertices=largest, weights=None, parallel=True):
        check(backend(g), shape)


@given(g=graphs(weights=None, max_vertices=8), shape=st.sampled_from([*SHAPES, *OTHERS]), data=st.data())
def test_any_graph_with_labels(backend: Backend, g: fr.Graph, shape: str, data: st.DataObject) -> None:
    k = len({**SHAPES, **OTHERS}[shape])
    labels = data.draw(st.lists(st.sampled_from([None, 1, 2]), min_size=k, max_size=k))
    of = data.draw(st.lists(st.sampled_from([1, 2, 3]), min_size=g.num_vertices, max_size=g.num_vertices))
    check(backend(g), shape, labels, np.array(of, np.int64))


def test_numbers_of_complete_graphs(backend: Backend) -> None:
    g = backend(fr.complete(6))
    counts = {shape: fr.subgraph_match(g, shape).count for shape in SHAPES}
    assert counts == {"triangle": 20, "4-clique": 15, "square": 45, "path": 60}


def test_special_graphs(backend: Backend) -> None:
    for n in (0, 1, 3):
        g = backend(fr.from_edges([], [], num_vertices=n))
        for shape in SHAPES:
            assert check(g, shape) == 0
        assert check(g, "vertex") == n
    looped = backend(fr.from_edges([0, 1, 1, 2, 0], [1, 0, 2, 2, 0], duplicates="keep", directed=True))
    assert check(looped, "path") == 1


def test_a_path_by_labels(backend: Backend) -> None:
    """Who has bought what: two buyers of the same thing."""
    kind = np.array(["buyer", "buyer", "buyer", "thing", "thing"])
    g = backend(fr.from_edges([0, 1, 2, 2], [3, 3, 3, 4], vertices={"kind": np.array([7, 7, 7, 9, 9])}))
    labels = ("buyer", "thing", "buyer")
    assert fr.subgraph_match(g, "path", labels=labels, vertex_labels=kind).count == 3
    assert fr.subgraph_match(g, "path", labels=(7, 9, 7), vertex_labels="kind").count == 3
    assert fr.subgraph_match(g, "path", labels=(7, 9), vertex_labels="kind").count == 4
    assert fr.subgraph_match(g, "path", labels=(9, 7, 9), vertex_labels="kind").count == 1
    assert fr.subgraph_match(g, "path", labels=(8, None), vertex_labels="kind").count == 0


def test_batches(compiled: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few partial matches at once, fewer than some vertices make."""
    monkeypatch.setattr(module, "BATCH", 3)
    assert check(compiled(fr.small_world(8, 4, 0.2, seed=1)), "square") > 3
    assert check(compiled(fr.star(6)), "path") == 10
    assert check(compiled(fr.complete(5)), "4-clique") == 5


def test_several_workers(compiled: Backend) -> None:
    g = compiled(fr.rmat(3 if SIMULATED else 5, 4, seed=2))
    with workers(3):
        for shape in ("4-clique", "square"):
            check(g, shape)


@pytest.mark.unsimulated("a large graph")
def test_real_graph(compiled: Backend, real_graph: Any) -> None:
    g = compiled(real_graph("as-caida-20071105"))
    igraph = pytest.importorskip("igraph")
    here = g.to("cpu")
    other = igraph.Graph(n=g.num_vertices, edges=np.stack([here.sources, here.targets], axis=1)).simplify()
    other.to_undirected()
    with workers(2):
        assert fr.subgraph_match(g).count == fr.triangles(g).count
        assert fr.subgraph_match(g, "4-clique").count == len(other.cliques(min=4, max=4))


def test_parts() -> None:
    for g in random_graphs(4, seed=102, min_vertices=6, max_vertices=10, weights=None):
        for shape in ("square", "4-clique"):
            check(g.to("ranks:2"), shape)
    divided = fr.rmat(5, 4, seed=3, placement="ranks:2")
    assert fr.subgraph_match(divided).count == fr.triangles(divided).count


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"pattern": "pentagon"}, "choose from triangle, 4-clique, square, path"),
        ({"pattern": 3}, "a name or a graph"),
        ({"pattern": fr.from_edges([], [], num_vertices=0)}, "1 to 8 vertices, not 0"),
        ({"pattern": fr.path(9)}, "1 to 8 vertices, not 9"),
        ({"pattern": fr.from_edges([0], [1], directed=True)}, "undirected graphs without self-loops"),
        ({"pattern": fr.from_edges([0, 1], [1, 1])}, "undirected graphs without self-loops"),
        ({"pattern": fr.from_edges([0], [1], num_vertices=3)}, "patterns are connected"),
        ({"labels": (1, 2, 3)}, "labels= goes with vertex_labels="),
        ({"labels": (1, 2), "vertex_labels": np.zeros(34)}, "2 labels for a pattern of 3 vertices"),
        ({"labels": (1, 2, 3), "vertex_labels": np.zeros(33)}, "vertex_labels of shape"),
        ({"labels": (1, 2, 3), "vertex_labels": "kind"}, "there is no such vertex column"),
    ],
)
def test_wrong_arguments(given: dict[str, Any], message: str) -> None:
    with pytest.raises(fr.GraphError, match=message):
        fr.subgraph_match(fr.karate(), **given)


def test_vertices_keep_their_ids(compiled: Backend) -> None:
    """Inside, vertices are numbered by degree; also if the graph has been before."""
    g = compiled(fr.karate().reordered("degree"))
    result = fr.subgraph_match(g, "4-clique", listed=True)
    assert result.matches is not None
    found = {tuple(sorted(row)) for row in host(result.matches).tolist()}
    cliques = (c for c in nx.enumerate_all_cliques(oracles.networkx_graph(g)) if len(c) == 4)
    assert found == {tuple(sorted(c)) for c in cliques}
    equal(result.count, len(found))
