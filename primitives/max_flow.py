"""Maximum flow and minimum cut by push-relabel, in synchronous passes.

A preflow lets a vertex receive more than it passes on; the difference is its excess. Labels are lower bounds of the
distance to the sink in the residual graph, whose edges are those with capacity to spare. A vertex with excess pushes
along residual edges to vertices whose label is lower by one, and when there is none, it gets a higher label (Goldberg,
Tarjan: A new approach to the maximum-flow problem, Journal of the ACM 35, 1988).

All vertices with excess do so at the same time. They push by the labels of the beginning of the pass, so of the two
directions of an edge at most one is pushed along, and labels are changed after that (Baumstark, Blelloch, Shun:
Efficient implementation of a synchronous parallel push-relabel algorithm, ESA 2015). Every few passes, searches from
the sink and from the source set all labels to exact distances, without which labels rise by ones (Cherkassky, Goldberg:
On implementing the push-relabel method for the maximum flow problem, 1997). In the end no vertex has excess, and what
cannot reach the sink in the residual graph is the source's side of a minimum cut.

Amounts are integers, which have the same sum in any order. Sums of floats depend on the order of concurrent pushes: a
vertex might keep an excess of 1e-17 for ever, and an edge as much to spare, which moves the cut. So capacities that are
floats are made multiples of a power of two first, as fine as 64 bits permit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError, NegativeWeightError
from frontier.primitives._arguments import named
from frontier.primitives._oriented import _superfluous, at_hand
from frontier.primitives._tables import in_one_piece
from frontier.program.taking import at_graph
from frontier.registry import Argument, primitive

__all__ = ["MaxFlowResult", "PushRelabel", "max_flow"]

#: Passes between two searches that set labels to distances.
PASSES = 32


def saturate(p, edge, dst):
    """Push as much as possible along an edge that leaves the source."""
    amount = p.residual[edge]
    p.residual[edge] = 0
    fr.atomic_add(p.residual, p.reverse[edge], amount)
    fr.atomic_add(p.excess, dst, amount)


def unlabel(p, v):
    """Labels of the sink and the source are 0 and n; 2n stands for none."""
    p.label[v] = 0 if v == p.sink else p.n if v == p.source else 2 * p.n


def unlabelled(p, src):
    """The source of an edge has no label yet."""
    return p.label[src] == 2 * p.n


def back(p, src, dst, edge):
    """Label a vertex from which a residual edge leads to one with a label."""
    if p.residual[edge] == 0:
        return False
    return fr.atomic_cas(p.label, src, 2 * p.n, p.label[dst] + 1) == 2 * p.n


def active(p, v):
    """V has excess to push."""
    return p.excess[v] > 0 and v != p.sink and v != p.source and p.label[v] < 2 * p.n


def push(p, v):
    """Push excess to vertices whose label is lower by one."""
    rest = p.excess[v]
    for e in fr.neighbours(p, v):
        spare = p.residual[e]
        u = fr.target(p, e)
        if spare > 0 and p.label[v] == p.label[u] + 1:
            amount = min(rest, spare)
            fr.atomic_add(p.residual, e, -amount)
            fr.atomic_add(p.residual, p.reverse[e], amount)
            fr.atomic_add(p.excess, u, amount)
            fr.atomic_add(p.excess, v, -amount)
            rest -= amount
            if rest == 0:
                break


def relabel(p, v):
    """Find the label at which v could push again, if it has excess left."""
    low = p.label[v]
    if p.excess[v] > 0:
        low = 2 * p.n
        for e in fr.neighbours(p, v):
            if p.residual[e] > 0:
                low = min(low, p.label[fr.target(p, e)] + 1)
    p.next[v] = low


def commit(p, v):
    """Take the new label."""
    p.label[v] = p.next[v]


def waiting(p, v):
    """1 for a vertex with excess to push."""
    return 1 if active(p, v) else 0


def settled(p):
    """No vertex has excess."""
    return p.waiting == 0


#: Set labels to distances to the sink; n more than those to the source, where the sink cannot be reached.
_DISTANCES = (
    fr.Compute(unlabel, over="vertices"),
    fr.Loop(fr.Advance(back, where=unlabelled, edges="in", unique="claimed"), over="sink"),
    fr.Loop(fr.Advance(back, where=unlabelled, edges="in", unique="claimed"), over="source"),
)


class PushRelabel(fr.Enactor):
    """Set labels to distances and push for some passes, until no vertex has excess."""

    loop = (
        fr.Advance(saturate, output=None, over="source"),
        fr.Loop(
            *_DISTANCES,
            fr.Loop(
                fr.Sequence(
                    fr.Filter(active), fr.Compute(push), fr.Compute(relabel), fr.Compute(commit), over="vertices"
                ),
                fr.Reduce(waiting, "sum", into="waiting", over="vertices"),
                times=PASSES,
                until=settled,
                count="passes",
            ),
            until=settled,
            count="rounds",
        ),
        *_DISTANCES,
    )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class MaxFlowResult(fr.Result, columns=("flow",), rows="slot"):
    """Result of :func:`max_flow`.

    Attributes
    ----------
    value : int or float
        The greatest amount that can flow from the source to the sink: the capacity of a minimum cut. A float if
        capacities are floats.
    flow : ndarray of int64 or float64, shape (m,)
        The flow along every edge slot of g. Of two edges in opposite directions at most one has a flow.
    cut : ndarray of bool, shape (n,)
        Whether v is on the source's side of a minimum cut, of several the one where this side is largest. Edges
        from there to the other side are full.
    """

    value: int | float
    flow: NDArray[Any]
    cut: NDArray[Any]

    def table_columns(self, rows: slice) -> dict[str, tuple[NDArray[Any], bool]]:
        """A row for each edge slot; with the flow, on which side of the cut its ends are."""
        table = super().table_columns(rows)
        cut = self.host_array("cut")
        return {**table, **{f"{end}_side": (cut[table[end][0]], False) for end in ("source", "target")}}


@at_graph
def max_flow(g: fr.Graph, source: Any, sink: Any, *, schedule: fr.Schedule | None = None) -> MaxFlowResult:
    """Find a maximum flow from one vertex to another, and a minimum cut between them.

    Parameters
    ----------
    g : Graph
        Its weights are the capacities of edges: finite numbers that are not negative. An undirected edge has its
        capacity in both directions. Capacities of parallel edges add up. Those of self-loops, and of a directed graph's
        edges to the source or from the sink, do not matter. Floats are rounded down to multiples of a power of two, see
        below.
    source, sink : int or label
        Two different vertices; labels if the graph has labels.
    schedule : Schedule, optional

    Returns
    -------
    MaxFlowResult
        Value and cut are the same in every run; several flows may have this value.

    Raises
    ------
    GraphError
        If a vertex does not exist, source and sink are the same, or the graph has no weights, or weights that are
        infinite, or integers whose sum does not fit into 64 bits, or floats so far apart that small ones would be 0.
    NegativeWeightError
        If a weight is negative.

    Notes
    -----
    Capacities that are floats become integers: multiples of 2**(e + b - 62), rounded down, if all are less than 2**e
    and there are less than 2**b edge slots. Capacities of more than twice what can leave the source, or enter the sink,
    count as that, so large ones may stand for infinity, unless both are large. So of a million edges, less than 1e-12
    of the greatest capacity is lost by rounding each. The value is too small by less than one multiple for each edge of
    the cut; it is exact if all capacities are multiples, as halves and quarters are. None may round to 0.
    At most O(n²) passes, usually far fewer, each over all vertices and the edges of those with excess. The residual
    graph, which has every edge in both directions, once, is made first unless g is so: undirected, without self-loops
    and parallel edges. Of a graph in parts, every process makes it as a whole and computes the same with one thread; of
    several GPUs, the first computes.

    Examples
    --------
    >>> g = fr.from_edges(["a", "a", "b"], ["b", "c", "c"], [3, 1, 2], directed=True)
    >>> fr.max_flow(g, "a", "c").value
    3
    """
    start, end = g.vertex_id(source), g.vertex_id(sink)
    if start == end:
        raise GraphError(f"source and sink of a flow are the same: vertex {start}")
    if g.weights is None:
        raise GraphError("a flow needs capacities as weights, and the graph has none")
    here, schedule = in_one_piece(g, schedule)
    here, unit = _without_idle(at_hand(here), start, end), None
    _check_capacities(here)
    if here.weights is not None and here.weights.dtype.kind == "f":
        here, unit = _in_units(here, start, end)
    h = _residual(here)
    assert h.weights is not None
    p = fr.Problem(
        h,
        residual=fr.edge("int64", h.weights),
        reverse=fr.edge(h.in_edges.dtype, h.in_edges),  # of a symmetric graph: the same edges, the other way
        excess=fr.vertex("int64"),
        label=fr.vertex("int64"),
        next=fr.vertex("int64"),
        n=fr.scalar("int64", g.num_vertices),
        source=fr.scalar("int64", start),
        sink=fr.scalar("int64", end),
        waiting=fr.scalar("int64"),
        passes=fr.scalar("int64"),
        rounds=fr.scalar("int64"),
    )
    PushRelabel(p, schedule).run()
    value, flow, cut = int(p.excess[end]), _flow(here, h, p.residual), p.label >= g.num_vertices
    if unit is None:
        return MaxFlowResult(value, flow, cut)
    if not math.isfinite(value * unit):
        raise GraphError("the flow is larger than float64 holds: divide the capacities")
    return MaxFlowResult(value * unit, flow * unit, cut)


def _without_idle(g: fr.Graph, source: int, sink: int) -> fr.Graph:
    """Return the graph without capacity of self-loops, and of edges to the source and from the sink: none needs it.

    Of an undirected graph, whose edges lead both ways, only self-loops.
    """
    idle = g.sources == g.targets
    if g.directed:
        idle |= (g.targets == source) | (g.sources == sink)
    if g.weights is None or not idle.any() or g.min_weight < 0:
        return g
    weights = g.weights.copy()
    weights[idle] = 0
    return g.with_weights(weights)


def _check_capacities(g: fr.Graph) -> None:
    assert g.weights is not None
    if not g.num_slots:
        return
    if g.min_weight < 0:
        raise NegativeWeightError(f"a flow needs capacities that are not negative; the least is {g.min_weight}")
    if g.max_weight == np.inf:
        raise GraphError("a flow needs capacities that are finite; use one that is larger than the sum of the others")
    if g.weights.dtype.kind != "f" and int(g.max_weight) * g.num_slots >= 2**62:
        raise GraphError("the sum of these capacities may not fit into 64 bits")


def _in_units(g: fr.Graph, source: int, sink: int) -> tuple[fr.Graph, float]:
    """Return the graph with capacities as multiples of a power of two, rounded down, and that power."""
    assert g.weights is not None
    most, capacities = float(g.max_weight) if g.num_slots else 0.0, g.weights.astype(np.float64)
    with np.errstate(over="ignore"):  # infinity, then
        out = float(capacities[int(g.offsets[source]) : int(g.offsets[source + 1])].sum())
        into = float(capacities[g.targets == sink].sum())
    # No more than the less of both flows. An edge with room for twice that is never full, so it is in no minimum cut.
    if 0 < 2 * min(out, into) < most:
        most = 2 * min(out, into)
        capacities = g.placement.memory.xp.minimum(capacities, most)
    exponent = math.frexp(most)[1]  # capacities are less than 2**exponent
    unit = 2.0 ** max(exponent + g.num_slots.bit_length() - 62, -1074)
    units = (capacities / unit).astype(np.int64)
    if bool((units[capacities > 0] == 0).any()):
        raise GraphError(
            f"capacities up to {most:.3g} cannot be added to some below {unit:.3g} in 64 bits: leave out those, or use "
            "smaller ones for what is never full"
        )
    return g.with_weights(units), unit


def _residual(g: fr.Graph) -> fr.Graph:
    """Return the graph with every edge in both directions, once, with its capacity as weight; g itself, if it is so."""
    if g.symmetric and not _superfluous(g).any():
        return g
    xp = g.placement.memory.xp
    assert g.weights is not None
    src, dst = xp.concatenate([g.sources, g.targets]), xp.concatenate([g.targets, g.sources])
    capacity = xp.concatenate([g.weights.astype(np.int64), xp.zeros(g.num_slots, np.int64)])
    made = fr.from_edges(
        src, dst, capacity, num_vertices=g.num_vertices, directed=True, duplicates="sum", self_loops="drop"
    )
    return made.to(g.placement)


def _flow(g: fr.Graph, h: fr.Graph, residual: Any) -> Any:
    """Divide the flow of each pair of vertices among the edges of g between them, in the order of their slots."""
    xp, n = g.placement.memory.xp, g.num_vertices
    assert g.weights is not None
    assert h.weights is not None
    if not h.num_slots:
        return xp.zeros(g.num_slots, np.int64)
    flow = xp.maximum(h.weights.astype(np.int64) - residual, 0)
    if h is g:
        return flow
    places = h.sources.astype(np.int64) * n + h.targets
    slots = g.sources.astype(np.int64) * n + g.targets
    at = xp.minimum(xp.searchsorted(places, slots), h.num_slots - 1)
    capacity = xp.where(g.sources == g.targets, 0, g.weights.astype(np.int64))
    before = xp.cumsum(capacity) - capacity
    before -= before[xp.searchsorted(slots, slots)]  # of the first edge of the same pair
    return xp.where(g.sources == g.targets, 0, xp.clip(flow[at] - before, 0, capacity))


def _facts(g: fr.Graph, result: MaxFlowResult) -> dict[str, Any]:
    return {"value": result.value, "vertices on the side of the source": int(result.cut.sum())}


@primitive(
    "max_flow", "a maximum flow and a minimum cut",
    arguments=(
        Argument(
            "--sink", "label or id of the vertex to which it flows (default: the last, or the first if that is source)",
            type=str,
        ),
    ),
    report=_facts, takes_source=True, needs_weights=True, bench_options={"sink": 0},
)  # fmt: skip
def _on_command_line(g: fr.Graph, source: Any, *, sink: str | int | None = None) -> MaxFlowResult:
    """The flow to a vertex that is given by text, to the last one, or to the first if the last is the source."""
    last = g.num_vertices - 1
    if sink is None:
        end = last if g.vertex_id(source) != last else 0
    else:
        end = g.names.find_text(str(sink))
    return max_flow(g, source, named(g, end))
