"""Graphs from files and to files: :func:`frontier.read` and :func:`frontier.write`.

One module for each format, which says what the format is and how a graph is written in it. All
text formats are read by one compiled tokenizer (``_tokens``), block by block on all threads
(``_parse``), so they share its speed and its error messages.
"""

from __future__ import annotations

from frontier.io.files import FORMATS, read, write

__all__ = ["FORMATS", "read", "write"]
