"""What a file format is: its suffixes, its reader, its writer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from frontier.errors import GraphError
from frontier.graph.graph import Graph
from frontier.io._divisible import Divisible
from frontier.io._edges import Edges
from frontier.io._options import Options
from frontier.io._source import Source

__all__ = ["Format", "Found"]

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
        Whether a file is unpacked that is packed by its content, and not called so.
    has_attributes : bool
        Whether edges have attributes, of which ``weight=`` names one.
    is_zip : bool
        Whether its files are ZIP archives.
    keeps_labels : bool
        Whether its files hold the labels of vertices.
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Source, str, Options], Found] | None
    write: Callable[[Graph, str, str], Callable[[Any], None]] | None
    lists_edges: bool = False
    divisible: Callable[[Source, str, Options], Divisible | None] | None = None
    unpacks: bool = True
    has_attributes: bool = False
    is_zip: bool = False
    keeps_labels: bool = False

    def check(self, options: Options) -> None:
        """Refuse options that the format does not know, or that do not go together."""
        if options.num_vertices is not None and not self.lists_edges:
            raise GraphError(f"num_vertices is for edge lists: {self.name} files say it themselves")
        if options.header is not None and not self.lists_edges:
            raise GraphError("header is for edge lists: the others have names of columns nowhere")
        if options.weight is not None and not (self.lists_edges or self.has_attributes):
            what = f"{self.name} files name no columns"
            raise GraphError(f"weight is for edge lists, Parquet, GraphML and the like: {what}")
        if options.names_ends and not self.lists_edges:
            what = "the others have names of columns nowhere"
            raise GraphError(f"source and target are for edge lists and Parquet: {what}")
        if options.names_ends and options.header is False:
            what = "the first line is a header"
            raise GraphError(f"source and target name columns, so that {what}: leave out header=False")
        if options.labels is True and not self.lists_edges:
            raise GraphError("labels=True is for edge lists: elsewhere ids count from 1 to the end")
