"""Sphinx: how the documentation is built. ``sphinx-build -W docs docs/_build``."""

import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs" / "_ext")]
for name, value in {"FRONTIER_QUIET": "1", "FRONTIER_PROGRESS": "0"}.items():  # the gallery shows what programs print
    os.environ.setdefault(name, value)

import frontier  # noqa: E402 - from this checkout, installed or not

project = "Frontier"
author = "The Frontier developers"
copyright = author
version = release = frontier.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "layers",
    "results",
]
exclude_patterns = ["_build", "_ext", "gallery"]  # the pages of the gallery are made of these
html_theme = "furo"
html_title = f"Frontier {release}"
html_last_updated_fmt = "%-d %B %Y"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["versions.js"]
templates_path = ["_templates"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/versions.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_copy_source = False  # the repository has it

# Links to other projects need their inventories from the network, so they are made only if somebody asks for them.
if os.environ.get("FRONTIER_DOCS_ONLINE") == "1":
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
        "networkx": ("https://networkx.org/documentation/stable", None),
    }

copybutton_exclude = ".linenos, .gp, .go"  # prompts and output are not copied

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "gallery_order.Order",
    "doc_module": ("frontier",),
    "backreferences_dir": "auto_gallery/backreferences",
    "remove_config_comments": True,
    "write_computation_times": False,
    "show_signature": False,
    "min_reported_time": 60,  # seconds; pages do not tell how fast the machine was that built them
    "image_srcset": ["2x"],  # sharp on screens with many pixels
}

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # types stand in the docstrings, in words
autodoc_class_signature = "mixed"
napoleon_google_docstring = False
napoleon_use_ivar = True  # attributes are described once, in the class's docstring
napoleon_use_rtype = False
strip_signature_backslash = True  # with it, a parameter such as with_ keeps its underscore


def keep_initials(app, what, name, obj, options, lines):
    """Keep "E. W. Dijkstra: ..." at the start of a line from being read as item E of a list."""
    lines[:] = [re.sub(r"^(\s*[A-Z])\. (?=\S)", r"\1\\. ", line) for line in lines]


HIDDEN_COLON = "\ue000"


def hide_colons(app, what, name, obj, options, lines):
    """Keep "Ids of vertices: ..." at the start of a property from being read by napoleon as its type."""
    if what in ("attribute", "data", "property") and lines:
        lines[0] = lines[0].replace(":", HIDDEN_COLON)


def show_colons(app, what, name, obj, options, lines):
    """The colons again, when napoleon is done."""
    lines[:] = [line.replace(HIDDEN_COLON, ":") for line in lines]


def setup(app):
    app.connect("autodoc-process-docstring", hide_colons, priority=400)
    app.connect("autodoc-process-docstring", show_colons, priority=600)
    app.connect("autodoc-process-docstring", keep_initials)
