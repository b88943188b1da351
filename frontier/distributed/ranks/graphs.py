"""Graphs in parts: every rank holds the rows of its own vertices, and the offsets of all.

What users have is a :class:`~frontier.Graph` whose arrays of edges are :class:`InParts`. A rank computes on its *part*:
a graph with the same ids of vertices and edge slots, whose arrays are as long as those of the whole graph, but only the
rank's own slots are written. Pages of memory that nobody writes take none.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from frontier.distributed.ranks.building import build
from frontier.distributed.ranks.local_rows import OwnRows
from frontier.distributed.transport.rounds import checked_root, common, met, sendable
from frontier.errors import GraphError
from frontier.graph.graph import Graph
from frontier.graph.topology import Array, read_only
from frontier.memory.reserved import reserved

if TYPE_CHECKING:
    from frontier.distributed.transport.communicators import Communicator
    from frontier.graph.division import AmongRanks
    from frontier.graph.shares import Shares
    from frontier.memory.placement import Placement

__all__ = ["Divided", "InParts", "divided_graph", "on_all"]


class InParts(NDArrayOperatorsMixin):
    """An array with one entry for each edge slot, of which every rank has the entries of its own slots.

    ``numpy.asarray(a)`` is the whole array, on every rank; all ranks must ask for it together, and for ``a == b`` and
    all other arithmetic and methods of arrays, which take the whole array. Under MPI, ``a.own`` are the entries of this
    rank, which begin at slot ``a.first``.
    """

    ndim = 1

    def __init__(self, divided: AmongRanks, name: str, parts: Sequence[Array]) -> None:
        self._divided, self._name, self._parts = divided, name, [read_only(part) for part in parts]
        self.dtype = self._parts[0].dtype
        self.shape = self._parts[0].shape

    def __len__(self) -> int:
        return int(self.shape[0])

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **more: Any) -> Any:
        return getattr(ufunc, method)(*(each[:] if isinstance(each, InParts) else each for each in inputs), **more)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(f"arrays in parts have no {name!r}")
        return getattr(self[:], name)

    def __iter__(self) -> Iterator[Any]:
        return iter(self[:])

    def __contains__(self, value: Any) -> bool:
        return value in self[:]

    @property
    def size(self) -> int:
        """Entries of the whole array."""
        return len(self)

    @property
    def nbytes(self) -> int:
        """Bytes of the whole array."""
        return len(self) * self.dtype.itemsize

    @property
    def first(self) -> int:
        """The first slot that this process has."""
        return self._divided.slots(0).start

    @property
    def own(self) -> Array:
        """The entries that this process has: those of one rank, or, if all ranks are threads of it, all."""
        found = [self._part(i) for i in range(len(self._parts))]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _part(self, index: int) -> Array:
        slots = self._divided.slots(index)
        return self._parts[index][slots.start : slots.stop]

    def gather(self, root: int | None = None) -> Array | None:
        """Return the whole array, to one rank or, by default, to all; all ranks call this together.

        Raises
        ------
        FrontierError
            If ``root`` is not a rank.
        """
        root = checked_root(root, self._divided.size)
        if root is None:
            return self[:]
        found = self._divided.gather(self._name, self.own, root)
        return None if found is None else np.concatenate(found)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self[:], dtype)

    def __getitem__(self, slots: Any) -> Array:
        """The entries of a slice, as an array of NumPy on every rank; all ranks call this together."""
        if not isinstance(slots, slice):
            raise GraphError(
                "this graph is in parts, and each rank has the edges of its own vertices only: .own are those, "
                'numpy.asarray brings all to every rank, and g.to("cpu") the whole graph'
            )
        first, stop, step = slots.indices(len(self))
        if step < 0:
            whole: Array = self[:][slots]
            return whole
        found = []
        for index, part in enumerate(self._parts):
            own = self._divided.slots(index)
            begin = first + max(0, -(-(own.start - first) // step)) * step  # the first that is this rank's
            found.append(part[begin : min(own.stop, stop) : step] if begin < min(own.stop, stop) else part[:0])
        some = "" if (first, stop, step) == (0, len(self), 1) else f"[{first}:{stop}:{step}]"
        together = self._divided.gather(f"{self._name}{some}", np.concatenate(found))
        assert together is not None
        return np.concatenate(together)

    def __repr__(self) -> str:
        return f"<{len(self):,} entries of {self.dtype}, in {self._divided.size} parts>"


class Divided:
    """What a graph in parts is made of.

    Attributes
    ----------
    starts : ndarray
        First vertex of every rank, and the number of vertices.
    size : int
        Number of ranks.
    parts : list of Graph
        Of the ranks in this process: one under MPI, otherwise all.
    number : int
        Of the graph, among those that the ranks have made.
    """

    def __init__(self, comms: Sequence[Communicator], made: Sequence[OwnRows], directed: bool, **more: Any) -> None:
        self._comm = comms[0]
        self._rank = comms[0].rank
        self.size = comms[0].size
        self.number = comms[0].graphs
        rows = made[0]
        self.starts = rows.starts
        self._bounds = rows.offsets[rows.starts].astype(np.int64)
        self.graph = self._outer(made, directed, more)
        self.parts = [self._inner(each, directed, more) for each in made]

    def _outer(self, made: Sequence[OwnRows], directed: bool, more: dict[str, Any]) -> Graph:
        values = {
            name: InParts(self, name or "weights", [each.values[name] for each in made]) for name in made[0].values
        }  # fmt: skip
        targets: Any = InParts(self, "targets", [each.targets for each in made])
        g = Graph(made[0].offsets, targets, values.pop("", None), directed=directed, edges=values, **more, check=False)  # type: ignore[arg-type]
        g._topology.divided = self
        g._topology.derived.update(self._known(made[0]))
        for name in ("sources", "in_lists", "in_edges"):
            g._topology.recipes[name] = _refusing(name)
        g._topology.recipes["in_degree"] = self._in_degree
        g._topology.recipes["out_weight"] = self._out_weight
        return g

    def _known(self, rows: OwnRows) -> dict[str, Any]:
        return {**rows.facts, f"cached starts of {self.size} parts": self.starts}

    def _inner(self, rows: OwnRows, directed: bool, more: dict[str, Any]) -> Graph:
        values = dict(rows.values)
        weights = values.pop("", None)
        g = Graph(rows.offsets, rows.targets, weights, directed=directed, edges=values, **more, check=False)
        g._topology.offsets = self.graph.offsets  # the same object, by which frontiers know their graph
        g._topology.divided = self
        g._topology.derived.update(self._known(rows))
        g._topology.recipes["sources"] = lambda: self._sources(rows)
        for name in ("in_lists", "in_edges"):
            g._topology.recipes[name] = _refusing(name)
        return g

    def _sources(self, rows: OwnRows) -> Array:
        made: Array = reserved(len(rows.targets), rows.targets.dtype)
        first, end = rows.own
        ids = np.arange(first, end, dtype=made.dtype)
        made[rows.offsets[first] : rows.offsets[end]] = np.repeat(ids, np.diff(rows.offsets[first : end + 1]))
        return made

    def slots(self, index: int) -> range:
        """Slots of a rank in this process."""
        return range(int(self._bounds[self._rank + index]), int(self._bounds[self._rank + index + 1]))

    def slots_of(self, part: Graph) -> slice:
        """Slots of the rank in this process that has a part."""
        index = next(index for index, each in enumerate(self.parts) if each is part)
        own = self.slots(index)
        return slice(own.start, own.stop)

    def part(self, rank: int) -> Graph:
        """The part of a rank in this process."""
        return self.parts[rank - self._rank]

    def gather(self, what: str, own: Array, root: int | None = None) -> list[Array] | None:
        """Bring together what the processes have, on one or on all; one that has all ranks already has everything.

        ``what`` tells arrays of this graph apart, of which all ranks must ask for the same.
        """
        if len(self.parts) == self.size:
            return [own]
        comm, asks = self._comm, f"asks for {what} of graph {self.number} in parts"
        if root is None:
            return met(comm, asks, own)
        met(comm, f"{asks} on rank {root}", None)
        found: list[Array] = comm.alltoall([own if rank == root else None for rank in range(self.size)])
        return found if comm.rank == root else None

    def told(self, doing: str, given: Any) -> list[Any]:
        """Return what all processes give for the same purpose; all call this together."""
        return [given] if len(self.parts) == self.size else met(self._comm, doing, given)

    def gathered(self, root: int | None = None) -> Graph | None:
        """The whole graph, on every rank, or on one and None on others; all call this together."""
        top = self.graph._topology
        columns: dict[str, Any] = {name: column.gather(root) for name, column in top.edges.items()}  # type: ignore[attr-defined]
        weights: Any = None if top.weights is None else top.weights.gather(root)  # type: ignore[attr-defined]
        targets: Any = top.targets.gather(root)  # type: ignore[attr-defined]
        if targets is None:
            return None
        return Graph(
            top.offsets, targets, weights, directed=top.directed, labels=top.labels, vertices=top.vertices,
            edges=columns, check=False,
        )  # fmt: skip

    def by_one(self, doing: str, use: Callable[[Graph], None]) -> None:
        """Let one rank use the whole graph; all call this together, and raise the error that it may have."""
        if len(self.parts) == self.size:
            whole = self.gathered(0)
            assert whole is not None
            use(whole)
            return
        failed = None
        try:
            whole = self.gathered(0)
            if whole is not None:
                use(whole)
        except Exception as error:  # whatever it is, all ranks raise it
            failed = sendable(error)
        failed = met(self._comm, doing, failed)[0]
        if failed is not None:
            raise common(failed)

    def full(self, init: Any, dtype: Any, width: int = 0) -> Array:
        """An array with an entry for each edge slot, of which those of the ranks in this process are written.

        With ``width``, an entry is a row of so many values.
        """
        made: Array = reserved(self.graph.num_slots * (width or 1), dtype)
        if width:
            made = made.reshape(-1, width)
        for index in range(len(self.parts)):
            slots = self.slots(index)
            own = slice(slots.start, slots.stop)
            if isinstance(init, InParts):
                made[own] = init._part(index)
            else:
                made[own] = init if np.ndim(init) < made.ndim else init[own]
        return made

    def _in_degree(self) -> Array:
        """In-degrees of a directed graph; all ranks ask for them together."""
        g = self.graph
        targets: Any = g.targets
        found = np.bincount(targets.own, minlength=g.num_vertices).astype(g.offsets.dtype)
        together = self.gather("in_degree", found)
        assert together is not None
        return np.sum(together, 0, g.offsets.dtype)

    def _out_weight(self) -> Array:
        """Sums of the weights of all vertices; all ranks ask for them together."""
        found = []
        for index, part in enumerate(self.parts):
            first, end = self.starts[self._rank + index : self._rank + index + 2]
            slots = self.slots(index)
            rows = np.repeat(np.arange(end - first), part.out_degree[first:end])
            assert part.weights is not None
            found.append(np.bincount(rows, part.weights[slots.start : slots.stop], end - first))
        together = self.gather("out_weight", np.concatenate(found))
        assert together is not None
        return np.concatenate(together)


def _refusing(name: str) -> Callable[[], NoReturn]:
    def refuse() -> NoReturn:
        raise GraphError(
            f"this graph is in parts, and no rank has the {' '.join(name.split('_'))} of the whole: "
            'g.to("cpu") brings the whole graph to every rank'
        )

    return refuse


def divided_graph(
    shares: Shares, comms: Sequence[Communicator], place: Placement, *, directed: bool, duplicates: str,
    self_loops: str, **more: Any,
) -> Graph:  # fmt: skip
    """Build a graph in parts; all ranks call this together.

    Parameters
    ----------
    shares : Shares
        The edges.
    comms : sequence of Communicator
        Of the ranks in this process.
    place : Placement
    directed, duplicates, self_loops
        As of :func:`frontier.from_edges`.
    **more
        Labels and columns of vertices.
    """
    comms[0].graphs += 1  # before anything may fail on some rank, so that all count alike
    made = on_all(
        comms, lambda comm: build(shares, comm, directed=directed, duplicates=duplicates, self_loops=self_loops)
    )
    return Divided(comms, made, directed, placement=place, **more).graph


def on_all(comms: Sequence[Communicator], call: Callable[[Communicator], Any]) -> list[Any]:
    """Call a function for each rank in this process, at the same time."""
    if len(comms) == 1:
        return [call(comms[0])]
    found: list[Any] = [None] * len(comms)
    failed: list[BaseException] = []

    def one(index: int) -> None:
        try:
            found[index] = call(comms[index])
        except BaseException as error:  # the first one's is raised; the others may only say that it has left
            failed.append(error)
            comms[index].leave()

    threads = [threading.Thread(target=one, args=(i,), daemon=True) for i in range(1, len(comms))]
    for thread in threads:
        thread.start()
    one(0)
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    return found
