"""NumPy archives, ``.npz``.

Frontier's own layout holds a graph as it is: ``offsets``, ``targets``, ``directed`` and, where
there are any, ``weights``, ``labels``, ``vertices/NAME`` and ``edges/NAME``. Read as well is a
plain layout: ``src``, ``dst``, ``n``, ``directed`` (True if absent) and perhaps ``weights``, in
which an undirected edge stands once. Nothing is ever unpickled.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from frontier._topology import Array
from frontier.errors import GraphError
from frontier.graph import Graph
from frontier.io._edges import Edges

__all__ = ["read", "write"]

_DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, ValueError, EOFError, KeyError, OSError,
    NotImplementedError, RuntimeError, TypeError, SyntaxError,
)  # fmt: skip


def read(path: str, file: Any) -> Edges | dict[str, Any]:
    """Read an archive: edges from the plain layout, arguments of ``from_csr`` from our own."""
    arrays = _load(path, file)
    if "offsets" in arrays and "targets" in arrays:
        columns: dict[str, dict[str, Array]] = {"vertices": {}, "edges": {}}
        for name, array in arrays.items():
            kind, slash, column = name.partition("/")
            if slash and kind in columns:
                columns[kind][column] = array
        return {
            "offsets": arrays["offsets"],
            "targets": arrays["targets"],
            "weights": arrays.get("weights"),
            "directed": _flag(path, arrays, "directed"),
            "labels": arrays.get("labels"),
            **columns,
        }
    if "src" in arrays and "dst" in arrays:
        count = arrays.get("n")
        if count is not None and (count.ndim != 0 or count.dtype.kind not in "iu"):
            raise GraphError(f"{path}: expected one integer as n, found {_kind(count)}")
        return Edges(
            arrays["src"], arrays["dst"], arrays.get("weights"),
            None if count is None else int(count), _flag(path, arrays, "directed"),
        )  # fmt: skip
    found = ", ".join(sorted(arrays)) or "nothing"
    raise GraphError(f"{path}: expected the arrays offsets and targets, or src and dst, found {found}")


def _load(path: str, file: Any) -> dict[str, Array]:
    if file.read(2) != b"PK":
        raise GraphError(f"{path}: expected an archive written by numpy.savez, found something else")
    file.seek(0)
    try:
        with np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except _DAMAGE as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise GraphError(f"{path}: expected a whole .npz archive, found damage: {reason}") from None
    if not all(isinstance(array, np.ndarray) for array in arrays.values()):
        raise GraphError(f"{path}: expected arrays only, found other files in the archive")
    return arrays


def _flag(path: str, arrays: dict[str, Array], name: str) -> bool:
    if name not in arrays:
        return True
    flag = arrays[name]
    if flag.ndim != 0 or flag.dtype.kind not in "biu":
        raise GraphError(f"{path}: expected True or False as {name}, found {_kind(flag)}")
    return bool(flag)


def _kind(array: Array) -> str:
    return f"{array.dtype} of shape {array.shape}"


def write(graph: Graph, path: str) -> Iterator[bytes]:
    """Give a graph as an archive in our own layout."""
    arrays: dict[str, Array] = {
        "offsets": graph.offsets,
        "targets": graph.targets,
        "directed": np.bool_(graph.directed),  # type: ignore[dict-item]
    }
    if graph.weights is not None:
        arrays["weights"] = graph.weights
    if graph.labels is not None:
        arrays["labels"] = _plain(graph.labels, "the labels", path)
    for kind, columns in (("vertices", graph.vertices), ("edges", graph.edges)):
        for name, column in columns.items():
            arrays[f"{kind}/{name}"] = _plain(column, f"the column {name!r} of {kind}", path)
    memory = io.BytesIO()
    np.savez(memory, allow_pickle=False, **arrays)
    yield memory.getbuffer()  # type: ignore[misc]


def _plain(array: Array, what: str, path: str) -> Array:
    """Refuse arrays of objects, which only a pickle could hold; strings are no objects."""
    if array.dtype.kind != "O":
        return array
    if all(isinstance(entry, str) for entry in array.tolist()):
        return array.astype(str)
    raise GraphError(f"{path}: {what} cannot be stored: not all are numbers, or all strings")
