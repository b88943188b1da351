"""Primitives beyond the five classics, beside networkit, igraph, SciPy and rustworkx where they are installed.

``python -m benchmarks.catalogue [--graph rmat:20] [--only triangles ...]`` prints a row for each primitive and system:
the shortest of a few calls, and whether the systems agree on a number. The graph is converted before the clock starts.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import frontier as fr
from benchmarks import graphs

__all__ = ["Case", "Converted", "cases", "main"]


class Converted:
    """One graph as each system has it, made when it is first needed."""

    def __init__(self, g: fr.Graph) -> None:
        self.g = g
        once = g.sources < g.targets
        self.src, self.dst = g.sources[once], g.targets[once]
        self.hub = int(g.out_degree.argmax())

    @cached_property
    def weighted(self) -> fr.Graph:
        """The graph with weights from 1 to 64, the same in both directions."""
        low, high = np.minimum(self.g.sources, self.g.targets), np.maximum(self.g.sources, self.g.targets)
        drawn = (low.astype(np.int64) * 2654435761 + high * 40503) % 64 + 1
        return self.g.with_weights(drawn.astype(np.int32))

    @cached_property
    def directed(self) -> fr.Graph:
        """Each edge in one direction, chosen by a hash."""
        turned = (self.src.astype(np.int64) * 2654435761 + self.dst * 40503) % 7 < 2
        src, dst = np.where(turned, self.dst, self.src), np.where(turned, self.src, self.dst)
        return fr.from_edges(src, dst, num_vertices=self.g.num_vertices, directed=True)

    @cached_property
    def acyclic(self) -> fr.Graph:
        """Each edge from the lower to the higher id."""
        return fr.from_edges(self.src, self.dst, num_vertices=self.g.num_vertices, directed=True)

    @cached_property
    def igraph(self) -> Any:
        """For igraph, undirected."""
        import igraph

        return igraph.Graph(n=self.g.num_vertices, edges=np.stack([self.src, self.dst], axis=1))

    @cached_property
    def igraph_directed(self) -> Any:
        """For igraph, directed."""
        return self._igraph_of(self.directed)

    @cached_property
    def igraph_acyclic(self) -> Any:
        """For igraph, without cycles."""
        return self._igraph_of(self.acyclic)

    def _igraph_of(self, g: fr.Graph) -> Any:
        import igraph

        return igraph.Graph(n=g.num_vertices, edges=np.stack([g.sources, g.targets], axis=1), directed=True)

    @cached_property
    def networkit(self) -> Any:
        """For networkit, undirected."""
        import networkit

        coo = (np.ones(len(self.src)), (self.src, self.dst))
        made = networkit.GraphFromCoo(coo, n=self.g.num_vertices, weighted=False, directed=False)
        made.sortEdges()
        return made

    @cached_property
    def scipy(self) -> Any:
        """For SciPy, weighted."""
        return fr.to_scipy(self.weighted)

    @cached_property
    def scipy_directed(self) -> Any:
        """For SciPy, directed."""
        return fr.to_scipy(self.directed)


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


def _networkit(name: str, number: Callable[[Any], Any], *given: Any, module: str = "centrality") -> Any:
    """Run an algorithm of networkit."""

    def call(c: Converted) -> Any:
        import networkit

        made = getattr(getattr(networkit, module), name)(c.networkit, *given)
        made.run()
        return number(made)

    return call


def _scipy(name: str, number: Callable[[Any], Any], directed: bool = False, **given: Any) -> Any:
    def call(c: Converted) -> Any:
        from scipy.sparse import csgraph

        return number(getattr(csgraph, name)(c.scipy_directed if directed else c.scipy, **given))

    return call


def _at_hub(c: Converted, rank: Any) -> float:
    return round(float(rank[c.hub]), 3)


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
        }),
        Case("core_numbers", lambda c: fr.core_numbers(c.g).degeneracy, {
            "igraph": lambda c: max(c.igraph.coreness()),
            "networkit": _networkit("CoreDecomposition", lambda a: int(a.maxCoreNumber())),
        }),
        Case("k_truss", lambda c: fr.k_truss(c.g, 5).count),
        Case("jaccard", lambda c: _scores(fr.jaccard(c.g).jaccard)),
        Case("hits", lambda c: fr.hits(c.g, tolerance=1e-6).iterations, {
            "igraph": lambda c: len(c.igraph.hub_score()),
        }, equal=False),
        Case("eigenvector_centrality", lambda c: fr.eigenvector_centrality(c.g, tolerance=1e-6).iterations, {
            "igraph": lambda c: len(c.igraph.eigenvector_centrality()),
            "networkit": _networkit("EigenvectorCentrality", lambda a: None, 1e-6),
        }, equal=False),
        Case("katz", lambda c: fr.katz(c.g, alpha=1e-4, tolerance=1e-6).iterations, {
            "networkit": _networkit("KatzCentrality", lambda a: None, 1e-4, 0.1, 1e-6),
        }, equal=False),
        Case("salsa", lambda c: fr.salsa(c.directed, tolerance=1e-6).iterations, equal=False),
        Case("personalized_pagerank", lambda c: _at_hub(c, fr.personalized_pagerank(c.g, c.hub, tolerance=1e-6).rank), {
            "igraph": lambda c: _at_hub(c, c.igraph.personalized_pagerank(reset_vertices=[c.hub])),
        }),
        Case("bfs_many", lambda c: int(fr.bfs_many(c.g, sources).level.max()), {
            "igraph": lambda c: int(np.nan_to_num(np.array(c.igraph.distances(sources)), posinf=-1).max()),
        }),
        Case("harmonic", lambda c: len(fr.harmonic(c.g, sources=64, seed=1).centrality), {
            "igraph": lambda c: len(c.igraph.harmonic_centrality(sources)),
        }, equal=False),
        Case("diameter", lambda c: fr.diameter(c.g).diameter, {
            "networkit": _networkit("Diameter", lambda a: int(a.getDiameter()[0]), module="distance"),
        }),
        Case("strongly_connected_components", lambda c: fr.strongly_connected_components(c.directed).count, {
            "scipy": _scipy("connected_components", lambda a: int(a[0]), directed=True, connection="strong"),
            "igraph": lambda c: len(c.igraph_directed.connected_components(mode="strong")),
        }),
        Case("topological_order", lambda c: len(fr.topological_order(c.acyclic).order), {
            "igraph": lambda c: len(c.igraph_acyclic.topological_sorting()),
        }),
        Case("bridges", lambda c: fr.bridges(c.g).count, {"igraph": lambda c: len(c.igraph.bridges())}),
        Case("articulation_points", lambda c: fr.articulation_points(c.g).count, {
            "igraph": lambda c: len(c.igraph.articulation_points()),
        }),
        Case("color", lambda c: fr.color(c.g).count, {
            "igraph": lambda c: max(c.igraph.vertex_coloring_greedy()) + 1,
        }, equal=False),
        Case("maximal_independent_set", lambda c: fr.maximal_independent_set(c.g).count, equal=False),
        Case("minimum_spanning_forest", lambda c: int(fr.minimum_spanning_forest(c.weighted).weight), {
            "scipy": _scipy("minimum_spanning_tree", lambda a: int(a.sum())),
        }),
        Case("maximal_matching", lambda c: fr.maximal_matching(c.g).count, equal=False),
        Case("label_propagation", lambda c: fr.label_propagation(c.g).count, {
            "networkit": _networkit("PLP", lambda a: a.getPartition().numberOfSubsets(), module="community"),
        }, equal=False),
        Case("louvain", lambda c: round(fr.louvain(c.g).modularity, 3), {
            "igraph": lambda c: round(c.igraph.community_multilevel().modularity, 3),
            "networkit": _networkit("PLM", lambda a: a.getPartition().numberOfSubsets(), module="community"),
        }, equal=False),
        Case("leiden", lambda c: round(fr.leiden(c.g).modularity, 3), {
            "igraph": lambda c: round(c.igraph.community_leiden("modularity").modularity, 3),
        }, equal=False),
        Case("transitive_closure", lambda c: fr.transitive_closure(c.directed).pairs),
    ]  # fmt: skip


def _triangles_of_networkit(c: Converted) -> int:
    import networkit

    made = networkit.sparsification.TriangleEdgeScore(_indexed(c.networkit))
    made.run()
    return sum(made.scores()) // 3


def _indexed(graph: Any) -> Any:
    if not graph.hasEdgeIds():
        graph.indexEdges()
    return graph


def measure(call: Callable[[Converted], Any], c: Converted, runs: int) -> tuple[float, Any]:
    """The shortest of some calls in milliseconds, after one to warm up; long calls are made once."""
    begin = time.perf_counter()
    number = call(c)
    first = time.perf_counter() - begin
    least = first
    for _ in range(runs if first < 20 else 0):
        begin = time.perf_counter()
        number = call(c)
        least = min(least, time.perf_counter() - begin)
    return least * 1e3, number


def main() -> int:
    """Measure and print; the exit status is 1 if any two systems disagree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graph", default="rmat:20", help=graphs.load.__doc__)
    parser.add_argument("--only", nargs="+", metavar="PRIMITIVE")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    g = graphs.load(arguments.graph)
    c = Converted(g)
    print(f"{arguments.graph}: {g.num_vertices:,} vertices, {g.num_edges:,} edges; {fr.num_threads()} threads")
    print(f"{'primitive':<31}{'system':<11}{'ms':>10}{'ratio':>8}  result")
    rows, wrong = [], 0
    for case in cases():
        if arguments.only and case.name.split()[0] not in arguments.only:
            continue
        ours, expected = measure(case.ours, c, arguments.runs)
        print(f"{case.name:<31}{'frontier':<11}{ours:>10.1f}{1:>8.2f}  {expected}", flush=True)
        rows.append({"primitive": case.name, "system": "frontier", "ms": ours, "result": expected})
        for system, call in case.others.items():
            if find_spec(system) is None:
                continue
            least, found = measure(call, c, min(arguments.runs, 1))
            if found is None and case.equal:
                continue
            agrees = not case.equal or found == expected
            wrong += not agrees
            note = "" if agrees else "  DIFFERS"
            print(f"{'':<31}{system:<11}{least:>10.1f}{least / ours:>8.2f}  {found}{note}", flush=True)
            rows.append({"primitive": case.name, "system": system, "ms": least, "result": found})
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(rows, indent=1, default=str))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
