"""Layout: what of a graph and a problem the text of a loop function depends on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from frontier.problem import Problem

__all__ = ["Layout"]


@dataclass(frozen=True)
class Layout:
    """Dtypes of the graph's arrays and of a problem's fields; equal layouts share code.

    Attributes
    ----------
    ids, offsets : str
        Names of the dtypes of vertex ids and of edge slots.
    weights : str or None
    mirrored : bool
        Whether an edge's weight is also that of its opposite slot, so that in-edges need no permutation
        for weights.
    fields : tuple of (name, kind, dtype)
        The dtype of a pile is its kind of elements.
    """

    ids: str
    offsets: str
    weights: str | None
    mirrored: bool
    fields: tuple[tuple[str, str, str], ...]

    @classmethod
    def of(cls, p: Problem) -> Layout:
        """The layout of a problem."""
        g = p.graph
        fields = tuple(
            (name, field.kind, field.init if field.kind == "pile" else _name(field.dtype))
            for name, field in p.fields.items()
        )
        weights = None if g.weights is None else _name(g.weights.dtype)
        return cls(_name(g.targets.dtype), _name(g.offsets.dtype), weights, not g.directed, fields)

    def dtype(self, name: str) -> str:
        """Dtype of a field, or the kind of elements of a pile."""
        return next(dtype for field, _, dtype in self.fields if field == name)

    def of_kind(self, *kinds: str) -> list[tuple[str, str]]:
        """(name, dtype) of the fields of some kinds, in order."""
        return [(name, dtype) for name, kind, dtype in self.fields if kind in kinds]

    def element(self, kind: str) -> str:
        """Dtype of the ids in a queue of vertices or of edges."""
        return self.ids if kind == "vertex" else self.offsets


@lru_cache
def _name(dtype: Any) -> str:
    return str(dtype)  # which takes NumPy some microseconds
