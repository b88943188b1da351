"""What a file is by its first bytes, where its name does not say it."""

from __future__ import annotations

import re
from io import BufferedReader

from frontier.errors import GraphError
from frontier.io._packing import member_of, packing_of
from frontier.io._source import Source
from frontier.io.formats import FORMATS, named_format, unknown

__all__ = ["recognized"]

#: Bytes that are looked at.
_HEAD = 8192

#: What an XML document begins with.
_PROLOG = rb"(?:<\?(?:(?!\?>).)*\?>|<!--(?:(?!-->).)*-->|<!DOCTYPE[^\[>]*(?:\[[^\]]*\]\s*)?>|\s)*"

#: Suffixes of formats, and what a file has that is of one.
_SIGNS = (
    ("parquet", re.compile(rb"PAR1")),
    ("npz", re.compile(rb"PK\x03\x04")),
    ("mtx", re.compile(rb"%%MatrixMarket\s", re.I)),
    ("gr", re.compile(rb"(?:[ \t\r]*(?:c\b[^\n]*)?\n)*[ \t]*p[ \t]+(?:sp|max|edge|col)[ \t]")),
    ("graphml", re.compile(_PROLOG + rb"<(?:\w+:)?graphml\b", re.S)),
    ("gexf", re.compile(_PROLOG + rb"<(?:\w+:)?gexf\b", re.S)),
    ("gml", re.compile(rb"(?:[ \t\r]*(?:(?:#|Creator\b|Version\b|comment\b)[^\n]*)?\n)*[ \t]*graph\s*\[", re.I)),
    ("net", re.compile(rb"(?:[ \t\r]*(?:(?:%|\*network\b)[^\n]*)?\n)*[ \t]*\*vertices\s", re.I)),
    ("json", re.compile(rb"\s*\{(?=.*\"(?:nodes|links)\"\s*:)", re.S)),
    ("g6", re.compile(rb">>graph6<<")),
    ("s6", re.compile(rb">>sparse6<<")),
)

#: What is read by others only, and how.
_ELSEWHERE = (
    (re.compile(rb"\x93NUMPY"), "an array of NumPy", "fr.from_edges(*np.load(...).T) takes rows of source and target"),
    (re.compile(rb"\s*(?:strict\s+)?(?:di)?graph\b[^\[\n]*\{", re.I), "a graph of Graphviz",
     "fr.from_networkx(networkx.nx_pydot.read_dot(...)) reads it"),
)  # fmt: skip


def recognized(name: str, given: str | None, file: BufferedReader) -> tuple[str, str]:
    """The format's suffix of an open file, and that of how it is packed, perhaps empty.

    What the name says, or what is ``given``, counts before the content. The file stays as it is.

    Raises
    ------
    GraphError
        Nothing says what it is.
    """
    suffix, packing = named_format(name, given)
    known = FORMATS.get(suffix)
    if not packing and (known is None or known.unpacks):
        packing = packing_of(file)
        if packing == "zip" and ((known is not None and known.is_zip) or (known is None and _holds_arrays(file))):
            packing = ""
    if not suffix and packing == "zip":
        begin = file.tell()
        suffix = named_format(member_of(name, file)[1].filename, None)[0]
        file.seek(begin)
    return suffix or _by_content(name, file, packing), packing


def _holds_arrays(file: BufferedReader) -> bool:
    """Whether the first file in a ZIP archive is an array of NumPy."""
    head = file.peek(256)[:256]
    length = int.from_bytes(head[26:28], "little")
    return head[30 : 30 + length].endswith(b".npy")


def _by_content(name: str, file: BufferedReader, packing: str) -> str:
    """The suffix of a format, by the first bytes that come out of a file."""
    if not packing:
        return _suffix_of(name, file.peek(_HEAD)[:_HEAD])
    begin = file.tell() if file.seekable() else None
    if begin is None:
        raise GraphError(f"{name}: what is in a packed stream is not looked at: format= (--format) says it, as csv.gz")
    head = Source(name, file, packing, progress=False).head(_HEAD)
    file.seek(begin)
    return _suffix_of(name, head)


def _suffix_of(name: str, head: bytes) -> str:
    head = head.removeprefix(b"\xef\xbb\xbf")
    for suffix, sign in _SIGNS:
        if sign.match(head):
            return suffix
    for sign, what, way in _ELSEWHERE:
        if sign.match(head):
            raise GraphError(f"{name}: expected a graph, found {what}: {way}")
    if b"\0" in head or re.match(rb"\s*[<{\[]", head):
        raise GraphError(unknown(name))
    return _list_of(head)


def _list_of(head: bytes) -> str:
    """Which of the formats of edge lists a text is most like, by the first line that is no comment."""
    lines = (line.strip() for line in head.split(b"\n"))
    first = next((line for line in lines if line and line[:1] not in b"#%"), b"")
    if b"," in first or b";" in first:
        return "csv"
    words = first.split()
    numbers = all(re.fullmatch(rb"[-+.\deE]+", word) for word in words)
    return "tsv" if b"\t" in first and not numbers else "txt"
