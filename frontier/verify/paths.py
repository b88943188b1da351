"""Verifying shortest paths: BFS levels, SSSP distances, and the parents of both.

What is checked, and why it is enough, is said in :mod:`frontier.verify.lengths`.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.errors import GraphError, NegativeWeightError, VerificationError
from frontier.graph.moving import on_host
from frontier.verify.edges import lightest
from frontier.verify.lengths import Lengths
from frontier.verify.report import Checks, Report, examine, fail, matrix_field, number_field, vertex_field, vertex_list

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = ["bellman_ford", "bfs", "johnson", "sssp"]

ROUNDINGS = 64
"""Default tolerance of float distances, in units of the dtype's relative precision."""

JOHNSON = 1e-10
"""The same of distances by potentials."""


def bfs(g: Graph, result: Any) -> Report:
    """Check a breadth-first search: levels, and parents if there are any.

    Parameters
    ----------
    g : Graph
        n vertices, m edges.
    result : BFSResult
        ``source``, a vertex or a list of them; ``level`` (n,) integers, -1 for unreached; ``parent`` (n,) integers or
        None, -1 for unreached, the source its own. If it has a ``max_depth``, vertices that are farther are unreached.

    Returns
    -------
    Report
        True if the result passed; see its ``raise_if_failed()``.

    Notes
    -----
    The source has level 0; no edge spans more than one level upwards or leaves the reached part;
    every other reached vertex has an in-neighbour (its parent, where given) one level below. These
    imply that every level is exact: see :mod:`frontier.verify.lengths`. O(n + m) time, O(n) memory.

    Examples
    --------
    >>> g = fr.path(3)
    >>> result = fr.bfs(g, 0)
    >>> fr.verify.bfs(g, result).passed
    True
    >>> result.level[2] = 1
    >>> print(fr.verify.bfs(g, result))
    bfs: FAILED
      ok      the result has its fields, of the right shapes and dtypes
    ...
      FAILED  the edge from its parent gives every other vertex its level: parent[2] is 1, ...
    """
    return examine("bfs", _bfs, g, result, ("source", "level", "parent"))


def _bfs(g: Graph, result: Any, checks: Checks) -> None:
    n = g.num_vertices
    level = vertex_field(result, "level", n, "iu")
    wrong = (level < -1) | (level >= n)
    if wrong.any():
        v = int(np.argmax(wrong))
        fail(f"level[{v}] is {level[v]}, expected -1 (unreached) to {n - 1}")
    far = np.iinfo(np.int64).max
    length = np.where(level < 0, far, level.astype(np.int64))
    limit = _limit(result, "max_depth")
    Lengths(g, result, "level", level, length, weights=None, tolerance=0.0, limit=limit).check(checks)


def _limit(result: Any, name: str) -> float | None:
    """How far a search went, None if it was not limited."""
    limit: float | None = getattr(result, name, None)
    return None if limit is None or number_field(result, name) == np.inf else limit


def sssp(g: Graph, result: Any, tolerance: float | None = None) -> Report:
    """Check single-source shortest paths: distances, and parents if there are any.

    Parameters
    ----------
    g : Graph
        n vertices, m edges with weights >= 0; without weights each edge counts 1.
    result : SSSPResult
        ``source``, a vertex or a list of them; ``distance`` (n,) floats, inf for unreached, or integers, the dtype's
        maximum for unreached; ``parent`` (n,) integers or None, -1 for unreached, the source its own. If it has a
        ``cutoff``, vertices that are farther are unreached.
    tolerance : float, optional
        How far, relative to itself, a float distance may be from another distance plus the weight
        of one edge. Default: 64 roundings, 1.4e-14 for float64 and 7.6e-6 for float32. Integer
        distances are exact.

    Returns
    -------
    Report
        True if the result passed; see its ``raise_if_failed()``.

    Raises
    ------
    NegativeWeightError
        If an edge weight is negative: then the properties say nothing.
    GraphError
        If the tolerance is not from 0 to below 1.

    Notes
    -----
    The source has distance 0; no edge can be relaxed; every other reached vertex has an in-edge
    (from its parent, where given) that gives its distance; and support, or the parents, lead back
    to the source, past edges of weight zero too. These imply that every distance is right (a float
    one up to the tolerance for each edge of its path): see :mod:`frontier.verify.lengths`. O(n + m) time
    and O(n) memory; without parents, edges of weight zero take memory too, and a few array
    operations for each step of their longest chain.

    Examples
    --------
    >>> g = fr.from_edges([0, 1], [1, 2], [1.5, 2.0])
    >>> fr.verify.sssp(g, fr.sssp(g, 0)).passed
    True
    """
    if g.num_slots and g.min_weight is not None and g.min_weight < 0:
        raise NegativeWeightError(
            f"sssp: {lightest(on_host(g))}; shortest paths are verified for weights >= 0 only"
        )
    _check_tolerance(tolerance)

    def properties(g: Graph, result: Any, checks: Checks) -> None:
        _sssp(g, result, checks, tolerance)

    return examine("sssp", properties, g, result, ("source", "distance", "parent"))


