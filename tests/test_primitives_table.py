"""The docs on all primitives: each function is on a card, and in the table with the dtypes that results have."""

from __future__ import annotations

import csv
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import frontier as fr

CARDS = Path(__file__).resolve().parents[1] / "docs" / "primitives" / "index.md"
TABLE = CARDS.with_name("table.csv")
COLUMNS = ["function", "work", "graphs", "deterministic", "dtype", "backends", "source"]

G = fr.karate()
WEIGHTED = G.with_weights(np.ones(G.num_slots, np.int32))
FLOATS = G.with_weights(np.ones(G.num_slots))
ACYCLIC = fr.from_edges([0, 1, 2, 0], [1, 2, 3, 2], directed=True)

#: Calls, and the dtypes of what they return; "id" is the graph's.
CALLS: dict[str, tuple[Callable[[], Any], dict[str, str]]] = {
    "bfs": (lambda: fr.bfs(G, 0), {"level": "int32", "parent": "id"}),
    "connected_components": (lambda: fr.connected_components(G), {"label": "id"}),
    "pagerank": (lambda: fr.pagerank(G), {"rank": "float64"}),
    "betweenness": (lambda: fr.betweenness(G), {"centrality": "float64"}),
    "edge_betweenness": (lambda: fr.edge_betweenness(G, [0]), {"centrality": "float64"}),
    "link_prediction": (lambda: fr.link_prediction(G, [(0, 1)]), {"common": "int64", "jaccard": "float64"}),
    "clustering": (lambda: fr.clustering(G), {"coefficient": "float64"}),
    "square_clustering": (lambda: fr.square_clustering(G), {"coefficient": "float64", "squares": "int64"}),
    "core_numbers": (lambda: fr.core_numbers(G), {"core": "id"}),
    "k_truss": (lambda: fr.k_truss(G), {"mask": "bool", "degree": "int64"}),
    "jaccard": (lambda: fr.jaccard(G), {"jaccard": "float64", "common": "int64"}),
    "closeness": (lambda: fr.closeness(G), {"centrality": "float64", "total": "int64"}),
    "eccentricity": (lambda: fr.eccentricity(G), {"eccentricity": "int64"}),
    "bfs_many": (lambda: fr.bfs_many(G, [0]), {"level": "int32"}),
    "predecessors": (lambda: fr.predecessors(G.to("python"), fr.bfs(G, 0)), {"predecessor": "id"}),
    "strongly_connected_components": (lambda: fr.strongly_connected_components(ACYCLIC), {"label": "id"}),
    "topological_order": (lambda: fr.topological_order(ACYCLIC), {"order": "id", "level": "int32"}),
    "bridges": (lambda: fr.bridges(G), {"edges": "id"}),
    "biconnected_components": (lambda: fr.biconnected_components(G), {"label": "id", "vertices": "id"}),
    "condensation": (lambda: fr.condensation(ACYCLIC), {"label": "id"}),
    "onion_layers": (lambda: fr.onion_layers(G), {"layer": "id", "core": "id"}),
    "articulation_points": (lambda: fr.articulation_points(G), {"is_articulation": "bool"}),
    "maximal_independent_set": (lambda: fr.maximal_independent_set(G), {"mask": "bool"}),
    "color": (lambda: fr.color(G), {"color": "id"}),
    "minimum_spanning_forest": (lambda: fr.minimum_spanning_forest(WEIGHTED), {"edges": "int64", "tree": "id"}),
    "maximal_matching": (lambda: fr.maximal_matching(G), {"partner": "id"}),
    "max_flow": (lambda: fr.max_flow(WEIGHTED, 0, 9), {"flow": "int64", "cut": "bool"}),
    "random_walks": (lambda: fr.random_walks(G, length=3), {"path": "id"}),
    "label_propagation": (lambda: fr.label_propagation(G), {"label": "id"}),
    "layout": (lambda: fr.layout(G), {"position": "float64"}),
    "transitive_closure": (lambda: fr.transitive_closure(ACYCLIC), {"counts": "int64", "rows": "int64"}),
}


def linked(text: str) -> list[str]:
    """The functions that a text links to, each under its own name."""
    found = re.findall(r"{py:func}`fr\.(\w+) <frontier\.(\w+)>`", text)
    assert all(shown == name for shown, name in found)
    return [name for name, _ in found]


def rows() -> dict[str, list[str]]:
    """The cells of each function's row."""
    head, *lines = csv.reader(TABLE.read_text("utf-8").splitlines())
    assert head == COLUMNS
    found = {linked(line[0])[0]: line for line in lines}
    assert len(found) == len(lines)
    return found


def test_each_primitive_has_a_row_and_a_place_on_a_card() -> None:
    found = rows()
    functions = {name: getattr(fr, name) for name in fr.__all__ if inspect.isfunction(getattr(fr, name))}
    assert {name for name, fn in functions.items() if fn.__module__.startswith("frontier.primitives.")} == set(found)
    for name, cells in found.items():
        assert callable(getattr(fr, name))
        assert len(cells) == len(COLUMNS), name
        assert all(cell.strip() for cell in cells), name
    assert sorted(linked(CARDS.read_text("utf-8"))) == sorted(found)


@pytest.mark.parametrize("name", CALLS)
def test_dtypes(name: str) -> None:
    call, dtypes = CALLS[name]
    result, said = call(), rows()[name][COLUMNS.index("dtype")]
    for attribute, dtype in dtypes.items():
        assert dtype in said.split() or f"{dtype}," in said.split()
        assert getattr(result, attribute).dtype == (G.id_dtype if dtype == "id" else dtype)


def test_dtypes_by_weights() -> None:
    for g, dtype in ((WEIGHTED, "int64"), (FLOATS, "float64")):
        assert fr.sssp(g, 0).distance.dtype == fr.sssp_many(g, [0]).distance.dtype == dtype
        there = g.to("python")
        assert fr.bellman_ford(there, 0).distance.dtype == fr.johnson(there, [0]).distance.dtype == dtype
        assert isinstance(fr.minimum_spanning_forest(g).weight, int if dtype == "int64" else float)
    for name in ("sssp", "sssp_many", "bellman_ford", "johnson"):
        assert "as weights" in rows()[name][COLUMNS.index("dtype")]
