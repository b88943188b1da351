"""The table of file formats: the shipped ones, and those that users register.

A format is data: its suffixes, its reader, its writer. ``read``, ``write`` and the command line use only this table.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import IO, Any

from frontier.errors import FrontierError, GraphError
from frontier.graph.graph import Graph
from frontier.io import dimacs, edge_list, matrix_market, metis, npz, parquet
from frontier.io._divisible import Divisible
from frontier.io._edges import Edges
from frontier.io._options import Options
from frontier.io._source import Source

__all__ = ["FORMATS", "Format", "Options", "format_of", "register_format"]


#: What a reader may find: edges, of which a graph is made; a graph; or the arguments of ``from_csr`` for one.
Found = Edges | Graph | dict[str, Any]


@dataclass(frozen=True)
class Format:
    """One file format.

    Parameters
    ----------
    name : str
        What messages call it.
    suffixes : tuple of str
        Of the files' names, without the dot.
    read : callable, optional
        ``read(source, suffix, options)`` gives what the file holds.
    write : callable, optional
        ``write(graph, name, suffix)`` gives a function that writes to an open file. What the format cannot hold it
        refuses before, when the file (perhaps a pipe) is not yet open.
    lists_edges : bool
        Whether it knows ``num_vertices=``, ``labels=True``, ``header=``, ``weight=``, ``source=`` and ``target=``.
    divisible : callable, optional
        ``divisible(source, suffix, options)`` gives how several processes can read a file, which is no pipe, together;
        None if they cannot.
    unpacks : bool
        Whether a file is unpacked that is gzipped by its content, and not called so.
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Source, str, Options], Found] | None
    write: Callable[[Graph, str, str], Callable[[Any], None]] | None
    lists_edges: bool = False
    divisible: Callable[[Source, str, Options], Divisible | None] | None = None
    unpacks: bool = True


#: Suffix of a file's name -> the format.
FORMATS: dict[str, Format] = {}


def _add(format: Format) -> None:
    FORMATS.update(dict.fromkeys(format.suffixes, format))


def register_format(
    name: str,
    *,
    suffixes: Sequence[str],
    read: Callable[[IO[bytes]], Graph] | None = None,
    write: Callable[[Graph, IO[bytes]], None] | None = None,
) -> None:
    r"""Register a file format for :func:`frontier.read`, :func:`frontier.write` and the command line.

    Parameters
    ----------
    name : str
        The name of the format in messages.
    suffixes : sequence of str
        The suffixes of files, with or without the dot, which are also its names for ``format=`` and ``--format``. A
        suffix that was registered before now means the new format.
    read : callable, optional
        ``read(file) -> Graph``: makes a graph of a file that is open for reading bytes, and unpacked if it was gzipped.
        The options of :func:`frontier.read` are applied to the graph. A ValueError becomes a GraphError that names the
        file.
    write : callable, optional
        ``write(graph, file)``: writes a graph, which is on the cpu backend, to a file that is open for writing bytes.

    Notes
    -----
    For the command line to know the format of an installed package, the package names the module that calls this
    function in the entry points ``frontier.formats``. The module is imported when a suffix is unknown.

    Examples
    --------
    >>> import frontier as fr
    >>> def read_pairs(file):
    ...     return fr.from_edges([tuple(map(int, line.split(b">"))) for line in file])
    >>> def write_pairs(graph, file):
    ...     file.writelines(b"%d>%d\n" % pair for pair in zip(graph.sources, graph.targets))
    >>> fr.register_format("arrows", suffixes=["arrows"], read=read_pairs, write=write_pairs)
    >>> fr.write(fr.from_edges([(0, 1), (1, 2)], directed=True), "small.arrows")
    >>> fr.read("small.arrows").num_edges
    2
    """
    short = tuple(suffix.lower().removeprefix(".") for suffix in suffixes)
    if isinstance(suffixes, str) or not short or not all(re.fullmatch(r"[\w-]+", x) and x != "gz" for x in short):
        raise FrontierError(f"register_format(suffixes={suffixes!r}): a list of suffixes such as 'arrows'")
    if read is None and write is None:
        raise FrontierError(f"register_format({name!r}): nothing reads or writes it; give read=, write= or both")

    def found(source: Source, suffix: str, options: Options) -> Graph:
        assert read is not None
        try:
            graph = read(source.seekable())
        except GraphError:
            raise
        except ValueError as error:
            raise GraphError(f"not a {name} file: {error}") from error
        if not isinstance(graph, Graph):
            raise GraphError(f"what reads {name} gave {graph!r}, not a Graph")
        return graph

    def writer(graph: Graph, path: str, suffix: str) -> Callable[[Any], None]:
        assert write is not None
        put = write
        return lambda file: put(graph, file)

    _add(Format(name, short, found if read else None, writer if write else None, unpacks=False))


