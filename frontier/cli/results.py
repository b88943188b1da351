"""Write results to files: one row per vertex, with the columns that the primitive names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from frontier.atomic_write import replacing
from frontier.cli.common import UsageError, check_folder, plain
from frontier.memory.arrays import to_host

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = ["KINDS", "check_name", "write"]

SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": " "}
KINDS = ".csv, .tsv, .txt, .npz or .json, one row a vertex"
_ROWS = 2**16  # rows made at a time, so that a large result is not held as text


def check_name(name: str) -> None:
    """Refuse a file name of no known kind, before anything long is run."""
    if Path(name).suffix not in (*SEPARATORS, ".npz", ".json"):
        raise UsageError(f"cannot write {name!r}: expected {KINDS}")
    check_folder(name)


def columns_of(graph: Graph, result: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """The arrays to write: vertex ids, labels if there are any, and what the result holds."""
    import numpy as np

    columns: dict[str, Any] = {"vertex": np.arange(graph.num_vertices)}
    if graph.labels is not None:
        columns["name" if "label" in names else "label"] = graph.labels  # a result may have labels of its own
    for name in names:
        values = getattr(result, name)
        if values is not None:
            columns[name] = to_host(values)
    if not any(name in columns for name in names):
        way = f"an option such as --{names[0].replace('_', '-')} asks for it"
        raise UsageError(f"nothing to write: the result has no {' and '.join(names)}: {way}")
    return columns


def write(name: str, graph: Graph, result: Any, names: tuple[str, ...]) -> None:
    """Write a result's columns to a file; its suffix says how.

    Parameters
    ----------
    name : str
        The file: ``.csv``, ``.tsv`` and ``.txt`` have a header and one line a vertex, ``.npz``
        and ``.json`` an array for each column (in JSON, null for what cannot be reached).
    graph : Graph
        The graph that the result is of.
    result : object
        What a primitive returned.
    names : tuple of str
        Its attributes to write; those that are None are left out.
    """
    columns, suffix = columns_of(graph, result, names), Path(name).suffix
    try:
        with replacing(name) as file:
            _write(file, columns, suffix)
    except OSError as error:
        error.filename = name  # which a full disk does not tell
        raise


def _write(file: BinaryIO, columns: dict[str, Any], suffix: str) -> None:
    if suffix == ".npz":
        import numpy as np

        np.savez_compressed(file, **columns)
        return
    if suffix == ".json":
        text = json.dumps({name: _nulls(values) for name, values in columns.items()}, allow_nan=False)
        file.write(text.encode())
        return
    file.writelines(line.encode() for line in _lines(columns, SEPARATORS[suffix]))


def _nulls(values: Any) -> list[Any]:
    """Values for JSON, which has no infinity: null is what cannot be reached, in integers their dtype's maximum."""
    made: list[Any] = plain(values)
    if values.dtype == "int64":
        made = [None if value == 2**63 - 1 else value for value in made]
    return made


def _lines(columns: dict[str, Any], separator: str) -> Iterator[str]:
    yield separator.join(columns) + "\n"
    size = len(columns["vertex"])
    for first in range(0, size, _ROWS):
        parts = [values[first : first + _ROWS].tolist() for values in columns.values()]
        for row in zip(*parts, strict=True):
            yield separator.join(_quoted(str(value), separator) for value in row) + "\n"


def _quoted(text: str, separator: str) -> str:
    """A label that holds the separator, a quote or a line's end goes into quotes."""
    if separator in text or '"' in text or "\n" in text:
        return '"' + text.replace('"', '""') + '"'
    return text
