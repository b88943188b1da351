"""Transitive closures of real graphs: as bits with counts, and all pairs written out.

They stand for the graphs that closures of Datalog systems are measured on, which are not at hand: graphs of the data
folder, with edges as they are directed there; those of undirected graphs go from the lower to the higher id. ``NAME:K``
is the part of the first K vertices. ``NAME~K`` are the K vertices nearest to vertex 0, numbered in this order, so that
paths are long.

All pairs are written twice. One run is timed and throws them away. In the other, every piece is verified where it lies:
sources as often as they have targets, in order, and targets that ascend. The sum of all targets must be what the
closure of the reversed graph says, and the targets of a sample of sources are compared with searches by SciPy.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import frontier as fr
from benchmarks.devices import Array, Host, open_device
from benchmarks.gpu_catalogue import random_directed
from benchmarks.gpu_properties import closure as sampled
from benchmarks.graphs import DATA, Missing
from benchmarks.measurement import Measurement
from frontier.memory.arrays import to_host

DEFAULT = ("cit-HepPh", "ego-Twitter", "web-cnr-2000", "road-NE:175000", "road-NE~175000", "road-NE:500000")
HEADER = (
    f"{'graph':16} {'vertices':>9} {'edges':>9} {'components':>10} {'bits':>8} {'closure':>9} {'pairs':>15}"
    f" {'written':>9} {'rate':>11}  verified"
)


def load(name: str, device: Host) -> fr.Graph:
    """A directed graph by name, on the device."""
    if name.startswith(("random", "dense")):
        return random_directed(name, device)
    stem, near, most = name.partition("~" if "~" in name else ":")
    path = DATA / f"{stem}.npz"
    if not path.exists():
        raise Missing(f"{name}: there is no {path}; FRONTIER_DATA names the folder")
    with np.load(path) as file:
        src, dst, n, directed = file["src"], file["dst"], int(file["n"]), bool(file["directed"])
    count = min(int(most), n) if most else n
    if near == "~":
        place = _nearest(src, dst, n)
        src, dst = place[src], place[dst]
    if not directed:
        src, dst = np.minimum(src, dst), np.maximum(src, dst)
    kept = (src < count) & (dst < count)
    made = fr.from_edges(src[kept], dst[kept], num_vertices=count, directed=True, duplicates="first")
    return made.to(device.backend)


def _nearest(src: Array, dst: Array, n: int) -> Array:
    """The place of each vertex in the order of distances from vertex 0; those out of reach come last."""
    level = fr.bfs(fr.from_edges(src, dst, num_vertices=n), 0).level
    place = np.empty(n, np.int64)
    place[np.lexsort((np.arange(n), np.where(level < 0, n, level)))] = np.arange(n)
    return place


def measured(name: str, device: Host, arguments: argparse.Namespace) -> dict[str, Any]:
    """One row."""
    g = load(name, device)
    first = device.timed(lambda: fr.transitive_closure(g)).wall
    walls = []
    for _ in range(arguments.runs):
        device.free()  # no two of them fit
        walls.append(device.timed(lambda: fr.transitive_closure(g).pairs).wall)
    result = fr.transitive_closure(g)
    next(result.pairs_in_pieces(arguments.size), None)  # which compiles
    times = sorted(written(result, device, arguments) for _ in range(arguments.runs))
    seconds, pairs = times[len(times) // 2]
    row = {
        "graph": name, "vertices": g.num_vertices, "edges": g.num_edges, "components": len(result.size),
        "bits": int(result.rows.nbytes), "first_ms": first, "closure_ms": sorted(walls)[len(walls) // 2],
        "pairs": result.pairs, "written": pairs, "seconds": seconds, "rate": pairs / max(seconds, 1e-9),
    }  # fmt: skip
    wrong = verified(g, result, device, arguments) if arguments.verify else ["not verified"]
    return row | {"verified": "; ".join(wrong) or "yes"}


def written(result: Any, device: Host, arguments: argparse.Namespace) -> tuple[float, int]:
    """Seconds for all pairs, or for those that are written in the time that there is, and their number."""
    device.wait()
    began, pairs = time.perf_counter(), 0
    for sources, _ in result.pairs_in_pieces(arguments.size):
        pairs += len(sources)
        if time.perf_counter() - began > arguments.seconds:
            break
    device.wait()
    return time.perf_counter() - began, pairs


def verified(g: fr.Graph, result: Any, device: Host, arguments: argparse.Namespace) -> list[str]:
    """What is wrong with the pairs, in words."""
    xp, n, pairs, total, last, began = device.xp, g.num_vertices, 0, 0, -1, time.perf_counter()
    found, disorder, complete = xp.zeros(n, np.int64), 0, True
    for sources, targets in result.pairs_in_pieces(arguments.size):
        found += xp.bincount(sources, minlength=n)
        same = sources[1:] == sources[:-1]
        disorder += int((sources[1:] < sources[:-1]).sum()) + int((same & (targets[1:] <= targets[:-1])).sum())
        disorder += int(sources[0]) <= last
        last = int(sources[-1])
        pairs += len(sources)
        total += int(targets.sum(dtype=np.int64))
        if time.perf_counter() - began > 10 * arguments.seconds:
            complete = False
            break
    wrong = [f"{disorder} pairs out of order"] if disorder else []
    if complete:
        if pairs != result.pairs or bool((found != result.counts).any()):
            wrong.append("sources as often as they should not be")
        wrong += sampled(xp, g, result)
        wrong += _sampled_targets(result, arguments.size)
        del result
        device.free()
        back = fr.from_edges(to_host(g.targets), to_host(g.sources), num_vertices=n, directed=True).to(device.backend)
        counts = to_host(fr.transitive_closure(back).counts)
        if total != int((counts * np.arange(n)).sum()):
            wrong.append("targets whose sum is not that of the reversed graph")
    return wrong if wrong or complete else ["yes, as far as written"]


def _sampled_targets(result: Any, size: int) -> list[str]:
    """Rows of some sources that a piece begins with; those of a sample have been compared with searches."""
    for number, (sources, targets) in enumerate(result.pairs_in_pieces(size)):
        v = int(sources[0])
        if not np.array_equal(to_host(targets[sources == v]), result.row(v)):
            return [f"targets of {v}"]
        if number == 15:
            break
    return []


def line(row: dict[str, Any]) -> str:
    """A row as text."""
    return (
        f"{row['graph']:16} {row['vertices']:9,} {row['edges']:9,} {row['components']:10,} {row['bits'] / 1e9:5.2f} GB"
        f" {row['closure_ms']:6.0f} ms {row['pairs']:15,} {row['seconds']:7.2f} s {row['rate'] / 1e9:7.3f} G/s"
        f"  {row['verified']}"
    )


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="closures as bits, and all their pairs")
    parser.add_argument("--graphs", nargs="+", default=DEFAULT, metavar="GRAPH",
                        help="NAME.npz of the data folder, NAME:K or NAME~K for K of its vertices")  # fmt: skip
    parser.add_argument("--backend", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--size", type=int, default=1 << 24, help="pairs in a piece")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10.0, help="for writing; ten times that to verify")
    parser.add_argument("--verify", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table as results/ has it")
    return parser.parse_args()


def main() -> int:
    """Measure and verify all graphs; 1 if one failed."""
    arguments = parse()
    device, rows, bad = open_device(arguments.backend), [], False
    facts = device.facts()
    print(f"{facts['device']}; {facts['date']}, commit {facts['commit']}\n{HEADER}", flush=True)
    for name in arguments.graphs:
        try:
            rows.append(measured(name, device, arguments))
        except (Missing, fr.FrontierMemoryError) as error:
            print(f"{name:16} left out: {error}", flush=True)
            continue
        print(line(rows[-1]), flush=True)
        bad |= arguments.verify and not rows[-1]["verified"].startswith("yes")
        device.free()
    if arguments.json and rows:
        Measurement.now("Transitive closures, and all their pairs", rows, gpu=device.gpu).write(arguments.json)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
