"""What :func:`frontier.read` is told of a file, as readers of formats get it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Options"]


@dataclass(frozen=True)
class Options:
    """How a graph is made of what a file holds: arguments of :func:`frontier.read`.

    ``infers_labels``: whether ends may be labels, though ``labels`` does not say so, where a line of names of columns
    says that they are no edge. ``keeps_columns``: whether columns other than weights are kept.
    """

    directed: bool | None
    duplicates: str | None
    self_loops: str
    num_vertices: int | None
    labels: Any
    header: bool | None = None
    weight: str | bool | None = None
    source: str | None = None
    target: str | None = None
    infers_labels: bool = False
    keeps_columns: bool = True

    @property
    def names_ends(self) -> bool:
        """Whether columns are named that hold the ends of edges."""
        return self.source is not None or self.target is not None
