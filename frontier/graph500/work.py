"""The interface of what goes through the list of edges: on the host, or on GPUs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

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

    @abstractmethod
    def connected(self, num_vertices: int) -> Array:
        """Return on the host whether each vertex has an edge to another vertex."""

    @abstractmethod
    def evidence(self, tree: Tree) -> Evidence:
        """Check the rules on edges for all of the list; what it shows lies where the tree does."""

    def make_room(self, num_vertices: int) -> None:
        """Let past searches give back memory if checking a result may need it."""
        return

    def note(self) -> None:
        """Note how much memory is in use."""
        return

    def held(self, graph: Graph) -> Held | None:
        """Return what was taken of the memory of GPUs, if any was."""
        return None
