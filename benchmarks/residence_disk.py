"""Edges on a disk: the parts ``disk``, ``build`` and ``limit`` of ``benchmarks.residence``."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import frontier as fr
from benchmarks.devices import Host
from benchmarks.limited import LONG, SHORT, forget, limited, read_plainly
from benchmarks.residence_table import Table, checked, edge_bytes, ranks
from frontier.memory.arrays import to_host
from frontier.memory.limits import parsed

#: Slots that are looked at together.
BLOCK = 1 << 24


def disk(g: fr.Graph, device: Host, table: Table, folder: str) -> None:
    """A sweep over files that the system has forgotten."""
    path = Path(folder) / "residence.frontier"
    fr.write(g.to("cpu"), path)
    there, size, file = fr.open(path), edge_bytes(g), path / "targets.bin"
    expected = ranks(g, 1)

    def fastest(call: Callable[[], Any]) -> tuple[float, Any]:
        found, best = None, float("inf")
        for _ in range(3):
            forget(file, there.targets)
            start = time.perf_counter()
            found = call()
            device.wait()
            best = min(best, (time.perf_counter() - start) * 1e3)
        return best, found

    plain, _ = fastest(lambda: read_plainly(file))
    table.add("disk", "read in order, by one thread", plain, size)
    for backend in ("cuda", "cpu") if device.backend == "cuda" else ("cpu",):
        far = there.to(backend, edges="disk")
        ranks(far, 1)
        took, rank = fastest(lambda far=far: ranks(far, 1))
        word = f"{checked(rank, expected)}, {plain / took:.2f} of the reader"
        table.add("disk", f"an iteration of PageRank, {backend}", took, size, word)
        start = time.perf_counter()
        ranks(far, 1)
        table.add("disk", "  the same, in the system's cache", (time.perf_counter() - start) * 1e3, size)
        source = int(to_host(g.out_degree).argmax())
        took, found = fastest(lambda far=far, source=source: fr.bfs(far, source))
        table.add("disk", f"BFS, {backend}", took, 0, checked(found.level, fr.bfs(g, source).level))


def build(edges: int, degree: int, memory: str, table: Table, folder: str) -> Path:
    """Make a graph of random edges in one file; half of the memory is for edges that are sorted."""
    n, path, out = max(edges // degree, 2), Path(folder) / "edges.npz", Path(folder) / "built.frontier"
    expected = _written(path, n, edges)
    found = limited(parsed(memory), "building", str(path), str(out), str(parsed(memory) // 2))
    path.unlink()
    g = fr.open(out, check=True)
    slots = sum((mark(src, g.targets[a:b]) for src, a, b in _blocks(g)), start=0) % 2**64
    word = "equal" if (g.num_slots, slots) == expected else "WRONG"
    rate, peak = edges / found["seconds"] / 1e6, found["resident"] / 2**30
    note = f"{word}, {rate:.2f} million a second, {memory} allowed ({found['how']}), {peak:.2f} GiB resident"
    table.add("build", f"{edges:,} edges, {n:,} vertices", found["seconds"] * 1e3, edges * 16, note)
    return out


def limit(edges: int, degree: int, memory: str, most: str, table: Table, folder: str) -> None:
    """PageRank and BFS with less memory than the edges take, beside a program that only reads them."""
    path = Path(folder) / "built.frontier"
    if not path.exists():
        build(edges, degree, memory, table, folder)
    found = limited(parsed(most), "running", str(path))
    g = fr.open(path)
    results = {name: np.load(path.parent / f"{name}.npy") for name in ("short", "long", "level")}
    size = edge_bytes(g)
    seconds, read, _ = min(found["readers"])
    table.add("limit", "read in order, by one thread", seconds * 1e3, read)
    took, swept, cores = found["iteration"]
    note = f"{swept / took / (read / seconds):.2f} of the reader, {cores:.1f} s of cores"
    right = checked(results["long"], _ranks_of(g, results["short"], LONG - SHORT))
    table.add("limit", "an iteration of PageRank", took * 1e3, swept, f"{right}, {note}")
    took, swept, _ = found["first"]
    right = checked(results["short"], _ranks_of(g, np.full(g.num_vertices, 1 / g.num_vertices), SHORT))
    table.add("limit", "the first one, and what is before", took * 1e3, swept, right)
    took, swept, cores = found["search"]
    right = "equal" if _are_levels(g, results["level"], found["source"]) else "WRONG"
    table.add("limit", "BFS", took * 1e3, swept, f"{right}, {cores:.1f} s of cores, {swept / size:.0%} of the edges")
    print(f"  {most} allowed ({found['how']}): {found['resident'] / 2**30:.2f} GiB resident, pages of files included")


# ---- random edges, and what is right ---------------------------------------------------------------------------


def _written(path: Path, n: int, edges: int) -> tuple[int, int]:
    """Write random edges part by part; how many slots the graph will have, and the mark of them all.

    Vertices of small numbers have many edges: the ends are n u³ for a random u.
    """
    slots, marks = 0, 0

    def ends(seed: int, first: int) -> Any:
        u = np.random.default_rng([seed, first]).random(min(BLOCK, edges - first))
        return (u * u * u * n).astype(np.int64)

    with zipfile.ZipFile(path, "w", allowZip64=True) as file:
        for name, seed in (("src", 1), ("dst", 2)):
            with file.open(f"{name}.npy", "w", force_zip64=True) as out:
                head = {"descr": "<i8", "fortran_order": False, "shape": (edges,)}
                np.lib.format.write_array_header_1_0(out, head)  # type: ignore[arg-type]
                for first in range(0, edges, BLOCK):
                    ids = ends(seed, first)
                    out.write(ids.data)
                    other = ends(3 - seed, first)
                    kept = slice(None) if seed == 1 else ids != other  # a loop has one slot
                    slots += len(ids[kept])
                    marks += mark(ids[kept], other[kept])
    return slots, marks % 2**64


def mark(src: Any, dst: Any) -> int:
    """A number that depends on which pairs there are, and not on their order."""
    mixed = src.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + dst.astype(np.uint64)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    return int(mixed.sum())


def _blocks(g: fr.Graph) -> Iterator[tuple[Any, int, int]]:
    """Sources of the slots of whole rows, and which slots these are."""
    offsets, first = g.offsets, 0
    while first < g.num_vertices:
        upto = int(np.searchsorted(offsets, int(offsets[first]) + BLOCK, side="right")) - 1
        last = max(upto, first + 1)
        src = np.repeat(np.arange(first, last), np.diff(offsets[first : last + 1]))
        yield src, int(offsets[first]), int(offsets[last])
        first = last


def _gathered(g: fr.Graph, values: Any, how: np.ufunc, nothing: Any) -> Any:
    """What the values of the neighbours of each vertex come to, by NumPy."""
    found = np.full(g.num_vertices, nothing, values.dtype)
    for src, a, b in _blocks(g):
        if a < b:
            begins = np.flatnonzero(np.diff(src, prepend=-1))
            found[src[begins]] = how.reduceat(values[g.targets[a:b]], begins)
    return found


def _ranks_of(g: fr.Graph, rank: Any, times: int) -> Any:
    """PageRank, so many iterations later."""
    degree = np.diff(g.offsets)
    for _ in range(times):
        share = np.where(degree > 0, rank / np.maximum(degree, 1), 0)
        rank = 0.85 * (_gathered(g, share, np.add, 0) + rank[degree == 0].sum() / len(rank)) + 0.15 / len(rank)
    return rank


def _are_levels(g: fr.Graph, level: Any, source: int) -> bool:
    """Whether every other vertex is one level below the highest of its neighbours, and the source on level 0."""
    far = np.iinfo(np.int32).max
    known = np.where(level >= 0, level, far).astype(np.int32)
    expected = _gathered(g, known, np.minimum, far)
    expected += expected < far
    expected[source] = 0
    return np.array_equal(known, expected)
