"""Charts of how values are distributed, part of :mod:`frontier.plot`.

They do not show every vertex, but the sizes of groups, how many vertices each level has, or how many exceed each value.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.display import tables
from frontier.errors import FrontierError
from frontier.memory.arrays import to_host

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from frontier.graph.graph import Graph
    from frontier.graph.topology import Array

__all__ = ["COLOUR", "axes_for", "degrees", "distribution", "finite"]

#: Different integers at most of which each gets a bar.
BARS = 64

#: Columns of numbers that only tell groups apart.
GROUPS = ("label", "color")

#: Columns that say what a row belongs to.
ENDS = ("vertex", "source", "target")

COLOUR = "#3b6ea5"


def degrees(g: Graph, ax: Axes | None = None) -> Axes:
    """Plot how many vertices have at least each degree, of directed graphs by out- and in-edges.

    Parameters
    ----------
    g : Graph
    ax : matplotlib.axes.Axes, optional
        Where to draw; default: a figure of its own.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    BackendUnavailableError
        matplotlib is not installed.

    Examples
    --------
    >>> ax = fr.plot.degrees(fr.karate())
    """
    ax = axes_for(ax)
    for name, values in {"out": g.out_degree, "in": g.in_degree}.items() if g.directed else [("", g.out_degree)]:
        _exceeding(ax, to_host(values), label=f"{name}-edges")
    if g.directed:
        ax.legend(frameon=False)
    return _labelled(ax, "degree", "vertices with at least this degree", "Degrees")


def distribution(
    table: Mapping[str, Array], column: str | None = None, ax: Axes | None = None, title: str = ""
) -> Axes:
    """Plot how the values of a column are distributed.

    Parameters
    ----------
    table : mapping of str to ndarray
        The columns of a result.
    column : str, optional
        Which one; default: the first that holds numbers, bools or groups.
    ax : matplotlib.axes.Axes, optional
    title : str

    Raises
    ------
    FrontierError
        There is no such column, or it holds names.

    Examples
    --------
    >>> ax = fr.plot.distribution(fr.pagerank(fr.karate()).table(), "rank")
    """
    name = _chosen(table, column)
    values, rows = table[name], "vertices" if "target" not in table else "edges"
    ax = axes_for(ax)
    if name in GROUPS:
        sizes = np.sort(np.unique(values, return_counts=True)[1])[::-1]
        _curve(ax, np.arange(1, len(sizes) + 1), sizes, COLOUR)
        return _labelled(ax, f"{len(sizes):,} groups, the largest first", rows, title)
    values, missing = finite(values)
    note = f" ({missing:,} unreached)" if missing else ""
    kinds = np.unique(values) if values.dtype.kind in "iub" else values
    if values.dtype.kind in "iub" and len(kinds) <= BARS:
        _bars(ax, values)
        return _labelled(ax, f"{name}{note}", rows, title)
    if not len(values) or (values.min() >= 0 and values.max() > 0):
        _exceeding(ax, values)
        return _labelled(ax, f"{name}{note}", f"{rows} with at least this value", title)
    ax.hist(values, bins=50, color=COLOUR)
    ax.set_yscale("log")
    return _labelled(ax, f"{name}{note}", rows, title)


def _chosen(table: Mapping[str, Array], column: str | None) -> str:
    fitting = [
        name for name, values in table.items()
        if name not in ENDS and (values.dtype.kind in "iufb" or name in GROUPS)
    ]  # fmt: skip
    if column is None and fitting:
        return fitting[0]
    if column is None or column not in fitting:
        asked = "column to plot" if column is None else f"column of numbers {column!r}"
        raise FrontierError(f"there is no {asked}; there is {', '.join(fitting) or 'none'}")
    return column


def finite(values: Array) -> tuple[Array, int]:
    """Return the values that there are, and how many entries say that something cannot be reached."""
    if values.dtype.kind == "f":
        kept = values[np.isfinite(values)]
    elif values.dtype.kind == "i":
        kept = values[(values != -1) & (values != np.iinfo(values.dtype).max)]
    else:
        kept = values
    return kept, len(values) - len(kept)


def _bars(ax: Axes, values: Array) -> None:
    kinds, counts = np.unique(values, return_counts=True)
    if values.dtype.kind == "b":
        ax.bar([str(kind) for kind in kinds], counts, color=COLOUR)
        return
    ax.bar(kinds, counts, color=COLOUR)
    whole: Any = ax.xaxis.get_major_locator()
    whole.set_params(integer=True)


def _exceeding(ax: Axes, values: Array, label: str = "") -> None:
    """How many values are at least as large as each; on logarithmic axes, so those of 0 are left out."""
    ordered = np.sort(values[values > 0])
    first = np.concatenate(([True], ordered[1:] != ordered[:-1])) if len(ordered) else np.empty(0, bool)
    _curve(ax, ordered[first], len(ordered) - np.flatnonzero(first), None if label else COLOUR, label)


def _curve(ax: Axes, x: Array, y: Array, colour: str | None, label: str = "") -> None:
    draw = ax.loglog if len(x) else ax.plot  # no values have no logarithms
    draw(x, y, ".-", markersize=4, linewidth=1, color=colour, label=label)


def axes_for(ax: Axes | None, size: tuple[float, float] = (6.4, 4.0)) -> Axes:
    """Return the given axes, or those of a new figure."""
    if ax is not None:
        return ax
    tables.library("matplotlib", "matplotlib")
    shown = "matplotlib.pyplot" in sys.modules or "ipykernel" in sys.modules  # figures of pyplot appear by themselves
    module, name = ("matplotlib.pyplot", "figure") if shown else ("matplotlib.figure", "Figure")
    figure = getattr(importlib.import_module(module), name)(figsize=size, layout="constrained")
    made: Axes = figure.add_subplot()
    return made


def _labelled(ax: Axes, x: str, y: str, title: str) -> Axes:
    ax.set(xlabel=x, ylabel=y, title=title)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
