"""Read the numbers of a text file on all threads, by ``frontier.io._tokens``.

The file is read in blocks, each block is divided into one piece per thread, and the pieces' columns are concatenated in
the order of the file.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from frontier.graph.topology import Array
from frontier.io import _codes, _plain
from frontier.io._source import Source, shown
from frontier.native import threads
from frontier.native.jit import sparing

__all__ = ["Lists", "Rows", "lists", "rows"]

_PIECE = 4 * 2**20  # bytes of a block for each thread
_WORTH_THREADS = 2**16  # bytes that are worth more than one thread


@dataclass
class Rows:
    """The columns of a file of edges; ids from 0."""

    src: Array
    dst: Array
    weights: Array | None


@dataclass
class Lists:
    """The numbers of a file of lists, how many each list has, and the line of each."""

    numbers: Array
    sizes: Array
    lines: Array


def rows(
    source: Source,
    *,
    columns: int,
    kind: str = "auto",
    base: int = 0,
    limit: int | None = None,
    tag: str = "",
    comments: str = "",
    most: int | None = None,
    names: bool = False,
    third: str | None = None,
) -> Rows:
    """Read the rest of a file as lines of two vertex ids and perhaps a weight.

    Parameters
    ----------
    source : Source
        The file, its header read.
    columns : int
        2, or 3 with weights.
    kind : {"auto", "integer", "float"}
        What weights are; auto: integers if all are.
    base : int
        The smallest vertex id in the file.
    limit : int, optional
        The number of vertices.
    tag : str
        The letter that begins every line.
    comments : str
        Up to two letters that begin comments.
    most : int, optional
        Reading may stop when more rows than this have been found.
    names : bool
        Whether ids might be names, in messages.
    third : str, optional
        What the third column is called, in messages, where it holds no weights.
    """
    wide = limit is None or limit >= 2**31
    marks = tuple(map(ord, (comments * 2)[:2] or "\n\n"))
    kinds = {"integer": _codes.INTEGER, "float": _codes.FLOAT, "auto": _codes.AUTO}
    bound = np.iinfo(np.int64).max if limit is None else limit
    letter = ord(tag) if tag else 0

    def read(piece: _Piece, scratch: _Scratch) -> None:
        found = None
        if piece.short():
            found = _plain.read_rows(
                piece.text(), tag.encode(), comments.encode(), columns, base, bound, kinds[kind]
            )
        if found is not None:
            s, d, weights = found
        else:
            from frontier.io import _tokens

            s, d = scratch.ids
            integers, floats = scratch.numbers
            _tokens.read_rows(
                piece.buffer, piece.begin, piece.end, letter, marks, columns, base, bound,
                kinds[kind], s, d, integers, floats, scratch.hard, piece.out,
            )  # fmt: skip
            count = piece.out[_codes.ROWS]
            s, d = s[:count], d[:count]
            weights = _numbers(piece, scratch, count) if columns == 3 else None
        small = np.int64 if wide and _largest(s, d) >= 2**31 else np.int32
        piece.parts["src"] = s.astype(small)
        piece.parts["dst"] = d.astype(small)
        if weights is not None:
            piece.parts["weights"] = weights

    def expected(fault: int) -> str:
        highest = "" if limit is None else f" to {base + limit - 1}"
        ids = f"a vertex id, an integer from {base}{highest}"
        if limit == 0:
            ids = "no edge, there being no vertices"
        way = " (a line of names of columns needs header=True, or --header; names need labels=True, or --labels)"
        return {
            _codes.BAD_TAG: f"a line that begins with '{tag}' or '{comments}'",
            _codes.BAD_ID: ids + (way if names else ""),
            _codes.NEGATIVE_ID: ids,
            _codes.ID_RANGE: ids,
            _codes.BAD_INTEGER: "an integer weight within int64",
            _codes.BAD_NUMBER: "a number as weight" if third is None else f"a number as {third!r}",
            _codes.MISSING: f"{columns} numbers",
            _codes.SURPLUS: f"the line to end after {columns} numbers",
        }[fault]

    parts: dict[str, list[Array]] = {"src": [], "dst": [], "weights": []}
    total = 0
    for pieces in _pieces(source, read, expected, smallest_row=4):
        for piece in pieces:
            total += len(piece.parts["src"])
            for name, part in piece.parts.items():
                parts[name].append(part)
        if most is not None and total > most:
            break
    number = np.dtype(np.float64 if kind == "float" else np.int64)
    return Rows(
        _joined(parts["src"], np.dtype(np.int32)),
        _joined(parts["dst"], np.dtype(np.int32)),
        _joined(parts["weights"], number) if columns == 3 else None,
    )


def lists(source: Source, comment: str) -> Lists:
    """Read the rest of a file as lines of any number of numbers, empty lines too."""
    def read(piece: _Piece, scratch: _Scratch) -> None:
        found = _plain.read_lists(piece.text(), comment.encode()) if piece.short() else None
        if found is not None:
            piece.parts["numbers"], piece.parts["sizes"], piece.parts["lines"] = found
            return
        from frontier.io import _tokens

        sizes, lines = scratch.ids
        integers, floats = scratch.numbers
        _tokens.read_lists(
            piece.buffer, piece.begin, piece.end, ord(comment), integers, floats, scratch.hard,
            sizes, lines, piece.out,
        )  # fmt: skip
        count = piece.out[_codes.ROWS]
        piece.parts["sizes"] = sizes[:count].copy()
        piece.parts["lines"] = lines[:count].copy()
        piece.parts["numbers"] = _numbers(piece, scratch, piece.out[_codes.TOKENS])

    def expected(fault: int) -> str:
        return "a blank between numbers" if fault == _codes.SEPARATOR else "a number"

    parts: dict[str, list[Array]] = {"sizes": [], "lines": [], "numbers": []}
    for pieces in _pieces(source, read, expected, smallest_row=1):
        for piece in pieces:
            piece.parts["lines"] += piece.first_line
            for name, part in piece.parts.items():
                parts[name].append(part)
    long = np.dtype(np.int64)
    return Lists(*(_joined(parts[name], long) for name in ("numbers", "sizes", "lines")))


class _Piece:
    """A thread's part of a block and what was found in it."""

    def __init__(self, block: bytes, begin: int, end: int) -> None:
        self.block, self.begin, self.end = block, begin, end
        self.buffer = np.frombuffer(block, np.uint8)
        self.out = np.zeros(7, np.int64)
        self.parts: dict[str, Array] = {}
        self.first_line = 0
        self.bad_number = -1

    def short(self) -> bool:
        """Whether the kernels are not worth compiling for it; so is what else has been read so far."""
        return sparing(self.end - self.begin, "frontier.io._tokens")

    def text(self) -> bytes:
        """Its part of the block, of which it then counts all lines as read."""
        made = self.block[self.begin : self.end]
        self.out[_codes.LINES] = made.count(b"\n")
        return made


