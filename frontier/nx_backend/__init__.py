"""The backend for NetworkX: ``nx.pagerank(G, backend="frontier")``.

NetworkX finds it by the entry points in pyproject.toml. ``information`` is read by every ``import networkx``, so it
and the table ``topics`` import nothing; the rest is loaded by the first call. ``interface`` is what NetworkX talks to,
``converted`` the graph that it is given, ``mappings`` what it gives back. The other modules have one function for each
of NetworkX's, by topic.
"""
