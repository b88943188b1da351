"""Graphs of LDBC Graphalytics, ``.e`` with ``.v`` beside it.

The format: https://ldbcouncil.org/benchmarks/graphalytics/. ``NAME.v`` has the number of a vertex on each line, any
integer from 0; ``NAME.e`` has two of them and perhaps a weight. The numbers become labels. ``NAME.properties`` says
whether edges are directed, if it is there.
"""

from __future__ import annotations

import os
import re

import numpy as np

from frontier.errors import GraphError
from frontier.graph.topology import Array
from frontier.io import _parse
from frontier.io._edges import Edges
from frontier.io._options import Options
from frontier.io._packing import packing_of
from frontier.io._source import Source, opened, shown

__all__ = ["read"]

#: Bytes of properties that are looked at.
_PROPERTIES = 2**16


def read(source: Source, suffix: str, options: Options) -> Edges:
    """Read the edges, and the vertices from the file beside."""
    stem = re.sub(r"\.e(\.\w+)?$", "", source.path, flags=re.IGNORECASE)
    labels = _vertices(source.path, stem)
    found = _parse.rows(source, columns=_columns(source), comments="#")
    order = np.argsort(labels, kind="stable")
    src, dst = (_places(source, ends, labels, order) for ends in (found.src, found.dst))
    names = labels if options.labels is None else None
    return Edges(src, dst, found.weights, len(labels), _says_directed(stem), labels=names)


def _columns(source: Source) -> int:
    """How many numbers the first edge has, which stays in the file."""
    while (line := source.readline()) is not None:
        words = line.split()
        if words and not words[0].startswith(b"#"):
            source.put_back(line)
            return 2 if len(words) < 3 else 3
    return 2


def _vertices(path: str, stem: str) -> Array:
    """The labels of vertices, in the order of their file."""
    there = sorted(name for name in _beside(stem) if re.fullmatch(r"v(\.\w+)?", name, re.IGNORECASE))
    if not there:
        way = "format='txt' (--format txt) with labels=True (--labels) reads the edges alone"
        raise GraphError(f"{path}: expected the vertices beside it, in {os.path.basename(stem)}.v: {way}")
    name = f"{stem}.{there[0]}"
    with opened(name) as file:
        source = Source(name, file, packing_of(file), progress=False)
        found = _parse.lists(source, "#")
        if (found.sizes > 1).any():
            line = int(found.lines[np.argmax(found.sizes > 1)])
            source.fail(line, "one vertex on each line", f"{int(found.sizes.max())} numbers")
        if found.numbers.dtype.kind != "i" or found.numbers.min(initial=0) < 0:
            source.fail(1, "vertices that are integers from 0", "other numbers")
    return found.numbers


def _beside(stem: str) -> list[str]:
    """What follows the stem in the names of files in its folder."""
    folder, start = os.path.dirname(stem) or ".", os.path.basename(stem) + "."
    if not os.path.isdir(folder):
        return []
    return [name.removeprefix(start) for name in os.listdir(folder) if name.startswith(start)]


def _places(source: Source, ends: Array, labels: Array, order: Array) -> Array:
    """The vertices with these labels."""
    if not len(ends):
        return ends
    at = np.searchsorted(labels, ends, sorter=order)
    places = order[np.minimum(at, len(order) - 1)] if len(order) else np.zeros(len(ends), np.int64)
    wrong = labels[places] != ends if len(order) else np.ones(len(ends), np.bool_)
    if wrong.any():
        first = int(np.argmax(wrong))
        source.fail(None, "vertices of the file beside", f"{shown(str(ends[first]))} at the edge {first + 1}")
    return places


def _says_directed(stem: str) -> bool:
    """Whether edges are directed, as the properties say; True without such."""
    if not os.path.isfile(f"{stem}.properties"):
        return True
    with open(f"{stem}.properties", encoding="utf-8", errors="replace") as file:
        said = re.search(r"^\s*graph\.\S+\.directed\s*[=:]\s*(true|false)", file.read(_PROPERTIES), re.M | re.I)
    return said is None or said[1].lower() == "true"
