"""Generated graphs: random and regular ones, and Zachary's karate club.

``kernels`` makes random ones on the CPU, ``arrays`` on a GPU or if they are small, from the same ``random_numbers``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from frontier.errors import GraphError
from frontier.generators.arrays import later
from frontier.generators.random_numbers import (
    at_once,
    check_room,
    draws,
    generating,
    keys,
    on_threads,
    uniform,
    weights_in,
    whole,
)
from frontier.graph.build import from_edges
from frontier.graph.graph import Graph
from frontier.graph.shares import Piece, Shares
from frontier.graph.topology import Array, id_dtype
from frontier.memory.base import Memory
from frontier.memory.host import HOST
from frontier.memory.placement import Placement
from frontier.memory.shortage import telling

__all__ = [
    "complete",
    "grid",
    "karate",
    "path",
    "rmat",
    "small_world",
    "star",
    "tree",
    "urand",
]

Weights = tuple[float, float] | None


@telling("making a graph")
def rmat(
    scale: int,
    edge_factor: float = 16,
    *,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    permute: bool = True,
    directed: bool = False,
    weights: Weights = None,
    seed: int | None = None,
    placement: Placement | str | None = None,
) -> Graph:
    """Make a random graph with a skewed degree distribution: R-MAT, a Kronecker graph.

    The position of each edge in the adjacency matrix is found by choosing one of its quadrants, then a
    quadrant of that, and so on. Self-loops and duplicates are dropped.

    Parameters
    ----------
    scale : int
        The graph has 2**scale vertices; at most 40.
    edge_factor : float
        Edges made for each vertex, before self-loops and duplicates are dropped.
    a, b, c : float
        Probability of the upper left, upper right and lower left quadrant; the lower right one has
        the rest. The default is that of Graph500.
    permute : bool
        Number the vertices randomly; otherwise vertices with low ids have the most edges.
    directed : bool
        Whether the graph is directed.
    weights : (low, high), optional
        Give each edge a random weight. If both are integers, weights are integers from low to high,
        both included; otherwise floats from low up to, but not including, high.
    seed : int, optional
        The same seed gives the same graph, on any number of threads. None: another graph each time.
    placement : Placement or str, optional
        Where the graph shall be, as for :meth:`frontier.Graph.to`. ``"ranks"``: it is made in parts, of which every
        process makes and keeps one. ``"cuda:0,1"``: every GPU makes a share of the edges, and keeps those of its own
        vertices.

    Returns
    -------
    Graph
        With 2**scale vertices, some of which may have no edges.

    Raises
    ------
    GraphError
        If an argument is out of range.

    Notes
    -----
    Takes time proportional to the number of edges times the scale.

    References
    ----------
    D. Chakrabarti, Y. Zhan, C. Faloutsos: R-MAT: a recursive model for graph mining, SDM 2004.

    Examples
    --------
    >>> fr.rmat(8, seed=1)
    <Graph: undirected, 256 vertices, 2,135 edges (4,270 slots); cpu>
    """
    scale = whole("scale", scale, 0, 40)
    if min(a, b, c) < 0 or a + b + c > 1 + 1e-9:
        raise GraphError(f"a, b and c must be probabilities that add up to at most 1, not {a}, {b} and {c}")
    n, count = 1 << scale, _edge_count(scale, edge_factor)
    state = _keys(seed, placement, n, count)
    thresholds = [np.uint64(min(p, 1.0) * 2**32) for p in (a, a + b, a + b + c)]
    there: dict[Memory, Array] = {}  # the names of vertices
    if permute:
        there[HOST] = np.arange(n, dtype=id_dtype(n))
        generating(count).shuffle(state[1], there[HOST])
    draws_each = (scale + 1) // 2

    def ends(first: int, number: int, memory: Memory = HOST) -> tuple[Array, Array]:
        kernels, start = generating(number, memory), later(state[0], first * draws_each)
        src, dst = (memory.xp.empty(number, id_dtype(n)) for _ in range(2))
        over = on_threads if memory is HOST else at_once
        over(lambda lo, hi: kernels.rmat(start, lo, hi, scale, *thresholds, src, dst), number)
        if permute:
            known = there[memory] if memory in there else there.setdefault(memory, memory.moved(there[HOST]))
            over(lambda lo, hi: kernels.relabel(src, known, lo, hi), number)
            over(lambda lo, hi: kernels.relabel(dst, known, lo, hi), number)
        return src, dst

    kind = scale, a, b, c, permute
    return _placed(ends, n, count, weights, state, placement, directed, kind, there.clear)


@telling("making a graph")
def urand(
    scale: int,
    edge_factor: float = 16,
    *,
    directed: bool = False,
    weights: Weights = None,
    seed: int | None = None,
    placement: Placement | str | None = None,
) -> Graph:
    """Make a uniform random graph: each edge joins two vertices chosen at random.

    Self-loops and duplicates are dropped.

    Parameters
    ----------
    scale : int
        The graph has 2**scale vertices; at most 40.
    edge_factor : float
        Edges made for each vertex, before self-loops and duplicates are dropped.
    directed, weights, seed, placement
        As for :func:`rmat`.

    Raises
    ------
    GraphError
        An argument is out of range.

    References
    ----------
    P. Erdős, A. Rényi: On random graphs I, Publicationes Mathematicae 6, 1959.

    Examples
    --------
    >>> fr.urand(8, seed=1)
    <Graph: undirected, 256 vertices, 3,847 edges (7,694 slots); cpu>
    """
    scale = whole("scale", scale, 0, 40)
    n, count = 1 << scale, _edge_count(scale, edge_factor)
    state = _keys(seed, placement, n, count)

    def ends(first: int, number: int, memory: Memory = HOST) -> tuple[Array, Array]:
        drawn = (draws(later(key, first), number, memory) & np.uint64(n - 1) for key in state[:2])
        src, dst = (end.astype(id_dtype(n)) for end in drawn)
        return src, dst

    return _placed(ends, n, count, weights, state, placement, directed)


@telling("making a graph")
def small_world(n: int, k: int, p: float, *, weights: Weights = None, seed: int | None = None) -> Graph:
    """Make a small-world graph (Watts and Strogatz): a ring with some edges rewired at random.

    Parameters
    ----------
    n : int
        Number of vertices.
    k : int
        Number of neighbours of each vertex in the ring, k / 2 on either side; even, and less than n.
    p : float
        Probability that one endpoint of an edge is replaced by a random vertex. If that edge exists
        already, the two become one.
    weights, seed
        As for :func:`rmat`.

    Raises
    ------
    GraphError
        An argument is out of range.

    References
    ----------
    D. J. Watts, S. H. Strogatz: Collective dynamics of small-world networks, Nature 393, 1998.

    Examples
    --------
    >>> fr.small_world(6, 2, 0.0).neighbors(0)
    [1, 5]
    """
    n, k = whole("n", n, 0), whole("k", k, 0)
    if k % 2 or (k and k >= n):
        raise GraphError(f"k must be even and less than n = {n}, not {k}")
    if not 0 <= p <= 1:
        raise GraphError(f"p must be a probability, not {p}")
    check_room(n, n * k // 2)
    state = keys(seed)
    src = np.repeat(np.arange(n, dtype=id_dtype(n)), k // 2)
    step = np.tile(np.arange(1, k // 2 + 1), n)
    changed = uniform(state[0], len(src)) < p
    # a step of 1 to n - 1 makes no self-loop
    step[changed] = 1 + (draws(state[1], len(src))[changed] % np.uint64(max(n - 1, 1))).astype(int)
    dst = ((src + step) % max(n, 1)).astype(src.dtype)
    return _made(src, dst, n, weights, state)


@telling("making a graph")
def grid(rows: int, columns: int, *, weights: Weights = None, seed: int | None = None) -> Graph:
    """Make a grid; vertex ``row * columns + column`` has edges to its up to four neighbours.

    Parameters
    ----------
    rows, columns : int
        Its size.
    weights, seed
        As for :func:`rmat`.

    Raises
    ------
    GraphError
        An argument is negative.

    Examples
    --------
    >>> fr.grid(3, 4).neighbors(5)
    [1, 4, 6, 9]
    """
    rows, columns = whole("rows", rows, 0), whole("columns", columns, 0)
    n = rows * columns
    check_room(n, 2 * n)
    ids = np.arange(n, dtype=id_dtype(n)).reshape(rows, columns)
    src = np.concatenate([ids[:, :-1].ravel(), ids[:-1].ravel()])
    dst = np.concatenate([ids[:, 1:].ravel(), ids[1:].ravel()])
    return _made(src, dst, n, weights, keys(seed))


@telling("making a graph")
def path(n: int, *, weights: Weights = None, seed: int | None = None) -> Graph:
    """Make a path: vertices 0 to n - 1, each with an edge to the next.

    Parameters
    ----------
    n : int
        Number of vertices.
    weights, seed
        As for :func:`rmat`.

    Raises
    ------
    GraphError
        ``n`` is negative.

    Examples
    --------
    >>> fr.path(4).neighbors(1)
    [0, 2]
    """
    return grid(1, whole("n", n, 0), weights=weights, seed=seed)


@telling("making a graph")
def star(n: int, *, weights: Weights = None, seed: int | None = None) -> Graph:
    """Make a star: the centre is vertex 0, which has an edge to each of the others.

    Parameters
    ----------
    n : int
        Number of vertices, including the centre.
    weights, seed
        As for :func:`rmat`.

    Raises
    ------
    GraphError
        ``n`` is negative.

    Examples
    --------
    >>> fr.star(4).neighbors(0)
    [1, 2, 3]
    """
    n = whole("n", n, 0)
    check_room(n, n)
    dst = np.arange(min(n, 1), n, dtype=id_dtype(n))
    return _made(np.zeros_like(dst), dst, n, weights, keys(seed))


@telling("making a graph")
def complete(n: int, *, weights: Weights = None, seed: int | None = None) -> Graph:
    """Make a complete graph, in which every two vertices have an edge.

    Parameters
    ----------
    n : int
        Number of vertices.
    weights, seed
        As for :func:`rmat`.

    Raises
    ------
    GraphError
        ``n`` is negative.

    Examples
    --------
    >>> fr.complete(4)
    <Graph: undirected, 4 vertices, 6 edges (12 slots); cpu>
    """
    n = whole("n", n, 0)
    check_room(n, n * (n - 1) // 2)
    ids = np.arange(n, dtype=id_dtype(n))
    later = n - 1 - ids  # vertices after each
    src = np.repeat(ids, later)
    first = np.cumsum(later, dtype=np.int64) - later  # edge of each
    dst = (np.arange(len(src)) - first[src] + src + 1).astype(ids.dtype)
    return _made(src, dst, n, weights, keys(seed))


@telling("making a graph")
def tree(branching: int, height: int, *, weights: Weights = None, seed: int | None = None) -> Graph:
    """Make a balanced tree; vertex 0 is its root, and vertices are numbered level by level.

    Parameters
    ----------
    branching : int
        Number of children of each inner vertex; at least 1.
    height : int
        Number of edges from the root to a leaf; at most 40 if vertices have several children.
    weights, seed
        As for :func:`rmat`.

    Raises
    ------
    GraphError
        An argument is out of range.

    Examples
    --------
    >>> fr.tree(2, 3)
    <Graph: undirected, 15 vertices, 14 edges (28 slots); cpu>
    """
    branching = whole("branching", branching, 1)
    height = whole("height", height, 0, None if branching == 1 else 40)
    n = height + 1 if branching == 1 else (branching ** (height + 1) - 1) // (branching - 1)
    check_room(n, n)
    child = np.arange(1, n, dtype=id_dtype(n))
    return _made((child - 1) // branching, child, n, weights, keys(seed))


def karate(*, weights: Weights = None, seed: int | None = None) -> Graph:
    """Zachary's karate club: 34 members, 78 friendships, and a quarrel.

    Vertex 0 is the instructor, vertex 33 the president.

    Parameters
    ----------
    weights, seed
        As for :func:`rmat`.

    References
    ----------
    W. W. Zachary: An information flow model for conflict and fission in small groups, Journal of
    Anthropological Research 33, 1977.

    Examples
    --------
    >>> fr.karate()
    <Graph: undirected, 34 vertices, 78 edges (156 slots); cpu>
    """
    pairs = [(v, w) for v, later in _KARATE.items() for w in later]
    ends = np.array(pairs, np.int32)
    return _made(ends[:, 0], ends[:, 1], 34, weights, keys(seed))


# member: friends of higher number
_KARATE = {
    0: (1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 19, 21, 31),
    1: (2, 3, 7, 13, 17, 19, 21, 30),
    2: (3, 7, 8, 9, 13, 27, 28, 32),
    3: (7, 12, 13),
    4: (6, 10),
    5: (6, 10, 16),
    6: (16,),
    8: (30, 32, 33),
    9: (33,),
    13: (33,),
    14: (32, 33),
    15: (32, 33),
    18: (32, 33),
    19: (33,),
    20: (32, 33),
    22: (32, 33),
    23: (25, 27, 29, 32, 33),
    24: (25, 27, 31),
    25: (31,),
    26: (29, 33),
    27: (33,),
    28: (31, 33),
    29: (32, 33),
    30: (32, 33),
    31: (32, 33),
    32: (33,),
}


def _made(src: Array, dst: Array, n: int, weights: Weights, state: Array, **options: Any) -> Graph:
    values = None if weights is None else weights_in(weights, len(src), state[2])
    return from_edges(src, dst, values, num_vertices=n, duplicates="first", **options)


def _keys(seed: Any, placement: Placement | str | None, n: int, count: int) -> Array:
    """The seeds of a graph that may be made in parts, once there is room for it."""
    place = None if placement is None else Placement.parse(placement)
    divides = place is not None and _divides(place, count)
    check_room(n, 0 if divides else count)
    if divides and seed is None and place is not None and place.memory is HOST:
        raise GraphError("a graph that several processes make together needs seed=, the same on all")
    return keys(seed)


def _divides(place: Placement, count: int) -> bool:
    """Whether a graph of so many edges is made in parts: by processes, or by several GPUs."""
    return bool(place.backend.parts_for(count)) if place.memory is not HOST else place.divides


def _placed(
    ends: Callable[..., tuple[Array, Array]], n: int, count: int, weights: Weights, state: Array,
    placement: Placement | str | None, directed: bool, kind: Any = None, done: Callable[[], None] | None = None,
) -> Graph:  # fmt: skip
    """A graph without self-loops of edges of which any range can be made: as a whole, or in parts."""
    place = Placement.parse("cpu" if placement is None else placement)
    if not _divides(place, count):
        return _made(*ends(0, count), n, weights, state, directed=directed, self_loops="drop").to(place)

    def make_on(memory: Memory, lo: int, hi: int) -> Piece:
        drawn = None if weights is None else weights_in(weights, hi - lo, later(state[2], lo), memory)
        return Piece(*ends(lo, hi - lo, memory), drawn)

    shares = Shares(
        count, lambda lo, hi: make_on(HOST, lo, hi), n, name=(kind, count, weights, state.tolist()), make_on=make_on,
        done=done,
    )  # fmt: skip
    made: Graph = place.backend.build(shares, place, directed=directed, duplicates="first", self_loops="drop")
    return made


def _edge_count(scale: int, edge_factor: Any) -> int:
    if not (isinstance(edge_factor, int | float | np.number) and 0 <= edge_factor < math.inf):
        raise GraphError(f"edge_factor must be a number from 0, not {edge_factor!r}")
    return int(edge_factor * (1 << scale))
