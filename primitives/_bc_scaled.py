"""Betweenness in general: by weights, towards some targets, of edges, and where paths are more than float64 counts.

An edge leads *onward* if it is the last one of a shortest path to its target: that is one level farther, or by weights
as much farther as the edge is long. These edges form an acyclic graph, whose levels are processed one by one, outwards
to count paths and backwards for dependencies. By weights, a level consists of the vertices all of whose edges from
nearer vertices have been seen (Kahn: Topological sorting of large networks, 1962).

The number of shortest paths to v is ``sigma[v] * 2**(512 * exponent[v])``, with sigma from 1 to 2**512. A sum needs the
greatest exponent among its terms first. Dependencies need only ratios of two such numbers, which are at most 1:

    delta(v) = sum over edges (v, w) that lead onward of sigma(v) / sigma(w) * (end(w) + delta(w)),

where end(w) is 1 if w is a target, else 0. What is summed is the dependency on the edge itself.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import frontier as fr
from frontier.errors import GraphError
from frontier.primitives._arguments import check_lengths
from frontier.primitives._paths import unreached
from frontier.primitives.sssp import _dtype, relax

if TYPE_CHECKING:
    from frontier.program.problem import Field

__all__ = ["check_positive", "check_sums", "fields", "program"]

#: Numbers of paths are kept below this, and the exponent counts its powers.
UNIT = 2.0**512
SHRINK = 1 / UNIT


def begin(p, v):
    """Reset v before the next source; True for the source."""
    source = p.starts[v] == p.turn
    p.level[v] = 0 if source else -1
    return reset(p, v, source)


def begin_by_weight(p, v):
    """The same by weights."""
    source = p.starts[v] == p.turn
    p.distance[v] = 0 if source else p.unreached
    return reset(p, v, source)


def reset(p, v, source):
    """Reset the number of paths to v, which is 1 for a source, and the dependency on v."""
    p.sigma[v] = 1.0 if source else 0.0
    p.exponent[v] = 0
    p.delta[v] = 0.0
    return source


def is_source(p, v):
    """Begin once more at the source."""
    return p.starts[v] == p.turn


# -- which edges lead onward, and the levels of their graph -------------------------------------


def leads_onward(p, src, dst):
    """The target is one level farther."""
    return p.level[src] >= 0 and p.level[dst] == p.level[src] + 1


def is_tight(p, src, dst, weight):
    """The edge is the last one of a shortest path: sums are equal, of floats as they are rounded."""
    return p.distance[src] < p.distance[dst] and p.distance[src] + weight == p.distance[dst]


def unvisited(p, dst):
    """The target has not been reached yet."""
    return p.level[dst] == -1


def visit(p, src, dst):
    """The first edge to reach dst puts it into the next level."""
    return unvisited(p, dst) and fr.atomic_cas(p.level, dst, -1, p.depth) == -1


def tight(p, src, dst, weight):
    """One for an edge that dst waits for."""
    return 1 if is_tight(p, src, dst, weight) else 0


def arrive(p, src, dst, weight):
    """Let dst wait for one edge less."""
    if not is_tight(p, src, dst, weight):
        return False
    fr.atomic_add(p.waiting, dst, -1)
    return True


def ready(p, v):
    """V does not wait any more."""
    return p.waiting[v] == 0


def is_lost(p, v):
    """V has been reached, but by an edge that left the distance as it was."""
    return 1 if p.distance[v] < p.unreached and p.sigma[v] == 0 else 0


def either(p):
    """Whether that was so from any source."""
    return max(p.lost, p.lost_now)


# -- numbers of paths ---------------------------------------------------------------------------


def paths(p, src, dst):
    """The number of paths to src in the unit of dst; what is beyond 512 bits of the sum is 0."""
    apart = p.top[dst] - p.exponent[src]
    return p.sigma[src] if apart == 0 else p.sigma[src] * SHRINK if apart == 1 else 0.0


def count_paths(p, v):
    """Set the number of paths to v, in a greater unit if need be."""
    large = p.sum[v] >= UNIT
    p.sigma[v] = p.sum[v] * SHRINK if large else p.sum[v]
    p.exponent[v] = p.top[v] + 1 if large else p.top[v]


def along(p, src, dst):
    """The dependency on an edge that leads onward."""
    share = p.sigma[src] / p.sigma[dst]
    for _ in range(min(p.exponent[dst] - p.exponent[src], 3)):  # then it is 0
        share *= SHRINK
    return share * (p.end[dst] + p.delta[dst])


def exponent(p, src, dst):
    """The unit of the number of paths to a nearer vertex."""
    return p.exponent[src] if leads_onward(p, src, dst) else -1


def exponent_by_weight(p, src, dst, weight):
    """The same by weights."""
    return p.exponent[src] if is_tight(p, src, dst, weight) else -1


def nearer(p, src, dst):
    """The number of paths to a nearer vertex."""
    return paths(p, src, dst) if leads_onward(p, src, dst) else 0.0


def nearer_by_weight(p, src, dst, weight):
    """The same by weights."""
    return paths(p, src, dst) if is_tight(p, src, dst, weight) else 0.0


# -- dependencies -------------------------------------------------------------------------------


def dependency(p, src, dst):
    """The dependency of the source on an edge."""
    return along(p, src, dst) if leads_onward(p, src, dst) else 0.0


def dependency_by_weight(p, src, dst, weight):
    """The same by weights."""
    return along(p, src, dst) if is_tight(p, src, dst, weight) else 0.0


def add(p, v):
    """Add the dependency on v; that of a source on itself is how many targets it reaches, which are its own ends."""
    if p.sigma[v] > 0:
        p.centrality[v] += p.ends * p.delta[v] if is_source(p, v) else p.delta[v] + p.ends * p.end[v]


def add_edge(p, src, dst, edge):
    """Add the dependency on an edge."""
    p.through[edge] += dependency(p, src, dst)


def add_edge_by_weight(p, src, dst, weight, edge):
    """The same by weights."""
    p.through[edge] += dependency_by_weight(p, src, dst, weight)


@lru_cache(maxsize=4)  # compiled code is found by its step
def program(weighted: bool, edges: bool) -> type[fr.Enactor]:
    """Return the program; it sums up dependencies on edges, or on vertices."""
    count = (
        fr.Gather(exponent_by_weight if weighted else exponent, "max", into="top"),
        fr.Gather(nearer_by_weight if weighted else nearer, "sum", into="sum"),
        fr.Compute(count_paths),
    )
    back = fr.Gather(dependency_by_weight if weighted else dependency, "sum", into="delta", edges="out", inplace=True)
    if weighted:
        out: tuple[Any, ...] = (
            fr.Sequence(
                fr.Filter(begin_by_weight), fr.Loop(fr.Advance(relax), order=fr.by("distance")), over="vertices"
            ),
            fr.Gather(tight, "sum", into="waiting", over="vertices"),
            fr.Sequence(
                fr.Filter(is_source),
                fr.Loop(fr.Advance(arrive), fr.Filter(ready), *count, record="levels"),
                over="vertices",
            ),
            fr.Reduce(is_lost, "max", into="lost_now", over="vertices"),
            fr.Set(lost=either),
        )
    else:
        search = fr.Advance(visit, where=unvisited, unique="claimed")
        loop = fr.Loop(search, *count, count="depth", record="levels")
        out = (fr.Set(depth=0), fr.Sequence(fr.Filter(begin), loop, over="vertices"))
    if edges:
        last = fr.Compute(add_edge_by_weight if weighted else add_edge, over="edges")
    else:
        last = fr.Compute(add, over="vertices")
    whole = fr.Loop(*out, fr.Loop(back, replay="levels"), last, times="turns", count="turn")
    kind = ("Weighted" if weighted else "Scaled") + ("EdgeBetweenness" if edges else "Betweenness")
    return type(kind, (fr.Enactor,), {"loop": whole})


def fields(g: fr.Graph, weighted: bool, edges: bool, end: Any = 1, ends: bool = False) -> dict[str, Field]:
    """Return the fields; ``end`` is 1 for targets and 0 for others, ``ends`` whether ends of paths count."""
    made: dict[str, Field] = {
        "sigma": fr.vertex("float64"),
        "exponent": fr.vertex("int32"),
        "top": fr.vertex("int32"),
        "sum": fr.vertex("float64"),
        "delta": fr.vertex("float64"),
        "end": fr.vertex("int8", end),
        "ends": fr.scalar("float64", float(ends)),
    }
    if edges:
        made["through"] = fr.edge("float64")
    else:
        made["centrality"] = fr.vertex("float64")
    if not weighted:
        return made | {"level": fr.vertex("int32", -1, combine="min"), "depth": fr.scalar("int32")}
    dtype = _dtype(g, None)
    return made | {
        "distance": fr.vertex(dtype, unreached(dtype), combine="min"),
        "unreached": fr.scalar(dtype, unreached(dtype)),
        "waiting": fr.vertex("int32", combine="sum"),
        "lost": fr.scalar("int64"),
        "lost_now": fr.scalar("int64"),
    }


def check_positive(g: fr.Graph) -> None:
    """Raise an error unless there are weights, and all are positive."""
    if g.weights is None:
        raise GraphError("weighted=True, but the graph has no weights")
    check_lengths(g)
    if g.min_weight is not None and not g.min_weight > 0:
        raise GraphError(
            f"betweenness needs positive weights, and the least is {g.min_weight}: along edges of weight 0 there may "
            "be infinitely many shortest paths"
        )


def check_sums(lost: Any) -> None:
    """Raise an error if a distance was so large that a weight was lost in rounding."""
    if lost:
        raise GraphError(
            "betweenness needs weights that are less different: along some shortest path the distance plus the next "
            "weight is rounded to the distance, as 1e20 + 1 is to 1e20; use integers"
        )
