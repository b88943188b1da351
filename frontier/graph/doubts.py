"""Warnings of edges that are probably not meant as they are taken: duplicates of different weights, ids with gaps."""

from __future__ import annotations

from frontier.errors import warn
from frontier.graph.build_arrays import Rows
from frontier.graph.topology import Array
from frontier.memory.base import Memory

__all__ = ["GAPS_FROM", "ONE_IN", "say_gaps", "warn_of_duplicates", "warn_of_gaps"]

#: From so many vertices on, ids of which at most one in so many occurs are probably no numbering. Below, little is
#: lost, and samples with ids like 0, 5 and 900 are common. Few graphs have so few vertices with edges: of R-MAT graphs
#: of 16 edges a vertex 60 % have some, of those of one edge a vertex still more than a quarter.
GAPS_FROM, ONE_IN = 1000, 4

#: Targets that are looked at before it is counted again.
_SCATTERED = 1 << 20


def warn_of_duplicates(source: int, target: int, labels: Array | None, kept: str = "first") -> None:
    """Warn that an edge is there several times, with different weights, of which nobody has said which is meant."""
    ends = (source, target) if labels is None else (labels[source], labels[target])
    warn(
        f"the edge ({ends[0]}, {ends[1]}), and perhaps others, is given more than once, with different weights, and "
        f"the {kept} is kept: duplicates='sum' adds them up, 'min', 'max' and 'keep' are other ways, and "
        f"duplicates='{kept}' says that this is meant"
    )


def warn_of_gaps(memory: Memory, rows: Rows, directed: bool) -> None:
    """Warn if most ids up to the largest do not occur."""
    n = len(rows.offsets) - 1
    if n < GAPS_FROM or (few := n // ONE_IN) < (found := _vertices_with_edges(memory, rows, directed, few)):
        return
    say_gaps(n, found)


def say_gaps(n: int, found: int) -> None:
    """Warn that of n ids so few occur."""
    warn(
        f"ids go up to {n - 1:,}, and {found:,} of them occur: the other {n - found:,} are vertices without edges; "
        "labels=True numbers the vertices that occur, and num_vertices= says that the others are meant"
    )


def _vertices_with_edges(memory: Memory, rows: Rows, directed: bool, enough: int) -> int:
    """How many vertices have edges, out or in; counting may stop above ``enough``."""
    occurs = rows.offsets[1:] != rows.offsets[:-1]
    found = int(memory.xp.count_nonzero(occurs))
    if directed and found <= enough:
        for first in range(0, len(rows.targets), _SCATTERED):
            occurs[rows.targets[first : first + _SCATTERED]] = True
            found = int(memory.xp.count_nonzero(occurs))
            if found > enough:
                break
    return found
