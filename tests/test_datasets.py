"""The small graphs in the package are those of the literature."""

from __future__ import annotations

import pytest
from processes import ROOT

import frontier as fr

#: Name -> vertices, edges, degrees from the largest down.
KNOWN = {
    "karate": (34, 78, [17, 16, 12]),
    "florentine_families": (15, 20, [6, 4, 4, 3]),
    "davis_southern_women": (32, 89, [14, 12, 10]),
    "krackhardt_kite": (10, 18, [6, 5, 5, 4]),
    "petersen": (10, 15, [3] * 10),
}


@pytest.mark.parametrize("name", fr.datasets.__all__)
def test_sizes_and_degrees(name: str) -> None:
    graph = getattr(fr.datasets, name)()
    vertices, edges, degrees = KNOWN[name]
    assert (graph.num_vertices, graph.num_edges, graph.directed, graph.weights) == (vertices, edges, False, None)
    assert sorted(graph.out_degree.tolist(), reverse=True)[: len(degrees)] == degrees
    assert (graph.labels is None) == (name in ("karate", "petersen"))
    assert f"| `{name}` | {vertices} | {edges} |" in (ROOT / "docs" / "api" / "datasets.md").read_text("utf-8")


@pytest.mark.parametrize("name", [name for name in KNOWN if name != "karate"])
def test_they_are_those_of_networkx(name: str) -> None:
    nx = pytest.importorskip("networkx", reason="has the same graphs")
    theirs, graph = getattr(nx, f"{name}_graph")(), getattr(fr.datasets, name)()
    ours = fr.to_networkx(graph)
    if name in ("krackhardt_kite", "petersen"):
        assert nx.is_isomorphic(ours, theirs)
    else:
        assert {frozenset(edge) for edge in ours.edges()} == {frozenset(edge) for edge in theirs.edges()}


def test_sides() -> None:
    graph = fr.datasets.davis_southern_women()
    side = graph.vertices["side"]
    assert (side[graph.sources] != side[graph.targets]).all()
    assert side.tolist() == [0] * 18 + [1] * 14
    assert graph.labels[0] == "Evelyn Jefferson"
    assert graph.labels[18:].tolist() == [f"E{k}" for k in range(1, 15)]


def test_three_kinds_of_importance() -> None:
    graph = fr.datasets.krackhardt_kite().to("python")
    assert graph.labels[graph.out_degree.argmax()] == "Diane"
    assert graph.labels[fr.betweenness(graph).centrality.argmax()] == "Heather"


def test_files_are_in_the_wheel() -> None:
    there = {path.name for path in (ROOT / "frontier" / "datasets").iterdir() if path.suffix != ".py"} - {"__pycache__"}
    assert all(name.endswith(".csv") for name in there)
