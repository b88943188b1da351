"""Other numbers for the vertices of a graph that GPUs build: in each part by falling degree, and none without edges.

Where ids say nothing, as in a list of edges whose ids are scrambled, searches read memory here and there. With these
numbers the vertices that are met most often lie side by side, those of a part at its front, where they stay in the
cache; rows, which are sorted, begin with them; and vertices without edges take no memory and no time. A part has the
vertices of a range of the ids that were given, so results in these ids can be written where they are found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.backends.cuda.plain_kernels import PlainKernel
from frontier.distributed.devices import together
from frontier.distributed.devices.spreading import Spread
from frontier.distributed.partition.cuts import at_equal_weights, whole_words
from frontier.graph.build_arrays import argsort
from frontier.memory import spread
from frontier.memory.arrays import to_host

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from frontier.memory.base import Memory

__all__ = ["Numbering"]

_KERNELS = "frontier.distributed.devices.numbering_kernels"
_vertices = PlainKernel(_KERNELS, "restore_vertices", ["int64"] * 6)
_values = PlainKernel(_KERNELS, "restore_values", ["int64"] * 5)


class Numbering:
    """The numbers of vertices in a graph, and the ids that they were given.

    Parameters
    ----------
    memories : sequence of Memory
        Of the GPU of each part.
    degree : ndarray, shape (given,)
        Of each id that was given, on the first GPU; less than 2**31 of them.

    Attributes
    ----------
    starts : ndarray of int64, shape (parts + 1,)
        First vertex of each part in the graph, and their number.
    """

    def __init__(self, memories: Sequence[Memory], degree: Any) -> None:
        self._memories, first = tuple(memories), memories[0]
        with first.using("the numbers of vertices"):
            ranges, self.starts = _cut(first, degree, len(memories))
            first.synchronize()
        self._given = Spread(self._memories, ranges, ranges)

        def sorted_ids(part: int) -> Any:
            memory, (lo, hi) = self._memories[part], ranges[part : part + 2].tolist()
            falling = memory.moved(degree[lo:hi], copy=True)
            falling *= -1
            count = self.starts[part + 1] - self.starts[part]
            return argsort(memory.xp, falling)[:count].astype(np.int32) + np.int32(lo)

        parts = self._each(sorted_ids)
        with first.using("the numbers of vertices"):
            ids = first.xp.concatenate([first.moved(each) for each in parts])
            new = first.full(len(degree), -1, np.int32)
            new[ids] = first.xp.arange(len(ids), dtype=np.int32)
            self._degree = degree[ids]
            first.synchronize()
        self._ids: list[Any] = [ids]
        self._new: list[Any] = self._each(lambda part: self._memories[part].moved(new))
        self._own: Any = None

    def _each(self, work: Any) -> list[Any]:
        return together.on_gpus(self._memories, work, "the numbers of vertices")

    def degree(self) -> Any:
        """The degree of each vertex, on the first GPU; it is not kept."""
        degree = self._degree
        del self._degree
        return degree

    def renamed(self, part: int, ids: Any) -> Any:
        """The vertices of given ids, which have edges; before :meth:`settle`."""
        return self._new[part][ids]

    def settle(self) -> None:
        """Keep of the numbers what results need: each GPU those of its own range, and the ids of all vertices."""
        self._own = self._given.empty(np.int32) if len(self._memories) > 1 else self._new[0]
        ids = self._ids[0]

        def own(part: int) -> Any:
            if len(self._memories) > 1:
                lo, hi = self._given.starts[part : part + 2].tolist()
                self._given.here(self._own, part)[lo:hi] = self._new[part][lo:hi]
                self._new[part] = None
            return self._memories[part].moved(ids)

        self._ids = self._each(own)
        self._new = []

    @property
    def nbytes(self) -> int:
        """Bytes that it takes on all GPUs together."""
        copies = len({id(each) for each in self._ids})
        return int(self._own.nbytes) + copies * int(self._ids[0].nbytes)

    def vertex(self, given: int) -> int:
        """The vertex of an id, which has edges."""
        with self._memories[0].using("the numbers of vertices"):
            return int(self._own[given])

    def restored(self, found: dict[str, Any]) -> dict[str, Any]:
        """Return results by the ids that were given.

        Parameters
        ----------
        found : dict of str to ndarray
            With an entry for each vertex of the graph: int32, which are vertices or -1, or float32, which are
            distances. Ids without edges get -1, or inf.

        Returns
        -------
        dict of str to ndarray
            Each part has its range of ids in the memory of its GPU.
        """
        made = {name: self._empty(values.dtype) for name, values in found.items()}
        divided = len(self._memories) > 1 and all(map(_on_all, found.values()))

        def restore(part: int) -> None:
            memory, here = self._memories[part], self._given.here
            lo, hi = self._given.starts[[part, part + 1] if divided else [0, -1]].tolist()
            own = here(self._own, part)
            for name, values in found.items():
                values, there = here(values, part), here(made[name], part)
                if values.dtype.kind == "i":
                    _vertices(memory, lo, hi, own, self._ids[part], values, there)
                else:
                    _values(memory, lo, hi, own, values, there)

        memories = self._memories if divided else self._memories[:1]
        together.on_gpus(memories, restore, "results by their first ids")
        return made

    def _empty(self, dtype: Any) -> Any:
        """An array with an entry for each id that was given."""
        if len(self._memories) > 1:
            return self._given.vertices(0, dtype)
        with self._memories[0].using("results by their first ids"):
            return self._memories[0].xp.empty(int(self._given.starts[-1]), dtype)


def _cut(first: Memory, degree: Any, parts: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """First id of each part, and first vertex: about the same number of edges, and whole words of bitmaps."""
    xp, n = first.xp, len(degree)
    begins = xp.zeros(n + 1, np.int64)
    begins[1:] = xp.cumsum(degree, dtype=np.int64)
    about = at_equal_weights(begins, parts, first.moved)
    begins[1:] = xp.cumsum(degree > 0, dtype=np.int64)  # vertices before each id
    starts = whole_words(to_host(begins[first.moved(about)]))
    ranges = to_host(xp.searchsorted(begins, first.moved(starts))).astype(np.int64)
    ranges[-1] = n
    return ranges, starts


def _on_all(values: Any) -> bool:
    """Whether every GPU can read an array."""
    return isinstance(values, np.ndarray) or spread.is_spread(values)
