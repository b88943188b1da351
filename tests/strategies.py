"""Random graphs and frontiers: for hypothesis, and for loops over hundreds of them.

Both make the same kinds: no vertex, one vertex, no edges, self-loops, duplicates, stars, long
paths, circles, several pieces, dense ones; directed or not; without weights, with integers or with
floats, zeros among them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import frontier as fr
from frontier.memory import detection

#: Kernels run in the simulator, which takes up to a second for a small graph.
SIMULATED = detection.simulated()

WEIGHTS = (None, "int32", "int64", "float32", "float64")
Edges = list[tuple[int, int]]


# -- hypothesis ------------------------------------------------------------------------------------


@st.composite
def _shaped_edges(draw: st.DrawFn, n: int) -> Edges:
    """Draw the skeleton of a graph: a star, a path, a circle, pieces, everything, or nothing."""
    shape = draw(st.sampled_from(["none", "star", "path", "circle", "pieces", "complete"]))
    order = draw(st.permutations(range(n)))
    steps = list(itertools.pairwise(order))
    if shape == "star":
        return [(order[0], v) for v in order[1:]]
    if shape == "path":
        return steps
    if shape == "circle":
        return [*steps, (order[-1], order[0])]
    if shape == "pieces":
        size = draw(st.integers(2, max(2, n // 2)))
        return [edge for i, edge in enumerate(steps) if (i + 1) % size]
    if shape == "complete":
        return [(u, v) for u in order[:8] for v in order[:8] if u != v]
    return []


@st.composite
def edge_lists(draw: st.DrawFn, n: int, max_edges: int) -> Edges:
    """Draw edges between n vertices, a shape and some more: self-loops and duplicates among them."""
    if n == 0:
        return []
    vertex = st.integers(0, n - 1)
    shaped = draw(_shaped_edges(n))
    some = draw(st.lists(st.tuples(vertex, vertex), max_size=max_edges))
    again = draw(st.lists(st.sampled_from(shaped + some), max_size=3)) if shaped + some else []
    return shaped + some + again


def weight_values(dtype: str) -> st.SearchStrategy[Any]:
    """Draw a weight >= 0 that the dtype holds exactly; zeros and equal weights are frequent."""
    small = st.sampled_from([0, 0, 1, 1, 2, 3])
    if dtype.startswith("int"):
        return small | st.integers(0, 1000)
    width = 32 if dtype == "float32" else 64
    return small | st.floats(0, 1000, width=width, allow_subnormal=False)


@st.composite
def graphs(
    draw: st.DrawFn,
    *,
    min_vertices: int = 0,
    max_vertices: int = 16,
    max_edges: int = 40,
    directed: bool | None = None,
    weights: Any = WEIGHTS,
    parallel: bool = True,
) -> fr.Graph:
    """Draw a graph.

    Parameters
    ----------
    directed : bool, optional
        Default: either.
    weights : dtype or None, or a sequence of these
        The dtypes to choose from, None for no weights.
    parallel : bool
        Whether parallel edges may stay.
    """
    n = draw(st.integers(min_vertices, max_vertices))
    edges = draw(edge_lists(n, max_edges))
    dtype = draw(st.sampled_from(weights if isinstance(weights, tuple | list) else [weights]))
    values = None
    if dtype is not None:
        values = np.array(
            draw(st.lists(weight_values(dtype), min_size=len(edges), max_size=len(edges))),
            dtype=dtype,
        )
    duplicates = ["first", "last", "min", "max", "sum"]
    return fr.from_edges(
        np.array([u for u, _ in edges], dtype=np.int64),
        np.array([v for _, v in edges], dtype=np.int64),
        values,
        num_vertices=n,
        directed=draw(st.booleans()) if directed is None else directed,
        duplicates=draw(st.sampled_from(duplicates + ["keep"] * parallel)),
        self_loops=draw(st.sampled_from(["keep", "drop"])),
    )


@st.composite
def frontier_ids(draw: st.DrawFn, g: fr.Graph, kind: str = "vertex") -> NDArray[np.int64]:
    """Draw some ids of a graph's vertices or edge slots, in no order: none, a few, or all."""
    size = g.num_vertices if kind == "vertex" else g.num_slots
    if size == 0:
        return np.zeros(0, dtype=np.int64)
    some = st.lists(st.integers(0, size - 1), unique=True)
    return np.array(draw(some | st.permutations(range(size))), dtype=np.int64)


