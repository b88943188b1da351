"""Single-source shortest paths with a near and a far pile, and exact parents.

Delta-stepping in the form of Davidson, Baxter, Garland and Owens (Work-efficient parallel GPU methods for
single-source shortest paths, IPDPS 2014), as in Gunrock 0.x: vertices nearer than a limit are relaxed until
there are no more, the others wait in the far pile; then the limit moves on. The limit starts at the nearest
waiting vertex, so empty stretches are skipped, and its width adapts within a factor of 4 to how many vertices
the rounds before had (after ADDS; Wang, Fussell, Lin, PPoPP 2021).

Parents are found afterwards: one sweep over tight edges from strictly nearer vertices, then a claim over
the tight edges that are left, which have weight zero. So they form a tree even with zero weights, which
neither "any tight edge" nor packing the parent into the distance gives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import frontier as fr
from frontier import device
from frontier.errors import GraphError, NegativeWeightError
from frontier.memory import register_memory
from frontier.primitives.bfs import path_to
from frontier.registry import Argument, PrimitiveEntry, register_primitive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.graph import Graph
    from frontier.problem import Field
    from frontier.schedule import Schedule

__all__ = ["SSSP", "Parents", "Rounds", "SSSPResult", "sssp", "sssp_problem"]


#: Vertices in a round below which the limit widens, and above which it narrows: on processors and on a GPU, which
#: has room for many more.
FEW, MANY = 128, 32768
FEW_GPU, MANY_GPU = 8192, 1 << 22


def relax(p, src, dst, weight):  # type: ignore[no-untyped-def]
    """Offer dst a shorter way through src."""
    new = p.distance[src] + weight
    return new < p.distance[dst] and new < fr.atomic_min(p.distance, dst, new)


def near(p, v):  # type: ignore[no-untyped-def]
    """Nearer than the limit."""
    return p.distance[v] < p.limit


def fresh(p, v):  # type: ignore[no-untyped-def]
    """Not settled while it waited in the far pile."""
    return p.distance[v] >= p.limit


def distance(p, v):  # type: ignore[no-untyped-def]
    """How far the vertex is."""
    return p.distance[v]


def one(p, v):  # type: ignore[no-untyped-def]
    """Every vertex counts."""
    return 1


def count(p):  # type: ignore[no-untyped-def]
    """Vertices relaxed since the limit moved."""
    return p.work + p.batch


def width(p):  # type: ignore[no-untyped-def]
    """The width of the next limit: wider after rounds of few vertices each, narrower after many."""
    mean = p.work / max(p.rounds, 1)
    if p.rounds > 0 and mean < p.few:
        return min(p.delta * 2, p.first * 4)
    if mean > p.many:
        return max(p.delta / 2, p.first / 4)
    return p.delta


def widen(p):  # type: ignore[no-untyped-def]
    """The next limit: above the lowest distance, also where that is so large that it swallows delta."""
    return p.lowest + max(p.delta, p.least, p.lowest * p.rounding)


def zero(p):  # type: ignore[no-untyped-def]
    """Counting begins anew."""
    return 0


class SSSP(fr.Enactor):
    """Distances from the vertices in the pile ``far``."""

    loop = fr.Loop(
        fr.Filter(fresh),
        fr.Reduce(distance, "min", into="lowest"),
        fr.Set(delta=width, rounds=zero, work=zero),
        fr.Set(limit=widen),
        fr.Split(near, rest="far"),
        fr.Loop(
            fr.Reduce(one, "sum", into="batch"),
            fr.Set(work=count),
            fr.Advance(relax),
            fr.Split(near, rest="far"),
            count="rounds",
        ),
        take="far",
    )


class Rounds(fr.Enactor):
    """Distances from the vertices in the pile ``far``, without limits: whoever was reached nearer goes on at once.

    More edges are relaxed, but a round is one pass and there are no more rounds than edges on a shortest path: the
    faster way on a GPU where degrees are small (Bellman and Ford's, with a frontier).
    """

    loop = (fr.Take("far"), fr.Loop(fr.Advance(relax)))


def adopt(p, src, dst, weight):  # type: ignore[no-untyped-def]
    """A strictly nearer vertex whose edge is tight becomes the parent."""
    if p.distance[src] < p.distance[dst] and p.distance[src] + weight == p.distance[dst]:
        fr.atomic_cas(p.parent, dst, -1, src)


def orphan(p, dst):  # type: ignore[no-untyped-def]
    """Reached, but without a parent."""
    return p.parent[dst] == -1 and p.distance[dst] < p.unreached


def placed(p, v):  # type: ignore[no-untyped-def]
    """Has a parent."""
    return p.parent[v] != -1


def follow(p, src, dst, weight):  # type: ignore[no-untyped-def]
    """Over a tight edge that leads no farther: whoever has a parent claims who has none."""
    return p.distance[src] + weight == p.distance[dst] and fr.atomic_cas(p.parent, dst, -1, src) == -1


def waits(p, v):  # type: ignore[no-untyped-def]
    """1 for a reached vertex without a parent."""
    return 1 if p.parent[v] == -1 and p.distance[v] < p.unreached else 0


def some(p):  # type: ignore[no-untyped-def]
    """Once, if any vertex waits."""
    return 1 if p.orphans > 0 else 0


class Parents(fr.Enactor):
    """A tree of shortest paths from distances."""

    loop = (
        fr.Advance(adopt, where=orphan, output=None, over="vertices"),
        fr.Reduce(waits, "sum", into="orphans", over="vertices"),
        fr.Set(orphans=some),
        fr.Loop(
            fr.Filter(placed),
            fr.Loop(fr.Advance(follow, where=orphan, unique="claimed")),
            times="orphans",
            over="vertices",
        ),
    )


@device.at_graph
def sssp_problem(g: Graph, source: int, delta: float | None = None, **fields: Field) -> fr.Problem:
    """The problem of a search that has not begun, with more fields for functors of one's own."""
    delta = first_delta(g) if delta is None else delta
    assert g.weights is not None
    dtype = np.dtype(np.int64 if g.weights.dtype.kind in "iu" else np.float64)
    unreached = np.iinfo(np.int64).max if dtype.kind == "i" else np.inf
    if dtype.kind == "i":  # whole, for floats would round large distances; and far below where sums wrap
        delta = max(1, round(min(delta, 2**40)))
    p = fr.Problem(
        g,
        distance=fr.vertex(dtype, unreached, combine="min"),
        parent=fr.vertex(g.targets.dtype, -1, combine="claim"),
        lowest=fr.scalar(dtype, 0),
        limit=fr.scalar(dtype, 0),
        delta=fr.scalar(dtype, delta),
        first=fr.scalar(dtype, delta),
        least=fr.scalar(dtype, 1 if dtype.kind == "i" else 0),
        rounds=fr.scalar("int64"),
        work=fr.scalar("int64"),
        batch=fr.scalar("int64"),
        few=fr.scalar("int64", FEW_GPU if device.is_cuda(g.backend) else FEW),
        many=fr.scalar("int64", MANY_GPU if device.is_cuda(g.backend) else MANY),
        rounding=fr.scalar(dtype, 0 if dtype.kind == "i" else 2 * np.finfo(np.float64).eps),
        unreached=fr.scalar(dtype, unreached),
        orphans=fr.scalar("int64", 0),
        far=fr.pile(),
        **fields,
    )
    p.distance[source] = 0
    p.parent[source] = source
    p.far = fr.Frontier(g, [source])
    return p


def first_delta(g: Graph) -> float:
    """Width of the first limit: eight average weights on roads and meshes, less where degrees are high.

    On a graph of high degree one average weight reaches nearly everything, and what is relaxed too early is
    relaxed again; on a road many steps must share one limit, or barriers decide. (Measured with weights of 1 to 64:
    on R-MAT 20 widths of 4 to 9 are best and 16 takes half as long again; on road-NE 64 to 1024 differ by 15 %.)
    """
    if g.weights is None or g.num_edges == 0:
        return 1.0
    delta: float = g._once("first_delta", lambda: _first_delta(g))
    return delta


def _first_delta(g: Graph) -> float:
    assert g.weights is not None
    average = float(np.abs(g.weights[:: max(1, g.num_edges // 65536)]).mean())
    degree = g.num_edges / max(1, g.num_vertices)
    if degree >= 8 and device.is_cuda(g.backend):
        return max(average, 1e-300)  # a GPU has room for more at once; rounds cost it more than edges do
    return max(average * (8.0 if degree < 8 else 8.0 / degree), 1e-300)


@dataclass(frozen=True)
class SSSPResult:
    """Result of :func:`sssp`; entry v of an array is about vertex v.

    Attributes
    ----------
    source : int
        Vertex id.
    distance : ndarray of float64 or int64, shape (n,)
        Length of a shortest path from the source; inf (int64's maximum) where there is none.
    parent : ndarray of shape (n,), or None
        The vertex before v on such a path; -1 where there is none. The source is its own.
    """

    source: int
    distance: NDArray[Any]
    parent: NDArray[Any] | None

    def path_to(self, vertex: int) -> list[int]:
        """Vertex ids of a shortest path from the source; empty if there is none."""
        if self.parent is None:
            raise GraphError("there are no parents: call fr.sssp with parents=True")
        return path_to(self.parent, vertex)


@device.at_graph
def sssp(
    g: Graph,
    source: Any,
    *,
    delta: float | None = None,
    parents: bool = True,
    schedule: Schedule | None = None,
) -> SSSPResult:
    """Shortest paths from one vertex, by the weights of the edges.

    Parameters
    ----------
    g : Graph
        With weights that are not negative.
    source : int or label
        A label if the graph has labels.
    delta : float, optional
        Width of the near pile, in units of weights. It changes the time, not the result.
    parents : bool
        Whether to find a tree of shortest paths too.
    schedule : Schedule, optional

    Returns
    -------
    SSSPResult
        Distances of integer weights are int64 and exact, of others float64.

    Raises
    ------
    GraphError
        If the source does not exist, or the graph has no weights.
    NegativeWeightError
        If a weight is negative.

    Notes
    -----
    Work depends on ``delta``: with a narrow pile near that of Dijkstra's algorithm, with a wide one that of
    Bellman and Ford's.
    """
    start = g.vertex_id(source)
    if g.weights is None:
        raise GraphError("shortest paths need weights, and the graph has none; for numbers of edges use fr.bfs")
    if g.min_weight is not None and g.min_weight < 0:
        raise NegativeWeightError(f"shortest paths need weights that are not negative; the least is {g.min_weight}")
    if _may_wrap(g):
        raise GraphError("distances by these integer weights may not fit into 64 bits: use weights of float64")
    if delta is not None and not delta > 0:
        raise GraphError(f"delta={delta}: it must be positive")
    p = sssp_problem(g, start, delta)
    enactor = Rounds if delta is None and device.is_cuda(g.backend) and _short_lists(g) else SSSP
    enactor(p, schedule).run()
    if parents:
        outer = schedule or fr.Schedule()
        # Where both directions are at hand an orphan stops at the first parent that it finds.
        Parents(p, outer.but(direction="pull" if g.symmetric else "push")).run()
    return SSSPResult(start, p.distance, p.parent if parents else None)


def _short_lists(g: Graph) -> bool:
    """Whether the graph is like a road network or a mesh."""
    return g.num_edges <= 8 * g.num_vertices and g.max_degree <= 32


def _may_wrap(g: Graph) -> bool:
    """Whether the longest path that there might be is too long for int64."""
    if g.weights is None or g.weights.dtype.kind not in "iu" or g.weights.dtype.itemsize < 8:
        return False
    return (g.max_weight or 0) * g.num_vertices >= 2**62


def _facts(g: Graph, result: SSSPResult) -> dict[str, Any]:
    top = np.iinfo(np.int64).max if result.distance.dtype.kind == "i" else np.inf
    reached = result.distance < top
    return {
        "source": result.source,
        "reached": int(np.count_nonzero(reached)),
        "farthest": result.distance[reached].max().item(),
        "edges": int(g.out_degree[reached].sum()),
    }


register_memory("sssp", 44)
register_primitive(
    PrimitiveEntry(
        "sssp", sssp, "shortest paths by weight, and their tree",
        arguments=(
            Argument("--delta", "width of the near pile (default: from the weights)"),
            Argument("--parents", "find the tree too (default: yes)", type=bool),
        ),
        columns=("distance", "parent"), verify="sssp", report=_facts, takes_source=True, needs_weights=True,
    )
)  # fmt: skip
