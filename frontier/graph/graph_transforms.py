"""Other graphs made of a graph: subgraphs, its reverse, its contraction, its product with an automaton."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from frontier.graph import moving
from frontier.graph.graph_arrays import GraphArrays

if TYPE_CHECKING:
    from frontier.graph.graph import Graph

__all__ = ["GraphTransforms"]


class GraphTransforms(GraphArrays):
    """The part of :class:`frontier.Graph` that makes graphs with other vertices or edges."""

    __slots__ = ()

    def induced(self, vertices: Any) -> Graph:
        """Return the subgraph of some vertices, with all edges between them.

        Parameters
        ----------
        vertices : Frontier, or array_like
            A frontier of vertices of this graph, a mask of one bool for each vertex, or vertices in any order: labels
            if the graph has labels, else ids.

        Returns
        -------
        Graph
            Its vertices are in the order of their ids here. Keeps weights, labels, columns, self-loops and duplicates.
            Its vertex column ``"original"`` holds the id of each vertex in this graph; in a subgraph of a subgraph, or
            of a reordered graph, that in the first graph.

        Raises
        ------
        GraphError
            If a vertex does not exist, the graph is in parts, or there is a vertex column ``"original"`` that does not
            hold ids.

        Notes
        -----
        Takes O(n) time, and time in proportion to the number of edges that leave these vertices; the latter is divided
        among all processors.

        Examples
        --------
        >>> h = fr.karate().induced([0, 1, 2, 3, 8])
        >>> h.num_vertices, h.num_edges, h.vertices["original"].tolist()
        (5, 8, [0, 1, 2, 3, 8])
        """
        from frontier.graph.subgraphs import induced

        with self._placement.memory.using("a subgraph"):
            return moving.remade(self._graph, induced, vertices)

    def edge_subgraph(self, edges: Any) -> Graph:
        """Return the graph with some of its edges only, and all of its vertices.

        Parameters
        ----------
        edges : Frontier, or array_like
            A frontier of edges of this graph, a mask of one bool for each edge slot, or edge slots in any order.

        Returns
        -------
        Graph
            Keeps weights, labels, columns, self-loops and duplicates, and the ids of vertices. Of an undirected graph
            an edge stays if one of its two slots is named, as in NetworkX either order of its ends will do; unlike
            there, vertices without edges stay, too.

        Raises
        ------
        GraphError
            If there is no such edge slot, the mask has another length, or the graph is in parts.

        Examples
        --------
        >>> g = fr.karate(weights=(1, 9))
        >>> heavy = g.edge_subgraph(g.weights >= 8)
        >>> heavy.num_vertices, heavy.num_edges < g.num_edges, heavy.min_weight
        (34, True, 8)
        """
        from frontier.graph.subgraphs import of_edges

        with self._placement.memory.using("a subgraph"):
            return moving.remade(self._graph, of_edges, edges)

    def reverse(self) -> Graph:
        """Return the graph with all edges turned round; an undirected graph, itself.

        Returns
        -------
        Graph
            Keeps labels and columns; an edge keeps its weight and the values of edge columns, but has another slot.

        Raises
        ------
        GraphError
            If the graph is in parts.

        Notes
        -----
        Adjacency lists of the one are the in-edges of the other, which both share. If they have not been used yet, they
        are sorted.

        Examples
        --------
        >>> g = fr.from_edges([0, 0], [1, 2], [5, 7], directed=True)
        >>> g.reverse().sources.tolist(), g.reverse().weights.tolist()
        ([1, 2], [5, 7])
        """
        from frontier.graph.subgraphs import reversed_edges

        with self._placement.memory.using("a reversed graph"):
            return self._graph if self.symmetric else moving.remade(self._graph, reversed_edges)

    def undirected(self, *, duplicates: str = "sum") -> Graph:
        """Return the graph with the same edges, which go both ways; an undirected graph, itself.

        Parameters
        ----------
        duplicates : {"sum", "min", "max", "first", "last", "keep"}
            What to do with edges in opposite directions, and parallel ones. ``sum``: make them one edge, whose weight
            is the sum of theirs; without weights, it is their number. The others as in :func:`frontier.from_edges`.

        Returns
        -------
        Graph
            Keeps labels and vertex columns, and edge columns unless edges are added up.

        Examples
        --------
        >>> g = fr.from_edges([0, 1, 1], [1, 0, 2], directed=True)
        >>> g.undirected().weights.tolist(), g.undirected(duplicates="first").num_edges
        ([2, 2, 1, 1], 2)
        """
        from frontier.graph.subgraphs import undirected

        with self._placement.memory.using("an undirected graph"):
            return self._graph if self.symmetric else moving.remade(self._graph, undirected, duplicates)

    def with_states(self, leads: Any, label: Any = None) -> Graph:
        """Return the graph of pairs of a vertex and a state: its product with an automaton.

        A frontier of its vertices is one of pairs, so a search finds the paths whose edge labels the automaton accepts,
        and whatever else depends on more than where one is: fuel left, transfers made, parity of a walk.

        Parameters
        ----------
        leads : array_like of int, shape (states, labels)
            ``leads[s, l]`` is the state after an edge with label ``l`` in state ``s``; -1 if it cannot be taken then.
        label : array_like of int, shape (m,), or str, optional
            The label of each edge slot, or the name of the edge column that has it. By default all are 0.

        Returns
        -------
        Graph
            Directed. The vertex of the pair (v, s) is ``v * states + s``; vertex columns ``"vertex"`` and ``"state"``
            have both. It has an edge for each edge and each state in which that can be taken, with its weight and
            columns; the column ``"edge"`` has its slot. It takes up to ``states`` times the memory. Labels of vertices
            are not kept.

        Raises
        ------
        GraphError
            If there is no such state or label, or the graph is in parts.

        Examples
        --------
        Of a path, vertices that can be reached by an odd and by an even number of edges:

        >>> h = fr.path(3).with_states([1, 0])
        >>> (fr.bfs(h, 0).level.reshape(-1, 2) >= 0).tolist()
        [[True, False], [False, True], [True, False]]
        """
        from frontier.graph.states import with_states

        with self._placement.memory.using("a graph of states"):
            return moving.made_on_host(self._graph, with_states, leads, label)

    def contracted(self, labels: Any, *, self_loops: str = "keep", duplicates: str = "sum") -> Graph:
        """Return the graph in which all vertices with the same label are one vertex.

        Parameters
        ----------
        labels : array_like of int, shape (n,)
            The label of each vertex, for example of its component or community.
        self_loops : {"keep", "drop"}
            What to do with edges between vertices of the same label: keep them as self-loops, or drop them.
        duplicates : {"sum", "min", "max", "first", "last", "keep"}
            What to do with several edges between the same two groups. ``sum``: make them one edge, whose weight is the
            sum of theirs (an undirected edge counted once), as int64 or float64; without weights, it is their number.
            The others keep one of them, or all, as in :func:`frontier.from_edges`, in the order of slots, with their
            weights and edge columns.

        Returns
        -------
        Graph
            One vertex for each label, in ascending order of labels. Vertex columns: ``"label"``, and ``"size"``, the
            number of vertices with that label. Other vertex columns and labels are not kept.

        Raises
        ------
        GraphError
            If there is not one integer for each vertex, or the graph is in parts.

        Notes
        -----
        Edges are sorted as by :func:`frontier.from_edges`. ``np.searchsorted(h.vertices["label"], labels)`` holds the
        new vertex of each old one.

        All processors share the work on edges. On the CPU, one thread alone numbers the labels and counts their
        vertices, which takes O(n), looks for the greatest weight, writes a 1 for each edge if there are no weights,
        and gathers edge columns of 1 or 2 bytes. With fewer than 65,536 edges it does everything.

        Examples
        --------
        >>> h = fr.path(4).contracted([7, 7, 7, 9])
        >>> h.vertices["label"].tolist(), h.sources.tolist(), h.targets.tolist(), h.weights.tolist()
        ([7, 9], [0, 0, 1], [0, 1, 0], [2, 1, 1])
        >>> g = fr.from_edges([0, 1, 2], [3, 3, 3], weights=[5, 2, 4])
        >>> g.contracted([0, 0, 0, 3], duplicates="min").weights.tolist()
        [2, 2]
        """
        from frontier.graph.subgraphs import contracted

        with self._placement.memory.using("a contracted graph"):
            return moving.remade(self._graph, contracted, labels, self_loops, duplicates)
