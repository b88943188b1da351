"""The Frontier graph, a folder ``NAME.frontier``: a graph's arrays as they lie in memory, which are mapped, not read.

A file for each array, little-endian and nothing else in it; ``graph.json`` says what they are:

    {"format": "Frontier graph", "version": 1, "vertices": 5, "slots": 8, "directed": true,
     "arrays": {"targets": {"file": "targets.bin", "dtype": "<i4", "length": 8, "crc32": [3406212505]}, ...}}

The arrays are ``offsets`` and ``targets``; ``weights``, ``labels``, ``vertex/NAME`` and ``edge/NAME`` (columns), if
there are any; and, so that nothing of the size of the edges has to be made, ``in_offsets``, ``in_sources`` and
``in_edges`` of directed graphs. Checksums are those of blocks of 64 MiB; arrays that are read as a whole are compared
with theirs whenever a graph is opened, and those of edges then or later (:mod:`frontier.memory.checksums`). A folder is
written under another name, which is changed when all is there.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from frontier.errors import GraphError
from frontier.graph.graph import Graph
from frontier.graph.moving import on_host
from frontier.graph.topology import Array
from frontier.io._folders import HEAD, replacing_folder
from frontier.io.npz import plain
from frontier.memory import checksums
from frontier.memory.checksums import Checksums, compare
from frontier.memory.disk import DISK, file_of, mapped
from frontier.memory.host import HOST
from frontier.memory.placement import backend_named, placed

__all__ = ["SUFFIX", "Folder", "arrays_noted", "is_stored", "opened", "write"]

SUFFIX = ".frontier"
VERSION = 1

#: Arrays of vertices, slots and places.
IDS = ("offsets", "targets", "in_offsets", "in_sources", "in_edges")

#: What arrays there may be (of columns, how their names begin), and whether they have an entry for each edge.
ARRAYS = {
    "offsets": False, "targets": True, "weights": True, "labels": False, "vertex": False, "edge": True,
    "in_offsets": False, "in_sources": True, "in_edges": True,
}  # fmt: skip

#: Up to how many bytes of edges are compared when a graph is opened, unless something else is asked for.
AT_ONCE = 1 << 30


def is_stored(name: str) -> bool:
    """Whether a path is that of a Frontier graph, to be read or written."""
    return name.rstrip("/").lower().endswith(SUFFIX)


# ---- writing ---------------------------------------------------------------------------------------------


class Folder:
    """A folder that is being written, array by array.

    Attributes
    ----------
    path : str
        Where it is as yet.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.arrays: dict[str, dict[str, Any]] = {}

    def add(self, name: str, parts: Iterator[Array] | list[Array], dtype: Any) -> None:
        """Write an array, given in parts."""
        dtype = np.dtype(dtype).newbyteorder("<")
        file = f"{name.replace('/', '_')}.bin" if name.replace("/", "").isidentifier() else f"{len(self.arrays)}.bin"
        length = 0
        with open(os.path.join(self.path, file), "wb") as out:
            for part in parts:
                length += len(part)
                out.write(np.ascontiguousarray(part, dtype).data)
        self.noted(name, file, dtype, length)

    def noted(
        self, name: str, file: str, dtype: Any, length: int, seen: Callable[[int], None] = lambda count: None
    ) -> None:
        """Take up a file that is there already; ``seen`` is called with the number of bytes that were read of it."""
        sums = _checksums(os.path.join(self.path, file), seen)
        self.arrays[name] = {"file": file, "dtype": np.dtype(dtype).str, "length": length, "crc32": sums}

    def finish(self, **facts: Any) -> None:
        """Write what says what is in the folder, all at once."""
        head = {"format": "Frontier graph", "version": VERSION, **facts, "arrays": self.arrays}
        path = os.path.join(self.path, HEAD)
        with open(f"{path}.new", "w", encoding="utf-8") as file:
            json.dump(head, file, indent=1)
        os.replace(f"{path}.new", path)


