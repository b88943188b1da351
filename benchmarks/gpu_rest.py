"""The primitives without a target, each with what of its result must be the same on the GPU and on the processor."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

import frontier as fr
from benchmarks import graphs
from benchmarks.catalogue import Converted
from benchmarks.devices import Host
from frontier.memory.arrays import to_host


class Case(NamedTuple):
    """A call, the kind of graph that it wants, and what of its result is compared; within ``within``, if given."""

    graph: str
    call: Callable[[fr.Graph], Any]
    compared: Callable[[Any], Any]
    within: float = 0.0


class Graphs:
    """The kinds of a graph, here and on the device."""

    def __init__(self, name: str, device: Host) -> None:
        self.device = device
        g = graphs.load(name)
        self.plain = fr.Graph(g.offsets, g.targets, directed=False, check=False)

    @cached_property
    def kinds(self) -> Converted:
        """Weighted, directed, acyclic."""
        return Converted(self.plain)

    def here(self, kind: str) -> fr.Graph:
        """On the host."""
        made: fr.Graph = self.plain if kind == "plain" else getattr(self.kinds, kind)
        return made

    def there(self, kind: str) -> fr.Graph:
        """On the device, without anything derived."""
        g = self.here(kind)
        return fr.Graph(g.offsets, g.targets, g.weights, directed=g.directed, check=False).to(self.device.backend)

    def check(self, case: Case, result: Any) -> list[str]:
        """Compare with the result of the cpu backend."""
        expected = np.asarray(to_host(case.compared(case.call(self.here(case.graph)))))
        found = np.asarray(to_host(case.compared(result)))
        if found.shape != expected.shape:
            return [f"shape {found.shape} instead of {expected.shape}"]
        off = ~np.isclose(found, expected, rtol=case.within or 1e-6, atol=case.within or 1e-12, equal_nan=True)
        return [f"{int(off.sum()):,} of {off.size:,} numbers are not those of the cpu backend"] if off.any() else []


def cases() -> dict[str, Case]:
    """All of them."""
    propagation, eigenvector = fr.label_propagation, fr.eigenvector_centrality
    return {
        "clustering": Case("plain", lambda g: fr.clustering(g), lambda r: r.coefficient),
        "k_truss": Case("plain", lambda g: fr.k_truss(g, 5), lambda r: r.mask),
        "jaccard": Case("plain", lambda g: fr.jaccard(g), lambda r: r.jaccard),
        "subgraph_match": Case("plain", lambda g: fr.subgraph_match(g, "triangle"), lambda r: r.count),
        "maximal_matching": Case("plain", lambda g: fr.maximal_matching(g), lambda r: r.partner),
        "label_propagation": Case("plain", lambda g: propagation(g), lambda r: r.label),
        "label_propagation:async": Case(
            "plain", lambda g: propagation(g, method="asynchronous"), lambda r: r.label
        ),
        "random_walks": Case("plain", lambda g: fr.random_walks(g, length=20), lambda r: r.path),
        "random_walks:weighted": Case(
            "weighted", lambda g: fr.random_walks(g, length=20, weighted=True), lambda r: r.path
        ),
        "node2vec_walks": Case("plain", lambda g: fr.node2vec_walks(g, length=20, p=0.5, q=2), lambda r: r.path),
        "hits": Case("plain", lambda g: fr.hits(g, tolerance=1e-6), lambda r: r.hub, 1e-6),
        "eigenvector": Case("plain", lambda g: eigenvector(g, tolerance=1e-6), lambda r: r.centrality, 1e-6),
        "katz": Case("plain", lambda g: fr.katz(g, alpha=1e-4, tolerance=1e-6), lambda r: r.centrality),
        "salsa": Case("directed", lambda g: fr.salsa(g, tolerance=1e-6), lambda r: r.hub, 1e-6),
        "who_to_follow": Case("directed", lambda g: fr.who_to_follow(g, _hub(g)), lambda r: r.score, 1e-6),
        "personalized": Case("plain", lambda g: fr.personalized_pagerank(g, 0, tolerance=1e-6), lambda r: r.rank, 1e-6),
        "bfs_many": Case("plain", lambda g: fr.bfs_many(g, range(min(64, g.num_vertices))), lambda r: r.level),
        "closeness": Case("plain", lambda g: fr.closeness(g, sources=64, seed=1), lambda r: r.centrality),
        "harmonic": Case("plain", lambda g: fr.harmonic(g, sources=64, seed=1), lambda r: r.centrality),
        "diameter": Case("plain", lambda g: fr.diameter(g), lambda r: r.diameter),
        "eccentricity": Case("plain", lambda g: fr.eccentricity(g), lambda r: r.eccentricity),
        "shortest_path": Case(
            "weighted", lambda g: fr.shortest_path(g, 1, g.num_vertices // 3, weighted=True), lambda r: r.distance
        ),
        "topological_order": Case("acyclic", lambda g: fr.topological_order(g), lambda r: r.level),
        "bridges": Case("plain", lambda g: fr.bridges(g), lambda r: r.edges),
        "articulation_points": Case("plain", lambda g: fr.articulation_points(g), lambda r: r.is_articulation),
        "max_flow": Case("weighted", lambda g: fr.max_flow(g, 0, 1), lambda r: r.value),
        "leiden": Case("plain", lambda g: fr.leiden(g), lambda r: r.modularity, 0.01),
    }  # fmt: skip


def _hub(g: fr.Graph) -> int:
    return int(to_host(g.out_degree).argmax())


def squared_serially(g: fr.Graph) -> Any:
    """The reflexive closure by squaring a matrix of counts in three loops, on one thread (Xiao et al., 2021)."""
    made = np.eye(g.num_vertices, dtype=np.int32)
    made[g.sources, g.targets] = 1
    square = _square()
    while True:
        product = square(made)
        if np.array_equal(product, made):
            return made.astype(np.bool_)
        made = product


@cache
def _square() -> Callable[[Any], Any]:
    import numba

    @numba.njit(nogil=True)
    def square(a):  # type: ignore[no-untyped-def]
        n = len(a)
        made = np.empty_like(a)
        for i in range(n):
            for j in range(n):
                total = 0
                for k in range(n):
                    total += a[i, k] * a[k, j]
                made[i, j] = 1 if total else 0
        return made

    return square
