"""Single-source shortest paths with exact parents.

``SSSP`` is a loop of one Advance that processes near vertices first; see :mod:`frontier.operators.order.loops`. Parents
are found afterwards, from the distances. Only if distances are float32 and no weight is 0, they share a word with the
distance and are found by the search itself. Searches from several sources, within a distance or to a target have
programs of their own, in ``primitives/_limited_paths.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.primitives import _limited_paths, _packed
from frontier.primitives._arguments import check_lengths, check_number
from frontier.primitives._limited_paths import SSSPNearest, SSSPTo, SSSPWithin, with_delta
from frontier.primitives._parents import Parents, PushedParents, parents_of
from frontier.primitives._paths import path_of_ids, path_to, several, sources_of, unreached
from frontier.program.problem import Field
from frontier.program.taking import at_graph
from frontier.registry import Argument, Plan, primitive

__all__ = [
    "SSSP", "Parents", "PushedParents", "SSSPNearest", "SSSPResult", "SSSPTo", "SSSPWithin", "relax", "sssp",
    "sssp_problem",
]  # fmt: skip


def relax(p, src, dst, weight):
    """Try to shorten the distance of dst by the path through src."""
    new = p.distance[src] + weight
    return new < p.distance[dst] and new < fr.atomic_min(p.distance, dst, new)


class SSSP(fr.Enactor):
    """Distances from the source, near vertices first: delta-stepping (Meyer, Sanders: J. Algorithms 49, 2003)."""

    loop = fr.Loop(fr.Advance(relax), order=fr.by("distance"), over="source")


class SSSPAndParents(fr.Enactor):
    """The same, and a tree of shortest paths."""

    loop = (SSSP.loop, Parents.loop)


@at_graph
def sssp_problem(g: fr.Graph, source: int, dtype: Any = None, **fields: Field) -> fr.Problem:
    """Return the problem of a search before it begins; ``fields`` are additional fields for your own functors."""
    p = fr.Problem(g, **_fields(_dtype(g, dtype), g.id_dtype, source), **fields)
    p.distance[source] = 0
    p.parent[source] = source
    return p


def _fields(distances: np.dtype[Any], ids: np.dtype[Any], source: int) -> dict[str, Field]:
    return {
        "distance": fr.vertex(distances, unreached(distances), combine="min"),
        "parent": fr.vertex(ids, -1, combine="claim"),
        "unreached": fr.scalar("int64" if distances.kind == "i" else "float64", unreached(distances)),
        "source": fr.scalar(ids, source),
        "orphans": fr.scalar("int64", 0),
    }


def _dtype(g: fr.Graph, asked: Any) -> np.dtype[Any]:
    """Return the dtype of distances."""
    usual = np.dtype(np.int64 if g.weights is not None and g.weights.dtype.kind in "iu" else np.float64)
    if asked is None:
        return usual
    assert g.weights is not None
    try:
        made: np.dtype[Any] = np.dtype(asked)
    except TypeError:
        raise GraphError(f"dtype={asked!r}: there is no such dtype") from None
    if made != usual and not (made == np.float32 and g.weights.dtype == np.float32):
        raise GraphError(
            f"dtype={made}: distances by weights of {g.weights.dtype} are {usual}; float32 needs weights of float32"
        )
    return made


@dataclass(frozen=True, eq=False, repr=False)
class SSSPResult(fr.Result, columns=("distance", "parent"), ids=("parent",)):
    """Result of :func:`sssp`; entry v of an array belongs to vertex v.

    Attributes
    ----------
    source : int, or ndarray of int64, shape (k,)
        Vertex id, or the ids of several sources.
    distance : ndarray of float64, int64 or float32, shape (n,)
        Length of a shortest path from the (nearest) source; inf (for integers, the maximum of int64) if there is none.
    parent : ndarray of shape (n,), or None
        The vertex before v on such a path; -1 if there is none. A source is its own parent.
    target : int, optional
        Id of the vertex at which the search has stopped, or tried to.
    cutoff : int or float, optional
        The distance to which the search went: what is farther is unreached. None: it went as far as there are edges.
    """

    source: int | NDArray[Any]
    distance: NDArray[Any]
    parent: NDArray[Any] | None
    target: int | None = None
    cutoff: float | None = None

    @property
    def path(self) -> list[Any]:
        """The vertices of a shortest path to ``target``, as :meth:`path_to` returns them."""
        if self.target is None:
            raise GraphError("there is no target: call fr.sssp with target=, or path_to(vertex)")
        return self.names.of(path_of_ids(self._parents(), self.target))

    def path_to(self, vertex: Any) -> list[Any]:
        """Return the vertices of a shortest path from the (nearest) source to a vertex; empty if there is none.

        If the graph has labels, ``vertex`` is one, and the result consists of them. Otherwise they are ids.
        """
        return path_to(self._parents(), vertex, self.names)

    def _parents(self) -> NDArray[Any]:
        if self.parent is None:
            raise GraphError("there are no parents: call fr.sssp with parents=True")
        return self.parent


def _plan(g: fr.Graph) -> Plan:
    return Plan(_fields(_dtype(g, None), g.id_dtype, 0), [SSSP, parents_of(g, None)])


def _facts(g: fr.Graph, result: SSSPResult) -> dict[str, Any]:
    reached = result.distance < unreached(result.distance.dtype)
    found = {
        "source": result.source,
        "reached": int(np.count_nonzero(reached)),
        "farthest": result.distance[reached].max().item(),
        "slots": int(g.out_degree[reached].sum()),
    }
    if result.target is None or result.parent is None:
        return found
    return {**found, "path": result.path or "no path"}


@primitive(
    "sssp", "shortest paths by weight, and their tree",
    arguments=(
        Argument("--delta", "how far the limit moves on at a time (default: from the weights)"),
        Argument("--parents", "find the tree too (default: yes)", type=bool),
        Argument("--cutoff", "the greatest distance to go to (default: any)"),
        Argument("--target", "label or id of a vertex at which to stop", type=str, vertex=True),
    ),
    verify="sssp", report=_facts, takes_source=True, needs_weights=True,
    memory=_plan,
)  # fmt: skip
def sssp(
    g: fr.Graph,
    source: Any,
    *,
    target: Any = None,
    cutoff: float | None = None,
    delta: float | None = None,
    parents: bool = True,
    dtype: Any = None,
    schedule: fr.Schedule | None = None,
) -> SSSPResult:
    """Shortest paths from one vertex, or from several at once, by the weights of the edges.

    Parameters
    ----------
    g : Graph
        With weights that are not negative.
    source : int or label, or sequence of vertices, Frontier or mask
        The vertex to start from; a label if the graph has labels. Of several, distances are those from the nearest.
    target : int or label, optional
        Stop when a shortest path to this vertex is known. Vertices that are farther stay unreached.
    cutoff : float, optional
        Go no farther than this distance.
    delta : float, optional
        The delta of delta-stepping: the range of distances processed together, in units of the weights. It changes the
        time, not the result. By default it is computed from the graph and adapted during the run.
    parents : bool
        Whether to compute a tree of shortest paths, too.
    dtype : dtype, optional
        The dtype of distances. ``"float32"`` is possible if weights are float32; it takes less time, but every sum is
        rounded to 24 bits.
    schedule : Schedule, optional

    Returns
    -------
    SSSPResult
        With integer weights, distances are int64 and exact. Otherwise they are float64, unless ``dtype`` is float32.
        With a target, its ``path`` holds the vertices of a shortest path.

    Raises
    ------
    GraphError
        If a source or the target does not exist, there is no source, the graph has no weights, ``dtype`` does not fit
        them, or ``cutoff`` is negative.
    NegativeWeightError
        If a weight is negative.

    Notes
    -----
    The work depends on ``delta``: with a small one it is close to that of Dijkstra's algorithm, with a large one close
    to that of the Bellman-Ford algorithm. All shortest paths: :func:`frontier.predecessors`. Negative weights:
    :func:`frontier.bellman_ford`.

    Examples
    --------
    >>> g = fr.from_edges(["ann", "ann", "cid"], ["bob", "cid", "bob"], [5, 1, 2])
    >>> fr.sssp(g, "ann", target="bob").path
    ['ann', 'cid', 'bob']
    >>> fr.sssp(g, ["ann", "bob"], cutoff=1).path_to("cid")
    ['ann', 'cid']
    """
    limited = target is not None or cutoff is not None or several(g, source)
    start = 0 if limited else g.vertex_id(source)
    if g.weights is None:
        raise GraphError("shortest paths need weights, and the graph has none; for numbers of edges use fr.bfs")
    check_lengths(g)
    if delta is not None:
        delta = check_number("delta", delta, lambda x: x > 0, "it must be positive")
    if limited:
        found = _limited(g, source, target, cutoff, delta, dtype, schedule)
        return found if parents else replace(found, parent=None)
    if parents and _packed.may_pack(g, _dtype(g, dtype)):
        p = sssp_problem(g, start, dtype, **_packed.FIELDS)
        p.best[start] = start  # at a distance of 0
        with_delta(_packed.PackedSSSP, delta)(p, schedule).run()
        missing = _packed.stands_still(g, float(p.top))
        if missing:
            p.parent[:] = -1
            p.parent[start] = start
    else:
        # GPUs have all distances at the end of a run: they would give back their own, and take all again for parents.
        joined = parents and g.placement.divides and g.symmetric and not g.traits.short_lists
        p = sssp_problem(g, start, dtype)
        with_delta(SSSPAndParents if joined else SSSP, delta)(p, schedule).run()
        missing = parents and not joined
    if missing:
        enactor, pushed = parents_of(g, schedule)
        enactor(p, pushed).run()
    return SSSPResult(start, p.distance, p.parent if parents else None)


def _limited(
    g: fr.Graph, source: Any, target: Any, cutoff: Any, delta: float | None, dtype: Any, schedule: fr.Schedule | None
) -> SSSPResult:
    """Search from several sources, or not everywhere."""
    given, starts = sources_of(g, source)
    end = None if target is None else g.vertex_id(target)
    lengths = _dtype(g, dtype)
    limit: float | None = None
    if cutoff is not None:
        limit = check_number("cutoff", cutoff, lambda x: x >= 0, "it must not be negative")
        if lengths.kind == "i":
            limit = int(min(cutoff, 2**62))  # lengths of paths are less
    fields = _fields(lengths, g.id_dtype, 0)
    distance, parent, limit = _limited_paths.search(g, starts, end, limit, fields, delta, schedule)
    return SSSPResult(given, distance, parent, end, limit)