def format_of(name: str, given: str | None) -> tuple[str, bool]:
    """The format's suffix and whether the file is gzipped."""
    stem, suffix = os.path.splitext(name.lower())
    zipped = suffix == ".gz"
    if zipped:
        suffix = os.path.splitext(stem)[1]
    if given is not None:
        word = given.lower().removeprefix(".")
        if not _known(word.removesuffix(".gz")):
            raise GraphError(f"there is no format {given!r}: choose one of {_names()}")
        return word.removesuffix(".gz"), zipped or word.endswith(".gz")
    if not _known(suffix[1:]):
        what = f"the suffix {suffix!r}" if suffix else "no suffix"
        raise GraphError(
            f"{name}: expected a name that ends in one of {_names()}, each perhaps followed by .gz, "
            f"found {what}; format= (--format) says what the file is"
        )
    return suffix[1:], zipped


def _known(suffix: str) -> bool:
    if suffix not in FORMATS:
        _import_plugins()
    return suffix in FORMATS


@cache
def _import_plugins() -> None:
    """Import the modules that installed packages name, which register their formats."""
    for entry in entry_points(group="frontier.formats"):
        entry.load()


def _names() -> str:
    return ", ".join(f".{suffix}" for suffix in FORMATS)


# ---- the shipped formats ------------------------------------------------------------------------------------


def _text(
    read: Callable[[Source], Edges], write: Callable[[Graph, str], Iterable[bytes]],
    divisible: Callable[[Source], Divisible | None] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """A text format without options, which gives its files in pieces."""
    return {
        "read": lambda source, suffix, options: read(source),
        "write": lambda graph, name, suffix: _pieces(write(graph, name)),
        "divisible": None if divisible is None else lambda source, suffix, options: divisible(source),
    }


def _pieces(chunks: Iterable[bytes]) -> Callable[[Any], None]:
    """What writes pieces of bytes, the first of which is made at once: what cannot be written is refused then."""
    rest = iter(chunks)
    first = next(rest)
    return lambda file: file.writelines(itertools.chain([first], rest))


def _write_list(graph: Graph, name: str, suffix: str) -> Callable[[Any], None]:
    return _pieces(edge_list.write(graph, name, suffix))


def _read_archive(source: Source, suffix: str, options: Options) -> Edges | dict[str, Any]:
    return npz.read(source.path, source.seekable())


def _divisible_archive(source: Source, suffix: str, options: Options) -> Divisible | None:
    return None if source.zipped else npz.divisible(source.path, source.seekable())


def _write_archive(graph: Graph, name: str, suffix: str) -> Callable[[Any], None]:
    arrays = npz.arrays_of(graph, name)
    return lambda file: npz.save(arrays, file)


def _read_table(source: Source, suffix: str, options: Options) -> Edges:
    if options.header is not None:
        raise GraphError("header is for text: a Parquet file always names its columns")
    return parquet.read(source.path, source.seekable(), options)


def _divisible_table(source: Source, suffix: str, options: Options) -> Divisible | None:
    if options.labels is True or options.header is not None or source.zipped:
        return None
    return parquet.divisible(source.path, source.seekable(), options)


def _write_table(graph: Graph, name: str, suffix: str) -> Callable[[Any], None]:
    return parquet.write(graph)


_add(Format("Matrix Market", ("mtx",), **_text(matrix_market.read, matrix_market.write, matrix_market.divisible)))
for _name, _suffixes in (
    ("edge list", ("el",)), ("weighted edge list", ("wel",)), ("edge list", ("txt", "tsv", "csv", "edges")),
):  # fmt: skip
    _add(Format(
        _name, _suffixes, edge_list.read, _write_list, lists_edges=True, divisible=edge_list.divisible
    ))  # fmt: skip
_add(Format("DIMACS", ("gr",), **_text(dimacs.read, dimacs.write, dimacs.divisible)))
_add(Format("METIS", ("graph", "metis"), **_text(metis.read, metis.write)))
_add(Format("NumPy archive", ("npz",), _read_archive, _write_archive, divisible=_divisible_archive))
_add(Format("Parquet", ("parquet",), _read_table, _write_table, lists_edges=True, divisible=_divisible_table))
