"""The grid in which parts lie, if they do: its shape as users ask for it, and who is in the same row or column.

Part ``column * rows + row`` holds the edges from vertices that its column owns to vertices that its row owns, as
:class:`frontier.Partition` says. So what a step does at the sources of edges concerns parts of one column, and what it
does at their targets parts of one row.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from frontier.distributed.partition.cuts import most_square
from frontier.errors import BackendUnavailableError

__all__ = ["ALL", "COLUMN", "ROW", "Grid", "is_shape", "rows_of"]

#: Audiences: who must be told of an element of which its owner knows more.
ALL, ROW, COLUMN = "all", "row", "column"

#: Whom it concerns what is at an end of an edge, and at the edge, which belongs to the owner of its source.
AT_ENDS = {"src": COLUMN, "dst": ROW, "edge": COLUMN}


@dataclass(frozen=True)
class Grid:
    """A grid of parts, as one of them sees it.

    Attributes
    ----------
    rows, columns : int
    rank : int
        This part.
    """

    rows: int
    columns: int
    rank: int

    @cached_property
    def members(self) -> dict[str, range]:
        """The parts of this one's row and column, itself among them, ascending."""
        column, row = divmod(self.rank, self.rows)
        first = column * self.rows
        return {ROW: range(row, self.rows * self.columns, self.rows), COLUMN: range(first, first + self.rows)}

    @cached_property
    def audiences(self) -> list[str]:
        """Of each part, which audience of this one it is in: only this part itself is in its row and its column."""
        found = [ALL] * (self.rows * self.columns)
        for audience, members in self.members.items():
            for rank in members:
                found[rank] = audience
        return found


def is_shape(text: str) -> bool:
    """Whether a part of a placement's name is the shape of a grid: ``"2d"``, or rows and columns as in ``"2x3"``."""
    rows, by, columns = text.partition("x")
    numbers = all(each.isascii() and each.isdigit() and each[0] != "0" for each in (rows, columns))
    return text == "2d" or (bool(by) and numbers)


def rows_of(shape: str, parts: int) -> int:
    """Return the rows of a grid of so many parts; ``"2d"`` is as square as possible, no shape is one row.

    Raises
    ------
    BackendUnavailableError
        If a grid of this shape has not so many parts.
    """
    if not shape:
        return 1
    if shape == "2d":
        return most_square(parts)
    rows, columns = map(int, shape.split("x"))
    if rows * columns != parts:
        raise BackendUnavailableError(
            f"a grid of {rows} rows and {columns} columns has {rows * columns} parts, not {parts}"
        )
    return rows
