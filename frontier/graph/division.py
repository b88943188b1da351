"""How a graph is divided: among ranks, each with a part, or over the memories of several GPUs.

A :class:`frontier.graph.topology.Topology` has one of these, or none. They are made in ``frontier.distributed``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frontier.graph.graph import Graph
    from frontier.graph.topology import Topology
    from frontier.memory.base import Memory
    from frontier.memory.placement import Placement

__all__ = ["AmongRanks", "OverGpus"]


class AmongRanks(Protocol):
    """A graph of which each rank has the edges of its own vertices: :class:`frontier.distributed.ranks.graphs.Divided`.

    Attributes
    ----------
    graph : Graph
        The graph as users see it.
    parts : list of Graph
        Those of the ranks in this process.
    starts : ndarray of int64, shape (size + 1,)
        First vertex of each rank, and the number of vertices.
    """

    graph: Graph
    parts: list[Graph]
    size: int
    starts: NDArray[Any]

    def part(self, rank: int) -> Graph:
        """Return the part of a rank in this process."""

    def slots(self, index: int) -> range:
        """Return the slots of a rank in this process."""

    def slots_of(self, part: Graph) -> slice:
        """Return the slots of the rank in this process that has a part."""

    def full(self, init: Any, dtype: Any, width: int = 0) -> NDArray[Any]:
        """Return an array with an entry for each slot, of which those of the ranks in this process are written."""

    def gather(self, what: str, own: NDArray[Any], root: int | None = None) -> list[NDArray[Any]] | None:
        """Bring together what the processes have, on one or on all."""

    def gathered(self, root: int | None = None) -> Graph | None:
        """Return the whole graph, on every rank, or on one and None on others."""

    def told(self, doing: str, given: Any) -> list[Any]:
        """Return what all processes give for the same purpose."""

    def by_one(self, doing: str, use: Callable[[Graph], None]) -> None:
        """Let one rank use the whole graph."""


class OverGpus(Protocol):
    """How edges, and long fields, are spread: :class:`frontier.distributed.devices.spreading.Spread`.

    Attributes
    ----------
    memories : tuple of Memory
        Of the GPU of each part.
    starts, bounds : ndarray of int64, shape (parts + 1,)
        First vertex and first slot of each part, and their numbers.
    edges : Memory or None
        Where the edges lie, if not, or not all, in the memories of the GPUs.
    """

    memories: tuple[Memory, ...]
    starts: NDArray[Any]
    bounds: NDArray[Any]
    edges: Memory | None

    @property
    def resident(self) -> float:
        """Which part of its edges a GPU has in its own memory."""

    def takes(self, length: int, dtype: Any) -> bool:
        """Whether fields of vertices of this dtype are spread, too."""

    def empty(self, dtype: Any, bounds: NDArray[Any] | None = None) -> Any:
        """Return an array with an entry for each slot, or at other bounds."""

    def full(self, values: Any, dtype: Any) -> Any:
        """Return an array of values: one for all slots, or one for each."""

    def taken(self, values: Any, bounds: NDArray[Any] | None = None) -> Any:
        """Return values where the edges lie."""

    def vertices(self, values: Any, dtype: Any) -> Any:
        """Return an array in which each GPU has the elements of its own vertices."""

    def fill(self, arrays: Sequence[tuple[Any, Any]]) -> None:
        """Give all elements of arrays one value each."""

    def each(self, work: Callable[[int], Any]) -> list[Any]:
        """Call a function for each part, whose GPU is current."""

    def here(self, array: Any, part: int) -> Any:
        """Return an array in parts as one of a part's GPU."""

    def share_out(self, top: Topology, there: Placement) -> Topology:
        """Note that the edges of a graph are spread so."""
