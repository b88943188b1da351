"""NumPy archives, ``.npz``.

Frontier's own layout holds a graph as it is: ``offsets``, ``targets``, ``directed`` and, where
there are any, ``weights``, ``labels``, ``vertices/NAME`` and ``edges/NAME``. Read as well is a
plain layout: ``src``, ``dst``, ``n``, ``directed`` (True if absent) and perhaps ``weights``, in
which an undirected edge stands once; and those of others, which ``_layouts`` knows. Nothing is ever
unpickled.
"""

from __future__ import annotations

import math
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from frontier.errors import GraphError
from frontier.graph.build_input import vertex_ids, weights_of
from frontier.graph.graph import Graph
from frontier.graph.shares import Piece, Shares
from frontier.graph.topology import Array, id_dtype, offset_dtype
from frontier.io._divisible import Divisible
from frontier.io._edges import Edges
from frontier.io._layouts import count_of, flag_of, of_others
from frontier.io._members import Ranges, header_of, members
from frontier.memory.host import HOST

__all__ = ["arrays_of", "divisible", "plain", "read", "save"]

_DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, ValueError, EOFError, KeyError, OSError,
    NotImplementedError, RuntimeError, TypeError, SyntaxError,
)  # fmt: skip

#: How many times longer data can be than what "deflate" makes of it.
_DEFLATED = 1032

#: Arrays of vertex ids.
_ENDS = {"src", "dst", "targets"}


def read(path: str, file: Any) -> Edges | dict[str, Any]:
    """Read an archive: arguments of ``from_csr`` from our own layout, and of matrices; edges from other layouts."""
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
            "directed": flag_of(path, arrays, "directed"),
            "labels": arrays.get("labels"),
            **columns,
        }
    if "src" in arrays and "dst" in arrays:
        count, directed = count_of(path, arrays, "n"), flag_of(path, arrays, "directed")
        return Edges(arrays["src"], arrays["dst"], arrays.get("weights"), count, directed)
    return of_others(path, arrays)


def divisible(path: str, file: Any) -> Divisible | None:
    """How several processes can read the edges of an archive; None if that is as hard as reading all."""
    with _refusing_damage(path):
        _check_archive(path, file)
        _check_sizes(path, file, whole=False)
        kinds = members(path, file)
    own = "offsets" in kinds and "targets" in kinds
    long = {name for name in kinds if own and (name in ("targets", "weights") or name.startswith("edges/"))}
    if not own:
        long = {name for name in ("src", "dst", "weights") if name in kinds}
    count = max((math.prod(kinds[name].shape) for name in long), default=0)
    plain = all(kinds[name].shape == (count,) and not kinds[name].dtype.hasobject for name in long)
    if not plain or not (own or {"src", "dst"} <= long) or any(kinds[e].dtype.kind not in "iu" for e in long & _ENDS):
        return None
    with _refusing_damage(path), np.load(file, allow_pickle=False) as archive:
        short = {name: archive[name] for name in archive.files if name not in long}
    ranges = Ranges(path, {name: kinds[name] for name in long})

    def read(name: str, lo: int, hi: int) -> Array:
        with _refusing_damage(path):
            return ranges.read(name, lo, hi)

    return _rows_divisible(path, short, long, count, read) if own else _edges_divisible(path, short, long, count, read)


def _rows_divisible(
    path: str, short: dict[str, Array], long: set[str], count: int, read: Callable[[str, int, int], Array]
) -> Divisible | None:
    """Our own layout."""
    offsets, columns = short["offsets"], [name for name in sorted(long) if name.startswith("edges/")]
    if offsets.ndim != 1 or offsets.dtype.kind not in "iu" or len(offsets) == 0 or (offsets[1:] < offsets[:-1]).any():
        return None  # which is refused
    if offsets[0] != 0 or offsets[-1] != count:
        return None
    n, there = len(offsets) - 1, {"offsets": offsets.astype(offset_dtype(count), copy=False)}
    del offsets  # so that they can be freed

    def make(lo: int, hi: int) -> Piece:
        offsets = there["offsets"]
        first, last = 0, -1
        if lo < hi:
            ends = np.array([lo, hi - 1], offsets.dtype)  # of another dtype, searchsorted would convert all offsets
            first, last = np.searchsorted(offsets, ends, "right") - 1
        cuts = np.clip(offsets[first : last + 2], lo, hi)
        src = np.repeat(np.arange(first, last + 1, dtype=id_dtype(n)), np.diff(cuts))
        weights = _weights(read("weights", lo, hi), lo) if "weights" in long else None
        edges = {name.partition("/")[2]: read(name, lo, hi) for name in columns}
        return Piece(src, vertex_ids(read("targets", lo, hi), "targets"), weights, edges)

    directed = flag_of(path, short, "directed")
    vertices = {name.partition("/")[2]: array for name, array in short.items() if name.startswith("vertices/")}
    if any(column.shape != (n,) for column in vertices.values()):
        return None
    shares = Shares(
        count, make, n, both_ways=not directed, done=there.clear, offsets=lambda: there["offsets"]
    )  # fmt: skip
    return Divisible(shares, directed, short.get("labels"), vertices, keeps=True)


def _edges_divisible(
    path: str, short: dict[str, Array], long: set[str], count: int, read: Callable[[str, int, int], Array]
) -> Divisible:
    """The plain layout."""

    def make(lo: int, hi: int) -> Piece:
        weights = _weights(read("weights", lo, hi), lo) if "weights" in long else None
        return Piece(vertex_ids(read("src", lo, hi), "src"), vertex_ids(read("dst", lo, hi), "dst"), weights)

    return Divisible(Shares(count, make, count_of(path, short, "n")), flag_of(path, short, "directed"))


def _weights(values: Array, first: int) -> Array:
    return weights_of(values, len(values), first=first)


def _load(path: str, file: Any) -> dict[str, Array]:
    with _refusing_damage(path):
        _check_archive(path, file)
        _check_sizes(path, file)
        with np.load(file, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}


def _check_archive(path: str, file: Any) -> None:
    file.seek(0)
    if file.read(2) != b"PK":
        raise GraphError(f"{path}: expected an archive written by numpy.savez, found something else")
    file.seek(0)


@contextmanager
def _refusing_damage(path: str) -> Iterator[None]:
    try:
        yield
    except GraphError:
        raise
    except _DAMAGE as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise GraphError(f"{path}: expected a whole .npz archive, found damage: {reason}") from None


def _check_sizes(path: str, file: Any, whole: bool = True) -> None:
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
        if whole:
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
    shape, dtype = header_of(path, member, stream)
    claimed, there = math.prod(shape) * dtype.itemsize, member.file_size - stream.tell()
    if claimed != there and not dtype.hasobject:
        raise GraphError(
            f"{path}: expected {claimed:,} bytes of {member.filename}, as {dtype} of shape {shape} takes, "
            f"found {there:,}"
        )


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
        arrays["labels"] = plain(graph.labels, "the labels", path)
    for kind, columns in (("vertices", graph.vertices), ("edges", graph.edges)):
        for name, column in columns.items():
            arrays[f"{kind}/{name}"] = plain(column, f"the column {name!r} of {kind}", path)
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


def plain(array: Array, what: str, path: str) -> Array:
    """Refuse arrays of objects, which only a pickle could hold; strings are no objects."""
    if array.dtype.kind != "O":
        return array
    if all(isinstance(entry, str) for entry in array.tolist()):
        return array.astype(str)
    raise GraphError(f"{path}: {what} cannot be stored: not all are numbers, or all strings")
