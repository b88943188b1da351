"""What a result class says of its columns, and what its methods use: the base of :class:`frontier.Result`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from frontier.errors import FrontierError, GraphError
from frontier.graph.labels import VertexNames
from frontier.memory.arrays import to_host

if TYPE_CHECKING:
    from frontier.graph.graph import Graph
    from frontier.graph.topology import Array

__all__ = ["ResultColumns", "by_pairs"]


class ResultColumns:
    """What methods of a result of your own can use: its columns, the names of vertices, and the graph."""

    _columns: ClassVar[tuple[str, ...]] = ()
    #: The columns that hold ids of vertices, ``ids`` of the class.
    id_columns: ClassVar[tuple[str, ...]] = ()
    #: What a row of the table belongs to, ``rows`` of the class.
    row_kind: ClassVar[str] = "vertex"
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
            cls._columns, cls.id_columns, cls.row_kind, cls._keeps_graph = columns, ids, rows, keeps_graph

    @property
    def names(self) -> VertexNames:
        """The names of the vertices of the graph; the ids, if the result was not returned by a primitive."""
        if self._names is None and self.row_kind == "vertex":
            return VertexNames(None, len(getattr(self, self.first_column())))
        if self._names is None:
            raise GraphError(f"this {type(self).__name__} was not returned by a primitive: it does not know its graph")
        return self._names

    @property
    def knows_names(self) -> bool:
        """Whether the result was returned by a primitive, and so has the names of its graph."""
        return self._names is not None

    @property
    def knows_graph(self) -> bool:
        """Whether :attr:`input_graph` is there."""
        return self._graph is not None

    @property
    def input_graph(self) -> Graph:
        """The graph that the primitive was called with.

        It is there if rows are ``"slot"`` or ``"other"``, or the class says ``keeps_graph``.

        Raises
        ------
        GraphError
            If it is not: the result has been pickled, or was made by hand.
        """
        if self._graph is None:
            raise GraphError(f"this {type(self).__name__} does not know its graph any more: it has been pickled")
        return self._graph

    def attach_graph(self, graph: Graph) -> None:
        """Take the names, and of edges the ends, from a graph; ``frontier.registry.primitive`` calls it.

        Parameters
        ----------
        graph : Graph
        """
        object.__setattr__(self, "_names", graph.names)
        if self._keeps_graph or self.row_kind in ("slot", "other"):
            object.__setattr__(self, "_graph", graph)

    def table_columns(self, rows: slice) -> dict[str, tuple[Array, bool]]:
        """Return some rows of all columns; a result whose rows are ``"other"`` overrides it.

        Parameters
        ----------
        rows : slice
            Those wanted, ``slice(None)`` for all.

        Returns
        -------
        dict of str to tuple of ndarray and bool
            Values in the host's memory, and whether they are ids of vertices, for which :meth:`table` has names.

        Examples
        --------
        >>> fr.bridges(fr.path(3)).table_columns(slice(1))
        {'source': (array([0], dtype=int32), True), 'target': (array([1], dtype=int32), True)}
        """
        found = {name: (self.host_array(name)[rows], name in self.id_columns) for name in self.present_columns()}
        if self.row_kind == "vertex":
            return {"vertex": (np.arange(len(self.names))[rows], True), **found}
        if self.row_kind == "pair":
            values = {name: self.host_array(name) for name in self.present_columns()}
            return by_pairs(self.host_array("source"), values, rows)
        g = self.input_graph
        return {"source": (to_host(g.sources)[rows], True), "target": (to_host(g.targets)[rows], True), **found}

    def present_columns(self) -> list[str]:
        """Return the names of the columns that are not None.

        Examples
        --------
        >>> fr.bfs(fr.path(3), 0).present_columns()
        ['level', 'parent']
        """
        return [name for name in self._columns if getattr(self, name) is not None]

    def first_column(self) -> str:
        """Return the name of the column that the mapping shows.

        Raises
        ------
        FrontierError
            If there is none.

        Examples
        --------
        >>> fr.bfs(fr.path(3), 0).first_column()
        'level'
        """
        present = self.present_columns()
        if not present:
            raise FrontierError(f"this {type(self).__name__} has no values by {self.row_kind}")
        return present[0]

    def host_array(self, name: str) -> Array:
        """Return an attribute in the host's memory; one that lies on a GPU is copied once.

        Parameters
        ----------
        name : str

        Examples
        --------
        >>> fr.bfs(fr.path(3), 0).host_array("level")
        array([0, 1, 2], dtype=int32)
        """
        kept: dict[str, Array] = self.__dict__.setdefault("_copies", {})
        if name not in kept:
            kept[name] = to_host(getattr(self, name))
        return kept[name]

    def vertices_where(self, name: str) -> list[Any]:
        """Return the names of the vertices for which a column is true.

        Parameters
        ----------
        name : str

        Examples
        --------
        >>> fr.bfs(fr.from_edges(["ann", "bob"], ["bob", "cid"]), "ann").vertices_where("level")
        ['bob', 'cid']
        """
        return self.names.of(np.flatnonzero(self.host_array(name)))

    def groups_by(self, name: str) -> list[list[Any]]:
        """Return the names of the vertices of each label in a column.

        Parameters
        ----------
        name : str

        Returns
        -------
        list of list
            The largest group first; of equal ones, that of the least label.

        Examples
        --------
        >>> fr.bfs(fr.star(4), 0).groups_by("level")
        [[1, 2, 3], [0]]
        """
        label = self.host_array(name)
        order = np.argsort(label, kind="stable")
        _, first = np.unique(label[order], return_index=True)
        groups = [self.names.of(members) for members in np.split(order, first[1:])] if len(first) else []
        return sorted(groups, key=len, reverse=True)


def by_pairs(
    source: Array, columns: dict[str, Array], rows: slice, name: str = "source", ids: bool = True
) -> dict[str, tuple[Array, bool]]:
    """Columns of which each row has an entry for each vertex, one below the other, as :meth:`table_columns`."""
    shape = next(iter(columns.values())).shape
    at = np.arange(shape[0] * shape[1])[rows]
    found = {each: (values.ravel()[rows], False) for each, values in columns.items()}
    return {name: (source[at // max(shape[1], 1)], ids), "vertex": (at % max(shape[1], 1), True), **found}
