"""One graph as each system of :mod:`benchmarks.catalogue` has it, made when it is first needed."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

import frontier as fr

__all__ = ["Converted"]


class Converted:
    """One graph as each system has it, made when it is first needed."""

    def __init__(self, g: fr.Graph) -> None:
        self.g = g
        once = g.sources < g.targets
        self.src, self.dst = g.sources[once], g.targets[once]
        self.hub = int(g.out_degree.argmax())
        reached = np.flatnonzero(fr.bfs(g, self.hub).level > 0)
        #: Some vertices that the hub reaches, the same in every run.
        self.far = np.random.default_rng(1).choice(reached, 8).tolist() if len(reached) else [self.hub]

    @cached_property
    def plain(self) -> fr.Graph:
        """The graph without weights, for primitives that use them if there are any."""
        return fr.Graph(self.g.offsets, self.g.targets, directed=False, check=False)

    @cached_property
    def weighted(self) -> fr.Graph:
        """The graph with weights from 1 to 64, the same in both directions."""
        low, high = np.minimum(self.g.sources, self.g.targets), np.maximum(self.g.sources, self.g.targets)
        drawn = (low.astype(np.int64) * 2654435761 + high * 40503) % 64 + 1
        return self.g.with_weights(drawn.astype(np.int32))

    @cached_property
    def weights(self) -> list[int]:
        """The weight of each edge, once, in the order of ``src`` and ``dst``."""
        found: list[int] = self.weighted.weights[self.g.sources < self.g.targets].tolist()
        return found

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
    def networkit_weighted(self) -> Any:
        """For networkit, weighted."""
        import networkit

        low = self.weighted.sources < self.weighted.targets
        coo = (self.weighted.weights[low].astype(np.float64), (self.src, self.dst))
        return networkit.GraphFromCoo(coo, n=self.g.num_vertices, weighted=True, directed=False)

    @cached_property
    def networkit_directed(self) -> Any:
        """For networkit, directed."""
        return self._networkit_of(self.directed)

    @cached_property
    def networkit_acyclic(self) -> Any:
        """For networkit, without cycles."""
        return self._networkit_of(self.acyclic)

    def _networkit_of(self, g: fr.Graph) -> Any:
        import networkit

        coo = (np.ones(g.num_slots), (g.sources, g.targets))
        return networkit.GraphFromCoo(coo, n=g.num_vertices, weighted=False, directed=True)

    @cached_property
    def rustworkx(self) -> Any:
        """For rustworkx, undirected."""
        return self._rustworkx_of(self.g, "PyGraph")

    @cached_property
    def rustworkx_weighted(self) -> Any:
        """For rustworkx, weighted."""
        return self._rustworkx_of(self.weighted, "PyGraph")

    @cached_property
    def rustworkx_directed(self) -> Any:
        """For rustworkx, directed."""
        return self._rustworkx_of(self.directed, "PyDiGraph")

    @cached_property
    def rustworkx_acyclic(self) -> Any:
        """For rustworkx, without cycles."""
        return self._rustworkx_of(self.acyclic, "PyDiGraph")

    def _rustworkx_of(self, g: fr.Graph, kind: str) -> Any:
        import rustworkx

        kept = slice(None) if g.directed else g.sources < g.targets
        weights = np.ones(g.num_slots) if g.weights is None else g.weights.astype(np.float64)
        made = getattr(rustworkx, kind)(multigraph=False)
        made.add_nodes_from(range(g.num_vertices))
        columns = (each[kept].tolist() for each in (g.sources, g.targets, weights))
        made.add_edges_from(list(zip(*columns, strict=True)))
        return made

    @cached_property
    def scipy(self) -> Any:
        """For SciPy, weighted."""
        return fr.to_scipy(self.weighted)

    @cached_property
    def scipy_directed(self) -> Any:
        """For SciPy, directed."""
        return fr.to_scipy(self.directed)
