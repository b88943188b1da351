"""Primitives beyond the five classics, beside networkit, igraph, SciPy and rustworkx where they are installed.

``python -m benchmarks.catalogue [--graph rmat:20] [--only triangles ...]`` prints a row for each primitive and system:
the shortest of a few calls, and whether the systems agree on a number. The graph is converted before the clock starts.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import frontier as fr
from benchmarks import graphs
from benchmarks.converted import Converted
from benchmarks.measurement import Measurement

__all__ = ["Case", "cases", "main"]


@dataclass(frozen=True)
class Case:
    """A primitive, and what others call for it; each call gives a number that tells whether it is right.

    Attributes
    ----------
    name : str
    ours : callable
    others : dict
        By the name of the system.
    equal : bool
        Whether the numbers have to be equal; otherwise they are shown, as colours and modularities.
    """

    name: str
    ours: Callable[[Converted], Any]
    others: dict[str, Callable[[Converted], Any]] = field(default_factory=dict)
    equal: bool = True


def _networkit(
    name: str, number: Callable[[Any], Any], *given: Any, module: str = "centrality", of: str = "networkit"
) -> Any:
    """Run an algorithm of networkit."""

    def call(c: Converted) -> Any:
        import networkit

        made = getattr(getattr(networkit, module), name)(getattr(c, of), *given)
        made.run()
        return number(made)

    return call


def _modularity_of_networkit(name: str) -> Any:
    """Find communities by networkit, and their modularity."""

    def call(c: Converted) -> Any:
        import networkit

        made = getattr(networkit.community, name)(c.networkit)
        made.run()
        return round(networkit.community.Modularity().getQuality(made.getPartition(), c.networkit), 3)

    return call


def _rustworkx(name: str, number: Callable[[Any], Any], *given: Any, of: str = "rustworkx", **options: Any) -> Any:
    def call(c: Converted) -> Any:
        import rustworkx

        return number(getattr(rustworkx, name)(getattr(c, of), *given, **options))

    return call


def _scipy(name: str, number: Callable[[Any], Any], directed: bool = False, **given: Any) -> Any:
    def call(c: Converted) -> Any:
        from scipy.sparse import csgraph

        return number(getattr(csgraph, name)(c.scipy_directed if directed else c.scipy, **given))

    return call


def _at_hub(c: Converted, rank: Any) -> float:
    return round(float(rank[c.hub]), 3)


def _steps(walks: Any) -> int:
    return int(np.count_nonzero(walks.path[:, 1:] >= 0))


def _scores(values: Any) -> float:
    return round(float(np.sum(np.asarray(values, np.float64))), 6)


def cases() -> list[Case]:
    """All of them."""
    sources = list(range(64))
    return [
        Case("triangles", lambda c: fr.triangles(c.g).count, {
            "igraph": lambda c: len(c.igraph.list_triangles()) if c.g.num_edges < 10**6 else None,
            "networkit": lambda c: _triangles_of_networkit(c),
        }),
        Case("clustering", lambda c: round(fr.clustering(c.g).average, 9), {
            "igraph": lambda c: round(c.igraph.transitivity_avglocal_undirected(mode="zero"), 9),
            "networkit": _networkit("LocalClusteringCoefficient", lambda a: round(float(np.mean(a.scores())), 9), True),
        }),
        Case("core_numbers", lambda c: fr.core_numbers(c.g).degeneracy, {
            "igraph": lambda c: max(c.igraph.coreness()),
            "networkit": _networkit("CoreDecomposition", lambda a: int(a.maxCoreNumber())),
        }),
        Case("k_truss", lambda c: fr.k_truss(c.g, 5).count),
        Case("subgraph_match", lambda c: fr.subgraph_match(c.g, "triangle").count, {
            "igraph": lambda c: len(c.igraph.list_triangles()) if c.g.num_edges < 10**6 else None,
        }),
        Case("jaccard", lambda c: _scores(fr.jaccard(c.g).jaccard / 2), {
            "networkit": lambda c: _jaccard_of_networkit(c),
        }),
        Case("hits", lambda c: fr.hits(c.g, tolerance=1e-6).iterations, {
            "igraph": lambda c: len(c.igraph.hub_score()),
            "rustworkx": _rustworkx("hits", lambda a: None, of="rustworkx_directed", tol=1e-6),
        }, equal=False),
        Case("eigenvector_centrality", lambda c: fr.eigenvector_centrality(c.g, tolerance=1e-6).iterations, {
            "igraph": lambda c: len(c.igraph.eigenvector_centrality()),
            "networkit": _networkit("EigenvectorCentrality", lambda a: None, 1e-6),
            "rustworkx": _rustworkx("eigenvector_centrality", len, max_iter=1000, tol=1e-9),
        }, equal=False),
        Case("katz", lambda c: fr.katz(c.g, alpha=1e-4, tolerance=1e-6).iterations, {
            "networkit": _networkit("KatzCentrality", lambda a: None, 1e-4, 0.1, 1e-6),
            "rustworkx": _rustworkx("katz_centrality", len, alpha=1e-4, max_iter=1000),
        }, equal=False),
        Case("salsa", lambda c: fr.salsa(c.directed, tolerance=1e-6).iterations, equal=False),
        Case("personalized_pagerank", lambda c: _at_hub(c, fr.personalized_pagerank(c.g, c.hub, tolerance=1e-6).rank), {
            "igraph": lambda c: _at_hub(c, c.igraph.personalized_pagerank(reset_vertices=[c.hub])),
        }),
        Case("who_to_follow", lambda c: len(fr.who_to_follow(c.directed, c.hub).recommended), equal=False),
        Case("bfs_many", lambda c: int(fr.bfs_many(c.g, sources).level.max()), {
            "igraph": lambda c: int(np.nan_to_num(np.array(c.igraph.distances(sources)), posinf=-1).max()),
            "networkit": _networkit("SPSP", lambda a: _farthest(a.getDistances()), sources, module="distance"),
            "scipy": lambda c: _farthest(_distances(c, sources)),
        }),
        Case("closeness", lambda c: _at_hub(c, fr.closeness(c.g, sources=64, seed=1).centrality), {
            "igraph": lambda c: len(c.igraph.closeness(sources)),
            "networkit": _networkit("ApproxCloseness", lambda a: None, 64),
        }, equal=False),
        Case("harmonic", lambda c: len(fr.harmonic(c.g, sources=64, seed=1).centrality), {
            "igraph": lambda c: len(c.igraph.harmonic_centrality(sources)),
        }, equal=False),
        Case("diameter", lambda c: fr.diameter(c.g).diameter, {
            "networkit": _networkit("Diameter", lambda a: int(a.getDiameter()[0]), module="distance"),
        }),
        Case("eccentricity", lambda c: int(fr.eccentricity(c.g).diameter), {
            "igraph": lambda c: int(max(c.igraph.eccentricity())) if c.g.num_vertices < 10**5 else None,
        }),
        Case("shortest_path", lambda c: [fr.shortest_path(c.g, c.hub, v).distance for v in c.far], {
            "igraph": lambda c: [c.igraph.distances(c.hub, v)[0][0] for v in c.far],
            "networkit": lambda c: _paths_of_networkit(c, "BidirectionalBFS", "networkit"),
        }),
        Case("shortest_path (weighted)", lambda c: [_heavy(c, v) for v in c.far], {
            "networkit": lambda c: _paths_of_networkit(c, "BidirectionalDijkstra", "networkit_weighted"),
            "rustworkx": lambda c: [_heavy_of_rustworkx(c, v) for v in c.far],
        }),
        Case("strongly_connected_components", lambda c: fr.strongly_connected_components(c.directed).count, {
            "scipy": _scipy("connected_components", lambda a: int(a[0]), directed=True, connection="strong"),
            "igraph": lambda c: len(c.igraph_directed.connected_components(mode="strong")),
            "networkit": _networkit(
                "StronglyConnectedComponents", lambda a: a.numberOfComponents(),
                module="components", of="networkit_directed",
            ),
            "rustworkx": _rustworkx("strongly_connected_components", len, of="rustworkx_directed"),
        }),
        Case("topological_order", lambda c: len(fr.topological_order(c.acyclic).order), {
            "igraph": lambda c: len(c.igraph_acyclic.topological_sorting()),
            "networkit": lambda c: _order_of_networkit(c),
            "rustworkx": _rustworkx("topological_sort", len, of="rustworkx_acyclic"),
        }),
        Case("bridges", lambda c: fr.bridges(c.g).count, {
            "igraph": lambda c: len(c.igraph.bridges()),
            "rustworkx": _rustworkx("bridges", len),
        }),
        Case("articulation_points", lambda c: fr.articulation_points(c.g).count, {
            "igraph": lambda c: len(c.igraph.articulation_points()),
            "rustworkx": _rustworkx("articulation_points", len),
        }),
        Case("color", lambda c: fr.color(c.g).count, {
            "igraph": lambda c: max(c.igraph.vertex_coloring_greedy()) + 1,
        }, equal=False),
        Case("maximal_independent_set", lambda c: fr.maximal_independent_set(c.g).count, {
            "networkit": lambda c: _independent_of_networkit(c),
        }, equal=False),
        Case("minimum_spanning_forest", lambda c: int(fr.minimum_spanning_forest(c.weighted).weight), {
            "scipy": _scipy("minimum_spanning_tree", lambda a: int(a.sum())),
            "igraph": lambda c: int(sum(c.weights[i] for i in c.igraph.spanning_tree(c.weights, False))),
            "networkit": _networkit(
                "KruskalMSF", lambda a: int(a.getTotalWeight()), module="graph", of="networkit_weighted"
            ),
            "rustworkx": _rustworkx(
                "minimum_spanning_edges", lambda a: int(sum(w for *_, w in a)), of="rustworkx_weighted", weight_fn=float
            ),
        }),
        Case("max_flow", lambda c: fr.max_flow(c.weighted, c.hub, c.far[0]).value, {
            "scipy": lambda c: _flow_of_scipy(c),
            "igraph": lambda c: int(c.igraph.maxflow_value(c.hub, c.far[0], c.weights)),
        }),
        Case("maximal_matching", lambda c: fr.maximal_matching(c.g).count, {
            "networkit": lambda c: _matched_by_networkit(c),
        }, equal=False),
        Case("label_propagation", lambda c: fr.label_propagation(c.g).count, {
            "networkit": _networkit("PLP", lambda a: a.getPartition().numberOfSubsets(), module="community"),
        }, equal=False),
        Case("louvain", lambda c: round(fr.louvain(c.plain).modularity, 3), {
            "igraph": lambda c: round(c.igraph.community_multilevel().modularity, 3),
            "networkit": _modularity_of_networkit("PLM"),
        }, equal=False),
        Case("leiden", lambda c: round(fr.leiden(c.plain).modularity, 3), {
            "igraph": lambda c: round(c.igraph.community_leiden("modularity").modularity, 3),
            "networkit": _modularity_of_networkit("ParallelLeiden"),
        }, equal=False),
        Case("random_walks", lambda c: _steps(fr.random_walks(c.g, length=20)), {
            "igraph": lambda c: _walks_of_igraph(c, 20),
        }),
        Case("node2vec_walks", lambda c: _steps(fr.node2vec_walks(c.g, length=20, p=0.5, q=2))),
        Case("sample_neighbors", lambda c: len(fr.sample_neighbors(c.g, range(min(len(c.g), 1024)), [15, 10]).edge)),
        Case("transitive_closure", lambda c: fr.transitive_closure(c.directed).pairs),
    ]  # fmt: skip


def _triangles_of_networkit(c: Converted) -> int:
    import networkit

    made = networkit.sparsification.TriangleEdgeScore(_indexed(c.networkit))
    made.run()
    return sum(made.scores()) // 3


def _order_of_networkit(c: Converted) -> int:
    import networkit

    return len(networkit.graphtools.topologicalSort(c.networkit_acyclic))


def _jaccard_of_networkit(c: Converted) -> float:
    import networkit

    triangles = networkit.sparsification.TriangleEdgeScore(_indexed(c.networkit)).run().scores()
    return _scores(networkit.sparsification.JaccardSimilarityAttributizer(c.networkit, triangles).getAttribute())


def _independent_of_networkit(c: Converted) -> int:
    import networkit

    return int(sum(networkit.independentset.Luby().run(c.networkit)))


def _matched_by_networkit(c: Converted) -> int:
    import networkit

    found = networkit.matching.SuitorMatcher(c.networkit, False).run()
    return int(found.getMatching().size(c.networkit))


def _walks_of_igraph(c: Converted, length: int) -> int:
    return sum(len(c.igraph.random_walk(v, length, stuck="return")) - 1 for v in range(c.g.num_vertices))


def _farthest(distances: Any) -> int:
    found = np.asarray(distances)
    return int(found[found < 2**31].max())  # networkit's largest double, or inf, for vertices that are not reached


def _distances(c: Converted, sources: list[int]) -> Any:
    from scipy.sparse import csgraph

    return csgraph.shortest_path(c.scipy, unweighted=True, method="D", indices=sources)


def _paths_of_networkit(c: Converted, name: str, of: str) -> list[int]:
    import networkit

    searches = [getattr(networkit.distance, name)(getattr(c, of), c.hub, v) for v in c.far]
    return [int(each.run().getDistance()) for each in searches]


def _heavy(c: Converted, v: int) -> int:
    return int(fr.shortest_path(c.weighted, c.hub, v, weighted=True).distance)


def _heavy_of_rustworkx(c: Converted, v: int) -> int:
    import rustworkx

    return int(rustworkx.dijkstra_shortest_path_lengths(c.rustworkx_weighted, c.hub, float, v)[v])


def _flow_of_scipy(c: Converted) -> int:
    from scipy.sparse import csgraph

    return int(csgraph.maximum_flow(c.scipy, c.hub, c.far[0]).flow_value)


def _indexed(graph: Any) -> Any:
    if not graph.hasEdgeIds():
        graph.indexEdges()
    return graph


def measure(call: Callable[[Converted], Any], c: Converted, runs: int) -> tuple[float, float, Any]:
    """The shortest of some calls in milliseconds, by the clock and of all processors; the first one converts."""
    wall = processor = np.inf
    for i in range(1 + runs):
        begin = time.perf_counter(), time.process_time()
        number = call(c)
        now = time.perf_counter(), time.process_time()
        if i > 0 or not runs:
            wall, processor = min(wall, now[0] - begin[0]), min(processor, now[1] - begin[1])
        if wall > 20 and i > 0:
            break
    return wall * 1e3, processor * 1e3, number


def _row(primitive: str, system: str, ms: float, processor: float, result: Any) -> dict[str, Any]:
    return {"primitive": primitive, "system": system, "ms": ms, "processor ms": processor, "result": result}


def main() -> int:
    """Measure and print; the exit status is 1 if any two systems disagree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graph", default="rmat:20", help=f"{graphs.HELP} (default: rmat:20)")
    parser.add_argument("--only", nargs="+", metavar="PRIMITIVE", help="the rows of these (default: all)")
    parser.add_argument("--runs", type=int, default=3, help="calls, of which the shortest counts (default: 3)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table as results/ has it")
    arguments = parser.parse_args()
    g = graphs.load(arguments.graph)
    c = Converted(g)
    print(f"{arguments.graph}: {g.num_vertices:,} vertices, {g.num_edges:,} edges; {fr.num_threads()} threads")
    print(f"{'primitive':<31}{'system':<11}{'ms':>10}{'cpu ms':>10}{'ratio':>8}  result")
    rows, wrong = [], 0
    for case in cases():
        if arguments.only and case.name.split()[0] not in arguments.only:
            continue
        ours, processor, expected = measure(case.ours, c, arguments.runs)
        print(f"{case.name:<31}{'frontier':<11}{ours:>10.1f}{processor:>10.1f}{1:>8.2f}  {expected}", flush=True)
        rows.append(_row(case.name, "frontier", ours, processor, expected))
        for system, call in case.others.items():
            if find_spec(system) is None:
                continue
            least, processor, found = measure(call, c, min(arguments.runs, 1))
            if found is None and case.equal:
                continue
            agrees = not case.equal or found == expected
            wrong += not agrees
            note = "" if agrees else "  DIFFERS"
            times = f"{least:>10.1f}{processor:>10.1f}{least / ours:>8.2f}"
            print(f"{'':<31}{system:<11}{times}  {found}{note}", flush=True)
            rows.append(_row(case.name, system, least, processor, found))
    if arguments.json and rows:
        note = f"{arguments.graph}, {fr.num_threads()} threads; the least of {arguments.runs} calls."
        Measurement.now("Further primitives beside other systems, milliseconds", rows, note=note).write(arguments.json)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
