"""Personalised PageRank: how near vertices are to some seeds.

A surfer who jumps back to some seeds stays near them, so ranks say how near a vertex is to the seeds, by all paths
(Page, Brin, Motwani, Winograd 1999; Haveliwala: Topic-sensitive PageRank, 2002). It is :func:`frontier.pagerank` with
jumps to the seeds only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.graph.several import is_several, vertex_ids
from frontier.memory.arrays import namespace_of
from frontier.primitives._arguments import values_of_vertices
from frontier.primitives.pagerank import pagerank
from frontier.primitives.who_to_follow import FollowResult as FollowResult  # which may be looked for here
from frontier.primitives.who_to_follow import who_to_follow as who_to_follow
from frontier.registry import Argument, primitive
from frontier.results import by_pairs

__all__ = ["PersonalizedResult", "personalized_pagerank"]


@dataclass(frozen=True, eq=False, repr=False)
class PersonalizedResult(fr.Result, columns=("rank",)):
    """Result of :func:`personalized_pagerank`.

    Attributes
    ----------
    rank : ndarray of float64, shape (n,) or (k, n)
        Sums to 1 for each of the k sets of seeds.
    iterations : int
        The most for any set.
    """

    rank: NDArray[Any]
    iterations: int

    def table_columns(self, rows: slice) -> dict[str, tuple[NDArray[Any], bool]]:
        """A row for each vertex; with several sets of seeds, for each set and vertex."""
        if self.rank.ndim == 1:
            return super().table_columns(rows)
        rank = self.host_array("rank")
        return by_pairs(np.arange(len(rank)), {"rank": rank}, rows, "seeds", ids=False)


@primitive(
    "personalized_pagerank", "PageRank with jumps to a vertex",
    arguments=(
        Argument("--damping", "probability to follow an edge (default: 0.85)"),
        Argument("--tolerance", "L1 change to stop at (default: 1e-9)"),
    ),
    takes_source=True, report=lambda g, r: {"iterations": r.iterations},
)  # fmt: skip
def personalized_pagerank(
    g: fr.Graph,
    seeds: Any,
    *,
    damping: float = 0.85,
    tolerance: float = 1e-9,
    weighted: bool = False,
    max_iterations: int = 1000,
    schedule: fr.Schedule | None = None,
) -> PersonalizedResult:
    """PageRank with jumps to seeds only: how near each vertex is to them.

    Parameters
    ----------
    g : Graph
    seeds : vertex, sequence of vertices, Frontier, mask or mapping, or sequence of such
        A vertex (or label); a set of vertices, to which jumps lead with the same probability; a mapping from vertices
        to numbers, to which the probabilities are proportional; or several sets, each of which gets a row of ranks.
    damping, tolerance, weighted, max_iterations, schedule
        As of :func:`frontier.pagerank`.

    Returns
    -------
    PersonalizedResult

    Raises
    ------
    GraphError
        If a set has no seeds, a seed is no vertex, or for arguments out of range.
    NotConvergedError
        After ``max_iterations`` for a set, unless ``tolerance`` is 0.

    Notes
    -----
    O(n + m) work and three barriers per iteration and set; sets are computed one after another, with the same program.

    Examples
    --------
    >>> g = fr.from_edges(["ann", "bob", "cid"], ["bob", "cid", "dan"])
    >>> [vertex for vertex, value in fr.personalized_pagerank(g, ["ann"]).top(2)]
    ['bob', 'ann']
    """
    several = _are_sets(seeds)
    sets = [_jumps(g, each) for each in (seeds if several else [seeds])]
    results = []
    for jumps in sets:
        results.append(
            pagerank(
                g, damping=damping, tolerance=tolerance, personalization=jumps, weighted=weighted,
                max_iterations=max_iterations, schedule=schedule,
            )
        )  # fmt: skip
    ranks = [each.rank for each in results]
    rank = namespace_of(ranks[0]).stack(ranks) if several else ranks[0]
    return PersonalizedResult(rank, max(each.iterations for each in results))


def _are_sets(seeds: Any) -> bool:
    """Whether these are several sets of seeds, and not one: its first element is one."""
    if not (isinstance(seeds, Sequence | np.ndarray) and is_several(seeds) and len(seeds) > 0):
        return False
    return is_several(seeds[0]) or isinstance(seeds[0], Mapping)


def _jumps(g: fr.Graph, seeds: Any) -> NDArray[Any]:
    """Return a number for each vertex, in proportion to which jumps lead there."""
    if isinstance(seeds, Mapping):
        jumps = values_of_vertices(g, "seeds", seeds)
        if not (np.isfinite(jumps).all() and (jumps >= 0).all() and (jumps > 0).any()):
            raise GraphError("seeds: a mapping holds finite numbers that are not negative, one of them positive")
        return jumps
    found = vertex_ids(g, seeds if is_several(seeds) else [seeds], "seeds")
    if not len(found):
        raise GraphError("seeds: at least one vertex is needed in each set")
    return np.bincount(found, minlength=g.num_vertices)
