"""The fields that random programs have, the values that they begin with, and how a functor may use them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import frontier as fr

__all__ = ["FIELDS", "FLOATS", "PAIRS", "SCALARS", "Kept", "graph", "problem"]


@dataclass(frozen=True)
class Kept:
    """A field: where its values are, of which dtype, and what may be written.

    ``low`` and ``high`` bound integers. ``way`` is ``"plain"`` for a field that a call writes at its own element;
    an atomic's name for one that many calls change so; ``"exact"`` for floats that are sums of quarters, which have
    the same bits in every order; ``"first"`` and ``"last"`` for keys with which another field goes along, least and
    greatest; ``"fixed"`` for what nobody writes on its own.
    """

    kind: str
    dtype: str
    way: str = "plain"
    low: int = 0
    high: int = 0


FLOATS = ("float32", "float64")

FIELDS = {
    "tiny": Kept("vertex", "int8", "plain", -100, 100),
    "byte": Kept("vertex", "uint8", "plain", 0, 255),
    "short": Kept("vertex", "int16", "plain", -3000, 3000),
    "word": Kept("vertex", "uint16", "plain", 0, 60000),
    "a": Kept("vertex", "int32", "plain", -100000, 100000),
    "b": Kept("vertex", "int32", "plain", -100000, 100000),
    "unsigned": Kept("vertex", "uint32", "plain", 0, 100000),
    "x": Kept("vertex", "int64", "plain", -(2**31), 2**31),
    "y": Kept("vertex", "int64", "plain", -(2**31), 2**31),
    "f": Kept("vertex", "float32"),
    "g": Kept("vertex", "float32"),
    "d": Kept("vertex", "float64"),
    "e": Kept("vertex", "float64"),
    "flag": Kept("vertex", "bool"),
    "mark": Kept("vertex", "bool"),
    "added": Kept("vertex", "int64", "add", -(2**40), 2**40),
    "least": Kept("vertex", "int32", "min", -100000, 100000),
    "most": Kept("vertex", "int64", "max", -(2**31), 2**31),
    "bits": Kept("vertex", "int32", "or", 0, 1023),
    "dleast": Kept("vertex", "float64", "min"),
    "fmost": Kept("vertex", "float32", "max"),
    "low": Kept("vertex", "int32", "first", -100000, 100000),
    "low_by": Kept("vertex", "int32", "fixed", -1000, 1000),
    "peak": Kept("vertex", "float64", "last"),
    "peak_by": Kept("vertex", "float64", "fixed"),
    "sum32": Kept("vertex", "float32", "exact"),
    "sum64": Kept("vertex", "float64", "exact"),
    "claim": Kept("vertex", "int32", "fixed", -1, 100000),
    "link": Kept("vertex", "int32", "fixed", 0, 100),
    "rank": Kept("vertex", "int64", "fixed", -4, 9),
    "cost": Kept("edge", "float32", "fixed"),
    "ea": Kept("edge", "int32", "plain", -100000, 100000),
    "ex": Kept("edge", "int64", "plain", -(2**31), 2**31),
    "ef": Kept("edge", "float32"),
    "ed": Kept("edge", "float64"),
    "eflag": Kept("edge", "bool"),
    "eadded": Kept("edge", "int64", "add", -(2**40), 2**40),
    "listed": Kept("array", "int64", "plain", -1000, 1000),
    "real": Kept("array", "float64"),
    "real32": Kept("array", "float32"),
    "n": Kept("scalar", "int64", "fixed", 1, 100),
    "source": Kept("scalar", "int32", "fixed", 0, 100),
    "times": Kept("scalar", "int64", "fixed", 0, 3),
    "k": Kept("scalar", "int32", "plain", -100000, 100000),
    "l": Kept("scalar", "int64", "plain", -(2**40), 2**40),
    "q": Kept("scalar", "uint16", "plain", 0, 60000),
    "h": Kept("scalar", "float32"),
    "r": Kept("scalar", "float64"),
    "yes": Kept("scalar", "bool"),
    **{f"c{i}": Kept("scalar", "int64", "fixed", 0, 10000) for i in range(4)},
    "far": Kept("pile", "vertex"),
    "late": Kept("pile", "vertex"),
    "later": Kept("pile", "edge"),
}

#: Fields with which another goes along.
PAIRS = {"low": "low_by", "peak": "peak_by"}

SCALARS = [name for name, field in FIELDS.items() if field.kind == "scalar" and field.way == "plain"]

#: Numbers of vertices; and those for several GPUs, each of which owns whole words of bitmaps, so that it has some.
SIZES, LARGE = (1, 2, 3, 7, 12, 30, 70), (2, 33, 34, 40, 65, 100, 130)

#: Length of the arrays.
LENGTH = 5


def graph(rng: np.random.Generator, weights: str | None, directed: bool, large: bool) -> fr.Graph:
    """A small graph of some shape."""
    n = int(rng.choice(LARGE if large else SIZES, p=[0.04, 0.06, 0.1, 0.2, 0.3, 0.2, 0.1]))
    shape = rng.integers(6)
    order = rng.permutation(n)
    if shape == 0:
        src, dst = rng.integers(0, n, (2, n // 2))
    elif shape == 1:  # a star
        src, dst = np.where(rng.random(n) < 0.6, order[0], order), order
    elif shape == 2:  # a path, some of it twice
        src, dst = np.tile(order[:-1], 2)[: n + n // 3], np.tile(order[1:], 2)[: n + n // 3]
    elif shape == 3:
        src, dst = (n * rng.random((2, 3 * n)) ** 2).astype(np.int64)
    else:
        src, dst = rng.integers(0, n, (2, 2 * n))
    values: Any = None
    if weights is not None:
        values = rng.integers(0, 9, len(src)) if weights.startswith("int") else rng.random(len(src)) * 4
        values = values.astype(weights)
    return fr.from_edges(
        src, dst, values, num_vertices=n, directed=directed, duplicates="keep" if rng.random() < 0.6 else "first"
    )


def _values(rng: np.random.Generator, field: Kept, size: int, wild: bool) -> Any:
    if field.dtype == "bool":
        return rng.random(size) < 0.5
    if field.way == "exact":
        return (rng.integers(-40, 40, size) * 0.25).astype(field.dtype)
    if field.dtype in FLOATS:
        made = np.where(rng.random(size) < 0.5, rng.integers(-3, 9, size) * 0.5, rng.normal(0, 20, size))
        if wild:
            odd = rng.choice([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e30, 0.1], size)
            made = np.where(rng.random(size) < 0.06, odd, made)
        return made.astype(field.dtype)
    near = rng.integers(max(field.low, -9), min(field.high, 9) + 1, size)
    any_ = rng.integers(field.low, field.high + 1, size)
    return np.where(rng.random(size) < 0.6, near, any_).astype(field.dtype)


def problem(g: fr.Graph, names: tuple[str, ...], seed: int, wild: bool = False) -> fr.Problem:
    """A problem with these fields on a graph, whose values the seed decides."""
    rng = np.random.default_rng(seed)
    lengths = {"vertex": g.num_vertices, "edge": len(g.targets), "array": LENGTH}
    made: dict[str, fr.Field] = {}
    for name in names:
        field = FIELDS[name]
        if field.kind == "pile":
            made[name] = fr.pile(field.dtype)
        elif field.kind == "scalar":
            made[name] = fr.scalar(field.dtype, _values(rng, field, 1, wild)[0].item())
        elif field.kind == "array":
            made[name] = fr.array(_values(rng, field, LENGTH, wild))
        else:
            values = _values(rng, field, lengths[field.kind], wild)
            if name in ("cost", "dleast", "fmost", "peak"):  # keys, and what atomics change: a GPU may leave NaN there
                values = np.where(np.isnan(values), values.dtype.type(1.5), values)
            if name == "link":
                values = rng.integers(0, g.num_vertices, g.num_vertices).astype(np.int32)
            combine = {"first": "min", "last": "max"}.get(field.way)
            with_ = next((key for key, other in PAIRS.items() if name == other and key in names), None)
            if name == "x" and "claim" in names:  # written by whoever has claimed the vertex
                with_ = "claim"
            made[name] = (fr.vertex if field.kind == "vertex" else fr.edge)(field.dtype, values, combine, with_)
    p = fr.Problem(g, **made)
    p.n, p.source = g.num_vertices, int(rng.integers(g.num_vertices))
    for name in names:
        field = FIELDS[name]
        if field.kind == "pile":
            size = lengths[field.dtype]
            setattr(p, name, rng.permutation(size)[: rng.integers(0, size // 2 + 1)])
    return p
