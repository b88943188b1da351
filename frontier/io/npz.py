"""NumPy archives, ``.npz``.

Frontier's own layout holds a graph as it is: ``offsets``, ``targets``, ``directed`` and, where
there are any, ``weights``, ``labels``, ``vertices/NAME`` and ``edges/NAME``. Read as well is a
plain layout: ``src``, ``dst``, ``n``, ``directed`` (True if absent) and perhaps ``weights``, in
which an undirected edge stands once. Nothing is ever unpickled.
"""

from __future__ import annotations

import math
import os
import struct
import zipfile
import zlib
from typing import Any

import numpy as np

from frontier.errors import GraphError
from frontier.graph.graph import Graph
from frontier.graph.topology import Array
from frontier.io._edges import Edges
from frontier.memory.host import HOST

__all__ = ["arrays_of", "read", "save"]

_DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, ValueError, EOFError, KeyError, OSError,
    NotImplementedError, RuntimeError, TypeError, SyntaxError,
)  # fmt: skip

#: How many times longer data can be than what "deflate" makes of it.
_DEFLATED = 1032

_HEADERS: dict[tuple[int, int], Any] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


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
        _check_sizes(path, file)
        with np.load(file, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except GraphError:
        raise
    except _DAMAGE as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise GraphError(f"{path}: expected a whole .npz archive, found damage: {reason}") from None


def _check_sizes(path: str, file: Any) -> None:
    """Compare what an archive says of its arrays with the bytes that are there, before NumPy believes it."""
    length = file.seek(0, os.SEEK_END)
    total = 0
    with zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            packed, size = member.compress_size, member.file_size
            total += packed
            most = packed if member.compress_type == zipfile.ZIP_STORED else _DEFLATED * packed
            if total > length or size > most:
                raise GraphError(
                    f"{path}: expected at most {most:,} bytes of {member.filename}, the file having {length:,}, "
                    f"found a claim of {size:,}"
                )
        needed = sum(member.file_size for member in archive.infolist())
        HOST.check_room(needed, f"the arrays of {path}", "read it on a machine with more")
        for member in archive.infolist():
            if not member.filename.endswith(".npy"):
                raise GraphError(f"{path}: expected arrays only, found other files in the archive")
            with archive.open(member) as stream:
                _check_header(path, member, stream)
    file.seek(0)


def _check_header(path: str, member: zipfile.ZipInfo, stream: Any) -> None:
    """Compare shape and dtype in an array's header with the size of what follows."""
    version = np.lib.format.read_magic(stream)
    if version not in _HEADERS:
        raise GraphError(f"{path}: expected plain arrays, found {member.filename} in .npy version {version}")
    shape, _, dtype = _HEADERS[version](stream)
    claimed, there = math.prod(shape) * dtype.itemsize, member.file_size - stream.tell()
    if claimed != there and not dtype.hasobject:
        raise GraphError(
            f"{path}: expected {claimed:,} bytes of {member.filename}, as {dtype} of shape {shape} takes, "
            f"found {there:,}"
        )


def _flag(path: str, arrays: dict[str, Array], name: str) -> bool:
    if name not in arrays:
        return True
    flag = arrays[name]
    if flag.ndim != 0 or flag.dtype.kind not in "biu":
        raise GraphError(f"{path}: expected True or False as {name}, found {_kind(flag)}")
    return bool(flag)


def _kind(array: Array) -> str:
    return f"{array.dtype} of shape {array.shape}"


def arrays_of(graph: Graph, path: str) -> dict[str, Array]:
    """The arrays of a graph in our own layout, to be saved; refuses those that cannot be."""
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
    return arrays


def save(arrays: dict[str, Array], file: Any) -> None:
    """Write an archive, of which nothing is kept in memory."""
    np.savez(_Forward(file), allow_pickle=False, **arrays)


class _Forward:
    """A file that is only written to, from its beginning to its end: nothing is asked for where it is.

    A pipe cannot go back to the head of a member, and a gzipped file fails when it tries.
    """

    read = None  # NumPy takes what has this for a file, not a name

    def __init__(self, file: Any) -> None:
        self.write, self.flush = file.write, file.flush


def _plain(array: Array, what: str, path: str) -> Array:
    """Refuse arrays of objects, which only a pickle could hold; strings are no objects."""
    if array.dtype.kind != "O":
        return array
    if all(isinstance(entry, str) for entry in array.tolist()):
        return array.astype(str)
    raise GraphError(f"{path}: {what} cannot be stored: not all are numbers, or all strings")
