"""Every primitive on every real graph of the data folder, by the cpu backend, against SciPy and the verifiers.

Exact betweenness on the smallest ones, from some sources on the others. Largest: 3.9 million edge slots.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import oracles
import pytest

import frontier as fr

NAMES = [
    "air-routes", "as-caida-20071105", "cit-HepPh", "ego-Twitter", "email-Enron", "mesh-igea", "nk-karate",
    "nk-lesmis", "osm-rhine-neckar", "road-NE", "road-NY-d", "road-rome99", "web-cnr-2000",
]  # fmt: skip
EXACT_BETWEENNESS = {"nk-karate", "nk-lesmis", "road-rome99"}

pytestmark = pytest.mark.deep


def busiest(g: fr.Graph) -> int:
    return int(np.argmax(g.out_degree))


def test_the_names_are_those_of_the_folder(data_dir: Any) -> None:
    assert sorted(path.stem for path in data_dir.glob("*.npz")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_bfs(real_graph: Any, name: str) -> None:
    g = real_graph(name)
    for source in (busiest(g), g.num_vertices - 1):
        result = fr.bfs(g, source)
        np.testing.assert_array_equal(result.level, oracles.bfs_levels(g, source))
        fr.verify.bfs(g, result).raise_if_failed()


@pytest.mark.parametrize("name", NAMES)
def test_sssp(real_graph: Any, name: str) -> None:
    g = real_graph(name)
    source = busiest(g)
    if g.weights is None:
        # The edges of these are weighted by their ends, the same in both directions.
        ends = g.sources.astype(np.int64) + g.targets
        g = g.with_weights((ends * 2654435761 % 64).astype(np.int32))
    result = fr.sssp(g, source)
    np.testing.assert_array_equal(result.distance, oracles.sssp_distances(g, source))
    fr.verify.sssp(g, result).raise_if_failed()


@pytest.mark.parametrize("method", ["afforest", "hooking"])
@pytest.mark.parametrize("name", NAMES)
def test_components(real_graph: Any, name: str, method: str) -> None:
    g = real_graph(name)
    result = fr.connected_components(g, method=method)
    expected = oracles.components(g)
    np.testing.assert_array_equal(result.label, expected)
    assert result.count == len(np.unique(expected))


@pytest.mark.parametrize("name", NAMES)
def test_pagerank(real_graph: Any, name: str) -> None:
    """Iteration by iteration the oracle's; and where it stops, ranks that one more would not change."""
    g = real_graph(name)
    result = fr.pagerank(g, tolerance=0, max_iterations=20)
    np.testing.assert_allclose(result.rank, oracles.pagerank(g, iterations=20), rtol=1e-9)
    fr.verify.pagerank(g, fr.pagerank(g)).raise_if_failed()


@pytest.mark.parametrize("name", NAMES)
def test_betweenness(real_graph: Any, name: str) -> None:
    g = real_graph(name)
    if name in EXACT_BETWEENNESS:
        result = fr.betweenness(g)
        assert len(result.sources) == g.num_vertices
    else:
        result = fr.betweenness(g, 3, seed=1)
    if name.startswith("nk"):
        np.testing.assert_allclose(result.centrality, oracles.betweenness(g), rtol=1e-9)
    fr.verify.betweenness(g, result).raise_if_failed()
