"""The arrays of a graph, and the data derived from them on first use."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from frontier.errors import GraphError
from frontier.graph.packed import PackedIds
from frontier.graph.sparse_offsets import SparseOffsets
from frontier.memory.disk import File, file_of, reading
from frontier.system.forks import renewed

if TYPE_CHECKING:
    from frontier.graph.division import AmongRanks, OverGpus

__all__ = [
    "OF_ROWS", "OF_WEIGHTS", "Array", "Topology", "id_dtype", "moved_ends", "moved_offsets", "offset_dtype", "plain",
    "read_only",
]  # fmt: skip

Array = NDArray[Any]

_INT32_LIMIT = 2**31

#: What is derived from the rows alone, whatever the weights.
OF_ROWS = (
    "sources", "out_degree", "in_degree", "in_lists", "in_edges", "max_degree", "traits", "num_loops", "names"
)  # fmt: skip

#: What is derived from the weights alone.
OF_WEIGHTS = ("min_weight", "max_weight")


def id_dtype(num_vertices: int) -> np.dtype[Any]:
    """Dtype of vertex ids: int32, int64 from 2**31 vertices on."""
    return np.dtype(np.int32 if num_vertices < _INT32_LIMIT else np.int64)


def offset_dtype(num_slots: int) -> np.dtype[Any]:
    """Dtype of offsets and edge slots: int32, int64 from 2**31 slots on."""
    return np.dtype(np.int32 if num_slots < _INT32_LIMIT else np.int64)


def read_only(values: Any) -> Array:
    """Return a read-only view; the flag of the caller's own array stays as it is. CuPy knows no such flag."""
    if not isinstance(values, np.ndarray):
        return cast(Array, values)
    view = values.view()
    view.flags.writeable = False
    return view


def plain(ends: Array | PackedIds) -> Array:
    """Return ids as an array."""
    return cast(Array, ends.plain()) if isinstance(ends, PackedIds) else ends


def moved_ends(ends: Array | PackedIds, move: Callable[[Array, str], Array]) -> Array | PackedIds:
    """Return ids, which may be compressed, where ``move`` puts an array of a kind."""
    return ends.copied(move) if isinstance(ends, PackedIds) else move(ends, "edges")


def moved_offsets(offsets: Any, move: Callable[[Array, str], Array]) -> Array:
    """Return offsets, which may be doubly compressed, where ``move`` puts an array of a kind."""
    if isinstance(offsets, SparseOffsets):
        return cast(Array, offsets.copied(move))  # which looks like one
    return move(offsets, "offsets")


def _parts(ends: Array | PackedIds) -> list[tuple[str, Array]]:
    """Return the arrays of ids, each with its kind."""
    return [("offsets", ends.frames), ("edges", ends.words)] if isinstance(ends, PackedIds) else [("edges", ends)]


