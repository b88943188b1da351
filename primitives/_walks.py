"""What programs share that take random walks: drawing an edge, the result, and the run.

Walk i draws its t-th number from ``fr.hash`` of the seed, i and t, so walks are the same on every backend. For weights,
prefix sums over the edges of each vertex are made once, and each step is a binary search in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import frontier as fr
from frontier.errors import GraphError
from frontier.graph.several import is_several, vertex_ids
from frontier.primitives._arguments import check_number, check_seed, check_weights
from frontier.registry import Argument

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.graph.graph import Graph
    from frontier.program.problem import Field
    from frontier.program.schedule import Schedule

__all__ = ["ARGUMENTS", "WalksResult", "add_up", "by_weight", "check", "facts", "key_of", "reaching", "run", "uniform"]


def key_of(p, i):
    """Return the number from which walk i draws."""
    return fr.hash(fr.hash(p.seed) + i)


def uniform(p, v, key, t):
    """Draw an edge of v, all equally likely; -1 if there is none."""
    degree = fr.degree(p, v)
    return fr.neighbours(p, v).start + fr.hash(key + t) % degree if degree > 0 else -1


def reaching(p, first, last, sum):
    """Return the first slot of those from ``first`` to ``last`` whose prefix sum exceeds ``sum``, or is the total."""
    total = p.upto[last]
    while first < last:
        middle = (first + last) >> 1
        if p.upto[middle] > sum or p.upto[middle] >= total:
            last = middle
        else:
            first = middle + 1
    return first


def by_weight(p, v, key, t):
    """Draw an edge of v in proportion to the weights; -1 if there is none of positive weight."""
    first = fr.neighbours(p, v).start
    last = first + fr.degree(p, v) - 1
    if last < first or p.upto[last] <= 0:
        return -1
    return reaching(p, first, last, fr.random(key, t) * p.upto[last])


def add_up(p, v):
    """Add up the weights of v's edges."""
    sum = 0.0
    for slot in fr.neighbours(p, v):
        sum += fr.weight(p, slot)
        p.upto[slot] = sum


@dataclass(frozen=True, eq=False, repr=False)
class WalksResult(fr.Result, rows="other"):
    """Result of :func:`random_walks` and :func:`node2vec_walks`.

    Attributes
    ----------
    path : ndarray, shape (k, length + 1)
        The vertices of each walk, from its start on; -1 after its end, if it has come to one early.
    end : ndarray, shape (k,)
        The last vertex of each walk.
    """

    path: NDArray[Any]
    end: NDArray[Any]

    def table_columns(self, rows: slice) -> dict[str, tuple[NDArray[Any], bool]]:
        """A row for each step of each walk: ``walk``, ``step`` and ``vertex``."""
        path = self.host_array("path")[: rows.stop]  # a walk has a row at least
        walk, step = np.nonzero(path >= 0)
        return {"walk": (walk[rows], False), "step": (step[rows], False), "vertex": (path[walk, step][rows], True)}


def run(
    g: Graph, walks: type[fr.Enactor], starts: Any, length: int, seed: int, schedule: Schedule | None,
    more: dict[str, Field],
) -> WalksResult:  # fmt: skip
    ids = starts_of(g, starts)
    xp, dtype, length = g.placement.memory.xp, g.id_dtype, int(length)
    problem = fr.Problem(
        g,
        starts=fr.array(ids.astype(dtype)),
        path=fr.array(xp.full(len(ids) * (length + 1), -1, dtype)),
        end=fr.array(xp.full(len(ids), -1, dtype)),
        walks=fr.scalar("int64", len(ids)),
        length=fr.scalar("int64", length),
        seed=fr.scalar("int64", seed),
        **more,
    )
    if len(ids):
        walks(problem, schedule).run()
    return WalksResult(problem.path.reshape(len(ids), length + 1), problem.end)


def check(g: Graph, length: int, seed: int, weighted: bool) -> None:
    check_number("length", length, lambda x: 0 <= x < 2**31 and x == int(x), "a whole number from 0, below 2**31")
    check_seed(seed)
    if not weighted:
        return
    if g.weights is None:
        raise GraphError("weighted=True, but the graph has no weights")
    check_weights(g, "walks", plural=True, scaled=True)


def starts_of(g: Graph, starts: Any) -> NDArray[Any]:
    """The ids at which walks start."""
    if starts is None:
        return np.arange(g.num_vertices)
    return vertex_ids(g, starts if is_several(starts) else [starts], "starts")


def facts(g: Graph, result: WalksResult) -> dict[str, Any]:
    steps = int((result.path >= 0).sum()) - len(result.path)
    return {"walks": len(result.path), "steps": steps, "slots": steps}


ARGUMENTS = (
    Argument("--length", "number of steps (default: 80)", type=int),
    Argument("--weighted", "take edges in proportion to their weights (default: no)", type=bool),
)
