"""Hash tables of each worker's own, in which gathers count values: how large they are.

A worker of the cpu backend has one for the longest list. On a GPU each warp has one for lists of up to a thousand
edges, and those of a block's warps together serve its longer lists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.graph.topology import Array

__all__ = ["EXTRA", "MOST", "longest", "of_thread", "of_warp"]

#: Slots of a warp's table at most: a power of two. (On a GPU of 132 multiprocessors tables take up to 210 MB.)
MOST = 2048

#: Slots that a warp's table has beside them, of which one is for the value that stands for a free slot.
EXTRA = 32


def longest(g: Graph, edges: str) -> int:
    """The length of the longest list of a direction, counted once for a graph.

    In-lists are measured themselves: of a graph in parts each part has those of its own vertices.
    """
    if edges == "out" or g.symmetric:
        return g.max_degree
    found: int = g._once("max_in_degree", lambda: _longest(g.in_offsets))
    return found


def _longest(offsets: Array) -> int:
    return int((offsets[1:] - offsets[:-1]).max()) if len(offsets) > 1 else 0


def of_thread(g: Graph, edges: str) -> int:
    """Slots of a thread's table: a power of two, so many that three of four are in use at most."""
    return power_of_two(longest(g, edges) * 4 // 3 + 1)


def of_warp(g: Graph, edges: str) -> int:
    """Slots of a warp's table, without :data:`EXTRA`: a power of two, twice as many as a list may have edges."""
    return min(power_of_two(2 * longest(g, edges)), MOST)


def power_of_two(number: int) -> int:
    """The least power of two, from 8 on, that is not below a number."""
    return max(8, 1 << max(number - 1, 0).bit_length())
