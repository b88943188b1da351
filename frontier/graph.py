"""The graph: compressed sparse rows, in-edges made when first asked for, columns, labels.

A :class:`Graph` never changes. It is made by :func:`frontier.from_edges` and its sisters, by
:func:`frontier.read` or by a generator, all of which check what they are given; the class
itself trusts its arrays. What is derived from the rows (in-edges, the source of each slot, the
smallest weight) is built once, under a lock, and shared by all graphs that share the rows.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frontier.errors import BackendUnavailableError, GraphError

__all__ = ["Graph", "MemoryEstimate", "id_dtype", "offset_dtype", "register_memory"]

Array = NDArray[Any]

_BACKENDS = ("cpu", "python")
_INT32_LIMIT = 2**31

# primitive -> (bytes per vertex, walks in-edges, names edges there); see register_memory
_PRIMITIVE_MEMORY: dict[str, tuple[int, bool, bool]] = {}


def id_dtype(num_vertices: int) -> np.dtype[Any]:
    """Dtype of vertex ids: int32, int64 from 2**31 vertices on."""
    return np.dtype(np.int32 if num_vertices < _INT32_LIMIT else np.int64)


def offset_dtype(num_edges: int) -> np.dtype[Any]:
    """Dtype of offsets and edge slots: int32, int64 from 2**31 slots on."""
    return np.dtype(np.int32 if num_edges < _INT32_LIMIT else np.int64)


def read_only(values: Array) -> Array:
    """Give a read-only view; the flag of the caller's own array stays as it is."""
    view = values.view()
    view.flags.writeable = False
    return view


class _Topology:
    """The arrays of a graph and what is derived from them; shared by ``Graph.to``."""

    def __init__(
        self,
        offsets: Array,
        targets: Array,
        weights: Array | None,
        directed: bool,
        labels: Array | None,
        vertices: Mapping[str, Array],
        edges: Mapping[str, Array],
    ) -> None:
        self.offsets = read_only(offsets)
        self.targets = read_only(targets)
        self.weights = None if weights is None else read_only(weights)
        self.directed = directed
        self.labels = None if labels is None else read_only(labels)
        self.vertices = {name: read_only(column) for name, column in vertices.items()}
        self.edges = {name: read_only(column) for name, column in edges.items()}
        self.derived: dict[str, Any] = {}
        self.lock = threading.RLock()

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """The derived value ``name``, made by ``make`` when it is first asked for."""
        try:
            return self.derived[name]
        except KeyError:
            pass
        with self.lock:
            if name not in self.derived:
                value = make()
                self.derived[name] = read_only(value) if isinstance(value, np.ndarray) else value
            return self.derived[name]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "derived": {}, "lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # through __init__, because NumPy's pickles come back writeable
        del state["derived"], state["lock"]
        self.__init__(**state)  # type: ignore[misc]


