"""Graphs whose edges are spread over the memories of several GPUs, each of which has those of its own vertices.

Every array with one entry for each edge slot is one range of addresses on all GPUs (:mod:`frontier.memory.spread`). So
kernels and arrays of CuPy are as on one GPU. Steps walk along the edges of a GPU's own vertices, which lie in its own
memory; what is read of others' comes over the links between GPUs. Offsets and columns of vertices are whole on each.
Of large fields of vertices, too, each GPU has the elements of its own vertices.

Where edges are to lie in the host's memory or on a disk, there is one array, too, of which each GPU reads the edges of
its own vertices over its own link; or of each GPU's stretch some pieces are in its memory, the others in the host's.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.cuda import bytes_of_edges
from frontier.backends.cuda import share_of as share_of_one
from frontier.distributed.devices import deriving, together
from frontier.distributed.partition.cuts import whole_words
from frontier.distributed.partition.partition import partition
from frontier.graph.graph import Graph
from frontier.graph.moving import plainly_on_host
from frontier.memory import detection, mixed, spread
from frontier.memory.arrays import adopt, is_device, to_host
from frontier.memory.disk import lies_on_disk
from frontier.memory.mixed import MixedMemory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from frontier.graph.topology import Topology
    from frontier.memory.base import Memory
    from frontier.memory.gpu import GpuMemory
    from frontier.memory.placement import Placement

__all__ = ["LEAST", "LEAST_FIELD", "Spread", "seen", "share_of", "spread_graph", "starts_of"]

#: Edge slots from which on edges are spread; each GPU has a copy of a smaller graph.
LEAST = 1 << 22

#: Bytes from which on fields of vertices are spread: of smaller ones little is copied, and all GPUs are waited for.
LEAST_FIELD = 1 << 26

#: What to advise if a GPU has no room for its part.
HINT = (
    "with more GPUs each has fewer edges, Graph.to('cuda:0,1,2'); narrower dtypes would help (Graph.memory_estimate() "
    "tells what each GPU holds); edges may stay in the host's memory, Graph.to('cuda:0,1', edges='auto')"
)
#: The same for fields.
FIELD_HINT = "use narrower dtypes; with more GPUs each has fewer vertices, Graph.to('cuda:0,1,2')"


class Spread:
    """How the edges of a graph are shared out.

    Attributes
    ----------
    memories : tuple of Memory
        Of the GPU of each part; one that is named twice has two parts.
    starts : ndarray of int64, shape (parts + 1,)
        First vertex of each part, and the number of vertices.
    bounds : ndarray of int64, shape (parts + 1,)
        First edge slot of each part, and the number of them.
    edges : Memory or None
        Where the edges lie, if not, or not all, in the memories of the GPUs.
    """

    def __init__(
        self, memories: Sequence[Memory], starts: NDArray[Any], bounds: NDArray[Any], edges: Memory | None = None
    ) -> None:
        self.memories, self.starts, self.bounds, self.edges = tuple(memories), starts, bounds, edges

    @property
    def resident(self) -> float:
        """Which part of its edges a GPU has in its own memory."""
        return 1.0 if self.edges is None else float(getattr(self.edges, "share", 0))

    def bytes_of(self, itemsize: int, bounds: NDArray[Any] | None = None) -> dict[Memory, int]:
        """Bytes that each GPU has of an array that is shared out as the slots are, or at other bounds."""
        made = dict.fromkeys(self.memories, 0)
        lengths = np.diff(self.bounds if bounds is None else bounds).tolist()
        for memory, length in zip(self.memories, lengths, strict=True):
            made[memory] += length * itemsize
        return made

    def empty(self, dtype: Any, bounds: NDArray[Any] | None = None) -> Any:
        """Return an array with an entry for each edge slot, shared out as the slots are, or at other bounds.

        It lies in the memories of the GPUs, wherever the edges are.
        """
        for memory, size in self.bytes_of(np.dtype(dtype).itemsize).items():
            memory.check_room(size, "edges of a graph", HINT)
        cuts = self.bounds if bounds is None else bounds
        with self.memories[0].using("edges of a graph"):
            return spread.empty(int(cuts[-1]), dtype, cuts.tolist(), [_index(memory) for memory in self.memories])

    def takes(self, length: int, dtype: Any) -> bool:
        """Whether fields of vertices of this dtype are shared out, too."""
        if length * np.dtype(dtype).itemsize < LEAST_FIELD:
            return False
        edges = self.edges  # on a disk: then the host divides programs, and all GPUs get all fields
        return edges is None or (edges.residence != "disk" and spread.possible(tuple(map(_index, self.memories))))

    def vertices(self, values: Any, dtype: Any) -> Any:
        """Return an array in which each GPU has the elements of its own vertices: given ones.

        Where there is one value for all, they do not have it yet: see :meth:`fill`.
        """
        what, cuts, itemsize = "a field of a problem", self.starts.tolist(), np.dtype(dtype).itemsize

        def check() -> None:
            for memory, size in self.bytes_of(itemsize, self.starts).items():
                memory.check_room(size, what, FIELD_HINT)

        with self.memories[0].using(what):
            made = spread.empty(cuts[-1], dtype, cuts, [_index(memory) for memory in self.memories], True, check)
        if np.ndim(values):
            self.wait()  # for whoever has used this memory before
            self._assign(made, values)
        return made

    def fill(self, arrays: Sequence[tuple[Any, Any]]) -> None:
        """Give all elements of each array that :meth:`vertices` has returned one value, and wait for all GPUs."""
        self.wait()
        cuts = self.starts.tolist()
        for part, memory in enumerate(self.memories):
            with memory.using("a field of a problem"):
                for array, value in arrays:
                    memory.fill(self.here(array, part)[cuts[part] : cuts[part + 1]], value)
        self.wait()

    def wait(self) -> None:
        """Wait for all GPUs."""
        for memory in dict.fromkeys(self.memories):
            memory.synchronize()

    def full(self, values: Any, dtype: Any) -> Any:
        """Return an array of values in the memories of the GPUs: one for all slots, or one for each, in any memory."""
        if self.edges is not None and not spread.possible(tuple(map(_index, self.memories))):
            made = self.memories[0].full(int(self.bounds[-1]), 0, dtype)
        else:
            made = self.empty(dtype)
        self._assign(made, values)
        return made

    def taken(self, values: Any, bounds: NDArray[Any] | None = None) -> Any:
        """Return values where the edges lie: the same array if they do, or are no numbers, as columns may be."""
        if self.edges is not None:
            return self._elsewhere(values, self.bounds if bounds is None else bounds)
        if spread.is_spread(values) or values.dtype.kind not in "biuf" or values.dtype.itemsize > 8:
            return values
        made = self.empty(values.dtype.newbyteorder("="), bounds)
        self._assign(made, values)
        return made

    def _elsewhere(self, values: Any, bounds: NDArray[Any]) -> Any:
        """Return values in the host's memory, in files, or partly on the GPUs."""
        edges, first = self.edges, self.memories[0]
        assert edges is not None
        with first.using("edges of a graph"):
            if not isinstance(edges, MixedMemory):
                return edges.moved(values)
            values = to_host(values)
            if detection.simulated() or values.dtype.kind not in "biuf" or values.dtype.itemsize > 8:
                return values
            plain = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
            return mixed.mixed(plain, edges.share, [_index(memory) for memory in self.memories], bounds.tolist())

    def _assign(self, made: Any, values: Any) -> None:
        """Write values to an array in parts, from the GPU where they are, or from the first."""
        first = self.memories[0]
        given = adopt(values) if is_device(values) else values
        if isinstance(made, np.ndarray) or np.ndim(given) == 0:
            with first.using("edges of a graph"):
                made[...] = to_host(given) if isinstance(made, np.ndarray) else given
            return
        if is_device(values):
            here = next((each for each in self.memories if _index(each) == given.device.id), None)
            if here is not None:
                with here.using("edges of a graph"):
                    spread.seen_by(made, _index(here))[...] = given
                    here.synchronize()
                return
        with first.using("edges of a graph"):
            for low, high in deriving.stretches(0, len(made)):
                piece = given[low:high]
                if is_device(piece):  # of a GPU that is none of these
                    made[low:high] = first.moved(piece)
                else:
                    made[low:high].set(np.ascontiguousarray(piece, made.dtype))
            first.synchronize()

    def each(self, work: Callable[[int], Any]) -> list[Any]:
        """Call a function for each part, whose GPU is current; several GPUs work at the same time."""
        return together.on_gpus(self.memories, work, "edges of a graph")

    def share_out(self, top: Topology, there: Placement) -> Topology:
        """Note how the edges of a graph are shared out, and that what is derived from them is made in parts.

        Where edges lie elsewhere as they have no room, it is made on the host.
        """
        top.spread, it = self, weakref.proxy(top)
        if self.edges is not None:
            top.recipes.update(_made_on_host(weakref.ref(top), self, there))
            return top
        top.recipes.update(
            sources=lambda: deriving.sources(it, self),
            in_lists=lambda: deriving.transposed(it, self, False)[:2],
            in_edges=lambda: deriving.in_edges(it, self),
            num_loops=lambda: deriving.num_loops(it, self),
        )
        return top

    def here(self, array: Any, part: int) -> Any:
        """An array in parts as one of a part's GPU."""
        return spread.seen_by(array, _index(self.memories[part]))


