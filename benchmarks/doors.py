"""Graphs from tables, lists, tensors and graphs of other libraries: a million edges over 200,000 names.

``python -m benchmarks.doors`` prints for each way in the milliseconds until the graph is there, the best of a few, and
how many times those of the yardstick in the same run: numbering the names by ``pandas.factorize``, and making the graph
of numbers by ``fr.from_edges``. What other libraries take to make their own graph of the same edges stands beside it.
Every graph is compared with that of the numbers. A library that is not installed is left out with a line.
"""

from __future__ import annotations

import argparse
import importlib
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import frontier as fr
from benchmarks.measurement import Measurement


@dataclass
class Edges:
    """The edges in the forms in which users have them."""

    vertices: int
    src: np.ndarray
    dst: np.ndarray
    names: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.names = np.array([f"user{i}" for i in range(self.vertices)])

    @property
    def named(self) -> dict[str, np.ndarray]:
        """Both ends by name."""
        return {"src": self.names[self.src], "dst": self.names[self.dst]}

    @property
    def objects(self) -> dict[str, np.ndarray]:
        """Both ends by name, as objects of Python."""
        return {end: names.astype(object) for end, names in self.named.items()}


def module(name: str) -> Any:
    """A module that may not be there."""
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"{name} is not installed: its rows are left out", file=sys.stderr)
        return None


#: A row: what it is, whether ends are names, and what makes the graph, or None for what has no graph of ours.
Row = tuple[str, bool, Callable[[], Any]]


def plain(edges: Edges) -> list[Row]:
    """Arrays and lists, and the yardstick."""
    src, dst, named, objects = edges.src, edges.dst, edges.named, edges.objects
    lists = [ends.tolist() for ends in objects.values()]
    rows: list[Row] = [
        ("ids: fr.from_edges(src, dst)", False, lambda: fr.from_edges(src, dst)),
        ("list of names", True, lambda: fr.from_edges(*lists)),
        ("NumPy, text", True, lambda: fr.from_edges(*named.values())),
        ("NumPy, objects", True, lambda: fr.from_edges(*objects.values())),
        ("ids far apart, labels=True", False, lambda: fr.from_edges(src * 1000, dst * 1000, labels=True)),
        ("edge index (2, m)", False, lambda: fr.from_edges(np.stack([src, dst]))),
    ]
    if (pandas := module("pandas")) is None:
        return rows
    both = np.concatenate([*objects.values()])

    def yardstick() -> fr.Graph:
        codes, names = pandas.factorize(both)
        return fr.from_edges(codes[: len(src)], codes[len(src) :], labels=names)

    return [("yardstick: pandas.factorize and fr.from_edges", True, yardstick), *rows]


def tables(edges: Edges) -> list[Row]:
    """Tables of pandas, Polars, Arrow and DuckDB."""
    rows: list[Row] = []
    if (pandas := module("pandas")) is not None:
        table = pandas.DataFrame(edges.named)
        category, objects = table.astype("category"), table.astype(object)
        rows += [
            ("pandas", True, lambda: fr.from_pandas(table)),
            ("pandas, categories", True, lambda: fr.from_pandas(category)),
            ("pandas, objects", True, lambda: fr.from_pandas(objects)),
        ]
    arrow = module("pyarrow")
    if (polars := module("polars")) is not None:
        frame = polars.DataFrame(edges.objects)
        coded = frame.with_columns(polars.all().cast(polars.Categorical))
        rows += [
            ("Polars", True, lambda: fr.from_polars(frame)),
            ("Polars, categories", True, lambda: fr.from_polars(coded)),
        ]
    if arrow is not None:
        made = arrow.table(edges.objects)
        encoded = arrow.table({name: made.column(name).dictionary_encode() for name in made.column_names})
        rows += [
            ("Arrow", True, lambda: fr.from_arrow(made)),
            ("Arrow, dictionaries", True, lambda: fr.from_arrow(encoded)),
        ]
        if (duckdb := module("duckdb")) is not None:
            relation = duckdb.from_arrow(made)
            rows.append(("DuckDB", True, lambda: fr.from_arrow(relation)))
    return rows


