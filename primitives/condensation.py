"""The condensation of a directed graph: each strongly connected component becomes one vertex.

No edges of it make a cycle, for what lies on a cycle is one component. So components can be numbered such that every
edge leads from a higher number to a lower one, which is the order in which Tarjan's algorithm finds them (Tarjan:
Depth-first search and linear graph algorithms, SIAM Journal on Computing 1, 1972). Here it is that of
:func:`frontier.topological_order`, reversed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.graph.subgraphs import groups
from frontier.memory.arrays import to_host
from frontier.primitives._oriented import undivided
from frontier.primitives.scc import strongly_connected_components
from frontier.primitives.topological_order import topological_order
from frontier.registry import primitive

__all__ = ["CondensationResult", "condensation"]


@dataclass(frozen=True, eq=False, repr=False)
class CondensationResult(fr.Result, columns=("label",)):
    """Result of :func:`condensation`.

    Attributes
    ----------
    label : ndarray, shape (n,)
        The number of v's component, which is a vertex of ``graph``.
    count : int
        Number of components.
    graph : Graph
        Directed and without cycles, with a vertex for each component, and an edge where any edge leads from one to
        another: always from a higher number to a lower one. A weight is the sum of the weights of these edges; without
        weights, their number. The vertex column ``"size"`` has the number of vertices of each component.
    """

    label: NDArray[Any]
    count: int
    graph: fr.Graph = field(repr=False)

    @property
    def members(self) -> list[list[Any]]:
        """The vertices of each component, by their names, in the order of numbers: a reverse topological one."""
        label = self.host_array("label")
        order = np.argsort(label, kind="stable")
        ends = np.cumsum(np.bincount(label, minlength=self.count))
        return [self.names.of(part) for part in np.split(order, ends[:-1])] if self.count else []


def _facts(g: fr.Graph, result: CondensationResult) -> dict[str, Any]:
    sizes = to_host(result.graph.vertices["size"])
    return {"components": result.count, "edges": result.graph.num_edges, "largest": int(sizes.max(initial=0))}


@primitive("condensation", "the graph between strongly connected components", report=_facts)
def condensation(g: fr.Graph, *, schedule: fr.Schedule | None = None) -> CondensationResult:
    """Make one vertex of each strongly connected component, in reverse topological order.

    Parameters
    ----------
    g : Graph
        Directed. A graph in parts is made whole, on processors, for this.
    schedule : Schedule, optional

    Returns
    -------
    CondensationResult

    Raises
    ------
    GraphError
        If the graph is undirected.

    Notes
    -----
    The work of :func:`frontier.strongly_connected_components`, and O(m) to contract; one pass for each level of the
    condensation. The result is the same in every run.

    Examples
    --------
    >>> found = fr.condensation(fr.from_edges([0, 1, 1, 2, 3], [1, 0, 2, 3, 2], directed=True))
    >>> found.members, found.graph.sources.tolist(), found.graph.targets.tolist()
    ([[2, 3], [0, 1]], [1], [0])
    """
    if not g.directed:
        raise GraphError("a condensation needs a directed graph: in an undirected one components have no edges between")
    g = undivided(g)
    _, group = groups(g, strongly_connected_components(g, schedule=schedule).label)
    between = g.contracted(group, self_loops="drop")
    order = topological_order(between, schedule=schedule).order
    count = between.num_vertices
    number = g.placement.memory.xp.empty(count, group.dtype)
    number[order[::-1]] = g.placement.memory.xp.arange(count, dtype=group.dtype)
    size = between.vertices["size"][order[::-1]]
    made = between.contracted(number).with_columns(vertices={"size": size})
    return CondensationResult(number[group], count, made)
