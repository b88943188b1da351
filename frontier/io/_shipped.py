"""The formats that Frontier reads and writes, as :mod:`frontier.io.formats` lists them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

from frontier.graph.graph import Graph
from frontier.io import by_networkx, dimacs, edge_list, ldbc, matrix_market, metis, npz, parquet
from frontier.io._divisible import Divisible
from frontier.io._edges import Edges
from frontier.io._format import Format
from frontier.io._options import Options
from frontier.io._source import Source

__all__ = ["SHIPPED"]


def _text(
    read: Callable[[Source], Edges], write: Callable[[Graph, str], Iterable[bytes]] | None,
    divisible: Callable[[Source], Divisible | None] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """A text format without options, which gives its files in pieces."""
    return {
        "read": lambda source, suffix, options: read(source),
        "write": None if write is None else lambda graph, name, suffix: _pieces(write(graph, name)),
        "divisible": None if divisible is None else lambda source, suffix, options: divisible(source),
    }


def _pieces(chunks: Iterable[bytes]) -> Callable[[Any], None]:
    """What writes pieces of bytes, the first of which is made at once: what cannot be written is refused then."""
    rest = iter(chunks)
    first = next(rest)
    return lambda file: file.writelines(itertools.chain([first], rest))


def _write_list(graph: Graph, name: str, suffix: str) -> Callable[[Any], None]:
    return _pieces(edge_list.write(graph, name, suffix))


def _read_archive(source: Source, suffix: str, options: Options) -> Edges | dict[str, Any]:
    return npz.read(source.path, source.seekable())


def _divisible_archive(source: Source, suffix: str, options: Options) -> Divisible | None:
    return None if source.packing else npz.divisible(source.path, source.seekable())


def _write_archive(graph: Graph, name: str, suffix: str) -> Callable[[Any], None]:
    arrays = npz.arrays_of(graph, name)
    return lambda file: npz.save(arrays, file)


def _read_table(source: Source, suffix: str, options: Options) -> Edges:
    return parquet.read(source.path, source.seekable(), options)


def _divisible_table(source: Source, suffix: str, options: Options) -> Divisible | None:
    if options.labels is True or options.header is not None or source.packing:
        return None
    return parquet.divisible(source.path, source.seekable(), options)


def _write_table(graph: Graph, name: str, suffix: str) -> Callable[[Any], None]:
    return parquet.write(graph)


def _edge_list(name: str, *suffixes: str) -> Format:
    return Format(name, suffixes, edge_list.read, _write_list, lists_edges=True, divisible=edge_list.divisible)


def _by_networkx(suffix: str) -> Format:
    write = by_networkx.write if suffix in ("graphml", "gml", "gexf", "json") else None
    return Format(by_networkx.NAMES[suffix], (suffix,), by_networkx.read, write, has_attributes=True, keeps_labels=True)


SHIPPED = (
    Format("Matrix Market", ("mtx",), **_text(matrix_market.read, matrix_market.write, matrix_market.divisible)),
    _edge_list("edge list", "el"),
    _edge_list("weighted edge list", "wel"),
    _edge_list("edge list", "txt", "tsv", "csv", "edges"),
    Format("DIMACS", ("gr",), **_text(dimacs.read, dimacs.write, dimacs.divisible)),
    Format("DIMACS", ("max", "col", "clq"), **_text(dimacs.read, None, dimacs.divisible)),
    Format("METIS", ("graph", "metis"), **_text(metis.read, metis.write)),
    Format("LDBC", ("e",), ldbc.read, None),
    Format(
        "NumPy archive", ("npz",), _read_archive, _write_archive, divisible=_divisible_archive, is_zip=True,
        keeps_labels=True,
    ),
    Format("Parquet", ("parquet",), _read_table, _write_table, lists_edges=True, divisible=_divisible_table),
    *map(_by_networkx, by_networkx.NAMES),
)
