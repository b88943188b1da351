"""Pictures of graphs and results, by matplotlib (``pip install matplotlib``).

Functions draw into the axes that they are given, or make a figure, and return the axes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frontier import registry
from frontier.charts import COLOUR, axes_for, degrees, distribution, finite
from frontier.display import tables
from frontier.errors import GraphError
from frontier.graph.moving import on_host
from frontier.memory.arrays import to_host
from frontier.program.taking import graph_of
from frontier.results import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from frontier.graph.graph import Graph

__all__ = ["degrees", "distribution", "graph", "layout"]

#: Vertices up to which a graph shows their names.
NAMED = 60

#: What vertices of small groups, and those without a value, look like.
GREY = "0.75"


def layout(g: Graph, *, seed: int = 0, iterations: int = 30, dimensions: int = 2, weighted: bool = False) -> Any:
    """Return places for vertices, (n, 2) or (n, 3) float64: the ``position`` of :func:`frontier.layout`.

    Examples
    --------
    >>> fr.plot.layout(fr.karate()).shape
    (34, 2)
    """
    laid_out = registry.primitives()["layout"].function
    return laid_out(g, seed=seed, iterations=iterations, dimensions=dimensions, weighted=weighted).position


def graph(
    g: Graph,
    position: Any = None,
    values: Any = None,
    *,
    groups: Any = None,
    sizes: Any = None,
    names: bool | None = None,
    edges: int = 100_000,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw the vertices and edges of a graph.

    Parameters
    ----------
    g : Graph
    position : array-like, shape (n, 2), or LayoutResult, optional
        Where vertices are; default: :func:`layout`. Of three coordinates, the first two are taken.
    values : array-like of numbers, shape (n,), or Result, optional
        They colour vertices by a scale, such as levels or ranks. What is unreached (-1, infinite or NaN) is grey.
        Of a result by vertex, as in the next two arguments, the first column is taken.
    groups : array-like, shape (n,), or Result, optional
        In place of values: labels of communities or components. The ten largest get colours, others are grey.
    sizes : array-like of numbers, shape (n,), or Result, optional
        Vertices of larger values are larger; none may be negative.
    names : bool, optional
        Whether to write names; default: up to 60 vertices.
    edges : int
        Edges that are drawn at most; of more, so many drawn at random. Directions and self-loops are not shown.
    title : str
    ax : matplotlib.axes.Axes, optional
        Where to draw; default: a figure of its own.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    GraphError
        If an array does not have one row for each vertex, values or sizes are no numbers, sizes or ``edges`` are
        negative, or both values and groups are given.
    BackendUnavailableError
        matplotlib is not installed.

    Examples
    --------
    >>> g = fr.karate()
    >>> ax = fr.plot.graph(g, groups=fr.louvain(g), sizes=fr.pagerank(g))
    """
    g = graph_of(g, "plot.graph")
    n = g.num_vertices
    if edges < 0:
        raise GraphError(f"edges={edges}: it must not be negative")
    if values is not None and groups is not None:
        raise GraphError("vertices are coloured by values or by groups, not by both")
    values, groups, sizes = (
        _column(name, given, n) for name, given in (("values", values), ("groups", groups), ("sizes", sizes))
    )
    if sizes is not None and n and not sizes.min() >= 0:
        raise GraphError(f"sizes must be numbers that are not negative, and the least is {sizes.min()}")
    ax = axes_for(ax, (7.0, 6.0))
    x = _places(g, position)
    _draw_edges(ax, x, _chosen(g, edges))
    area = np.full(n, min(60.0, max(15_000 / max(n, 1), 0.5)))
    if sizes is not None and n and sizes.max() > 0:
        area *= 0.3 + 5 * sizes / sizes.max()
    _draw_vertices(ax, x, area, values, groups)
    if n <= NAMED if names is None else names:
        for place, name in zip(x, g.names.column().tolist(), strict=True):
            ax.annotate(str(name), place, xytext=(0, 5), textcoords="offset points", ha="center", fontsize=8)
    ax.set(title=title, aspect="equal")
    ax.axis("off")
    return ax


def _column(name: str, given: Any, n: int) -> NDArray[Any] | None:
    if given is None:
        return None
    if isinstance(given, Result):
        if given.row_kind != "vertex":
            raise GraphError(f"{name}: a {type(given).__name__} has no entry for each vertex")
        given = given.host_array(given.first_column())
    found: NDArray[Any] = to_host(given)
    if found.shape != (n,):
        raise GraphError(f"{name} has shape {found.shape}, expected ({n},): one entry for each vertex")
    if name != "groups" and found.dtype.kind not in "biuf":
        raise GraphError(f"{name} must be numbers, not {found.dtype}; groups= takes names")
    return found


def _places(g: Graph, position: Any) -> NDArray[Any]:
    given = layout(g) if position is None else getattr(position, "position", position)
    found: NDArray[Any] = to_host(given)
    if found.ndim != 2 or len(found) != g.num_vertices or found.shape[1] < 2:
        raise GraphError(f"position has shape {found.shape}, expected ({g.num_vertices}, 2)")
    return found[:, :2]


def _chosen(g: Graph, most: int) -> NDArray[Any]:
    """Return the ends of the edges to draw, shape (k, 2), each once."""
    g = on_host(g)
    with g._topology.reading():
        sources, targets = np.asarray(g.sources), np.asarray(g.targets)
    slots = np.flatnonzero(sources != targets if g.directed else sources < targets)
    if len(slots) > most:
        slots = np.random.default_rng(0).choice(slots, most, replace=False)
    return np.stack((sources[slots], targets[slots]), axis=1)


def _draw_edges(ax: Axes, x: NDArray[Any], ends: NDArray[Any]) -> None:
    """Draw lines: the more there are, the thinner and the more transparent."""
    lines = tables.library("matplotlib.collections", "matplotlib").LineCollection
    number = max(len(ends), 1)
    width, alpha = min(max(20 / number**0.5, 0.1), 0.8), min(max(30 / number**0.5, 0.08), 0.8)
    ax.add_collection(lines(x[ends], colors="0.4", linewidths=width, alpha=alpha, zorder=1, rasterized=number > 5000))


def _draw_vertices(
    ax: Axes, x: NDArray[Any], area: NDArray[Any], values: NDArray[Any] | None, groups: NDArray[Any] | None
) -> None:
    scatter: Any = ax.scatter

    def dots(of: Any, **look: Any) -> Any:
        return scatter(*x[of].T, s=area[of], linewidths=0, zorder=2, rasterized=len(x) > 5000, **look)

    if values is not None:
        there = np.isin(values, finite(values)[0])
        dots(~there, color=GREY)
        found = dots(there, c=values[there].astype(float), cmap="viridis")
        if there.any():
            ax.figure.colorbar(found, ax=ax, shrink=0.7)
    elif groups is not None:
        kind, size = np.unique(groups, return_inverse=True, return_counts=True)[1:]
        place = np.argsort(np.argsort(-size, kind="stable"))[kind]
        dots(place >= 10, color=GREY)
        dots(place < 10, c=place[place < 10], cmap="tab10", vmin=0, vmax=9)
    else:
        dots(slice(None), color=COLOUR)
