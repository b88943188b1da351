"""Neighbour sampling in layers, as graph neural networks take their batches.

From some vertices, a few edges of each are drawn, then a few of each vertex that these lead to, and so on (Hamilton,
Ying, Leskovec: Inductive representation learning on large graphs, NeurIPS 2017). Each layer is one Advance that visits
a random part of the edges; the vertices that it finds first are those of the next layer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.graph.in_parts import check_whole
from frontier.graph.several import vertex_ids
from frontier.memory.arrays import is_device, to_host
from frontier.primitives._arguments import check_seed
from frontier.program.taking import at_graph
from frontier.registry import Argument, primitive

__all__ = ["SampledResult", "sample_neighbors"]

#: Seeds of layers are so far apart.
_APART = 1_000_003


@dataclass(frozen=True, eq=False, repr=False)
class SampledResult(fr.Result, rows="other"):
    """Result of :func:`sample_neighbors`, laid out as PyTorch Geometric's samplers do.

    Attributes
    ----------
    node : ndarray, shape (k,)
        The vertices: first the given ones, then those that each layer has found, in the order of ids.
    row, col : ndarray of int64, shape (e,)
        Where the source and the target of each edge stand in ``node``: ``np.stack([row, col])`` is an edge index.
    edge : ndarray, shape (e,)
        The edge slot of each edge, for ``g.weights[edge]`` and columns.
    num_sampled_nodes, num_sampled_edges : list of int
        How many vertices the beginning and each layer have, and how many edges each layer.
    """

    node: NDArray[Any]
    row: NDArray[Any]
    col: NDArray[Any]
    edge: NDArray[Any]
    num_sampled_nodes: list[int]
    num_sampled_edges: list[int]

    def table_columns(self, rows: slice) -> dict[str, tuple[NDArray[Any], bool]]:
        """A row for each edge that was drawn: ``source`` and ``target``."""
        node = self.host_array("node")
        ends = ((name, node[self.host_array(place)][rows]) for name, place in (("source", "row"), ("target", "col")))
        return {name: (values, True) for name, values in ends}


def _any(p: Any) -> bool:
    """All edges that are drawn."""
    return True


@at_graph
def sample_neighbors(
    g: fr.Graph,
    vertices: Any,
    fanouts: Iterable[int],
    *,
    edges: str = "in",
    seed: int = 0,
    schedule: fr.Schedule | None = None,
) -> SampledResult:
    """Draw some edges of each vertex, then some of each vertex that they lead to, in layers.

    Parameters
    ----------
    g : Graph
    vertices : sequence of vertices (labels, if the graph has labels), Frontier or mask
        Where to begin, each once.
    fanouts : iterable of int
        How many edges of each vertex the layers draw at most, without replacement; all if there are fewer.
    edges : {"in", "out"}
        Whether edges into a vertex are drawn, along which messages come to it, or edges out of it.
    seed : int
        Equal seeds draw equal edges.
    schedule : Schedule, optional

    Returns
    -------
    SampledResult
        Where the graph lies: on a GPU, tensors share the arrays by ``torch.from_dlpack(result.row)``.

    Raises
    ------
    GraphError
        If a vertex does not exist or comes twice, a fan-out is less than 1, or the graph is in parts.

    Notes
    -----
    O(k log k) work for the k vertices and edges that are drawn; drawing takes time that grows with the square of a
    fan-out. Of a directed graph ``edges="in"`` makes its in-edges once.

    Examples
    --------
    >>> found = fr.sample_neighbors(fr.karate(), [0, 33], [2, 2], seed=1)
    >>> found.num_sampled_nodes[0], found.num_sampled_edges[0], len(found.row) == len(found.edge)
    (2, 4, True)
    """
    check_seed(seed)
    if edges not in ("in", "out"):
        raise GraphError(f"edges={edges!r}: choose 'in' or 'out'")
    check_whole(g, "neighbour sampling")
    layers = [int(k) for k in fanouts]
    if not layers or min(layers) < 1:
        raise GraphError(f"fanouts={layers}: numbers of edges of each layer, at least 1")
    memory = g.placement.memory
    xp = memory.xp
    begin = vertex_ids(g, vertices, "vertices")
    if len(np.unique(begin)) < len(begin):
        raise GraphError("vertices: one of them comes twice")
    nodes, slots = [memory.moved(begin.astype(g.id_dtype))], []
    p, known = fr.Problem(g), xp.sort(nodes[0])
    for number, count in enumerate(layers):
        drawn = fr.Advance(
            _any, output="edge", edges=edges, part=fr.sample(count, seed + _APART * number), schedule=schedule
        )(p, fr.Frontier(g, nodes[-1]))
        slots.append(xp.sort(drawn.ids))
        far = xp.unique(_ends(g, "sources" if edges == "in" else "targets", slots[-1]))
        nodes.append(far[~_among(xp, far, known)])
        known = xp.sort(xp.concatenate([known, nodes[-1]]))
    node, slot = xp.concatenate(nodes), xp.concatenate(slots)
    order = xp.argsort(node)

    def places(ids: Any) -> Any:
        return order[xp.searchsorted(node[order], ids)].astype(np.int64)

    sizes = [len(each) for each in nodes], [len(each) for each in slots]
    row, column = (places(_ends(g, name, slot)) for name in ("sources", "targets"))
    return SampledResult(node, row, column, slot, *sizes)


def _ends(g: fr.Graph, name: str, slots: Any) -> Any:
    """The sources or targets of some edges; of a GPU's that lie on a disk, the host reads them."""
    ends = getattr(g, name)
    return ends[slots] if is_device(ends) or not is_device(slots) else g.placement.memory.moved(ends[to_host(slots)])


def _among(xp: Any, values: Any, known: Any) -> Any:
    """Which values are among those that are known, which ascend."""
    at = xp.minimum(xp.searchsorted(known, values), max(len(known) - 1, 0))
    return known[at] == values if len(known) else xp.zeros(len(values), bool)


@primitive(
    "sample_neighbors", "edges of a vertex, and of those they lead to, drawn in layers",
    arguments=(
        Argument("--fanouts", "how many edges of each vertex the layers draw, as 10,5 (default)", type=str),
        Argument("--along", "edges into vertices, or out of them (default: in)", str, ("in", "out")),
    ),
    takes_source=True, report=lambda g, r: {"vertices": len(r.node), "edges": len(r.edge)},
)  # fmt: skip
def _on_command_line(
    g: fr.Graph, source: Any, *, fanouts: str = "10,5", along: str = "in", seed: int = 0
) -> SampledResult:
    """Layers from one vertex, whose fan-outs are given by text."""
    layers = fanouts.split(",")
    if not all(each.strip().isdecimal() and len(each) < 10 for each in layers):
        raise GraphError(f"fanouts={fanouts!r}: numbers of edges of each layer, as 10,5")
    return sample_neighbors(g, [source], map(int, layers), edges=along, seed=seed)
