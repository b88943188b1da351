"""Part ``large`` of ``benchmarks.residence``: ten times the edges that may lie on the GPU.

The graph has to be made in the host's memory, and quickly. Vertex v has an edge to v XOR m for each of 46 masks m, if a
hash of the smaller end and the mask allows it, as it does in seven of eight cases. So the graph is symmetric, its lists
are of different lengths and lead anywhere, and each is made by itself. 2²⁸ vertices have 10.8 billion slots.

The host checks the results: ranks by the definition, levels by those of the neighbours.
"""

from __future__ import annotations

import time
from typing import Any

import numba
import numpy as np

import frontier as fr
from benchmarks.devices import Host
from benchmarks.residence_table import Table, checked, edge_bytes, ranks
from frontier.memory.arrays import to_host
from frontier.memory.limits import parsed

MASKS = 46
#: Iterations after which ranks are compared; the host takes ten seconds for each.
CHECKED = 2
TIMED = 3
DAMPING = 0.85


def large(scale: int, cap: str, device: Host, table: Table) -> None:
    """PageRank and BFS of a graph of 2**scale vertices, of whose edges ``cap`` may lie on the GPU."""
    start = time.perf_counter()
    g = made(scale)
    size, allowed = edge_bytes(g), parsed(cap)
    print(f"{g}: made in {time.perf_counter() - start:.0f} s, {size / allowed:.1f} times {cap}", flush=True)
    offsets, targets = g.offsets, g.targets
    start = time.perf_counter()
    there = g.to("cuda", memory=allowed)
    device.wait()
    table.add("large", f"moved, {cap} to the GPU", (time.perf_counter() - start) * 1e3, size)

    short, rank = timed(there, device, CHECKED)
    right = checked(rank, ranks_of(offsets, targets, CHECKED))
    long, _ = timed(there, device, CHECKED + TIMED)
    note = f"{right}, of which {(size - allowed) / 1e6:,.0f} MB over the link"
    table.add("large", "PageRank, an iteration", (long - short) / TIMED, size, note)

    source = int(to_host(there.out_degree).argmax())
    fr.bfs(there, source)
    found = device.timed(lambda: fr.bfs(there, source))
    with fr.trace() as t:
        fr.bfs(there, source)
    read = sum(row.edges for row in t.rows) * g.id_dtype.itemsize
    right = "equal" if are_levels(offsets, targets, to_host(found.result.level), source) else "WRONG"
    table.add("large", "BFS", found.wall, read, f"{right}, {read / size:.1%} of the edges")


def timed(g: fr.Graph, device: Host, times: int) -> tuple[float, Any]:
    """Milliseconds of some iterations, and the ranks after them."""
    ranks(g, 1)
    start = time.perf_counter()
    rank = ranks(g, times)
    device.wait()
    return (time.perf_counter() - start) * 1e3, rank


def made(scale: int) -> fr.Graph:
    """The graph, in the host's memory."""
    n = 1 << scale
    masks = np.random.default_rng(1).choice(n - 1, MASKS, replace=False).astype(np.uint32) + np.uint32(1)
    offsets = np.zeros(n + 1, np.int64)
    _degrees(masks, offsets)
    np.cumsum(offsets, out=offsets)
    targets = np.empty(int(offsets[-1]), np.int32)
    _lists(masks, offsets, targets)
    return fr.Graph(offsets, targets, directed=False, placement="cpu", check=False)


def ranks_of(offsets: Any, targets: Any, times: int) -> Any:
    """PageRank after so many iterations."""
    n = len(offsets) - 1
    rank, degree = np.full(n, 1 / n), np.diff(offsets)
    for _ in range(times):
        share = np.where(degree > 0, rank / np.maximum(degree, 1), 0)
        _sums(offsets, targets, share, rank)
        rank = DAMPING * rank + (1 - DAMPING) / n  # every vertex has a neighbour
    return rank


def are_levels(offsets: Any, targets: Any, level: Any, source: int) -> bool:
    """Whether every other vertex is one level below the highest of its neighbours, and the source on level 0."""
    return level[source] == 0 and _wrong_levels(offsets, targets, level, source) == 0


@numba.njit(inline="always")
def _is_edge(v: Any, mask: Any) -> Any:
    """Whether there is an edge from v to v XOR mask."""
    x = np.uint64(min(v, v ^ mask)) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(mask) * np.uint64(0xD1342543DE82EF95)
    x ^= x >> np.uint64(29)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    return (x >> np.uint64(40)) & np.uint64(7) != 0


@numba.njit(parallel=True)
def _degrees(masks: Any, offsets: Any) -> None:
    """How many edges each vertex has, one place further."""
    for v in numba.prange(len(offsets) - 1):
        count = 0
        for k in range(len(masks)):
            count += _is_edge(np.uint32(v), masks[k])
        offsets[v + 1] = count


@numba.njit(parallel=True)
def _lists(masks: Any, offsets: Any, targets: Any) -> None:
    """The neighbours of each vertex, in ascending order."""
    for v in numba.prange(len(offsets) - 1):
        first = offsets[v]
        end = first
        for k in range(len(masks)):
            if _is_edge(np.uint32(v), masks[k]):
                other = np.int32(np.uint32(v) ^ masks[k])
                at = end
                while at > first and targets[at - 1] > other:
                    targets[at] = targets[at - 1]
                    at -= 1
                targets[at] = other
                end += 1


@numba.njit(parallel=True)
def _sums(offsets: Any, targets: Any, share: Any, found: Any) -> None:
    """What the neighbours of each vertex give."""
    for v in numba.prange(len(found)):
        total = 0.0
        for e in range(offsets[v], offsets[v + 1]):
            total += share[targets[e]]
        found[v] = total


@numba.njit
def _expected(offsets: Any, targets: Any, level: Any, v: Any) -> Any:
    """The level of a vertex by those of its neighbours; -1 if none of them was reached."""
    lowest = -1
    for e in range(offsets[v], offsets[v + 1]):
        other = level[targets[e]]
        if other >= 0 and (lowest < 0 or other < lowest):
            lowest = other
    return lowest + 1 if lowest >= 0 else -1


@numba.njit(parallel=True)
def _wrong_levels(offsets: Any, targets: Any, level: Any, source: int) -> int:
    """How many vertices have another level than their neighbours say."""
    wrong = 0
    for v in numba.prange(len(level)):
        wrong += v != source and level[v] != _expected(offsets, targets, level, v)
    return wrong
