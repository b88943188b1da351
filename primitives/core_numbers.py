"""Core numbers: the largest k for which a vertex belongs to the k-core, in which every vertex has k neighbours.

Peeling removes the vertices of least degree, and with them those whose degree falls to it meanwhile; their core number
is that degree. It then goes on with the rest (Matula, Beck: Smallest-last ordering and clustering and graph coloring
algorithms, Journal of the ACM 30, 1983; Batagelj, Zaversnik: An O(m) algorithm for cores decomposition of networks,
2003). All vertices of the least degree are removed in one pass, as in ParK (Dasari, Desh, Zubair: ParK: an efficient
algorithm for k-core decomposition on multicore processors, IEEE Big Data 2014). Degrees are not lowered below the
current k, so in the end they are the core numbers, and whoever lowers one to k brings that vertex into the next pass.

Degrees of a directed graph are in-degree plus out-degree, as in NetworkX and igraph: two vertices with edges in both
directions are two parallel edges to this program.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.primitives._core_numbers_divided import CoreNumbersDivided
from frontier.primitives._oriented import at_hand, simple
from frontier.registry import Argument, primitive

__all__ = ["CoreNumbers", "CoreNumbersResult", "core_numbers"]

#: How two edges in opposite directions may count.
RECIPROCAL = ("twice", "once")

#: The key of vertices that have been removed.
NOTHING = 2**62


def left(p, v):
    """The degree of v, if v has not been removed."""
    return p.degree[v] if p.degree[v] > p.k else NOTHING


def stays(p, v):
    """V is not removed for this k, nor was it for a smaller one."""
    return p.degree[v] > p.k


def least(p, v):
    """V has the least degree, and was not removed before."""
    return p.degree[v] == p.k


def loosen(p, dst):
    """Lower the degree of dst by one, but not below k; true if it falls to k, so that dst is removed as well."""
    if p.degree[dst] <= p.k:
        return False
    before = fr.atomic_add(p.degree, dst, -1)
    if before <= p.k:  # others were faster
        fr.atomic_add(p.degree, dst, 1)
    return before == p.k + 1


def core(p, v):
    """The core number of v."""
    return p.degree[v]


class CoreNumbers(fr.Enactor):
    """For each k that is a least degree, remove vertices pass after pass; the frontier contains those that stay."""

    loop = (
        fr.Loop(
            fr.Reduce(left, "min", into="k"),
            fr.Split(stays, rest="thin"),
            fr.Loop(fr.Filter(least), fr.Loop(fr.Advance(loosen, unique="claimed")), take="thin"),
            over="vertices",
        ),
        fr.Reduce(core, "max", into="k", over="vertices"),
    )


@dataclass(frozen=True, eq=False, repr=False)
class CoreNumbersResult(fr.Result, columns=("core",), keeps_graph=True):
    """Result of :func:`core_numbers`.

    Attributes
    ----------
    core : ndarray, shape (n,)
        The core number of v, in the dtype of vertex ids. The k-core consists of the vertices with ``core >= k``.
    degeneracy : int
        The largest core number; 0 if there is no vertex.
    """

    core: NDArray[Any]
    degeneracy: int

    def subgraph(self, k: int | None = None) -> fr.Graph:
        """Return the k-core as a graph: the vertices with ``core >= k`` and all edges between them.

        Parameters
        ----------
        k : int, optional
            Default: the degeneracy, which gives the innermost core.

        Raises
        ------
        GraphError
            If the graph is in parts.
        """
        return self.input_graph.induced(self.core >= (self.degeneracy if k is None else k))

    def shell(self, k: int | None = None) -> fr.Graph:
        """Return the k-shell as a graph: the vertices with ``core == k`` and all edges between them.

        Parameters
        ----------
        k : int, optional
            Default: the degeneracy.

        Raises
        ------
        GraphError
            If the graph is in parts.
        """
        return self.input_graph.induced(self.core == (self.degeneracy if k is None else k))


@primitive(
    "core_numbers", "core numbers of the vertices",
    arguments=(
        Argument("--reciprocal", "how edges in both directions count (default: twice)", type=str, choices=RECIPROCAL),
    ),
    report=lambda g, r: {"degeneracy": r.degeneracy, "in the innermost core": int((r.core == r.degeneracy).sum())},
)  # fmt: skip
def core_numbers(
    g: fr.Graph, *, reciprocal: str = "twice", schedule: fr.Schedule | None = None
) -> CoreNumbersResult:
    """Compute the core number of every vertex.

    The k-core is the largest subgraph in which every vertex has at least degree k. In a directed graph, degrees are
    in-degree plus out-degree, as in NetworkX and igraph.

    Parameters
    ----------
    g : Graph
        Parallel edges count as one, and self-loops not at all. A graph that has any of these, or is directed, is first
        copied without them.
    reciprocal : {"twice", "once"}
        How two edges in opposite directions count in a directed graph: ``twice`` in the degrees of both vertices, or
        ``once``, as one edge of the graph without directions.
    schedule : Schedule, optional

    Returns
    -------
    CoreNumbersResult

    Raises
    ------
    GraphError
        If ``reciprocal`` is something else.

    Notes
    -----
    O(m + nk) work, where k is the largest core number, and one pass for each set of vertices that is removed at once.

    Examples
    --------
    >>> fr.core_numbers(fr.from_edges([0, 1, 2, 2], [1, 2, 0, 3])).core
    array([2, 2, 2, 1], dtype=int32)
    """
    if reciprocal not in RECIPROCAL:
        raise GraphError(f"reciprocal={reciprocal!r}: choose from {', '.join(RECIPROCAL)}")
    plain = _both_ways(g) if g.directed and reciprocal == "twice" else simple(g)
    dtype, divides = plain.id_dtype, plain.placement.divides
    given = {"degree": fr.vertex(dtype, plain.out_degree, combine="sum"), "k": fr.scalar("int64", 0 if divides else -1)}
    if divides:
        p = fr.Problem(plain, core=fr.vertex(dtype, -1), least=fr.scalar("int64"), **given)
    else:
        p = fr.Problem(plain, thin=fr.pile(), **given)
    if g.num_vertices:
        (CoreNumbersDivided if divides else CoreNumbers)(p, schedule).run()
    return CoreNumbersResult(p.core if divides else p.degree, max(int(p.k), 0))


def _both_ways(g: fr.Graph) -> fr.Graph:
    """Return a directed graph without directions and self-loops; opposite edges become parallel, and others are one."""
    here, n = at_hand(g), g.num_vertices
    arcs = fr.from_edges(here.sources, here.targets, num_vertices=n, directed=True, self_loops="drop")
    return fr.from_edges(arcs.sources, arcs.targets, num_vertices=n, duplicates="keep").to(g.placement)
