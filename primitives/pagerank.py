"""PageRank by gathering: every vertex sums what its in-neighbours hand out.

The power iteration of Page, Brin, Motwani and Winograd (1999) as Ligra and GAP do it, without atomics: ranks are
divided by out-degrees first, so the gather reads one number for an edge. Unlike GAP, ranks are kept in float64 (what
they hand out is rounded to float32 unless the tolerance is small), the rank of vertices without out-edges is spread
(as NetworkX does), ranks change only between iterations, and the error is the L1 change of ranks that sum to 1.
(Changing them at once, as Gauss and Seidel, halves the iterations on a road but more than doubles them on R-MAT 20:
24 for 10 to an error of 1e-4.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import frontier as fr
from frontier.errors import GraphError, NegativeWeightError, NotConvergedError
from frontier.graph.labels import called
from frontier.memory.arrays import to_host
from frontier.primitives._arguments import check_number
from frontier.program.taking import at_graph
from frontier.registry import Argument, Plan, PrimitiveEntry, register_primitive

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from frontier.graph.graph import Graph
    from frontier.program.problem import Field
    from frontier.program.schedule import Schedule

__all__ = [
    "PageRank",
    "PageRankResult",
    "PersonalPageRank",
    "WeightedPageRank",
    "WeightedPersonalPageRank",
    "pagerank",
]


#: The least tolerance at which shares are float32, at the usual damping: they are what a gather reads for every edge.
#: Rounding changes ranks by less than 6e-8 of themselves in an iteration, so in all by up to damping / (1 - damping)
#: times as much; with more damping, or sums that are rounded too, they might swing for ever by more than the tolerance.
ROUNDED = 1e-6


def hand_out(p, v):
    """What v gives along each of its out-edges (per unit of weight)."""
    p.share[v] = p.rank[v] / p.degree[v] if p.degree[v] > 0 else 0.0


def stuck(p, v):
    """What v can give to nobody."""
    return 0.0 if p.degree[v] > 0 else p.rank[v]


def share(p, src):
    """What comes along an edge."""
    return p.share[src]


def weighted_share(p, src, weight):
    """What comes along an edge, by its weight."""
    return p.share[src] * weight


def renew(p, v):
    """The new rank, and what v gives by it; returns by how much it changed."""
    return become(p, v, p.damping * p.sum[v] + (1.0 - p.damping + p.damping * p.loose) / p.n)


def renew_personal(p, v):
    """The same, where jumps do not go everywhere alike."""
    return become(p, v, p.damping * p.sum[v] + (1.0 - p.damping + p.damping * p.loose) * p.teleport[v])


def become(p, v, new):
    """Take a new rank."""
    change = abs(new - p.rank[v])
    p.rank[v] = new
    hand_out(p, v)
    return change


def converged(p):
    """The ranks have all but stopped changing."""
    return p.error < p.tolerance


class PageRank(fr.Enactor):
    """Ranks by the number of in-edges and the ranks at their sources."""

    loop = (
        fr.Compute(hand_out, over="vertices"),
        fr.Reduce(stuck, "sum", into="loose", over="vertices"),
        fr.Loop(
            fr.Gather(share, "sum", into="sum"),
            fr.Reduce(renew, "sum", into="error"),
            fr.Loop(fr.Reduce(stuck, "sum", into="loose"), times="dangling"),
            until=converged,
            over="vertices",
            times="limit",
            count="iterations",
        ),
    )


class WeightedPageRank(fr.Enactor):
    """The same, by the weights of the edges."""

    loop = PageRank.program().but({share: weighted_share})


class PersonalPageRank(fr.Enactor):
    """The same, with jumps that do not go everywhere alike."""

    loop = PageRank.program().but({renew: renew_personal})


class WeightedPersonalPageRank(fr.Enactor):
    """Both."""

    loop = PageRank.program().but({share: weighted_share, renew: renew_personal})


ENACTORS = {
    (False, False): PageRank,
    (True, False): WeightedPageRank,
    (False, True): PersonalPageRank,
    (True, True): WeightedPersonalPageRank,
}


@dataclass(frozen=True)
class PageRankResult:
    """Result of :func:`pagerank`.

    Attributes
    ----------
    rank : ndarray of float64, shape (n,)
        Sums to 1.
    iterations : int
    error : float
        L1 change of the last iteration.
    damping, tolerance, weighted, personalization
        As called; the personalization as an array that sums to 1, or None.
    """

    rank: NDArray[Any]
    iterations: int
    error: float
    damping: float
    tolerance: float
    weighted: bool
    personalization: NDArray[Any] | None

    def top(self, count: int = 10) -> list[tuple[int, float]]:
        """The vertices of highest rank, with it."""
        rank = to_host(self.rank)
        order = np.argsort(-rank, kind="stable")[:count]
        return [(int(v), float(rank[v])) for v in order]


@at_graph
def pagerank(
    g: Graph,
    *,
    damping: float = 0.85,
    tolerance: float = 1e-9,
    personalization: ArrayLike | Mapping[Any, float] | None = None,
    weighted: bool = False,
    max_iterations: int = 1000,
    schedule: Schedule | None = None,
) -> PageRankResult:
    """PageRank of every vertex.

    Parameters
    ----------
    g : Graph
    damping : float in [0, 1)
    tolerance : float
        Stop when the sum of all changes of one iteration is below it; 0 runs ``max_iterations``. From 1e-6 on (with a
        damping above 0.85, from more on), what a vertex hands out along its edges is rounded to float32 (not by
        weights, which may be of any size), which changes ranks by up to 6e-8 of themselves in an iteration.
    personalization : array of shape (n,), or mapping from vertex (label) to float, optional
        Where a jump, and the rank of vertices without out-edges, goes; scaled to sum 1. Uniform by default.
    weighted : bool
        Whether a vertex hands out its rank by the weights of its edges.
    max_iterations : int
    schedule : Schedule, optional

    Returns
    -------
    PageRankResult

    Raises
    ------
    NotConvergedError
        After ``max_iterations``, unless ``tolerance`` is 0; its ``result`` holds the ranks so far.
    GraphError
        For arguments out of range, or ``weighted`` without weights.

    Notes
    -----
    O(n + m) work and three barriers an iteration.
    """
    _check(g, damping, tolerance, max_iterations, weighted)
    damping, tolerance, max_iterations = float(damping), float(tolerance), int(max_iterations)
    n = g.num_vertices
    teleport = _teleport(g, personalization)
    fields: dict[str, Any] = {} if teleport is None else {"teleport": fr.vertex("float64", teleport)}
    degree = _out_weight(g) if weighted else g.out_degree
    rounded = tolerance * (1 - damping) >= 0.149 * ROUNDED and not weighted
    p = fr.Problem(
        g,
        **_fields(
            n,
            fr.vertex("float32" if rounded else "float64"),
            fr.vertex("float64" if weighted else "int32", degree),
            damping,
            tolerance,
            0 if np.all(degree) else 1,
            max_iterations,
        ),
        **fields,
    )
    if n:
        ENACTORS[weighted, teleport is not None](p, schedule).run()
        if p.fields["share"].dtype == np.float32:
            p.rank /= p.rank.sum()  # what was lost in rounding
    result = PageRankResult(
        p.rank, int(p.iterations), float(p.error), damping, tolerance, weighted, teleport
    )
    if n and tolerance > 0 and not result.error < tolerance:
        raise NotConvergedError(
            f"PageRank changed by {result.error:.3g} in iteration {result.iterations}, not below {tolerance:.3g}",
            result,
        )
    return result


def _fields(
    n: int, share: Field, degree: Field, damping: float, tolerance: float, dangling: int, limit: int
) -> dict[str, Field]:
    return {
        "rank": fr.vertex("float64", 1.0 / n if n else 0.0),
        "share": share,
        "sum": fr.vertex("float64", combine="sum"),
        "degree": degree,
        "loose": fr.scalar("float64"),
        "error": fr.scalar("float64"),
        "damping": fr.scalar("float64", damping),
        "tolerance": fr.scalar("float64", tolerance),
        "n": fr.scalar("int64", n),
        "dangling": fr.scalar("int64", dangling),
        "iterations": fr.scalar("int64"),
        "limit": fr.scalar("int64", limit),
    }


def _check(g: Graph, damping: float, tolerance: float, max_iterations: int, weighted: bool) -> None:
    check_number("damping", damping, lambda x: 0 <= x < 1, "it must be at least 0 and below 1")
    check_number("tolerance", tolerance, lambda x: x >= 0, "it must not be negative")
    whole = "a whole number, at least one"
    check_number("max_iterations", max_iterations, lambda x: 1 <= x < 2**62 and x == int(x), whole)
    if weighted and g.weights is None:
        raise GraphError("weighted=True, but the graph has no weights")
    if weighted and g.min_weight is not None and g.min_weight < 0:
        raise NegativeWeightError(f"PageRank needs weights that are not negative; the least is {g.min_weight}")


def _out_weight(g: Graph) -> NDArray[Any]:
    """Sum of the weights of every vertex's out-edges."""
    xp = g.placement.memory.xp
    if xp is np:
        return np.bincount(g.sources, weights=g.weights, minlength=g.num_vertices)
    made: NDArray[Any] = xp.zeros(g.num_vertices)
    xp.add.at(made, g.sources, g.weights)
    return made


