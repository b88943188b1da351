"""PageRank by gathering: every vertex sums the contributions of its in-neighbours.

The power iteration of Page, Brin, Motwani and Winograd (1999). A random surfer follows an edge with probability
``damping`` and jumps to any vertex otherwise; from a *dangling* vertex, which has no out-edges, every move is a jump:

    rank(v) = damping * sum over in-edges (u, v) of rank(u) / degree(u)
              + (1 - damping + damping * sum of rank(u) over dangling u) / n.

As in Ligra and GAP, ranks are divided by out-degrees first, so the gather needs no atomics and reads one number for
each edge, the contribution of u. Unlike in GAP, ranks are float64 (contributions are float32 unless the tolerance is
small), the rank of dangling vertices is distributed (as in NetworkX), ranks change only between iterations, and the
error is the L1 change of ranks that sum to 1. (Changing ranks at once, as Gauss and Seidel do, halves the number of
iterations on a road but more than doubles it on R-MAT 20: 24 instead of 10 to an error of 1e-4.)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import frontier as fr
from frontier.errors import GraphError, NotConvergedError
from frontier.graph.labels import called
from frontier.graph.scaling import is_moderate
from frontier.memory.arrays import to_host
from frontier.primitives._arguments import check_number, check_weights, values_of_vertices
from frontier.primitives._scaled import with_rows_scaled
from frontier.program.problem import Field
from frontier.registry import Argument, Plan, primitive

__all__ = [
    "DanglingPageRank",
    "PageRank",
    "PageRankResult",
    "PersonalPageRank",
    "WeightedDanglingPageRank",
    "WeightedPageRank",
    "WeightedPersonalPageRank",
    "pagerank",
]


def contribute(p, v):
    """Compute what v contributes along each of its out-edges (per unit of weight)."""
    p.contribution[v] = p.rank[v] / p.degree[v] if p.degree[v] > 0 else 0.0


def begin(p, v):
    """Let v contribute for the first time; a vertex without edges may begin with less."""
    if p.degree[v] == 0:
        p.rank[v] *= p.apart
    contribute(p, v)


def dangling(p, v):
    """The rank of v if it has no out-edges."""
    return 0.0 if p.degree[v] > 0 else p.rank[v]


def contribution(p, src):
    """What comes along an edge."""
    return p.contribution[src]


def weighted_contribution(p, src, weight):
    """What comes along an edge, by its weight."""
    return p.contribution[src] * weight


def update(p, v):
    """Compute the new rank of v, and what v contributes next; return by how much the rank has changed."""
    return set_rank(p, v, p.damping * p.sum[v] + (1.0 - p.damping + p.damping * p.dangling_sum) / p.n)


def update_personal(p, v):
    """The same where jumps lead to some vertices more often than to others."""
    return set_rank(p, v, p.damping * p.sum[v] + (1.0 - p.damping + p.damping * p.dangling_sum) * p.teleport[v])


def update_apart(p, v):
    """The same where what comes from dangling vertices is distributed in another way than jumps."""
    return set_rank(
        p, v, p.damping * (p.sum[v] + p.dangling_sum * p.fall[v]) + (1.0 - p.damping) * p.teleport[v]
    )


def set_rank(p, v, new):
    """Set the rank of v."""
    change = abs(new - p.rank[v])
    if change != 0:  # on a GPU a store had better not follow a load at once: docs/cuda.md
        p.rank[v] = new
    contribute(p, v)
    return change


def converged(p):
    """The sum of all changes is below the tolerance."""
    return p.error < p.tolerance


class PageRank(fr.Enactor):
    """Ranks by the number of in-edges and the ranks of their sources."""

    loop = (
        fr.Compute(begin, over="vertices"),
        fr.Reduce(dangling, "sum", into="dangling_sum", over="vertices"),
        fr.Loop(
            fr.Gather(contribution, "sum", into="sum"),
            fr.Reduce(update, "sum", into="error"),
            fr.Loop(fr.Reduce(dangling, "sum", into="dangling_sum"), times="any_dangling"),  # once, or not at all
            until=converged,
            over="vertices",
            times="limit",
            count="iterations",
        ),
    )


class WeightedPageRank(fr.Enactor):
    """The same, by the weights of the edges."""

    loop = PageRank.program().replace({contribution: weighted_contribution})


class PersonalPageRank(fr.Enactor):
    """The same where jumps lead to some vertices more often than to others."""

    loop = PageRank.program().replace({update: update_personal})


class WeightedPersonalPageRank(fr.Enactor):
    """The same, with weights and personalization."""

    loop = PageRank.program().replace({contribution: weighted_contribution, update: update_personal})


class DanglingPageRank(fr.Enactor):
    """The same where the rank of dangling vertices is distributed in a way of its own."""

    loop = PageRank.program().replace({update: update_apart})


class WeightedDanglingPageRank(fr.Enactor):
    """The same, with weights."""

    loop = PageRank.program().replace({contribution: weighted_contribution, update: update_apart})


#: By whether it is weighted, and how many distributions over vertices there are.
ENACTORS = {
    (False, 0): PageRank,
    (True, 0): WeightedPageRank,
    (False, 1): PersonalPageRank,
    (True, 1): WeightedPersonalPageRank,
    (False, 2): DanglingPageRank,
    (True, 2): WeightedDanglingPageRank,
}


@dataclass(frozen=True, eq=False, repr=False)
class PageRankResult(fr.Result, columns=("rank",)):
    """Result of :func:`pagerank`.

    Attributes
    ----------
    rank : ndarray of float64, shape (n,)
        Sums to 1.
    iterations : int
    error : float
        L1 change of the last iteration.
    damping, tolerance, weighted, personalization
        The arguments of the call; the personalization as an array that sums to 1, or None.
    dangling : ndarray of float64, shape (n,), or None
        How the rank of dangling vertices was distributed, as an array that sums to 1; None: as jumps.
    """

    rank: NDArray[Any]
    iterations: int
    error: float
    damping: float
    tolerance: float
    weighted: bool
    personalization: NDArray[Any] | None
    dangling: NDArray[Any] | None = None


def _plan(g: fr.Graph) -> Plan:
    return Plan(pagerank_fields(g.num_vertices), [PageRank], beside=g.num_vertices * g.offsets.itemsize)  # out-degrees


def _facts(g: fr.Graph, result: PageRankResult) -> dict[str, Any]:
    rank = to_host(result.rank)
    best = int(rank.argmax()) if len(rank) else None
    return {
        "iterations": result.iterations,
        "error": result.error,
        "highest": "none" if best is None else f"{rank[best]:.6g} at {called(best, g.labels)}",
        "slots": g.num_slots * result.iterations,
    }


@primitive(
    "pagerank", "PageRank of every vertex",
    arguments=(
        Argument("--damping", "probability to follow an edge (default: 0.85)"),
        Argument("--tolerance", "L1 change to stop at (default: 1e-9)"),
        Argument("--max-iterations", "give up after so many (default: 1000)", type=int),
        Argument("--weighted", "divide ranks by weights of edges (default: no)", type=bool),
    ),
    verify="pagerank", report=_facts, bench_options={"tolerance": 1e-6},
    memory=_plan,
)  # fmt: skip
def pagerank(
    g: fr.Graph,
    *,
    damping: float = 0.85,
    tolerance: float = 1e-9,
    personalization: ArrayLike | Mapping[Any, float] | None = None,
    dangling: ArrayLike | Mapping[Any, float] | None = None,
    start: ArrayLike | Mapping[Any, float] | None = None,
    weighted: bool = False,
    max_iterations: int = 1000,
    schedule: fr.Schedule | None = None,
) -> PageRankResult:
    """PageRank of every vertex.

    Parameters
    ----------
    g : Graph
    damping : float in [0, 1)
    tolerance : float
        Stop when the sum of all changes of one iteration is below it; with 0, run ``max_iterations``. At tolerances of
        1e-6 and above (with a damping above 0.85, of more than that), contributions are rounded to float32, unless
        ``weighted``. This changes a rank by up to 6e-8 of itself in an iteration.
    personalization : array of shape (n,), or mapping from vertex (label) to float, optional
        How jumps, and the rank of vertices without out-edges, are distributed; scaled to sum 1. Uniform by default.
    dangling : array of shape (n,), or mapping from vertex (label) to float, optional
        How the rank of vertices without out-edges is distributed, if not as jumps are; scaled to sum 1.
    start : array of shape (n,), or mapping from vertex (label) to float, optional
        The ranks before the first iteration, scaled to sum 1: with those of a graph that differs a little, or of
        another damping, there are fewer iterations. Equal by default, but where jumps alone lead to some vertices of an
        undirected graph, these begin with ``1 - damping`` of the others' rank, unless ``tolerance`` is 0.
    weighted : bool
        Whether a vertex divides its rank among its out-edges by their weights.
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
        For arguments out of range, or ``weighted`` without weights or with infinite ones.

    Notes
    -----
    O(n + m) work and three barriers per iteration.

    Examples
    --------
    >>> g = fr.from_edges(["a", "b"], ["b", "c"], directed=True)
    >>> before = fr.pagerank(g, dangling={"a": 1})
    >>> before["a"] > fr.pagerank(g)["a"], fr.pagerank(g, dangling={"a": 1}, start=before.to_dict()).iterations
    (True, 1)
    """
    _check(g, damping, tolerance, max_iterations, weighted)
    damping, tolerance, max_iterations = float(damping), float(tolerance), int(max_iterations)
    n = g.num_vertices
    teleport = _distribution(g, "personalization", personalization)
    fall = _distribution(g, "dangling", dangling)
    shares = {} if teleport is None else {"teleport": fr.vertex("float64", teleport)}
    if fall is not None:
        shares = {"teleport": fr.vertex("float64", 1 / max(n, 1) if teleport is None else teleport)}
        shares["fall"] = fr.vertex("float64", fall)
    g = with_rows_scaled(g) if weighted else g
    degree = g.out_weight if weighted else g.out_degree
    first: Any = _distribution(g, "start", start)
    empty, apart = _number_of_zeros(g, degree, weighted), 1.0
    if first is None and tolerance > 0 and not (g.directed or shares):
        apart, first = 1.0 - damping, 1.0 / (n - damping * empty or 1.0)
    p = fr.Problem(
        g,
        **pagerank_fields(
            n, degree, weighted, damping, tolerance, max_iterations, any_dangling=empty > 0,
            rounded=not weighted and _may_round(damping, tolerance), start=first, apart=apart,
        ),
        **shares,
    )  # fmt: skip
    if n:
        ENACTORS[weighted, len(shares)](p, schedule).run()
        if p.fields["contribution"].dtype == np.float32:
            p.rank /= p.rank.sum()  # what was lost in rounding
    result = PageRankResult(
        p.rank, int(p.iterations), float(p.error), damping, tolerance, weighted, teleport, fall
    )
    if n and tolerance > 0 and not result.error < tolerance:
        raise NotConvergedError(
            f"PageRank changed by {result.error:.3g} in iteration {result.iterations}, not below {tolerance:.3g}",
            result,
        )
    return result


def pagerank_fields(
    n: int,
    degree: Any = 0,
    weighted: bool = False,
    damping: float = 0.85,
    tolerance: float = 1e-9,
    limit: int = 1000,
    *,
    any_dangling: bool = True,
    rounded: bool = False,
    start: Any = None,
    apart: float = 1.0,
) -> dict[str, Field]:
    """Return the fields of these programs, except for the probabilities of jumps."""
    return {
        "rank": fr.vertex("float64", start if start is not None else 1.0 / n if n else 0.0),
        "contribution": fr.vertex("float32" if rounded else "float64"),
        "sum": fr.vertex("float64", combine="sum"),
        "degree": fr.vertex("float64" if weighted else "int32", degree),
        "dangling_sum": fr.scalar("float64"),
        "error": fr.scalar("float64"),
        "damping": fr.scalar("float64", damping),
        "tolerance": fr.scalar("float64", tolerance),
        "n": fr.scalar("int64", n),
        "apart": fr.scalar("float64", apart),
        "any_dangling": fr.scalar("int64", int(any_dangling)),
        "iterations": fr.scalar("int64"),
        "limit": fr.scalar("int64", limit),
    }


def _number_of_zeros(g: fr.Graph, degree: Any, weighted: bool) -> int:
    """How many vertices have no out-edges, or none of positive weight."""
    what = "weight" if weighted else "edges"
    return g.cached(f"pagerank: vertices without {what}", lambda: len(degree) - int(np.count_nonzero(degree)))


def _may_round(damping: float, tolerance: float) -> bool:
    """Whether contributions, which a gather reads for every edge, may be float32: for a tolerance from 1e-6 on.

    Rounding changes a rank by less than 6e-8 of itself in an iteration, so in all by up to damping / (1 - damping)
    times as much. With a damping above the usual 0.85 ranks might swing forever by more than such a tolerance.
    """
    return tolerance * (1 - damping) >= 1e-6 * 0.149  # a little below 0.15, which 1 - 0.85 is not exactly


def _check(g: fr.Graph, damping: float, tolerance: float, max_iterations: int, weighted: bool) -> None:
    check_number("damping", damping, lambda x: 0 <= x < 1, "it must be at least 0 and below 1")
    check_number("tolerance", tolerance, lambda x: x >= 0, "it must not be negative")
    whole = "a whole number, at least one"
    check_number("max_iterations", max_iterations, lambda x: 1 <= x < 2**62 and x == int(x), whole)
    if weighted and g.weights is None:
        raise GraphError("weighted=True, but the graph has no weights")
    if weighted:
        check_weights(g, "PageRank", scaled=True)


def _distribution(g: fr.Graph, name: str, values: Any) -> NDArray[Any] | None:
    """An argument that says how something is distributed over vertices, scaled to sum 1; None where it is None."""
    if values is None:
        return None
    given: NDArray[Any] = g.placement.memory.moved(values_of_vertices(g, name, values))
    greatest = float(given.max()) if len(given) else 0.0
    if not (greatest > 0 and np.isfinite(given).all() and given.min() >= 0):
        raise GraphError(f"{name} holds finite numbers that are not negative, one of them positive")
    if not is_moderate(greatest):
        given = np.ldexp(given, -math.frexp(greatest)[1])
    shares: NDArray[Any] = given / given.sum()
    return shares
