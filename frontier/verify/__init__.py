"""Check a result by its defining properties.

``fr.verify.bfs(g, result)`` and its sisters never compare with another run of the same code, as
GAP's verifiers and the Graph500 validation do not either: they test properties that together
leave one answer (or one set of equally right answers), with numpy alone. Each returns a
:class:`Report` of what was checked, or raises
:class:`~frontier.errors.VerificationError` with the property, the vertex or edge, and the values.

Results are taken by their attributes, so any object that has them will do.
"""

from frontier.verify.centrality import betweenness
from frontier.verify.components import connected_components
from frontier.verify.paths import bfs, sssp
from frontier.verify.ranks import pagerank
from frontier.verify.report import Report

__all__ = ["Report", "betweenness", "bfs", "connected_components", "pagerank", "sssp"]
