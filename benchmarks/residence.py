"""Graphs larger than the GPU's memory: what it costs where the edges lie. ``python -m benchmarks.residence --help``.

Parts of the table, each of which may be asked for alone:

link   an iteration of PageRank with all edges on the GPU, half of them, none; plain and compressed; beside the rate of
       the copy engine, measured in the same run, and the host's cores, by Frontier and by C++ with OpenMP
cupy   the same iteration as a user of CuPy would write it: products with pieces of a sparse matrix, which are copied to
       two buffers in turn
cap    PageRank and BFS where at most a tenth of the edges may lie on the GPU
bfs    searches with the edges in the host's memory: which part of the edges they read, and of the time of a sweep
large  PageRank and BFS of a graph of which at most a tenth of the edges may lie on the GPU, made in the host's memory
gpus   an iteration of PageRank on one GPU and on two, with all edges in the host's memory and half of them; the rate of
       each copy engine, alone and at once
disk   a sweep over edges in files, from the GPU and the CPU, beside a program that only reads the files; the system
       forgets the files before each
build  a Frontier graph of a file of edges, with little memory
limit  PageRank and BFS on the CPU, of that graph, by a process that may use less memory than the edges take

Every result is compared with that of the graph whose edges are on the GPU.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import frontier as fr
from benchmarks import gpu_graphs
from benchmarks.devices import open_device
from benchmarks.measurement import Measurement
from benchmarks.residence_disk import build, disk, limit
from benchmarks.residence_gpus import gpus
from benchmarks.residence_host import compiled_iteration
from benchmarks.residence_large import large
from benchmarks.residence_table import ITERATIONS, Table, checked, edge_bytes, iteration, ranks
from frontier.memory.arrays import to_host

ON_DISK = ("disk", "build", "limit")
PARTS = ("link", "cupy", "cap", "bfs", "large", "gpus", *ON_DISK)
DAMPING = 0.85


def copy_rate(device: Any, size: int = 1 << 28) -> float:
    """Bytes a second of the copy engine, from pinned memory."""
    cupy = device.cupy
    host, here = cupy.cuda.alloc_pinned_memory(size), cupy.empty(size, np.uint8)
    stream = cupy.cuda.Stream(non_blocking=True)
    best = 0.0
    for _ in range(5):
        start = time.perf_counter()
        here.data.copy_from_host_async(host.ptr, size, stream)
        stream.synchronize()
        best = max(best, size / (time.perf_counter() - start))
    return best


# ---- parts -----------------------------------------------------------------------------------------------------


def link(g: fr.Graph, device: Any, table: Table) -> None:
    """PageRank by residence."""
    rate = copy_rate(device)
    table.add("link", "copy engine", (1 << 28) / rate * 1e3, 1 << 28)
    far, small = g.to("cpu"), g.compressed()
    size = edge_bytes(g)
    took, expected = iteration(g, device)
    table.add("link", "all on the GPU", took, size)
    host, rank = iteration(far.to("cuda", edges="host"), device)
    share = size / host * 1e3 / rate
    table.add("link", "all on the host", host, size, f"{checked(rank, expected)}, {share:.2f} of the copy engine")
    some = capped(far, size // 2)
    if some is not None:
        half, rank = iteration(some, device)
        word = f"{checked(rank, expected)}, {host / half:.2f}x as fast as all on the host"
        table.add("link", "half on the host", half, size // 2, word)
    bits = edge_bytes(small) * 8 / g.num_slots
    packed, rank = iteration(small, device)
    word = f"{checked(rank, expected)}, {bits:.1f} bits a slot"
    table.add("link", "compressed, on the GPU", packed, edge_bytes(small), f"{word}, {packed / took:.2f}x as long")
    packed, rank = iteration(small.to("cpu").to("cuda", edges="host"), device)
    word = f"{checked(rank, expected)}, {host / packed:.2f}x plain"
    table.add("link", "compressed, on the host", packed, edge_bytes(small), word)
    again, rank = iteration(far, device)
    table.add("link", f"cpu, {os.cpu_count()} cores", again, size, checked(rank, expected))
    compiled = compiled_iteration(far, ITERATIONS)
    if compiled is not None:
        word = f"{checked(compiled[1], expected, 1e-3)}, {compiled[0] / host:.2f}x as long as all on the host"
        table.add("link", f"C++ and OpenMP, {os.cpu_count()} cores", compiled[0], size, word)


def capped(far: fr.Graph, size: int) -> fr.Graph | None:
    """The graph with so many bytes of edges on the GPU, if CUDA has one range of addresses for both memories."""
    try:
        return far.to("cuda", memory=size)
    except fr.GraphError as error:
        print(f"  left out: {error}")
        return None


def cupy(g: fr.Graph, device: Any, table: Table) -> None:
    """A power iteration with pieces of the matrix on their way while the one before is multiplied."""
    from cupyx.scipy import sparse

    xp, n, rows = device.xp, g.num_vertices, 1 << 23
    offsets, ends = to_host(g.offsets).astype(np.int64), to_host(g.targets)
    cuts = [0]
    while cuts[-1] < n:
        upto = np.searchsorted(offsets, offsets[cuts[-1]] + rows, side="right") - 1
        cuts.append(min(max(int(upto), cuts[-1] + 1), n))
    pieces = list(pairwise(cuts))
    most = max(int(offsets[b] - offsets[a]) for a, b in pieces)
    pinned = device.cupy.cuda.alloc_pinned_memory(ends.nbytes)
    there = np.frombuffer(pinned, ends.dtype, len(ends))
    there[:] = ends
    buffers = [xp.empty(most, ends.dtype) for _ in range(2)]
    ones, starts = xp.ones(most, np.float32), xp.asarray(offsets.astype(np.int32))
    copying, ready = device.cupy.cuda.Stream(non_blocking=True), [device.cupy.cuda.Event() for _ in range(2)]
    used = [device.cupy.cuda.Event() for _ in range(2)]
    degree = xp.asarray(np.diff(offsets).astype(np.float64))

    def send(i: int) -> None:
        a, b = pieces[i]
        copying.wait_event(used[i % 2])
        part = there[offsets[a] : offsets[b]]
        if part.nbytes:
            buffers[i % 2].data.copy_from_host_async(part.ctypes.data, part.nbytes, copying)
        ready[i % 2].record(copying)

    def once(rank: Any) -> Any:
        share = xp.where(degree > 0, rank / xp.maximum(degree, 1), 0).astype(np.float32)
        found = xp.empty(n, np.float32)
        send(0)
        for i, (a, b) in enumerate(pieces):
            if i + 1 < len(pieces):
                send(i + 1)
            device.cupy.cuda.get_current_stream().wait_event(ready[i % 2])
            count = int(offsets[b] - offsets[a])
            indptr = starts[a : b + 1] - starts[a]
            piece = sparse.csr_matrix((ones[:count], buffers[i % 2][:count], indptr), shape=(b - a, n))
            found[a:b] = piece @ share
            used[i % 2].record()
        hanging = rank[degree == 0].sum()
        return (1 - DAMPING) / n + DAMPING * (found.astype(np.float64) + hanging / n)

    def run(times: int) -> Any:
        rank = xp.full(n, 1 / n)
        for _ in range(times):
            rank = once(rank)
        device.wait()
        return rank

    rank = run(ITERATIONS)
    start = time.perf_counter()
    run(ITERATIONS)
    took = (time.perf_counter() - start) / ITERATIONS * 1e3
    ours, expected = iteration(g.to("cpu").to("cuda", edges="host"), device)
    word = f"{checked(rank, expected)}, {took / ours:.2f}x as long as Frontier"
    table.add("cupy", "pieces of a sparse matrix", took, edge_bytes(g), word)


def cap(g: fr.Graph, device: Any, table: Table) -> None:
    """A tenth of the edges on the GPU."""
    size = edge_bytes(g)
    there = capped(g.to("cpu"), size // 10)
    if there is None:
        return
    took, rank = iteration(there, device)
    table.add("cap", f"PageRank, {size // 10:,} bytes", took, size, checked(rank, ranks(g, ITERATIONS)))
    source = int(to_host(g.out_degree).argmax())
    fr.bfs(there, source)
    timed = device.timed(lambda: fr.bfs(there, source))
    table.add("cap", "BFS", timed.wall, 0, checked(timed.result.level, fr.bfs(g, source).level))


def bfs(g: fr.Graph, device: Any, table: Table) -> None:
    """Searches, beside a sweep over all edges."""
    there, size = g.to("cpu").to("cuda", edges="host"), edge_bytes(g)
    sweep, _ = iteration(there, device)
    table.add("bfs", "an iteration of PageRank", sweep, size)
    degree = to_host(g.out_degree)
    sources = np.random.default_rng(1).choice(np.flatnonzero(degree), 4, replace=False).tolist()
    for source in sources:
        fr.bfs(there, source)
        timed = min((device.timed(lambda s=source: fr.bfs(there, s)) for _ in range(3)), key=lambda each: each.wall)
        with fr.trace() as t:
            fr.bfs(there, source)
        read = sum(row.edges for row in t.rows) * g.id_dtype.itemsize
        word = f"{checked(timed.result.level, fr.bfs(g, source).level)}, {timed.wall / sweep:.2f} of a sweep"
        table.add("bfs", f"from {source}", timed.wall, read, f"{word}, {read / size:.1%} of the edges")


# ---- the program -------------------------------------------------------------------------------------------------


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=["link", "cupy", "cap", "bfs", "disk"])
    parser.add_argument("--graph", default="rmat23", help=gpu_graphs.HELP)
    parser.add_argument("--backend", choices=("cuda", "cpu"), default="cuda", help=f"cpu: only {', '.join(ON_DISK)}")
    parser.add_argument("--folder", help="on the disk to measure; by default that of temporary files")
    parser.add_argument("--edges", type=int, default=10**7, help="of the file that is built; 1000000000 takes long")
    parser.add_argument("--degree", type=int, default=64, help="edges there for each vertex")
    parser.add_argument("--scale", type=int, default=28, help="of the graph of part large; 28 takes 100 GB of memory")
    parser.add_argument("--cap", default="4GiB", help="of edges on the GPU there")
    parser.add_argument("--memory", default="4GiB", help="allowed for building")
    parser.add_argument("--limit", default="2GiB", help="allowed for running")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table as results/ has it")
    options = parser.parse_args()
    device = open_device(options.backend)
    parts = [each for each in options.parts if options.backend == "cuda" or each in ON_DISK]
    folder = tempfile.mkdtemp(prefix="frontier-", dir=options.folder)
    facts = device.facts()
    print(f"{options.graph}; {facts['device']}; {facts['date']}, commit {facts['commit']}")
    try:
        g = None
        if not set(parts) <= {"build", "limit", "large"}:
            made = gpu_graphs.make(options.graph, device).graph
            g = fr.Graph(made.offsets, made.targets, directed=False, placement=device.backend, check=False)
            del made
            device.free()
            print(f"{g}")
        table = Table()
        for part in parts:
            if part == "build":
                build(options.edges, options.degree, options.memory, table, folder)
            elif part == "limit":
                limit(options.edges, options.degree, options.memory, options.limit, table, folder)
            elif part == "large":
                large(options.scale, options.cap, device, table)
            elif part == "disk":
                disk(g, device, table, folder)  # type: ignore[arg-type]
            elif part == "gpus":
                gpus(g, device, table)  # type: ignore[arg-type]
            else:
                globals()[part](g, device, table)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if options.json and table.rows:
        made = Measurement.now("Edges in other memory and on the disk", table.rows, gpu=device.gpu)
        made.write(options.json)
    if any("WRONG" in row["note"] for row in table.rows):
        raise SystemExit("some results are wrong")


if __name__ == "__main__":
    main()