def _checksums(path: str, seen: Callable[[int], None] = lambda count: None) -> list[int]:
    found = []
    with open(path, "rb") as file:
        while block := file.read(checksums.BLOCK):
            found.append(zlib.crc32(block))
            seen(len(block))
    return found


def write(graph: Graph, name: str) -> None:
    """Write a graph; the in-edges of a directed graph, too."""
    graph = on_host(graph)
    arrays: dict[str, Array | None] = {"offsets": graph.offsets, "targets": graph.targets, "weights": graph.weights}
    if graph.directed:
        arrays |= {"in_offsets": graph.in_offsets, "in_sources": graph.in_sources, "in_edges": graph.in_edges}
    if graph.labels is not None:
        arrays["labels"] = plain(graph.labels, "the labels", name)
    for kind, columns in (("vertex", graph.vertices), ("edge", graph.edges)):
        for column, values in columns.items():
            arrays[f"{kind}/{column}"] = plain(values, f"the column {column!r} of {kind} data", name)
    try:
        with replacing_folder(name) as path, graph._topology.reading():
            folder = Folder(path)
            for key, array in arrays.items():
                if array is not None:
                    folder.add(key, [array], array.dtype)
            folder.finish(vertices=graph.num_vertices, slots=graph.num_slots, directed=graph.directed)
    except OSError as error:
        raise GraphError(f"{name}: cannot be written: {error.strerror or error}") from None


# ---- reading ---------------------------------------------------------------------------------------------


def arrays_noted(name: str) -> dict[str, dict[str, Any]]:
    """Return what a folder says of its arrays."""
    found: dict[str, dict[str, Any]] = _head(name)["arrays"]
    return found


def opened(name: str, check: bool | None = None) -> Graph:
    """Return the graph of a folder, with its arrays mapped; offsets, labels and columns of vertices are read."""
    head = _head(name)
    arrays = {key: _Stored(name, key, each) for key, each in head["arrays"].items()}
    compare([each.file for each in arrays.values() if each.file is not None and not each.is_mapped])
    found = {key: each.array() for key, each in arrays.items()}
    _check_lengths(name, found, head["vertices"], head["slots"])
    far = [each.file for each in arrays.values() if each.file is not None and each.is_mapped]
    if check or (check is None and sum(map(len, far)) <= AT_ONCE):
        compare(far)
    elif check is False:
        for file in far:
            file.checksums = None
    columns: dict[str, dict[str, Array]] = {"vertex": {}, "edge": {}}
    for key, values in found.items():
        kind, _, column = key.partition("/")
        if column:
            columns[kind][column] = values
    graph = Graph(
        found["offsets"], found["targets"], found.get("weights"), directed=head["directed"], labels=found.get("labels"),
        vertices=columns["vertex"], edges=columns["edge"], placement=placed(backend_named("cpu"), HOST, DISK),
    )  # fmt: skip
    if "in_edges" in found:
        graph._once("in_lists", lambda: (found["in_offsets"], found["in_sources"]))
        graph._once("in_edges", lambda: found["in_edges"])
    return graph


def _check_lengths(name: str, found: dict[str, Array], n: int, m: int) -> None:
    """Refuse arrays that do not belong together."""
    lengths = {"offsets": n + 1, "in_offsets": n + 1, "labels": n, "vertex": n}
    for key, values in found.items():
        if len(values) != lengths.get(key.partition("/")[0], m):
            raise GraphError(f"{name}: the array {key!r} has {len(values)} entries")
    for key in ("offsets", "in_offsets"):
        if key in found and (int(found[key][0]) != 0 or int(found[key][-1]) != m):
            raise GraphError(f"{name}: {key} go from {found[key][0]} to {found[key][-1]}, not from 0 to {m}")


