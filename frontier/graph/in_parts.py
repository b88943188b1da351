"""What a primitive asks of a graph whose edges, or whose programs, several processes share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = ["check_alike", "check_whole", "in_parts"]


def in_parts(graph: Graph) -> bool:
    """Whether each process has the edges of its own vertices only, as of a graph that was read in parts."""
    return graph._topology.divided is not None


def check_whole(graph: Graph, what: str) -> None:
    """Raise an error if a graph is in parts.

    Parameters
    ----------
    graph : Graph
    what : str
        What is not possible then, for the message.

    Raises
    ------
    GraphError
        If the graph is in parts.
    """
    graph._topology.check_whole(what)


def check_alike(graph: Graph) -> None:
    """Check that all processes that run each program together have the same graph; all of them call this together.

    Raises
    ------
    GraphError
        In all of them, if they have not.
    """
    graph.placement.backend.alike(graph)
