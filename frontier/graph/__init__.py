"""The graph: how it is built, converted and moved, and what is derived from it.

``graph`` is the class that users hold, of bases by concern (``graph_arrays``, ``graph_vertices``, ``graph_forms``,
``graph_transforms``); its arrays are in a ``topology``. ``derived`` computes degrees, in-edges and
others when they are first asked for; ``traits``, ``labels`` and ``estimates`` (of memory) say what a graph is like.
``several`` takes vertices as users give them: ids, labels, masks or frontiers.

``build`` makes graphs of edges: ``build_input`` checks them, ``names`` numbers vertices by their names, ``build_sort``
sorts them into rows by the kernels of ``build_kernels``, or by the array operations of ``build_arrays`` on a GPU and
for few edges; ``row_makers`` chooses.
``meanings`` says which columns of a table are ends and weights, and ``doubts`` warns of edges that may mean something
else than they are taken for. ``validation`` looks at arrays from outside that are taken as they are. ``scaling`` brings
weights into the middle of what float64 holds.
``kinds`` tells objects of other libraries apart; ``convert_networkx`` (which reads dictionaries by
``networkx_arrays``), ``convert_sparse``, ``convert_tables`` and
``convert_libraries`` make graphs of them, and back, with what ``convert_common`` has. ``moving`` takes a graph to
another placement, ``reorder`` numbers its vertices anew, ``subgraphs`` takes some of them or groups of them,
``states`` makes pairs of them and states of an automaton, ``copies`` puts several copies side by side.
``by_weight`` keeps lists in ascending order of weight, sorted by ``by_weight_kernels``, and ``by_degree`` a copy whose
vertices are in descending order of degree.
``compressing`` makes compressed lists, which are ``packed`` by the kernels of
``packed_kernels``; ``sparse_offsets`` are those of lists most of which are empty. ``shares`` has the edges of graphs
that several processes make together; ``division`` says how a graph is divided, and ``in_parts`` answers what
primitives ask of such graphs.
"""
