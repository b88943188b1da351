"""HTML for notebooks: short tables and text, all of it escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from frontier.errors import printable

__all__ = ["SHOWN", "facts", "preformatted", "rows", "table", "text"]

#: Rows of a table that a notebook shows at most.
SHOWN = 10


def text(value: object) -> str:
    """A text, escaped; what would steer a terminal is shown, too."""
    return escape(printable(str(value)))


def rows(
    heads: Iterable[object], lines: Iterable[Iterable[object]], caption: str = "", cut: bool = False
) -> str:  # fmt: skip
    """A table with a line of heads; ``caption`` is HTML. If it is to be ``cut``, it has ``SHOWN`` rows and says so."""
    lines = list(lines)
    if cut and len(lines) > SHOWN:
        lines, caption = lines[:SHOWN], f"{caption} The first {SHOWN} rows:"
    head = "".join(f"<th>{text(each)}</th>" for each in heads)
    body = "".join("<tr>" + "".join(f"<td>{_cell(each)}</td>" for each in line) + "</tr>" for line in lines)
    return f"{_about(caption)}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def table(columns: Mapping[str, Any], caption: str = "") -> str:
    """The first rows of arrays, by their names."""
    return rows(columns, zip(*(values.tolist() for values in columns.values()), strict=True), caption, cut=True)


def facts(pairs: Mapping[str, object], caption: str = "") -> str:
    """A table of two columns, without heads."""
    body = "".join(f"<tr><th>{text(name)}</th><td>{_cell(value)}</td></tr>" for name, value in pairs.items())
    return f"{_about(caption)}<table><tbody>{body}</tbody></table>"


def preformatted(lines: str) -> str:
    """Text in which blanks and lines stay."""
    return f"<pre>{text(lines)}</pre>"


def _about(caption: str) -> str:
    return f"<div>{caption}</div>" if caption else ""


def _cell(value: object) -> str:
    if value is None:
        return ""
    return text(f"{value:.6g}" if isinstance(value, float) else f"{value:,}" if type(value) is int else value)
