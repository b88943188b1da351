"""``read`` and ``write``: find the format of a file, and make a graph of what its reader returns."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import IO, Any

from frontier.display.progress import Task
from frontier.errors import GraphError, printable
from frontier.graph.graph import Graph
from frontier.graph.kinds import door
from frontier.graph.moving import on_host
from frontier.io import parquet_folders, stored
from frontier.io._content import recognized
from frontier.io._divisible import Divisible, graph_in_parts, in_parts
from frontier.io._edges import Edges
from frontier.io._format import Format
from frontier.io._making import arrays_of, graph_of, stored_graph
from frontier.io._options import Options
from frontier.io._packing import PACKINGS
from frontier.io._source import Source, opened
from frontier.io.formats import FORMATS, format_to_write, named_format
from frontier.memory.placement import Placement
from frontier.memory.shortage import explained, telling
from frontier.system.atomic_write import replacing

__all__ = ["read", "write"]

def read(
    path: str | os.PathLike[str] | IO[bytes],
    format: str | None = None,
    directed: bool | None = None,
    *,
    duplicates: str | None = None,
    self_loops: str = "keep",
    num_vertices: int | None = None,
    labels: Any = None,
    header: bool | None = None,
    weight: str | bool | None = None,
    source: str | None = None,
    target: str | None = None,
    progress: bool | None = None,
    placement: Placement | str | None = None,
    parts: bool = False,
) -> Graph:
    """Read a graph from a file.

    Parameters
    ----------
    path : str, os.PathLike or file
        The file, or a folder of ``.parquet`` files. A file that is open for reading bytes, such as
        ``sys.stdin.buffer``, or a named pipe is read as a stream. The suffix determines the format: ``.mtx`` (Matrix
        Market), ``.el``, ``.wel``, ``.txt``, ``.tsv``, ``.csv``, ``.edges`` (edge lists), ``.gr``, ``.max``, ``.col``,
        ``.clq`` (DIMACS), ``.graph``, ``.metis`` (METIS), ``.e`` (LDBC, with ``.v`` beside it), ``.npz``, ``.parquet``
        (needs PyArrow), ``.graphml``, ``.gml``, ``.gexf``, ``.json`` (node-link), ``.net`` (Pajek), ``.g6``, ``.s6``,
        ``.adjlist`` (which need NetworkX, and are slow), or one passed to :func:`register_format`. Where the name has
        no such suffix, the content determines it. A further ``.gz``, ``.bz2``, ``.xz``, ``.zst`` (needs zstandard
        before Python 3.14) or ``.zip`` (of one file) means that the file is packed, which is also seen from its
        content.
    format : str, optional
        One of these suffixes, for a file with another name; ``"csv.gz"`` if it is packed.
    directed : bool, optional
        Whether the graph is directed. Default: what the file says, see below. If it says nothing, edge
        lists, DIMACS and general Matrix Market files are directed, METIS and symmetric Matrix
        Market files undirected.
    duplicates : {"first", "last", "min", "max", "sum", "keep", "error"}, optional
        What to do with several edges between the same vertices, as in
        :func:`frontier.from_edges`. Default: keep the first, with a warning if weights differ; in an archive written by
        :func:`write`, and in registered formats, keep all.
    self_loops : {"keep", "drop", "error"}
        What to do with self-loops.
    num_vertices : int, optional
        Number of vertices, for edge lists. Default: what the file says, or the largest id plus
        one.
    labels : array_like, shape (n,), or bool, optional
        Labels of the vertices. True: the endpoints in an edge list are labels, such as ``alice`` or
        arbitrarily large numbers, and vertices are numbered in the order of their first appearance, as in
        :func:`frontier.from_edges`. Where columns have names, and an end of the first edge is no number, this is so by
        default; False: ends are ids in any case.
    header : bool, optional
        Whether the first line of an edge list names the columns. Default: decided by its content.
    weight : str or False, optional
        The column of an edge list or a Parquet file that holds the weights, or the attribute in formats of NetworkX;
        False: none does. Default: the one that is called so, see below; a third column without a line of names.
    source, target : str, optional
        The columns of an edge list or a Parquet file that hold the ends of edges. The first line of an edge list is
        then taken for the names of columns. Default: those that are called so, see below.
    progress : bool, optional
        Show on stderr how much has been read. Default: after two seconds, in a terminal or a notebook.
    placement : Placement or str, optional
        Where the graph shall be, as for :meth:`frontier.Graph.to`. ``"ranks"``: all processes read the file together,
        and each keeps the edges of its own vertices only. Of edge lists with no columns but weights, Matrix Market,
        DIMACS, npz and Parquet each process reads a part, and of packed text each unpacks all and keeps a part;
        other files each reads as a whole.
    parts : bool
        With ``placement="ranks"``: whether each process reads a file of its own, which together are the graph. An edge
        list without edges needs a line that names its columns; an empty file is refused.

    Returns
    -------
    Graph
        On the cpu backend, if ``placement`` does not say otherwise. Integer weights of text files are int64, others
        float64, each the float nearest to the decimal number.

    Raises
    ------
    GraphError
        If the file cannot be read or its content is invalid; the message names
        file and line, what was expected and what was found.

    Notes
    -----
    Takes time proportional to the file's size. Text is parsed in blocks on all threads; packed files are
    unpacked on one. Labels, and columns in another order, are parsed by Python: two to three microseconds per line.

    The first line of an edge list may name its columns, in any order and case: ``source``, ``src``, ``from`` or
    ``start``; ``target``, ``dst``, ``dest``, ``destination``, ``to`` or ``end``; ``u`` and ``v`` for undirected edges,
    each perhaps followed by ``id`` or ``node``. ``weight`` or ``w`` are the weights, and where there is no such column,
    the only one that is called ``cost``, ``length``, ``distance``, ``capacity``, ``strength`` or ``value``. Others
    become columns of the graph's edges; a warning says so of a single third one of numbers. Row numbers, which have no
    name or are called ``Unnamed: 0``, are never ends of edges. If the first line of
    a ``.csv`` or ``.tsv`` contains other names, they are taken for the
    names of source, target and further columns. With ``labels=True`` they are taken for an edge,
    unless ``header=True``. In these two formats a line without a target, such as ``33,``, is a
    vertex that may have no edges.

    Edges are undirected if a column ``Type`` says ``Undirected`` of all, as Gephi writes it, or a comment before the
    edges: ``# Undirected graph`` (SNAP), ``% sym`` (KONECT), or a symmetric header of Matrix Market in another file. If
    a comment tells of another number of ``Nodes:`` than is built, a warning says so.

    A skew-symmetric Matrix Market file becomes a directed graph: each entry is an edge, and its
    reverse edge has the negated weight. A matrix that is not square becomes an undirected bipartite graph, with a
    warning: rows are the first vertices, columns come after them, and the column ``side`` of vertices is 0 and 1.

    Examples
    --------
    >>> import frontier as fr
    >>> fr.write(fr.path(3), "path.mtx.gz")
    >>> fr.read("path.mtx.gz").num_vertices
    3
    """
    there = Placement.parse("cpu" if placement is None else placement)
    named = None if labels is False else labels
    options = Options(
        directed, duplicates, self_loops, num_vertices, named, header, weight, source, target,
        infers_labels=labels is None and not parts,
    )  # fmt: skip
    if not hasattr(path, "read") and stored.is_stored(_name(path)) and not parts:
        loops = None if self_loops == "keep" else self_loops
        given = (format, directed, duplicates, num_vertices, labels, header, loops, weight, source, target)
        return _stored_folder(_name(path), placement, given)
    with Task(os.path.basename(_name(path))):
        with there.backend.telling():  # all others, which wait to build the graph, what is wrong here
            make = _maker(path, format, there, options, duplicates, progress, parts)
        with _naming(_name(path), parts):
            return make()


def _maker(
    path: Any, format: str | None, there: Placement, options: Options, duplicates: str | None,
    progress: bool | None, parts: bool,
) -> Callable[[], Graph]:  # fmt: skip
    """What makes the graph of a file, once all that one process can find wrong before has been looked for."""
    given = path if hasattr(path, "read") else None
    name = _name(path)
    if given is None and stored.is_stored(name):
        raise GraphError(f"{name}: a Frontier graph is read as it is, without format=, duplicates= and the like")
    said = named_format(name, format)[0]  # refuses a format that there is not, also if there is no file
    if given is None and os.path.isdir(name):
        with _naming(name, parts):
            return _of_folder(name, said if format is not None else "parquet", there, options, duplicates, parts)
    with _naming(name, parts), opened(name, given) as file:
        suffix, packing = recognized(name, format, file)
        known = FORMATS[suffix]
        if known.read is None:
            raise GraphError(f"{name}: {known.name} files can be written, not read")
        _check_options(known, options, there, parts)
        if there.divides and known.divisible is not None and given is None and os.path.isfile(name):
            divided = known.divisible(Source(name, file, packing, progress=False), suffix, options)
            make = None if divided is None else _graph_in_parts(name, divided, there, options, duplicates, parts)
            if make is not None:
                return make
            file.seek(0)
        source = Source(name, file, packing, progress)
        whole, at_least, kept = _read(source, known, suffix, options, duplicates is None)
        if there.divides:
            return in_parts(whole, there, parts, "keep" if kept else options.duplicates or "first", at_least)
        return partial(whole.to, there)


def _graph_in_parts(
    name: str, found: Divisible, there: Placement, options: Options, duplicates: str | None, parts: bool
) -> Callable[[], Graph] | None:
    return graph_in_parts(
        name, found, there, directed=options.directed, duplicates=duplicates, self_loops=options.self_loops,
        num_vertices=options.num_vertices, labels=options.labels, parts=parts,
    )  # fmt: skip


def _of_folder(
    name: str, suffix: str, there: Placement, options: Options, duplicates: str | None, parts: bool
) -> Callable[[], Graph]:
    """What makes the graph of a folder of Parquet files."""
    files = parquet_folders.files_in(name) if suffix == "parquet" else []
    if not files:
        raise GraphError(f"{name}: expected a file, found a folder; only one of .parquet files can be read")
    _check_options(FORMATS["parquet"], options, there, parts)
    divided = parquet_folders.divisible(name, files, options) if there.divides else None
    make = None if divided is None else _graph_in_parts(name, divided, there, options, duplicates, parts)
    if make is not None:
        return make
    found = parquet_folders.read(name, files, options)
    whole = graph_of(name, found, options, parquet_folders.refuse)
    if there.divides:
        return in_parts(whole, there, parts, options.duplicates or "first", found.num_vertices is None)
    return partial(whole.to, there)


def _check_options(known: Format, options: Options, there: Placement, parts: bool) -> None:
    """Refuse options that a format does not know, or that do not go together."""
    known.check(options)
    if parts and not there.divides:
        raise GraphError('parts=True goes with placement="ranks", of which each process may have a file of its own')
    if parts and options.labels is True:
        raise GraphError("labels=True numbers the names of one file: with parts=True, files have ids, from 0")


def _stored_folder(name: str, placement: Any, options: tuple[Any, ...]) -> Graph:
    """The graph of a folder, in memory."""
    if any(option is not None for option in options):
        raise GraphError(f"{name}: a Frontier graph is read as it is, without format=, duplicates= and the like")
    with _naming(name):
        return stored.opened(name).to("cpu").to("cpu" if placement is None else placement)


@contextlib.contextmanager
def _naming(name: str, parts: bool = False) -> Iterator[None]:
    """Let errors say which file it is; with ``parts``, one that all ranks raise may be of another's."""
    try:
        yield
    except MemoryError as error:
        raise explained(error, f"reading {name}") from None
    except GraphError as error:
        if not str(error).startswith(printable(name)) and not (parts and hasattr(error, "of_all_ranks")):
            error.args = (f"{name}: {error}",)
        raise error.with_traceback(None) from None