def _index(memory: Memory) -> int:
    """The number of a GPU."""
    return int(getattr(memory, "index", 0))


def starts_of(g: Graph, parts: int) -> NDArray[Any]:
    """First vertex of each part, and the number of vertices: ranges begin with words of bitmaps."""
    found = g._topology.spread
    if found is not None and len(found.memories) == parts:
        made: NDArray[Any] = found.starts
        return made
    return whole_words(partition(g, parts).starts)


def share_of(g: Graph, memories: Sequence[GpuMemory], limit: int | str | None) -> float:
    """Which part of its edges each GPU is to have in its own memory, so that all have room for theirs."""
    starts = starts_of(g, len(memories))
    parts = np.diff(to_host(g.offsets[g.placement.memory.moved(starts)])) / max(g.num_slots, 1)
    if not g.symmetric:
        inward = to_host(g.in_degree).astype(np.int64)
        parts = np.maximum(parts, np.add.reduceat(np.append(inward, 0), starts[:-1]) / max(g.num_slots, 1))
    size = bytes_of_edges(g)
    each = dict.fromkeys(memories, 0.0)
    for memory, part in zip(memories, parts.tolist(), strict=True):
        each[memory] += part * size
    return min(share_of_one(g, memory, mine, limit) for memory, mine in each.items())


