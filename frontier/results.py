"""The base of all results: a mapping from vertices to values, and a table of them, in the names of the graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from frontier.display import html, tables
from frontier.errors import FrontierError, GraphError
from frontier.graph.labels import VertexNames
from frontier.memory.arrays import to_host

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from matplotlib.axes import Axes

    from frontier.graph.graph import Graph
    from frontier.graph.topology import Array

__all__ = ["Result", "by_pairs"]


class Result:
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
        ``source``, and there an entry for each vertex. ``"other"``: the subclass overrides :meth:`_columns_of_table`.
    keeps_graph : bool
        Whether a result of vertices keeps the graph, as others do, because its methods need it.

    Examples
    --------
    >>> ranks = fr.pagerank(fr.from_edges(["ann", "bob", "cid"], ["bob", "cid", "bob"], directed=True))
    >>> round(ranks["ann"], 3), [name for name, _ in ranks.top(2)]
    (0.05, ['bob', 'cid'])
    """

    _columns: ClassVar[tuple[str, ...]] = ()
    _vertices: ClassVar[tuple[str, ...]] = ()
    _rows: ClassVar[str] = "vertex"
    _keeps_graph: ClassVar[bool] = False

    # set when the primitive returns; a result that somebody has made by hand has neither
    _names: VertexNames | None = None
    _graph: Graph | None = None

    def __init_subclass__(
        cls,
        *,
        columns: tuple[str, ...] = (),
        ids: tuple[str, ...] = (),
        rows: str = "vertex",
        keeps_graph: bool = False,
        **more: Any,
    ) -> None:
        super().__init_subclass__(**more)
        if columns or rows != "vertex":
            cls._columns, cls._vertices, cls._rows, cls._keeps_graph = columns, ids, rows, keeps_graph

    # -- as a mapping ----------------------------------------------------------------------

    def __getitem__(self, vertex: Any) -> Any:
        """The value of a vertex in the first column; of an edge or a pair, ``result["ann", "bob"]``, if rows are."""
        name = self._first()
        at = self.names.find(vertex) if self._rows == "vertex" else self._place(vertex)
        value = self._host(name)[at]
        return self.names.of([int(value)])[0] if name in self._vertices else value.item()

    def __iter__(self) -> Iterator[Any]:
        if self._rows == "vertex":
            return iter(self.names.column().tolist())
        return iter(self._keys(self.table()))

    def __len__(self) -> int:
        if self._rows == "vertex":
            return len(self.names)
        return len(next(iter(self.table().values()), ()))

    def __contains__(self, vertex: Any) -> bool:
        return vertex in self.names if self._rows == "vertex" else vertex in list(self)

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
        keys, name = self._keys(table), self._first() if column is None else column
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
        name = self._first() if column is None else column
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
        columns = self._columns_of_table(slice(None, count))
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

        columns = self._columns_of_table(slice(None))
        known = {name: values for name, (values, ids) in columns.items() if not ids or name in (*GROUPS, *ENDS)}
        return distribution(known, column, ax, type(self).__name__.removesuffix("Result"))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The table for whatever understands Arrow's C interface, such as Polars, DuckDB and pandas."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    # -- for subclasses --------------------------------------------------------------------

    @property
    def names(self) -> VertexNames:
        """The names of the vertices of the graph; the ids, if the result was not returned by a primitive."""
        if self._names is None and self._rows == "vertex":
            return VertexNames(None, len(getattr(self, self._first())))
        if self._names is None:
            raise GraphError(f"this {type(self).__name__} was not returned by a primitive: it does not know its graph")
        return self._names

    def _columns_of_table(self, rows: slice) -> dict[str, tuple[Array, bool]]:
        """Some rows of all columns, and whether each holds ids of vertices."""
        found = {name: (self._host(name)[rows], name in self._vertices) for name in self._present()}
        if self._rows == "vertex":
            return {"vertex": (np.arange(len(self.names))[rows], True), **found}
        if self._rows == "pair":
            return by_pairs(self._host("source"), {name: self._host(name) for name in self._present()}, rows)
        g = self._known_graph()
        return {"source": (to_host(g.sources)[rows], True), "target": (to_host(g.targets)[rows], True), **found}

    def _present(self) -> list[str]:
        """The columns that are not None."""
        return [name for name in self._columns if getattr(self, name) is not None]

    def _first(self) -> str:
        """The column that the mapping shows."""
        present = self._present()
        if not present:
            raise FrontierError(f"this {type(self).__name__} has no values by {self._rows}")
        return present[0]

    def _host(self, name: str) -> Array:
        """An attribute in the host's memory; one that lies on a GPU is copied once."""
        kept: dict[str, Array] = self.__dict__.setdefault("_copies", {})
        if name not in kept:
            kept[name] = to_host(getattr(self, name))
        return kept[name]

    def _where(self, name: str) -> list[Any]:
        """The names of the vertices for which a column is true."""
        return self.names.of(np.flatnonzero(self._host(name)))

    def _groups(self, name: str) -> list[list[Any]]:
        """The names of the vertices of each label, the largest group first; of equal ones, that of the least label."""
        label = self._host(name)
        order = np.argsort(label, kind="stable")
        _, first = np.unique(label[order], return_index=True)
        groups = [self.names.of(members) for members in np.split(order, first[1:])] if len(first) else []
        return sorted(groups, key=len, reverse=True)

    def _known_graph(self) -> Graph:
        if self._graph is None:
            raise GraphError(f"this {type(self).__name__} does not know its graph any more: it has been pickled")
        return self._graph

    def _place(self, ends: Any) -> Any:
        """Where the value of an edge is, of several the first; or of a pair."""
        if not (isinstance(ends, tuple) and len(ends) == 2):
            raise GraphError(f"a pair of vertices is expected, not {ends!r}")
        source, target = map(self.names.find, ends)
        if self._rows == "pair":
            row = np.flatnonzero(self._host("source") == source)
            if not len(row):
                raise GraphError(f"{ends[0]!r} is none of the sources")
            return int(row[0]), target
        g = self._known_graph()
        lo, hi = to_host(g.offsets[source : source + 2]).tolist()
        at = lo + int(np.searchsorted(to_host(g.targets[lo:hi]), target))
        if at == hi or int(to_host(g.targets[at])) != target:
            raise GraphError(f"there is no edge ({ends[0]!r}, {ends[1]!r})")
        return at

    def _keys(self, table: dict[str, Array]) -> list[Any]:
        """What the rows of a table belong to."""
        if self._rows == "vertex":
            return list(table["vertex"].tolist())
        ends = [values.tolist() for values in list(table.values())[:2]]
        return list(zip(*ends, strict=True))

    # -- Python ----------------------------------------------------------------------------

    def _belongs_to(self, graph: Graph) -> None:
        """Take the names, and of edges the ends, from a graph."""
        object.__setattr__(self, "_names", graph.names)
        if self._keeps_graph or self._rows in ("slot", "other"):
            object.__setattr__(self, "_graph", graph)

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


def by_pairs(
    source: Array, columns: dict[str, Array], rows: slice, name: str = "source", ids: bool = True
) -> dict[str, tuple[Array, bool]]:
    """Columns of which each row has an entry for each vertex, one below the other, as :meth:`_columns_of_table`."""
    shape = next(iter(columns.values())).shape
    at = np.arange(shape[0] * shape[1])[rows]
    found = {each: (values.ravel()[rows], False) for each, values in columns.items()}
    return {name: (source[at // max(shape[1], 1)], ids), "vertex": (at % max(shape[1], 1), True), **found}


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
