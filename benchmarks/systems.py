"""The systems that are compared, each behind the same few methods.

A system takes a graph when it is made, converted to what it wants. Each method computes what its name says and returns
one number that is the same for a right answer of any system; what is needed only for that number is returned as a
function, so that it runs outside the clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module, metadata
from typing import Any, ClassVar

import numpy as np

import frontier as fr

Check = Callable[[], float]


class System:
    """A system with a graph; a primitive it does not have is not a method of it."""

    name: ClassVar[str]

    def __init__(self, g: fr.Graph, threads: int) -> None:
        raise NotImplementedError

    @classmethod
    def version(cls) -> str:
        """Its version, or an empty text where it is not installed."""
        try:
            import_module(cls.name)
            return metadata.version("frontier-gpu" if cls.name == "frontier" else cls.name)
        except metadata.PackageNotFoundError:
            return fr.__version__ if cls.name == "frontier" else "unknown"
        except ImportError:
            return ""


class Frontier(System):
    """Frontier itself; ``last`` is a call that verifies its last result."""

    name = "frontier"

    def __init__(self, g: fr.Graph, threads: int) -> None:
        fr.set_num_threads(threads)
        self.g = g
        self.last: Callable[[], Any] = lambda: None

    def bfs(self, source: int) -> Check:
        r = fr.bfs(self.g, source)
        self.last = lambda: fr.verify.bfs(self.g, r)
        return lambda: int((r.level >= 0).sum())

    def sssp(self, source: int) -> Check:
        r = fr.sssp(self.g, source)
        self.last = lambda: fr.verify.sssp(self.g, r)
        return lambda: _finite_sum(r.distance)

    def cc(self, source: int) -> Check:
        r = fr.connected_components(self.g)
        self.last = lambda: fr.verify.connected_components(self.g, r)
        return lambda: r.count

    def pagerank_1e_4(self, source: int) -> Check:
        return self._pagerank(1e-4)

    def pagerank_1e_6(self, source: int) -> Check:
        return self._pagerank(1e-6)

    def _pagerank(self, tolerance: float) -> Check:
        r = fr.pagerank(self.g, tolerance=tolerance)
        self.last = lambda: fr.verify.pagerank(self.g, r)
        return lambda: _sum_by_max(r.rank)

    def bc(self, source: int) -> Check:
        r = fr.betweenness(self.g, sources=[source])
        self.last = lambda: fr.verify.betweenness(self.g, r)
        return lambda: _sum_by_max(r.centrality)


class Scipy(System):
    """scipy.sparse.csgraph; one thread."""

    name = "scipy"

    def __init__(self, g: fr.Graph, threads: int) -> None:
        from scipy.sparse import csr_array

        n = g.num_vertices
        # csgraph computes in float64; converted here, not inside the clock
        assert g.weights is not None
        self.a = csr_array((g.weights.astype(np.float64), g.targets, g.offsets), shape=(n, n))

    def bfs(self, source: int) -> Check:
        from scipy.sparse.csgraph import breadth_first_order

        order, _ = breadth_first_order(self.a, source, directed=True, return_predecessors=True)
        return lambda: len(order)

    def sssp(self, source: int) -> Check:
        from scipy.sparse.csgraph import dijkstra

        distance, _ = dijkstra(self.a, directed=True, indices=source, return_predecessors=True)
        return lambda: _finite_sum(distance)

    def cc(self, source: int) -> Check:
        from scipy.sparse.csgraph import connected_components

        count, _ = connected_components(self.a, directed=False)
        return lambda: count


class Networkit(System):
    """networkit, with the given number of threads; distances without parents, which cost it several times more."""

    name = "networkit"

    def __init__(self, g: fr.Graph, threads: int) -> None:
        import networkit as nk

        nk.setNumberOfThreads(threads)
        self.nk, once = nk, g.sources < g.targets
        assert g.weights is not None
        # it reads ids as uint64 whatever they are
        ends = (g.sources[once].astype(np.uint64), g.targets[once].astype(np.uint64))
        coo = (g.weights[once].astype(np.float64), ends)
        self.g = nk.GraphFromCoo(coo, n=g.num_vertices, weighted=True, directed=False)
        self.plain = nk.graphtools.toUnweighted(self.g)
        self.components: Any = None

    def bfs(self, source: int) -> Check:
        run = self.nk.distance.BFS(self.plain, source, storePaths=False).run()
        return lambda: int((np.asarray(run.getDistances()) < 1e300).sum())

    def sssp(self, source: int) -> Check:
        run = self.nk.distance.Dijkstra(self.g, source, storePaths=False).run()
        return lambda: _finite_sum(run.getDistances())

    def cc(self, source: int) -> Check:
        kinds = self.nk.components
        if not self.components:  # the parallel one is slow on long graphs; the first call finds the faster of the two
            both = (kinds.ConnectedComponents, lambda g: kinds.ParallelConnectedComponents(g, False))
            self.components = min(both, key=lambda kind: _seconds(kind(self.plain).run))
        run = self.components(self.plain).run()
        return lambda: run.numberOfComponents()

    def pagerank_1e_4(self, source: int) -> Check:
        return self._pagerank(1e-4)

    def pagerank_1e_6(self, source: int) -> Check:
        return self._pagerank(1e-6)

    def _pagerank(self, tolerance: float) -> Check:
        kind = self.nk.centrality
        run = kind.PageRank(self.plain, 0.85, tolerance, distributeSinks=kind.SinkHandling.DistributeSinks)
        run.norm = kind.Norm.L1_NORM
        run.run()
        return lambda: _sum_by_max(run.scores())

    def louvain(self, source: int) -> Check:
        return self._communities(self.nk.community.PLM(self.plain))

    def leiden(self, source: int) -> Check:
        return self._communities(self.nk.community.ParallelLeiden(self.plain))

    def _communities(self, kind: Any) -> Check:
        found = kind.run().getPartition()
        return lambda: self.nk.community.Modularity().getQuality(found, self.plain)

    def matching(self, source: int) -> Check:
        found = self.nk.matching.SuitorMatcher(self.plain, False).run()
        return lambda: found.getMatching().size(self.plain)


class Igraph(System):
    """igraph; one thread. Its PageRank has a tolerance of its own, tighter than these."""

    name = "igraph"

    def __init__(self, g: fr.Graph, threads: int) -> None:
        import igraph

        once = g.sources < g.targets
        self.g = igraph.Graph(n=g.num_vertices, edges=np.column_stack([g.sources[once], g.targets[once]]))
        assert g.weights is not None
        self.weights = g.weights[once].tolist()

    def bfs(self, source: int) -> Check:
        order, _, _ = self.g.bfs(source)
        return lambda: len(order)

    def sssp(self, source: int) -> Check:
        (distance,) = self.g.distances(source, weights=self.weights)
        return lambda: _finite_sum(distance)

    def cc(self, source: int) -> Check:
        found = self.g.connected_components()
        return lambda: len(found)

    def pagerank_1e_6(self, source: int) -> Check:
        rank = self.g.pagerank(damping=0.85)
        return lambda: _sum_by_max(rank)

    def in_place(self, source: int) -> Check:
        return self.pagerank_1e_6(source)

    def louvain(self, source: int) -> Check:
        found = self.g.community_multilevel()
        return lambda: found.modularity

    def leiden(self, source: int) -> Check:
        found = self.g.community_leiden("modularity")
        return lambda: found.modularity

    def bridges(self, source: int) -> Check:
        found = self.g.bridges()
        return lambda: len(found)

    def bc(self, source: int) -> Check:
        values = self.g.betweenness(sources=[source])
        return lambda: _sum_by_max(values)


def _seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _finite_sum(distance: Any) -> float:
    """Sum of the distances of what was reached; what was not is infinite, or huge."""
    values = np.asarray(distance, dtype=np.float64)
    return float(values[values < 1e300].sum())


def _sum_by_max(values: Any) -> float:
    """Sum over maximum, which does not depend on the scale.

    Systems count a pair once or twice in betweenness, and some lose the rank of vertices without edges.
    """
    array = np.asarray(values, dtype=np.float64)
    return float(array.sum() / (array.max() or 1.0))


SYSTEMS: dict[str, type[System]] = {x.name: x for x in (Frontier, Scipy, Networkit, Igraph)}