class Topology:
    """What graphs share that differ only in their backend, as long as that keeps its arrays in the same memory."""

    def __init__(
        self,
        offsets: Array,
        targets: Array | PackedIds,
        weights: Array | None,
        directed: bool,
        labels: Array | None,
        vertices: Mapping[str, Array],
        edges: Mapping[str, Array],
    ) -> None:
        self.offsets = read_only(offsets)
        self.ends = targets if isinstance(targets, PackedIds) else read_only(targets)
        self.weights = None if weights is None else read_only(weights)
        self.directed = directed
        self.labels = None if labels is None else read_only(labels)
        self.vertices = {name: read_only(column) for name, column in vertices.items()}
        self.edges = {name: read_only(column) for name, column in edges.items()}
        self.derived: dict[str, Any] = {}
        self.recipes: dict[str, Callable[[], Any]] = {}  # by name, for graphs made of others
        self.divided: AmongRanks | None = None
        self.spread: OverGpus | None = None
        self.lock = renewed(threading.RLock())  # making one derived value may ask for another

    @property
    def ranks(self) -> AmongRanks:
        """How a graph in parts is divided; only of those."""
        assert self.divided is not None
        return self.divided

    @property
    def gpus(self) -> OverGpus:
        """How a graph on several GPUs is spread; only of those."""
        assert self.spread is not None
        return self.spread

    @property
    def targets(self) -> Array:
        """The target of each slot as an array, which is made of compressed lists whenever nobody has it."""
        return plain(self.ends)

    @property
    def id_dtype(self) -> np.dtype[Any]:
        """Dtype of vertex ids."""
        return self.ends.dtype

    @property
    def num_slots(self) -> int:
        """Number of edge slots."""
        return len(self.ends)

    @property
    def sparse(self) -> bool:
        """Whether offsets are doubly compressed, or those of in-edges; only those of graphs made so are."""
        both: tuple[Any, Any] = self.offsets, self.derived.get("in_lists", (None,))[0]
        return any(isinstance(each, SparseOffsets) for each in both)

    @property
    def packed(self) -> bool:
        """Whether adjacency lists are compressed."""
        return isinstance(self.ends, PackedIds)

    def once(self, name: str, make: Callable[[], Any], wait: Callable[[], None]) -> Any:
        """Return the derived value ``name``, made by its recipe, or else ``make``, when it is first asked for.

        ``wait`` ends what may still be computed of it, before other threads, whose streams do not wait, see it.
        """
        try:
            return self.derived[name]
        except KeyError:
            pass
        with self.lock:
            if name not in self.derived:
                with reading(self.files()):
                    value = self.recipes.get(name, make)()
                    wait()
                self.derived[name] = read_only(value) if isinstance(value, np.ndarray) else value
            return self.derived[name]

    def check_whole(self, what: str) -> None:
        """Raise GraphError if this is a graph in parts."""
        if self.divided is not None:
            raise GraphError(f'{what} of a graph in parts is not possible: g.to("cpu") is the whole graph')

    def built(self) -> dict[str, Any]:
        """Return the derived values that there are by now."""
        with self.lock:
            return dict(self.derived)

    def arrays(self) -> Iterator[tuple[str, Array]]:
        """Return what :meth:`copied` copies, each with its kind; see :class:`frontier.memory.placement.Placement`."""
        kinds = [("offsets", self.offsets), ("edges", self.weights), *_parts(self.ends)]
        kinds += [("fields", column) for column in self.vertices.values()]
        kinds += [("edges", column) for column in self.edges.values()]
        built = self.built()
        for offsets, ends in [built["in_lists"]] if "in_lists" in built else []:
            kinds += [("offsets", offsets), *_parts(ends)]
        kinds.append(("edges", built.get("in_edges")))
        return ((kind, array) for kind, array in kinds if array is not None)

    def files(self) -> list[File]:
        """Return the files in which edges lie."""
        edges = [array for kind, array in self.arrays() if kind == "edges" and isinstance(array, np.ndarray)]
        return [found[0] for found in map(file_of, edges) if found is not None]

    def reading(self) -> reading:
        """Return a context manager for what reads edges: an error if a file of theirs is damaged, or changes."""
        return reading(self.files(), compares=True)

    def copied(self, move: Callable[[Array, str], Array]) -> Topology:
        """Return the same graph with its arrays, and the in-edges if they are built, where ``move`` puts them.

        It takes an array and its kind. Labels stay where they are.
        """
        made = Topology(
            moved_offsets(self.offsets, move),
            moved_ends(self.ends, move),
            None if self.weights is None else move(self.weights, "edges"),
            self.directed,
            self.labels,
            {name: move(column, "fields") for name, column in self.vertices.items()},
            {name: move(column, "edges") for name, column in self.edges.items()},
        )
        for name, value in self.built().items():
            if name == "in_lists":
                made.derived[name] = (moved_offsets(value[0], move), moved_ends(value[1], move))
            elif name == "in_edges":
                made.derived[name] = move(value, "edges")
            elif name in ("names", "max_degree", "traits", "num_loops", "min_weight", "max_weight"):
                made.derived[name] = value
        return made

    def __getstate__(self) -> dict[str, Any]:
        if self.divided is not None:
            raise GraphError('a graph in parts cannot be copied: g.to("cpu") brings the whole graph to every rank')
        state = {**self.__dict__, "derived": {}, "recipes": {}, "divided": None, "spread": None, "lock": None}
        state["targets"] = state.pop("ends")
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        # through __init__, because NumPy's pickles come back writeable
        for name in ("derived", "recipes", "divided", "spread", "lock"):
            state.pop(name, None)
        self.__init__(**state)  # type: ignore[misc]
