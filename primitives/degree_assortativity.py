"""Degree assortativity: the correlation of the degrees at both ends of an edge.

It is Pearson's coefficient over all edges, of means and then central moments, which lose no digits however large
degrees are. (Newman: Mixing patterns in networks, Physical Review E 67, 2003; Foster et al.: Edge direction and the
structure of networks, PNAS 107, 2010, for directed graphs.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.registry import Argument, primitive

__all__ = ["DegreeAssortativityResult", "degree_assortativity"]

SIDES = ("out", "in")


def one(p, src, dst):
    """An edge counts once, a self-loop of an undirected graph at both of its ends."""
    return 1.0 + p.twice if src == dst else 1.0


def its_weight(p, src, dst, weight):
    """The same by weights."""
    return weight * (1.0 + p.twice) if src == dst else weight * 1.0


def first(p, src):
    """The degree at the source."""
    return p.x[src]


def second(p, dst):
    """The degree at the target."""
    return p.y[dst]


def mean_of_first(p):
    """Of all edges."""
    return p.sum_x / p.edges


def mean_of_second(p):
    """Of all edges."""
    return p.sum_y / p.edges


def square_of_first(p, src):
    """The square of the distance from the mean."""
    return (p.x[src] - p.mean_x) * (p.x[src] - p.mean_x)


def square_of_second(p, dst):
    """The same of the target."""
    return (p.y[dst] - p.mean_y) * (p.y[dst] - p.mean_y)


def product(p, src, dst):
    """The product of both distances."""
    return (p.x[src] - p.mean_x) * (p.y[dst] - p.mean_y)


@lru_cache(maxsize=8)  # compiled code is found by its step
def program(x: str, y: str, weighted: bool) -> type[fr.Enactor]:
    """Return the program for degrees of these sides."""
    count = its_weight if weighted else one
    loop = (
        fr.Gather(count, "sum", into="x", edges=x, over="vertices"),
        fr.Gather(count, "sum", into="y", edges=y, over="vertices"),
        fr.Reduce(first, "sum", into="sum_x", over="edges"),
        fr.Reduce(second, "sum", into="sum_y", over="edges"),
        fr.Set(mean_x=mean_of_first, mean_y=mean_of_second),
        fr.Reduce(square_of_first, "sum", into="square_x", over="edges"),
        fr.Reduce(square_of_second, "sum", into="square_y", over="edges"),
        fr.Reduce(product, "sum", into="product", over="edges"),
    )
    return type("DegreeAssortativity", (fr.Enactor,), {"loop": loop})


@dataclass(frozen=True, eq=False, repr=False)
class DegreeAssortativityResult(fr.Result, rows="other"):
    """Result of :func:`degree_assortativity`.

    Attributes
    ----------
    coefficient : float
        From -1 to 1; NaN without edges, or if all degrees at one side are the same.
    x, y : str
        Which degrees of the source and of the target.
    weighted : bool
    """

    coefficient: float
    x: str
    y: str
    weighted: bool

    def table_columns(self, rows: slice) -> dict[str, tuple[NDArray[Any], bool]]:
        """One row: the ``coefficient``."""
        return {"coefficient": (np.array([self.coefficient])[rows], False)}


def _facts(g: fr.Graph, result: DegreeAssortativityResult) -> dict[str, Any]:
    return {"assortativity": result.coefficient}


@primitive(
    "degree_assortativity", "correlation of the degrees at both ends of an edge",
    arguments=(
        Argument("--x", "which degree of the source (default: out)", type=str, choices=SIDES),
        Argument("--y", "which degree of the target (default: in)", type=str, choices=SIDES),
        Argument("--weighted", "add up weights of edges (default: count edges)", type=bool),
    ),
    report=_facts,
)  # fmt: skip
def degree_assortativity(
    g: fr.Graph, *, x: str = "out", y: str = "in", weighted: bool = False, schedule: fr.Schedule | None = None
) -> DegreeAssortativityResult:
    """Correlation of the degrees at both ends of an edge: whether vertices of high degree are neighbours of each other.

    Parameters
    ----------
    g : Graph
        An undirected edge counts in both directions, parallel edges separately, as in NetworkX; a self-loop of an
        undirected graph counts once, and adds 2 to the degree.
    x, y : {"out", "in"}
        The degree of the source, and of the target, in a directed graph.
    weighted : bool
        Whether a degree is the sum of the weights of the edges.
    schedule : Schedule, optional

    Returns
    -------
    DegreeAssortativityResult

    Raises
    ------
    GraphError
        If there is no such degree, or for ``weighted`` without weights.

    Notes
    -----
    O(n + m) work. The last bits depend on the order in which numbers are added.

    Examples
    --------
    >>> round(fr.degree_assortativity(fr.karate()).coefficient, 4)
    -0.4756
    """
    if x not in SIDES or y not in SIDES:
        raise GraphError(f"x={x!r}, y={y!r}: each is 'out' or 'in'")
    if weighted and g.weights is None:
        raise GraphError("weighted=True, but the graph has no weights")
    names = ("sum_x", "sum_y", "mean_x", "mean_y", "square_x", "square_y", "product")
    p = fr.Problem(
        g,
        x=fr.vertex("float64"),
        y=fr.vertex("float64"),
        twice=fr.scalar("float64", float(not g.directed)),
        edges=fr.scalar("float64", float(g.num_slots)),
        **{name: fr.scalar("float64") for name in names},
    )
    variance = 0.0
    if g.num_slots:
        sides = (x, y) if g.directed else ("out", "out")
        program(*sides, weighted)(p, schedule).run()
        variance = (float(p.square_x) * float(p.square_y)) ** 0.5
    return DegreeAssortativityResult(float(p.product) / variance if variance > 0 else float("nan"), x, y, weighted)
