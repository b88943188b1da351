"""Make a Frontier graph of a file of edges that is larger than memory: an external sort, in three passes over files.

1. The edges are read piece by piece and written as plain numbers, so that text is parsed once.
2. They are dealt, by their source, to parts of about equal size that fit in memory; an undirected edge to both ends.
3. The parts are sorted one after another, which gives the rows of the graph in order.

The in-edges of a directed graph are made of its rows by the same two last passes. The folder in which this happens,
``NAME.frontier.part``, notes now and then how far it has come; a call with the same arguments goes on there. (External
distribution sort; Vitter: Algorithms and data structures for external memory, 2008.)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from frontier.display.progress import Task
from frontier.errors import GraphError
from frontier.graph.build_input import check_fits, vertex_count
from frontier.graph.build_sort import DUPLICATES
from frontier.graph.shares import Piece, Shares
from frontier.graph.topology import id_dtype, offset_dtype
from frontier.graph.validation import mixed
from frontier.io._content import recognized
from frontier.io._dealing import InEdges, Rows, offsets_of
from frontier.io._divisible import Divisible
from frontier.io._folders import HEAD, check_replaceable, replace_folder
from frontier.io._joined import joined
from frontier.io._options import Options
from frontier.io._source import Source, opened
from frontier.io._unfinished import LOCK, NOTE, Unfinished, noted_options
from frontier.io.formats import FORMATS
from frontier.io.stored import SUFFIX, Folder, arrays_noted, is_stored
from frontier.memory import limits
from frontier.memory.limits import parsed
from frontier.system.regular_files import described

__all__ = ["convert", "is_too_large", "options_of"]

#: Bytes of memory for each byte of a piece of a text.
TEXT = 16

#: What is used of memory if nothing else is asked for: at most so many bytes, at least so many, and one of so many of
#: those that are free.
MOST, LEAST, ONE_IN = 1 << 30, 1 << 22, 8

#: Bytes of memory that a graph takes at most while it is read at once and written: for each byte of a text, and for
#: each edge of other files. (Measured, of 4 million random edges: edge lists 4.6 to 6.7, Matrix Market 4.1 to 6.8; npz
#: 30 to 47, Parquet 40 to 66.)
OF_TEXT, OF_EDGE = 8, 80

#: Of the files of an unfinished conversion: a folder in which they are otherwise is not gone on with.
LAYOUT = 3


def convert(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    memory: int | str | None = None,
    format: str | None = None,
    directed: bool | None = None,
    duplicates: str | None = None,
    self_loops: str = "keep",
    num_vertices: int | None = None,
    header: bool | None = None,
    weight: str | bool | None = None,
    source: str | None = None,
    target: str | None = None,
    progress: bool | None = None,
) -> None:
    """Make a Frontier graph of a file of edges, neither of which needs to fit into memory.

    Parameters
    ----------
    path : str or os.PathLike, or a sequence of them
        An edge list whose ends are numbers, Matrix Market, DIMACS, npz or Parquet; not packed, nor skew-symmetric. Or
        several edge lists, npz or Parquet files, whose edges are taken together.
    out : str or os.PathLike
        The folder ``NAME.frontier`` to make; a Frontier graph that is there is replaced when the new one is complete.
    memory : int or str, optional
        About the bytes to use for edges, ``2**30`` or ``"1GiB"``. In addition there are 8 to 24 bytes for each vertex.
        Default: 1 GiB, or an eighth of the free memory if that is less; or what an unfinished conversion has used.
    format, directed, duplicates, self_loops, num_vertices, header, weight, source, target, progress
        As of :func:`frontier.read`, except for what the notes say.

    Raises
    ------
    GraphError
        If the file cannot be read in pieces, its content is invalid, or the folder cannot be written; if there is
        something else than a Frontier graph in its place, or than an unfinished conversion at ``NAME.frontier.part``;
        or if another process converts to the same folder.

    Notes
    -----
    Of the columns only weights are kept: where there are others, ``weight`` is the name of the weights' column, or
    False. By default, all duplicates are kept of an archive that :func:`frontier.write` has made, and else the first.

    Reads every edge four times and writes it three times; for directed graphs, of which in-edges are made too, seven
    and five times. The disk needs up to 32 bytes an edge beside the graph, with weights up to 56, and from 2**31
    vertices on up to 72. If it is interrupted, the same call goes on where it was; to begin anew, delete
    ``NAME.frontier.part``.

    Examples
    --------
    >>> import frontier as fr
    >>> fr.write(fr.karate(), "karate.el")
    >>> fr.convert("karate.el", "karate.frontier", directed=False)
    >>> fr.bfs(fr.open("karate.frontier"), 0).level.max()
    np.int32(3)
    """
    given = [path] if isinstance(path, (str, os.PathLike)) else path
    names, folder = [os.fspath(each) for each in given], os.fspath(out).rstrip("/")
    _check(names, folder, memory, duplicates, self_loops)
    if num_vertices is not None:
        num_vertices = vertex_count({}, num_vertices, None)
    asked = options_of(directed, num_vertices, header, weight, source, target)
    found = [_divided(name, format, asked)[1] for name in names]
    shares, says_directed = joined(names, [(each.shares, each.directed) for each in found])
    kind = says_directed if directed is None else directed
    if _must_be_undirected(shares, says_directed, directed):
        raise GraphError(f"{names[0]}: holds undirected edges, so the graph is undirected")
    said = duplicates is not None
    if duplicates is None:
        keeps = all(each.keeps for each in found) and (kind or not says_directed)
        duplicates = "keep" if keeps else "first"
    times = _times(names)
    options = {
        "source": [os.path.abspath(name) for name in names], "changed": times,
        "directed": kind, "duplicates": duplicates, "self_loops": self_loops, "num_vertices": num_vertices,
        "header": header, "weight": weight, "ends": [source, target], "layout": LAYOUT,
    }  # fmt: skip
    options["memory"] = _usual(folder, options) if memory is None else parsed(memory)
    try:
        with Unfinished(folder, options, _tasks(folder, progress)) as work:
            if not os.path.exists(work.at(HEAD)):  # which is written when all else is there
                _read(work, shares, kind, self_loops)
                for name, before, now in zip(names, times, _times(names), strict=True):
                    if now != before:
                        raise GraphError(f"{name}: the file has changed while it was read")
                Rows(work, kind, duplicates, watch=not said).make()
                if kind:
                    InEdges(work).make()
                _describe(work, kind)
            _finish(work, folder)
    except OSError as error:
        raise GraphError(f"{folder}: cannot be written: {error.strerror or error}") from None


def _check(names: list[str], target: str, memory: int | str | None, duplicates: str | None, self_loops: str) -> None:
    """Refuse arguments of which no graph can be made, before anything is read."""
    if not is_stored(target):
        raise GraphError(f"{target}: a Frontier graph is a folder whose name ends in {SUFFIX}")
    check_replaceable(target)
    if not names:
        raise GraphError("there is no file to convert")
    if duplicates is not None and duplicates not in DUPLICATES:
        raise GraphError(f"duplicates={duplicates!r}: choose one of {', '.join(DUPLICATES)}")
    if self_loops not in ("keep", "drop", "error"):
        raise GraphError(f"self_loops={self_loops!r}: choose 'keep', 'drop' or 'error'")
    if memory is not None and parsed(memory) == 0:
        raise GraphError(f"memory={memory!r}: edges need some; '1GiB' will do")


def _usual(target: str, options: dict[str, Any]) -> int:
    """How much memory to use if nothing is asked for: as much as before, if there is something to go on with."""
    before = noted_options(target)
    if before is not None and before == {**options, "memory": before.get("memory")}:
        return int(before["memory"])
    return max(LEAST, min(MOST, limits.free()[0] // ONE_IN))


def _must_be_undirected(shares: Shares, says_directed: bool, directed: bool | None) -> bool:
    """Whether files hold undirected edges, each once, and a directed graph is asked for."""
    return bool(directed) and not says_directed and not shares.both_ways


def options_of(
    directed: bool | None, num_vertices: int | None, header: bool | None, weight: str | bool | None,
    source: str | None, target: str | None,
) -> Options:  # fmt: skip
    """How a file is read in pieces; columns other than weights are left out where the caller says which these are."""
    return Options(
        directed, "keep", "keep", num_vertices, None, header, weight, source, target,
        infers_labels=True, keeps_columns=weight is None,
    )  # fmt: skip


def is_too_large(name: str, format: str | None, options: Options) -> bool:
    """Whether a file of edges had better be converted in parts: at once it takes more than half of the free memory.

    False for files that cannot be read in pieces, or not as ``directed`` says, and for those that cannot be read.
    """
    if not os.path.isfile(name):
        return False
    try:
        suffix, found = _divided(name, format, options)
    except GraphError:
        return False
    if _must_be_undirected(found.shares, found.directed, options.directed):
        return False
    each = OF_EDGE if suffix in ("npz", "parquet") else OF_TEXT
    return found.shares.count * each > limits.free()[0] // 2


def _tasks(target: str, wanted: bool | None) -> Callable[[str, int, str], Task]:
    """What is done in a number of steps, for progress."""
    return lambda what, steps, unit: Task(f"{os.path.basename(target)}, {what}", steps, unit, wanted=wanted)


def _times(names: list[str]) -> list[int]:
    """When files were written last."""
    return [os.stat(name).st_mtime_ns for name in names]


def _divided(name: str, format: str | None, options: Options) -> tuple[str, Divisible]:
    """The suffix of the file's format, and how it is read in pieces."""
    if os.path.exists(name) and not os.path.isfile(name):
        raise GraphError(f"{name}: it is {described(os.stat(name).st_mode)}, not a file, which is read in pieces")
    with opened(name) as file:
        suffix, packing = recognized(name, format, file)
    known = FORMATS[suffix]
    if packing or known.divisible is None:
        packed = "gzipped files" if packing == "gz" else f"files packed as .{packing}"
        what = f"{known.name} files" if known.divisible is None else packed
        raise GraphError(f"{name}: {what} cannot be read in pieces: fr.write(fr.read(...), ...) needs them in memory")
    try:
        known.check(options)
    except GraphError as error:
        raise GraphError(f"{name}: {error}") from None
    with opened(name) as file:
        found = known.divisible(Source(name, file, "", progress=False), suffix, options)
    if found is None or found.labels is not None or found.vertices:
        raise GraphError(f"{name}: has names or columns of vertices, so it cannot be read in pieces")
    return suffix, found


