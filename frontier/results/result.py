"""The base of all results: a mapping from vertices to values, and a table of them, in the names of the graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from frontier.display import html, tables
from frontier.errors import FrontierError, GraphError
from frontier.memory.arrays import to_host
from frontier.results.columns import ResultColumns

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from matplotlib.axes import Axes

    from frontier.graph.topology import Array

__all__ = ["Result"]


class Result(ResultColumns):
    """What a primitive returns: arrays by vertex or by edge, which also come in the names of the graph.

    Attributes of a result are arrays as they were computed, with ids; all methods here use names: labels if the graph
    has some, else ids. A result with one entry for each vertex is a mapping, ``result["ann"]``, of its first column.

    Subclasses are dataclasses that name their columns as arguments of the class. A primitive of your own that is
    decorated by ``frontier.registry.primitive`` may return one, too.

    Parameters
    ----------
    columns : tuple of str
        The attributes that make the table; those that are None are left out.
    ids : tuple of str
        Those of them that hold vertices, -1 for none.
    rows : {"vertex", "slot", "pair", "other"}
        What an entry of a column belongs to. ``"pair"``: columns have a row for each vertex of the attribute
        ``source``, and there an entry for each vertex. ``"other"``: the subclass overrides :meth:`table_columns`.
    keeps_graph : bool
        Whether a result of vertices keeps the graph, as others do, because its methods need it.

    Examples
    --------
    >>> ranks = fr.pagerank(fr.from_edges(["ann", "bob", "cid"], ["bob", "cid", "bob"], directed=True))
    >>> round(ranks["ann"], 3), [name for name, _ in ranks.top(2)]
    (0.05, ['bob', 'cid'])
    """

    # -- as a mapping ----------------------------------------------------------------------

    def __getitem__(self, vertex: Any) -> Any:
        """The value of a vertex in the first column; of an edge or a pair, ``result["ann", "bob"]``, if rows are."""
        name = self.first_column()
        at = self.names.find(vertex) if self.row_kind == "vertex" else self._place(vertex)
        value = self.host_array(name)[at]
        return self.names.of([int(value)])[0] if name in self.id_columns else value.item()

    def __iter__(self) -> Iterator[Any]:
        if self.row_kind == "vertex":
            return iter(self.names.column().tolist())
        return iter(self._keys(self.table()))

    def __len__(self) -> int:
        if self.row_kind == "vertex":
            return len(self.names)
        return len(next(iter(self.table().values()), ()))

    def __contains__(self, vertex: Any) -> bool:
        return vertex in self.names if self.row_kind == "vertex" else vertex in list(self)

    def keys(self) -> list[Any]:
        """The names of all vertices, in the order of ids; of rows of another kind, what they belong to.

        Examples
        --------
        >>> fr.bfs(fr.from_edges(["ann"], ["bob"]), "ann").keys()
        ['ann', 'bob']
        """
        return list(self)

    def values(self) -> list[Any]:
        """The values of the first column.

        Examples
        --------
        >>> fr.bfs(fr.from_edges(["ann"], ["bob"]), "ann").values()
        [0, 1]
        """
        return list(self.to_dict().values())

    def items(self) -> list[tuple[Any, Any]]:
        """Names and values.

        Examples
        --------
        >>> fr.bfs(fr.from_edges(["ann"], ["bob"]), "ann").items()
        [('ann', 0), ('bob', 1)]
        """
        return list(self.to_dict().items())

    def to_dict(self, column: str | None = None) -> dict[Any, Any]:
        """Return a column by the names of vertices; by pairs of names, if rows are edges.

        Parameters
        ----------
        column : str, optional
            Default: the first.

        Raises
        ------
        FrontierError
            If there is no such column.

        Examples
        --------
        >>> fr.bfs(fr.from_edges(["ann"], ["bob"]), "ann").to_dict("parent")
        {'ann': 'ann', 'bob': 'ann'}
        """
        table = self.table()
        keys, name = self._keys(table), self.first_column() if column is None else column
        if name not in table:
            raise FrontierError(f"{type(self).__name__} has no column {name!r}, but {', '.join(table)}")
        return dict(zip(keys, table[name].tolist(), strict=True))

    def top(self, count: int = 10, column: str | None = None) -> list[tuple[Any, Any]]:
        """Return the vertices with the largest values of a column, and these; of equal ones those of lesser id.

        Parameters
        ----------
        count : int
        column : str, optional
            Default: the first.

        Raises
        ------
        FrontierError
            If there is no such column.

        Examples
        --------
        >>> fr.core_numbers(fr.from_edges(["ann", "bob", "cid", "cid"], ["bob", "cid", "ann", "dan"])).top(1)
        [('ann', 2)]
        """
        table = self.table()
        name = self.first_column() if column is None else column
        if name not in table or table[name].dtype.kind not in "iufb":
            raise FrontierError(f"{type(self).__name__} has no column of numbers {name!r}: it has {', '.join(table)}")
        best = _largest(table[name], count)
        return list(zip(self._keys(_taken(table, best)), table[name][best].tolist(), strict=True))

    # -- as a table ------------------------------------------------------------------------

    def table(self, count: int | None = None) -> dict[str, Array]:
        """Return the result as columns by name, in the host's memory; what holds vertices has their names.

        Parameters
        ----------
        count : int, optional
            How many rows, from the first on; default: all.

        Returns
        -------
        dict of str to ndarray
            First what a row belongs to: ``vertex``, or ``source`` and ``target``. No vertex, -1 as an id, is None where
            names are labels.

        Examples
        --------
        >>> fr.bfs(fr.from_edges(["ann"], ["bob"]), "ann").table()["level"]
        array([0, 1], dtype=int32)
        """
        columns = self.table_columns(slice(None, count))
        return {name: self.names.column(values) if ids else values for name, (values, ids) in columns.items()}

    def to_pandas(self) -> pandas.DataFrame:
        """Return :meth:`table` as a DataFrame of pandas.

        Raises
        ------
        BackendUnavailableError
            pandas is not installed.

        Examples
        --------
        >>> fr.bfs(fr.from_edges(["ann"], ["bob"]), "ann").to_pandas()
          vertex  level parent
        0    ann      0    ann
        1    bob      1    ann
        """
        made: pandas.DataFrame = tables.to_pandas(self.table())
        return made

    def to_polars(self) -> polars.DataFrame:
        """Return :meth:`table` as a DataFrame of Polars.

        Raises
        ------
        BackendUnavailableError
            Polars is not installed.

        Examples
        --------
        >>> fr.bfs(fr.from_edges(["ann"], ["bob"]), "ann").to_polars().rows()
        [('ann', 0, 'ann'), ('bob', 1, 'ann')]
        """
        made: polars.DataFrame = tables.to_polars(self.table())
        return made

    def to_arrow(self) -> pyarrow.Table:
        """Return :meth:`table` as a table of Arrow.

        Raises
        ------
        BackendUnavailableError
            PyArrow is not installed.

        Examples
        --------
        >>> fr.bfs(fr.from_edges(["ann"], ["bob"]), "ann").to_arrow().column_names
        ['vertex', 'level', 'parent']
        """
        return tables.to_arrow(self.table())

    def plot(self, column: str | None = None, ax: Axes | None = None) -> Axes:
        """Plot how the values of a column are distributed: sizes of groups, vertices by level, and so on.

        Parameters
        ----------
        column : str, optional
            Default: the first that holds numbers, bools or groups.
        ax : matplotlib.axes.Axes, optional
            Where to draw; default: a figure of its own, which is the result's ``.figure``.

        Raises
        ------
        FrontierError
            If there is no such column.
        BackendUnavailableError
            matplotlib is not installed.

        Examples
        --------
        >>> fr.pagerank(fr.karate()).plot().figure.savefig("ranks.png")
        """
        from frontier.charts import ENDS, GROUPS, distribution

        columns = self.table_columns(slice(None))
        known = {name: values for name, (values, ids) in columns.items() if not ids or name in (*GROUPS, *ENDS)}
        return distribution(known, column, ax, type(self).__name__.removesuffix("Result"))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The table for whatever understands Arrow's C interface, such as Polars, DuckDB and pandas."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    # -- what rows belong to ---------------------------------------------------------------

    def _place(self, ends: Any) -> Any:
        """Where the value of an edge is, of several the first; or of a pair."""
        if not (isinstance(ends, tuple) and len(ends) == 2):
            raise GraphError(f"a pair of vertices is expected, not {ends!r}")
        source, target = map(self.names.find, ends)
        if self.row_kind == "pair":
            row = np.flatnonzero(self.host_array("source") == source)
            if not len(row):
                raise GraphError(f"{ends[0]!r} is none of the sources")
            return int(row[0]), target
        g = self.input_graph
        lo, hi = to_host(g.offsets[source : source + 2]).tolist()
        at = lo + int(np.searchsorted(to_host(g.targets[lo:hi]), target))
        if at == hi or int(to_host(g.targets[at])) != target:
            raise GraphError(f"there is no edge ({ends[0]!r}, {ends[1]!r})")
        return at

    def _keys(self, table: dict[str, Array]) -> list[Any]:
        """What the rows of a table belong to."""
        if self.row_kind == "vertex":
            return list(table["vertex"].tolist())
        ends = [values.tolist() for values in list(table.values())[:2]]
        return list(zip(*ends, strict=True))

    # -- Python ----------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_graph", "_copies")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __eq__(self, other: object) -> bool:
        """Whether all attributes are the same, arrays entry by entry."""
        if type(self) is not type(other):
            return NotImplemented
        names = [field.name for field in dataclasses.fields(self) if field.compare]  # type: ignore[arg-type]
        return all(_same(getattr(self, name), getattr(other, name)) for name in names)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        values = [(field.name, getattr(self, field.name)) for field in dataclasses.fields(self) if field.repr]  # type: ignore[arg-type]
        arrays = [f"{name} {value.dtype} {_shape(value)}" for name, value in values if hasattr(value, "dtype")]
        others = [f"{name}={_short(value)}" for name, value in values if not hasattr(value, "dtype")]
        return f"<{type(self).__name__}: {'; '.join(filter(None, [', '.join(arrays), ', '.join(others)]))}>"

    def _repr_html_(self) -> str:
        """The first rows, for notebooks."""
        if self._names is None:
            return html.text(repr(self))
        return html.table(self.table(html.SHOWN + 1), html.text(repr(self)))


def _same(a: Any, b: Any) -> bool:
    if hasattr(a, "dtype") and hasattr(b, "dtype"):
        return bool(np.array_equal(to_host(a), to_host(b), equal_nan=a.dtype.kind == "f"))
    return type(a) is type(b) and bool(a == b)


def _largest(values: Array, count: int) -> Array:
    """Where the largest values are, the largest first; of equal ones the first comes first."""
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), -np.inf, values)
    if 0 < count < len(values):  # only what is not less than the last of them is sorted
        at = np.flatnonzero(values >= np.partition(values, len(values) - count)[len(values) - count])
    else:
        at = np.arange(len(values))
    backwards = np.argsort(values[at][::-1], kind="stable")[::-1]
    return at[len(at) - 1 - backwards][: max(count, 0)]


def _taken(table: dict[str, Array], at: Array) -> dict[str, Array]:
    return {name: values[at] for name, values in table.items()}


def _shape(value: Any) -> str:
    return " x ".join(f"{size:,}" for size in value.shape) or "()"


def _short(value: Any) -> str:
    """A value that is no array, in a few words."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list) and len(value) > html.SHOWN:
        return f"[{', '.join(map(repr, value[: html.SHOWN]))}, ...] ({len(value):,})"
    return repr(value)
