"""The class Layout: those properties of a graph and a problem on which generated code depends."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from frontier.graph.packed import PackedIds

if TYPE_CHECKING:
    from frontier.program.pairs import Pair
    from frontier.program.problem import Problem

__all__ = ["Layout", "wide"]


@dataclass(frozen=True, eq=False)  # every run looks for it, which takes least by identity
class Layout:
    """Dtypes of the graph's arrays and of a problem's fields; problems with the same share one, and so code.

    Attributes
    ----------
    ids, offsets : str
        Names of the dtypes of vertex ids and of edge slots.
    weights : str or None
    frames : str or None
        If adjacency lists are compressed, the dtype of their frames (:mod:`frontier.graph.packed`).
    sparse : bool
        Whether offsets of out-lists or of in-lists are doubly compressed (:mod:`frontier.graph.sparse_offsets`).
    mirrored : bool
        Whether an edge's weight is also that of its opposite slot, so that in-edges need no permutation
        for weights.
    fields : tuple of (name, kind, dtype)
        The dtype of a pile is its kind of elements.
    pairs : tuple of Pair
        Fields of which one goes along with the other.
    atomic : bool
        Whether functors are compiled, and atomics change both fields of a pair.
    widths : tuple of (name, int)
        Of fields that have several values each.
    """

    ids: str
    offsets: str
    weights: str | None
    frames: str | None
    sparse: bool
    mirrored: bool
    fields: tuple[tuple[str, str, str], ...]
    pairs: tuple[Pair, ...]
    atomic: bool
    widths: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(cls, p: Problem) -> Layout:
        """The layout of a problem; the same of all that are alike."""
        known: Layout | None = p.workspace.get("layout")
        if known is not None:
            return known
        g = p.graph
        weights = None if g.weights is None else g.weights.dtype
        fields = tuple([
            (name, field.kind, field.init if field.kind == "pile" else field.dtype) for name, field in p.fields.items()
        ])  # fmt: skip
        pairs, atomic = p._pairs, g.placement.backend.keeps_pairs
        ends = g._topology.ends
        widths = tuple((name, field.width) for name, field in p.fields.items() if field.width)
        frames = ends.frames.dtype if isinstance(ends, PackedIds) else None
        made: Layout = _layout(
            g.id_dtype, g.offsets.dtype, weights, frames, g._topology.sparse, not g.directed, fields, pairs, atomic,
            widths,
        )  # fmt: skip
        p.workspace["layout"] = made
        return made

    def with_weights(self, dtype: str) -> Layout:
        """The same with weights."""
        return _weighted(self, dtype)

    def dtype(self, name: str) -> str:
        """Dtype of a field, or the kind of elements of a pile."""
        return next(dtype for field, _, dtype in self.fields if field == name)

    def kind(self, name: str) -> str:
        """Kind of a field."""
        return next(kind for field, kind, _ in self.fields if field == name)

    def seen(self, name: str) -> str:
        """The dtype as which functors see a field in memory: narrow integers are read as int64."""
        dtype, width = self.dtype(name), dict(self.widths).get(name, 0)
        if width:
            return f"rows_{width}_{wide(dtype)}"
        pair = self.pair(name)
        if pair is None or (name == pair.other and not pair.word):
            return wide(dtype)
        way = "half" if pair.word else "locked"
        return f"{way}_{dtype}_{self.dtype(pair.other)}" if name == pair.key else f"{way}_{dtype}"

    def pair(self, name: str) -> Pair | None:
        """The pair that a field belongs to, on a backend where they change together by an atomic."""
        return next((pair for pair in self.pairs if name in pair[:2]), None) if self.atomic else None

    def of_kind(self, *kinds: str) -> list[tuple[str, str]]:
        """(name, dtype) of the fields of some kinds, in order."""
        return [(name, dtype) for name, kind, dtype in self.fields if kind in kinds]

    def of_graph(self, name: str) -> str:
        """The dtype as which functors see an array of the graph."""
        if name == "targets" and self.frames:
            return f"packed_{self.frames}"
        if name in ("offsets", "in_offsets") and self.sparse:
            return f"sparse_{self.offsets}"
        if name == "weights":
            return wide(self.weights or "float64")
        return wide(self.offsets if name in ("offsets", "in_offsets", "in_edges") else self.ids)

    def element(self, kind: str) -> str:
        """Dtype of the ids in a queue of vertices or of edges."""
        return self.ids if kind == "vertex" else self.offsets


def wide(dtype: str) -> str:
    """The dtype as which functors see an array of the graph."""
    return f"wide_{dtype}" if dtype in ("int8", "int16", "int32") else dtype


@cache
def _weighted(layout: Layout, dtype: str) -> Layout:
    return replace(layout, weights=dtype)


@cache
def _layout(
    ids: Any, offsets: Any, weights: Any, frames: Any, sparse: bool, mirrored: bool,
    fields: tuple[tuple[str, str, Any], ...], pairs: tuple[Pair, ...], atomic: bool,
    widths: tuple[tuple[str, int], ...],
) -> Layout:  # fmt: skip
    """From dtypes: their names take NumPy some microseconds."""
    named = tuple((name, kind, str(dtype)) for name, kind, dtype in fields)
    weights, frames = (None if each is None else str(each) for each in (weights, frames))
    return Layout(str(ids), str(offsets), weights, frames, sparse, mirrored, named, pairs, atomic, widths)
