"""Read graphs from files and write them: :func:`frontier.read` and :func:`frontier.write`.

There is one module for each format, which describes the format and writes graphs in it; those of ``by_networkx`` are
left to NetworkX. ``_shipped`` lists them, and ``formats`` has the table of formats, to which
:func:`frontier.register_format` adds. ``_content`` tells what a file is whose name does not say it, and ``_packing``
how packed files are read and written. All other text formats are read by one compiled tokenizer (``_tokens``), block by
block on all threads (``_parse``), so they share its speed and its error messages. Several processes can read parts of a
file in most formats (``_divisible``), also of the arrays in an archive (``_members``).

Graphs larger than memory are folders of mapped arrays (``stored``, ``opening``), which ``external`` makes of files in
the same formats, part by part.
"""

from __future__ import annotations

from frontier.io.external import convert
from frontier.io.files import read, write
from frontier.io.formats import FORMATS, register_format
from frontier.io.opening import open

__all__ = ["FORMATS", "convert", "open", "read", "register_format", "write"]
