"""From and to tables with a row for each edge: pandas, Polars, and whatever hands over a table of Arrow.

A table is read column by column through one of three readers. A column of the ends of edges comes as ids, or coded:
categories, and names that the library of the table has numbered, which costs less than to look at each.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from frontier.display import tables as made_tables
from frontier.display.tables import library
from frontier.errors import GraphError, warn
from frontier.graph import meanings
from frontier.graph.build import from_edges
from frontier.graph.convert_common import edge_slots, graph_on_host, kind_of_value
from frontier.graph.graph import Graph
from frontier.graph.kinds import door
from frontier.graph.names import Coded, whole_numbers
from frontier.graph.topology import Array
from frontier.memory.shortage import telling

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

__all__ = [
    "chosen_columns", "columns_of_table", "edge_columns", "from_arrow", "from_pandas", "from_polars", "to_arrow",
    "to_pandas", "to_polars",
]  # fmt: skip


class Table(Protocol):
    """A table of another library."""

    names: list[str]

    def ends(self, source: str, target: str) -> tuple[Array | Coded, Array | Coded]:
        """Two columns of ids or of names, of which none is missing; coded with the same names if that is simple."""

    def values(self, name: str) -> Array:
        """A column of other values, of which none is missing."""


@telling("making a graph")
def from_pandas(
    table: Any,
    source: str | None = None,
    target: str | None = None,
    weight: str | bool | None = None,
    *,
    columns: Iterable[str] | None = None,
    directed: bool | None = None,
    duplicates: str | None = None,
    self_loops: str = "keep",
    num_vertices: int | None = None,
    labels: Any = None,
) -> Graph:
    """Make a graph from a pandas table with a row for each edge.

    Parameters
    ----------
    table : pandas.DataFrame
        The edges. Categories are taken by their codes. A table of Dask is computed.
    source, target : str, optional
        The columns that hold the endpoints: ids from 0, or labels, as in :func:`from_edges`. Default: those that are
        called so: ``src``, ``source``, ``from``; ``dst``, ``target``, ``to``; and the like.
    weight : str or False, optional
        The column that holds the weights. Default: one that is called ``weight``, or alone like a quantity, such as
        ``cost`` or ``distance``; False: none.
    columns : iterable of str, optional
        Columns to keep as edge data. Default: none, with a warning if there are others than those above.
    directed : bool, optional
        Default: what a column ``Type`` says in which there is ``Directed`` or ``Undirected`` for each edge, as Gephi
        writes it; else False.
    duplicates, self_loops, num_vertices, labels
        As for :func:`from_edges`; with ``labels=True``, integers in the table are labels.

    Raises
    ------
    GraphError
        If the table has no such column, or its content is invalid.

    Notes
    -----
    Takes time proportional to the number of rows.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"follower": ["ann", "bob"], "followee": ["bob", "cid"], "strength": [2, 1]})
    >>> fr.from_pandas(table, "follower", "followee", weight="strength", directed=True)
    <Graph: directed, 3 vertices, 2 edges, int64 weights, labels; cpu>
    """
    if not (hasattr(table, "columns") and hasattr(table, "itertuples") and hasattr(table, "iloc")):
        raise _refused(table, "from_pandas", "a DataFrame of pandas")
    if hasattr(table, "compute"):
        table = table.compute()
    options = {
        "columns": columns, "directed": directed, "duplicates": duplicates, "self_loops": self_loops,
        "num_vertices": num_vertices, "labels": labels,
    }  # fmt: skip
    return _graph_of(_Pandas(table), "from_pandas", source, target, weight, **options)


@telling("making a graph")
def from_polars(
    table: Any, source: str | None = None, target: str | None = None, weight: str | bool | None = None, **options: Any
) -> Graph:
    """Make a graph from a Polars table with a row for each edge; a lazy one is collected.

    Parameters
    ----------
    table : polars.DataFrame or LazyFrame
    source, target, weight
        As for :func:`from_pandas`.
    **options
        The other arguments of :func:`from_pandas`.

    Raises
    ------
    GraphError
        If the table has no such column, or its content is invalid.

    Notes
    -----
    Takes time proportional to the number of rows.

    Examples
    --------
    >>> import polars as pl
    >>> fr.from_polars(pl.DataFrame({"src": ["ann", "bob"], "dst": ["bob", "cid"]})).labels.tolist()
    ['ann', 'bob', 'cid']
    """
    if hasattr(table, "collect_schema") and hasattr(table, "collect"):
        table = table.collect()
    if not (hasattr(table, "get_columns") and hasattr(table, "columns")):
        raise _refused(table, "from_polars", "a DataFrame of Polars")
    return _graph_of(_Polars(table), "from_polars", source, target, weight, **options)


@telling("making a graph")
def from_arrow(
    table: Any, source: str | None = None, target: str | None = None, weight: str | bool | None = None, **options: Any
) -> Graph:
    """Make a graph from a table of Arrow, or from whatever hands one over, with a row for each edge.

    Parameters
    ----------
    table : object
        A table or a reader of batches of PyArrow; what has ``__arrow_c_stream__``, such as relations of DuckDB, frames
        of Polars and of pandas; or what has ``__dataframe__``.
    source, target, weight
        As for :func:`from_pandas`.
    **options
        The other arguments of :func:`from_pandas`.

    Raises
    ------
    GraphError
        If the table has no such column, or its content is invalid.
    BackendUnavailableError
        PyArrow is not installed.

    Notes
    -----
    Takes time proportional to the number of rows. Columns of numbers are not copied on the way.

    Examples
    --------
    >>> import pyarrow as pa
    >>> fr.from_arrow(pa.table({"src": [0, 1], "dst": [1, 2], "weight": [0.5, 2.0]})).weights.tolist()
    [0.5, 0.5, 2.0, 2.0]
    """
    return _graph_of(_Arrow(_arrow_table(table)), "from_arrow", source, target, weight, **options)


def _arrow_table(table: Any) -> Any:
    """A table of PyArrow, of what hands one over."""
    arrow = library("pyarrow", "PyArrow")
    if isinstance(table, arrow.Table):
        return table
    if isinstance(table, arrow.RecordBatch):
        return arrow.Table.from_batches([table])
    if hasattr(table, "__arrow_c_stream__"):
        return arrow.RecordBatchReader.from_stream(table).read_all()
    if hasattr(table, "__dataframe__"):
        return library("pyarrow.interchange", "PyArrow").from_dataframe(table)
    raise _refused(table, "from_arrow", "a table of Arrow")


def _refused(table: Any, function: str, what: str) -> GraphError:
    return GraphError(
        f"{function} takes {what}, not {kind_of_value(table)}: {door(table) or 'fr.from_edges takes the ends of edges'}"
    )


def _graph_of(
    table: Table, function: str, source: str | None, target: str | None, weight: str | bool | None, *,
    columns: Iterable[str] | None = None, directed: bool | None = None, **options: Any,
) -> Graph:  # fmt: skip
    """The graph of a table: which column is which, and what is left out."""
    src, dst, weighs, others = _meant(table.names, source, target, weight)
    kinds = next((name for name in others if name.lower() == "type"), None)
    says = None if kinds is None or directed is not None else meanings.said_by(table.values(kinds).tolist())
    if columns is None:
        left = [name for name in others if name != (None if says is None else kinds)]
        _warn_of_others(left, function, weighs is None and weight is None)
    kept: Mapping[str, Array] = {_known(table, name): table.values(name) for name in columns or ()}
    ends = table.ends(src, dst)
    return from_edges(
        ends[0],
        ends[1],
        None if weighs is None else table.values(weighs),
        directed=bool(says if directed is None else directed),
        edges=kept,
        **options,
    )


def _warn_of_others(others: list[str], function: str, weighable: bool) -> None:
    """Say that columns of a table are left out; ``weighable``: one may have been meant as weights."""
    left = [name for name in others if not meanings.counts_rows(name)]
    if left:
        way = f"weight={left[0]!r} takes one for weights, " if weighable else ""
        warn(
            f"{function} leaves out the columns {', '.join(map(repr, left))}: columns={left} keeps them as data of "
            f"edges, {way}and columns=[] says that this is meant"
        )


def chosen_columns(
    names: list[str], function: str, source: str | None, target: str | None, weight: str | bool | None,
    columns: Iterable[str] | None,
) -> tuple[str, str, str | None, list[str]]:  # fmt: skip
    """Return the columns of sources, targets and weights, and those to keep, of a table of which only names are known.

    Raises
    ------
    GraphError
        There are no such columns.
    """
    src, dst, weighs, others = _meant(names, source, target, weight)
    if columns is None:
        _warn_of_others(others, function, weighs is None and weight is None)
    kept = list(columns or ())
    for name in kept:
        if name not in names:
            raise GraphError(f"the table has no column {name!r}, but {', '.join(names)}")
    return src, dst, weighs, kept


def columns_of_table(table: Any, names: Iterable[str]) -> dict[str, Array]:
    """Return columns of a table of pandas, or of Arrow, of which no cell is empty.

    Raises
    ------
    GraphError
        A cell is.
    """
    read = _Pandas(table) if hasattr(table, "iloc") else _Arrow(table)
    return {name: read.values(name) for name in names}


def _meant(
    names: list[str], source: str | None, target: str | None, weight: str | bool | None
) -> tuple[str, str, str | None, list[str]]:
    """The columns of sources, targets and weights, and the others, of a table with these names."""
    for name in (source, target, weight if isinstance(weight, str) else None):
        if name is not None and name not in names:
            raise GraphError(f"the table has no column {name!r}, but {', '.join(names)}")
        if name is not None and names.count(name) > 1:
            raise GraphError(f"the table has several columns {name!r}")
    free = [name for name in names if name not in (source, target, weight)]
    ends = []
    for given, called, what in ((source, meanings.SOURCES, "source"), (target, meanings.TARGETS, "target")):
        found = given if given is not None else meanings.called(free, called)
        if found is None:
            raise GraphError(
                f"no column is called like a {what}: say source= and target=, of {', '.join(names) or 'no columns'}"
            )
        ends.append(found)
    others = [name for name in names if name not in ends]
    if weight is None or weight is True:
        weight = meanings.weight_of(others)
    weighs = weight if isinstance(weight, str) else None
    return ends[0], ends[1], weighs, [name for name in others if name != weighs]


def _known(table: Table, name: str) -> str:
    if name not in table.names:
        raise GraphError(f"the table has no column {name!r}, but {', '.join(table.names)}")
    return name


def _whole(missing: Array, name: str) -> None:
    """Refuse a column of which cells are empty."""
    if missing.any():
        raise GraphError(f"row {int(missing.argmax())} of the table has no {name!r}")


class _Pandas:
    """A table of pandas."""

    def __init__(self, table: Any) -> None:
        self._table = table
        self.names = [str(name) for name in table.columns]
        self._at = {str(name): i for i, name in enumerate(table.columns)}

    def _series(self, name: str) -> Any:
        return self._table.iloc[:, self._at[name]]

    def ends(self, source: str, target: str) -> tuple[Array | Coded, Array | Coded]:
        src, dst = self._end(source), self._end(target)
        # pandas calls categories in another order the same dtype
        if isinstance(src, Coded) and isinstance(dst, Coded) and np.array_equal(src.names, dst.names):
            return src, Coded(dst.codes, src.names)
        return src, dst

    def _end(self, name: str) -> Array | Coded:
        series = self._series(name)
        if hasattr(series, "cat"):
            _whole(series.cat.codes.to_numpy() < 0, name)
            return Coded(series.cat.codes.to_numpy(), _names(series.cat.categories.tolist()))
        return self.values(name)

    def values(self, name: str) -> Array:
        series = self._series(name)
        _whole(series.isna().to_numpy(), name)
        values: Array = series.to_numpy()
        return values


def _names(values: list[Any]) -> Array:
    """Names as an array: integers as such, all else as objects."""
    return whole_numbers(values) if {*map(type, values)} == {int} else np.fromiter(values, object)


class _Polars:
    """A table of Polars."""

    def __init__(self, table: Any) -> None:
        self._table, self.names = table, list(table.columns)

    def ends(self, source: str, target: str) -> tuple[Array | Coded, Array | Coded]:
        polars, both = sys.modules["polars"], [self._table.get_column(name) for name in (source, target)]
        kinds = polars.String, polars.Categorical, polars.Enum
        if not all(series.dtype in kinds for series in both):
            return self.values(source), self.values(target)
        for name, series in zip((source, target), both, strict=True):
            _whole(series.is_null().to_numpy(), name)
        if not all(series.dtype == polars.Categorical for series in both):
            both = [series.cast(polars.String) for series in both]
        one = polars.concat(both).cast(polars.Categorical)
        # categories that others have, too, may have numbers far apart
        found = one.unique()
        codes = np.empty(int(found.to_physical().max() or 0) + 1, np.int64)
        codes[found.to_physical().to_numpy()] = np.arange(len(found))
        names, codes = _names(found.cast(polars.String).to_list()), codes[one.to_physical().to_numpy()]
        return Coded(codes[: len(both[0])], names), Coded(codes[len(both[0]) :], names)

    def values(self, name: str) -> Array:
        series = self._table.get_column(name)
        _whole(series.is_null().to_numpy(), name)
        values: Array = series.to_numpy()
        return values


class _Arrow:
    """A table of PyArrow."""

    def __init__(self, table: Any) -> None:
        self._table, self.names = table, list(table.column_names)

    def _column(self, name: str) -> Any:
        column = self._table.column(name)
        if column.null_count:
            _whole(column.is_null().to_numpy(), name)
        return column

    def ends(self, source: str, target: str) -> tuple[Array | Coded, Array | Coded]:
        arrow, both = library("pyarrow", "PyArrow"), [self._column(name) for name in (source, target)]
        if not all(_is_text(column.type) for column in both) or not len(both[0]):
            return self.values(source), self.values(target)
        if both[0].type != both[1].type:
            both = [column.cast(arrow.large_string()) for column in both]
        chunks = [chunk for column in both for chunk in column.chunks]
        one = arrow.chunked_array(chunks)
        if not arrow.types.is_dictionary(one.type):
            one = one.dictionary_encode()
        one = one.unify_dictionaries().combine_chunks()
        one = one.chunk(0) if hasattr(one, "chunks") else one
        names, codes = _names(one.dictionary.to_pylist()), one.indices.fill_null(-1).to_numpy()
        for name, of_end in zip((source, target), np.split(codes, [len(both[0])]), strict=True):
            _whole(of_end < 0, name)  # by a name that is null, which no cell says
        return Coded(codes[: len(both[0])], names), Coded(codes[len(both[0]) :], names)

    def values(self, name: str) -> Array:
        values: Array = self._column(name).to_numpy()
        return values


def _is_text(kind: Any) -> bool:
    """Whether a column of Arrow holds text, perhaps by a dictionary."""
    types = library("pyarrow.types", "PyArrow")
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return any(test(kind) for test in (types.is_string, types.is_large_string, types.is_string_view))


def edge_columns(graph: Any, who: str) -> dict[str, Array]:
    """The columns of a table with a row for each edge; an undirected edge has one row."""
    graph = graph_on_host(graph, who)
    with graph._topology.reading():
        slots = edge_slots(graph)
        data = {"src": graph.names.column(graph.sources[slots]), "dst": graph.names.column(graph.targets[slots])}
        if graph.weights is not None:
            data["weight"] = graph.weights[slots]
        return data | {name: column[slots] for name, column in graph.edges.items()}


@telling("to_pandas")
def to_pandas(graph: Graph) -> pandas.DataFrame:
    """Return a table with a row for each edge; an undirected edge has one row.

    Parameters
    ----------
    graph : Graph
        Of any kind.

    Returns
    -------
    pandas.DataFrame
        Columns ``src``, ``dst`` (labels, or ids), ``weight`` if there are weights, and those of
        edge data.

    Raises
    ------
    BackendUnavailableError
        pandas is not installed.

    Examples
    --------
    >>> fr.to_pandas(fr.from_edges(["ann"], ["bob"], [2.0])).to_dict("records")
    [{'src': 'ann', 'dst': 'bob', 'weight': 2.0}]
    """
    library("pandas", "pandas")
    made: pandas.DataFrame = made_tables.to_pandas(edge_columns(graph, "to_pandas"))
    return made


@telling("to_polars")
def to_polars(graph: Graph) -> polars.DataFrame:
    """Return a table with a row for each edge, as :func:`to_pandas` does.

    Parameters
    ----------
    graph : Graph
        Of any kind.

    Returns
    -------
    polars.DataFrame

    Raises
    ------
    BackendUnavailableError
        Polars is not installed.

    Examples
    --------
    >>> fr.to_polars(fr.from_edges(["ann"], ["bob"], [2.0])).rows()
    [('ann', 'bob', 2.0)]
    """
    library("polars", "Polars")
    made: polars.DataFrame = made_tables.to_polars(edge_columns(graph, "to_polars"))
    return made


@telling("to_arrow")
def to_arrow(graph: Graph) -> pyarrow.Table:
    """Return a table with a row for each edge, as :func:`to_pandas` does.

    Parameters
    ----------
    graph : Graph
        Of any kind.

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    BackendUnavailableError
        PyArrow is not installed.

    Examples
    --------
    >>> fr.to_arrow(fr.from_edges(["ann"], ["bob"], [2.0])).to_pylist()
    [{'src': 'ann', 'dst': 'bob', 'weight': 2.0}]
    """
    library("pyarrow", "PyArrow")
    return made_tables.to_arrow(edge_columns(graph, "to_arrow"))
