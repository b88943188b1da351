"""The graphs of the benchmarks: symmetric, without loops and duplicates, with reproducible weights."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

import frontier as fr

DEFAULT = ("rmat:20", "road-NE")
#: What names :func:`load` knows, for command lines.
HELP = (
    "rmat:SCALE[:EDGE_FACTOR], urand:SCALE[:EDGE_FACTOR], grid:ROWSxCOLUMNS, karate, or NAME for NAME.npz in the data "
    "folder, with arrays src, dst and n"
)
DATA = Path(os.environ.get("FRONTIER_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


class Missing(Exception):
    """A graph that is not on this machine."""


def load(name: str) -> fr.Graph:
    """Make or read a graph by name; see :data:`HELP`.

    Raises
    ------
    Missing
        There is no such file.
    """
    kind, *texts = name.split(":")
    if kind in ("rmat", "urand"):
        g = getattr(fr, kind)(*(int(text) for text in texts), seed=1)
    elif kind == "grid":
        g = fr.grid(*(int(text) for text in texts[0].split("x")))
    elif kind == "karate":
        g = fr.karate()
    else:
        g = _read(DATA / f"{name}.npz")
    return g.with_weights(weights(g))


def title(name: str) -> str:
    """The name of a graph in a table."""
    kind, colon, size = name.partition(":")
    named = {"rmat": "R-MAT", "urand": "uniform"}.get(kind, kind)
    return f"{named} {size}" if colon else name


def _read(path: Path) -> fr.Graph:
    if not path.exists():
        raise Missing(f"{path.stem}: there is no {path}; FRONTIER_DATA names the folder")
    with np.load(path) as file:
        return fr.from_edges(file["src"], file["dst"], num_vertices=int(file["n"]), self_loops="drop")


def weights(g: fr.Graph) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Integers from 1 to 64 as float32, the same for both directions of an edge."""
    low = np.minimum(g.sources, g.targets).astype(np.uint64)
    high = np.maximum(g.sources, g.targets).astype(np.uint64)
    mixed = (low * np.uint64(2654435761) + high * np.uint64(40503)) >> np.uint64(7)
    return (mixed % np.uint64(64) + np.uint64(1)).astype(np.float32)


def sources(g: fr.Graph, count: int, seed: int) -> list[int]:
    """Vertices that have an edge, drawn by a seed."""
    candidates = np.flatnonzero(g.out_degree)
    chosen = np.random.default_rng(seed).choice(candidates, count, replace=len(candidates) < count)
    return [int(v) for v in chosen]


def edges_reached(g: fr.Graph, source: int) -> int:
    """Number of edge slots whose source can be reached."""
    return int(g.out_degree[fr.bfs(g, source).level >= 0].sum(dtype=np.int64))