def graphs(edges: Edges) -> list[Row]:
    """Graphs of other libraries, and what these take to make them."""
    src, dst, rows = edges.src, edges.dst, []
    pairs, lists = np.stack([src, dst], 1), [ends.tolist() for ends in edges.objects.values()]
    if (igraph := module("igraph")) is not None:
        other = igraph.Graph(n=edges.vertices, edges=pairs)
        rows += [
            ("igraph", False, lambda: fr.from_igraph(other)),
            ("(igraph makes its own of names)", True, lambda: igraph.Graph.TupleList(zip(*lists, strict=True))),
        ]
    if (networkit := module("networkit")) is not None:
        kit = networkit.GraphFromCoo((src, dst), n=edges.vertices)
        rows += [
            ("networkit", False, lambda: fr.from_networkit(kit)),
            ("(networkit makes its own of ids)", False, lambda: networkit.GraphFromCoo((src, dst), n=edges.vertices)),
        ]
    if (rustworkx := module("rustworkx")) is not None:

        def make() -> Any:
            made = rustworkx.PyGraph()
            made.add_nodes_from(range(edges.vertices))
            made.add_edges_from_no_data(list(map(tuple, pairs.tolist())))
            return made

        rust = make()
        rows += [
            ("rustworkx", False, lambda: fr.from_rustworkx(rust)),
            ("(rustworkx makes its own of ids)", False, make),
        ]
    if (networkx := module("networkx")) is not None:
        graph = networkx.Graph()
        graph.add_nodes_from(range(edges.vertices))
        graph.add_edges_from(pairs.tolist())
        rows.append(("NetworkX", False, lambda: fr.from_networkx(graph)))
    if (sparse := module("scipy.sparse")) is not None:
        shape = edges.vertices, edges.vertices
        both = np.concatenate([src, dst]), np.concatenate([dst, src])
        matrix = sparse.csr_array((np.ones(2 * len(src), bool), both), shape=shape)
        matrix.sum_duplicates()
        rows += [("SciPy, canonical CSR", False, lambda: fr.from_scipy(matrix, directed=True))]
    if (blas := module("graphblas")) is not None:
        entries = blas.Matrix.from_coo(*both, True, nrows=shape[0], ncols=shape[1])
        rows.append(("python-graphblas", False, lambda: fr.from_graphblas(entries, directed=True)))
    if (torch := module("torch")) is not None:
        index = torch.from_numpy(np.stack([src, dst]))
        rows.append(("PyTorch, edge index", False, lambda: fr.from_edges(index)))
    return rows


def check(what: str, made: Any, expected: fr.Graph, named: bool, names: np.ndarray) -> None:
    """End if a graph is another one than that of the numbers."""
    if not isinstance(made, fr.Graph):
        return
    old = np.arange(made.num_vertices)
    if made.labels is not None:
        labels = made.labels
        old = np.array([int(x[4:]) for x in labels]) if named else np.asarray(labels, np.int64) // 1000
    keys = np.unique(old[made.sources].astype(np.int64) * len(names) + old[made.targets])
    if not np.array_equal(keys, np.unique(expected.sources.astype(np.int64) * len(names) + expected.targets)):
        raise SystemExit(f"{what}: the graph is wrong")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.doors", description=__doc__.split("\n\n")[0])
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--vertices", type=int, default=200_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table as results/ has it")
    given = parser.parse_args()
    rng = np.random.default_rng(1)
    edges = Edges(given.vertices, *(rng.integers(0, given.vertices, given.edges) for _ in "sd"))
    expected = fr.from_edges(edges.src, edges.dst, num_vertices=given.vertices)
    times: dict[str, float] = {}
    print("| | ms | times the yardstick |\n|---|---|---|")
    for what, named, call in [*plain(edges), *tables(edges), *graphs(edges)]:
        check(what, call(), expected, named, edges.names)
        best = float("inf")
        for _ in range(given.runs):
            start = time.perf_counter()
            call()
            best = min(best, time.perf_counter() - start)
        times[what] = best * 1e3
        print(f"| {what} | {times[what]:,.0f} | {times[what] / next(iter(times.values())):.2f} |", flush=True)
    if given.json:
        note = (
            f"{given.edges:,} edges over {given.vertices:,} names; the least of {given.runs} calls; "
            f"{fr.num_threads()} threads, Python {platform.python_version()}."
        )
        rows = [{"from": what, "ms": ms} for what, ms in times.items()]
        subject = "Making a graph of tables, lists and graphs of other libraries"
        Measurement.now(subject, rows, note=note).write(given.json)


if __name__ == "__main__":
    main()
