"""Part ``gpus`` of ``benchmarks.residence``: edges in the host's memory, read by two GPUs, each over its own link."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

import frontier as fr
from benchmarks.residence_table import Table, checked, edge_bytes, iteration, ranks
from frontier.memory import detection
from frontier.memory.arrays import to_host

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.devices import Host

__all__ = ["gpus"]

#: Bytes that the copy engines copy, and how often.
SIZE, TIMES = 1 << 28, 5

#: Iterations of PageRank in a trace.
TRACED = 10


def gpus(g: fr.Graph, device: Host, table: Table) -> None:
    """PageRank and searches on one GPU and on two; on one, two parts of it take their place."""
    names = list(detection.every())
    devices = (names * 2)[:2] if len(names) < 2 else names[:2]
    several = f"cuda:{','.join(map(str, devices))}"
    rates(dict.fromkeys(devices), table)
    far, size = g.to("cpu"), edge_bytes(g)
    _, expected = iteration(g, device)
    one, rank = iteration(far.to("cuda", edges="host"), device)
    table.add("gpus", "one GPU, all on the host", one, size, checked(rank, expected))
    there = far.to(several, edges="host")
    both, rank = iteration(there, device)
    word = f"{checked(rank, expected)}, {one / both:.2f}x as fast as one"
    table.add("gpus", f"{several}, all on the host", both, size, word)
    each(there, table)
    search(g, there, device, table)
    half = capped(far, several, size // 2 // len(set(devices)))
    if half is not None:
        took, rank = iteration(half, device)
        word = f"{checked(rank, expected)}, {both / took:.2f}x as fast as all on the host"
        table.add("gpus", f"{several}, half on the host", took, size // 2, word)


def rates(devices: Sequence[int] | dict[int, None], table: Table) -> None:
    """Time copies from pinned memory to each GPU alone, and to all at once."""
    made = [_Copy(index) for index in devices]
    for copy in made:
        took = _best([copy])
        table.add("gpus", f"copy engine of GPU {copy.index}", took * 1e3, SIZE)
    if len(made) > 1:
        table.add("gpus", "copy engines of all at once", _best(made) * 1e3, SIZE * len(made))


class _Copy:
    """A copy from pinned memory to a GPU."""

    def __init__(self, index: int) -> None:
        self._cupy, self.index = detection.cupy(), index
        with self._cupy.cuda.Device(index):
            self._host = self._cupy.cuda.alloc_pinned_memory(SIZE)
            np.frombuffer(self._host, np.uint8, SIZE)[:] = 1
            self._here = self._cupy.empty(SIZE, np.uint8)
            self._stream = self._cupy.cuda.Stream(non_blocking=True)

    def begin(self) -> None:
        with self._cupy.cuda.Device(self.index):
            self._here.data.copy_from_host_async(self._host.ptr, SIZE, self._stream)

    def wait(self) -> None:
        self._stream.synchronize()


def _best(copies: list[_Copy]) -> float:
    """Seconds in which all have copied."""
    found = []
    for _ in range(TIMES):
        start = time.perf_counter()
        for copy in copies:
            copy.begin()
        for copy in copies:
            copy.wait()
        found.append(time.perf_counter() - start)
    return min(found)


def each(there: fr.Graph, table: Table) -> None:
    """What each GPU reads in an iteration, and in which time it computes."""
    ranks(there, 1)
    with fr.trace() as t:
        ranks(there, TRACED)
    ways = {row.balance for row in t.rows if row.read}
    for total in t.ranks.values():
        note = f"the time that it computes; {', '.join(sorted(ways))}"
        table.add("gpus", f"GPU {total.rank}", total.computing * 1e3 / TRACED, total.read / TRACED, note)


def search(g: fr.Graph, there: fr.Graph, device: Host, table: Table) -> None:
    """A search from the vertex of highest degree."""
    source = int(to_host(g.out_degree).argmax())
    fr.bfs(there, source)
    timed = min((device.timed(lambda: fr.bfs(there, source)) for _ in range(3)), key=lambda made: made.wall)
    with fr.trace() as t:
        fr.bfs(there, source)
    read = sum(total.read for total in t.ranks.values())
    word = f"{checked(timed.result.level, fr.bfs(g, source).level)}, {read / edge_bytes(g):.1%} of the edges"
    table.add("gpus", f"BFS on {there.backend}", timed.wall, read, word)


def capped(far: fr.Graph, several: str, size: int) -> Any:
    """The graph with so many bytes of edges on each GPU, if CUDA has one range of addresses for all memories."""
    try:
        return far.to(several, memory=size)
    except fr.GraphError as error:
        print(f"  left out: {error}")
        return None
