"""The graphs of the GPU benchmarks, made on the GPU: symmetric, no loops, no duplicates, ids of 32 bits.

If asked for, random graphs keep loops (each one directed edge) and duplicates, and ids have 64 bits.

Edges are made in chunks of :data:`CHUNK` from counted random numbers, so a name is always the same graph, whatever the
chunk. Rows come from one sort of 64-bit keys, (smaller end, larger end), and a second of both directions. Every
function takes the array module ``xp``, so NumPy makes the same graphs, slowly.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import frontier as fr
from benchmarks.devices import Array, Host
from benchmarks.graphs import DATA, Missing
from frontier.memory.arrays import to_host

CHUNK = 1 << 24
DEFAULT = ("kron21", "rmat24", "urand23", "grid4096", "road-NE")
#: Vertices and directed edges as they should come out; edges of the random ones about.
EXPECTED = {
    "kron21": (2_097_152, 166.9e6),
    "rmat24": (16_777_216, 520e6),
    "urand23": (8_388_608, 268e6),
    "grid4096": (16_777_216, 67.1e6),
    "road-NE": (1_524_453, 3.87e6),
}
HELP = (
    "kronS (44 edges a vertex, ids permuted), rmatS, urandS (16), gridN (N x N), Kron-S-EF, Rmat-S-EF (.45/.15/.15), "
    "NAME for NAME.npz in the data folder, or a path of an npz file, with arrays src, dst and, if ids are missing, n"
)
_LOW = 0xFFFFFFFF
_MASK = (1 << 64) - 1


@dataclass
class Made:
    """A graph on the device; how it came about."""

    name: str
    graph: fr.Graph
    input_degree: Array | None  # input edges that begin at each vertex, loops and duplicates too; None: not random
    input_edges: int
    seconds: float
    note: str = ""
    order: str = ""  # of the vertices, if it is not that in which they come
    order_ms: float = 0.0

    @property
    def nbytes(self) -> int:
        """Bytes of the graph."""
        g = self.graph
        return int(g.offsets.nbytes + g.targets.nbytes + (0 if g.weights is None else g.weights.nbytes))

    def fresh(self) -> fr.Graph:
        """The same rows as a graph that nothing has been derived for yet, and that holds no memory for loops."""
        g = self.graph
        return fr.Graph(g.offsets, g.targets, g.weights, directed=False, placement=g.placement, check=False)

    def __str__(self) -> str:
        g = self.graph
        text = f"{self.name}: {g.num_vertices:,} vertices, {g.num_slots:,} directed edges, {self.nbytes / 1e6:,.0f} MB"
        if self.name in EXPECTED:
            n, m = EXPECTED[self.name]
            good = g.num_vertices == n and abs(g.num_slots - m) < 0.005 * m
            text += f" ({'as expected' if good else f'EXPECTED {n:,} and {m:,.0f}'})"
        return f"{text}, made in {self.seconds:.2f} s{self.note}"

    def ordered(self, order: str, device: Host) -> Made:
        """The same with the vertices in another order; making that is timed when all that it calls is loaded."""
        device.timed(lambda: self.graph.reordered(order))
        timed = device.timed(lambda: self.graph.reordered(order))
        graph = timed.result
        degree = None if self.input_degree is None else self.input_degree[graph.vertices["original"]]
        note = f"{self.note}; vertices by {order}, which took {timed.wall:.1f} ms"
        return replace(self, graph=graph, input_degree=degree, note=note, order=order, order_ms=timed.wall)


def make(name: str, device: Host, seed: int = 1, kept: bool = False, wide: bool = False) -> Made:
    """Make or read a graph by name; see :data:`HELP`.

    Parameters
    ----------
    kept : bool
        Whether a random graph keeps its loops and duplicates; they make it another graph, with a name that says so.
    wide : bool
        Whether ids and offsets have 64 bits, whatever they need.
    """
    xp = device.xp
    start = time.perf_counter()
    n, count, edges = _edges(xp, name, seed)
    random = not name.startswith("grid") and _known(name)
    kept = kept and random
    degree = xp.zeros(n, dtype=np.int64) if random else None
    keys = _keys(xp, edges, count, degree, kept)
    rows = csr(xp, keys, n, kept, wide)
    del keys
    device.wait()
    device.free()
    graph, note = _given(*rows, device, wide)
    name += ", loops and duplicates kept" * kept + ", 64-bit ids" * wide
    return Made(name, graph, degree, count, time.perf_counter() - start, note)


def _given(offsets: Array, targets: Array, weights: Array, device: Host, wide: bool) -> tuple[fr.Graph, str]:
    """The graph, as the public constructor checks it; by the one that trusts where that fails, or narrows ids."""
    if wide:
        return fr.Graph(offsets, targets, weights, directed=False, placement=device.backend, check=False), ""
    try:
        graph = fr.from_csr(offsets, targets, weights, directed=False)
        if graph.backend.startswith(device.backend):
            return graph, ""
        reason = f"it is a {graph.backend} graph"
    except Exception as error:  # reported; the other cells still want the graph
        reason = f"{type(error).__name__}: {error}"
    device.free()
    made = fr.Graph(offsets, targets, weights, directed=False, placement=device.backend, check=False)
    return made, f"\n  NOT by fr.from_csr: {reason}"


# -- edges -----------------------------------------------------------------------------------------


Chunks = Iterator[tuple[Array, Array]]
_NAMES: tuple[tuple[str, Callable[..., tuple[int, int, Chunks]]], ...] = (
    (r"kron(\d+)", lambda xp, seed, s: _rmat(xp, seed, s, 44, (0.57, 0.19, 0.19), True)),
    (r"rmat(\d+)", lambda xp, seed, s: _rmat(xp, seed, s, 16, (0.57, 0.19, 0.19), False)),
    (r"Kron-(\d+)-(\d+)", lambda xp, seed, s, ef: _rmat(xp, seed, s, ef, (0.57, 0.19, 0.19), True)),
    (r"Rmat-(\d+)-(\d+)", lambda xp, seed, s, ef: _rmat(xp, seed, s, ef, (0.45, 0.15, 0.15), True)),
    (r"urand(\d+)", lambda xp, seed, s: _uniform(xp, seed, s, 16)),
    (r"grid(\d+)", lambda xp, seed, side: _grid(xp, side)),
)


def _known(name: str) -> bool:
    return any(re.fullmatch(pattern, name) for pattern, _ in _NAMES)


def _edges(xp: Any, name: str, seed: int) -> tuple[int, int, Chunks]:
    """Number of vertices, number of edges before they are cleaned, and the edges."""
    for pattern, kind in _NAMES:
        found = re.fullmatch(pattern, name)
        if found:
            return kind(xp, seed, *(int(text) for text in found.groups()))
    path = Path(name) if name.endswith(".npz") else DATA / f"{name}.npz"
    if not path.exists():
        raise Missing(f"{name}: no graph is made by that name, and there is no {path}; FRONTIER_DATA names the folder")
    with np.load(path) as file:
        src, dst = xp.asarray(file["src"]), xp.asarray(file["dst"])
        n = int(file["n"]) if "n" in file else int(max(src.max(), dst.max())) + 1
    return n, len(src), ((src[lo:hi], dst[lo:hi]) for lo, hi in chunks(len(src)))


def chunks(count: int, size: int = CHUNK) -> Iterator[tuple[int, int]]:
    """Consecutive stretches of at most ``size``."""
    for lo in range(0, count, size):
        yield lo, min(lo + size, count)


def _rmat(
    xp: Any, seed: int, scale: int, factor: int, chances: tuple[float, float, float], permute: bool
) -> tuple[int, int, Chunks]:
    n, count = 1 << scale, factor << scale
    return n, count, _rmat_chunks(xp, seed, scale, count, chances, _permutation(xp, seed, n) if permute else None)


def _rmat_chunks(
    xp: Any, seed: int, scale: int, count: int, chances: tuple[float, float, float], names: Array | None
) -> Chunks:
    """Each edge falls into a quarter of the matrix, then into a quarter of that; half a draw decides one level."""
    a, b, c = chances
    t_a, t_ab, t_abc = (int(t * 2**32) for t in (a, a + b, a + b + c))
    for lo, hi in chunks(count):
        src, dst = xp.zeros(hi - lo, dtype=np.int64), xp.zeros(hi - lo, dtype=np.int64)
        for level in range(scale):
            if level % 2 == 0:
                bits = draws(xp, seed, level // 2 * count + lo, level // 2 * count + hi)
            # signed, as the ids are: NumPy would make floats of the two kinds together
            part = ((bits & np.uint64(_LOW)) if level % 2 == 0 else (bits >> np.uint64(32))).astype(np.int64)
            down = part >= t_ab
            right = (part >= t_a) ^ down ^ (part >= t_abc)
            src = (src << 1) | down
            dst = (dst << 1) | right
        yield (src, dst) if names is None else (names[src], names[dst])


def _uniform(xp: Any, seed: int, scale: int, factor: int) -> tuple[int, int, Chunks]:
    n, count = 1 << scale, factor << scale

    def made() -> Chunks:
        for lo, hi in chunks(count):
            bits = draws(xp, seed, lo, hi)
            low = np.uint64(n - 1)
            yield (bits & low).astype(np.int64), ((bits >> np.uint64(32)) & low).astype(np.int64)

    return n, count, made()


def _grid(xp: Any, side: int) -> tuple[int, int, Chunks]:
    ids = xp.arange(side * side, dtype=np.int64).reshape(side, side)
    ends = ((ids[:, :-1].ravel(), ids[:, 1:].ravel()), (ids[:-1].ravel(), ids[1:].ravel()))
    return side * side, 2 * side * (side - 1), iter(ends)


def _permutation(xp: Any, seed: int, n: int) -> Array:
    return xp.argsort(draws(xp, seed + 1, 0, n)).astype(np.int64)


def draws(xp: Any, seed: int, lo: int, hi: int) -> Array:
    """Numbers lo to hi of the SplitMix64 sequence of a seed (Steele, Lea, Flood; OOPSLA 2014)."""
    x = xp.arange(lo + 1, hi + 1, dtype=np.uint64)
    x *= np.uint64(0x9E3779B97F4A7C15)
    x += np.uint64(seed * 0xD1342543DE82EF95 + 0x2545F4914F6CDD1D & _MASK)
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x


# -- rows ------------------------------------------------------------------------------------------


def _keys(xp: Any, edges: Chunks, count: int, degree: Array | None, loops: bool) -> Array:
    """One key, (smaller end, larger end), for each edge, loops if asked for; counts where all of them begin."""
    keys, used = xp.empty(count, dtype=np.int64), 0
    for src, dst in edges:
        if degree is not None:
            degree += xp.bincount(src, minlength=len(degree))
        kept = slice(None) if loops else src != dst
        low = xp.minimum(src, dst).astype(np.int64)[kept]
        high = xp.maximum(src, dst).astype(np.int64)[kept]
        keys[used : used + len(low)] = (low << 32) | high
        used += len(low)
    return keys[:used]


def csr(xp: Any, keys: Array, n: int, kept: bool = False, wide: bool = False) -> tuple[Array, Array, Array]:
    """Offsets, targets and weights of the symmetric graph; the keys are sorted in place. See :func:`make`."""
    if not kept:
        keys = _once(xp, keys)
    back = keys[(keys >> 32) != (keys & _LOW)] if kept else keys
    k, m = len(keys), len(keys) + len(back)
    both = xp.empty(m, dtype=np.int64)
    both[:k] = keys
    for lo, hi in chunks(m - k):
        part = back[lo:hi]
        both[k + lo : k + hi] = ((part & _LOW) << 32) | (part >> 32)
    del keys, back
    both.sort()
    offsets = xp.searchsorted(both, xp.arange(n + 1, dtype=np.int64) << 32)
    targets, weights = xp.empty(m, dtype=np.int64 if wide else np.int32), xp.empty(m, dtype=np.float32)
    for lo, hi in chunks(m):
        part = both[lo:hi]
        targets[lo:hi] = part & _LOW
        weights[lo:hi] = weigh(xp, part >> 32, part & _LOW)
    return offsets.astype(np.int64 if wide or m >= 2**31 else np.int32), targets, weights


def as_generated(name: str, device: Host, seed: int = 1) -> tuple[Array, Array]:
    """Offsets and targets of the directed edges of a graph as they are generated, without loops and duplicates."""
    xp = device.xp
    n, count, edges = _edges(xp, name, seed)
    keys, used = xp.empty(count, dtype=np.int64), 0
    for src, dst in edges:
        kept = src != dst
        part = (src.astype(np.int64)[kept] << 32) | dst.astype(np.int64)[kept]
        keys[used : used + len(part)] = part
        used += len(part)
    keys = _once(xp, keys[:used])
    offsets = xp.searchsorted(keys, xp.arange(n + 1, dtype=np.int64) << 32)
    return offsets.astype(np.int32 if len(keys) < 2**31 else np.int64), (keys & _LOW).astype(np.int32)


def _once(xp: Any, keys: Array) -> Array:
    """Every key once."""
    keys.sort()
    fresh = xp.ones(len(keys), dtype=bool)
    if len(keys):
        fresh[1:] = keys[1:] != keys[:-1]
    return keys[fresh]


def weigh(xp: Any, src: Array, dst: Array) -> Array:
    """Weights, 1 to 64, the same for both directions."""
    mixed = (xp.minimum(src, dst) * 2654435761 + xp.maximum(src, dst) * 40503) >> 7
    return (mixed % 64 + 1).astype(np.float32)


def sources(xp: Any, g: fr.Graph, count: int, seed: int) -> list[int]:
    """Vertices that have an edge, drawn by a seed; the same ones of the same graph everywhere, in whatever order."""
    degrees = to_host(xp.diff(g.offsets))
    original = g.vertices.get("original")
    now = np.arange(len(degrees)) if original is None else np.argsort(to_host(original))  # the id of each old vertex
    candidates = np.flatnonzero(degrees[now])
    chosen = np.random.default_rng(seed).choice(candidates, count, replace=len(candidates) < count)
    return [int(now[v]) for v in chosen]