def _teleport(g: Graph, personalization: Any) -> NDArray[Any] | None:
    if personalization is None:
        return None
    mapping = hasattr(personalization, "items")
    values = list(personalization.values()) if mapping else personalization
    try:
        made = np.array(to_host(values), np.float64)
    except (ValueError, TypeError):
        raise GraphError(f"personalization holds numbers, not {values!r}") from None
    if mapping:
        given, made = made, np.zeros(g.num_vertices)
        made[[g.vertex_id(vertex) for vertex in personalization]] = given
    else:
        if made.shape != (g.num_vertices,):
            raise GraphError(f"personalization of shape {made.shape}, but there are {g.num_vertices} vertices")
    total = made.sum()
    if not (np.isfinite(total) and total > 0 and made.min() >= 0):
        raise GraphError("personalization holds finite numbers that are not negative, one of them positive")
    shares: NDArray[Any] = g.placement.memory.moved(made / total)
    return shares


def _facts(g: Graph, result: PageRankResult) -> dict[str, Any]:
    best = [(called(vertex, g.labels), rank) for vertex, rank in result.top(1)]
    return {
        "iterations": result.iterations,
        "error": result.error,
        "highest": f"{best[0][1]:.6g} at {best[0][0]}" if best else "none",
        "slots": g.num_slots * result.iterations,
    }


def _plan(g: Graph) -> Plan:
    fields = _fields(g.num_vertices, fr.vertex("float64"), fr.vertex("int32"), 0.85, 1e-9, 1, 1000)
    return Plan(fields, [PageRank], beside=g.num_vertices * g.offsets.itemsize)  # out-degrees


register_primitive(
    PrimitiveEntry(
        "pagerank", pagerank, "PageRank of every vertex",
        arguments=(
            Argument("--damping", "probability to follow an edge (default: 0.85)"),
            Argument("--tolerance", "L1 change to stop at (default: 1e-9)"),
            Argument("--max-iterations", "give up after so many (default: 1000)", type=int),
            Argument("--weighted", "hand out ranks by weights (default: no)", type=bool),
        ),
        columns=("rank",), verify="pagerank", report=_facts, bench_options={"tolerance": 1e-6},
        memory=_plan,
    )
)  # fmt: skip
