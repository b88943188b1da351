"""The interface of what goes through the list of edges: on the host, or on GPUs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.graph.topology import Array
    from frontier.graph500.report import Held
    from frontier.graph500.validation import Evidence, Tree
    from frontier.memory.base import Memory
    from frontier.memory.placement import Placement

__all__ = ["Work"]


class Work(ABC):
    """Makes the list of edges, builds the graph of it, and checks results against it.

    Attributes
    ----------
    memory : Memory
        Where results are checked.
    """

    memory: Memory

    @abstractmethod
    def __init__(self, scale: int, edgefactor: int, seed: int, place: Placement) -> None: ...

    def prepare(self) -> None:
        """Load what is compiled, so that it is not timed."""
        return

    @abstractmethod
    def generate(self) -> None:
        """Make the list."""

    @abstractmethod
    def construct(self) -> Graph:
        """Kernel 1: build the graph."""

    def vertex(self, given: int) -> int:
        """Return which vertex of the graph an id of the list is; the same where the graph has these ids."""
        return given

    def restored(self, found: dict[str, Any]) -> dict[str, Any]:
        """Return results by the ids of the list, of which integers are ids; a part of the search, which is timed."""
        return found

    @abstractmethod
    def connected(self, graph: Graph) -> Array:
        """Return on the host whether each id of the list has an edge to another one."""

    @abstractmethod
    def evidence(self, tree: Tree) -> Evidence:
        """Check the rules on edges for all of the list; what it shows lies where the tree does."""

    def make_room(self) -> None:
        """Let past searches give back memory if checking a result may need it."""
        return

    def note(self) -> None:
        """Note how much memory is in use."""
        return

    def held(self, graph: Graph) -> Held | None:
        """Return what was taken of the memory of GPUs, if any was."""
        return None
