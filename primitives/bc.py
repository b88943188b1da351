"""Betweenness centrality, exact or from some sources, by the programs of :mod:`frontier.primitives._brandes`.

Where the graph is small, it works on many sources at once, each in a copy of the graph of its own (McLaughlin and
Bader, 2014, give each a block of the GPU).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import frontier as fr
from frontier.errors import FrontierError, GraphError
from frontier.graph.copies import copies
from frontier.graph.labels import called
from frontier.memory.arrays import is_device, to_host
from frontier.primitives._brandes import (
    BatchedBetweenness,
    Betweenness,
    FoldedBetweenness,
    GatheredBetweenness,
    ahead,
    collect,
    depend,
    discover,
)
from frontier.primitives._copies import number_of_copies
from frontier.program.taking import at_graph
from frontier.registry import Argument, Plan, PrimitiveEntry, register_primitive

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from frontier.graph.graph import Graph
    from frontier.program.schedule import Schedule

__all__ = [
    "BatchedBetweenness",
    "Betweenness",
    "BetweennessResult",
    "FoldedBetweenness",
    "GatheredBetweenness",
    "ahead",
    "betweenness",
    "collect",
    "depend",
    "discover",
]

#: Of fields and frontiers, where a graph is copied.
BYTES_PER_COPY = 68


@dataclass(frozen=True)
class BetweennessResult:
    """Result of :func:`betweenness`.

    Attributes
    ----------
    centrality : ndarray of float64, shape (n,)
        Sum over the sources; each pair once in undirected graphs.
    sources : ndarray, shape (k,)
        Vertex ids of the sources.
    normalized : bool
    """

    centrality: NDArray[Any]
    sources: NDArray[Any]
    normalized: bool


@at_graph
def betweenness(
    g: Graph,
    sources: int | ArrayLike | None = None,
    *,
    normalized: bool = False,
    seed: int | None = None,
    schedule: Schedule | None = None,
) -> BetweennessResult:
    """Betweenness centrality of every vertex: shortest paths, by number of edges, that pass through it.

    Parameters
    ----------
    g : Graph
        Without parallel edges (they would count as different paths).
    sources : int or sequence of vertices, optional
        A number of sources to draw at random, or the sources; all vertices by default.
    normalized : bool
        Whether to divide by the number of pairs, (n - 1)(n - 2), halved where each pair counts once.
    seed : int, optional
        For the draw; another draw each time by default.
    schedule : Schedule, optional

    Returns
    -------
    BetweennessResult
        With all vertices as sources, as NetworkX counts; with some of them the sum over these, so
        multiply by n / k for an estimate of the whole.

    Raises
    ------
    GraphError
        If a source does not exist.
    FrontierError
        If two vertices have more than 1e308 shortest paths between them.

    Notes
    -----
    O(n + m) work for each source. The last bits depend on the order in which paths are added. Where the graph is
    small, many sources are worked on at once, each in a copy of the graph of its own: the copies take at most 3 MB of
    the host's memory, or 1.3 GB of a GPU's and never more than half of what it has left.
    """
    chosen = _sources(g, sources, seed)
    count = number_of_copies(g, chosen, BYTES_PER_COPY)
    centrality = _one_by_one(g, chosen, schedule) if count < 2 else _at_once(g, chosen, count, schedule)
    if not np.isfinite(centrality).all():
        raise FrontierError("two vertices have more shortest paths between them than float64 can count")
    if not g.directed:
        centrality /= 2
    pairs = (g.num_vertices - 1) * (g.num_vertices - 2) / (1 if g.directed else 2)
    if normalized and pairs > 0:
        centrality /= pairs
    return BetweennessResult(centrality, g.placement.memory.moved(chosen), normalized)


def _fields() -> dict[str, Any]:
    return {
        "level": fr.vertex("int32", -1, combine="min"),
        "sigma": fr.vertex("float64", combine="sum"),
        "sum": fr.vertex("float64", combine="sum"),
        "passed": fr.vertex("float64"),
        "centrality": fr.vertex("float64", combine="sum"),
        "turn": fr.scalar("int64"),
        "depth": fr.scalar("int32"),
    }


def _fields_one_by_one(g: Graph, sources: NDArray[Any]) -> dict[str, Any]:
    return {
        **_fields(),
        "sources": fr.array(sources),
        "turns": fr.scalar("int64", len(sources)),
        "source": fr.scalar(g.targets.dtype),
    }


def _one_by_one(g: Graph, sources: NDArray[Any], schedule: Schedule | None) -> NDArray[Any]:
    p = fr.Problem(g, **_fields_one_by_one(g, sources))
    if len(sources):
        _program(g)(p, schedule).run()
    found: NDArray[Any] = p.centrality
    return found


#: Degree from which on a vertex is a hub.
HUB = 1024


def _program(g: Graph) -> type[fr.Enactor]:
    """On a GPU the one that suits the graph's degrees; on processors they differ little."""
    if not g.placement.massively_parallel:
        return Betweenness
    traits = g.traits
    if traits.mean_degree < 8:
        return FoldedBetweenness
    # Where all paths lead through hubs, atomics on their numbers of paths meet. (A directed graph's in-edges would have
    # to be sorted first.)
    return GatheredBetweenness if traits.symmetric and traits.max_degree > HUB else Betweenness


