"""The work of the benchmark on GPUs: each makes its share of the list of edges, and checks results against it.

The list lies in the memory of the GPUs where the graph can be built beside it, and otherwise in that of the host. Once
the graph is built it is dropped: what goes through the edges later makes them again
(:mod:`frontier.graph500.kernels`), in a kernel that reads nothing but the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.cuda.plain_kernels import PlainKernel
from frontier.distributed.devices import building, together
from frontier.errors import GraphError
from frontier.generators.random_numbers import check_room, draws, keys
from frontier.graph.shares import Piece, Shares
from frontier.graph500.generator import ROUNDS, generate
from frontier.graph500.report import Held
from frontier.graph500.validation import Evidence, check_length, fail_edge
from frontier.graph500.work import Work
from frontier.memory import detection
from frontier.memory.arrays import to_host
from frontier.memory.placement import Placement

if TYPE_CHECKING:
    from collections.abc import Callable

    from frontier.distributed.devices.numbering import Numbering
    from frontier.graph.graph import Graph
    from frontier.graph500.validation import Tree
    from frontier.memory.base import Memory

__all__ = ["OnGpus", "table_of"]

_KERNELS = "frontier.graph500.kernels"
_make = PlainKernel(_KERNELS, "make_edges", ["int64"] * 7)
_mark = PlainKernel(_KERNELS, "mark_neighbors", ["int64"] * 5)
_check = {
    "bfs": PlainKernel(_KERNELS, "check_levels", ["int64"] * 7),
    "sssp": PlainKernel(_KERNELS, "check_distances", ["int64"] * 7),
}

#: The largest scale: what is checked has parents of 32 bits, as kernels read them in one go with levels or distances.
MOST = 31

#: Bytes of an edge in the list: two ids of 64 bits and a weight.
EDGE = 20

#: Bytes for each edge of the list that building a graph takes: its rows both ways, and half of them once more.
ROWS = 16 + 8

#: Bytes that it takes for each edge slot of the rows that are sorted in one go.
SORTED = 80

#: Edges per vertex of the graph that is built before the clock runs.
MANY = 256

#: Bytes for each vertex that checking a result takes, and those that it takes where the tree is made.
RESULT, TREE = 9, 29


def table_of(seed: int) -> Any:
    """What the kernels draw edges from: two seeds, then a factor and a summand for each round of scrambling."""
    ends, names, weights = keys(seed)
    rounds = draws(names, 2 * ROUNDS)
    rounds[::2] |= np.uint64(1)
    return np.concatenate((np.array([ends, weights], np.uint64), rounds))


class OnGpus(Work):
    """What is done with the list of edges, by one GPU or several of this process.

    Parameters
    ----------
    scale, edgefactor, seed : int
        What the edges are, see :func:`frontier.graph500.generator.generate`.
    place : Placement
        Where the graph shall be.

    Raises
    ------
    GraphError
        If the scale is more than 31.

    Attributes
    ----------
    lies : {"device", "host"}
        Where the list lies.
    """

    _numbering: Numbering

    def __init__(self, scale: int, edgefactor: int, seed: int, place: Placement) -> None:
        if scale > MOST:
            raise GraphError(f"graph500 on GPUs: scale is at most {MOST}, not {scale}")
        self._scale, self._factor, self._seed, self._place = scale, edgefactor, seed, place
        self._count, self.memory = edgefactor << scale, place.memory
        self._memories: tuple[Memory, ...] = tuple(place.backend.parts_for(self._count)) or (place.memory,)
        self._pieces: dict[tuple[int, int], tuple[Any, Any, Any]] = {}
        self._tables = self._each(lambda part: self._memories[part].moved(table_of(seed)))
        self._num_vertices = 0
        self.lies = "device" if self._fits() else "host"
        self._peak = dict.fromkeys(getattr(place.backend, "memories", self._memories), 0)

    def _each(self, work: Callable[[int], Any]) -> list[Any]:
        return together.on_gpus(self._memories, work, "the edges of a Graph500 graph")

    def _fits(self) -> bool:
        """Whether the graph can be built while the list lies in the memory of the GPUs."""
        for memory in set(self._memories):
            own = -(-self._count * self._memories.count(memory) // len(self._memories))
            beside = SORTED * min(2 * own, building.BLOCK) + (32 << self._scale)
            if own * (EDGE + ROWS) + beside > memory.free():
                return False
        return True

    # ---- the list --------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Make and build a very small graph in the same way, which loads what is compiled."""
        # With so many edges of few vertices every GPU meets loops and duplicates, for which there are more kernels.
        small = OnGpus(min(self._scale, 4), MANY, self._seed, self._place)
        small._memories, small._tables = self._memories, self._tables
        small.generate()
        small.construct()

    def generate(self) -> None:
        """Make the list, each GPU what it will read of it."""
        parts, host = len(self._memories), None
        if self.lies == "host":
            check_room(0, self._count)
            host = [np.empty(self._count, kind) for kind in (np.int64, np.int64, np.float32)]

        def made(part: int) -> int:
            memory, most = self._memories[part], -1
            for turn in building.turns(self._count, parts):
                lo, hi = building.share_of(turn, part, parts)
                if lo == hi:
                    continue
                src, dst, weight = (memory.xp.empty(hi - lo, kind) for kind in (np.int64, np.int64, np.float32))
                _make(memory, lo, hi, self._scale, self._tables[part], src, dst, weight)
                most = max(most, int(src.max()), int(dst.max()))
                if host is not None:
                    for there, values in zip(host, (src, dst, weight), strict=True):
                        _bring(values, there[lo:hi])
                    src, dst, weight = (there[lo:hi] for there in host)
                self._pieces[lo, hi] = src, dst, weight
            return most

        self._num_vertices = 1 + max(self._each(made))
        self.note()

    def _piece(self, memory: Memory, lo: int, hi: int) -> Piece:
        """A piece of the list, in the memory of the GPU that has made it."""
        if lo == hi:
            return Piece(*(memory.xp.empty(0, kind) for kind in (np.int64, np.int64, np.float32)))
        return Piece(*map(memory.moved, self._pieces[lo, hi]))

    def construct(self) -> Graph:
        """Build the graph, whose vertices have numbers of their own, and drop the list."""
        shares = Shares(self._count, self._on_host, self._num_vertices, make_on=self._piece)
        several = len(self._memories) > 1
        place = self._place if several else Placement.parse(f"cuda{self.memory.part}")
        graph, self._numbering = building.build_numbered(shares, place, self._memories, duplicates="min")
        self._pieces.clear()
        self.note()
        for memory in () if detection.simulated() else self._memories:
            with memory.using():  # blocks of the list and of unsorted rows suit nothing that comes
                detection.cupy().get_default_memory_pool().free_all_blocks()
        return graph.to(self._place)

    def _on_host(self, lo: int, hi: int) -> Piece:
        edges = generate(self._scale, self._factor, seed=self._seed, lo=lo, hi=hi)
        return Piece(edges.src, edges.dst, edges.weight)

    # ---- ids of the list and vertices of the graph ------------------------------------------------

    def vertex(self, given: int) -> int:
        """The vertex of an id of the list."""
        return self._numbering.vertex(given)

    def restored(self, found: dict[str, Any]) -> dict[str, Any]:
        """Results by the ids of the list, each where its GPU has found it."""
        return self._numbering.restored(found)

    # ---- what goes through the edges --------------------------------------------------------------

    def _over(self, kernel: PlainKernel, num_vertices: int, *more: Any) -> tuple[Any, list[Any]]:
        """Let each GPU go through its share of the edges; gives the marks of vertices of all, and their counts."""
        parts = len(self._memories)

        def one(part: int) -> tuple[Any, list[int]]:
            memory = self._memories[part]
            lo, hi = building.share_of((0, self._count), part, parts)
            marks = memory.xp.zeros(num_vertices, np.bool_)
            counts = memory.moved(np.array([self._count, 0], np.int64))
            given = [memory.moved(each) for each in more]
            kernel(memory, lo, hi, self._scale, self._tables[part], *given, marks, *([counts] if given else ()))
            return marks, counts.tolist()

        found = self._each(one)
        with self.memory.using("the marks of vertices"):
            marks = self.memory.moved(found[0][0])
            for more_marks, _ in found[1:]:
                marks |= self.memory.moved(more_marks)
            self.memory.synchronize()
        return marks, [counts for _, counts in found]

    def connected(self, graph: Graph) -> Any:
        """Whether each id has an edge to another one; on the host."""
        marks, _ = self._over(_mark, self._num_vertices)
        return to_host(marks)

    def evidence(self, tree: Tree) -> Evidence:
        """Check the rules on edges."""
        check_length(tree, self._num_vertices)
        n, xp = len(tree.parent), self.memory.xp
        with self.memory.using("a tree that is checked"):
            pairs = xp.empty((n, 2), np.int32)
            pairs[:, 1] = tree.parent
            if tree.distance is None:
                pairs[:, 0] = tree.level
            else:
                pairs.view(np.float32)[:, 0] = tree.distance
            self.memory.synchronize()
        joined, counts = self._over(_check[tree.kernel], n, pairs)
        first = min(bad for bad, _ in counts)
        if first < self._count:
            edge = generate(self._scale, self._factor, seed=self._seed, lo=first, hi=first + 1)
            with self.memory.using("a tree that is checked"):
                fail_edge(edge, tree, 0)
        return Evidence(joined, sum(inside for _, inside in counts))

    # ---- memory ----------------------------------------------------------------------------------

    def make_room(self) -> None:
        """Let past searches give back memory if checking a result may need it."""
        for memory in self._peak:  # asking how much is free gives back what is kept, where it must
            memory.free(self._num_vertices * (TREE if memory is self.memory else RESULT))

    def note(self) -> None:
        """Note how much memory of each GPU is in use, with what CuPy keeps of it."""
        if detection.simulated():
            return
        for memory in self._peak:
            with memory.using():
                free, total = detection.runtime().memGetInfo()
                self._peak[memory] = max(self._peak[memory], total - free)

    def held(self, graph: Graph) -> Held:
        """What the graph and its numbering take, and the most that was in use after any step so far."""
        self.note()
        arrays = list(graph._topology.arrays())
        edges = sum(array.nbytes for kind, array in arrays if kind == "edges")
        vertices = sum(array.nbytes for kind, array in arrays if kind != "edges")
        gpus = len(self._peak)
        vertices = gpus * vertices + self._numbering.nbytes
        copies = gpus if graph._topology.spread is None else 1
        return Held(self.lies, vertices / self._num_vertices, copies * edges / self._count, list(self._peak.values()))


def _bring(values: Any, there: Any) -> None:
    """Copy an array to one of the host."""
    if isinstance(values, np.ndarray):
        there[...] = values
    else:
        values.get(out=there)
