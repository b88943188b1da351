"""What programs share that search from many vertices, 64 at a time: sources, fields, and counting bits.

The program is :class:`frontier.primitives.bfs_many.BFSMany`; others replace what it does where searches arrive.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr
from frontier.errors import GraphError
from frontier.generators.random_numbers import whole
from frontier.graph.labels import called
from frontier.graph.several import vertex_ids
from frontier.memory.arrays import to_host
from frontier.primitives._arguments import check_number
from frontier.program.problem import Field
from frontier.registry import Argument

__all__ = ["ABOUT", "chosen", "fields", "ones", "places", "run"]


def ones_of_half(x):
    """The number of ones in a word of 32 bits: in pairs, in fours, in eights, then their sum."""
    x = x - ((x >> 1) & 0x55555555)
    x = (x & 0x33333333) + ((x >> 2) & 0x33333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F
    return ((x * 0x01010101) >> 24) & 0xFF


def ones(x):
    """The number of ones in a word of 64 bits."""
    return ones_of_half(x & 0xFFFFFFFF) + ones_of_half((x >> 32) & 0xFFFFFFFF)


def fields(g: fr.Graph, place: Any, sources: int) -> dict[str, Field]:
    """Return the fields of the searches, without those that a search writes where it arrives."""
    return {
        "place": fr.vertex("int64", place),
        "seen": fr.vertex("int64", combine="or"),
        "visit": fr.vertex("int64"),
        "next": fr.vertex("int64", combine="or"),
        "all": fr.scalar("int64"),
        "depth": fr.scalar("int64"),
        "sources": fr.scalar("int64", sources),
        "turn": fr.scalar("int64"),
        "turns": fr.scalar("int64", -(-sources // 64)),
        "n": fr.scalar("int64", g.num_vertices),
    }


def places(g: fr.Graph, sources: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct sources' numbers by vertex (-1 for others), and the number of each given source."""
    distinct, which = np.unique(vertex_ids(g, sources, "sources"), return_inverse=True)
    place = np.full(g.num_vertices, -1, np.int64)
    place[distinct] = np.arange(len(distinct))
    return place, which


def chosen(g: fr.Graph, sources: Any, seed: int) -> NDArray[np.int64]:
    """Return the distinct sources' numbers by vertex (-1 for others): of all, of given ones, or of a sample."""
    n = g.num_vertices
    if sources is None:
        return np.arange(n)
    if hasattr(sources, "__iter__"):
        place, which = places(g, sources)
        if not len(which):
            raise GraphError("sources holds no vertex")
        return place
    check_number("sources", sources, lambda x: 1 <= x <= n and x == int(x), f"a number from 1 to {n}, or vertices")
    place = np.full(n, -1)
    drawn = np.random.default_rng(whole("seed", seed, 0)).permutation(n)[: int(sources)]
    place[np.sort(drawn)] = np.arange(len(drawn))
    return place


def run(
    g: fr.Graph, program: type[fr.Enactor], sources: Any, seed: int, schedule: fr.Schedule | None, **dtypes: str
) -> tuple[fr.Problem, Any]:
    """Return the problem after the searches, and how many sources each vertex has besides itself."""
    place = chosen(g, sources, seed)
    is_source = place >= 0
    sums = {name: fr.vertex(dtype) for name, dtype in dtypes.items()}
    p = fr.Problem(g, **fields(g, place, int(is_source.sum())), **sums)
    program(p, schedule).run()
    return p, g.placement.memory.moved((is_source.sum() - is_source).astype(np.float64))


def facts(g: fr.Graph, result: Any) -> dict[str, Any]:
    centrality = np.asarray(to_host(result.centrality))
    if not len(centrality):
        return {"highest": "none"}
    best = int(centrality.argmax())
    return {"highest": f"{centrality[best]:.6g} at {called(best, g.labels)}", "mean": float(centrality.mean())}


#: What the command line says of centralities.
ABOUT: dict[str, Any] = {
    "arguments": (
        Argument("--sources", "distances from so many random vertices (default: all)", type=int),
        Argument("--weighted", "measure distances by weights (default: no)", type=bool),
    ),
    "columns": ("centrality",),
    "report": facts,
    "bench_options": {"sources": 64},
}
