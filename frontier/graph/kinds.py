"""What else graphs can be made of: how a value of another library is recognized, and which function takes it.

The functions lie in the modules ``convert_*`` beside this one. This table is the only place that tells values apart:
messages name the function, and primitives call it where it needs no more than the value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Kind", "door", "kind_of"]


@dataclass(frozen=True)
class Kind:
    """A kind of value that a graph can be made of.

    Parameters
    ----------
    name : str
        What it is, for messages.
    function : str
        The public function that takes it.
    module : str
        The end of the name of the module ``convert_*`` in which it lies.
    call : str
        How the function is called, for messages.
    is_one : callable
        Whether a value is of this kind.
    """

    name: str
    function: str
    module: str
    call: str
    is_one: Callable[[Any], bool]


def _of(package: str, *names: str) -> Callable[[Any], bool]:
    """A test for classes of these names in a package, and for subclasses, without importing it."""

    def is_one(value: Any) -> bool:
        return any(
            each.__name__ in names and each.__module__.partition(".")[0] == package for each in type(value).__mro__
        )

    return is_one


def _has(*names: str) -> Callable[[Any], bool]:
    """A test for attributes."""
    return lambda value: not isinstance(value, type) and all(hasattr(value, name) for name in names)


_TABLE = "(table, 'src', 'dst') makes one of a table"

#: The first that fits counts.
KINDS = (
    Kind("NetworkX graph", "from_networkx", "networkx", " takes a graph of NetworkX", _has("is_multigraph", "edges")),
    Kind("graph of igraph", "from_igraph", "libraries", " takes a graph of igraph",
         _of("igraph", "Graph", "GraphBase")),
    Kind(
        "graph of rustworkx", "from_rustworkx", "libraries", " takes a graph of rustworkx",
        _of("rustworkx", "PyGraph", "PyDiGraph"),
    ),
    Kind("graph of networkit", "from_networkit", "libraries", " takes a graph of networkit", _of("networkit", "Graph")),
    Kind("graph of graph-tool", "from_graph_tool", "libraries", " takes a graph of graph-tool",
         _of("graph_tool", "Graph")),
    Kind("matrix of GraphBLAS", "from_graphblas", "libraries", " takes a matrix of python-graphblas",
         _of("graphblas", "Matrix")),
    Kind("Data of PyG", "from_pyg", "libraries", " takes a graph of PyG", _has("edge_index", "num_nodes")),
    Kind("sparse matrix", "from_scipy", "sparse", " takes a sparse matrix", _has("tocoo", "shape")),
    Kind("DataFrame of pandas", "from_pandas", "tables", _TABLE, _has("columns", "itertuples", "iloc")),
    Kind("DataFrame of Polars", "from_polars", "tables", _TABLE, _of("polars", "DataFrame", "LazyFrame")),
    Kind("table of Arrow", "from_arrow", "tables", _TABLE, _has("__arrow_c_stream__")),
    Kind("table of Arrow", "from_arrow", "tables", _TABLE, _has("__dataframe__")),
)  # fmt: skip


def kind_of(value: Any) -> Kind | None:
    """The kind of a value; None if no graph is made of such."""
    if hasattr(value, "ndim") and not hasattr(value, "columns") and not hasattr(value, "tocoo"):
        return None  # an array
    return next((kind for kind in KINDS if kind.is_one(value)), None)


def door(value: Any) -> str:
    """What takes a value that is no graph, to be said in a message; empty if nothing does."""
    kind = kind_of(value)
    if kind is not None:
        return f"fr.{kind.function}{kind.call}"
    if isinstance(value, str) or hasattr(value, "__fspath__"):
        return f"fr.read({str(value)!r}) reads a file"
    return ""