def _sssp(g: Graph, result: Any, checks: Checks, tolerance: float | None) -> None:
    distance = vertex_field(result, "distance", g.num_vertices)
    wrong = distance < 0
    if wrong.any():
        v = int(np.argmax(wrong))
        fail(f"distance[{v}] is {distance[v]}, less than 0")
    _lengths(g, result, distance, tolerance, limit=_limit(result, "cutoff")).check(checks)


def _lengths(g: Graph, result: Any, distance: Any, tolerance: float | None, **options: Any) -> Lengths:
    """Distances by weights, with unreached vertices as far as can be."""
    if distance.dtype.kind == "u":
        fail(f"distance has dtype {distance.dtype}, expected floats or signed integers")
    length = distance
    if distance.dtype.kind == "i":
        tolerance = 0.0
        unreached = distance == np.iinfo(distance.dtype).max
        length = np.where(unreached, np.iinfo(np.int64).max, distance.astype(np.int64))
    elif tolerance is None:
        tolerance = ROUNDINGS * float(np.finfo(distance.dtype).eps)
    return Lengths(g, result, "distance", distance, length, g.weights, tolerance, **options)


def _check_tolerance(tolerance: float | None) -> None:
    if tolerance is not None and not 0 <= tolerance < 1:
        raise GraphError(f"tolerance must be from 0 to below 1, not {tolerance!r}")


def bellman_ford(g: Graph, result: Any, tolerance: float | None = None) -> Report:
    """Check shortest paths by weights that may be negative: distances, and parents if there are any.

    Parameters
    ----------
    g : Graph
        n vertices, m edges with weights.
    result : BellmanFordResult
        As for :func:`sssp`, but with distances below 0, too.
    tolerance : float, optional
        As for :func:`sssp`, relative to the two distances of an edge and the greatest weight.

    Returns
    -------
    Report
        True if the result passed; see its ``raise_if_failed()``.

    Raises
    ------
    GraphError
        If the tolerance is not from 0 to below 1.

    Notes
    -----
    The properties are those of :func:`sssp`. That no edge can be relaxed also implies that no cycle of negative weight
    can be reached. O(n + m) time.

    Examples
    --------
    >>> g = fr.from_edges([0, 1], [1, 2], [1.0, -2.0], directed=True)
    >>> fr.verify.bellman_ford(g, fr.bellman_ford(g, 0)).passed
    True
    """
    _check_tolerance(tolerance)

    def properties(g: Graph, result: Any, checks: Checks) -> None:
        distance = vertex_field(result, "distance", g.num_vertices)
        _lengths(g, result, distance, tolerance, signed=True).check(checks)

    return examine("bellman_ford", properties, g, result, ("source", "distance", "parent"))


def johnson(g: Graph, result: Any, tolerance: float | None = None) -> Report:
    """Check distances from many sources, by weights that may be negative: those of ``fr.johnson`` and ``fr.sssp_many``.

    Parameters
    ----------
    g : Graph
        n vertices, m edges with weights.
    result : SSSPManyResult
        ``source`` (k,) vertices; ``distance`` (k, n), a row for each of them, as for :func:`bellman_ford`.
    tolerance : float, optional
        As for :func:`bellman_ford`. Default: 1e-10, as potentials are rounded, too.

    Returns
    -------
    Report
        True if the result passed; see its ``raise_if_failed()``.

    Raises
    ------
    GraphError
        If the tolerance is not from 0 to below 1.

    Notes
    -----
    O(n + m) time for each source.

    Examples
    --------
    >>> g = fr.from_edges([0, 1], [1, 2], [1.0, -2.0], directed=True)
    >>> fr.verify.johnson(g, fr.johnson(g)).passed
    True
    """
    _check_tolerance(tolerance)

    def properties(g: Graph, result: Any, checks: Checks) -> None:
        sources = vertex_list(result, "source", g.num_vertices)
        distance = matrix_field(result, "distance", (len(sources), g.num_vertices))
        checks.begin("each row holds the lengths of shortest paths from its source")
        for source, row in zip(sources.tolist(), distance, strict=True):
            one = SimpleNamespace(source=source, parent=None)
            try:
                _lengths(g, one, row, JOHNSON if tolerance is None else tolerance, signed=True).check(Checks())
            except VerificationError as error:
                fail(f"from vertex {source}: {error}")

    return examine("johnson", properties, g, result, ("source", "distance"))
