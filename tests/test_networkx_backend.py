"""The backend for NetworkX: its protocol, what its mappings can do, and every function beside NetworkX's own."""

from __future__ import annotations

import copy
import gc
import inspect
import itertools
import json
import pickle
import random
import subprocess
import sys
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import ROOT

import frontier as fr
from frontier.nx_backend.topics import MODULE_OF

nx = pytest.importorskip("networkx", reason="NetworkX is not installed")

from networkx.utils import backends  # noqa: E402
from nx_registered import registered, settings  # noqa: E402

from frontier.nx_backend import interface  # noqa: E402
from frontier.nx_backend.converted import ConvertedGraph, convert  # noqa: E402
from frontier.nx_backend.mappings import LazyDict  # noqa: E402


@pytest.fixture(autouse=True)
def backend() -> Iterator[Any]:
    with registered() as made, settings(device="python"):
        yield made


def public(name: str) -> Any:
    return getattr(nx, name, None) or getattr(nx.community, name)


def run(name: str, *args: Any, **kwargs: Any) -> Any:
    """A function of NetworkX's, here; generators are listed."""
    return plain(public(name)(*args, backend="frontier", **kwargs))


def theirs(name: str, *args: Any, **kwargs: Any) -> Any:
    """The same by NetworkX."""
    return plain(public(name)(*args, backend="networkx", **kwargs))


