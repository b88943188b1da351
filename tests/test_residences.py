"""Every primitive, with edges elsewhere or compressed: as on a graph whose edges are in memory."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compare import close
from conftest import Backend

import frontier as fr

ORDERED = fr.from_edges([0, 0, 1, 2, 4], [1, 2, 3, 3, 3], directed=True)


def on_ordered(g: fr.Graph) -> fr.Graph:
    """A graph without cycles, where g is and as it is."""
    made = ORDERED.to(g.placement)
    return made.compressed() if g._topology.packed else made


CALLS: dict[str, Callable[[fr.Graph], Any]] = {
    "bfs": lambda g: fr.bfs(g, 0).level,
    "sssp": lambda g: fr.sssp(g, 0).distance,
    "sssp_many": lambda g: fr.sssp_many(g, [0, 1]).distance,
    "connected_components": lambda g: fr.connected_components(g).label,
    "pagerank": lambda g: fr.pagerank(g).rank,
    "betweenness": lambda g: fr.betweenness(g).centrality,
    "edge_betweenness": lambda g: fr.edge_betweenness(g, [0, 1]).centrality,
    "link_prediction": lambda g: fr.link_prediction(g, [(0, 33), (1, 2)]).adamic_adar,
    "degree_assortativity": lambda g: fr.degree_assortativity(g).coefficient,
    "triangles": lambda g: fr.triangles(g, per_vertex=True).per_vertex,
    "clustering": lambda g: fr.clustering(g).coefficient,
    "square_clustering": lambda g: fr.square_clustering(g).coefficient,
    "core_numbers": lambda g: fr.core_numbers(g).core,
    "k_truss": lambda g: fr.k_truss(g, 4).mask,
    "jaccard": lambda g: fr.jaccard(g).jaccard,
    "subgraph_match": lambda g: fr.subgraph_match(g, "square").count,
    "personalized_pagerank": lambda g: fr.personalized_pagerank(g, [[0], [1, 2]]).rank,
    "who_to_follow": lambda g: fr.who_to_follow(g, 0).score,
    "hits": lambda g: fr.hits(g).hub,
    "salsa": lambda g: fr.salsa(g).hub,
    "eigenvector_centrality": lambda g: fr.eigenvector_centrality(g).centrality,
    "katz": lambda g: fr.katz(g, alpha=0.01).centrality,
    "bfs_many": lambda g: fr.bfs_many(g).level,
    "closeness": lambda g: fr.closeness(g).centrality,
    "harmonic": lambda g: fr.harmonic(g).centrality,
    "eccentricity": lambda g: fr.eccentricity(g).eccentricity,
    "diameter": lambda g: fr.diameter(g).diameter,
    "predecessors": lambda g: fr.predecessors(g, fr.bfs(g, 0)).predecessor,
    "bellman_ford": lambda g: fr.bellman_ford(g, 0).distance,
    "johnson": lambda g: fr.johnson(g, [0, 1]).distance,
    "shortest_path": lambda g: fr.shortest_path(g, 0, 33, weighted=True).distance,
    "strongly_connected_components": lambda g: fr.strongly_connected_components(on_ordered(g)).label,
    "topological_order": lambda g: fr.topological_order(on_ordered(g)).order,
    "bridges": lambda g: fr.bridges(g).edges,
    "articulation_points": lambda g: fr.articulation_points(g).is_articulation,
    "biconnected_components": lambda g: fr.biconnected_components(g).label,
    "condensation": lambda g: fr.condensation(on_ordered(g)).label,
    "onion_layers": lambda g: fr.onion_layers(g).layer,
    "maximal_independent_set": lambda g: fr.maximal_independent_set(g).mask,
    "color": lambda g: fr.color(g).color,
    "minimum_spanning_forest": lambda g: fr.minimum_spanning_forest(g).edges,
    "maximal_matching": lambda g: fr.maximal_matching(g, weighted=True).partner,
    "max_flow": lambda g: fr.max_flow(g, 0, 33).value,
    "random_walks": lambda g: fr.random_walks(g, length=5, weighted=True).path,
    "node2vec_walks": lambda g: fr.node2vec_walks(g, length=5, p=0.5, q=2).path,
    "louvain": lambda g: fr.louvain(g).label,
    "leiden": lambda g: fr.leiden(g).label,
    "modularity": lambda g: fr.modularity(g, np.arange(34) % 3),
    "label_propagation": lambda g: fr.label_propagation(g).label,
    "layout": lambda g: fr.layout(g, iterations=2, weighted=True).position,
    "transitive_closure": lambda g: fr.transitive_closure(on_ordered(g), method="condensation").to_dense(),
    "sample_neighbors": lambda g: fr.sample_neighbors(g, [0, 33], [3, 2]).edge,
}
G = fr.karate(weights=(1, 9), seed=1)


def test_these_are_all() -> None:
    functions = [each for name in fr.__all__ if inspect.isfunction(each := getattr(fr, name))]
    assert {each.__name__ for each in functions if each.__module__.startswith("frontier.primitives.")} == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("how", ["disk", "compressed"])
def test_on_the_cpu(name: str, how: str) -> None:
    there = G.to("cpu", edges="disk") if how == "disk" else G.compressed()
    close(np.asarray(CALLS[name](there)), np.asarray(CALLS[name](G)), rtol=1e-9, atol=1e-12)


@pytest.mark.unsimulated("several minutes for all of them")
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("how", ["host", "disk", "compressed"])
def test_on_a_gpu(cuda: Backend, name: str, how: str) -> None:
    there = (G.compressed() if how == "compressed" else G).to(cuda.name, edges="disk" if how == "disk" else "host")
    close(CALLS[name](there), CALLS[name](G.to(cuda.name)), rtol=1e-6, atol=1e-9)