def _head(name: str) -> dict[str, Any]:
    try:
        with open(os.path.join(name, HEAD), encoding="utf-8") as file:
            head = json.load(file)
    except FileNotFoundError:
        if not os.path.exists(name):
            raise GraphError(f"{name}: there is no such folder") from None
        raise GraphError(f"{name}: not a Frontier graph: there is no {HEAD} in it") from None
    except NotADirectoryError:
        raise GraphError(f"{name}: not a Frontier graph, which is a folder, but a file: fr.read reads it") from None
    except (OSError, ValueError) as error:
        raise GraphError(f"{name}: {HEAD} cannot be read: {error}") from None
    if not isinstance(head, dict) or head.get("format") != "Frontier graph":
        raise GraphError(f"{name}: not a Frontier graph: {HEAD} does not say so")
    if head.get("version") != VERSION:
        raise GraphError(f"{name}: of version {head.get('version')}, and this is known up to {VERSION}")
    _check_head(name, head)
    return head


def _check_head(name: str, head: dict[str, Any]) -> None:
    """Refuse what lacks something, or has something of another kind."""
    _check_kinds(name, head, {"vertices": int, "slots": int, "directed": bool, "arrays": dict}, "")
    arrays = head["arrays"]
    for key, noted in arrays.items():
        kinds = {"file": str, "dtype": str, "length": int, "crc32": list}
        _check_kinds(name, noted, kinds, f" of the array {key!r}")
        if key.partition("/")[0] not in ARRAYS:
            raise _misstated(name, f"the name of the array {key!r}")
    in_edges = [key for key in ("in_offsets", "in_sources", "in_edges") if key in arrays]
    needed = ["offsets", "targets", *(("in_offsets", "in_sources", "in_edges") if in_edges else ())]
    for key in needed:
        if key not in arrays:
            raise _misstated(name, f"the array {key!r}")


def _check_kinds(name: str, noted: Any, kinds: dict[str, type], of: str) -> None:
    for key, kind in kinds.items():
        value = noted.get(key) if isinstance(noted, dict) else None
        if type(value) is not kind or (isinstance(value, int) and value < 0):
            raise _misstated(name, f"{key!r}{of}")


def _misstated(name: str, what: str) -> GraphError:
    return GraphError(f"{name}: not a Frontier graph: {HEAD} lacks or misstates {what}")


class _Stored:
    """An array of a folder.

    Attributes
    ----------
    values : ndarray
        The file, mapped.
    file : File or None
        None if it is empty.
    is_mapped : bool
        Whether it stays so: it has an entry for each edge. Others are read.
    """

    def __init__(self, name: str, key: str, noted: dict[str, Any]) -> None:
        path, length = os.path.join(name, os.path.basename(noted["file"])), noted["length"]
        dtype = _dtype(name, key, noted["dtype"])
        self._native = dtype.newbyteorder("=")
        self.is_mapped = dtype == self._native and ARRAYS[key.partition("/")[0]]
        try:
            size = os.path.getsize(path)
            if size != (needed := length * dtype.itemsize):
                raise GraphError(f"{name}: the file of {key!r} has {size:,} bytes, expected {needed:,}")
            self.values = mapped(path, dtype, length)
        except OSError as error:
            raise GraphError(f"{name}: the file of {key!r} cannot be read: {error.strerror or error}") from None
        found = file_of(self.values)
        self.file = None if found is None else found[0]
        if self.file is not None:
            self.file.checksums = Checksums(path, size, noted["crc32"])

    def array(self) -> Array:
        """Return the array: mapped, or as a copy in memory."""
        return self.values.view(self._native) if self.is_mapped else self.values.astype(self._native)


def _dtype(name: str, key: str, noted: str) -> np.dtype[Any]:
    """The dtype of an array; of vertices and slots an integer, and never objects."""
    try:
        dtype = np.dtype(noted)
    except TypeError:
        dtype = np.dtype(object)
    if dtype.kind not in "iu" and (dtype.hasobject or key in IDS):
        raise _misstated(name, f"'dtype' of the array {key!r}")
    return dtype