class Graph:
    """A graph in compressed sparse rows; immutable.

    Make one with :func:`frontier.from_edges`, :func:`frontier.from_csr`,
    :func:`frontier.from_scipy`, :func:`frontier.from_networkx`, :func:`frontier.from_pandas`,
    :func:`frontier.read` or a generator. The constructor trusts what it is given.

    An undirected graph holds each edge twice, once in the list of either end, and a self-loop
    once. Graphs are equal only to themselves, and can be pickled.

    Parameters
    ----------
    offsets : ndarray, shape (n + 1,)
        Vertex v's edges are the slots ``offsets[v]`` to ``offsets[v + 1] - 1``; int32, or int64
        from 2**31 slots on.
    targets : ndarray, shape (m,)
        The far end of each edge slot, ascending within each vertex's list; int32, or int64 from
        2**31 vertices on.
    weights : ndarray, shape (m,), optional
        Edge weights, in any number dtype.
    directed : bool
        If False, every edge must have its reverse, with the same weight.
    labels : ndarray, shape (n,), optional
        A unique name for each vertex.
    vertices, edges : mapping of str to ndarray, optional
        Columns of vertex data, shape (n,), and of edge data, shape (m,), in slot order.
    backend : str
        Who executes what is run on this graph: ``"cpu"`` or ``"python"``.
    """

    __slots__ = ("__weakref__", "_backend", "_topology")

    def __init__(
        self,
        offsets: Array,
        targets: Array,
        weights: Array | None = None,
        *,
        directed: bool,
        labels: Array | None = None,
        vertices: Mapping[str, Array] | None = None,
        edges: Mapping[str, Array] | None = None,
        backend: str = "cpu",
    ) -> None:
        self._topology = _Topology(
            offsets, targets, weights, directed, labels, vertices or {}, edges or {}
        )
        self._backend = backend

    # -- size and kind ---------------------------------------------------------------------

    @property
    def num_vertices(self) -> int:
        """Number of vertices, n."""
        return len(self._topology.offsets) - 1

    @property
    def num_edges(self) -> int:
        """Number of edge slots, m: an undirected edge takes two, a self-loop one."""
        return len(self._topology.targets)

    @property
    def directed(self) -> bool:
        """Whether an edge goes one way only."""
        return self._topology.directed

    @property
    def symmetric(self) -> bool:
        """Whether every edge is known to have its reverse with the same weight."""
        return not self._topology.directed

    @property
    def backend(self) -> str:
        """Who executes what is run on this graph."""
        return self._backend

    # -- arrays ----------------------------------------------------------------------------

    @property
    def offsets(self) -> Array:
        """Where each vertex's edge slots begin, shape (n + 1,)."""
        return self._topology.offsets

    @property
    def targets(self) -> Array:
        """Far end of each edge slot, shape (m,), ascending within each list."""
        return self._topology.targets

    @property
    def weights(self) -> Array | None:
        """Weight of each edge slot, shape (m,), or None."""
        return self._topology.weights

    @property
    def labels(self) -> Array | None:
        """Name of each vertex, shape (n,), or None."""
        return self._topology.labels

    @property
    def vertices(self) -> Mapping[str, Array]:
        """Columns of vertex data by name, each of shape (n,)."""
        return MappingProxyType(self._topology.vertices)

    @property
    def edges(self) -> Mapping[str, Array]:
        """Columns of edge data by name, each of shape (m,), in slot order."""
        return MappingProxyType(self._topology.edges)

    @property
    def sources(self) -> Array:
        """Source of each edge slot, shape (m,); built when first asked for."""
        return self._once("sources", self._make_sources)

    @property
    def out_degree(self) -> Array:
        """Number of edge slots of each vertex, shape (n,)."""
        return self._once("out_degree", lambda: np.diff(self.offsets))

    @property
    def in_degree(self) -> Array:
        """Number of in-edges of each vertex, shape (n,)."""
        if self.symmetric:
            return self.out_degree
        return self._once("in_degree", self._make_in_degree)

    @property
    def in_offsets(self) -> Array:
        """Where each vertex's in-edges begin, shape (n + 1,); ``offsets`` where symmetric."""
        return self.offsets if self.symmetric else self._in_lists()[0]

    @property
    def in_sources(self) -> Array:
        """Source of each in-edge, shape (m,), ascending in each list.

        The same array as ``targets`` where the graph is symmetric.
        """
        return self.targets if self.symmetric else self._in_lists()[1]

    @property
    def in_edges(self) -> Array:
        """Edge slot of each in-edge, shape (m,), in the offsets' dtype.

        Built only when asked for: ``weights[in_edges]`` are the weights of the in-edges.
        """
        return self._once("in_edges", self._make_in_edges)

    @property
    def min_weight(self) -> Any:
        """Smallest weight; None where there is no weight."""
        return self._once("min_weight", self._make_min_weight)

    def _once(self, name: str, make: Callable[[], Any]) -> Any:
        return self._topology.once(name, make)

    def _make_sources(self) -> Array:
        ids = np.arange(self.num_vertices, dtype=self.targets.dtype)
        return np.repeat(ids, self.out_degree)

    def _make_in_degree(self) -> Array:
        if "in_lists" in self._topology.derived:
            return np.diff(self.in_offsets)
        counts = np.bincount(self.targets, minlength=self.num_vertices)
        return counts.astype(self.offsets.dtype)

    def _in_lists(self) -> tuple[Array, Array]:
        def make() -> tuple[Array, Array]:
            from frontier.build import transpose

            offsets, sources, _ = transpose(self, permutation=False)
            return read_only(offsets), read_only(sources)

        lists: tuple[Array, Array] = self._once("in_lists", make)
        return lists

    def _make_in_edges(self) -> Array:
        from frontier.build import transpose

        offsets, sources, slots = transpose(self, permutation=True)
        if not self.symmetric:
            self._once("in_lists", lambda: (read_only(offsets), read_only(sources)))
        assert slots is not None
        return slots

    def _make_min_weight(self) -> Any:
        weights = self.weights
        return None if weights is None or len(weights) == 0 else weights.min().item()

    # -- vertices by name ------------------------------------------------------------------

    def vertex_id(self, vertex: Any) -> int:
        """Give the id of a vertex, from its label or its id.

        Parameters
        ----------
        vertex : object
            A label where the graph has labels; else an integer from 0 to n - 1. An integer that
            is no label is taken as an id if no label is an integer.

        Raises
        ------
        GraphError
            There is no such vertex.
        """
        if self.labels is not None:
            index = self._once("label_index", self._make_label_index)
            try:
                return int(index[vertex])
            except (KeyError, TypeError):
                if self.labels.dtype.kind in "iu":
                    raise self._no_vertex(vertex) from None
        try:
            number = operator.index(vertex)
        except TypeError:
            raise self._no_vertex(vertex) from None
        if not 0 <= number < self.num_vertices:
            raise self._no_vertex(vertex)
        return number

    def _make_label_index(self) -> dict[Any, int]:
        assert self.labels is not None
        return {label: v for v, label in enumerate(self.labels.tolist())}

    def _no_vertex(self, vertex: Any) -> GraphError:
        shown = repr(vertex.item() if isinstance(vertex, np.generic) else vertex)
        n = self.num_vertices
        if n == 0:
            return GraphError(f"there is no vertex {shown}: the graph has no vertices")
        if self.labels is None:
            return GraphError(f"there is no vertex {shown}: vertices are 0 to {n - 1}")
        some = ", ".join(repr(label) for label in self.labels[:3].tolist())
        more = ", ..." if n > 3 else ""
        return GraphError(f"there is no vertex {shown}: the labels are {some}{more}")

    # -- other graphs from this one --------------------------------------------------------

    def to(self, backend: str) -> Graph:
        """Give this graph for another backend; the arrays are shared where that is possible.

        Parameters
        ----------
        backend : {"cpu", "python", "auto"}
            ``"auto"`` takes the fastest backend that is there.

        Raises
        ------
        BackendUnavailableError
            The backend is not there; the message says what is missing.
        GraphError
            There is no backend of that name.
        """
        name = "cpu" if backend == "auto" else backend
        if name == "cuda":
            raise BackendUnavailableError(
                "the backend 'cuda' is not part of this release: use 'cpu' (compiled, all cores) "
                "or 'python' (for debugging); 'cuda' will need an NVIDIA GPU and the extra "
                "cuda12 or cuda13"
            )
        if name not in _BACKENDS:
            raise GraphError(f"there is no backend {backend!r}: choose 'cpu', 'python' or 'auto'")
        if name == self._backend:
            return self
        return self._wrap(self._topology, name)

    @classmethod
    def _wrap(cls, topology: _Topology, backend: str) -> Graph:
        graph = cls.__new__(cls)
        graph._topology = topology
        graph._backend = backend
        return graph

    def with_weights(self, weights: Any) -> Graph:
        """Give a graph with the same edges and other weights.

        Parameters
        ----------
        weights : array_like, shape (m,), or str or None
            A weight for each edge slot, the name of an edge column, or None for no weights.

        Raises
        ------
        GraphError
            The length is wrong, a weight is not a number, or the graph is undirected and the two
            directions of an edge differ.
        """
        from frontier._build_input import weights_of
        from frontier.build import check_symmetric_weights

        if isinstance(weights, str):
            if weights not in self.edges:
                raise GraphError(f"there is no edge column {weights!r}: {sorted(self.edges)}")
            weights = self.edges[weights]
        array = None if weights is None else weights_of(weights, self.num_edges, "edge slots")
        if array is not None and self.symmetric:
            check_symmetric_weights(self, array)
        top = self._topology
        graph = Graph(
            top.offsets, top.targets, array, directed=top.directed, labels=top.labels,
            vertices=top.vertices, edges=top.edges, backend=self._backend,
        )  # fmt: skip
        with top.lock:
            kept = {name: value for name, value in top.derived.items() if name != "min_weight"}
        graph._topology.derived.update(kept)
        return graph

    # -- memory ----------------------------------------------------------------------------

    def memory_estimate(
        self, primitive: str | None = None, *, in_edges: bool = False, bytes_per_vertex: int = 0
    ) -> MemoryEstimate:
        """Say how many bytes the graph takes, and a primitive on it.

        Parameters
        ----------
        primitive : str, optional
            The name of a shipped primitive, such as ``"bfs"``: adds its fields, and the in-edges
            if it walks them.
        in_edges : bool
            Count the in-edges even if they are not built yet.
        bytes_per_vertex : int
            Bytes of further vertex fields, for a program of one's own.

        Raises
        ------
        GraphError
            There is no primitive of that name.
        """
        named = False
        if primitive is not None:
            per_vertex, walks_in, named = _primitive_memory(primitive)
            bytes_per_vertex += per_vertex
            in_edges = in_edges or walks_in
        top, n, m = self._topology, self.num_vertices, self.num_edges
        weights = 0 if top.weights is None else top.weights.nbytes
        columns = [*top.vertices.values(), *top.edges.values()]
        columns += [] if top.labels is None else [top.labels]
        with top.lock:
            built = dict(top.derived)
        slots = 0
        if not self.symmetric and (in_edges or "in_lists" in built):
            slots += top.offsets.nbytes + top.targets.nbytes
        if "in_edges" in built or (in_edges and named):
            slots += m * top.offsets.itemsize
        names = ("sources", "out_degree", "in_degree")
        other = sum(built[name].nbytes for name in names if name in built)
        return MemoryEstimate(
            csr=top.offsets.nbytes + top.targets.nbytes + weights,
            in_edges=slots,
            columns=sum(column.nbytes for column in columns) + other,
            fields=n * bytes_per_vertex,
        )

    # -- Python ----------------------------------------------------------------------------

    def __repr__(self) -> str:
        parts = [
            "directed" if self.directed else "undirected",
            f"{self.num_vertices:,} vertices",
            f"{self.num_edges:,} edge slots",
        ]
        if self.weights is not None:
            parts.append(f"{self.weights.dtype} weights")
        if self.labels is not None:
            parts.append("labels")
        for kind, columns in (("vertex", self.vertices), ("edge", self.edges)):
            if columns:
                parts.append(f"{kind} columns {', '.join(columns)}")
        return f"<Graph: {', '.join(parts)}; {self._backend}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Graph._wrap, (self._topology, self._backend)


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes that a graph, and a program on it, take.

    Attributes
    ----------
    csr : int
        Offsets, targets and weights.
    in_edges : int
        In-edges, where they are built or needed and not shared with the out-edges.
    columns : int
        Columns, labels, and other arrays already derived.
    fields : int
        The fields of the primitive or program.
    """

    csr: int
    in_edges: int
    columns: int
    fields: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.csr + self.in_edges + self.columns + self.fields

    def __str__(self) -> str:
        rows = [("graph", self.csr), ("in-edges", self.in_edges), ("columns", self.columns)]
        rows += [("fields", self.fields), ("total", self.total)]
        return "\n".join(f"{name:9}{size / 2**20:12,.1f} MiB" for name, size in rows)


def register_memory(
    primitive: str, bytes_per_vertex: int, *, in_edges: bool = False, edge_ids: bool = False
) -> None:
    """Tell ``Graph.memory_estimate`` what a primitive needs beside the graph.

    Parameters
    ----------
    primitive : str
        Its name.
    bytes_per_vertex : int
        Bytes of its fields and frontiers for each vertex.
    in_edges : bool
        Whether it walks in-edges.
    edge_ids : bool
        Whether it also needs the edge slot of each in-edge (weights, edge fields).
    """
    _PRIMITIVE_MEMORY[primitive] = (bytes_per_vertex, in_edges, edge_ids)


def _primitive_memory(primitive: str) -> tuple[int, bool, bool]:
    try:
        return _PRIMITIVE_MEMORY[primitive]
    except KeyError:
        known = ", ".join(sorted(_PRIMITIVE_MEMORY)) or "none is registered"
        raise GraphError(f"there is no primitive {primitive!r}: {known}") from None
