"""The vertices before each vertex on all shortest paths, from the levels or distances of a search.

One look at every edge: it is on a shortest path if the distance of its target is that of its source plus its weight.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.memory.arrays import to_host
from frontier.program.taking import at_graph
from frontier.registry import Argument, primitive

__all__ = ["PredecessorsResult", "Shortest", "ShortestByWeight", "predecessors"]


def next_level(p, src, dst):
    """The edge leads from one level to the next."""
    return p.length[src] >= 0 and p.length[dst] == p.length[src] + 1


def tight(p, src, dst, weight):
    """The edge gives its target its distance."""
    there = p.length[dst]
    return p.length[src] < p.unreached and there < p.unreached and p.length[src] + weight == there


class Shortest(fr.Enactor):
    """Put the edges of shortest paths by their number of edges into the pile ``edges``."""

    loop = fr.Sequence(fr.Filter(next_level), fr.Put("edges"), over="edges")


class ShortestByWeight(fr.Enactor):
    """The same by weights."""

    loop = fr.Sequence(fr.Filter(tight), fr.Put("edges"), over="edges")


@dataclass(frozen=True, eq=False, repr=False)
class PredecessorsResult(fr.Result, rows="other"):
    """Result of :func:`predecessors`: a mapping from the vertices that the search has reached to lists of vertices.

    Attributes
    ----------
    offsets : ndarray of int64, shape (n + 1,)
        Those of v are the entries from ``offsets[v]`` to ``offsets[v + 1]`` of ``predecessor``. On the host.
    predecessor : ndarray, shape (k,)
        Vertex ids, ascending for each vertex. On the host.
    reached : ndarray of bool, shape (n,)
        Whether the search has reached v. On the host.
    """

    offsets: NDArray[np.int64]
    predecessor: NDArray[Any]
    reached: NDArray[np.bool_]

    def __getitem__(self, vertex: Any) -> list[Any]:
        """The predecessors of a vertex; none of a source, nor of what was not reached."""
        at = self.names.find(vertex)
        return self.names.of(self.predecessor[self.offsets[at] : self.offsets[at + 1]])

    def __iter__(self) -> Iterator[Any]:
        return iter(self.vertices_where("reached"))

    def __len__(self) -> int:
        return int(self.reached.sum())

    def __contains__(self, vertex: Any) -> bool:
        return vertex in self.names and bool(self.reached[self.names.find(vertex)])

    def to_dict(self, column: str | None = None) -> dict[Any, Any]:
        """Return the lists by the names of the vertices that were reached; or a column by pairs of names."""
        if column is not None:
            return super().to_dict(column)
        names, ends = self.names.of(self.predecessor), self.offsets.tolist()
        ids = np.flatnonzero(self.reached)
        return {name: names[ends[v] : ends[v + 1]] for name, v in zip(self.names.of(ids), ids.tolist(), strict=True)}

    def table_columns(self, rows: slice) -> dict[str, tuple[NDArray[Any], bool]]:
        """A row for each ``vertex`` and ``predecessor`` of it."""
        vertex = np.repeat(np.arange(len(self.reached)), np.diff(self.offsets))
        return {"vertex": (vertex[rows], True), "predecessor": (self.predecessor[rows], True)}


@at_graph
def predecessors(g: fr.Graph, result: Any, *, schedule: fr.Schedule | None = None) -> PredecessorsResult:
    """The vertices before each vertex on all shortest paths that a search has found.

    Parameters
    ----------
    g : Graph
        The graph of the search.
    result : BFSResult, SSSPResult or BellmanFordResult
        What :func:`frontier.bfs`, :func:`frontier.sssp` or :func:`frontier.bellman_ford` has returned: any object with
        ``level``, or with ``distance``.
    schedule : Schedule, optional

    Returns
    -------
    PredecessorsResult
        Those of v are all u with an edge to v such that the distance of v is that of u plus the weight of the edge, as
        of NetworkX's ``predecessor`` and ``dijkstra_predecessor_and_distance``: with weights of 0, so a source may have
        some, and vertices may precede each other.

    Raises
    ------
    GraphError
        If the result has neither levels nor distances for these vertices, or it has distances and the graph no weights.

    Notes
    -----
    O(n + m) work. Sums of floats are compared exactly, as the search has computed them.

    Examples
    --------
    >>> square = fr.from_edges(["a", "a", "b", "c"], ["b", "c", "d", "d"])
    >>> fr.predecessors(square, fr.bfs(square, "a")).to_dict()
    {'a': [], 'b': ['a'], 'c': ['a'], 'd': ['b', 'c']}
    """
    length: Any = getattr(result, "level", None)
    by_weight = length is None
    if by_weight:
        length = getattr(result, "distance", None)
    if getattr(length, "shape", None) != (g.num_vertices,):
        raise GraphError("predecessors needs the result of fr.bfs, fr.sssp or fr.bellman_ford on this graph")
    if by_weight and g.weights is None:
        raise GraphError("a result with distances, but the graph has no weights")
    whole = length.dtype.kind == "i"
    far = np.iinfo(np.int64).max if whole else np.inf
    p = fr.Problem(
        g,
        length=fr.vertex(length.dtype, length),
        unreached=fr.scalar("int64" if whole else "float64", far),
        edges=fr.pile("edge"),
    )
    (ShortestByWeight if by_weight else Shortest)(p, schedule).run()
    slots = np.asarray(to_host(p.edges.ids))
    return _by_target(g, slots, np.asarray(to_host(length)), far if by_weight else None)


def _by_target(g: fr.Graph, slots: NDArray[Any], length: NDArray[Any], far: float | None) -> PredecessorsResult:
    """Sort the edges of shortest paths by their targets; of parallel ones, one is enough."""
    n = g.num_vertices
    here = g.to("cpu")
    src, dst = here.sources[slots].astype(np.int64), here.targets[slots].astype(np.int64)
    keys = np.unique(dst * n + src)
    offsets = np.searchsorted(keys, np.arange(n + 1) * n)
    reached = length >= 0 if far is None else length < far
    return PredecessorsResult(offsets, (keys % max(n, 1)).astype(g.id_dtype), reached)


@primitive(
    "predecessors", "the vertices before each on all shortest paths",
    arguments=(Argument("--weighted", "shortest paths by weights (default: no)", type=bool),),
    takes_source=True,
    report=lambda g, r: {"reached": len(r), "predecessors": len(r.predecessor)},
)  # fmt: skip
def _on_command_line(
    g: fr.Graph, source: Any, *, weighted: bool = False, schedule: fr.Schedule | None = None
) -> PredecessorsResult:
    """Search from a vertex first."""
    result = fr.sssp(g, source, parents=False, schedule=schedule) if weighted else fr.bfs(g, source, schedule=schedule)
    return predecessors(g, result, schedule=schedule)
