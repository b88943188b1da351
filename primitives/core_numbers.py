"""Core numbers: the largest k for which a vertex belongs to the k-core, in which every vertex has k neighbours.

Peeling removes the vertices of least degree, and with them those whose degree falls to it meanwhile; their core number
is that degree. It then goes on with the rest (Matula, Beck: Smallest-last ordering and clustering and graph coloring
algorithms, Journal of the ACM 30, 1983; Batagelj, Zaversnik: An O(m) algorithm for cores decomposition of networks,
2003). All vertices of the least degree are removed in one pass, as in ParK (Dasari, Desh, Zubair: ParK: an efficient
algorithm for k-core decomposition on multicore processors, IEEE Big Data 2014). A loop with an exact order does just
that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import frontier as fr
from frontier.primitives._oriented import simple
from frontier.program.taking import at_graph
from frontier.registry import PrimitiveEntry, register_primitive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.graph.graph import Graph
    from frontier.program.schedule import Schedule

__all__ = ["CoreNumbers", "CoreNumbersResult", "core_numbers"]


def highest(p):
    """Return the current k: the largest of the least degrees so far."""
    return max(p.k, p.least)


def settle(p, v):
    """Remove v; its core number is the current k."""
    p.core[v] = p.k


def standing(p, dst):
    """The target has not been removed yet."""
    return p.core[dst] == -1


def loosen(p, dst):
    """Lower the degree of dst by one; true, because its key has changed."""
    fr.atomic_add(p.degree, dst, -1)
    return True


class CoreNumbers(fr.Enactor):
    """Remove the vertices of least degree, pass after pass."""

    loop = fr.Loop(
        fr.Set(k=highest),
        fr.Compute(settle),
        fr.Advance(loosen, where=standing),
        order=fr.by("degree", exact=True, into="least"),
        over="vertices",
    )


@dataclass(frozen=True)
class CoreNumbersResult:
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


@at_graph
def core_numbers(g: Graph, *, schedule: Schedule | None = None) -> CoreNumbersResult:
    """Compute the core number of every vertex.

    The k-core is the largest subgraph in which every vertex has at least k neighbours.

    Parameters
    ----------
    g : Graph
        The direction of edges does not matter, parallel edges count as one, and self-loops not at all. A graph that has
        any of these is first copied without them.
    schedule : Schedule, optional

    Returns
    -------
    CoreNumbersResult

    Notes
    -----
    O(m + nk) work, where k is the largest core number, and one pass for each set of vertices that is removed at once.
    """
    plain = simple(g)
    dtype = plain.id_dtype
    p = fr.Problem(
        plain,
        degree=fr.vertex(dtype, plain.out_degree, combine="sum"),
        core=fr.vertex(dtype, -1),
        k=fr.scalar("int64"),
        least=fr.scalar("int64"),
    )
    if g.num_vertices:
        CoreNumbers(p, schedule).run()
    return CoreNumbersResult(p.core, int(p.k))


def _facts(g: Graph, result: CoreNumbersResult) -> dict[str, Any]:
    return {"degeneracy": result.degeneracy, "in the innermost core": int((result.core == result.degeneracy).sum())}


register_primitive(
    PrimitiveEntry("core_numbers", core_numbers, "core numbers of the vertices", columns=("core",), report=_facts)
)
