"""Who to follow: vertices that a vertex should have edges to.

Twitter recommended accounts in this way (Gupta, Goel, Lin, Sharma, Wang, Zadeh: WTF, the Who to Follow service at
Twitter, 2013; on GPUs: Geil, Wang, Owens: WTF, GPU!, 2014). The *circle of trust* of a user are the accounts of highest
personalised PageRank. SALSA on the graph of the circle and all whom it follows ranks these.

As in the latter paper, it is one program, and the circle is a frontier. In a step of SALSA's walk each vertex of the
circle gathers what comes back from those whom it follows, and sends equal shares of that along the same edges. So no
edges are copied, and a step reads the lists of the circle only. Departing from the paper, shares are integers, in units
of 2**-60. Sums of integers do not depend on their order, so that what is recommended does not change from run to run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import NotConvergedError
from frontier.memory.arrays import to_host
from frontier.primitives._arguments import check_number
from frontier.primitives._greatest import greatest, greatest_fields
from frontier.primitives._piles import aside
from frontier.primitives.pagerank import PersonalPageRank, pagerank_fields, set_rank, update_personal
from frontier.program.frontiers import Frontier
from frontier.registry import Argument, primitive

__all__ = ["FollowResult", "WhoToFollow", "who_to_follow"]

#: What all authorities add up to; the L1 change below which a walk has settled; and the most steps of a walk.
ONE = 1 << 60
SETTLED, STEPS = ONE // 10**10, 10_000


def return_to_user(p, v):
    """Compute the new rank of v, where all jumps lead to the user; return by how much it has changed."""
    jumps = 1.0 - p.damping + p.damping * p.dangling_sum
    return set_rank(p, v, p.damping * p.sum[v] + (jumps if v == p.user else 0.0))


def reached(p, v):
    """Whether v has a rank. The bits of positive numbers, read as integers, have the order of the numbers."""
    p.key[v] = np.float64(p.rank[v]).view(np.int64)
    return p.rank[v] > 0


def size_of_circle(p):
    """How many make the circle."""
    return p.size


def follow(p, src, dst):
    """Count the followers in the circle of all whom it follows."""
    fr.atomic_add(p.followers, dst, 1)
    return True


def one(p, v):
    """1, to count."""
    return 1


def begin(p, v):
    """Begin at each authority with the same probability; what goes back along each of its edges."""
    p.authority[v] = ONE // p.authorities
    p.back[v] = p.authority[v] // p.followers[v]


def back(p, dst):
    """What comes back along an edge."""
    return p.back[dst]


def divide(p, v):
    """Divide what has come back among the out-edges."""
    p.ahead[v] = (p.ahead[v] + p.degree[v] // 2) // max(p.degree[v], 1)


def ahead(p, src, dst):
    """Send a share along an edge."""
    fr.atomic_add(p.here, dst, p.ahead[src])


def renew(p, v):
    """A step is done; return by how much the authority of v has changed."""
    change = abs(p.here[v] - p.authority[v])
    if change != 0:  # on a GPU a store had better not follow a load at once: docs/cuda.md
        p.authority[v] = p.here[v]
    p.back[v] = (p.here[v] + p.followers[v] // 2) // p.followers[v]
    p.here[v] = 0
    return change


def settled(p):
    """The sum of all changes is small."""
    return p.change < SETTLED


def forget(p, src, dst):
    """Do not recommend those whom the user follows already."""
    p.authority[dst] = 0


def forget_user(p, v):
    """Do not recommend the user."""
    p.authority[v] = 0


def deserves(p, v):
    """Whether v may be recommended."""
    p.key[v] = p.authority[v]
    return p.authority[v] > 0


def number(p):
    """How many are recommended."""
    return p.count


class WhoToFollow(fr.Enactor):
    """Find the circle, walk along its edges until the authorities settle, and find the greatest of these."""

    loop = (
        PersonalPageRank.program().replace({update_personal: return_to_user}),
        fr.Set(wanted=size_of_circle),
        fr.Sequence(fr.Filter(reached), greatest("circle"), over="vertices"),
        fr.Sequence(fr.Advance(follow), fr.Split(aside, rest="followed"), over="circle"),
        fr.Reduce(one, "sum", into="authorities", over="followed"),
        fr.Compute(begin, over="followed"),
        fr.Loop(
            fr.Gather(back, "sum", into="ahead", edges="out", over="circle"),
            fr.Compute(divide, over="circle"),
            fr.Advance(ahead, output=None, over="circle"),
            fr.Reduce(renew, "sum", into="change", over="followed"),
            until=settled,
            times=STEPS,
        ),
        fr.Advance(forget, output=None, over="user"),
        fr.Compute(forget_user, over="user"),
        fr.Set(wanted=number),
        fr.Sequence(fr.Filter(deserves), greatest("recommended"), over="followed"),
    )


@dataclass(frozen=True, eq=False, repr=False)
class FollowResult(fr.Result, rows="other"):
    """Result of :func:`who_to_follow`.

    Attributes
    ----------
    recommended : ndarray of int64, shape (k,)
        Vertices, the best first.
    score : ndarray of float64, shape (k,)
        Their authorities.
    circle : ndarray of int64
        The circle of trust, the nearest first.
    """

    recommended: NDArray[Any]
    score: NDArray[Any]
    circle: NDArray[Any]

    def table_columns(self, rows: slice) -> dict[str, tuple[NDArray[Any], bool]]:
        """A row for each ``vertex`` that is recommended, with its ``score``."""
        recommended, score = self.host_array("recommended"), self.host_array("score")
        return {"vertex": (recommended[rows], True), "score": (score[rows], False)}


@primitive(
    "who_to_follow", "vertices that a vertex should have edges to",
    arguments=(
        Argument("--count", "how many to recommend (default: 10)", type=int),
        Argument("--circle", "size of the circle of trust (default: 500)", type=int),
    ),
    takes_source=True,
    report=lambda g, r: {"recommended": r.names.of(r.recommended), "circle": len(r.circle)},
)  # fmt: skip
def who_to_follow(
    g: fr.Graph,
    source: Any,
    *,
    count: int = 10,
    circle: int = 500,
    damping: float = 0.85,
    schedule: fr.Schedule | None = None,
) -> FollowResult:
    """Vertices that a vertex should have edges to.

    Parameters
    ----------
    g : Graph
        An edge from u to v says that u follows v.
    source : vertex (or label)
        For whom.
    count : int
        How many to recommend, at most.
    circle : int
        Size of the circle of trust, at most: the vertices nearest to the source, itself included.
    damping : float in [0, 1)
        Of the personalised PageRank.
    schedule : Schedule, optional

    Returns
    -------
    FollowResult
        Without the source, and without those that it follows already.

    Raises
    ------
    GraphError
        If the source is no vertex, or for arguments out of range.
    NotConvergedError
        After 1000 iterations of PageRank, or 10,000 of SALSA.

    Notes
    -----
    O(n + m) work an iteration of personalised PageRank, which stops at an L1 change of 1e-9; O(edges of the circle)
    work an iteration of SALSA, which stops at 1e-10.

    Examples
    --------
    >>> result = fr.who_to_follow(fr.karate(), 0, count=2)
    >>> len(result.recommended), bool((result.score > 0).all())
    (2, True)
    """
    whole = "a whole number, at least one"
    for name, value in (("count", count), ("circle", circle)):
        check_number(name, value, lambda x: x >= 1 and x == int(x), whole)
    damping = check_number("damping", damping, lambda x: 0 <= x < 1, "it must be at least 0 and below 1")
    user, degree = g.vertex_id(source), g.out_degree
    p = fr.Problem(
        g,
        **pagerank_fields(g.num_vertices, degree, damping=damping, any_dangling=not np.all(degree)),
        **greatest_fields(),
        **{name: fr.vertex("int64") for name in ("followers", "authority", "here", "back", "ahead")},
        **{name: fr.pile("vertex") for name in ("circle", "followed", "recommended")},
        user=fr.scalar("int64", user),
        size=fr.scalar("int64", min(int(circle), g.num_vertices)),
        count=fr.scalar("int64", min(int(count), g.num_vertices)),
        authorities=fr.scalar("int64"),
        change=fr.scalar("int64"),
    )
    WhoToFollow(p, schedule).run()
    for who, error, least in (("PageRank", p.error, p.tolerance), ("SALSA", p.change / ONE, SETTLED / ONE)):
        if not error < least:
            raise NotConvergedError(f"{who} changed by {error:.3g} in its last iteration, not below {least:.3g}")
    recommended, authority = _sorted(p.recommended, p.authority)
    return FollowResult(recommended, authority / ONE, _sorted(p.circle, p.rank)[0])


def _sorted(f: Frontier, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The elements of a frontier and their values on the host, the greatest first, of equal ones the least id."""
    ids, found = f.host_ids().astype(np.int64), to_host(values[f.ids])
    order = np.lexsort((ids, -found))
    return ids[order], found[order]
