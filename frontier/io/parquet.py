"""Parquet files, ``.parquet``: a table of edges, read by PyArrow.

Columns are found by their names, as in edge lists (``edge_list``): source, target and perhaps ``weight``; ``u`` and
``v`` for undirected edges. Without such names the first two columns are the ends. Others become columns of the edges.
What is written has in its metadata how many vertices there are, and whether edges are directed. Several processes read
rows of their own, some thousands at a time: from the begin of a row group on, for there is no other way in.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from frontier.errors import GraphError
from frontier.graph.build_input import vertex_ids, weights_of
from frontier.graph.graph import Graph
from frontier.graph.meanings import Columns, columns_of, type_column, warn_of_doubt
from frontier.graph.names import whole_numbers
from frontier.graph.shares import Piece, Shares
from frontier.graph.topology import Array
from frontier.io._divisible import Divisible
from frontier.io._edges import Edges, Marker, graph_edges
from frontier.io._options import Options

__all__ = ["divisible", "read", "write"]

#: Rows of a group that is written, and rows that a process has in memory at a time.
GROUP, BATCH = 1 << 16, 1 << 13

#: Bytes that are read from a file at a time.
BUFFER = 1 << 17

#: Where in the metadata of a file the number of vertices stands.
_KEY = b"frontier"


def read(path: str, file: Any, options: Options, doubts: bool = True) -> Edges:
    """Read a file; ``doubts``: whether to warn of columns that might be weights."""
    if options.header is not None:
        raise GraphError("header is for text: a Parquet file always names its columns")
    opened = _opened(path, file)
    marker, columns, names = _head(path, opened, options, doubts)
    with _refusing_damage(path):
        table = opened.read(columns=names)
    arrays = _arrays(path, table)
    src, dst, weights, others = _parts(columns, names, arrays)
    said = marker.directed
    if said is None and options.directed is None:
        said = type_column(others)
    return Edges(src, dst, weights, marker.vertices, said is not False, edges=others)


def divisible(path: str, file: Any, options: Options, doubts: bool = True) -> Divisible | None:
    """How several processes can read a file; None if ids are no integers, or a column says what edges are."""
    opened = _opened(path, file)
    marker, columns, names = _head(path, opened, options, doubts)
    if marker.directed is None and any(name.lower() == "type" for name in columns.others):
        return None
    types = opened.schema_arrow
    if any(np.dtype(types.field(names[at]).type.to_pandas_dtype()).kind not in "iu" for at in (0, 1)):
        return None
    rows = _Rows(path, opened.metadata, names)

    def make(lo: int, hi: int) -> Piece:
        src, dst, weights, others = _parts(columns, names, rows.rows(lo, hi))
        weights = None if weights is None else weights_of(weights, len(weights))
        kept = others if options.keeps_columns else None
        return Piece(vertex_ids(src, "src"), vertex_ids(dst, "dst"), weights, kept)

    shares = Shares(opened.metadata.num_rows, make, marker.vertices, done=rows.close)
    return Divisible(shares, marker.directed is not False)


class _Rows:
    """Rows of a file, of which each thread has one batch in memory; it goes on from there, or from another group."""

    def __init__(self, path: str, metadata: Any, names: list[str]) -> None:
        self._path, self._names = path, names
        sizes = [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)]
        self._starts = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
        self._mine = threading.local()

    def rows(self, lo: int, hi: int) -> dict[str, Array]:
        """The columns of rows lo to hi - 1."""
        lo, hi = (min(at, int(self._starts[-1])) for at in (lo, hi))
        found = []
        while lo < hi:
            begin, columns = self._batch(lo)
            cut = slice(lo - begin, hi - begin)
            found.append({name: column[cut] for name, column in columns.items()})
            lo += len(found[-1][self._names[0]])
        if not found:
            return _arrays(self._path, self._file().schema_arrow.empty_table().select(self._names))
        return {name: np.concatenate([each[name] for each in found]) for name in self._names}

    def close(self) -> None:
        """Let this thread have neither the file nor a batch of it any more."""
        self._mine.__dict__.clear()

    def _file(self) -> Any:
        if not hasattr(self._mine, "file"):
            self._mine.file, self._mine.begin, self._mine.end = _opened(self._path, self._path), 0, 0
        return self._mine.file

    def _batch(self, row: int) -> tuple[int, dict[str, Array]]:
        """The first row of the batch with a row, and its columns."""
        file, mine = self._file(), self._mine
        group = int(np.searchsorted(self._starts, row, "right")) - 1
        if not (mine.end and self._starts[group] <= mine.begin <= row):
            mine.batches = file.iter_batches(BATCH, [group], columns=self._names, use_threads=False)
            mine.end = int(self._starts[group])
        while row >= mine.end:
            mine.columns = None
            arrow, batch = _pyarrow("pyarrow"), next(mine.batches)
            mine.begin, mine.end = mine.end, mine.end + batch.num_rows
            if row < mine.end:
                mine.columns = _arrays(self._path, arrow.Table.from_batches([batch]))
            del batch
            arrow.default_memory_pool().release_unused()  # which keeps up to ten times as much as is in use
        return mine.begin, mine.columns


def _opened(path: str, file: Any) -> Any:
    parquet = _pyarrow("pyarrow.parquet")
    with _refusing_damage(path):
        return parquet.ParquetFile(file, buffer_size=BUFFER, pre_buffer=False)  # or a column of a group is there whole


@contextmanager
def _refusing_damage(path: str) -> Iterator[None]:
    try:
        yield
    except (GraphError, MemoryError):
        raise
    except Exception as error:  # ArrowInvalid, an OSError, or another of those that broken pages raise
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise GraphError(f"{path}: expected a Parquet file, found something else: {why}") from None


def _pyarrow(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise GraphError(f"Parquet files need PyArrow ({error}): pip install pyarrow") from None


def _head(path: str, opened: Any, options: Options, doubts: bool = True) -> tuple[Marker, Columns, list[str]]:
    """What the metadata say, the columns, and the names of those that are read: ends, weights, others."""
    said = (opened.schema_arrow.metadata or {}).get(_KEY, b"")
    marker = Marker.parse(b"# frontier: " + said) or Marker()
    every = opened.schema_arrow.names
    if len(every) < 2:
        raise GraphError(f"expected two columns or more, found {len(every)}")
    weight = options.weight
    if said and weight is None:  # names of columns that we have written have no other meaning
        weight = "weight" if "weight" in every else False
    columns = columns_of(every, weight, options.source, options.target)
    if len(columns.others) == 1 and columns.weight is None and not columns.doubt:
        name, at = next(iter(columns.others.items()))
        columns.doubt = [name] if _is_number(opened.schema_arrow.field(every[at]).type) else []
    if doubts and not said:
        warn_of_doubt(path, columns, weight)
    if marker.directed is None and [every[columns.source].lower(), every[columns.target].lower()] == ["u", "v"]:
        marker.directed = False
    places = [columns.source, columns.target, *([] if columns.weight is None else [columns.weight])]
    return marker, columns, [every[at] for at in (*places, *columns.others.values())]


def _parts(
    columns: Columns, names: list[str], arrays: dict[str, Array]
) -> tuple[Array, Array, Array | None, dict[str, Array]]:
    found = [arrays[name] for name in names]
    weights = None if columns.weight is None else found[2]
    others = found[2 if columns.weight is None else 3 :]
    return found[0], found[1], weights, dict(zip(columns.others, others, strict=True))


def _arrays(path: str, table: Any) -> dict[str, Array]:
    found = {}
    for name in table.column_names:
        column = table.column(name)
        if column.null_count:
            what = f"a value in each row of the column {name!r}"
            raise GraphError(f"{path}: expected {what}, found {column.null_count} empty")
        try:
            found[name] = _array(column)
        except UnicodeDecodeError:
            raise GraphError(f"{path}: the column {name!r} holds bytes that are no text") from None
        except (TypeError, ValueError, NotImplementedError):  # of lists, for example
            what = f"numbers or text in the column {name!r}"
            raise GraphError(f"{path}: expected {what}, found {column.type}") from None
    return found


def _array(column: Any) -> Array:
    """The values of a column: whole decimals as integers, others as floats, and what is no number as text."""
    types = _pyarrow("pyarrow.types")
    if types.is_decimal(column.type):
        whole = column.type.scale <= 0
        values = column.to_pylist()
        return whole_numbers([int(value) for value in values]) if whole else np.array(values, np.float64)
    array: Array = column.to_numpy()
    return array.astype(str) if array.dtype == object else array


def _is_number(kind: Any) -> bool:
    types = _pyarrow("pyarrow.types")
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def write(graph: Graph) -> Callable[[Any], None]:
    """What writes a graph to an open file; an undirected edge stands in it once."""
    arrow, parquet = _pyarrow("pyarrow"), _pyarrow("pyarrow.parquet")
    src, dst, weights = graph_edges(graph, once=True)
    kept = slice(None) if graph.directed else graph.sources <= graph.targets
    table = {"src": src, "dst": dst}
    if weights is not None:
        table["weight"] = weights
    table |= {name: column[kept] for name, column in graph.edges.items()}
    marker = Marker(graph.num_vertices, graph.directed).line("#").partition(b":")[2].strip()
    made = arrow.table(table).replace_schema_metadata({_KEY: marker})
    return lambda file: parquet.write_table(made, file, row_group_size=GROUP)
