"""Sphinx: how the documentation is built. ``sphinx-build -W docs docs/_build``."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs" / "_ext")]

import frontier  # noqa: E402 - from this checkout, installed or not

project = "Frontier"
author = "The Frontier developers"
copyright = author
version = release = frontier.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode", "results"]
exclude_patterns = ["_build", "_ext"]
html_theme = "furo"
html_title = f"Frontier {release}"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # types stand in the docstrings, in words
autodoc_class_signature = "mixed"
napoleon_google_docstring = False
napoleon_use_ivar = True  # attributes are described once, in the class's docstring
napoleon_use_rtype = False


def keep_initials(app, what, name, obj, options, lines):
    """Keep "E. W. Dijkstra: ..." at the start of a line from being read as item E of a list."""
    lines[:] = [re.sub(r"^(\s*[A-Z])\. (?=\S)", r"\1\\. ", line) for line in lines]


def setup(app):
    app.connect("autodoc-process-docstring", keep_initials)
