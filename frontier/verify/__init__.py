"""Check a result by its defining properties.

``fr.verify.bfs(g, result)`` and the other verifiers never compare with another run of the same code, as
GAP's verifiers and the Graph500 validation do not either: they test properties that together
leave one answer (or one set of equally right answers), with numpy alone. Each returns a
:class:`Report` of what was checked: it prints, it is true if the result passed, and
``raise_if_failed()`` raises a :class:`~frontier.errors.VerificationError` that names the property, the
vertex or edge, and the values.

Results are taken by their attributes, so any object that has them will do. Whatever is wrong with a
result, its fields' shapes and dtypes too, is a failed check and not an exception.

There is one module for each kind of result; ``report`` says how verifiers are written.
"""

from frontier.verify.centrality import betweenness
from frontier.verify.communities import communities, leiden
from frontier.verify.components import connected_components
from frontier.verify.edge_centrality import edge_betweenness
from frontier.verify.paths import bellman_ford, bfs, johnson, sssp
from frontier.verify.places import layout
from frontier.verify.ranks import pagerank
from frontier.verify.report import Check, Report

bc = betweenness
cc = connected_components
louvain = communities

__all__ = [
    "Check",
    "Report",
    "bc",
    "bellman_ford",
    "betweenness",
    "bfs",
    "cc",
    "communities",
    "connected_components",
    "edge_betweenness",
    "johnson",
    "layout",
    "leiden",
    "louvain",
    "pagerank",
    "sssp",
]
