"""Personalized PageRank: how near every vertex is to a set of seeds.

The random surfer of PageRank jumps only to the seeds (Haveliwala: Topic-sensitive PageRank, 2002), and so does the rank
of vertices without out-edges. The loop is that of :func:`frontier.pagerank`. Several sets of seeds are ranked one after
another in the same problem; the iteration of each begins with the distribution of its jumps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import frontier as fr
from frontier.errors import GraphError, NotConvergedError
from frontier.memory.arrays import to_host
from frontier.primitives import pagerank as pr
from frontier.program.taking import at_graph
from frontier.registry import Argument, PrimitiveEntry, register_primitive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.graph.graph import Graph
    from frontier.program.schedule import Schedule

__all__ = ["PersonalizedPageRankResult", "personalized_pagerank"]


@dataclass(frozen=True)
class PersonalizedPageRankResult:
    """Result of :func:`personalized_pagerank`.

    Attributes
    ----------
    rank : ndarray of float64, shape (n,) or (sets, n)
        Sums to 1 for each set; of two dimensions if several sets were given.
    iterations : int
        Of all sets together.
    error : float
        L1 change of the last iteration, the largest of all sets.
    """

    rank: NDArray[Any]
    iterations: int
    error: float

    def top(self, count: int = 10) -> list[Any]:
        """Return the vertices of highest rank, with their ranks; a list for each set if there are several."""
        rank = to_host(self.rank)
        if rank.ndim == 1:
            return _top(rank, count)
        return [_top(row, count) for row in rank]


def _top(rank: NDArray[Any], count: int) -> list[tuple[int, float]]:
    return [(int(v), float(rank[v])) for v in np.argsort(-rank, kind="stable")[:count]]


@at_graph
def personalized_pagerank(
    g: Graph,
    seeds: Any,
    *,
    damping: float = 0.85,
    tolerance: float = 1e-9,
    weighted: bool = False,
    max_iterations: int = 1000,
    schedule: Schedule | None = None,
) -> PersonalizedPageRankResult:
    """PageRank with jumps to seeds only, for one set of seeds or for several.

    Parameters
    ----------
    g : Graph
        Undirected edges are followed both ways; parallel edges count as many.
    seeds : vertex, set of vertices, or list of sets
        A set is a sequence of vertices (labels, if the graph has labels), to which jumps are equally likely, or a
        mapping from vertices to their probabilities, which are scaled to sum 1. A list whose elements are sequences or
        mappings is a list of sets.
    damping : float in [0, 1)
        Probability to follow an edge instead of a jump.
    tolerance : float
        Stop when the sum of all changes of one iteration is below it; with 0, run ``max_iterations``.
    weighted : bool
        Whether a vertex divides its rank among its out-edges by their weights.
    max_iterations : int
        For each set.
    schedule : Schedule, optional

    Returns
    -------
    PersonalizedPageRankResult
        ``rank`` has shape (n,) for one set, and (sets, n) for a list of sets.

    Raises
    ------
    NotConvergedError
        After ``max_iterations``, unless ``tolerance`` is 0; its ``result`` holds the ranks so far.
    GraphError
        If a set has no vertices or one that does not exist, or for arguments out of range.

    Notes
    -----
    O(n + m) work and three barriers per iteration and set. The result takes 8 bytes per vertex and set.
    """
    pr._check(g, damping, tolerance, max_iterations, weighted)
    many = _several(seeds)
    sets = [_teleport(g, one) for one in (seeds if many else [seeds])]
    degree = g.out_weight if weighted else g.out_degree
    p = fr.Problem(
        g,
        **pr._fields(
            g.num_vertices, degree, weighted, float(damping), float(tolerance), int(max_iterations),
            any_dangling=not np.all(degree),
        ),
        teleport=fr.vertex("float64"),
    )  # fmt: skip
    program = pr.ENACTORS[weighted, True](p, schedule)
    ranks, errors, iterations = [], [0.0], 0
    for one in sets:
        p.teleport[:] = one
        p.rank[:] = one
        p.iterations = 0
        program.run()
        ranks.append(p.rank.copy())
        errors.append(float(p.error))
        iterations += int(p.iterations)
    result = PersonalizedPageRankResult(
        g.placement.memory.xp.stack(ranks) if many else ranks[0], iterations, max(errors)
    )
    if tolerance > 0 and not result.error < tolerance:
        raise NotConvergedError(
            f"PageRank changed by {result.error:.3g} in iteration {int(max_iterations)}, not below {tolerance:.3g}",
            result,
        )
    return result


def _several(seeds: Any) -> bool:
    """Whether a list of sets was given: its elements are sets, not vertices."""
    if hasattr(seeds, "items") or isinstance(seeds, str) or not hasattr(seeds, "__iter__"):
        return False
    kinds = {hasattr(one, "__iter__") and not isinstance(one, str) for one in seeds}
    if len(kinds) == 2:
        raise GraphError("seeds mixes vertices and sets: write [v] for a set of one vertex")
    return True in kinds


def _teleport(g: Graph, seeds: Any) -> NDArray[Any]:
    """Return the probabilities of jumps to each vertex."""
    if not hasattr(seeds, "items"):
        some = to_host(seeds) if hasattr(seeds, "__iter__") and not isinstance(seeds, str) else [seeds]
        seeds = {(one.item() if isinstance(one, np.generic) else one): 1.0 for one in some}
    if not seeds:
        raise GraphError("a set of seeds has at least one vertex")
    shares = pr._teleport(g, seeds)
    assert shares is not None
    return shares


def _facts(g: Graph, result: PersonalizedPageRankResult) -> dict[str, Any]:
    return {
        "iterations": result.iterations,
        "error": result.error,
        "nearest": ", ".join(str(vertex) for vertex, _ in result.top(5)),
        "slots": g.num_slots * result.iterations,
    }


register_primitive(
    PrimitiveEntry(
        "personalized_pagerank", personalized_pagerank, "PageRank with jumps to one vertex",
        arguments=(
            Argument("--damping", "probability to follow an edge (default: 0.85)"),
            Argument("--tolerance", "L1 change to stop at (default: 1e-9)"),
            Argument("--max-iterations", "give up after so many (default: 1000)", type=int),
            Argument("--weighted", "divide ranks by weights of edges (default: no)", type=bool),
        ),
        columns=("rank",), report=_facts, takes_source=True, bench_options={"tolerance": 1e-6},
    )
)  # fmt: skip
