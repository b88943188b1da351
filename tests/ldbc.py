"""Reader of the LDBC Graphalytics validation graphs and of what should come out for them.

They lie in ``ldbc/validation-graphs`` of the data folder (see the fixture ``data_dir``). Vertices are
numbered by ascending label. Unreached is -1 for levels and inf for distances, as in Frontier.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import frontier as fr

FAR = 9223372036854775807
RELATIVE = 1e-4
"""How far a float may be from the expected one, relative to that."""


@dataclass(frozen=True)
class Case:
    """A graph, an algorithm and what it should give.

    Attributes
    ----------
    name : str
        As in ``bfs-directed`` or ``example-undirected-pr``.
    graph : Graph
        With labels, the ids in the file; weights for sssp only.
    algorithm : str
        bfs, sssp, pr, lcc or wcc.
    source : int or None
        Label of the source of bfs and sssp.
    iterations : int or None
        Number of iterations of pr, from 1/n each.
    expected : ndarray, shape (n,)
        Levels; distances; ranks; coefficients; or, for each vertex, the label of some vertex that stands for its
        component. Entry v for vertex v.
    """

    name: str
    graph: fr.Graph
    algorithm: str
    source: int | None
    iterations: int | None
    expected: NDArray[Any]


def cases(data_dir: Path, algorithm: str) -> Iterator[Case]:
    """Yield all cases of an algorithm: bfs, sssp, pr, lcc or wcc."""
    folder = data_dir / "ldbc" / "validation-graphs"
    for directed in (True, False):
        yield _own(folder, algorithm, directed)
        yield _example(folder, algorithm, directed)


def communities(data_dir: Path, directed: bool) -> Iterator[tuple[fr.Graph, int, NDArray[Any]]]:
    """Yield graphs, numbers of rounds of label propagation, and the label of every vertex after them."""
    folder = data_dir / "ldbc" / "validation-graphs"
    word = "directed" if directed else "undirected"
    prefix = folder / "cdlp" / ("dir" if directed else "undir")
    graph = _read_adjacency(Path(f"{prefix}-input"), directed)
    yield graph, 5, _read_expected(Path(f"{prefix}-output"), graph, "cdlp")
    prefix = folder / "example" / f"example-{word}"
    graph = _read_edges(Path(f"{prefix}.v"), Path(f"{prefix}.e"), directed)
    yield graph, 2, _read_expected(Path(f"{prefix}-CDLP"), graph, "cdlp")


def _own(folder: Path, algorithm: str, directed: bool) -> Case:
    """Read one of the graphs made for an algorithm."""
    prefix = folder / algorithm / ("dir" if directed else "undir")
    if algorithm == "sssp":
        graph = _read_edges(Path(f"{prefix}-input.v"), Path(f"{prefix}-input.e"), directed)
    else:
        graph = _read_adjacency(Path(f"{prefix}-input"), directed)
    return Case(
        name=f"{algorithm}-{'directed' if directed else 'undirected'}",
        graph=graph,
        algorithm=algorithm,
        source=1 if algorithm in ("bfs", "sssp") else None,
        iterations=(14 if directed else 26) if algorithm == "pr" else None,
        expected=_read_expected(Path(f"{prefix}-output"), graph, algorithm),
    )


def _example(folder: Path, algorithm: str, directed: bool) -> Case:
    """Read the example graph of the specification."""
    prefix = folder / "example" / f"example-{'directed' if directed else 'undirected'}"
    graph = _read_edges(Path(f"{prefix}.v"), Path(f"{prefix}.e"), directed)
    if algorithm != "sssp":
        graph = graph.with_weights(None)
    return Case(
        name=f"{prefix.name}-{algorithm}",
        graph=graph,
        algorithm=algorithm,
        source=(1 if directed else 2) if algorithm in ("bfs", "sssp") else None,
        iterations=2 if algorithm == "pr" else None,
        expected=_read_expected(Path(f"{prefix}-{algorithm.upper()}"), graph, algorithm),
    )


def _rows(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text().splitlines() if line.strip()]


def _read_adjacency(path: Path, directed: bool) -> fr.Graph:
    """Read lines "v n1 n2 ..."; undirected graphs list both directions, a sink may have no line."""
    rows = [[int(x) for x in row] for row in _rows(path)]
    edges = [(row[0], v) for row in rows for v in row[1:]]
    return _graph(sorted({v for row in rows for v in row}), edges, None, directed)


def _read_edges(vertices: Path, edges: Path, directed: bool) -> fr.Graph:
    """Read a file of vertices and one of weighted edges, undirected ones once each."""
    labels = [int(row[0]) for row in _rows(vertices)]
    rows = _rows(edges)
    ends = [(int(row[0]), int(row[1])) for row in rows]
    return _graph(sorted(labels), ends, [float(row[2]) for row in rows], directed)


def _graph(labels: list[int], edges: list[tuple[int, int]], weights: list[float] | None, directed: bool) -> fr.Graph:
    number = {label: v for v, label in enumerate(labels)}
    return fr.from_edges(
        [number[u] for u, _ in edges],
        [number[v] for _, v in edges],
        weights,
        num_vertices=len(labels),
        directed=directed,
        labels=labels,
    )


def _read_expected(path: Path, graph: fr.Graph, algorithm: str) -> NDArray[Any]:
    values = dict(_rows(path))
    shown = [values[str(label)] for label in (graph.labels if graph.labels is not None else ())]
    if algorithm in ("sssp", "pr", "lcc"):
        return np.array([float(x) for x in shown])
    whole = np.array([int(x) for x in shown])
    return np.where(whole == FAR, -1, whole) if algorithm == "bfs" else whole
