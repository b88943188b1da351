"""A problem with fields and scalars of every dtype, for tests of functors."""

from __future__ import annotations

import numpy as np

import frontier as fr

DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "bool")
G = fr.from_edges(range(9), range(1, 10), [3, 1, 4, 1, 5, 9, 2, 6, 5], directed=True)


def problem(g):
    n = g.num_vertices
    numbers = {
        f"f_{dtype}": fr.vertex(dtype, np.arange(n) % 2 if dtype == "bool" else np.arange(n)) for dtype in DTYPES
    }
    scalars = {f"s_{dtype}": fr.scalar(dtype, 1) for dtype in DTYPES}
    return fr.Problem(
        g, out=fr.vertex("int64"), real=fr.vertex("float64"), along=fr.edge("float32", 0.5),
        own=fr.array(np.arange(4) * 10), **numbers, **scalars,
    )  # fmt: skip