@st.composite
def frontiers(draw: st.DrawFn, g: fr.Graph, kind: str = "vertex") -> fr.Frontier:
    """Draw a frontier of a graph's vertices or edges: of ids, or "all"."""
    if draw(st.integers(0, 4)) == 0:
        return fr.Frontier.all(g, kind=kind)
    return fr.Frontier(g, draw(frontier_ids(g, kind)), kind=kind)


@st.composite
def graphs_with_vertex(draw: st.DrawFn, **options: Any) -> tuple[fr.Graph, int]:
    """Draw a graph and one of its vertices; options as of :func:`graphs`."""
    g = draw(graphs(**{"min_vertices": 1, **options}))
    return g, draw(st.integers(0, g.num_vertices - 1))


# -- many graphs, one after the other --------------------------------------------------------------


def random_graphs(
    count: int,
    seed: int,
    *,
    min_vertices: int = 0,
    max_vertices: int = 100,
    directed: bool | None = None,
    weights: Any = WEIGHTS,
    parallel: bool = False,
) -> Iterator[fr.Graph]:
    """Yield ``count`` graphs, the same ones for the same arguments; these as of :func:`graphs`.

    In the simulator of kernels they are few and small.
    """
    if SIMULATED:
        count, max_vertices = min(count, 3), max(min_vertices, min(max_vertices, 9))
    dtypes = weights if isinstance(weights, tuple | list) else [weights]
    for i in range(count):
        rng = np.random.default_rng([seed, i])
        # Mostly of all sizes, sometimes tiny: there is where special cases are.
        n = int(rng.integers(min_vertices, max(min_vertices, (max_vertices, 3)[i % 5 == 0]) + 1))
        src, dst = _random_edges(rng, n, i)
        dtype = dtypes[int(rng.integers(len(dtypes)))]
        yield fr.from_edges(
            src,
            dst,
            None if dtype is None else _random_weights(rng, len(src), dtype),
            num_vertices=n,
            directed=bool(rng.integers(2)) if directed is None else directed,
            duplicates="keep" if parallel and rng.integers(2) else "min",
            self_loops="keep" if rng.integers(3) else "drop",
        )


def _random_edges(rng: np.random.Generator, n: int, kind: int) -> tuple[NDArray[Any], NDArray[Any]]:
    if n == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    order = rng.permutation(n)
    shape = kind % 7
    if shape == 0:  # sparse: several pieces, vertices without edges
        src, dst = rng.integers(0, n, (2, n // 2))
    elif shape == 1:  # about one piece
        src, dst = rng.integers(0, n, (2, 3 * n))
    elif shape == 2:  # dense
        src, dst = rng.integers(0, n, (2, n * n // 4 + 1))
    elif shape == 3:  # a star, of out- and in-edges
        src, dst = np.where(rng.random(n) < 0.7, order[0], order), order
    elif shape == 4:  # a long path with a few short cuts
        src, dst = order[:-1], order[1:]
        more = rng.integers(0, n, (2, n // 10))
        src, dst = np.concatenate([src, more[0]]), np.concatenate([dst, more[1]])
    elif shape == 5:  # a few hubs
        src, dst = (n * rng.random((2, 4 * n)) ** 3).astype(np.int64)
        src, dst = order[src], order[dst]
    else:  # pieces: two ends are at most a few ids apart, and gaps
        src = rng.integers(0, n, 2 * n)
        dst = np.minimum(src // 8 * 8 + rng.integers(0, 8, 2 * n), n - 1)
    return src, dst


def _random_weights(rng: np.random.Generator, count: int, dtype: str) -> NDArray[Any]:
    kind = int(rng.integers(3))
    if kind == 0:  # many equal ones, zeros among them
        return rng.integers(0, 4, count).astype(dtype)
    if dtype.startswith("int"):
        return rng.integers(0, 10_000, count).astype(dtype)
    values = rng.random(count).astype(dtype)
    if kind == 1:  # over many orders of magnitude
        values = (10 ** (12 * values - 6)).astype(dtype)
    values[rng.random(count) < 0.05] = 0
    return values