def _read(source: Source, known: Format, suffix: str, options: Options, keep: bool) -> tuple[Graph, bool, bool]:
    """The graph of a file as a whole, whether there may be more vertices, and whether duplicates are kept.

    ``keep``: whether they are in an archive, and in registered formats.
    """
    assert known.read is not None
    found = known.read(source, suffix, options)
    if isinstance(found, Edges):
        at_least = options.num_vertices is None and (found.num_vertices is None or found.at_least)
        return graph_of(source.path, found, options, source.fail), at_least, False
    at_least = isinstance(found, Graph)  # what reads a registered format does not say where it knows it from
    stored = found.directed if isinstance(found, Graph) else found["directed"]
    directed = stored if options.directed is None else options.directed
    keep = keep and (directed or not stored)  # but not where two directions become one edge
    if isinstance(found, Graph):
        if keep and options.self_loops == "keep" and directed == stored and options.labels is None:
            return on_host(found), at_least, keep
        found = arrays_of(on_host(found))
    return stored_graph(found, options, directed, keep), at_least, keep


def _name(path: Any) -> str:
    """What messages call a file."""
    if hasattr(path, "read") or hasattr(path, "write"):
        name = getattr(path, "name", None)
        return name if isinstance(name, str) else "<stream>"
    try:
        return os.fsdecode(path)
    except TypeError:
        way = f": {door(path)}" if door(path) else ""
        raise GraphError(f"a file is a path or an open file, not {type(path).__name__}{way}") from None


