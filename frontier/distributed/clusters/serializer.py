"""In the client: pickles for the ranks and from them, with keys in the place of graphs and arrays of the ranks."""

from __future__ import annotations

import io
import pickle
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from frontier.display.tables import library
from frontier.distributed.clusters.remote import RemoteArray, RemoteGraph
from frontier.errors import GraphError

if TYPE_CHECKING:
    from frontier.distributed.clusters.handle import Cluster

__all__ = ["Serializer"]


class Serializer:
    """Pickles and unpickles for a cluster, and tracks which objects of the ranks the client still refers to."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = weakref.ref(cluster)  # the cluster refers to this
        self._dropped: list[str] = []
        self._known: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()

    def dumps(self, value: Any) -> bytes:
        """Pickle an object for the ranks.

        Raises
        ------
        GraphError
            If it contains a graph or an array of another cluster.
        """
        owner = self._cluster()

        class Pickler(library("cloudpickle", "cloudpickle").Pickler):  # type: ignore[misc]
            def persistent_id(self, value: Any) -> tuple[str, str] | None:
                if not isinstance(value, RemoteGraph | RemoteArray):
                    return None
                if value.cluster is not owner:
                    raise GraphError("a graph or a result lies in the ranks of another cluster")
                return value.key, getattr(value, "name", "")

        file = io.BytesIO()
        Pickler(file, protocol=5).dump(value)
        return file.getvalue()

    def loads(self, data: bytes) -> Any:
        """Unpickle what a rank has sent."""
        owner = self

        class Unpickler(pickle.Unpickler):
            def persistent_load(self, said: Any) -> Any:
                kind, key, *more = said
                return owner._graph(key, *more) if kind == "graph" else owner.array(key, *more)

        return Unpickler(io.BytesIO(data)).load()

    def dropped(self) -> list[str]:
        """Return the keys that the client has no more references to, once each."""
        keys = list(self._dropped)
        del self._dropped[: len(keys)]  # the garbage collector may add more at any time
        return keys

    def array(self, key: str, shape: tuple[int, ...], dtype: str) -> RemoteArray:
        """Return the reference to an array."""
        made: RemoteArray = self._one(key, lambda cluster: RemoteArray(cluster, key, shape, dtype))
        return made

    def _graph(self, key: str, facts: dict[str, Any]) -> RemoteGraph:
        labels = None
        if facts["labels"] is not None:
            where, dtype = facts["labels"]
            labels = self.array(where, (facts["num_vertices"],), dtype)
        made: RemoteGraph = self._one(key, lambda cluster: RemoteGraph(cluster, key, facts, labels))
        return made

    def _one(self, key: str, make: Callable[[Any], Any]) -> Any:
        """Return the only reference to an object of the ranks, which drop the object once the reference is gone."""
        found = self._known.get(key)
        if found is None:
            if key in self._dropped:
                self._dropped.remove(key)
            found = self._known[key] = make(self._cluster())
            weakref.finalize(found, self._dropped.append, key).atexit = False
        return found