class _Scratch:
    """What a thread writes to; room for the most rows that so many bytes can hold."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.ids = np.empty(rows, np.int64), np.empty(rows, np.int64)
        self.numbers = np.empty(rows, np.int64), np.empty(rows, np.float64)
        self.hard = np.empty((rows, 2), np.int64)


def _pieces(source: Source, read: Any, expected: Any, smallest_row: int) -> Any:
    """Read the file block by block; ``smallest_row``: the bytes of the shortest row."""
    workers = threads.num_threads()
    scratch = [_Scratch(0) for _ in range(workers)]
    for block in source.blocks(_PIECE * workers):
        pieces = _cut(block, workers if len(block) >= _WORTH_THREADS else 1)

        def work(w: int, pieces: list[_Piece] = pieces) -> None:
            most = (pieces[w].end - pieces[w].begin) // smallest_row + 1
            if scratch[w].rows < most:
                scratch[w] = _Scratch(most)
            read(pieces[w], scratch[w])

        threads.run(work, len(pieces))
        for piece in pieces:
            piece.first_line = source.line + 1
            fault = int(piece.out[_codes.FAULT])
            at = int(piece.out[_codes.AT])
            if piece.bad_number >= 0:
                fault, at = _codes.BAD_NUMBER, piece.bad_number
            if fault:
                line = piece.first_line + block.count(b"\n", piece.begin, at)
                source.fail(line, expected(fault), shown(_token(block, at)))
            source.line += int(piece.out[_codes.LINES])
        yield pieces


def _cut(block: bytes, count: int) -> list[_Piece]:
    """Cut a block into pieces at ends of lines."""
    bounds = [0]
    for w in range(1, count):
        bounds.append(block.find(b"\n", len(block) * w // count) + 1)
    bounds.append(len(block))
    return [_Piece(block, begin, end) for begin, end in itertools.pairwise(bounds) if begin < end]


def _token(block: bytes, at: int) -> bytes:
    """The word at a place, or the separator there."""
    line = block[at : block.find(b"\n", at)]
    if line[:1] in (b",", b";"):
        return line[:1]
    words = line.replace(b",", b" ").replace(b";", b" ").split()
    return words[0] if words else line


def _numbers(piece: _Piece, scratch: _Scratch, count: int) -> Array:
    """A column of numbers, with those that the kernel left to Python."""
    integers, floats = scratch.numbers
    if piece.out[_codes.KIND] != _codes.FLOAT:
        return integers[:count].copy()
    values = floats[:count].copy()
    for row, at in scratch.hard[: piece.out[_codes.HARD]].tolist():
        try:
            if row < count:
                values[row] = float(_token(piece.block, at))
        except ValueError:
            piece.bad_number = at
            break
    return values


def _largest(*ids: Array) -> int:
    return max((int(array.max()) for array in ids if len(array)), default=0)


def _joined(parts: list[Array], dtype: np.dtype[Any]) -> Array:
    """Parts as one array, of ``dtype`` if there is none, or of the widest of theirs."""
    parts = [part for part in parts if len(part)]
    return np.concatenate(parts) if parts else np.empty(0, dtype)
