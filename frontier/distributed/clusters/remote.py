"""In the client: references to graphs and arrays in the ranks of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from frontier.errors import GraphError
from frontier.graph.graph import Graph
from frontier.graph.labels import VertexNames
from frontier.memory.placement import Placement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from frontier.distributed.clusters.handle import Cluster
    from frontier.graph.topology import Array

__all__ = ["RemoteArray", "RemoteGraph", "to_host"]


class RemoteArray(NDArrayOperatorsMixin):
    """An array whose parts are in the ranks. It is fetched, once, when it is looked at."""

    def __init__(self, cluster: Cluster, key: str, shape: tuple[int, ...], dtype: str, name: str = "") -> None:
        self.cluster, self.key, self.name = cluster, key, name
        self.shape, self.dtype, self.ndim = shape, np.dtype(dtype), len(shape)
        self._array: Array | None = None

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if self._array is None:
            self._array = np.concatenate(self.cluster._parts(self.key, self.name))
            self._array.flags.writeable = False
        return np.array(self._array, dtype) if copy else np.asarray(self._array, dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **more: Any) -> Any:
        return getattr(ufunc, method)(*(_whole(each) for each in inputs), **more)

    def __getitem__(self, at: Any) -> Any:
        return np.asarray(self)[at]

    def __iter__(self) -> Iterator[Any]:
        return iter(np.asarray(self))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(f"arrays in the ranks of a cluster have no {name!r}")
        return getattr(np.asarray(self), name)

    def __repr__(self) -> str:
        if self._array is not None:
            return repr(self._array)
        return f"<{len(self):,} entries of {self.dtype}, in {self.cluster.size} ranks>"

    def __reduce__(self) -> tuple[Any, ...]:
        return np.array, (np.asarray(self),)


def _whole(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, RemoteArray) else value


class RemoteGraph(Graph):
    """A graph whose edges are in the ranks of a cluster. Primitives run there; other uses fetch or refuse."""

    __slots__ = ("_facts", "_named", "cluster", "key")

    def __init__(self, cluster: Cluster, key: str, facts: dict[str, Any], labels: RemoteArray | None) -> None:
        self.cluster, self.key, self._facts = cluster, key, facts
        self._named = VertexNames(labels, self.num_vertices)  # type: ignore[arg-type]

    def _call_there(self, function: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Run a primitive where the graph is."""
        return self.cluster.run(function, *given, **named)

    # -- what is known here ------------------------------------------------------------------

    @property
    def num_vertices(self) -> int:
        """Number of vertices."""
        return int(self._facts["num_vertices"])

    @property
    def num_edges(self) -> int:
        """Number of edges."""
        return int(self._facts["num_edges"])

    @property
    def num_slots(self) -> int:
        """Number of edge slots."""
        return int(self._facts["num_slots"])

    @property
    def directed(self) -> bool:
        """Whether an edge goes one way only."""
        return bool(self._facts["directed"])

    @property
    def symmetric(self) -> bool:
        """Whether every edge has a reverse."""
        return not self.directed

    @property
    def backend(self) -> str:
        """Where it lies."""
        return self.cluster.placement

    @property
    def names(self) -> VertexNames:
        """The names of the vertices."""
        return self._named

    @property
    def labels(self) -> Any:
        """Name of each vertex, or None."""
        return self._named.labels

    # -- what comes here when somebody looks at it ---------------------------------------------

    @property
    def sources(self) -> Any:
        """Source of each edge slot."""
        return self._slots("sources", np.dtype(self._ids).str)

    @property
    def targets(self) -> Any:
        """Target of each edge slot."""
        return self._slots("targets", np.dtype(self._ids).str)

    @property
    def weights(self) -> Any:
        """Weight of each edge slot, or None."""
        return None if self._facts["weights"] is None else self._slots("weights", self._facts["weights"])

    @property
    def _ids(self) -> Any:
        return np.int32 if self.num_vertices < 1 << 31 else np.int64

    def _slots(self, name: str, dtype: str) -> RemoteArray:
        return RemoteArray(self.cluster, self.key, (self.num_slots,), dtype, name)

    def to(self, placement: Placement | str, *, edges: str | None = None, memory: int | str | None = None) -> Graph:
        """Return the whole graph as a copy of this process, with a placement."""
        copy: Graph = self.cluster.run(to_host, self)
        return copy.to(placement, edges=edges, memory=memory)

    # -- what is refused -----------------------------------------------------------------------

    def _refused(self) -> NoReturn:
        raise GraphError(
            "this graph lies in the ranks of a cluster: primitives run there, as does cluster.run(function, graph); "
            'graph.to("cpu") is a copy of all of it here'
        )

    _topology = property(_refused)
    _placement = property(_refused)

    def __repr__(self) -> str:
        return str(self._facts["shown"]).replace("; ranks", f"; {self.cluster.size} ranks of a cluster")

    def _repr_html_(self) -> str:
        return f"<code>{repr(self).replace('<', '&lt;')}</code>"


def to_host(graph: Graph) -> Graph:
    """Return the whole graph; all ranks call this together."""
    return graph.to("cpu")
