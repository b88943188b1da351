"""Write results to files or to standard output: the rows of their table, in the names of the graph."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from frontier.cli.common import UsageError, check_folder, plain
from frontier.display import tables
from frontier.results import Result
from frontier.system.atomic_write import replacing

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.registry import PrimitiveEntry

__all__ = ["KINDS", "check_name", "check_picture", "draw", "table_of", "write"]

SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": " "}
KINDS = ".csv, .tsv, .txt, .npz, .json or .parquet; - is standard output, as .csv"
PICTURES = (".png", ".svg", ".pdf")
_ROWS = 2**16  # rows made at a time, so that a large result is not held as text


def check_name(name: str) -> None:
    """Refuse a file name of no known kind, before anything long is run."""
    if name == "-":
        return
    if Path(name).suffix not in (*SEPARATORS, ".npz", ".json", ".parquet"):
        raise UsageError(f"cannot write {name!r}: expected {KINDS}")
    if Path(name).suffix == ".parquet":
        tables.library("pyarrow.parquet", "PyArrow")
    check_folder(name)


def table_of(entry: PrimitiveEntry, graph: Graph, result: Any) -> dict[str, Any]:
    """The columns of a result: of one of ours its table, else a row for each vertex."""
    from frontier.memory.arrays import to_host

    if isinstance(result, Result):
        table: dict[str, Any] = result.table()
        lacking = [name for name in result._columns if name not in table]
    else:
        values = {name: getattr(result, name) for name in entry.columns}
        lacking = [name for name, each in values.items() if each is None]
        columns = {name: to_host(each) for name, each in values.items() if each is not None}
        table = {"vertex": graph.names.column(), **columns} if columns else {}
    if lacking and set(table) <= {"vertex", "source", "target"}:
        way = f"an option such as --{lacking[0].replace('_', '-')} asks for it"
        raise UsageError(f"nothing to write: the result has no {' and '.join(lacking)}: {way}")
    if not table:
        raise UsageError(f"{entry.name} has no columns to write: leave out --output")
    return table


def write(name: str, columns: dict[str, Any]) -> None:
    """Write a table to a file; its suffix says how.

    Parameters
    ----------
    name : str
        The file: ``.csv``, ``.tsv`` and ``.txt`` have a header and one line a row, ``.npz`` and ``.json`` an array for
        each column (in JSON, null for what cannot be reached), ``.parquet`` a table. ``-`` is standard output.
    columns : dict of str to ndarray
    """
    if name == "-":
        sys.stdout.writelines(_lines(columns, ","))
        return
    try:
        with replacing(name) as file:
            _write(file, columns, Path(name).suffix)
    except OSError as error:
        error.filename = name  # which a full disk does not tell
        raise


def check_picture(name: str) -> None:
    """Refuse a file name that is no picture's, and plots without matplotlib."""
    if Path(name).suffix not in PICTURES:
        raise UsageError(f"cannot draw {name!r}: expected {', '.join(PICTURES)}")
    tables.library("matplotlib", "matplotlib")
    check_folder(name)


def draw(name: str, entry: PrimitiveEntry, graph: Graph, result: Any, title: str) -> None:
    """Draw how values are distributed, or a graph by its layout; the suffix of the file says how it is written."""
    from frontier import plot

    if hasattr(result, "position"):
        axes = plot.graph(graph, result)
    else:
        axes = result.plot() if isinstance(result, Result) else plot.distribution(table_of(entry, graph, result))
    axes.set_title(title)
    figure: Any = axes.figure
    with replacing(name) as file:
        figure.savefig(file, format=Path(name).suffix[1:], dpi=150)


def _write(file: BinaryIO, columns: dict[str, Any], suffix: str) -> None:
    if suffix == ".npz":
        import numpy as np

        np.savez_compressed(file, **{name: _of_one_type(values) for name, values in columns.items()})
    elif suffix == ".parquet":
        tables.library("pyarrow.parquet", "PyArrow").write_table(tables.to_arrow(columns), file)
    elif suffix == ".json":
        text = json.dumps({name: _nulls(values) for name, values in columns.items()}, allow_nan=False)
        file.write(text.encode())
    else:
        file.writelines(line.encode() for line in _lines(columns, SEPARATORS[suffix]))


def _of_one_type(values: Any) -> Any:
    """Names of several types as text, empty for none: an archive holds no objects."""
    import numpy as np

    return np.array([_text(value) for value in values.tolist()], str) if values.dtype == object else values


def _nulls(values: Any) -> list[Any]:
    """Values for JSON, which has no infinity: null is what cannot be reached, in integers their dtype's maximum."""
    made: list[Any] = plain(values)
    if values.dtype == "int64":
        made = [None if value == 2**63 - 1 else value for value in made]
    return made


def _lines(columns: dict[str, Any], separator: str) -> Iterator[str]:
    yield separator.join(columns) + "\n"
    size = len(next(iter(columns.values())))
    for first in range(0, size, _ROWS):
        parts = [values[first : first + _ROWS].tolist() for values in columns.values()]
        for row in zip(*parts, strict=True):
            yield separator.join(_quoted(_text(value), separator) for value in row) + "\n"


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _quoted(text: str, separator: str) -> str:
    """A label that holds the separator, a quote or a line's end goes into quotes; so does an empty cell of blanks."""
    if separator in text or '"' in text or "\n" in text or (not text and separator == " "):
        return '"' + text.replace('"', '""') + '"'
    return text
