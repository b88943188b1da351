"""Make a Frontier graph of a file of edges that is larger than memory: an external sort, in three passes over files.

1. The edges are read piece by piece and written as plain numbers, so that text is parsed once.
2. They are dealt, by their source, to parts of about equal size that fit in memory; an undirected edge to both ends.
3. The parts are sorted one after another, which gives the rows of the graph in order.

The in-edges of a directed graph are made of its rows by the same two last passes. After each piece the folder in which
this happens, ``NAME.frontier.part``, notes how far it has come; a call with the same arguments goes on there. (External
distribution sort; Vitter: Algorithms and data structures for external memory, 2008.)
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from frontier.errors import GraphError
from frontier.graph.build_sort import DUPLICATES, sorted_rows
from frontier.graph.shares import Piece, Shares
from frontier.graph.topology import Array, id_dtype, offset_dtype
from frontier.io._joined import joined
from frontier.io._source import Bar, Source, opened
from frontier.io.formats import FORMATS, Options, format_of
from frontier.io.stored import Folder, replace_folder
from frontier.memory.disk import mapped
from frontier.memory.limits import parsed

__all__ = ["convert"]

#: Bytes of memory for each edge of a part, while it is sorted; and for each byte of a piece of a text.
EACH, TEXT = 96, 16

#: Parts at most: files that are open at once.
MOST = 512


def convert(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    memory: int | str = "1GiB",
    format: str | None = None,
    directed: bool | None = None,
    duplicates: str = "first",
    self_loops: str = "keep",
    num_vertices: int | None = None,
    progress: bool | None = None,
) -> None:
    """Make a Frontier graph of a file of edges, neither of which needs to fit into memory.

    Parameters
    ----------
    source : str or path, or a sequence of them
        An edge list without names and with no columns but weights, Matrix Market, DIMACS, npz or Parquet; not gzipped.
        Or several edge lists, npz or Parquet files, whose edges are taken together.
    out : str or path
        The folder ``NAME.frontier`` to make; a Frontier graph that is there is replaced when the new one is complete.
    memory : int or str
        About the bytes to use for edges, ``2**30`` or ``"1GiB"``. In addition there are 8 to 24 bytes for each vertex.
    format, directed, duplicates, self_loops, num_vertices, progress
        As of :func:`frontier.read`.

    Raises
    ------
    GraphError
        If the file cannot be read in pieces, its content is invalid, or the folder cannot be written.

    Notes
    -----
    Reads and writes every edge four times; directed graphs, of which in-edges are made too, seven times. The disk needs
    up to 56 bytes an edge beside the graph. If it is interrupted, the same call goes on where it was; to begin anew,
    delete ``NAME.frontier.part``.

    Examples
    --------
    >>> import frontier as fr
    >>> fr.write(fr.karate(), "karate.el")
    >>> fr.convert("karate.el", "karate.frontier", directed=False)
    >>> fr.bfs(fr.open("karate.frontier"), 0).level.max()
    np.int32(3)
    """
    given = [source] if isinstance(source, (str, os.PathLike)) else source
    names, target = [os.fspath(each) for each in given], os.fspath(out).rstrip("/")
    if not names:
        raise GraphError("there is no file to convert")
    if duplicates not in DUPLICATES:
        raise GraphError(f"duplicates={duplicates!r}: choose one of {', '.join(DUPLICATES)}")
    if self_loops not in ("keep", "drop", "error"):
        raise GraphError(f"self_loops={self_loops!r}: choose 'keep', 'drop' or 'error'")
    shares, says_directed = joined(names, [_divided(name, format, num_vertices) for name in names])
    if shares.both_ways or (directed and not says_directed):
        raise GraphError(f"{names[0]}: holds undirected edges, so the graph is undirected")
    kind = says_directed if directed is None else directed
    times = _times(names)
    options = {
        "source": [os.path.abspath(name) for name in names], "changed": times, "memory": parsed(memory),
        "directed": kind, "duplicates": duplicates, "self_loops": self_loops, "num_vertices": num_vertices,
    }  # fmt: skip
    try:
        work = _Work(f"{target}.part", options, Bar(target, shares.count, progress))
        _read(work, shares, self_loops)
        for name, before, now in zip(names, times, _times(names), strict=True):
            if now != before:
                raise GraphError(f"{name}: the file has changed while it was read")
        _Rows(work, kind, duplicates).make()
        if kind:
            _InEdges(work).make()
        _finish(work, target, kind)
    except OSError as error:
        raise GraphError(f"{target}: cannot be written: {error.strerror or error}") from None


def _times(names: list[str]) -> list[int]:
    """When files were written last."""
    return [os.stat(name).st_mtime_ns for name in names]


def _divided(name: str, format: str | None, num_vertices: int | None) -> tuple[Shares, bool]:
    """How the file is read in pieces, and whether it says that edges are directed."""
    suffix, zipped = format_of(name, format)
    known = FORMATS[suffix]
    if known.divisible is None or zipped:
        what = "gzipped files" if zipped else f"{known.name} files"
        raise GraphError(f"{name}: {what} cannot be read in pieces: fr.write(fr.read(...), ...) needs them in memory")
    with opened(name) as file:
        found = known.divisible(
            Source(name, file, zipped=False, progress=False), suffix, Options(None, "keep", "keep", num_vertices, None)
        )
    if found is None or found.labels is not None or found.vertices:
        raise GraphError(f"{name}: has names or columns of vertices, so it cannot be read in pieces")
    return found.shares, found.directed


# ---- the folder ------------------------------------------------------------------------------------------


class _Work:
    """The folder of an unfinished conversion: files to which pieces are appended, and how far it has come.

    Attributes
    ----------
    state : dict
        ``stage`` and ``done``, the stage and its pieces done; ``sizes``, bytes of each file then; and what is known.
    """

    def __init__(self, path: str, options: dict[str, Any], bar: Bar) -> None:
        self.path, self.bar = path, bar
        self.memory = int(options["memory"])
        self.state: dict[str, Any] = {"options": options, "stage": 0, "done": 0, "sizes": {}}
        try:
            with open(self.at("state.json"), encoding="utf-8") as file:
                state = json.load(file)
        except (OSError, ValueError):
            state = None
        if state is not None and state["options"] == options:
            self.state = state
            for file, size in state["sizes"].items():
                if os.path.exists(self.at(file)):  # parts that were used are deleted
                    os.truncate(self.at(file), size)
        else:
            shutil.rmtree(path, ignore_errors=True)
            os.mkdir(path)

    def at(self, file: str) -> str:
        """Return the path of a file."""
        return os.path.join(self.path, file)

    def append(self, file: str, values: Array) -> None:
        """Append numbers to a file; what an interrupted piece has appended is cut off when it is resumed."""
        with open(self.at(file), "ab") as out:
            out.truncate(self.state["sizes"].setdefault(file, 0) + self._new.get(file, 0))
            out.write(np.ascontiguousarray(values).data)
        self._new[file] = self._new.get(file, 0) + values.nbytes

    _new: dict[str, int]

    def each(self, stage: int, pieces: int, do: Callable[[int], None]) -> None:
        """Do what is left of a stage."""
        if self.state["stage"] > stage:
            return
        for i in range(self.state["done"], pieces):
            self._new = {}
            do(i)
            self.note(stage, i + 1)
        self._new = {}
        self.note(stage + 1, 0)

    def note(self, stage: int, done: int) -> None:
        """Note how far it has come."""
        for file, size in self._new.items():
            self.state["sizes"][file] = self.state["sizes"].get(file, 0) + size
        self._new = {}
        self.state.update(stage=stage, done=done)
        with open(self.at("state.new"), "w", encoding="utf-8") as out:
            json.dump(self.state, out)
        os.replace(self.at("state.new"), self.at("state.json"))

    def drop(self, begin: str) -> None:
        """Delete files that are no longer needed, by how their names begin."""
        for file in os.listdir(self.path):
            if file.startswith(begin):
                os.unlink(self.at(file))

    def array(self, file: str, dtype: Any) -> Array:
        """Return a file as an array."""
        size = self.state["sizes"].get(file, 0)
        return mapped(self.at(file), dtype, size // np.dtype(dtype).itemsize)


# ---- the passes ------------------------------------------------------------------------------------------


def _read(work: _Work, shares: Shares, self_loops: str) -> None:
    """Write all edges as plain numbers."""
    step = max(work.memory // TEXT, 1 << 12)
    pieces = -(-shares.count // step)
    state = work.state
    state.setdefault("known", {"edges": 0, "top": -1, "weights": None})

    def read(i: int) -> None:
        piece = shares.make(i * step, min((i + 1) * step, shares.count))
        if piece.columns:
            raise GraphError(f"there are columns, {', '.join(piece.columns)}: only weights can be converted in pieces")
        if len(piece.src):
            _check(work, piece)  # a self-loop that is left out names a vertex, too
            _take(work, shares.checked(piece, self_loops))
        work.bar.show(min((i + 1) * step, shares.count))

    work.each(0, pieces, read)
    work.bar.finish()
    known = state["known"]
    if shares.check is not None:
        shares.check(known["edges"])
    if "vertices" not in state:
        least = max(known["top"] + 1, shares.least)
        count = shares.num_vertices if shares.num_vertices is not None else state["options"]["num_vertices"]
        if count is not None and known["top"] >= count:
            raise GraphError(f"vertex {known['top']} is not below num_vertices={count}")
        state["vertices"] = least if count is None else count


def _check(work: _Work, piece: Piece) -> None:
    """Refuse ids below 0, and note the largest."""
    low = int(min(piece.src.min(), piece.dst.min()))
    if low < 0:
        raise GraphError(f"vertex ids begin at 0, and there is {low}")
    known = work.state["known"]
    known["top"] = max(known["top"], int(piece.src.max()), int(piece.dst.max()))


def _take(work: _Work, piece: Piece) -> None:
    """Write the edges of a piece."""
    known = work.state["known"]
    dtype = None if piece.weights is None else piece.weights.dtype.str
    if known["edges"] and known["weights"] != dtype:
        raise GraphError(f"weights are {known['weights'] or 'missing'} first, and {dtype or 'missing'} later on")
    known["edges"] += len(piece.src)
    known["weights"] = dtype
    work.append("src", piece.src.astype(np.int64, copy=False))
    work.append("dst", piece.dst.astype(np.int64, copy=False))
    if piece.weights is not None:
        work.append("weight.raw", piece.weights)


class _Dealt:
    """Deal pairs of vertices, and what goes with them, to parts by the first; then sort part after part.

    Attributes
    ----------
    stage : int
        Number of the stage in which they are dealt; they are sorted in the next one.
    used : tuple of str
        How names of files begin that are not needed after that.
    """

    stage: int
    name: str
    carried: dict[str, Any]
    used: tuple[str, ...] = ()

    def __init__(self, work: _Work) -> None:
        self.work, self.n = work, int(work.state["vertices"])

    def pieces(self) -> int:
        """How many pieces there are."""
        raise NotImplementedError

    def piece(self, i: int) -> tuple[Array, Array, dict[str, Array]]:
        """Return the pairs of a piece, in their order, and what goes with them."""
        raise NotImplementedError

    def sorted(self, lo: int, hi: int, first: Array, second: Array, carried: dict[str, Array]) -> Array:
        """Append the rows of vertices lo to hi - 1 to the result; return their lengths."""
        raise NotImplementedError

    def make(self) -> None:
        """Do both stages."""
        bounds = self._bounds()
        parts = len(bounds) - 1
        self.work.each(self.stage, self.pieces(), lambda i: self._deal(i, bounds))
        for begin in self.used:
            self.work.drop(begin)
        self.work.each(self.stage + 1, parts, lambda i: self._sort(i, int(bounds[i]), int(bounds[i + 1])))
        self.work.drop(f"{self.name}_part_")

    def _bounds(self) -> Array:
        """First vertex of each part; parts are ranges of vertices with about equally many pairs."""
        key = f"{self.name} bounds"
        if key not in self.work.state:
            shift = max((max(self.n, 1) - 1).bit_length() - 20, 0)
            counts = np.zeros((max(self.n, 1) - 1 >> shift) + 1, np.int64)
            for i in range(self.pieces()):
                first = self.piece(i)[0]
                counts += np.bincount(first >> shift, minlength=len(counts))
            ends = np.cumsum(counts)
            parts = min(max(-(-int(ends[-1]) * EACH // self.work.memory), 1), MOST)
            cuts = np.searchsorted(ends, np.arange(1, parts) * (int(ends[-1]) / parts)) + 1
            bounds = np.unique(np.concatenate(([0], np.minimum(cuts << shift, self.n), [self.n])))
            self.work.state[key] = bounds.tolist()
        return np.array(self.work.state[key], np.int64)

    def _deal(self, i: int, bounds: Array) -> None:
        first, second, carried = self.piece(i)
        part = np.searchsorted(bounds, first, side="right") - 1
        order = np.argsort(part, kind="stable")
        edges = np.searchsorted(part[order], np.arange(len(bounds)))
        for k in range(len(bounds) - 1):
            mine = order[edges[k] : edges[k + 1]]
            if len(mine):
                for name, values in {"first": first, "second": second, **carried}.items():
                    self.work.append(f"{self.name}_part_{k}_{name}", values[mine])

    def _sort(self, k: int, lo: int, hi: int) -> None:
        dtypes = {"first": np.int64, "second": np.int64, **self.carried}
        found = {name: self.work.array(f"{self.name}_part_{k}_{name}", dtype) for name, dtype in dtypes.items()}
        lengths = self.sorted(lo, hi, found.pop("first"), found.pop("second"), found)
        self.work.append(f"{self.name}_lengths", lengths.astype(np.int64, copy=False))

    def offsets(self) -> Array:
        """Return the offsets of all rows."""
        lengths = self.work.array(f"{self.name}_lengths", np.int64)
        made = np.zeros(self.n + 1, np.int64)
        np.cumsum(lengths, out=made[1:])
        return made.astype(offset_dtype(int(made[-1])), copy=False)


class _Rows(_Dealt):
    """The rows of the graph."""

    stage, name = 1, "out"
    used = ("src", "dst", "weight.raw")

    def __init__(self, work: _Work, directed: bool, duplicates: str) -> None:
        super().__init__(work)
        self._directed, self._duplicates = directed, duplicates
        weights = work.state["known"]["weights"]
        self.carried = {} if weights is None else {"weight": np.dtype(weights)}
        self._step = max(int(work.memory) // EACH, 1 << 10)

    def pieces(self) -> int:
        return -(-int(self.work.state["known"]["edges"]) // self._step)

    def piece(self, i: int) -> tuple[Array, Array, dict[str, Array]]:
        cut = slice(i * self._step, (i + 1) * self._step)
        src, dst = (self.work.array(name, np.int64)[cut] for name in ("src", "dst"))
        carried = {name: self.work.array(f"{name}.raw", dtype)[cut] for name, dtype in self.carried.items()}
        if self._directed:
            return src, dst, carried
        # Both ends get an edge at the same place in the order, so that both choose alike among duplicates.
        first, second = np.stack([src, dst], axis=1).ravel(), np.stack([dst, src], axis=1).ravel()
        kept = np.ones(len(first), bool)
        kept[1::2] = src != dst
        return first[kept], second[kept], {name: np.repeat(each, 2)[kept] for name, each in carried.items()}

    def sorted(self, lo: int, hi: int, first: Array, second: Array, carried: dict[str, Array]) -> Array:
        rows = sorted_rows(
            first - lo, second, self.n, duplicates=self._duplicates, weights=carried.get("weight"), num_sources=hi - lo
        )
        self.work.append("targets", rows.targets.astype(id_dtype(self.n), copy=False))
        if rows.weights is not None:
            self.work.append("weights", rows.weights)
        return np.diff(rows.offsets)


class _InEdges(_Dealt):
    """The in-edges: slots of the rows, sorted by their targets."""

    stage, name = 3, "in"

    def __init__(self, work: _Work) -> None:
        super().__init__(work)
        self._offsets = _Dealt.offsets(_named(work, "out"))
        self._m = int(self._offsets[-1])
        self.carried = {"slot": np.int64}
        self._step = max(int(work.memory) // EACH, 1 << 10)

    def pieces(self) -> int:
        return -(-self._m // self._step)

    def piece(self, i: int) -> tuple[Array, Array, dict[str, Array]]:
        slots = np.arange(i * self._step, min((i + 1) * self._step, self._m))
        sources = np.searchsorted(self._offsets, slots, side="right") - 1
        targets = self.work.array("targets", id_dtype(self.n))[slots[0] : slots[-1] + 1].astype(np.int64)
        return targets, sources, {"slot": slots}

    def sorted(self, lo: int, hi: int, first: Array, second: Array, carried: dict[str, Array]) -> Array:
        order = np.argsort(first, kind="stable")
        self.work.append("in_sources", second[order].astype(id_dtype(self.n)))
        self.work.append("in_edges", carried["slot"][order].astype(offset_dtype(self._m)))
        return np.bincount(first - lo, minlength=hi - lo)


def _named(work: _Work, name: str) -> _Dealt:
    made = _Dealt(work)
    made.name = name
    return made


def _finish(work: _Work, target: str, directed: bool) -> None:
    """Write the offsets and what says what is there, and give the folder its name."""
    n, folder = int(work.state["vertices"]), Folder(work.path)
    offsets = _named(work, "out").offsets()
    m = int(offsets[-1])
    folder.add("offsets", [offsets], offsets.dtype)
    kinds: dict[str, Any] = {"targets": id_dtype(n)}
    if work.state["known"]["weights"] is not None:
        kinds["weights"] = np.dtype(work.state["known"]["weights"])
    if directed:
        starts = _named(work, "in").offsets()
        folder.add("in_offsets", [starts], starts.dtype)
        kinds |= {"in_sources": id_dtype(n), "in_edges": offset_dtype(m)}
    for name, dtype in kinds.items():
        if not os.path.exists(work.at(name)):
            open(work.at(name), "wb").close()
        folder.noted(name, name, dtype, m)
    folder.finish(vertices=n, slots=m, directed=directed)
    kept = {each["file"] for each in folder.arrays.values()} | {"graph.json"}
    for file in os.listdir(work.path):
        if file not in kept:
            os.unlink(work.at(file))
    replace_folder(work.path, os.path.realpath(target))
