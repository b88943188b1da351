"""Betweenness centrality, exact or from some sources.

Brandes (A faster algorithm for betweenness centrality, 2001): for every source a breadth-first search that counts
shortest paths, level by level, then the levels in reverse, where every vertex gathers from those one level farther.
The recorded frontiers of the way out are replayed on the way back, as in Gunrock and GAP; the way back needs no
atomics. All sources are one declared program. Where the graph is small, it works on many sources at once, each in a
copy of the graph of its own (McLaughlin and Bader, 2014, give each a block of the GPU).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import frontier as fr
from frontier import device
from frontier.errors import FrontierError, GraphError
from frontier.memory import register_memory
from frontier.primitives._copies import copies, number_of_copies
from frontier.registry import Argument, PrimitiveEntry, register_primitive

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from frontier.graph import Graph
    from frontier.schedule import Schedule

__all__ = ["BatchedBetweenness", "Betweenness", "BetweennessResult", "betweenness"]

#: Of fields and frontiers; where a graph is copied, also of ``starts``.
BYTES_PER_VERTEX, BYTES_PER_COPY = 64, 68


def clear(p, v):  # type: ignore[no-untyped-def]
    """Forget the source before."""
    p.level[v] = -1
    p.sigma[v] = 0.0
    p.passed[v] = 0.0


def seed(p, v):  # type: ignore[no-untyped-def]
    """One path leads to the source."""
    p.level[v] = 0
    p.sigma[v] = 1.0


def discover(p, src, dst):  # type: ignore[no-untyped-def]
    """Add the paths to src to those of dst; whoever meets dst first brings it into the next level."""
    first = p.level[dst] == -1 and fr.atomic_cas(p.level, dst, -1, p.depth) == -1
    fr.atomic_add(p.sigma, dst, p.sigma[src])
    return first


def ahead(p, dst):  # type: ignore[no-untyped-def]
    """One level farther; stays true during a step, for all paths must be counted."""
    return p.level[dst] == -1 or p.level[dst] == p.depth


def depend(p, src, dst):  # type: ignore[no-untyped-def]
    """What every path to dst passes back: nothing yet, unless dst is farther than src, and then by one level."""
    return p.passed[dst]


def pass_back(p, v):  # type: ignore[no-untyped-def]
    """The dependency of v, and what it passes back for every path to it."""
    dependency = p.sigma[v] * p.sum[v]
    p.passed[v] = (1.0 + dependency) / p.sigma[v]
    return dependency


def collect(p, v):  # type: ignore[no-untyped-def]
    """Add the dependency of v, unless it is the source."""
    dependency = pass_back(p, v)
    if v != p.source:
        p.centrality[v] += dependency


def collect_beyond(p, v):  # type: ignore[no-untyped-def]
    """The same with a source in every copy of the graph."""
    dependency = pass_back(p, v)
    if p.level[v] > 0:
        p.centrality[v] += dependency


def begin(p, v):  # type: ignore[no-untyped-def]
    """Forget the source before; one path leads to the next one of this copy of the graph."""
    first = p.starts[v] == p.turn
    p.level[v] = 0 if first else -1
    p.sigma[v] = 1.0 if first else 0.0
    p.passed[v] = 0.0
    return first


def next_source(p):  # type: ignore[no-untyped-def]
    """The source of this turn."""
    return p.sources[p.turn - 1]


def zero(p):  # type: ignore[no-untyped-def]
    """Levels are counted anew."""
    return 0


class Betweenness(fr.Enactor):
    """Sums of dependencies on all vertices of the array ``sources``."""

    loop = fr.Loop(
        fr.Set(source=next_source, depth=zero),
        fr.Compute(clear, over="vertices"),
        fr.Compute(seed, over="source"),
        fr.Loop(fr.Advance(discover, where=ahead, unique="claimed"), over="source", count="depth", record="levels"),
        fr.Loop(fr.Gather(depend, "sum", into="sum", edges="out"), fr.Compute(collect), replay="levels"),
        times="turns",
        count="turn",
    )


class BatchedBetweenness(fr.Enactor):
    """The same on copies of a graph: in turn t every vertex v with ``starts[v] == t`` is a source."""

    loop = fr.Loop(
        fr.Set(depth=zero),
        fr.Sequence(
            fr.Filter(begin),
            fr.Loop(fr.Advance(discover, where=ahead, unique="claimed"), count="depth", record="levels"),
            over="vertices",
        ),
        fr.Loop(fr.Gather(depend, "sum", into="sum", edges="out"), fr.Compute(collect_beyond), replay="levels"),
        times="turns",
        count="turn",
    )


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


@device.at_graph
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
    return BetweennessResult(centrality, device.moved(chosen, g.backend), normalized)


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


def _one_by_one(g: Graph, sources: NDArray[Any], schedule: Schedule | None) -> NDArray[Any]:
    p = fr.Problem(
        g,
        **_fields(),
        sources=fr.array(sources),
        turns=fr.scalar("int64", len(sources)),
        source=fr.scalar(g.targets.dtype),
    )
    if len(sources):
        Betweenness(p, schedule).run()
    found: NDArray[Any] = p.centrality
    return found


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
    p.starts[device.moved(copy * g.num_vertices + sources, g.backend)] = device.moved(turns + 1, g.backend)
    BatchedBetweenness(p, schedule).run()
    xp = device.namespace(g.backend)
    found: NDArray[Any] = xp.reshape(p.centrality, (count, g.num_vertices)).sum(axis=0)
    return found


def _sources(g: Graph, sources: Any, seed: int | None) -> NDArray[Any]:
    n = g.num_vertices
    if sources is None:
        return np.arange(n, dtype=np.int64)
    if isinstance(sources, (int, np.integer)) and not isinstance(sources, bool):
        if not 0 <= sources <= n:
            raise GraphError(f"sources={sources}: a number of sources from 0 to {n}, or a list of vertices")
        return np.random.default_rng(seed).choice(n, int(sources), replace=False).astype(np.int64)
    if device.is_device(sources):
        sources = device.to_host(sources)
    if isinstance(sources, str) or not np.iterable(sources):
        raise GraphError(f"sources={sources!r}: a number of sources from 0 to {n}, or a list of vertices")
    return np.array([g.vertex_id(vertex) for vertex in sources], np.int64)


def _facts(g: Graph, result: BetweennessResult) -> dict[str, Any]:
    facts: dict[str, Any] = {"sources": len(result.sources)}
    if g.num_vertices:
        best = int(result.centrality.argmax())
        facts["highest"] = f"{float(result.centrality[best]):.6g} at vertex {best}"
    facts["edges"] = g.num_edges * len(result.sources)
    return facts


def _count(text: str) -> int | None:
    return None if text == "all" else int(text)


register_memory("bc", BYTES_PER_VERTEX, pulls=True, slots=2)  # one source at a time
register_primitive(
    PrimitiveEntry(
        "bc", betweenness, "betweenness centrality, exact or from some sources",
        arguments=(
            Argument("--sources", "number of sources drawn at random, or 'all' (default)", type=_count),
            Argument("--normalized", "divide by the number of pairs (default: no)", type=bool),
        ),
        columns=("centrality",), verify="betweenness", report=_facts, bench_options={"sources": 4, "seed": 1},
    )
)  # fmt: skip