@telling("writing a graph")
def write(graph: Graph, path: str | os.PathLike[str] | IO[bytes], format: str | None = None) -> None:
    """Write a graph to a file.

    Reading the file gives the same graph again: vertices, edges, directedness and the values of
    weights (from text files as int64 or float64). To get duplicate edges back, use
    ``read(..., duplicates="keep")``. Only ``.npz`` and the formats of NetworkX keep labels and columns of vertices, and
    these and ``.parquet`` columns of edges.

    Parameters
    ----------
    graph : Graph
        The graph, on any backend. If it was made in parts, all processes call this together, and one gets the whole
        graph and writes it.
    path : str, os.PathLike or file
        The file, or a file that is open for writing bytes. An existing file is replaced when everything
        has been written, so an error leaves it as it was. The suffix determines the format, as in
        :func:`read`; a further ``.gz``, ``.bz2``, ``.xz`` or ``.zst`` packs it. With ``format``, it may be a pipe or
        ``/dev/stdout``.
    format : str, optional
        One of these suffixes, for a file with another name.

    Raises
    ------
    GraphError
        If the file cannot be written, or its format cannot represent the graph: METIS files hold
        undirected graphs without self-loops, with integer weights; ``.el`` holds no weights, ``.wel``
        only weighted graphs.

    Examples
    --------
    >>> fr.write(fr.karate(), "karate.mtx")
    >>> fr.read("karate.mtx")
    <Graph: undirected, 34 vertices, 78 edges (156 slots); cpu>
    """
    if type(getattr(graph, "num_slots", None)) is not int:
        raise GraphError(f"write takes a Graph first, not {type(graph).__name__}")
    given: Any = path if hasattr(path, "write") else None
    name = _name(path)
    if graph._topology.divided is not None:
        graph._topology.divided.by_one("writes a graph", lambda whole: write(whole, path, format))
        return
    if given is None and format is None and stored.is_stored(name):
        with graph._topology.reading():
            stored.write(graph, name)
        return
    known, suffix, packing = format_to_write(name, format)
    assert known.write is not None
    pack = PACKINGS[packing].write if packing else None
    with graph._topology.reading():  # what the format cannot hold is refused before a pipe is opened
        put = known.write(on_host(graph), name, suffix)
    into = contextlib.nullcontext(given) if given is not None else replacing(name)
    try:
        with into as file, graph._topology.reading():  # no file is replaced by what was read of a changed graph
            if pack is None:
                put(file)
                return
            with pack(file) as packed:
                put(packed)
    except BrokenPipeError:  # the reader has closed the pipe
        raise
    except OSError as error:
        raise GraphError(f"{name}: cannot be written: {error.strerror or error}") from None