def plain(value: Any) -> Any:
    """A result as dicts, lists and graphs as sets of edges."""
    if isinstance(value, nx.Graph):
        return set(value.nodes), sorted(map(repr, value.edges(data=True)))
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, Iterator | list | tuple):
        return [plain(each) for each in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def sets(groups: Any) -> Any:
    return {frozenset(group) for group in groups}


def same(found: Any, wanted: Any) -> bool:
    """Whether results are the same up to rounding."""
    if isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(same(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    if isinstance(wanted, float):
        return bool(found == pytest.approx(wanted, rel=1e-4, abs=1e-5, nan_ok=True))
    return bool(found == wanted)


def sample(kind: Any = None, n: int = 12, m: int = 22, seed: int = 1, names: bool = True) -> Any:
    """A graph with loops, weights and several components; parallel edges if it can have some."""
    rng = random.Random(seed)
    graph = (kind or nx.Graph)()
    label = (lambda v: f"n{v}") if names else int
    graph.add_nodes_from(label(v) for v in rng.sample(range(n), n))
    for _ in range(m):
        a, b = rng.randrange(n - 2), rng.randrange(n - 2)
        graph.add_edge(label(a), label(b), weight=rng.randrange(1, 9), capacity=rng.randrange(5))
    return graph


def connected(kind: Any = None) -> Any:
    """A connected graph, strongly if it is directed, without loops."""
    graph = nx.cycle_graph(9, create_using=kind or nx.Graph)
    graph.add_edges_from([(0, 4), (4, 0), (2, 7), (7, 2), (1, 3), (3, 1)])
    nx.set_edge_attributes(graph, {edge: 1 + i % 5 for i, edge in enumerate(graph.edges)}, "weight")
    return graph


DAG = nx.DiGraph([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("e", "d")])
SAMPLE, DIRECTED, WHOLE = sample(), sample(nx.DiGraph), connected()
SIMPLE = nx.Graph(sample().edges)
SIMPLE.remove_edges_from([*nx.selfloop_edges(SIMPLE)])
WEIGHTED = nx.Graph(sample())
WEIGHTED.remove_edges_from([*nx.selfloop_edges(WEIGHTED)])
WEIGHTED_ONE_WAY = nx.DiGraph(WEIGHTED.edges(data=True))
TREE = nx.balanced_tree(2, 2)
SIGNED = nx.DiGraph()
SIGNED.add_weighted_edges_from(
    (a, b, 2 + 3 * (b - a) if a < b else 40)
    for a, b in [(0, 1), (1, 2), (0, 3), (3, 2), (2, 5), (5, 4), (4, 0), (1, 4)]
)
SIGNED.add_weighted_edges_from([(2, 1, -4), (5, 3, -1)])
CYCLE = nx.DiGraph([(0, 1), (1, 2), (2, 0)])
CYCLE.add_edge(1, 2, weight=-3)

#: Function -> graph, further arguments. Results are compared with NetworkX's as they are.
CALLS: list[tuple[str, Any, dict[str, Any]]] = [
    *((name, graph, {"source": "n1"}) for graph in (SAMPLE, DIRECTED) for name in (
        "bfs_edges", "bfs_tree", "bfs_predecessors", "bfs_successors", "descendants", "ancestors",
        "single_source_shortest_path", "single_source_shortest_path_length", "predecessor",
        "single_source_dijkstra_path_length", "single_source_bellman_ford_path_length", "shortest_path_length",
    )),
    ("bfs_edges", DIRECTED, {"source": "n1", "reverse": True, "depth_limit": 2}),
    ("bfs_layers", SAMPLE, {"sources": ["n1", "n2"]}),
    ("descendants_at_distance", SAMPLE, {"source": "n1", "distance": 2}),
    ("single_target_shortest_path", DIRECTED, {"target": "n1", "cutoff": 2}),
    ("single_target_shortest_path_length", DIRECTED, {"target": "n1"}),
    ("all_pairs_shortest_path", SAMPLE, {}),
    ("all_pairs_shortest_path_length", DIRECTED, {"cutoff": 2}),
    ("shortest_path_length", DIRECTED, {"target": "n1", "weight": "weight"}),
    ("shortest_path_length", SAMPLE, {"source": "n1", "target": "n2"}),
    ("average_shortest_path_length", WHOLE, {}),
    *((name, SIGNED, {"source": 0}) for name in (
        "single_source_bellman_ford", "single_source_bellman_ford_path", "single_source_bellman_ford_path_length",
        "goldberg_radzik",
    )),
    ("bellman_ford_path", SIGNED, {"source": 0, "target": 5}), ("johnson", SIGNED, {}),
    ("bellman_ford_path_length", SIGNED, {"source": 0, "target": 5}),
    ("all_pairs_bellman_ford_path", SIGNED, {}), ("all_pairs_bellman_ford_path_length", SIGNED, {}),
    *((name, SIGNED, {"weight": "weight", "method": "bellman-ford", **ends}) for name in (
        "shortest_path", "shortest_path_length",
    ) for ends in ({"source": 0}, {"target": 5}, {"source": 0, "target": 5}, {})),
    ("negative_edge_cycle", SIGNED, {}), ("negative_edge_cycle", CYCLE, {}), ("negative_edge_cycle", SAMPLE, {}),
    *((name, SAMPLE, {"weight": weight}) for weight in (None, "weight") for name in (
        "all_pairs_all_shortest_paths",
    )),
    ("all_shortest_paths", WHOLE, {"source": 1, "target": 6}),
    ("all_shortest_paths", WHOLE, {"source": 1, "target": 6, "weight": "weight", "method": "bellman-ford"}),
    ("single_source_all_shortest_paths", WHOLE, {"source": 1}),
    *((name, graph, {"sources": {"n1", "n2", "n7"}}) for graph in (SAMPLE, DIRECTED) for name in (
        "multi_source_dijkstra_path_length", "multi_source_dijkstra",
    )),
    ("multi_source_dijkstra", SAMPLE, {"sources": {"n1", "n2"}, "target": "n4"}),
    ("barycenter", WHOLE, {}), ("barycenter", WHOLE, {"weight": "weight"}), ("barycenter", TREE, {}),
    *((name, graph, {}) for graph in (SAMPLE, DIRECTED, sample(nx.MultiGraph), sample(nx.MultiDiGraph)) for name in (
        "degree_centrality", "degree_assortativity_coefficient",
    )),
    ("degree_assortativity_coefficient", DIRECTED, {"x": "in", "y": "in", "weight": "weight"}),
    ("in_degree_centrality", DIRECTED, {}), ("out_degree_centrality", DIRECTED, {}),
    *(("betweenness_centrality_subset", graph, {"sources": ["n1", "n2"], "targets": ["n2", "n4", "n5"], **options})
      for graph in (SAMPLE, DIRECTED) for options in ({}, {"normalized": True, "weight": "weight"})),
    ("condensation", connected(nx.DiGraph), {}),
    ("condensation", DAG, {"scc": [{"a"}, {"b"}, {"c"}, {"d", "e"}]}),
    ("number_attracting_components", DIRECTED, {}), ("is_attracting_component", DIRECTED, {}),
    ("is_attracting_component", connected(nx.DiGraph), {}),
    *((name, graph, {"core_number": {node: i % 4 for i, node in enumerate(graph)}}) for graph in (SIMPLE,) for name in (
        "k_core", "k_shell", "k_crust",
    )),
    *(("modularity", graph, {"communities": [{*[*graph][::2]}, {*[*graph][1::2]}], **options}) for options in (
        {}, {"weight": None, "resolution": 1.5}
    ) for graph in (SAMPLE, DIRECTED, sample(nx.MultiGraph))),
    ("average_shortest_path_length", WHOLE, {}),
    ("average_shortest_path_length", WHOLE, {"weight": "weight"}),
    ("global_efficiency", SAMPLE, {}),
    ("wiener_index", WHOLE, {"weight": "weight"}),
    ("has_path", SAMPLE, {"source": "n1", "target": "n11"}),
    ("all_pairs_dijkstra_path_length", DIRECTED, {"cutoff": 7}),
    ("all_pairs_bellman_ford_path_length", SAMPLE, {}),
    ("dijkstra_predecessor_and_distance", SAMPLE, {"source": "n1"}),
    ("dijkstra_path_length", SAMPLE, {"source": "n1", "target": "n2"}),
    ("bellman_ford_path_length", SAMPLE, {"source": "n1", "target": "n2"}),
    ("multi_source_dijkstra_path_length", SAMPLE, {"sources": {"n1"}}),
    ("floyd_warshall", DIRECTED, {}),
    ("floyd_warshall_numpy", WHOLE, {"nodelist": [*range(8, -1, -1)]}),
    *((name, WHOLE, {"weight": weight}) for weight in (None, "weight") for name in (
        "eccentricity", "diameter", "radius", "center", "periphery"
    )),
    ("eccentricity", connected(nx.DiGraph), {"v": [1, 2]}),
    *(("pagerank", graph, {"alpha": 0.8}) for graph in (SAMPLE, DIRECTED)),
    ("pagerank", SAMPLE, {"personalization": {"n1": 2, "n3": 1}, "weight": None}),
    ("hits", WHOLE, {}),
    ("katz_centrality", DIRECTED, {"alpha": 0.05, "weight": "weight"}),
    ("katz_centrality", SAMPLE, {"beta": {node: i for i, node in enumerate(SAMPLE)}, "normalized": False}),
    ("eigenvector_centrality", WHOLE, {"weight": "weight", "max_iter": 1000}),
    *(("betweenness_centrality", graph, options) for graph in (SAMPLE, DIRECTED) for options in (
        {}, {"normalized": False, "endpoints": True}, {"k": 5, "seed": 3}, {"k": 5, "seed": 3, "normalized": False},
        {"k": 5, "seed": 3, "endpoints": True}, {"weight": "weight"}, {"weight": "weight", "k": 5, "seed": 3},
    )),
    *(("edge_betweenness_centrality", graph, options) for graph in (WEIGHTED, WEIGHTED_ONE_WAY, SAMPLE) for options in (
        {}, {"normalized": False}, {"weight": "weight"}, {"k": 4, "seed": 2}, {"k": 4, "seed": 2, "normalized": False},
    )),
    *(("edge_betweenness_centrality", graph, options) for graph in (sample(nx.MultiGraph), sample(nx.MultiDiGraph))
      for options in ({}, {"weight": "weight"})),
    *((name, SIMPLE, {"ebunch": [("n1", "n2"), ("n3", "n4"), ("n1", "n5")]}) for name in (
        "jaccard_coefficient", "adamic_adar_index", "resource_allocation_index", "preferential_attachment",
    )),
    ("square_clustering", SIMPLE, {}), ("square_clustering", SIMPLE, {"nodes": ["n1", "n4"]}),
    ("onion_layers", SIMPLE, {}),
    ("clustering", nx.DiGraph(SIMPLE.edges), {}), ("clustering", WEIGHTED, {"weight": "weight"}),
    ("average_clustering", WEIGHTED_ONE_WAY, {"weight": "weight"}),
    ("pagerank", DIRECTED, {"dangling": {"n1": 1, "n2": 3}}),
    ("pagerank", DIRECTED, {"nstart": {"n1": 1}, "dangling": {"n2": 1}, "personalization": {"n3": 1}}),
    *((name, graph, options) for graph in (SAMPLE, DIRECTED) for name, options in (
        ("closeness_centrality", {}), ("closeness_centrality", {"distance": "weight", "wf_improved": False}),
        ("closeness_centrality", {"u": "n1"}), ("harmonic_centrality", {}),
        ("harmonic_centrality", {"nbunch": ["n1", "n2"], "distance": "weight"}),
        ("harmonic_centrality", {"sources": ["n1", "n2"]}),
    )),
    ("number_connected_components", SAMPLE, {}),
    ("is_connected", WHOLE, {}),
    ("node_connected_component", SAMPLE, {"n": "n1"}),
    ("number_weakly_connected_components", DIRECTED, {}),
    ("is_weakly_connected", DIRECTED, {}),
    ("number_strongly_connected_components", DIRECTED, {}),
    ("is_strongly_connected", connected(nx.DiGraph), {}),
    ("is_tree", TREE, {}), ("is_forest", TREE, {}), ("is_tree", SAMPLE, {}), ("is_forest", SAMPLE, {}),
    ("is_biconnected", WHOLE, {}), ("has_bridges", SAMPLE, {}),
    *((name, graph, {}) for graph in (SIMPLE, nx.DiGraph(SIMPLE), nx.DiGraph(SIMPLE.edges)) for name in (
        "core_number", "k_core", "k_shell", "k_crust",
    )),
    ("k_corona", SIMPLE, {"k": 2}), ("k_truss", SIMPLE, {"k": 3}),
    ("triangles", SAMPLE, {}), ("triangles", SAMPLE, {"nodes": ["n1", "n3"]}), ("triangles", SAMPLE, {"nodes": "n1"}),
    ("clustering", SAMPLE, {}), ("average_clustering", SAMPLE, {"count_zeros": False}), ("transitivity", SAMPLE, {}),
    ("minimum_spanning_tree", SAMPLE, {}), ("minimum_spanning_tree", SIMPLE, {"weight": None}),
    ("maximum_spanning_tree", SAMPLE, {}),
    ("is_directed_acyclic_graph", DAG, {}), ("is_directed_acyclic_graph", DIRECTED, {}),
    ("topological_generations", DAG, {}), ("transitive_closure", DAG, {}),
    ("transitive_closure", DIRECTED, {"reflexive": None}),
    ("maximum_flow_value", DIRECTED, {"_s": "n1", "_t": "n2"}),
    ("minimum_cut_value", SAMPLE, {"_s": "n1", "_t": "n2"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "graph", "arguments"), CALLS)
def test_results_are_those_of_networkx(name: str, graph: Any, arguments: dict[str, Any]) -> None:
    found, wanted = run(name, graph, **arguments), theirs(name, graph, **arguments)
    if name.startswith("bfs_layers"):
        found, wanted = [*map(set, found)], [*map(set, wanted)]
    assert same(found, wanted)


def is_path(graph: Any, path: list[Any]) -> bool:
    return all(graph.has_edge(a, b) for a, b in itertools.pairwise(path))


@pytest.mark.parametrize("graph", [SAMPLE, DIRECTED, sample(nx.MultiDiGraph)])
def test_paths_are_shortest(graph: Any) -> None:
    lengths = theirs("single_source_dijkstra_path_length", graph, "n1")
    for name in ("single_source_dijkstra_path", "single_source_bellman_ford_path"):
        paths = run(name, graph, "n1")
        assert paths.keys() == lengths.keys()
        for node, path in paths.items():
            assert (path[0], path[-1]) == ("n1", node)
            assert is_path(graph, path)
            weights = [
                min(e["weight"] for e in graph[a][b].values()) if graph.is_multigraph() else graph[a][b]["weight"]
                for a, b in itertools.pairwise(path)
            ]
            assert sum(weights) == lengths[node]
            length, again = run("bidirectional_dijkstra", graph, "n1", node)
            assert length == lengths[node]
            assert is_path(graph, again)
    assert run("multi_source_dijkstra", graph, ["n1"]) == run("single_source_dijkstra", graph, "n1")
    assert run("multi_source_dijkstra", graph, ["n1"])[0] == lengths
    assert dict(run("all_pairs_dijkstra_path", graph))["n1"] == run("multi_source_dijkstra_path", graph, ["n1"])
    assert next(iter(dict(run("all_pairs_dijkstra", graph))["n1"])) == lengths
    assert dict(run("all_pairs_bellman_ford_path", graph)).keys() == {*graph}
    steps = theirs("single_source_shortest_path_length", graph, "n1")
    for name in ("bidirectional_shortest_path", "shortest_path", "dijkstra_path", "bellman_ford_path"):
        for node in lengths:
            path = run(name, graph, "n1", node)
            assert is_path(graph, path)
            assert "dijkstra" in name or "ford" in name or len(path) == steps[node] + 1
    with pytest.raises(nx.NetworkXNoPath):
        run("dijkstra_path", graph, "n1", "n11")
    to = run("shortest_path", graph, target="n1", weight="weight")
    assert all(path[0] == node and path[-1] == "n1" and is_path(graph, path) for node, path in to.items())
    assert run("single_source_bellman_ford", graph, "n1", "n1") == [0, ["n1"]]


def test_hubs_as_singular_vectors() -> None:
    found, wanted = run("hits", WHOLE, normalized=False), theirs("hits", WHOLE, normalized=False)
    for ours, other in zip(found, wanted, strict=True):  # of which NetworkX leaves the sign to chance
        assert same(ours, {node: abs(value) for node, value in other.items()})


def test_a_cycle_of_negative_weight_is_told() -> None:
    for name in ("single_source_bellman_ford", "goldberg_radzik", "johnson"):
        with pytest.raises(nx.NetworkXUnbounded, match="Negative cycle"):
            run(name, *([CYCLE] if name == "johnson" else [CYCLE, 0]))
    found = run("find_negative_cycle", CYCLE, 0)
    assert sorted(found[1:]) == [0, 1, 2]
    assert found[0] == found[-1]
    with pytest.raises(nx.NetworkXError, match="No negative cycles"):
        run("find_negative_cycle", SIGNED, 0)


def test_components() -> None:
    for graph in (WEIGHTED, SIMPLE):
        assert sets(run("biconnected_components", graph)) == sets(theirs("biconnected_components", graph))
        found, wanted = (
            {frozenset(frozenset(edge) for edge in edges) for edges in call("biconnected_component_edges", graph)}
            for call in (run, theirs)
        )
        assert found == wanted
    assert sets(run("attracting_components", DIRECTED)) == sets(theirs("attracting_components", DIRECTED))
    found, wanted = (nx.condensation(DIRECTED, backend=name) for name in ("frontier", "networkx"))
    assert sets(nx.get_node_attributes(found, "members").values()) == sets(
        nx.get_node_attributes(wanted, "members").values()
    )
    for name, graph in (
        ("connected_components", SAMPLE), ("weakly_connected_components", DIRECTED),
        ("strongly_connected_components", DIRECTED),
    ):  # fmt: skip
        assert sets(run(name, graph)) == sets(theirs(name, graph))
    assert {*run("articulation_points", SAMPLE)} == {*theirs("articulation_points", SAMPLE)}
    for graph in (SAMPLE, sample(nx.MultiGraph)):
        assert sets(run("bridges", graph)) == sets(theirs("bridges", graph))
    order = run("strongly_connected_components", DIRECTED)
    place = {node: i for i, group in enumerate(order) for node in group}
    assert all(place[b] <= place[a] for a, b in DIRECTED.edges)
    assert run("topological_sort", DAG)[-1] == "d"


def test_what_is_drawn_or_chosen() -> None:
    for name in ("louvain_communities", "leiden_communities", "asyn_lpa_communities", "label_propagation_communities",
                 "fast_label_propagation_communities"):  # fmt: skip
        more = {} if name.startswith("label") else {"seed": 5}
        parts = run(name, WHOLE, **more)
        assert sorted(node for part in parts for node in part) == sorted(WHOLE)
        assert parts == run(name, WHOLE, **more)
    for name, last in (("louvain_partitions", "louvain_communities"), ("leiden_partitions", "leiden_communities")):
        levels = [*run(name, WHOLE, seed=5)]
        assert levels == [run(last, WHOLE, seed=5, max_level=k) for k in range(1, len(levels) + 1)]
        assert levels[-1] == run(last, WHOLE, seed=5)
    members = run("maximal_independent_set", SIMPLE, ["n1"], seed=2)
    assert "n1" in members
    assert not any(SIMPLE.has_edge(a, b) for a in members for b in members)
    assert all(node in members or {*SIMPLE[node]} & {*members} for node in SIMPLE)
    assert nx.is_maximal_matching(SIMPLE, {(a, b) for a, b in run("maximal_matching", SIMPLE)})
    for order in ("largest_first", "smallest_last", "connected_sequential_bfs", "connected_sequential_dfs"):
        assert run("greedy_color", SIMPLE, order) == theirs("greedy_color", SIMPLE, order)
    with pytest.raises(NotImplementedError, match="greedy_color"):
        run("greedy_color", SIMPLE, "DSATUR")
    colours = run("greedy_color", SIMPLE)
    assert all(colours[a] != colours[b] for a, b in SIMPLE.edges)


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
@pytest.mark.parametrize("name", ["minimum_spanning_edges", "maximum_spanning_edges"])
def test_spanning_edges(kind: Any, name: str) -> None:
    graph = sample(kind)
    found, wanted = run(name, graph, keys=False), theirs(name, graph, keys=False)
    assert [data["weight"] for *_, data in found] == [data["weight"] for *_, data in wanted]
    if kind is nx.MultiGraph:
        assert all(graph[a][b][key] == data for a, b, key, data in run(name, graph))
    assert nx.is_forest(nx.Graph([(a, b) for a, b in run(name, graph, keys=False, data=False)]))


def test_flows() -> None:
    graph = sample(nx.DiGraph, m=40)
    value, flows = run("maximum_flow", graph, "n1", "n2")
    assert value == nx.maximum_flow_value(graph, "n1", "n2")
    assert all(0 <= x <= graph[a][b]["capacity"] for a, to in flows.items() for b, x in to.items())
    assert sum(flows["n1"].values()) - sum(to.get("n1", 0) for to in flows.values()) == value
    _, (inside, outside) = run("minimum_cut", graph, "n1", "n2")
    cut = sum(graph[a][b]["capacity"] for a in inside for b in graph[a] if b in outside)
    assert cut == value
    graph.add_edge("n1", "far")  # of infinite capacity
    graph.add_edge("far", "n2", capacity=3)
    assert run("maximum_flow_value", graph, "n1", "n2") == value + 3
    del graph["far"]["n2"]["capacity"]
    graph.__networkx_cache__.clear()
    with pytest.raises(nx.NetworkXUnbounded):
        run("maximum_flow_value", graph, "n1", "n2")


KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]


@given(st.sampled_from(KINDS), st.integers(3, 12), st.integers(0, 30), st.integers(0, 999), st.booleans())
def test_random_graphs(kind: Any, n: int, m: int, seed: int, names: bool) -> None:
    graph = sample(kind, n, m, seed, names)
    first = next(iter(graph))
    for name in ("bfs_edges", "single_source_shortest_path_length", "single_source_dijkstra_path_length"):
        assert same(run(name, graph, first), theirs(name, graph, first))
    assert same(run("pagerank", graph), theirs("pagerank", graph))


def test_every_function_is_there() -> None:
    for name in MODULE_OF:
        theirs_takes = inspect.signature(backends._registered_algorithms[name].orig_func).parameters
        ours = inspect.signature(getattr(interface.backend, name)).parameters
        assert [*ours] == [*theirs_takes], name
        assert {k: p.default for k, p in ours.items()} == {k: p.default for k, p in theirs_takes.items()}, name
    tested = Path(__file__).read_text("utf-8")
    assert not [name for name in MODULE_OF if f'"{name}"' not in tested]
    assert not hasattr(interface.backend, "no_such_function")


@pytest.mark.parametrize("kind", KINDS)
def test_tiny_graphs(kind: Any) -> None:
    empty = kind()
    assert run("pagerank", empty) == {}
    one = kind()
    one.add_node("a")
    assert run("single_source_shortest_path", one, "a") == {"a": ["a"]}
    assert run("betweenness_centrality", one) == {"a": 0}
    assert run("closeness_centrality", one) == {"a": 0}


# -- the protocol ----------------------------------------------------------------------------


def test_conversion_is_kept_until_the_graph_changes(backend: Any) -> None:
    graph = sample()
    run("pagerank", graph)
    kept = convert(graph)
    assert graph.__networkx_cache__["backends"]["frontier"]
    assert run("number_connected_components", graph) == nx.number_connected_components(graph)
    assert convert(graph) is kept
    graph.add_edge("n11", "new")
    assert convert(graph) is not kept
    assert "new" in run("pagerank", graph)
    with pytest.raises(RuntimeError, match="changed since it was converted"):
        backend.convert_to_nx(kept)


def test_converted_graphs_are_taken_and_given_back(backend: Any) -> None:
    graph = sample()
    made = backend.convert_from_nx(graph)
    assert backend.convert_to_nx(made) is graph
    assert made.__networkx_backend__ == "frontier"
    assert (len(made), made.number_of_edges(), made.is_directed()) == (12, graph.number_of_edges(), False)
    assert isinstance(nx.pagerank(made), LazyDict)
    assert backend.convert_from_nx(made) is made
    assert "converted" in repr(made)
    with nx.config(fallback_to_nx=True):
        assert nx.degree_centrality(made) == nx.degree_centrality(graph)
    for kind in KINDS:
        graph = sample(kind)
        copied = graph.copy()
        made, gone = convert(graph), weakref.ref(graph)
        del graph
        gc.collect()
        assert gone() is None  # which is not kept alive, though its dictionaries are
        assert nx.utils.graphs_equal(made.to_networkx(), copied)
        assert made.to_networkx() is made.to_networkx()


def test_views_and_subclasses() -> None:
    graph = sample()
    view = graph.subgraph(["n5", "n1", "n3", "n0"])
    assert run("pagerank", view) == pytest.approx(theirs("pagerank", view), abs=1e-5)
    graph.remove_edges_from([*graph.edges])
    assert run("number_connected_components", view) == 4
    multi = sample(nx.MultiGraph, 4)
    hidden = nx.subgraph_view(multi, filter_edge=lambda a, b, key: multi[a][b][key]["weight"] > 5)
    assert convert(hidden).number_of_edges() == len(hidden.edges)
    assert run("number_connected_components", hidden) == theirs("number_connected_components", hidden)
    backward = DIRECTED.reverse(copy=False)
    assert run("descendants", backward, "n1") == theirs("descendants", backward, "n1")

    class Mine(nx.Graph):
        pass

    with pytest.raises(NotImplementedError):
        nx.pagerank(Mine([(0, 1)]), backend="frontier")
    with nx.config(backend_priority=["frontier"]):
        assert type(nx.pagerank(Mine([(0, 1)]))) is dict


def test_reasons_are_said(backend: Any) -> None:
    for name, graph, arguments, reason in (
        ("hits", SAMPLE, {"nstart": {"n1": 1}}, "nstart=: where to start"),
        ("shortest_path", SAMPLE, {"weight": lambda a, b, d: 1}, "is a function"),
        ("triangles", DIRECTED, {}, "triangles of directed edges"),
        ("core_number", sample(nx.MultiGraph), {}, "a multigraph"),
        ("greedy_color", SAMPLE, {"interchange": True}, "change places"),
        ("maximum_flow", DIRECTED, {"_s": 1, "_t": 2, "flow_func": print}, "an algorithm of NetworkX's"),
        ("pagerank", SAMPLE, {"wrong": 1}, "which arguments"),
    ):
        assert reason in backend.can_run(name, (graph,), arguments)
    assert backend.can_run("greedy_color", (SAMPLE,), {"strategy": "largest_first"}) is True
    assert backend.can_run("pagerank", (SAMPLE,), {"nstart": None}) is True
    assert "faster on a graph of 12 nodes" in backend.should_run("bfs_edges", (SAMPLE, "n1"), {})
    assert backend.should_run("pagerank", (), {"G": SAMPLE}) is True
    assert backend.should_run("bfs_edges", (nx.path_graph(3000), 0), {}) is True


@pytest.mark.parametrize("weight", [-1, float("nan"), "heavy", None, 10**30, float("inf"), 1j])
def test_weights_that_are_left_to_networkx(weight: Any) -> None:
    graph = nx.Graph([(0, 1, {"weight": weight}), (1, 2, {"weight": 1})])
    with pytest.raises(NotImplementedError):
        nx.single_source_dijkstra_path_length(graph, 0, backend="frontier")


# -- settings --------------------------------------------------------------------------------


def test_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    monkeypatch.setattr("frontier.nx_backend.settings.set_num_threads", told.append)
    with settings(lazy=False, threads=1):
        assert type(nx.pagerank(SAMPLE, backend="frontier")) is dict
    assert told == [1]
    made = convert(SAMPLE)
    assert made.graph().placement.name == "python"
    with settings(device="cpu"):
        assert made.graph().placement.name == "cpu"


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_devices(device: str) -> None:
    here = run("single_source_shortest_path_length", SAMPLE, "n1")
    with settings(device=device):
        assert run("single_source_shortest_path_length", SAMPLE, "n1") == here


def test_information_is_light(tmp_path: Path) -> None:
    code = (
        "import sys; before = set(sys.modules); from frontier.nx_backend.information import information;"
        "information(); print(sorted({'numpy', 'numba', 'networkx', 'frontier.graph'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True).strip() == "[]"


# -- mappings --------------------------------------------------------------------------------


def lazy(some: bool = False) -> tuple[LazyDict, dict[Any, Any]]:
    if some:
        return nx.single_source_shortest_path_length(SAMPLE, "n1", backend="frontier"), dict(
            nx.single_source_shortest_path_length(SAMPLE, "n1")
        )
    return nx.triangles(SAMPLE, backend="frontier"), nx.triangles(SAMPLE)


@pytest.mark.parametrize("some", [False, True])
def test_a_lazy_dict_is_like_a_dict(some: bool) -> None:
    made, wanted = lazy(some)
    assert made._dict is None
    assert len(made) == len(wanted)
    assert {*made} == {*wanted}
    assert [*reversed(made)] == [*made][::-1]
    assert sorted(made.items()) == sorted(wanted.items())
    assert sorted(made.values()) == sorted(wanted.values())
    assert made["n1"] == wanted["n1"]
    assert type(made["n1"]) is int
    assert made.get("nobody", 7) == 7
    with pytest.raises(KeyError):
        made["nobody"]
    with pytest.raises(TypeError):
        made[[]]
    assert "nobody" not in made
    assert "n1" in made
    assert dict(made) == {**made} == wanted
    assert made == wanted
    assert wanted == made
    assert made != {**wanted, "n1": -1}
    assert made != [1]
    assert made | {"x": 1} == {"x": 1} | made == {**wanted, "x": 1}
    assert pickle.loads(pickle.dumps(made)) == copy.deepcopy(made) == made.copy() == wanted
    assert type(copy.copy(made)) is dict
    assert eval(repr(made)) == wanted
    assert json.loads(json.dumps(dict(made))) == wanted
    with pytest.raises(TypeError, match="not JSON serializable"):  # not silently {}
        json.dumps(made)
    with pytest.raises(TypeError, match="unhashable"):
        hash(made)
    nx.set_node_attributes(SAMPLE.copy(), made, "found")


@pytest.mark.parametrize("change", ["set", "del", "update", "pop", "popitem", "clear", "or", "setdefault"])
def test_a_lazy_dict_becomes_one_when_it_changes(change: str) -> None:
    made, wanted = lazy()
    changes: dict[str, Any] = {
        "set": lambda d: d.__setitem__("n1", 5), "del": lambda d: d.__delitem__("n1"),
        "update": lambda d: d.update(n1=3), "pop": lambda d: d.pop("n1"), "popitem": lambda d: d.popitem(),
        "clear": lambda d: d.clear(), "or": lambda d: d.__ior__({"n2": 9}),
        "setdefault": lambda d: d.setdefault("q", 1),
    }  # fmt: skip
    changes[change](made)
    changes[change](wanted)
    assert made == wanted
    assert [*made] == [*made.keys()]
    assert len(made) == len(wanted)


def test_many_look_ups_make_a_dict() -> None:
    made, wanted = lazy()
    for _ in range(20):
        assert all(made[node] == wanted[node] for node in wanted)
    assert made._dict is not None
    with pytest.raises(KeyError):
        made["nobody"]


def test_paths_are_made_when_asked_for() -> None:
    found = nx.single_source_shortest_path(SAMPLE, "n1", backend="frontier")
    wanted = nx.single_source_shortest_path(SAMPLE, "n1")
    assert found._dict is None
    assert all(found[node] == wanted[node] for node in wanted)
    assert found == wanted


def test_nodes_of_numpy_and_others() -> None:
    graph = nx.Graph([(np.int64(5), 7), (7, (1, 2)), (frozenset(), 5)])
    assert run("triangles", graph) == nx.triangles(graph)
    graph = nx.path_graph(3)
    assert run("triangles", graph, 1.0) == 0
    assert run("single_source_shortest_path_length", graph, True) == {1: 0, 0: 1, 2: 1}
    assert isinstance(convert(graph), ConvertedGraph)
    assert fr.from_networkx(nx.Graph([(True, 2)])).labels.tolist() == [True, 2]
