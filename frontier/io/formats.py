"""The table of file formats: the shipped ones, and those that users register.

A format is data: its suffixes, its reader, its writer. ``read``, ``write`` and the command line use only this table.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import IO, Any

from frontier.errors import FrontierError, GraphError
from frontier.graph.graph import Graph
from frontier.io._format import Format
from frontier.io._options import Options
from frontier.io._packing import PACKINGS
from frontier.io._shipped import SHIPPED
from frontier.io._source import Source
from frontier.system.plugins import import_installed

__all__ = ["FORMATS", "format_of", "format_to_write", "keeping_labels", "named_format", "register_format", "unknown"]

#: Suffix of a file's name -> the format.
FORMATS: dict[str, Format] = {suffix: format for format in SHIPPED for suffix in format.suffixes}


def register_format(
    name: str,
    *,
    suffixes: Sequence[str],
    read: Callable[[IO[bytes]], Graph] | None = None,
    write: Callable[[Graph, IO[bytes]], None] | None = None,
    keeps_labels: bool = False,
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
        ``read(file) -> Graph``: makes a graph of a file that is open for reading bytes, and unpacked if it was packed.
        The options of :func:`frontier.read` are applied to the graph. A ValueError becomes a GraphError that names the
        file.
    write : callable, optional
        ``write(graph, file)``: writes a graph, which is on the cpu backend, to a file that is open for writing bytes.
    keeps_labels : bool
        Whether it writes the labels of vertices; if not, ``frontier convert`` says that they are lost.

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
    plain = all(re.fullmatch(r"[\w-]+", suffix) and suffix not in PACKINGS for suffix in short)
    if isinstance(suffixes, str) or not short or not plain:
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

    made = Format(
        name, short, found if read else None, writer if write else None, unpacks=False, keeps_labels=keeps_labels
    )
    FORMATS.update(dict.fromkeys(short, made))


def format_of(name: str, given: str | None) -> tuple[str, str]:
    """The format's suffix and that of how the file is packed, perhaps empty.

    Raises
    ------
    GraphError
        Neither the name nor what is given says what the file is.
    """
    suffix, packing = named_format(name, given)
    if not suffix:
        raise GraphError(unknown(name))
    return suffix, packing


def named_format(name: str, given: str | None) -> tuple[str, str]:
    """As :func:`format_of`; an empty suffix where neither says what the file is."""
    stem, end = os.path.splitext(name.lower())
    packing = end[1:] if end[1:] in PACKINGS else ""
    if given is not None:
        word, dot, last = given.lower().removeprefix(".").rpartition(".")
        if not dot or last not in PACKINGS:
            word, last = f"{word}{dot}{last}", packing
        if not _known(word):
            raise GraphError(f"there is no format {given!r}: choose one of {_names()}")
        return word, last
    suffix = (os.path.splitext(stem)[1] if packing else end)[1:]
    return suffix if _known(suffix) else "", packing


def keeping_labels() -> list[str]:
    """Suffixes of the formats that hold labels, with the dot."""
    return [f".{suffix}" for suffix, known in FORMATS.items() if known.write is not None and known.keeps_labels]


def unknown(name: str) -> str:
    """What to say of a file of which the name does not say what it is."""
    stem, end = os.path.splitext(name.lower())
    suffix = os.path.splitext(stem)[1] if end[1:] in PACKINGS else end
    what = f"the suffix {suffix!r}" if suffix else "no suffix"
    return (
        f"{name}: expected a name that ends in one of {_names()}, each perhaps followed by .gz, "
        f"found {what}; format= (--format) says what the file is"
    )


def format_to_write(name: str, given: str | None) -> tuple[Format, str, str]:
    """The format of a file to write, its suffix, and how to pack it.

    Raises
    ------
    GraphError
        Nothing says what the format is, or it cannot be written.
    """
    suffix, packing = format_of(name, given)
    known = FORMATS[suffix]
    if known.write is None:
        raise GraphError(f"{name}: {known.name} files can be read, not written")
    if packing and PACKINGS[packing].write is None:
        raise GraphError(f"{name}: {PACKINGS[packing].name} archives can be read, not written: .gz can")
    return known, suffix, packing


def _known(suffix: str) -> bool:
    if suffix not in FORMATS:
        import_installed("formats")
    return suffix in FORMATS


def _names() -> str:
    return ", ".join(f".{suffix}" for suffix in FORMATS)