def _at_once(g: Graph, sources: NDArray[Any], count: int, schedule: Schedule | None) -> NDArray[Any]:
    """With copies of the graph; source i has its turn in copy i % count."""
    pulls = getattr(schedule, "direction", "auto") != "push"
    turns, copy = np.divmod(np.arange(len(sources)), count)
    p = fr.Problem(
        copies(g, count, in_edges=pulls),
        **_fields(),
        starts=fr.vertex("int32"),
        turns=fr.scalar("int64", turns[-1] + 1),
    )
    memory = g.placement.memory
    p.starts[memory.moved(copy * g.num_vertices + sources)] = memory.moved(turns + 1)
    BatchedBetweenness(p, schedule).run()
    found: NDArray[Any] = memory.xp.reshape(p.centrality, (count, g.num_vertices)).sum(axis=0)
    return found


def _sources(g: Graph, sources: Any, seed: int | None) -> NDArray[Any]:
    n = g.num_vertices
    if sources is None:
        return np.arange(n, dtype=np.int64)
    if isinstance(sources, (int, np.integer)) and not isinstance(sources, bool):
        if not 0 <= sources <= n:
            raise GraphError(f"sources={sources}: a number of sources from 0 to {n}, or a list of vertices")
        return np.random.default_rng(seed).choice(n, int(sources), replace=False).astype(np.int64)
    if is_device(sources):
        sources = to_host(sources)
    if isinstance(sources, str) or not np.iterable(sources):
        raise GraphError(f"sources={sources!r}: a number of sources from 0 to {n}, or a list of vertices")
    return np.array([g.vertex_id(vertex) for vertex in sources], np.int64)


def _facts(g: Graph, result: BetweennessResult) -> dict[str, Any]:
    facts: dict[str, Any] = {"sources": len(result.sources)}
    if g.num_vertices:
        best = int(result.centrality.argmax())
        facts["highest"] = f"{float(result.centrality[best]):.6g} at {called(best, g.labels)}"
    facts["slots"] = g.num_slots * len(result.sources)
    return facts


def _count(text: str) -> int | None:
    return None if text == "all" else int(text)


def _plan(g: Graph) -> Plan:
    return Plan(_fields_one_by_one(g, np.zeros(1, np.int64)), [_program(g)])


register_primitive(
    PrimitiveEntry(
        "bc", betweenness, "betweenness centrality, exact or from some sources",
        arguments=(
            Argument("--sources", "number of sources drawn at random, or 'all' (default)", type=_count),
            Argument("--normalized", "divide by the number of pairs (default: no)", type=bool),
        ),
        columns=("centrality",), verify="betweenness", report=_facts, bench_options={"sources": 4, "seed": 1},
        memory=_plan,
    )
)  # fmt: skip
