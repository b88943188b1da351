"""Onion layers: in which pass a vertex falls off when a graph is peeled to its cores.

For each k, all vertices of degree k or less are removed at once, and that is a layer; the next layer are those of which
this leaves k neighbours or fewer, until there are none, and k rises (Hébert-Dufresne, Grochow, Allard: Multi-scale
structure and topological anomaly detection via a new network statistic: the onion decomposition, Scientific Reports 6,
2016). These are the passes of :mod:`frontier.primitives.core_numbers`, whose functors the program uses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.memory.arrays import to_host
from frontier.primitives._oriented import simple, undivided
from frontier.primitives.core_numbers import core, least, left, loosen, stays
from frontier.registry import primitive

__all__ = ["OnionLayers", "OnionLayersResult", "onion_layers"]


def following(p):
    """The number of the next layer."""
    return p.count + 1


def place(p, v):
    """Put v into this layer."""
    p.layer[v] = p.count


class OnionLayers(fr.Enactor):
    """The program of core numbers, which also counts its passes and writes that down for whom it removes."""

    loop = (
        fr.Loop(
            fr.Reduce(left, "min", into="k"),
            fr.Split(stays, rest="thin"),
            fr.Loop(
                fr.Filter(least),
                fr.Loop(fr.Set(count=following), fr.Compute(place), fr.Advance(loosen, unique="claimed")),
                take="thin",
            ),
            over="vertices",
        ),
        fr.Reduce(core, "max", into="k", over="vertices"),
    )


@dataclass(frozen=True, eq=False, repr=False)
class OnionLayersResult(fr.Result, columns=("layer", "core")):
    """Result of :func:`onion_layers`.

    Attributes
    ----------
    layer : ndarray, shape (n,)
        The layer of v, from 1, in the dtype of vertex ids.
    core : ndarray, shape (n,)
        The core number of v; a layer has vertices of one core number only.
    count : int
        Number of layers.
    """

    layer: NDArray[Any]
    core: NDArray[Any]
    count: int


def _facts(g: fr.Graph, result: OnionLayersResult) -> dict[str, Any]:
    sizes = np.bincount(to_host(result.layer))
    return {"layers": result.count, "vertices of the largest": int(sizes.max(initial=0))}


@primitive("onion_layers", "layers of vertices that peeling removes at once", report=_facts)
def onion_layers(g: fr.Graph, *, schedule: fr.Schedule | None = None) -> OnionLayersResult:
    """Divide the vertices into layers: peeling a graph to its cores removes one after the other.

    Parameters
    ----------
    g : Graph
        The direction of edges does not matter, parallel edges count as one, and self-loops not at all. A graph in parts
        is made whole, on processors, for this.
    schedule : Schedule, optional

    Returns
    -------
    OnionLayersResult

    Notes
    -----
    O(m + nk) work, where k is the largest core number, and one pass for each layer. Deterministic.

    Examples
    --------
    >>> fr.onion_layers(fr.path(5)).layer.tolist()
    [1, 2, 3, 2, 1]
    """
    plain = simple(undivided(g))
    ids = plain.id_dtype
    p = fr.Problem(
        plain,
        degree=fr.vertex(ids, plain.out_degree),
        layer=fr.vertex(ids),
        thin=fr.pile(),
        k=fr.scalar("int64", -1),
        count=fr.scalar("int64"),
    )
    if g.num_vertices:
        OnionLayers(p, schedule).run()
    return OnionLayersResult(p.layer, p.degree, int(p.count))
