"""The Frontier graph, a folder ``NAME.frontier``: a graph's arrays as they lie in memory, which are mapped, not read.

A file for each array, little-endian and nothing else in it; ``graph.json`` says what they are:

    {"format": "Frontier graph", "version": 1, "vertices": 5, "slots": 8, "directed": true,
     "arrays": {"targets": {"file": "targets.bin", "dtype": "<i4", "length": 8, "crc32": [3406212505]}, ...},
     "mark": "6c1f..."}

The arrays are ``offsets`` and ``targets``; ``weights``, ``labels``, ``vertex/NAME`` and ``edge/NAME`` (columns), if
there are any; and, so that nothing of the size of the edges has to be made, ``in_offsets``, ``in_sources`` and
``in_edges`` of directed graphs. Checksums are those of blocks of 64 MiB; arrays that are read as a whole are compared
with theirs whenever a graph is opened, and those of edges then or later (:mod:`frontier.memory.checksums`). A folder is
written under another name, which is changed when all is there.

The mark is a digest of all the rest, so that a folder is known that something else has written, or changed together
with its checksums: the edges of such a one are looked at when it is opened (:mod:`frontier.graph.validation`). There is
no secret in the mark, so who means to can make it, too.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from frontier.errors import GraphError
from frontier.graph.graph import Graph
from frontier.graph.moving import on_host
from frontier.graph.topology import Array
from frontier.graph.validation import check_edges, check_kinds
from frontier.io._folders import HEAD, replacing_folder
from frontier.io.npz import plain
from frontier.memory import checksums
from frontier.memory.checksums import Checksums, compare
from frontier.memory.disk import DISK, file_of, mapped_file, reading
from frontier.memory.host import HOST
from frontier.memory.placement import backend_named, placed
from frontier.system.regular_files import open_regular

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

#: Up to how many bytes of edges are compared when a graph is opened, unless something else is asked for; up to a
#: quarter of that, which takes as long, edges are looked at even in a folder with our mark.
AT_ONCE = 1 << 30

#: Bytes of what says what is in a folder, which has some ten for each 64 MiB of arrays.
LONGEST_HEAD = 1 << 26

#: Dtypes of arrays: numbers, times, strings; neither objects nor structures.
_DTYPE = re.compile(r"[<>|=]?[biufcSUmM][0-9]{1,9}(\[[0-9A-Za-z]+\])?")


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
        head["mark"] = _mark(head)
        path = os.path.join(self.path, HEAD)
        with open(f"{path}.new", "w", encoding="utf-8") as file:
            json.dump(head, file, indent=1)
        os.replace(f"{path}.new", path)


def _mark(head: dict[str, Any]) -> str:
    """A digest of what is said of a folder, and by their checksums of its arrays."""
    rest = json.dumps({key: value for key, value in head.items() if key != "mark"}, sort_keys=True)
    return hashlib.sha256(f"Frontier graph {rest}".encode()).hexdigest()


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
    size = sum(map(len, far))
    looks = check or (check is None and (size <= AT_ONCE // 4 or head.get("mark") != _mark(head)))
    try:
        graph, look = _graph(found, head["directed"])
        if looks or (check is None and size <= AT_ONCE):
            compare(far)
        elif check is False:
            for file in far:
                file.checksums = None
        if looks:
            with reading(far, zeros=True):
                look()
    except GraphError as error:
        raise error if str(error).startswith(name) else GraphError(f"{name}: {error}") from None
    return graph


def _graph(found: dict[str, Array], directed: bool) -> tuple[Graph, Callable[[], None]]:
    """The graph of arrays, and what looks at all of its edges."""
    columns: dict[str, dict[str, Array]] = {"vertex": {}, "edge": {}}
    for key, values in found.items():
        kind, _, column = key.partition("/")
        if column:
            columns[kind][column] = values
    rows, labels = (found["offsets"], found["targets"], found.get("weights")), found.get("labels")
    in_lists = (found["in_offsets"], found["in_sources"], found["in_edges"]) if "in_edges" in found else None
    check_kinds(*rows, labels, columns["vertex"], columns["edge"], in_lists)
    graph = Graph(
        *rows, directed=directed, labels=labels, vertices=columns["vertex"], edges=columns["edge"],
        placement=placed(backend_named("cpu"), HOST, DISK), check=False,
    )  # fmt: skip
    if in_lists is not None:
        graph._once("in_lists", lambda: in_lists[:2])
        graph._once("in_edges", lambda: in_lists[2])
    return graph, lambda: check_edges(*rows, directed=directed, labels=labels, in_lists=in_lists)


def _check_lengths(name: str, found: dict[str, Array], n: int, m: int) -> None:
    """Refuse arrays that do not belong together."""
    lengths = {"offsets": n + 1, "in_offsets": n + 1, "labels": n, "vertex": n}
    for key, values in found.items():
        if len(values) != lengths.get(key.partition("/")[0], m):
            raise GraphError(f"{name}: the array {key!r} has {len(values)} entries")


def _head(name: str) -> dict[str, Any]:
    try:
        with open_regular(os.path.join(name, HEAD)) as file:
            text = file.read(LONGEST_HEAD + 1)
        if len(text) > LONGEST_HEAD:
            raise GraphError(f"{name}: {HEAD} cannot be read: it is longer than {LONGEST_HEAD:,} bytes")
        head = json.loads(text.decode("utf-8"))
    except FileNotFoundError:
        if not os.path.exists(name):
            raise GraphError(f"{name}: there is no such folder") from None
        raise GraphError(f"{name}: not a Frontier graph: there is no {HEAD} in it") from None
    except NotADirectoryError:
        raise GraphError(f"{name}: not a Frontier graph, which is a folder, but a file: fr.read reads it") from None
    except GraphError:
        raise
    except OSError as error:
        raise GraphError(f"{name}: {HEAD} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
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
            with open_regular(path) as file:
                size = os.fstat(file.fileno()).st_size
                if size != (needed := length * dtype.itemsize):
                    raise GraphError(f"{name}: the file of {key!r} has {size:,} bytes, expected {needed:,}")
                self.values = mapped_file(file, path, dtype, length)
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
        dtype = np.dtype(noted) if _DTYPE.fullmatch(noted) else None
    except (TypeError, ValueError, OverflowError):
        dtype = None
    if dtype is None or dtype.itemsize == 0 or (dtype.kind not in "iu" and key in IDS):
        raise _misstated(name, f"'dtype' of the array {key!r}")
    return dtype
