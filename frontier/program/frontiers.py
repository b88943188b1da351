"""The class Frontier: the set of vertices, or of edges, that are active now.

Its arrays are in the memory in which the graph lies. Ids that come from the host stay there until they are needed, so
that a search from one vertex begins without a copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.display import html
from frontier.errors import FrontierError, GraphError
from frontier.memory.arrays import is_device, namespace_of, to_host
from frontier.memory.host import HOST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.graph.graph import Graph

__all__ = ["Frontier"]

KINDS = ("vertex", "edge")

#: Ids are put in order by a mask if there is one for so many elements at least.
DENSE = 64


class Frontier:
    """A set of vertices or of edges of one graph. The order of its elements is unspecified.

    Internally it is a queue of ids, a bitmap, or a marker for "all elements", depending on the operator that made it;
    other forms are computed when needed. Its arrays are CuPy arrays if the graph is on a GPU.

    Parameters
    ----------
    graph : Graph
    ids : array-like of int or bool, optional
        Vertex ids, or CSR slots of edges; duplicates are dropped. Alternatively a mask: one bool for each vertex, or
        each edge slot, of the graph. Empty by default.
    kind : {"vertex", "edge"}

    Raises
    ------
    GraphError
        If a mask has another length, or an id is not a vertex (an edge) of the graph.

    Examples
    --------
    >>> g = fr.karate()
    >>> f = fr.Frontier(g, [0, 33])
    >>> len(f), 33 in f, f.kind
    (2, True, 'vertex')
    """

    __slots__ = ("_all", "_ids", "_mask", "graph", "kind")

    def __init__(self, graph: Graph, ids: Any = (), kind: str = "vertex") -> None:
        if kind not in KINDS:
            raise FrontierError(f"a frontier holds 'vertex' or 'edge', not {kind!r}")
        if type(getattr(graph, "num_slots", None)) is not int:
            given = type(graph)
            raise GraphError(
                f"a frontier is of a frontier.Graph, not of {given.__module__.partition('.')[0]}.{given.__name__}: "
                "take that of the problem, p.graph"
            )
        self.graph, self.kind = graph, kind
        self._all = False
        self._mask: NDArray[np.bool_] | None = None
        self._ids: NDArray[Any] | None = self._checked(ids)

    def _checked(self, ids: Any) -> NDArray[Any]:
        if is_device(ids):
            memory = self.graph.placement.memory
            with memory.using("the ids of a frontier"):
                return self._valid(memory.moved(ids))
        try:
            array = np.asarray(ids)
        except (ValueError, TypeError):  # lists of different lengths, for example
            raise GraphError(f"the ids of a frontier are a list or array of integers, not {ids!r}") from None
        return self._valid(array)

    def _valid(self, array: NDArray[Any]) -> NDArray[Any]:
        if array.ndim != 1:
            given = f"an array of {array.ndim} dimensions" if array.ndim else repr(array.item())
            raise GraphError(f"the ids of a frontier are a list or a one-dimensional array of integers, not {given}")
        if array.dtype.kind == "b" and array.size == self.capacity:
            return array.nonzero()[0].astype(self.id_dtype)
        if array.size == 0:
            return np.empty(0, self.id_dtype)
        if array.dtype.kind == "b":
            several = "vertices" if self.kind == "vertex" else "edge slots"
            raise GraphError(f"a mask of {array.size} bools, but there are {self.capacity} {several}")
        if array.dtype.kind not in "iu":
            way = "" if self.graph.labels is None else "; g.vertex_id(label) is the id of a labelled vertex"
            raise GraphError(f"the ids of a frontier are integers, not {array.dtype}{way}")
        lowest, highest = array.min(), array.max()
        if lowest < 0 or highest >= self.capacity:
            wrong = lowest if lowest < 0 else highest
            raise GraphError(
                f"{self.kind} {wrong} does not exist: valid are 0..{self.capacity - 1}"
                if self.capacity
                else f"{self.kind} {wrong} does not exist: the graph has none"
            )
        return self._distinct(array).astype(self.id_dtype)

    def _distinct(self, array: NDArray[Any]) -> NDArray[Any]:
        """Drop duplicates, by sorting only where that is the fastest: millions of ids take NumPy many seconds."""
        if array.size == 1 or bool((array[1:] > array[:-1]).all()):  # one is how most traversals begin
            return array
        if array.size * DENSE < self.capacity:
            return np.unique(array)
        xp = namespace_of(array)
        mask = xp.zeros(self.capacity, np.bool_)
        mask[array] = True
        ids: NDArray[Any] = xp.flatnonzero(mask)
        return ids

    @classmethod
    def all(cls, graph: Graph, kind: str = "vertex") -> Frontier:
        """Every vertex (or every edge) of a graph, without storing them.

        Examples
        --------
        >>> len(fr.Frontier.all(fr.karate())), len(fr.Frontier.all(fr.karate(), "edge"))
        (34, 156)
        """
        frontier = cls(graph, (), kind)
        frontier._all, frontier._ids = True, None
        return frontier

    @classmethod
    def _of(
        cls,
        graph: Graph,
        kind: str,
        ids: NDArray[Any] | None = None,
        mask: NDArray[np.bool_] | None = None,
    ) -> Frontier:
        """Made by a backend from ids or a mask that are known to be right."""
        frontier = cls.__new__(cls)
        frontier.graph, frontier.kind, frontier._all = graph, kind, False
        frontier._ids, frontier._mask = ids, mask
        return frontier

    @property
    def capacity(self) -> int:
        """Number of elements that there can be."""
        return self.graph.num_vertices if self.kind == "vertex" else self.graph.num_slots

    @property
    def id_dtype(self) -> np.dtype[Any]:
        """Vertex ids have the graph's id dtype, edge ids that of its offsets."""
        return self.graph.id_dtype if self.kind == "vertex" else self.graph.offsets.dtype

    @property
    def is_all(self) -> bool:
        """Whether this is every element of the graph, held without storing them."""
        return self._all

    @property
    def ids(self) -> NDArray[Any]:
        """The ids, in unspecified order. The array belongs to the frontier: do not write to it."""
        memory = self.graph.placement.memory
        if self._ids is None:
            with memory.using("the ids of a frontier"):
                if self._all:
                    self._ids = memory.xp.arange(self.capacity, dtype=self.id_dtype)
                else:
                    assert self._mask is not None
                    self._ids = np.flatnonzero(self._mask).astype(self.id_dtype)
        elif isinstance(self._ids, np.ndarray) and memory is not HOST:
            with memory.using("the ids of a frontier"):
                self._ids = memory.moved(self._ids)
        assert self._ids is not None
        return self._ids

    @property
    def mask(self) -> NDArray[np.bool_]:
        """One bool for each vertex (edge) of the graph; do not write to it."""
        if self._mask is None:
            memory = self.graph.placement.memory
            with memory.using("the mask of a frontier"):
                mask = memory.full(self.capacity, self._all, np.bool_)
                if not self._all:
                    mask[self.ids] = True
            self._mask = mask
        assert self._mask is not None
        return self._mask

    def host_ids(self) -> NDArray[Any]:
        """The ids as a NumPy array, wherever the graph lies; do not write to it.

        Examples
        --------
        >>> fr.Frontier(fr.karate(), [2, 5]).host_ids()
        array([2, 5], dtype=int32)
        """
        ids: NDArray[Any] = to_host(self.ids if self._ids is None else self._ids)
        return ids

    def __len__(self) -> int:
        if self._all:
            return self.capacity
        return len(self.ids if self._ids is None else self._ids)

    def __bool__(self) -> bool:
        return len(self) > 0

    def __iter__(self) -> Iterator[int]:
        return iter(self.host_ids().tolist())

    def __contains__(self, item: object) -> bool:
        return bool(isinstance(item, (int, np.integer)) and 0 <= item < self.capacity and self.mask[item])

    def _other(self, other: Frontier) -> Frontier:
        if not isinstance(other, Frontier):
            raise FrontierError(f"a frontier combines with a frontier, not with {type(other).__name__}")
        self.check(other.graph)
        if self.kind != other.kind:
            raise FrontierError(f"a frontier of {self.kind} ids does not combine with one of {other.kind} ids")
        return other

    def check(self, graph: Graph) -> None:
        """Raise FrontierError unless this is a frontier of ``graph`` (wherever that lies)."""
        if self.graph is not graph and self.graph.offsets is not graph.offsets:
            here, there = self.graph.placement, graph.placement
            where = "" if here == there else f": one lies on {str(here)!r}, the other on {str(there)!r}"
            raise FrontierError(f"frontiers of different graphs do not mix{where}")

    def __or__(self, other: Frontier) -> Frontier:
        other = self._other(other)
        if self._all or other._all:
            return Frontier.all(self.graph, self.kind)
        return self._combined("union1d", other)

    def __and__(self, other: Frontier) -> Frontier:
        other = self._other(other)
        if self._all or other._all:
            return other if self._all else self
        return self._combined("intersect1d", other)

    def __sub__(self, other: Frontier) -> Frontier:
        other = self._other(other)
        return self._combined("setdiff1d", other)

    def _combined(self, operation: str, other: Frontier) -> Frontier:
        """``np.union1d`` or one of its sisters, where the graph lies."""
        memory = self.graph.placement.memory
        with memory.using("a set of two frontiers"):
            ids = getattr(memory.xp, operation)(self.ids, other.ids)
        return self._of(self.graph, self.kind, ids=ids)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Frontier):
            return NotImplemented
        if self.graph.offsets is not other.graph.offsets or self.kind != other.kind:
            return False
        return len(self) == len(other) and len(self | other) == len(self)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        noun = ("vertex" if len(self) == 1 else "vertices") if self.kind == "vertex" else "edges"
        some = "all" if self._all else ", ".join(map(str, self.host_ids()[:6].tolist()))
        more = ", ..." if len(self) > 6 and not self._all else ""
        return f"Frontier({len(self)} {noun}: {some}{more})"

    def _repr_html_(self) -> str:
        """The first elements, for notebooks: names of vertices, or both ends of edges."""
        g, ids = self.graph, self.host_ids()[: html.SHOWN + 1]
        columns = {"vertex": ids} if self.kind == "vertex" else {"source": g.sources[ids], "target": g.targets[ids]}
        named = {name: g.names.column(to_host(ends)) for name, ends in columns.items()}
        return html.table(named, html.text(repr(self)))