def _read(work: Unfinished, shares: Shares, directed: bool, self_loops: str) -> None:
    """Write all edges as plain numbers; of edges that occur from both ends, those from the lower."""
    step = max(work.memory // TEXT, 1 << 12)
    pieces = max(-(-shares.count // step), 1)  # one without edges still says whether there are weights
    state = work.state
    state.setdefault("known", {"read": 0, "edges": 0, "top": -1, "weights": None, "lone": 0})

    def read(i: int) -> None:
        piece = shares.make(i * step, min((i + 1) * step, shares.count))
        if piece.columns:
            what = f"there are columns, {', '.join(piece.columns)}: only weights can be converted in pieces"
            raise GraphError(f"{what}; weight= takes one, weight=False leaves them out")
        if len(piece.src) or not state["known"]["edges"]:
            _look_at(work, piece)  # a self-loop that is left out names a vertex, too
            piece = shares.checked(piece, self_loops)
            _take(work, _from_lower_ends(work, piece) if shares.both_ways and not directed else piece)

    work.each(0, pieces, read, "reading")
    known = state["known"]
    if shares.check is not None:
        shares.check(known["read"])
    if known["lone"]:
        what = "an undirected graph has every edge from both ends, with the same weight"
        raise GraphError(f"{state['options']['source'][0]}: {what}, and these edges are not so")
    if "vertices" not in state:
        count = state["options"]["num_vertices"]
        if count is None:
            count = shares.num_vertices
        if count is None:
            count = max(known["top"] + 1, shares.least)
        if known["top"] >= count:
            raise GraphError(f"vertex {known['top']} is not below num_vertices={count}")
        check_fits(count, hint="number the vertices that occur first")
        state["vertices"] = count


def _look_at(work: Unfinished, piece: Piece) -> None:
    """Refuse ids below 0, and note the largest, and how many edges there are with those that are left out."""
    low = int(min(piece.src.min(initial=0), piece.dst.min(initial=0)))
    if low < 0:
        raise GraphError(f"vertex ids begin at 0, and there is {low}")
    known = work.state["known"]
    known["read"] += len(piece.src)
    known["top"] = max(known["top"], int(piece.src.max(initial=-1)), int(piece.dst.max(initial=-1)))


def _from_lower_ends(work: Unfinished, piece: Piece) -> Piece:
    """Return the edges from their lower ends; note a number that is 0 in the end if each occurs from the other, too."""
    src, dst, weights = piece.src, piece.dst, piece.weights
    ends = src.astype(np.uint64), dst.astype(np.uint64)
    known = work.state["known"]
    known["lone"] = (known["lone"] + mixed(*ends, weights) - mixed(*ends[::-1], weights)) % 2**64
    kept = src <= dst
    return Piece(src[kept], dst[kept], None if weights is None else weights[kept])


def _take(work: Unfinished, piece: Piece) -> None:
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


def _describe(work: Unfinished, directed: bool) -> None:
    """Write the offsets and what says what is there."""
    n, folder = int(work.state["vertices"]), Folder(work.path)
    offsets = offsets_of(work, "out")
    m = int(offsets[-1])
    folder.add("offsets", [offsets], offsets.dtype)
    kinds: dict[str, Any] = {"targets": id_dtype(n)}
    if work.state["known"]["weights"] is not None:
        kinds["weights"] = np.dtype(work.state["known"]["weights"])
    if directed:
        starts = offsets_of(work, "in")
        folder.add("in_offsets", [starts], starts.dtype)
        kinds |= {"in_sources": id_dtype(n), "in_edges": offset_dtype(m)}
    size, seen = sum(dtype.itemsize for dtype in kinds.values()) * m, 0
    with work.task("checksums", size, "MiB") as task:

        def show(count: int) -> None:
            nonlocal seen
            seen += count
            task.at(seen)

        for name, dtype in kinds.items():
            if not os.path.exists(work.at(name)):
                open(work.at(name), "wb").close()
            folder.noted(name, name, dtype, m, show)
    folder.finish(vertices=n, slots=m, directed=directed)


def _finish(work: Unfinished, target: str) -> None:
    """Delete what the graph does not need, and give the folder its name."""
    kept = {each["file"] for each in arrays_noted(work.path).values()} | {HEAD, NOTE, LOCK}
    for file in os.listdir(work.path):
        if file not in kept:
            os.unlink(work.at(file))
    target = os.path.realpath(target)
    replace_folder(work.path, target)
    os.unlink(os.path.join(target, NOTE))  # late, so that nothing is lost up to here
    with suppress(FileNotFoundError):  # where there are no locks
        os.unlink(os.path.join(target, LOCK))
