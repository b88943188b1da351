"""Betweenness in general: by weights, towards some targets, of edges, and where paths are more than float64 counts.

An edge leads *onward* if it is the last one of a shortest path to its target: that is one level farther, or by weights
as much farther as the edge is long. These edges form an acyclic graph, whose levels are processed one by one, outwards
to count paths and backwards for dependencies. By weights, a level consists of the vertices all of whose edges from
nearer vertices have been seen (Kahn: Topological sorting of large networks, 1962).

The number of shortest paths to v, sigma, is a word: its lower 40 bits are a fraction from 1/2 to 1, the others an
exponent of two, which a float64 has no room for. A reduction of its own adds such words, rounding by 2**-40 at most.
Dependencies need only ratios of two such numbers, which are at most 1:

    delta(v) = sum over edges (v, w) that lead onward of sigma(v) / sigma(w) * (end(w) + delta(w)),

where end(w) is 1 if w is a target, else 0. What is summed is the dependency on the edge itself.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

import frontier as fr
from frontier.errors import GraphError
from frontier.operators.shared.reductions import Reduction
from frontier.primitives._arguments import check_lengths
from frontier.primitives._paths import unreached
from frontier.primitives.sssp import _dtype, relax

if TYPE_CHECKING:
    from frontier.program.problem import Field

__all__ = ["check_positive", "check_sums", "fields", "program"]

#: Bits of the fraction of a number of paths, those bits, the number 1, and what stands for too large numbers.
BITS = 40
FRACTION = (1 << BITS) - 1
ONE = 1 << (BITS - 1)
MORE = 62 - BITS  #: Bits more that a sum has before it is rounded.
MOST = (1 << 63) - 1


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
    p.sigma[v] = ONE if source else 0
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


def add_paths(total, value):
    """Add two numbers of paths, and round the sum once, to the nearest: where that is not unique, to an even one."""
    large = max(total, value)
    small = min(total, value)
    apart = (large >> BITS) - (small >> BITS)
    if small == 0 or apart > BITS:
        return large
    sum = ((large & FRACTION) << MORE) + (((small & FRACTION) << MORE) >> apart)
    more = MORE + (sum >> (BITS + MORE))
    fraction = (sum + (1 << (more - 1)) - 1 + ((sum >> more) & 1)) >> more
    exponent = (large >> BITS) + more - MORE
    if fraction > FRACTION:  # rounded to a power of two
        fraction >>= 1
        exponent += 1
    return exponent << BITS | fraction if exponent < MOST >> BITS else MOST


#: The sum of numbers of paths.
PATHS = Reduction("paths", add_paths, lambda dtype: 0, kinds="i", exact="")


def along(p, src, dst):
    """The dependency on an edge that leads onward."""
    if p.sigma[dst] == MOST:
        return np.nan  # which the caller finds
    share = (p.sigma[src] & FRACTION) / (p.sigma[dst] & FRACTION)
    apart = min((p.sigma[dst] >> BITS) - (p.sigma[src] >> BITS), 1100)  # then it is 0
    for _ in range(apart >> 5):
        share *= 2.0**-32
    for _ in range(apart & 31):
        share *= 0.5
    return share * (p.end[dst] + p.delta[dst])


def nearer(p, src, dst):
    """The number of paths to a nearer vertex."""
    return p.sigma[src] if leads_onward(p, src, dst) else 0


def nearer_by_weight(p, src, dst, weight):
    """The same by weights."""
    return p.sigma[src] if is_tight(p, src, dst, weight) else 0


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
    count = fr.Gather(nearer_by_weight if weighted else nearer, PATHS, into="sigma", inplace=True)
    back = fr.Gather(dependency_by_weight if weighted else dependency, "sum", into="delta", edges="out", inplace=True)
    if weighted:
        out: tuple[Any, ...] = (
            fr.Sequence(
                fr.Filter(begin_by_weight), fr.Loop(fr.Advance(relax), order=fr.by("distance")), over="vertices"
            ),
            fr.Gather(tight, "sum", into="waiting", over="vertices"),
            fr.Sequence(
                fr.Filter(is_source),
                fr.Loop(fr.Advance(arrive), fr.Filter(ready), count, record="levels"),
                over="vertices",
            ),
            fr.Reduce(is_lost, "max", into="lost_now", over="vertices"),
            fr.Set(lost=either),
        )
    else:
        search = fr.Advance(visit, where=unvisited, unique="claimed")
        loop = fr.Loop(search, count, count="depth", record="levels")
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
        "sigma": fr.vertex("int64"),
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


def check_sums(found: Any, lost: Any) -> None:
    """Raise an error if there were too many paths, or a distance was so large that a weight was lost in rounding."""
    if not np.isfinite(found).all():
        raise GraphError(f"there are more than 2**{MOST >> BITS} shortest paths between two vertices")
    if lost:
        raise GraphError(
            "betweenness needs weights that are less different: along some shortest path the distance plus the next "
            "weight is rounded to the distance, as 1e20 + 1 is to 1e20; use integers"
        )
