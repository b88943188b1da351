"""The same graph in another form: at another placement, with other weights or columns, compressed or renumbered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from frontier.graph import compressing, moving
from frontier.graph.by_weight import has_lists_by_weight, lists_by_weight
from frontier.graph.graph_arrays import GraphArrays
from frontier.memory.placement import Placement

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = ["GraphForms"]


class GraphForms(GraphArrays):
    """The part of :class:`frontier.Graph` that makes graphs with the same vertices and edges."""

    __slots__ = ()

    def to(
        self, placement: Placement | str, *, edges: str | None = None, memory: int | str | None = None
    ) -> Graph:
        """Return this graph with another placement: for another backend, or in another memory.

        ``"cpu"`` and ``"python"`` share the arrays. A GPU has its own: the graph is copied there
        once, with its numeric columns, and the same copy is returned the next time. Of several GPUs, ``"cuda:0,1"``,
        each has the edges of its own vertices.

        Parameters
        ----------
        placement : {"cpu", "python", "cuda", "cuda:1", "cuda:0,1", "auto"}, or Placement
            ``"cuda"`` is CuPy's current GPU, usually the first; ``"auto"`` is the fastest backend
            that is available. You can pass the placement of another graph, ``h.placement``, or its ``str``, which says
            where edges lie, too.
        edges : {"device", "host", "disk", "auto"}, optional
            Where a GPU finds the arrays with one entry per edge: in its own memory (the default); in the host's, which
            it reads over its link; in files, of which the host reads what is wanted; or (``"auto"``) as many as fit in
            its own, and the others in the host's. Everything else, and the fields of problems, are in its own memory.
            Of several GPUs, each reads those of its own vertices over its own link. The CPU reads edges from the host's
            memory (the default) or, mapped, from files.
        memory : int or str, optional
            The bytes of each GPU's memory that edges may take with ``edges="auto"``, which it implies: ``2**32``,
            ``"4GiB"``.

        Raises
        ------
        BackendUnavailableError
            If the backend cannot be used on this machine; the message says what is missing.
        DeviceMemoryError
            If the graph does not fit into the GPU's memory.
        GraphError
            If there is no backend of that name, or it cannot read edges from there.

        Examples
        --------
        >>> fr.path(3).to("python")
        <Graph: undirected, 3 vertices, 2 edges (4 slots); python>
        """
        return moving.resident(self._graph, placement, edges, memory)

    def with_weights(self, weights: Any) -> Graph:
        """Return a graph with the same edges and other weights.

        Parameters
        ----------
        weights : array_like, shape (num_slots,) or (num_edges,), or str or None
            A weight for each edge slot; or, if the graph is undirected, one for each edge, in the order of
            :meth:`with_columns`; or the name of an edge column, or None for no weights.

        Raises
        ------
        GraphError
            If the length is wrong, a weight is not a number, or the graph is undirected and the two
            directions of an edge have different weights.

        Examples
        --------
        >>> g = fr.from_edges([0, 1], [1, 2], directed=True)
        >>> g.with_weights([0.5, 2.0]).weights
        array([0.5, 2. ])
        >>> fr.path(3).with_weights([0.5, 2.0]).weights  # one for each edge, both ways
        array([0.5, 0.5, 2. , 2. ])
        """
        from frontier.graph.build import reweighted

        with self._placement.memory.using("the weights of a graph"):
            return moving.made_on_host(self._graph, reweighted, weights)

    def with_columns(
        self, *, vertices: Mapping[str, Any] | None = None, edges: Mapping[str, Any] | None = None
    ) -> Graph:
        """Return the same graph with additional columns; they replace columns of the same name.

        Parameters
        ----------
        vertices : mapping of str to array_like, shape (n,)
            Columns of vertex data.
        edges : mapping of str to array_like, shape (m,) or (num_edges,)
            Columns of edge data: one value for each edge slot; or, if the graph is undirected, one for each edge, which
            is copied to both of its slots. Edges are then the slots with ``sources <= targets``, in slot order, as
            :meth:`to_pandas` returns them.

        Returns
        -------
        Graph
            Shares all arrays, and the data derived from them.

        Raises
        ------
        GraphError
            If a column has the wrong length.

        Examples
        --------
        >>> g = fr.path(3).with_columns(edges={"time": [8, 9]})
        >>> fr.Problem(g, time=fr.edge("int64", g.edges["time"])).time
        array([8, 8, 9, 9])
        """
        from frontier.graph.build import recolumned

        with self._placement.memory.using("the columns of a graph"):
            return moving.made_on_host(self._graph, recolumned, vertices, edges)

    @property
    def is_sorted_by_weight(self) -> bool:
        """Whether the graph keeps lists in ascending order of weight beside its own; see :meth:`sorted_by_weight`."""
        return has_lists_by_weight(self._graph)

    def sorted_by_weight(self) -> Graph:
        """Return this graph, which from now on keeps a second copy of its lists, in ascending order of weight.

        Searches by weight, as :func:`frontier.sssp`, visit few of its edges then, and take a half to a third of the
        time on graphs of high degree. They sort the lists of large ones by themselves, from the second search on.

        Raises
        ------
        GraphError
            If the graph has no weights, or its edges are compressed, elsewhere or divided.

        Notes
        -----
        O(m) for weights of a few bytes. It takes the memory of targets and weights once more, twice if the graph is
        directed.

        Examples
        --------
        >>> g = fr.from_edges([0, 0, 0], [1, 2, 3], [5.0, 3.0, 4.0]).sorted_by_weight()
        >>> g.is_sorted_by_weight
        True
        """
        with self._placement.memory.using("lists sorted by weight"):
            for edges in ("out", "in"):
                lists_by_weight(self._graph, edges)
        return self._graph

    def compressed(self) -> Graph:
        """Return the same graph with compressed adjacency lists; a graph whose lists are compressed already, itself.

        The ids of 32 slots that follow each other take as many bits as the difference of the largest and the least of
        them, and two more. An R-MAT graph of a million vertices takes 19 bits a slot instead of 32, a grid whose rows
        follow each other 14. Every program runs as before, and slots keep their numbers; weights and columns stay as
        they are. On a GPU more edges fit, and edges in the host's memory arrive faster.

        Graphs that are made of this one, as by :meth:`reordered`, and those on several GPUs or processes have plain
        lists; :meth:`decompressed` is the inverse.

        Raises
        ------
        GraphError
            If ids in 32 slots differ by 2**32 or more.

        Examples
        --------
        >>> g = fr.grid(100, 100)
        >>> h = g.compressed()
        >>> bool((fr.bfs(h, 0).level == fr.bfs(g, 0).level).all())
        True
        """
        return compressing.compressed(self._graph)

    def decompressed(self) -> Graph:
        """Return the same graph with plain adjacency lists; a graph whose lists are plain, itself.

        Examples
        --------
        >>> fr.karate().decompressed()
        <Graph: undirected, 34 vertices, 78 edges (156 slots); cpu>
        """
        return compressing.decompressed(self._graph)

    def reordered(self, order: Any = "degree") -> Graph:
        """Return the same graph with its vertices renumbered.

        Parameters
        ----------
        order : "degree" or array_like, shape (n,)
            ``"degree"``: by descending out-degree, ties by id. An array: entry i is the old id of the new vertex i;
            each id must occur once.

        Returns
        -------
        Graph
            Keeps weights, labels, columns, self-loops and duplicates; lists are sorted by the new ids. Its vertex
            column ``"original"`` holds the old id of each vertex. If a graph is reordered again, it still holds the
            ids of the first graph.

        Raises
        ------
        GraphError
            If the order is not a permutation, or there is a vertex column ``"original"`` that is not one.
        DeviceMemoryError
            If it does not fit into the GPU's memory.

        Notes
        -----
        Sources and results use the new ids. With ``old = h.vertices["original"]``, map a result back by
        ``rank[old] = fr.pagerank(h).rank``, and values that are vertices, such as parents, by ``old[...]``.
        ``old.argsort()`` holds the new id of each old vertex.

        Examples
        --------
        >>> fr.star(4).reordered().neighbors(3)
        [0]
        """
        from frontier.graph.reorder import reordered

        with self._placement.memory.using("another order of a graph"):
            return moving.remade(self._graph, reordered, order)