# ---- copies of graphs ------------------------------------------------------------------------------------


def spread_graph(g: Graph, there: Placement, memories: Sequence[Memory]) -> Graph:
    """Copy a graph, from the host or a GPU, to several GPUs; none of them ever has all edges in its memory."""
    top, starts = g._topology, starts_of(g, len(memories))
    moved = g.placement.memory.moved
    made = Spread(memories, starts, to_host(top.offsets[moved(starts)]).astype(np.int64), there.edges)
    built = top.built()
    inward = [*built.get("in_lists", ())[1:], built.get("in_edges")]
    in_bounds = to_host(built["in_lists"][0][moved(starts)]).astype(np.int64) if "in_lists" in built else made.bounds
    _check_room(top, made, there)

    def copied(array: Any, kind: str) -> Any:
        if kind == "edges":
            return made.taken(array, in_bounds if any(array is each for each in inward) else None)
        return there.memory.moved(array, copy=there.memory is not g.placement.memory)

    with there.memory.using("the arrays of the graph"):
        copy = top.copied(copied)
        there.memory.synchronize()  # whichever stream reads them next
    copy.derived["origin"] = (g.placement, weakref.ref(top))
    return Graph._wrap(made.share_out(copy, there), there)


def _check_room(top: Topology, how: Spread, there: Placement) -> None:
    arrays = list(top.arrays())
    each = sum(array.itemsize for kind, array in arrays if kind == "edges")
    whole = sum(array.nbytes for kind, array in arrays if kind != "edges")
    for memory, size in how.bytes_of(each).items():
        memory.check_room(int(size * how.resident) + whole, "a GPU's part of a graph", HINT)
    if there.edges is not None:
        new = sum(array.nbytes for kind, array in arrays if kind == "edges" and not lies_on_disk(array))
        there.edges.check_room(new, "the edges of a graph")


def _made_on_host(top: weakref.ref[Topology], how: Spread, there: Placement) -> dict[str, Callable[[], Any]]:
    """What is derived from edges that do not lie on the GPUs, by name."""
    memory = there.memory

    def host() -> Graph:
        alive = top()
        assert alive is not None  # who asks has it
        return plainly_on_host(Graph._wrap(alive, there))

    def in_lists(offsets: Any, sources: Any) -> tuple[Any, Any]:
        return memory.moved(offsets), how.taken(sources, to_host(offsets)[how.starts].astype(np.int64))

    def in_edges() -> Any:
        g = host()
        return how.taken(g.in_edges, to_host(g.in_offsets)[how.starts].astype(np.int64))

    return {
        "sources": lambda: how.taken(host().sources),
        "in_lists": lambda: in_lists(*host()._in_lists()),
        "in_edges": in_edges,
    }


def seen(g: Graph, there: Placement) -> Graph:
    """A graph as another of its GPUs sees it: with the same arrays of edges, and copies of all others."""
    top, memory = g._topology, there.memory
    index = _index(memory)

    def moved(array: Any, kind: str) -> Any:
        return spread.seen_by(array, index) if kind == "edges" else memory.moved(array)

    with memory.using("the arrays of the graph"):
        made = top.copied(moved)
        memory.synchronize()
    made.derived.update(max_degree=g.max_degree, traits=g.traits)
    top = weakref.proxy(top)
    place = g.placement

    def of_whole(name: str) -> Any:
        return getattr(Graph._wrap(top, place), name)

    made.recipes.update(
        sources=lambda: moved(of_whole("sources"), "edges"),
        in_edges=lambda: moved(of_whole("in_edges"), "edges"),
        in_lists=lambda: (moved(of_whole("in_offsets"), "offsets"), moved(of_whole("in_sources"), "edges")),
    )
    return Graph._wrap(made, there)
